import math

import numpy as np
import pytest
from scipy import sparse

from bayesift.models.naive_bayes import (
    SMOOTHINGS,
    AbsoluteDiscounting,
    Bags,
    CategoryCounts,
    Dirichlet,
    HierarchicalShrinkage,
    JelinekMercer,
    Laplace,
    MaximumLikelihood,
)

ALL = [
    Laplace(0.3),
    Dirichlet(20.0),
    JelinekMercer(0.2),
    AbsoluteDiscounting(0.6),
    HierarchicalShrinkage({"a": "vowel", "b": "consonant", "c": "consonant"}),
]


def bags_of(X, Y, *, rest=False, multilabel=True):
    X = sparse.csr_array(np.asarray(X, dtype=float))
    members = sparse.csr_array(np.asarray(Y).T)
    counted = CategoryCounts.empty(members.shape[0], X.shape[1]).add(
        X, members, np.ones(X.shape[0])
    )
    return Bags(counted, np.array(list("abcdefgh")[: members.shape[0]]), multilabel, rest)


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(7)
    X = generator.poisson(0.6, size=(40, 15)) * generator.choice([1.0, 0.5, 2.3], size=(40, 15))
    X[:, 14] = 0
    Y = (generator.random((40, 3)) < [0.7, 0.3, 0.1]).astype(int)
    Y[0] = 1
    Y[1] = 0
    return X, Y


def words_of(X, Y, c, rest):
    """The bag of a category as a list of counts, summed the slow way."""
    inside = Y[:, c] == (0 if rest else 1)
    return [math.fsum(X[inside, t]) for t in range(X.shape[1])]


def formula(smoothing, counts, totals):
    """The probabilities of one bag, term by term, from the formulas in the module's docstring."""
    size, n_terms = math.fsum(counts), len(counts)
    everything = math.fsum(totals)
    q = [(total + 1) / (everything + n_terms) for total in totals]
    match smoothing:
        case MaximumLikelihood():
            return [n / size for n in counts]
        case Laplace(alpha):
            return [(n + alpha) / (size + alpha * n_terms) for n in counts]
        case Dirichlet(mu):
            return [(n + mu * q[t]) / (size + mu) for t, n in enumerate(counts)]
        case JelinekMercer(lambda_):
            return [(1 - lambda_) * n / size + lambda_ * q[t] for t, n in enumerate(counts)]
        case AbsoluteDiscounting(delta):
            taken = math.fsum(min(n, delta) for n in counts)
            return [(max(n - delta, 0) + taken * q[t]) / size for t, n in enumerate(counts)]


@pytest.mark.parametrize("rest", [False, True])
@pytest.mark.parametrize("smoothing", [MaximumLikelihood(), *ALL[:-1]], ids=str)
def test_formulas(data, smoothing, rest):
    X, Y = data
    ours = np.exp(smoothing(bags_of(X, Y, rest=rest)))
    totals = [math.fsum(X[:, t]) for t in range(X.shape[1])]
    expected = [formula(smoothing, words_of(X, Y, c, rest), totals) for c in range(Y.shape[1])]
    np.testing.assert_allclose(ours.T, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("rest", [False, True])
@pytest.mark.parametrize("smoothing", ALL, ids=str)
def test_probabilities_are_positive_and_sum_to_one(data, smoothing, rest):
    probabilities = np.exp(smoothing(bags_of(*data, rest=rest)))
    assert np.all(probabilities > 0)
    np.testing.assert_allclose(probabilities.sum(axis=0), 1, rtol=1e-12)


@pytest.mark.parametrize("smoothing", ALL, ids=str)
def test_a_category_without_words_has_the_background(smoothing):
    probabilities = np.exp(smoothing(bags_of([[1, 2, 0], [0, 0, 0]], [[1, 0], [0, 1]])))
    np.testing.assert_allclose(probabilities.sum(axis=0), 1, rtol=1e-12)


def test_maximum_likelihood_rules_out_unseen_words():
    log_probabilities = MaximumLikelihood()(bags_of([[1, 1, 0], [0, 0, 4]], [[1, 0], [0, 1]]))
    np.testing.assert_allclose(
        log_probabilities.T, [[-np.log(2), -np.log(2), -np.inf], [-np.inf, -np.inf, 0.0]]
    )


def test_rounding_does_not_leave_words_in_the_rest():
    weights = np.array([[0.1], [0.2], [0.3], [0.7]])
    log_probabilities = MaximumLikelihood()(bags_of(weights, [[1], [1], [1], [1]], rest=True))
    assert log_probabilities[0, 0] == -np.inf


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Laplace, 0.0),
        (Laplace, float("nan")),
        (Dirichlet, -1.0),
        (Dirichlet, float("inf")),
        (JelinekMercer, 0.0),
        (JelinekMercer, 1.1),
        (AbsoluteDiscounting, 0.0),
        (AbsoluteDiscounting, 2.0),
    ],
)
def test_parameters_out_of_bounds_are_refused(kind, value):
    with pytest.raises(ValueError, match="must be above 0"):
        kind(value)


def test_kinds_are_distinct_names():
    assert {kind.kind for kind in SMOOTHINGS.values()} == set(SMOOTHINGS)
    assert len(SMOOTHINGS) == 6
