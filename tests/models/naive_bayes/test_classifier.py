import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB

from bayesift.models.naive_bayes import (
    AbsoluteDiscounting,
    Dirichlet,
    HierarchicalShrinkage,
    JelinekMercer,
    Laplace,
    MaximumLikelihood,
    NaiveBayesClassifier,
)

SMOOTHINGS = [
    Laplace(0.5),
    Dirichlet(30.0),
    JelinekMercer(0.3),
    AbsoluteDiscounting(0.4),
    HierarchicalShrinkage({"crude": "energy", "gas": "energy"}),
    MaximumLikelihood(),
]
smoothings = pytest.mark.parametrize(
    "smoothing", SMOOTHINGS, ids=lambda smoothing: smoothing.kind
)


def counts(n_documents=50, n_terms=30, seed=0):
    generator = np.random.default_rng(seed)
    return generator.poisson(0.5, size=(n_documents, n_terms)).astype(float)


def labels_of(n_documents=50, seed=1):
    return np.random.default_rng(seed).permutation(
        np.resize(["crude", "earn", "gas", "grain"], n_documents)
    )


def indicator_of(n_documents=50, seed=2):
    Y = (
        np.random.default_rng(seed).random((n_documents, 5)) < [0.5, 0.3, 0.2, 0.1, 0.05]
    ).astype(int)
    Y[:5] = np.eye(5)
    return Y


@pytest.mark.parametrize("alpha", [1.0, 0.1, 1e-3, 7.0])
@pytest.mark.parametrize("scale", [1.0, 0.137])
def test_laplace_is_scikit_learns_multinomial_naive_bayes(alpha, scale):
    X, y, weights = counts() * scale, labels_of(), np.random.default_rng(3).random(50)
    theirs = MultinomialNB(alpha=alpha).fit(X, y, weights)
    ours = NaiveBayesClassifier(smoothing=Laplace(alpha)).fit(X, y, weights)
    more = counts(seed=9) * scale
    np.testing.assert_allclose(
        ours.predict_proba(more), theirs.predict_proba(more), rtol=0, atol=1e-10
    )
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(more), theirs.predict_joint_log_proba(more), rtol=1e-12
    )
    np.testing.assert_allclose(ours.feature_log_prob_, theirs.feature_log_prob_, rtol=1e-12)
    np.testing.assert_array_equal(ours.predict(more), theirs.predict(more))


@pytest.mark.parametrize("scale", [1.0, 0.137])
def test_an_indicator_is_one_classifier_against_the_rest_each(scale):
    X, Y, more = counts() * scale, indicator_of(), counts(seed=9) * scale
    ours = NaiveBayesClassifier().fit(X, Y)
    theirs = OneVsRestClassifier(MultinomialNB()).fit(X, Y)
    np.testing.assert_allclose(
        ours.predict_proba(more), theirs.predict_proba(more), rtol=0, atol=1e-10
    )
    np.testing.assert_array_equal(ours.predict(more), theirs.predict(more))


@smoothings
def test_each_column_of_an_indicator_is_a_pair_of_classes(smoothing):
    """A category against the rest is two exclusive classes with the same collection."""
    if isinstance(smoothing, HierarchicalShrinkage):
        pytest.skip("the rest has no ancestors, a class has")
    X, Y, more = counts(), indicator_of(), counts(seed=9)
    together = NaiveBayesClassifier(smoothing=smoothing).fit(X, Y)
    for c in range(Y.shape[1]):
        alone = NaiveBayesClassifier(smoothing=smoothing).fit(X, Y[:, c])
        np.testing.assert_allclose(
            together.predict_proba(more)[:, c], alone.predict_proba(more)[:, 1], atol=1e-10
        )


@smoothings
@pytest.mark.parametrize("target", [labels_of(), indicator_of()], ids=["labels", "indicator"])
@pytest.mark.parametrize("sizes", [[20, 30], [1, 9, 40], [10] * 5])
def test_batches_give_the_very_numbers_of_one_fit(smoothing, target, sizes):
    X = counts() * np.random.default_rng(5).random((50, 30))
    weights = np.random.default_rng(6).random(50)
    whole = NaiveBayesClassifier(smoothing=smoothing).fit(X, target, weights)
    parts = NaiveBayesClassifier(smoothing=smoothing)
    begin = 0
    for size in sizes:
        batch = slice(begin, begin + size)
        parts.partial_fit(X[batch], target[batch], weights[batch])
        begin += size
    np.testing.assert_array_equal(parts.classes_, whole.classes_)
    np.testing.assert_array_equal(parts.feature_log_prob_, whole.feature_log_prob_)
    np.testing.assert_array_equal(parts.class_log_prior_, whole.class_log_prior_)
    np.testing.assert_array_equal(parts.predict_log_proba(X), whole.predict_log_proba(X))


@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=30),
    st.integers(1, 29),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=60)
def test_new_categories_and_terms_may_appear(codes, cut, seed):
    names = np.array(["b", "d", "a", "c"])[codes]
    generator = np.random.default_rng(seed)
    X = generator.poisson(0.7, size=(len(codes), 8)).astype(float)
    cut = min(cut, len(codes) - 1)
    X[:cut, 5:] = 0
    whole = NaiveBayesClassifier().fit(X, names)
    parts = (
        NaiveBayesClassifier()
        .partial_fit(X[:cut, :5], names[:cut])
        .partial_fit(X[cut:], names[cut:])
    )
    np.testing.assert_array_equal(parts.classes_, whole.classes_)
    assert parts.n_features_in_ == 8
    np.testing.assert_array_equal(parts.predict_log_proba(X), whole.predict_log_proba(X))


def test_columns_of_an_indicator_may_be_added():
    X, Y = counts(), indicator_of()
    Y[:25, 3:] = 0
    whole = NaiveBayesClassifier().fit(X, Y)
    parts = NaiveBayesClassifier().partial_fit(X[:25], Y[:25, :3]).partial_fit(X[25:], Y[25:])
    np.testing.assert_array_equal(parts.predict_log_proba(X), whole.predict_log_proba(X))


def test_columns_of_an_indicator_have_names():
    model = NaiveBayesClassifier().fit(counts(), indicator_of(), classes=list("vwxyz"))
    assert model.classes_.tolist() == list("vwxyz")
    with pytest.raises(ValueError, match="the columns of y were"):
        model.partial_fit(counts(), indicator_of(), classes=list("vwxya"))
    with pytest.raises(ValueError, match="3 classes for the 5 columns"):
        clone(model).fit(counts(), indicator_of(), classes=list("vwx"))


def test_classes_may_be_announced():
    X, y = counts(), labels_of()
    model = NaiveBayesClassifier(priors="uniform").partial_fit(
        X, y, classes=["zinc", *np.unique(y)]
    )
    assert model.classes_.tolist() == ["crude", "earn", "gas", "grain", "zinc"]
    assert np.all(np.isfinite(model.predict_log_proba(X)))


def test_labels_and_indicators_do_not_follow_one_another():
    model = NaiveBayesClassifier().fit(counts(), labels_of())
    with pytest.raises(ValueError, match="labels now, or the other way round"):
        model.partial_fit(counts(), indicator_of())
    with pytest.raises(ValueError, match="both names and numbers"):
        model.partial_fit(counts(), np.arange(50) % 2)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.partial_fit(counts()[:, :3], labels_of())


@pytest.mark.parametrize(
    "batch",
    [
        (np.ones((2, 40)), ["crude"], None),
        (np.ones((2, 40)), [[1, 0], [0, 1]], None),
        (np.ones((2, 40)), ["crude", "zinc"], [1.0, -1.0]),
        (-np.ones((2, 40)), ["crude", "zinc"], None),
        (np.ones((2, 10)), ["crude", "zinc"], None),
    ],
)
def test_a_refused_batch_changes_nothing(batch):
    X = counts()
    model = NaiveBayesClassifier().fit(X, labels_of())
    before = model.predict_log_proba(X)
    with pytest.raises(ValueError, match=r"."):
        model.partial_fit(*batch)
    assert len(model.classes_) == 4
    np.testing.assert_array_equal(model.predict_log_proba(X), before)


@smoothings
def test_cross_entropy_orders_categories_as_the_posterior_does(smoothing):
    X = counts(seed=4)
    model = NaiveBayesClassifier(smoothing=smoothing).fit(counts(), labels_of())
    joint, entropy = model.predict_joint_log_proba(X), model.cross_entropy(X)
    np.testing.assert_array_equal(
        np.argsort(entropy, axis=1, kind="stable"), np.argsort(-joint, axis=1, kind="stable")
    )
    length = X.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        inner = -np.nansum((X / length)[:, np.newaxis, :] * model.feature_log_prob_, axis=2)
    np.testing.assert_allclose(entropy, inner - model.class_log_prior_ / length, rtol=1e-12)


def test_cross_entropy_against_the_rest():
    X = counts(seed=4)
    X[0] = 0
    model = NaiveBayesClassifier().fit(counts(), indicator_of())
    entropy = model.cross_entropy(X)
    np.testing.assert_array_equal(entropy < 0, model.predict(X) == 1)
    np.testing.assert_array_equal(
        np.argsort(entropy, axis=1), np.argsort(-model.predict_log_odds(X), axis=1)
    )
    np.testing.assert_allclose(entropy[0], -model.log_odds_intercept_)


@smoothings
@pytest.mark.parametrize("target", [labels_of(), indicator_of()], ids=["labels", "indicator"])
def test_documents_without_words_get_the_prior(smoothing, target):
    model = NaiveBayesClassifier(smoothing=smoothing).fit(counts(), target)
    shares = (
        indicator_of().mean(axis=0)
        if target.ndim == 2
        else np.unique(target, return_counts=True)[1] / 50
    )
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 30)))[0], shares)


def test_impossible_documents_get_the_prior():
    X, y = [[2, 0, 0], [0, 1, 0], [0, 1, 0]], ["a", "b", "b"]
    model = NaiveBayesClassifier(smoothing=MaximumLikelihood()).fit(X, y)
    documents = [[1, 0, 0], [0, 3, 0], [1, 1, 0], [0, 0, 1]]
    expected = [[1, 0], [0, 1], [1 / 3, 2 / 3], [1 / 3, 2 / 3]]
    np.testing.assert_allclose(model.predict_proba(documents), expected)
    assert model.predict_joint_log_proba(documents)[2].tolist() == [-np.inf, -np.inf]
    several = NaiveBayesClassifier(smoothing=MaximumLikelihood()).fit(
        X, [[1, 0], [0, 1], [0, 1]]
    )
    np.testing.assert_allclose(several.predict_proba(documents), expected)
    assert not np.any(np.isnan(several.log_odds_coef_))


@smoothings
def test_log_odds_are_those_of_the_probabilities(smoothing):
    X = counts(seed=4) * 0.1
    for target in (labels_of(), indicator_of()):
        model = NaiveBayesClassifier(smoothing=smoothing).fit(counts(), target)
        p = model.predict_proba(X)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(
                model.predict_log_odds(X), np.log(p) - np.log1p(-p), rtol=1e-7, atol=1e-9
            )
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)


def test_log_odds_tell_apart_what_rounds_to_certainty():
    model = NaiveBayesClassifier().fit([[9, 0], [0, 9], [1, 1]], ["a", "b", "c"])
    sure, surer = model.predict_log_odds([[100, 0], [200, 0]])
    assert model.predict_proba([[100, 0]])[0, 0] == 1.0
    assert sure[0] < surer[0] < np.inf


def test_contributions_add_up_to_the_log_odds():
    X, Y = sparse.csr_array(counts(seed=4)), indicator_of()
    several = NaiveBayesClassifier().fit(counts(), Y, classes=list("vwxyz"))
    terms, prior = several.contributions(X, "w")
    np.testing.assert_allclose(terms.sum(axis=1) + prior, several.predict_log_odds(X)[:, 1])
    pair = NaiveBayesClassifier().fit(counts(), Y[:, 0])
    terms, prior = pair.contributions(X, 1)
    np.testing.assert_allclose(terms.sum(axis=1) + prior, pair.predict_log_odds(X)[:, 1])
    linear = X @ pair.log_odds_coef_[0] + pair.log_odds_intercept_
    np.testing.assert_allclose(linear, pair.predict_log_odds(X)[:, 1])


def test_contributions_against_another_class():
    X = sparse.csr_array(counts(seed=4))
    model = NaiveBayesClassifier().fit(counts(), labels_of())
    joint = model.predict_joint_log_proba(X)
    terms, prior = model.contributions(X, "earn", against="grain")
    np.testing.assert_allclose(terms.sum(axis=1) + prior, joint[:, 1] - joint[:, 3])
    terms, prior = model.contributions(X, "earn")
    rivals = np.delete(joint, 1, axis=1).max(axis=1)
    np.testing.assert_allclose(terms.sum(axis=1) + prior, joint[:, 1] - rivals)
    with pytest.raises(ValueError, match="no category 'zinc'"):
        model.contributions(X, "zinc")
    with pytest.raises(AttributeError, match="use `contributions`"):
        _ = model.log_odds_coef_


def test_contributions_need_another_class():
    model = NaiveBayesClassifier().fit([[1.0]], ["a"])
    with pytest.raises(ValueError, match="only one class"):
        model.contributions([[1.0]], "a")


@pytest.mark.parametrize("target", [labels_of(), indicator_of()], ids=["labels", "indicator"])
def test_priors(target):
    n = 5 if target.ndim == 2 else 4
    nothing = np.zeros((1, 30))
    uniform = NaiveBayesClassifier(priors="uniform").fit(counts(), target)
    np.testing.assert_allclose(
        uniform.predict_proba(nothing)[0], np.full(n, 0.5 if n == 5 else 0.25)
    )
    given_priors = [0.1, 0.2, 0.3, 0.4, 0.9][:n]
    model = NaiveBayesClassifier(priors=given_priors).fit(counts(), target)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], given_priors)


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ("flat", "must be 'empirical', 'uniform'"),
        (None, "must be 'empirical', 'uniform'"),
        ([0.5, 0.5], "4 probabilities"),
        ([0.5, 0.5, 0.5, -0.5], "4 probabilities"),
        ([0.5, 0.5, 0.5, 0.5], "must sum to 1, not to 2"),
    ],
)
def test_wrong_priors_are_named(priors, message):
    with pytest.raises(ValueError, match=message):
        NaiveBayesClassifier(priors=priors).fit(counts(), labels_of())


def test_categories_without_documents_or_with_all():
    Y = indicator_of()
    Y[:, 0], Y[:, 1] = 0, 1
    probabilities = NaiveBayesClassifier().fit(counts(), Y).predict_proba(counts())
    assert np.all(probabilities[:, 0] == 0)
    assert np.all(probabilities[:, 1] == 1)


def test_one_column_indicators_are_sparse():
    Y = sparse.csr_array(indicator_of()[:, :1])
    model = NaiveBayesClassifier().fit(counts(), Y)
    assert model.multilabel_
    assert model.predict(counts()).shape == (50, 1)


def test_counts_stay_sparse():
    X = sparse.random_array((200, 50_000), density=1e-4, random_state=0, format="csr")
    model = NaiveBayesClassifier().fit(X, np.arange(200) % 7)
    assert model.counted_.counts.nnz <= X.nnz
    assert model.counted_.counts.indices.dtype == np.int32


@pytest.mark.parametrize("bad", [[[-1.0, 2.0]], [[np.nan, 1.0]], [[np.inf, 1.0]]])
def test_documents_hold_finite_weights_from_zero_on(bad):
    with pytest.raises(ValueError, match=r"Negative values|NaN|infinity"):
        NaiveBayesClassifier().fit(bad, ["a"])
