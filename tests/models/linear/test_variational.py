"""The variational bound against quadrature in one and two dimensions, and the other solvers."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_expit

from bayesift.models.linear import (
    GaussianPrior,
    LaplacePrior,
    LinearProblem,
    Logit,
    Probit,
    variational_posterior,
)
from bayesift.models.linear.solvers import solve_all
from tests.models.linear.test_solvers import FLAT, NONE, NORMAL, problem_of

GRID = np.linspace(-12.0, 12.0, 1201)
MODE, VARIANCE = 0.3, 2.0


def small_problem(intercept, *, n=30):
    generator = np.random.default_rng(3)
    X = generator.normal(size=(n, 1))
    members = sparse.csr_array(
        (X[:, 0] + generator.logistic(size=n) > 0.2).astype(np.int8)[None]
    )
    importance = generator.integers(1, 3, n).astype(float)
    prior = GaussianPrior(variance=VARIANCE, mode=MODE)
    return LinearProblem(
        sparse.csr_array(X),
        members,
        importance,
        Logit(),
        prior,
        intercept,
        tolerance=1e-9,
        max_iter=5000,
    )


def grid_of(problem):
    """Weights and intercepts on a grid, the log density of their prior, and a cell's volume."""
    step = GRID[1] - GRID[0]
    density = -0.5 * (GRID - MODE) ** 2 / VARIANCE - 0.5 * np.log(2 * np.pi * VARIANCE)
    free, precision, centre = problem.intercept
    if not free:
        return GRID, np.zeros(1), density[:, None], step
    prior = 0.5 * np.log(precision / (2 * np.pi)) - 0.5 * precision * (GRID - centre) ** 2
    return GRID, GRID, density[:, None] + prior, step**2


def integrate(problem, log_factor):
    """Log of the integral of prior x factor over the grid, and its means and covariance."""
    weights, intercepts, prior, cell = grid_of(problem)
    x, signs = problem.rows.toarray()[:, 0], problem.signs(0)
    logs = prior.copy()
    for i, count in enumerate(problem.importance):
        logs += count * log_factor(i, signs[i] * (x[i] * weights[:, None] + intercepts))
    top = logs.max()
    mass = np.exp(logs - top)
    mass /= mass.sum()
    points = np.stack([np.repeat(weights, len(intercepts)), np.tile(intercepts, len(weights))])
    mean = points @ mass.ravel()
    away = points - mean[:, None]
    return top + np.log(np.exp(logs - top).sum() * cell), mean, (away * mass.ravel()) @ away.T


@pytest.mark.parametrize("intercept", [NONE, NORMAL], ids=["one dimension", "two"])
def test_mean_covariance_and_bound_are_those_of_the_bounded_posterior_by_quadrature(intercept):
    problem = small_problem(intercept)
    solution, posterior = variational_posterior(problem, 0)
    mean = np.array([solution.coefficients[0], solution.intercept])
    design = np.column_stack([problem.rows.toarray(), np.ones(len(problem.importance))])
    xi = np.sqrt(
        np.sum(design @ (posterior.covariance + np.outer(mean, mean)) * design, axis=1)
    )

    def bounded(scale):
        def factor(i, margins):
            at = scale * xi[i]
            return (
                log_expit(at)
                + (margins - at) / 2
                - np.tanh(at / 2) / (4 * at) * (margins**2 - at**2)
            )

        return integrate(problem, factor)

    height, means, covariance = bounded(1.0)
    assert solution.converged
    np.testing.assert_allclose(mean, means, atol=1e-6)
    np.testing.assert_allclose(posterior.covariance, covariance, atol=1e-6)
    assert -solution.objective[-1] == pytest.approx(height, abs=1e-6)
    assert max(bounded(0.99)[0], bounded(1.01)[0]) < height  # no better xi nearby
    evidence, exact_mean, exact_covariance = integrate(
        problem, lambda i, margins: log_expit(margins)
    )
    assert height < evidence < height + 0.5
    np.testing.assert_allclose(mean, exact_mean, atol=0.1)
    np.testing.assert_allclose(posterior.covariance, exact_covariance, atol=0.1)


@pytest.mark.parametrize("intercept", [FLAT, NORMAL, NONE], ids=["flat", "normal", "none"])
def test_the_bound_never_falls(intercept):
    problem = problem_of(Logit(), GaussianPrior(variance=0.7, mode=0.1), intercept=intercept)
    for category in (0, 1):
        solution, posterior = variational_posterior(problem, category)
        assert solution.converged
        assert np.all(np.diff(solution.objective) <= 1e-9)
        assert posterior.covariance.shape == (13, 13)
        assert (posterior.variances[-1] > 0) == bool(intercept[0])


@pytest.mark.parametrize("intercept", [FLAT, NORMAL, NONE], ids=["flat", "normal", "none"])
def test_at_a_point_the_bound_leads_to_the_mode(intercept):
    problem = problem_of(Logit(), GaussianPrior(variance=0.7, mode=0.1), intercept=intercept)
    modes = solve_all(problem, "newton", [None, None], None)
    means = solve_all(problem, "variational", [None, None], None)
    for mode, mean, found in zip(
        modes, means, solve_all(problem, "variational-mode", [None, None], None), strict=True
    ):
        assert found.converged
        assert np.all(np.diff(found.objective) <= 1e-9)
        np.testing.assert_allclose(found.coefficients, mode.coefficients, atol=2e-5)
        np.testing.assert_allclose(found.intercept, mode.intercept, atol=2e-5)
        assert 1e-3 < np.abs(mean.coefficients - mode.coefficients).max() < 0.5


def test_only_the_terms_of_a_category_vary():
    terms = [np.array([0, 3, 4], dtype=np.int32), np.array([1, 11], dtype=np.int32)]
    solution, posterior = variational_posterior(
        problem_of(Logit(), GaussianPrior(), terms=terms), 1
    )
    assert set(np.flatnonzero(solution.coefficients)) == {1, 11}
    assert posterior.covariance.shape == (3, 3)


def test_what_the_bound_does_not_cover_is_refused():
    with pytest.raises(ValueError, match="logit link"):
        solve_all(problem_of(Probit(), GaussianPrior()), "variational", [None, None], None)
    with pytest.raises(ValueError, match="smooth prior"):
        solve_all(problem_of(Logit(), LaplacePrior()), "variational", [None, None], None)
    with pytest.raises(ValueError, match="no sign constraints"):
        solve_all(
            problem_of(Logit(), GaussianPrior(sign=1)), "variational-mode", [None, None], None
        )
    rows, members = sparse.csr_array((3, 2001)), sparse.csr_array(np.array([[1, 0, 0]]))
    wide = LinearProblem(rows, members, np.ones(3), Logit(), GaussianPrior(), FLAT)
    with pytest.raises(ValueError, match="at most 2000 terms"):
        solve_all(wide, "variational", [None], None)
