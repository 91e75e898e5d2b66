import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesift.kernels import words as kernels
from bayesift.kernels.compile import kernel
from bayesift.text import words as module
from bayesift.text.words import HashTable, Words, WordTable


@pytest.fixture(autouse=True, scope="module", params=["dictionary", "hashes"])
def way(request):
    """A few words are numbered by a dictionary, and here by the hash table too."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "hashes":
            patch.setattr(module, "_FEW", -1)
        yield


# Few letters and shared prefixes, so that words meet in their first 8 and 16 bytes.
words = st.lists(
    st.one_of(
        st.text("ab", max_size=20),
        st.text("ab", max_size=4).map(lambda tail: "x" * 14 + tail),
        st.text("a\0", max_size=20),
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
    assert table.find(Words.of([*strings, "never there"])).tolist() == [
        *(expected[w] for w in strings),
        -1,
    ]


@given(words)
@settings(deadline=None)
def test_sorted_order_is_that_of_python(strings):
    strings = list(dict.fromkeys(strings))
    assert [strings[i] for i in Words.of(strings).sorted_order()] == sorted(strings)
    assert [strings[i] for i in Words.of(strings).sorted_order(n_parts=3)] == sorted(strings)


@given(words, st.data())
@settings(deadline=None)
def test_take_and_concatenate(strings, data):
    rows = data.draw(st.lists(st.integers(0, len(strings) - 1), max_size=10)) if strings else []
    taken = Words.of(strings).take(np.array(rows, dtype=np.int64))
    assert taken.to_strings() == [strings[i] for i in rows]
    assert (
        Words.concatenate([Words.of(strings), taken]).to_strings()
        == strings + taken.to_strings()
    )


@kernel
def _list_keys(pool, starts, keys, hashes):
    for word in range(len(hashes)):
        keys[word, 0], keys[word, 1] = kernels._key_of_any(
            pool, starts[word], starts[word + 1] - starts[word]
        )
        hashes[word] = kernels._hash(keys[word, 0], keys[word, 1])


def keys_and_hashes(listed):
    keys, hashes = (
        np.zeros((len(listed), 2), dtype=np.uint64),
        np.zeros(len(listed), dtype=np.uint32),
    )
    _list_keys(listed.pool, listed.starts, keys, hashes)
    return keys, hashes


def test_words_of_one_hash_stay_apart():
    strings = [f"{'same_beginning__'}{i:06d}" for i in range(400_000)]
    _, hashes = keys_and_hashes(Words.of(strings))
    order = np.argsort(hashes, kind="stable")
    twin = np.flatnonzero(np.diff(hashes[order]) == 0)
    assert len(twin), "no two words share a hash: the test tests nothing"
    pair = Words.of([strings[order[twin[0]]], strings[order[twin[0] + 1]]])
    assert HashTable(pair).find(pair).tolist() == [0, 1]


def test_words_of_one_digest_stay_apart():
    # The words of Thue and Morse have the same value in every odd base modulo 2^64.
    thue_morse = "".join("ab"[i.bit_count() % 2] for i in range(2048))
    pair = Words.of([thue_morse, thue_morse.translate(str.maketrans("ab", "ba"))])
    keys, _ = keys_and_hashes(pair)
    assert (keys[0] == keys[1]).all(), "the keys differ: the test tests nothing"
    assert HashTable(pair).find(pair).tolist() == [0, 1]


@pytest.mark.parametrize("n_words", [0, 1, 31, 32, 33, 5000])
def test_table_grows_in_steps(n_words):
    strings = [f"word {i}" for i in range(n_words)]
    table = WordTable()
    for begin in range(0, n_words, 7):
        table.add(Words.of(strings[begin : begin + 7]))
    assert table.words.to_strings() == strings
    assert table.find(Words.of(strings)).tolist() == list(range(n_words))


def test_text_of_short_words_wants_more_room_than_most_text():
    text = " ".join("abcdefgh" * 5000).replace(" ", "\0").encode()
    folded = np.frombuffer(text + bytes(kernels.PADDING), dtype=np.uint8)
    tokens, ends = HashTable().add_text(folded, np.array([len(text)]), 0, 1)
    assert tokens.tolist() == list(range(8)) * 5000
    assert ends.tolist() == [40_000]


def test_words_are_read_while_others_are_added():
    table = WordTable()
    added = threading.Event()
    wrong = []

    def read():
        while not added.is_set():
            seen = table.words.to_strings()
            if seen != [f"w{i}" for i in range(len(seen))]:
                wrong.append(seen)

    def add():
        for start in range(0, 12_000, 3):
            table.add(Words.of(f"w{i}" for i in range(start, start + 3)))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    add()
    added.set()
    for reader in readers:
        reader.join()
    assert not wrong
    assert table.words.to_strings() == [f"w{i}" for i in range(12_000)]
