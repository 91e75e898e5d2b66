import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesift.kernels import words as kernels
from bayesift.kernels.compile import kernel
from bayesift.text.words import Words, WordTable

# Few letters and shared prefixes, so that words meet in their first 8 and 16 bytes.
words = st.lists(
    st.one_of(
        st.text("ab", max_size=20),
        st.text("ab", max_size=4).map(lambda tail: "x" * 14 + tail),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    ),
    max_size=40,
)


@given(words)
@settings(deadline=None)
def test_table_numbers_words_as_a_dict_would(strings):
    table, expected = WordTable(), {}
    numbers = table.add(Words.of(strings))
    assert numbers.tolist() == [expected.setdefault(word, len(expected)) for word in strings]
    assert table.words.to_strings() == list(expected)
    assert table.find(Words.of([*strings, "never there"])).tolist() == [*(expected[w] for w in strings), -1]


@given(words)
@settings(deadline=None)
def test_sorted_order_is_that_of_python(strings):
    strings = list(dict.fromkeys(strings))
    assert [strings[i] for i in Words.of(strings).sorted_order()] == sorted(strings)


@given(words, st.data())
@settings(deadline=None)
def test_take_and_concatenate(strings, data):
    rows = data.draw(st.lists(st.integers(0, len(strings) - 1), max_size=10)) if strings else []
    taken = Words.of(strings).take(np.array(rows, dtype=np.int64))
    assert taken.to_strings() == [strings[i] for i in rows]
    assert Words.concatenate([Words.of(strings), taken]).to_strings() == strings + taken.to_strings()


@kernel
def _hashes(pool, starts):
    hashes = np.empty(len(starts) - 1, dtype=np.uint64)
    for word in range(len(hashes)):
        length = starts[word + 1] - starts[word]
        head, following, rest = kernels._key(pool, starts[word], length)
        hashes[word] = kernels._hash(head, following, rest, length)
    return hashes


def test_words_of_one_key_and_one_hash_stay_apart():
    strings = [f"{'same_beginning__'}{i:06d}" for i in range(400_000)]
    listed = Words.of(strings)
    order = np.argsort(_hashes(listed.pool, listed.starts), kind="stable")
    hashes = _hashes(listed.pool, listed.starts)[order]
    twin = np.flatnonzero(hashes[1:] == hashes[:-1])
    assert len(twin), "no two words share a hash: the test tests nothing"
    pair = Words.of([strings[order[twin[0]]], strings[order[twin[0] + 1]]])
    table = WordTable(pair)
    assert len(table) == 2
    assert table.find(pair).tolist() == [0, 1]


@pytest.mark.parametrize("n_words", [0, 1, 31, 32, 33, 5000])
def test_table_grows_in_steps(n_words):
    strings = [f"word {i}" for i in range(n_words)]
    table = WordTable()
    for begin in range(0, n_words, 7):
        table.add(Words.of(strings[begin : begin + 7]))
    assert table.words.to_strings() == strings
    assert table.find(Words.of(strings)).tolist() == list(range(n_words))
