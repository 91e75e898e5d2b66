"""What `converged` says, and when the classifier warns."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import OptimizeResult
from sklearn.exceptions import ConvergenceWarning

from bayesift.folds import deal_folds
from bayesift.models.linear import GaussianPrior, LaplacePrior, SparseBayesClassifier
from bayesift.models.linear.solvers import newton, solve_all
from bayesift.models.linear.solvers.line_search import backtrack


def ill_conditioned():
    """Columns of very different length under a weak prior: full Newton steps overflow."""
    generator = np.random.default_rng(1)
    weights = generator.normal(size=(300, 9)) * (generator.random((300, 9)) < 0.1)
    X = sparse.csr_array(
        generator.poisson(0.05, size=(400, 300)) * generator.random((400, 300))
    )
    y = (X @ weights + generator.normal(size=(400, 9)) * 0.3 > 0.3).astype(int)
    return sparse.csr_array(X * np.geomspace(1, 1e3, 300)), y


def test_converged_solutions_are_modes_where_line_searches_fail():
    X, y = ill_conditioned()
    problem = SparseBayesClassifier(prior=GaussianPrior(variance=100.0), max_iter=60).problem(
        X, y
    )
    modes = solve_all(problem, "newton", [None] * 9, None)
    found = solve_all(problem.varied(max_iter=40), "dual", [None] * 9, None)
    assert all(mode.converged for mode in modes)
    assert 0 < sum(solution.converged for solution in found) < 9
    for mode, solution in zip(modes, found, strict=True):
        assert not solution.converged or solution.objective[-1] == pytest.approx(
            mode.objective[-1], rel=1e-5
        )


def test_models_that_do_not_converge_are_warned_about():
    X, y = ill_conditioned()
    with pytest.warns(ConvergenceWarning) as warned:
        model = SparseBayesClassifier(prior=GaussianPrior(variance=100.0), max_iter=40).fit(
            X, y
        )
    left = sum(not solution.converged for solution in model.solutions_)
    assert 0 < left < 9
    assert f"{left} of 9 models did not converge" in str(warned[0].message)


def test_an_abnormal_line_search_of_lbfgs_is_no_convergence(monkeypatch):
    problem = SparseBayesClassifier(prior="gaussian").problem(np.eye(4), [0, 0, 1, 1])
    assert solve_all(problem, "lbfgs", [None], None)[0].converged
    abnormal = OptimizeResult(
        x=np.array([0.0, 0.0, 0.0, 0.0, 9.0]), nit=1, status=2, message="ABNORMAL"
    )
    monkeypatch.setattr(newton, "minimize", lambda *_, **__: abnormal)
    assert not solve_all(problem, "lbfgs", [None], None)[0].converged


def test_the_line_search_finds_the_first_step_that_decreases_enough():
    found = backtrack(
        lambda places, lengths: np.array([1.0, 0.01, -1.0])[places] * lengths,
        lambda places, lengths: -lengths,
        np.zeros(3),
        rounding=0.0,
        shortest=2.0**-5,
    )
    assert found.accepted.tolist() == [False, False, True]
    assert found.lengths.tolist() == [0.0, 0.0, 1.0]
    parabola = backtrack(
        lambda _, lengths: (lengths - 0.3) ** 2,
        lambda _, lengths: -0.6 * lengths,
        np.array([0.09]),
        interpolate=True,
    )
    np.testing.assert_allclose(parabola.lengths, [0.3])


def test_many_sparse_models_are_never_dense_together():
    generator = np.random.default_rng(0)
    n_documents, n_terms, n_models = 200, 100_000, 60
    X = sparse.csr_array(
        sparse.random_array((n_documents, n_terms), density=2e-4, rng=generator)
    )
    y = np.zeros((n_documents, n_models), dtype=int)
    y[generator.integers(0, n_documents, 5 * n_models), np.arange(5 * n_models) % n_models] = 1
    SparseBayesClassifier(prior=LaplacePrior(gamma=0.1)).fit(X[:, :1000], y[:, :2])
    learner, dense = (
        SparseBayesClassifier(prior=LaplacePrior(gamma=0.1)),
        n_models * n_terms * 8,
    )
    tracemalloc.start()
    try:
        learner.fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < dense / 2
    assert sparse.issparse(learner.coef_)
    for row, solution in zip(learner.coef_.toarray(), learner.solutions_, strict=True):
        np.testing.assert_array_equal(solution.coefficients, row)
        assert len(solution.weights.values) == np.count_nonzero(row)


def test_balanced_classes_are_two_factors_per_model():
    y = (np.random.default_rng(0).random((50, 4)) < 0.3).astype(int)
    problem = SparseBayesClassifier(class_weight="balanced").problem(np.eye(50), y)
    assert problem.importance.shape == (50,)
    assert problem.balance.shape == (2, 4)
    for c in range(4):
        inside = y[:, c] == 1
        assert problem.importance_of(c)[inside].sum() == pytest.approx(25.0)
        assert problem.importance_of(c)[~inside].sum() == pytest.approx(25.0)
    mean = np.mean([problem.importance_of(c) for c in range(4)], axis=0)
    np.testing.assert_allclose(problem.mean_importance(), mean)


def test_folds_of_sparse_and_dense_indicators_are_the_same():
    positive = np.random.default_rng(3).random((60, 7)) < 0.2
    np.testing.assert_array_equal(
        deal_folds(positive, n_folds=4), deal_folds(sparse.csr_array(positive), n_folds=4)
    )
