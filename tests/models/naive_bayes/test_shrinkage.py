import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from bayesift.models.naive_bayes import (
    Bags,
    CategoryCounts,
    HierarchicalShrinkage,
    Laplace,
    NaiveBayesClassifier,
)


def fitted(X, y, parents, **options):
    return NaiveBayesClassifier(smoothing=HierarchicalShrinkage(parents, **options)).fit(X, y)


@pytest.fixture(scope="module")
def siblings():
    """Two categories that share a vocabulary, and a third that does not.

    The first has few documents.
    """
    generator = np.random.default_rng(0)
    shared, own, other = generator.dirichlet(np.full(40, 0.3), size=3)
    mixtures = {"rec.autos": 0.8 * shared + 0.2 * own, "rec.bikes": shared, "sci.space": other}
    sizes = {"rec.autos": 6, "rec.bikes": 120, "sci.space": 120}
    X = np.concatenate(
        [generator.multinomial(15, mixtures[c], size=n) for c, n in sizes.items()]
    )
    return X.astype(float), np.repeat(list(sizes), list(sizes.values())), mixtures


def test_a_small_category_learns_from_its_sibling(siblings):
    X, y, truth = siblings
    parents = {"rec.autos": "rec", "rec.bikes": "rec", "sci.space": "sci"}

    def distance(smoothing):
        model = NaiveBayesClassifier(smoothing=smoothing).fit(X, y)
        return truth["rec.autos"] @ (np.log(truth["rec.autos"]) - model.feature_log_prob_[0])

    tree, flat = distance(HierarchicalShrinkage(parents)), distance(HierarchicalShrinkage())
    assert tree < flat
    assert tree < min(distance(Laplace(alpha)) for alpha in (0.01, 0.1, 1.0))


def test_weights_maximise_the_likelihood_of_held_out_words(siblings):
    X, y, _ = siblings
    parents = {"rec.autos": "rec", "rec.bikes": "rec", "sci.space": "sci"}
    model = fitted(X, y, parents, tolerance=1e-10, max_iterations=100_000)
    autos, bikes = X[y == "rec.autos"], X[y == "rec.bikes"]
    counts = autos.sum(axis=0)
    estimates = [counts, bikes.sum(axis=0), X[y == "sci.space"].sum(axis=0), np.ones(40)]
    estimates = np.array([estimate / estimate.sum() for estimate in estimates])
    holders, n = (autos > 0).sum(axis=0), len(autos)
    seen = counts > 0
    held_out = estimates[:, seen].copy()
    held_out[0] *= (1 - 1 / holders[seen]) / (1 - 1 / n)

    def loss(free):
        weights = np.exp(free) / np.exp(free).sum()
        return -counts[seen] @ np.log(weights @ held_out) - np.log(weights).sum()

    best = minimize(loss, np.zeros(4), tol=1e-12)
    weights = np.exp(best.x) / np.exp(best.x).sum()
    np.testing.assert_allclose(
        np.exp(model.feature_log_prob_[0]), weights @ estimates, rtol=1e-3
    )


def test_circles_are_refused():
    with pytest.raises(ValueError, match="form a circle"):
        HierarchicalShrinkage({"a": "b", "b": "a"})


@pytest.mark.parametrize(
    "options", [{"tolerance": -1.0}, {"max_iterations": 0}, {"max_iterations": 10**9}]
)
def test_options_out_of_bounds_are_refused(options):
    with pytest.raises(ValueError, match="max_iterations from 1 to"):
        HierarchicalShrinkage(**options)


@pytest.mark.corpus("rcv1-sample")
def test_topic_tree_of_rcv1(corpus_named):
    corpus = corpus_named("rcv1-sample")
    train = corpus.select(np.arange(0, len(corpus), 10))
    model = NaiveBayesClassifier(smoothing=HierarchicalShrinkage(corpus.parents))
    model.fit(train.vectors, train.indicator, classes=corpus.categories)
    probabilities = model.predict_proba(train.vectors[:200])
    assert probabilities.shape == (200, len(corpus.categories))
    assert np.all(np.isfinite(model.log_odds_coef_))
    np.testing.assert_allclose(np.exp(model.feature_log_prob_).sum(axis=1), 1, rtol=1e-10)


def test_with_an_indicator_an_ancestor_has_its_own_documents():
    X = sparse.csr_array([[2.0, 0, 0], [0, 3.0, 0], [0, 0, 1.0]])
    members = sparse.csr_array([[1, 1, 0], [1, 0, 0]])
    bags = Bags(
        CategoryCounts.empty(2, 3).add(X, members, np.ones(3)),
        np.array(["rec", "rec.autos"]),
        multilabel=True,
    )
    tree = HierarchicalShrinkage({"rec.autos": "rec"})
    np.testing.assert_array_equal(tree._node_counts(bags)["rec"], [2, 3, 0])


def test_exclusive_ancestors_have_the_documents_of_their_children_and_their_own():
    model = fitted(np.eye(3), ["rec.autos", "rec.bikes", "rec"], {})
    bags = Bags(model.counted_, model.classes_)
    tree = HierarchicalShrinkage({"rec.autos": "rec", "rec.bikes": "rec"})
    np.testing.assert_array_equal(tree._node_counts(bags)["rec"], [1, 1, 1])
