import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from bayesift import DataError, TermVectorizer, TextClassifier
from bayesift.text import tokens
from tests.text.strategies import NASTY_WORDS, corpora
from tests.text.test_vectorizer import assert_like_scikit_learn

WHITE_SPACE = [
    "a  b",
    " a b ",
    "a\nb",
    "a\n\nb",
    "\t",
    "  ",
    "",
    "a\u3000b",
    "a \x1c b",
    "a\x85b",
    "\xa0a",
    "a\u2028 b",
    "x",
]
LENGTHS = [(1, 1), (1, 2), (1, 3), (2, 2), (2, 5), (3, 3), (5, 7), (1, 20)]


def without_surrogates(texts):
    return [
        "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text) for text in texts
    ]


@given(corpora, corpora, st.sampled_from(LENGTHS), st.booleans())
@example([" ".join(NASTY_WORDS)], WHITE_SPACE, (1, 3), True)
@example(WHITE_SPACE, ["".join(NASTY_WORDS)], (2, 5), False)
@settings(max_examples=150, deadline=None)
@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
def test_counts_are_those_of_scikit_learn(analyzer, texts, more, ngram_range, lowercase):
    options = {"analyzer": analyzer, "ngram_range": ngram_range, "lowercase": lowercase}
    texts, more = without_surrogates(texts), without_surrogates(more)
    assert_like_scikit_learn(texts, TermVectorizer(**options), CountVectorizer(**options), more)


@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
def test_a_lone_surrogate_is_an_unknown_character(analyzer):
    vectorizer = TermVectorizer(analyzer=analyzer)
    assert vectorizer.term_counts("a\ud800B") == vectorizer.term_counts("a\ufffdb")


@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
def test_more_ngrams_than_are_numbered_at_a_time(monkeypatch, analyzer):
    monkeypatch.setattr(tokens, "_SPANS", 3)
    options = {"analyzer": analyzer, "ngram_range": (2, 4)}
    texts = ["corn and  wheat", "", "a", "Größe 中文", "oats\nrye"]
    assert_like_scikit_learn(
        texts, TermVectorizer(**options), CountVectorizer(**options), texts
    )


def test_arrow_strings_and_threads_give_the_same():
    texts = ["corn and  wheat", "", "Größe 中文", "oats\nrye"] * 50
    once = TermVectorizer(analyzer="char_wb", ngram_range=(1, 3))
    again = TermVectorizer(analyzer="char_wb", ngram_range=(1, 3), n_jobs=2)
    np.testing.assert_array_equal(
        again.fit_transform(pa.array(texts)).toarray(), once.fit_transform(texts).toarray()
    )


def test_terms_with_line_breaks_and_backslashes_are_saved(tmp_path):
    texts, labels = ["a\nb", "a\\nb", "c d", "\\ \n"], ["one", "two", "one", "two"]
    classifier = TextClassifier(
        vectorizer=TermVectorizer(analyzer="char", ngram_range=(1, 3)), model="naive-bayes"
    )
    classifier.fit(texts, labels).save(tmp_path / "model")
    again = TextClassifier.load(tmp_path / "model")
    assert again.vectorizer_.vocabulary_.names == classifier.vectorizer_.vocabulary_.names
    np.testing.assert_array_equal(again.predict_proba(texts), classifier.predict_proba(texts))


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2)])
def test_a_tokenizer_is_that_of_scikit_learn(ngram_range):
    texts = ["Corn-oil, wheat", "wheat  Corn-oil", "", "ein Wort \ud800"]
    ours = TermVectorizer(tokenizer=str.split, ngram_range=ngram_range, stop_words=["ein"])
    theirs = CountVectorizer(
        tokenizer=str.split, token_pattern=None, ngram_range=ngram_range, stop_words=["ein"]
    )
    assert_like_scikit_learn(without_surrogates(texts), ours, theirs, ["wheat corn-oil"])
    assert "\ufffd" in ours.fit(texts).vocabulary_


def test_a_tokenizer_reads_arrow_strings_and_html():
    vectorizer = TermVectorizer(tokenizer=str.split, strip_html=True)
    assert vectorizer.fit(pa.array(["<b>x</b>-y &amp; z"])).vocabulary_.names == [
        "&",
        "x-y",
        "z",
    ]


def test_a_tokenizer_is_not_saved(tmp_path):
    classifier = TextClassifier(
        vectorizer=TermVectorizer(tokenizer=str.split), model="naive-bayes"
    )
    classifier.fit(["corn", "oil"], ["a", "b"])
    with pytest.raises(DataError, match="a vectorizer with a tokenizer cannot be saved"):
        classifier.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("found", ["corn", [1, 2], None])
def test_a_tokenizer_must_return_words(found):
    with pytest.raises(TypeError, match="must return a list of strings"):
        TermVectorizer(tokenizer=lambda text: found).fit(["corn"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"analyzer": "bytes"}, "analyzer must be 'word' or 'char' or 'char_wb'"),
        ({"analyzer": str.split}, "give a function that splits texts as tokenizer"),
        ({"unspaced": "dictionary"}, "unspaced must be 'ngrams' or 'words'"),
        ({"tokenizer": "jieba"}, "tokenizer must be a function"),
        ({"analyzer": "char", "stop_words": "english"}, "are for analyzer='word'"),
        ({"analyzer": "char_wb", "stemmer": "porter"}, "are for analyzer='word'"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TermVectorizer(**options).fit(["corn"])
