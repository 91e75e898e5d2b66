"""Small parts of the linear models, by hand."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm

from bayesift.models.base import SparseRow, compact_row, rows_of, scores_of, stack_rows
from bayesift.models.linear import (
    GaussianPrior,
    LaplacePrior,
    LinearProblem,
    Logit,
    Probit,
    Solution,
    SparseBayesClassifier,
    WeightPosterior,
    variational_posterior,
)
from bayesift.models.linear.links import probabilities
from bayesift.models.linear.path import MinimumSearch, column, prior_spread, strongest_scales
from bayesift.models.linear.posterior import normalised_bounds, score_interval, variances_of
from bayesift.models.linear.priors import is_shared, penalty_rows, row_of, shares_scale
from bayesift.models.linear.problem import best_constants, scaled_rows

FLAT = np.array([1.0, 0.0, 0.0])


def problem_of(prior, rows=None):
    rows = np.eye(4) if rows is None else rows
    members = sparse.csr_array(np.array([[1, 1, 0, 0]])[:, : len(rows)])
    return LinearProblem(
        sparse.csr_array(rows), members, np.ones(len(rows)), Logit(), prior, FLAT
    )


def test_a_search_closes_in_on_the_minimum():
    search = MinimumSearch(0.0, 1.0, (-9.0, 9.0), 0.01)
    while (place := search.next_point()) is not None:
        search.add(place, (place - 3.3) ** 2)
    assert search.best == pytest.approx(3.3, abs=0.01)


def test_scales_of_priors():
    assert strongest_scales(problem_of(LaplacePrior())).tolist() == pytest.approx([2.0])
    spread = prior_spread(problem_of(GaussianPrior(variance=3.0), np.array([[2.0, 1.0]])))
    assert spread.tolist() == pytest.approx([15.0])
    assert column([2.0, 2.0]) == 2.0
    assert column([1.0, 2.0]).tolist() == [[1.0], [2.0]]


def test_parameters_of_priors_broadcast_to_categories_and_terms():
    assert row_of([[1.0], [2.0]], 1, 3).tolist() == [2.0, 2.0, 2.0]
    assert penalty_rows(LaplacePrior(gamma=4.0, sign=[0, 1]), 0, 2)[[0, 3]].tolist() == [
        [2.0, 2.0],
        [-np.inf, 0.0],
    ]
    each = np.ones((3, 1))
    assert is_shared(GaussianPrior())
    assert not is_shared(GaussianPrior(variance=each))
    assert shares_scale(GaussianPrior(mode=each))
    assert not shares_scale(GaussianPrior(variance=each))


def test_intervals_of_scores_and_of_normalised_probabilities():
    low, high = score_interval(np.zeros(1), np.ones(1), 0.9)
    np.testing.assert_allclose([low[0], high[0]], norm.ppf([0.05, 0.95]))
    low, high = normalised_bounds(
        np.log([[0.2, 0.3]]), np.log([[0.1, 0.1]]), np.log([[0.6, 0.8]])
    )
    np.testing.assert_allclose(low, [[0.1 / 0.4, 0.1 / 0.3]])
    np.testing.assert_allclose(high, [[0.6 / 0.9, 0.8 / 1.0]])


def test_best_intercepts_and_scaled_rows():
    assert best_constants(Logit(), FLAT, np.array([3.0]), np.array([1.0])) == pytest.approx(
        np.log(3)
    )
    assert scaled_rows(sparse.csr_array([[3.0, 1.0]]), np.array([4.0, 1.0]))[1].tolist() == [
        3.25
    ]


def test_rows_of_weights_are_stacked_and_split():
    few, many = np.r_[1.0, np.zeros(9)], np.ones(10)
    assert isinstance(compact_row(few), SparseRow)
    assert compact_row(many) is many
    stacked = stack_rows([compact_row(few), few, compact_row(np.zeros(10))])
    assert sparse.issparse(stacked)
    assert stacked.toarray().tolist() == [few.tolist(), few.tolist(), [0.0] * 10]
    assert [row.dense().tolist() for row in rows_of(stacked)] == stacked.toarray().tolist()
    dense = stack_rows([compact_row(few), many])
    assert dense.tolist() == [few.tolist(), many.tolist()]
    assert rows_of(dense)[1].tolist() == many.tolist()
    X = sparse.csr_array([[1.0, 2.0] + [0.0] * 8])
    np.testing.assert_array_equal(scores_of(X, stacked, np.full(3, 0.5)), [[1.5, 1.5, 0.5]])
    np.testing.assert_array_equal(scores_of(X, dense, np.full(2, 0.5)), [[1.5, 3.5]])


def test_values_of_links():
    assert probabilities(Logit(), np.array([0.0, np.log(3)])).tolist() == [0.5, 0.75]
    assert probabilities(Probit(), np.array([0.0, 1.959963984540054])).round(6).tolist() == [
        0.5,
        0.975,
    ]


def test_variances_of_posteriors():
    weights, intercepts = variances_of([WeightPosterior(np.array([1]), np.diag([4.0, 9.0]))], 3)
    assert (weights.toarray().tolist(), intercepts.tolist()) == ([[0.0, 4.0, 0.0]], [9.0])


def test_solutions_found_elsewhere():
    found = Solution(np.array([1.0, -1.0]), 0.0, np.empty(0), 1, True)
    model = SparseBayesClassifier().fit_solutions([found], ["crude", "grain"], multilabel=False)
    assert model.predict([[1, 0], [0, 1]]).tolist() == ["grain", "crude"]
    assert model.problem([[2, 0], [0, 1]], [0, 1]).n_terms == 2
    assert model.intercept_row().tolist() == [1.0, 0.0, 0.0]


def test_variational_posterior_of_two_documents():
    rows, members = (
        sparse.csr_array(np.array([[1.0], [-1.0]])),
        sparse.csr_array(np.array([[1, 0]])),
    )
    problem = LinearProblem(rows, members, np.ones(2), Logit(), GaussianPrior(), np.zeros(3))
    mean, posterior = variational_posterior(problem, 0)
    assert mean.coefficients.round(3).tolist() == [0.686]
    assert posterior.variances.round(3).tolist() == [0.686, 0.0]
