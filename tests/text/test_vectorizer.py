import json
import math
import pickle

import numpy as np
import pyarrow as pa
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from bayesift import DataError, TermVectorizer
from bayesift.kernels import counts
from bayesift.kernels import words as kernels
from bayesift.text import ENGLISH_STOP_WORDS, WEIGHTINGS, tokens, words
from tests.oracles import text as oracle
from tests.text.strategies import corpora

TEXTS = [
    "Corn and wheat, wheat and oats.",
    "The wheat harvest: the corn was late, the oats later.",
    "Oil tankers wait; oil prices wait for tankers.",
    "",
    "Harvesting, harvested, harvests.",
]


def assert_same(X, names, Y, other_names):
    assert list(names) == list(other_names)
    expected = sparse.csr_array(Y)
    expected.sort_indices()
    assert X.shape == expected.shape
    np.testing.assert_array_equal(X.indptr, expected.indptr)
    np.testing.assert_array_equal(X.indices, expected.indices)
    np.testing.assert_array_equal(X.data, expected.data)


def assert_like_scikit_learn(texts, ours, theirs, more=()):
    """The same matrix and names, or a refusal by both."""
    try:
        Y = theirs.fit_transform(texts)
    except ValueError:
        with pytest.raises(ValueError, match=r"empty vocabulary|no terms are left|max_df"):
            ours.fit_transform(texts)
        return
    X = ours.fit_transform(texts)
    assert_same(X, ours.get_feature_names_out(), Y, theirs.get_feature_names_out())
    assert_same(
        ours.transform(list(more)),
        ours.vocabulary_.names,
        theirs.transform(list(more)),
        theirs.get_feature_names_out(),
    )


@given(
    corpora, corpora, st.sampled_from([(1, 1), (1, 2), (2, 2), (1, 3), (2, 4)]), st.booleans()
)
@settings(max_examples=200, deadline=None)
def test_counts_are_those_of_scikit_learn(texts, more, ngram_range, lowercase):
    ours = TermVectorizer(ngram_range=ngram_range, lowercase=lowercase, unspaced="words")
    assert_like_scikit_learn(
        texts, ours, CountVectorizer(ngram_range=ngram_range, lowercase=lowercase), more
    )


@given(
    st.lists(
        st.lists(st.sampled_from(["aa", "bb", "cc", "dd", "ee"]), max_size=6).map(" ".join),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([1, 2, 3, 0.0, 0.3, 0.5]),
    st.sampled_from([1.0, 0.7, 0.4, 3, 5]),
)
@settings(deadline=None)
def test_document_frequency_bounds_are_those_of_scikit_learn(texts, min_df, max_df):
    ours = TermVectorizer(min_df=min_df, max_df=max_df)
    assert_like_scikit_learn(texts, ours, CountVectorizer(min_df=min_df, max_df=max_df), texts)


def test_stop_words_are_left_out_before_ngrams():
    ours = TermVectorizer(stop_words="english", ngram_range=(1, 2))
    theirs = CountVectorizer(stop_words=list(ENGLISH_STOP_WORDS), ngram_range=(1, 2))
    assert_like_scikit_learn(TEXTS, ours, theirs, TEXTS)


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2)])
@pytest.mark.parametrize("stop_words", [None, ["the", "and", "was"]])
def test_stems_are_those_of_a_stemming_tokeniser(ngram_range, stop_words):
    stem = Stemmer.Stemmer("porter").stemWord
    plain = CountVectorizer(stop_words=stop_words).build_analyzer()
    theirs = CountVectorizer(
        tokenizer=lambda text: [stem(w) for w in plain(text)],
        token_pattern=None,
        ngram_range=ngram_range,
    )
    ours = TermVectorizer(stemmer="porter", stop_words=stop_words, ngram_range=ngram_range)
    assert_like_scikit_learn(TEXTS, ours, theirs, ["harvester wheats", "unseen words", *TEXTS])


def test_a_new_word_with_a_known_stem_counts():
    vectorizer = TermVectorizer(stemmer="english").fit(["trading"])
    assert vectorizer.transform(["trades traded"]).toarray().tolist() == [[2.0]]


@pytest.mark.parametrize("cosine", [False, True])
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_weights_follow_their_formulas(weighting, cosine):
    vectorizer = TermVectorizer(weighting=weighting, cosine=cosine)
    X = vectorizer.fit_transform(TEXTS)
    names = vectorizer.get_feature_names_out()
    expected = oracle.weights(TEXTS, weighting, cosine=cosine)
    for row in range(len(TEXTS)):
        entries = slice(X.indptr[row], X.indptr[row + 1])
        found = dict(zip(names[X.indices[entries]], X.data[entries], strict=True))
        assert found == pytest.approx(expected[row], rel=1e-13)
    np.testing.assert_array_equal(vectorizer.transform(TEXTS).toarray(), X.toarray())


def test_ltc_by_hand():
    # N = 4; "corn" in 2 documents: log2 2 = 1; "wheat" in 1: log2 4 = 2. l of 4 corns: 1 + log2 4 =
    # 3.
    X = TermVectorizer(weighting="ltc").fit_transform(
        ["corn corn corn corn wheat", "corn", "", ""]
    )
    assert X[[0]].toarray()[0] == pytest.approx([3 / math.sqrt(13), 2 / math.sqrt(13)])


def test_transform_weighs_with_the_frequencies_of_fit():
    vectorizer = TermVectorizer(weighting="tf-idf").fit(["corn", "wheat", "oats", "oats"])
    assert vectorizer.transform(["corn corn oats"]).toarray()[0] == pytest.approx(
        [2 * math.log(4), math.log(2), 0]
    )


def test_zipf_zones():
    texts = ["aa aa aa bb bb cc", "dd"]
    assert TermVectorizer(drop_frequent=1, drop_rare=1).fit(texts).vocabulary_.names == [
        "bb",
        "cc",
    ]
    assert TermVectorizer(drop_frequent=0.5).fit(texts).vocabulary_.names == ["cc", "dd"]


@given(corpora, st.integers(0, 12))
@settings(max_examples=50, deadline=None)
def test_partial_fit_in_pieces_is_partial_fit_at_once(texts, cut):
    whole = TermVectorizer(weighting="ltc").partial_fit(texts)
    pieces = TermVectorizer(weighting="ltc").partial_fit(texts[:cut]).partial_fit(texts[cut:])
    assert whole.vocabulary_.names == pieces.vocabulary_.names
    np.testing.assert_array_equal(whole.document_frequencies_, pieces.document_frequencies_)
    np.testing.assert_array_equal(
        whole.transform(texts).toarray(), pieces.transform(texts).toarray()
    )


def test_partial_fit_never_moves_a_column():
    vectorizer = TermVectorizer().fit(["wheat corn"])
    vectorizer.partial_fit(["oats barley corn"])
    assert vectorizer.vocabulary_.names == ["corn", "wheat", "oats", "barley"]
    assert vectorizer.document_frequencies_.tolist() == [2, 1, 1, 1]
    assert vectorizer.n_documents_ == 2
    assert vectorizer.transform(["barley barley wheat"]).toarray().tolist() == [[0, 1, 0, 2]]


def test_partial_fit_and_fit_agree_on_everything_but_the_order():
    fitted, grown = (
        TermVectorizer(weighting="ltc").fit(TEXTS),
        TermVectorizer(weighting="ltc").partial_fit(TEXTS),
    )
    columns = [grown.vocabulary_[name] for name in fitted.vocabulary_]
    np.testing.assert_allclose(
        fitted.transform(TEXTS).toarray(),
        grown.transform(TEXTS).toarray()[:, columns],
        rtol=1e-14,
    )


def test_partial_fit_refuses_to_prune():
    with pytest.raises(ValueError, match="keeps every term"):
        TermVectorizer(min_df=2).partial_fit(TEXTS)


@pytest.mark.parametrize(
    "options",
    [{}, {"stemmer": "porter", "ngram_range": (1, 2)}, {"min_df": 2, "weighting": "ltc"}],
)
def test_threads_and_batches_change_nothing(monkeypatch, options):
    texts = [f"{text} word{i % 7} only{i}" for i in range(60) for text in TEXTS]
    once = TermVectorizer(**options)
    expected = once.fit_transform(texts)
    monkeypatch.setattr(tokens, "BATCH_TEXTS", 1)
    threaded = TermVectorizer(n_jobs=3, **options)
    found = threaded.fit_transform(texts)
    assert_same(found, threaded.get_feature_names_out(), expected, once.get_feature_names_out())
    assert_same(
        threaded.transform(texts), threaded.vocabulary_.names, expected, once.vocabulary_.names
    )


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize(
    "options", [{}, {"stop_words": ["the", "only3"]}, {"ngram_range": (1, 2)}]
)
def test_tables_that_several_batches_share(monkeypatch, options, n_jobs):
    for module, name in ((tokens, "_SMALL"), (counts, "SMALL"), (words, "_FEW")):
        monkeypatch.setattr(module, name, -1)
    monkeypatch.setattr(tokens, "BATCH_TEXTS", 1)
    texts = [f"the {text} word{i % 300} only{i}" for i in range(300) for text in TEXTS]
    theirs = CountVectorizer(**options)
    expected = theirs.fit_transform(texts)
    ours = TermVectorizer(n_jobs=n_jobs, **options)
    found = ours.fit_transform(texts)
    assert_same(
        found,
        ours.get_feature_names_out(),
        sparse.csr_array(expected),
        theirs.get_feature_names_out(),
    )
    assert_same(ours.transform(texts), ours.vocabulary_.names, found, ours.vocabulary_.names)
    grown = (
        TermVectorizer(n_jobs=n_jobs, **options)
        .partial_fit(texts[:700])
        .partial_fit(texts[700:])
    )
    analyze = theirs.build_analyzer()
    assert set(grown.vocabulary_) == set(theirs.vocabulary_)
    if "ngram_range" not in options:
        assert list(grown.vocabulary_) == list(
            dict.fromkeys(term for text in texts for term in analyze(text))
        )
    order = [grown.vocabulary_[name] for name in ours.vocabulary_]
    np.testing.assert_array_equal(
        grown.collection_frequencies_[order], np.asarray(expected.sum(axis=0)).ravel()
    )
    np.testing.assert_array_equal(
        grown.document_frequencies_[order], ours.document_frequencies_
    )


@pytest.mark.parametrize(
    "source",
    [iter, tuple, np.array, pa.array, lambda texts: pa.chunked_array([texts[:2], texts[2:]])],
)
def test_any_source_of_texts(source):
    expected = TermVectorizer().fit_transform(TEXTS)
    np.testing.assert_array_equal(
        TermVectorizer().fit_transform(source(TEXTS)).toarray(), expected.toarray()
    )


def test_progress_counts_documents(monkeypatch):
    monkeypatch.setattr(tokens, "BATCH_TEXTS", 1)
    done = []
    TermVectorizer(progress=done.append).fit(["text"] * 600)
    assert done == [256, 512, 600]


def test_matrix_is_float64_with_int32_indices_in_canonical_form():
    X = TermVectorizer().fit_transform(TEXTS)
    assert (X.dtype, X.indices.dtype, X.indptr.dtype) == (np.float64, np.int32, np.int32)
    fresh = sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
    assert fresh.has_canonical_format


def test_inverse_transform_gives_the_terms_back():
    vectorizer = TermVectorizer()
    X = vectorizer.fit_transform(["corn wheat corn", ""])
    assert [terms.tolist() for terms in vectorizer.inverse_transform(X)] == [
        ["corn", "wheat"],
        [],
    ]
    with pytest.raises(ValueError, match="3 columns"):
        vectorizer.inverse_transform(np.ones((1, 3)))


def test_manners_of_scikit_learn():
    vectorizer = TermVectorizer(weighting="ltc", n_jobs=2)
    copy = clone(vectorizer)
    assert copy.get_params() == vectorizer.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(TEXTS)
    X = make_pipeline(vectorizer, MaxAbsScaler()).fit_transform(TEXTS)
    assert X.shape == (5, len(vectorizer.vocabulary_))
    again = pickle.loads(pickle.dumps(vectorizer))
    np.testing.assert_array_equal(
        again.transform(TEXTS).toarray(), vectorizer.transform(TEXTS).toarray()
    )


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        ("one string", TypeError, "not one str"),
        (["fine", None], DataError, "text 1 is missing"),
        (["fine", float("nan")], DataError, "text 1 is missing"),
        (["fine", b"bytes"], DataError, "text 1 is of type bytes"),
        (pa.array(["fine", None]), DataError, "1 texts are missing"),
        ([], ValueError, "empty vocabulary"),
        (["a b c", "..."], ValueError, "empty vocabulary"),
    ],
)
def test_bad_texts_are_refused(texts, error, message):
    with pytest.raises(error, match=message):
        TermVectorizer().fit(texts)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weighting": "bm25"}, "no weighting 'bm25'; there are: binary"),
        ({"stemmer": "klingon"}, "no stemmer 'klingon'; there are: arabic"),
        ({"stop_words": "klingon"}, "no stop words for 'klingon'"),
        ({"ngram_range": (2, 1)}, "ngram_range must be"),
        ({"characters": "bytes"}, "characters must be"),
        ({"min_length": 0}, "min_length must be"),
        ({"min_df": 3, "max_df": 2}, "max_df asks for at most 2"),
        ({"min_df": -1}, "min_df and max_df must be"),
        ({"max_df": 1.5}, "min_df and max_df must be"),
        ({"min_df": 99, "max_df": 100}, "no terms are left"),
        ({"drop_rare": 1.5}, "drop_rare must be"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        TermVectorizer(**parameters).fit(TEXTS)


def test_a_failed_fit_leaves_the_old_one():
    vectorizer = TermVectorizer().fit(["corn"])
    with pytest.raises(ValueError, match="empty vocabulary"):
        vectorizer.fit([""])
    assert vectorizer.vocabulary_.names == ["corn"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {
            "stop_words": {"the", "and"},
            "stemmer": "porter",
            "ngram_range": (1, 2),
            "weighting": "ltc",
        },
        {"min_df": 0.3},
    ],
)
def test_state_gives_the_same_vectors_back(options):
    vectorizer = TermVectorizer(**options).fit(TEXTS)
    parameters, arrays, terms = vectorizer.get_state()
    again = TermVectorizer.from_state(json.loads(json.dumps(parameters)), arrays, terms)
    np.testing.assert_array_equal(
        again.transform(TEXTS).toarray(), vectorizer.transform(TEXTS).toarray()
    )
    assert (
        again.partial_fit(["new"]).vocabulary_.names[-1] == "new"
        if "min_df" not in options
        else True
    )


@pytest.mark.parametrize(
    "damage",
    [
        lambda p, a, t: p["_frequencies"].update(n_documents=-1),
        lambda p, a, t: p.pop("_frequencies"),
        lambda p, a, t: p.update(weighting="bm25"),
        lambda p, a, t: p.update(ngram_range=7),
        lambda p, a, t: p.update(surprise=1),
        lambda p, a, t: a.pop("_frequencies.documents"),
        lambda p, a, t: a.update({"_frequencies.documents": np.ones(3)}),
        lambda p, a, t: a.update({"_frequencies.collection": np.ones(3, dtype=np.int64)}),
        lambda p, a, t: t.append("one more"),
        lambda p, a, t: t.__setitem__(0, t[1]),
    ],
)
def test_damaged_state_is_refused(damage):
    parameters, arrays, terms = TermVectorizer().fit(TEXTS).get_state()
    terms = list(terms)
    damage(parameters, arrays, terms)
    with pytest.raises(DataError):
        TermVectorizer.from_state(parameters, arrays, terms)


def test_term_counts_are_those_of_the_matrix():
    vectorizer = TermVectorizer(stemmer="porter", ngram_range=(1, 2), stop_words="english")
    X = vectorizer.fit_transform([TEXTS[1]])
    assert vectorizer.term_counts(TEXTS[1]) == dict(
        zip(vectorizer.get_feature_names_out(), X.toarray()[0], strict=True)
    )
    assert vectorizer.term_counts("") == {}


def test_sublinear_weights_are_those_of_scikit_learn():
    theirs = TfidfVectorizer(sublinear_tf=True, smooth_idf=False)
    expected = theirs.fit_transform(TEXTS).toarray()
    vectorizer = TermVectorizer(weighting="sublinear-tf-idf")
    np.testing.assert_allclose(vectorizer.fit_transform(TEXTS).toarray(), expected, rtol=1e-13)
    assert (
        vectorizer.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    )


def test_compiled_kernels_count_small_inputs_too(monkeypatch):
    texts = [f"{text} number{i}" for i in range(200) for text in TEXTS]
    found = {}
    for is_ready in (False, True):
        monkeypatch.setattr(type(kernels.tokenise_until_full), "is_ready", is_ready)
        vectorizer = TermVectorizer(ngram_range=(1, 2), min_df=2)
        found[is_ready] = vectorizer.fit_transform(texts), vectorizer.get_feature_names_out()
    assert_same(*found[True], *found[False])


@pytest.mark.parametrize(
    "parameters", [{}, {"ngram_range": (1, 3)}, {"stemmer": "english", "stop_words": "english"}]
)
def test_small_inputs_are_counted_as_large_ones_are(parameters, monkeypatch):
    texts = [
        *TEXTS,
        "Ünïted NAÏVE ΣΊΣΥΦΟΣ 3rd_place \u2764\ufe0f don't",
        "東京 weather",
        "a b cc " + "x" * 40,
    ] * 3
    small = TermVectorizer(**parameters)
    X = small.fit_transform(texts)
    again = small.transform(texts[::-1])
    monkeypatch.setattr(tokens, "_SMALL", -1)
    monkeypatch.setattr(counts, "SMALL", -1)
    monkeypatch.setattr(words, "_FEW", -1)
    large = TermVectorizer(**parameters)
    Y = large.fit_transform(texts)
    assert_same(X, small.get_feature_names_out(), Y, large.get_feature_names_out())
    assert_same(
        again,
        small.get_feature_names_out(),
        large.transform(texts[::-1]),
        large.get_feature_names_out(),
    )
