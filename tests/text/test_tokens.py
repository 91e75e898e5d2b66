import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from bayesift.text import tokens
from bayesift.text.scripts import N_CODE_POINTS, word_characters
from bayesift.text.tokens import Tokeniser
from bayesift.text.words import WordTable
from tests.oracles import text as oracle
from tests.text.strategies import NASTY_WORDS, corpora

scikit_learn_tokens = CountVectorizer().build_analyzer()


@pytest.fixture(autouse=True, scope="module", params=["expressions", "kernels"])
def way(request):
    """The words of a small batch are found by Python's expressions, and here by the kernels too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            tokens,
            *(("_SMALL", -1) if request.param == "kernels" else ("_TINY", tokens._SMALL)),
        )
        yield


def words_of(found):
    names = found.words.to_strings()
    begins = [0, *found.ends[:-1]]
    return [
        [names[i] for i in found.tokens[a:b]] for a, b in zip(begins, found.ends, strict=True)
    ]


@given(corpora)
@example([" ".join(NASTY_WORDS)])
@example(["", " ", "ab", ""])
@settings(max_examples=400, deadline=None)
def test_tokens_are_those_of_scikit_learn(texts):
    assert words_of(Tokeniser(unspaced="words")(texts)) == [
        scikit_learn_tokens(text) for text in texts
    ]


@given(texts=corpora)
@example(texts=[" ".join(NASTY_WORDS)])
@settings(max_examples=150, deadline=None)
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("characters", ["words", "letters"])
@pytest.mark.parametrize("min_length", [1, 2, 3])
@pytest.mark.parametrize("unspaced", ["ngrams", "words"])
def test_every_rule_does_what_its_pattern_says(
    texts, lowercase, characters, min_length, unspaced
):
    rules = {
        "lowercase": lowercase,
        "characters": characters,
        "min_length": min_length,
        "unspaced": unspaced,
    }
    assert words_of(Tokeniser(**rules)(texts)) == [
        oracle.tokens(text, **rules) for text in texts
    ]


def test_words_are_numbered_by_first_appearance():
    found = Tokeniser()(["wheat corn", "corn oats wheat"])
    assert found.words.to_strings() == ["wheat", "corn", "oats"]
    assert found.tokens.tolist() == [0, 1, 1, 2, 0]


@given(st.lists(st.text("ab ,", max_size=300), min_size=1, max_size=8), st.integers(1, 4))
@settings(max_examples=200, deadline=None)
def test_words_across_every_boundary(texts, min_length):
    expected = [re.findall(rf"\w{{{min_length},}}", text) for text in texts]
    assert words_of(Tokeniser(min_length=min_length)(texts)) == expected


@pytest.mark.parametrize("length", [8, 16, 17, 63, 64, 65, 5_000])
def test_words_longer_than_a_block_of_bytes(length):
    texts = ["x" * length, "a " * 2_000 + "y" * length + " bc", "", "z" * length]
    assert words_of(Tokeniser(min_length=1)(texts)) == [text.split() for text in texts]


def test_a_shared_table_numbers_the_words_of_all_batches():
    table = WordTable()
    batches = [["corn wheat corn", ""], ["oats corn"], [], ["wheat rye"]]
    found = [Tokeniser().split(Tokeniser().encode(batch), table) for batch in batches]
    names = []
    for tokens_of in found:
        listed = (tokens_of.table or tokens_of).words.to_strings()
        names.append([listed[token] for token in tokens_of.tokens])
    assert names == [" ".join(batch).split() for batch in batches]


def test_more_words_than_the_first_table_holds():
    text = " ".join(f"w{i} w{i // 2}" for i in range(50_000))
    assert words_of(Tokeniser()([text, text])) == [scikit_learn_tokens(text)] * 2


@pytest.mark.parametrize("texts", [["Ab CD", "ÄÖ üü"], ["ab", "cd"]])
def test_arrow_strings_give_the_same_tokens(texts):
    array = pa.array(["skipped", *texts], pa.large_string())[1:]
    assert words_of(Tokeniser()(array)) == words_of(Tokeniser()(texts))


@pytest.mark.parametrize(
    ("characters", "pattern"), [("words", r"\w"), ("letters", r"[^\W\d_]")]
)
def test_word_characters_are_those_of_the_regular_expressions(characters, pattern):
    everything = "".join(map(chr, range(N_CODE_POINTS)))
    expected = np.zeros(N_CODE_POINTS, dtype=bool)
    for match in re.finditer(f"{pattern}+", everything):
        expected[match.start() : match.end()] = True
    assert (word_characters(characters) == expected).all()
