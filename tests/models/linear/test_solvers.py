"""Solvers against one another, scipy and the optimality conditions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from bayesift.models.linear import (
    GaussianPrior,
    JeffreysPrior,
    LaplacePrior,
    LinearProblem,
    LogF,
    Logit,
    Probit,
)
from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.solvers import SOLVERS, choose_solver, solve_all

FLAT, NORMAL, NONE = np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.5, 0.2]), np.zeros(3)
BOUND = ("variational", "variational-mode")  # tested in test_variational.py
LINKS = [Logit(), Probit(), LogF(shape=0.4)]


def problem_of(link, prior, *, intercept=FLAT, seed=0, n=80, d=12, tolerance=1e-8, **more):
    generator = np.random.default_rng(seed)
    X = generator.poisson(0.5, size=(n, d)) * generator.random((n, d))
    scores = X @ generator.normal(size=(d, 2)) * 2 + generator.logistic(size=(n, 2))
    members = sparse.csr_array((scores > 0.3).T.astype(np.int8))
    importance = generator.integers(1, 4, n).astype(float)
    rows = sparse.csr_array(X)
    return LinearProblem(
        rows,
        members,
        importance,
        link,
        prior,
        intercept,
        tolerance=tolerance,
        max_iter=20_000,
        **more,
    )


def violations(problem, category, solution):
    """Largest violation of the optimality conditions, written out in NumPy."""
    signs, X = problem.signs(category), problem.rows.toarray()
    scores = X @ solution.coefficients + solution.intercept
    pulls = problem.importance * signs * log_likelihoods(problem.link, signs * scores)[1]
    absolute, square, mode, lower, upper = problem.penalty(category)
    weights = solution.coefficients
    slope = square * (weights - mode) - X.T @ pulls
    worst = [
        abs(pulls.sum() - problem.intercept[1] * (solution.intercept - problem.intercept[2]))
    ]
    for j in problem.terms_of(category):
        if weights[j] == mode[j]:
            right, left = slope[j] + absolute[j], slope[j] - absolute[j]
        else:
            right = left = slope[j] + absolute[j] * np.sign(weights[j] - mode[j])
        if weights[j] < upper[j]:
            worst.append(-right)  # moving up must not pay
        if weights[j] > lower[j]:
            worst.append(left)  # nor moving down
    return max(worst[0] * problem.intercept[0], *worst[1:])


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.kind)
@pytest.mark.parametrize(
    "solver", [name for name in SOLVERS if name not in ("coordinate", "ard", *BOUND)]
)
@pytest.mark.parametrize("intercept", [FLAT, NORMAL, NONE], ids=["flat", "normal", "none"])
def test_gaussian_prior_every_solver_finds_the_same_mode(link, solver, intercept):
    problem = problem_of(link, GaussianPrior(variance=0.7, mode=0.1), intercept=intercept)
    expected = solve_all(problem, "coordinate", [None, None], None)
    for category, found in enumerate(solve_all(problem, solver, [None, None], None)):
        assert found.converged
        assert violations(problem, category, expected[category]) < 1e-6
        np.testing.assert_allclose(
            found.coefficients, expected[category].coefficients, atol=2e-5
        )
        np.testing.assert_allclose(found.intercept, expected[category].intercept, atol=2e-5)


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.kind)
@pytest.mark.parametrize("gamma", [0.1, 4.0, 30.0])
def test_laplace_prior_meets_the_optimality_conditions(link, gamma):
    problem = problem_of(link, LaplacePrior(gamma=gamma))
    for category, found in enumerate(solve_all(problem, "coordinate", [None, None], None)):
        assert found.converged
        assert violations(problem, category, found) < 1e-6
        assert np.all(np.diff(found.objective) <= 1e-9)
        assert found.objective[-1] == pytest.approx(
            problem.objective(category, found.coefficients, found.intercept)
        )


@pytest.mark.parametrize("solver", ["em", "ecm"])
@pytest.mark.parametrize("link", [Logit(), Probit()], ids=lambda link: link.kind)
def test_em_reaches_the_laplace_mode_and_never_ascends(link, solver):
    problem = problem_of(link, LaplacePrior(gamma=4.0), tolerance=1e-6)
    exact = solve_all(problem, "coordinate", [None, None], None)
    for category, found in enumerate(solve_all(problem, solver, [None, None], None)):
        assert np.all(np.diff(found.objective) <= 1e-9)
        assert -1e-9 <= found.objective[-1] - exact[category].objective[-1] < 0.02
        np.testing.assert_allclose(found.coefficients, exact[category].coefficients, atol=0.02)


def test_scipy_finds_the_same_laplace_mode():
    problem = problem_of(Logit(), LaplacePrior(gamma=2.0))
    d = problem.n_terms

    signs, rate = problem.signs(0), np.sqrt(2.0)

    def split(z):
        weights = z[:d] - z[d : 2 * d]
        slopes = log_likelihoods(Logit(), signs * (problem.rows @ weights + z[-1]))[1]
        pulls = problem.importance * signs * slopes
        gradient = problem.rows.T @ pulls
        value = problem.objective(0, weights, z[-1]) + rate * (
            z[: 2 * d].sum() - np.abs(weights).sum()
        )
        return value, np.r_[rate - gradient, rate + gradient, -pulls.sum()]

    found = solve_all(problem, "coordinate", [None, None], None)[0]
    bounds = [(0, None)] * (2 * d) + [(None, None)]
    start = np.r_[np.full(2 * d, 0.1), 0.0]
    options = {"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-10}
    other = minimize(split, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    assert found.objective[-1] <= other.fun + 1e-9
    np.testing.assert_allclose(found.coefficients, other.x[:d] - other.x[d : 2 * d], atol=1e-4)


def test_signs_modes_and_scales_of_each_weight():
    sign = np.resize([1, -1, 0], 12)
    mode = np.resize([0.5, 0.0], (2, 12))
    prior = LaplacePrior(gamma=np.linspace(0.5, 5, 12), mode=mode, sign=sign)
    problem = problem_of(Logit(), prior)
    found = solve_all(problem, "coordinate", [None, None], None)
    for category, solution in enumerate(found):
        assert solution.converged
        assert np.all(sign * solution.coefficients >= 0)
        assert violations(problem, category, solution) < 1e-6
        for j in range(12):
            for change in (-1e-4, 1e-4):
                moved = solution.coefficients.copy()
                moved[j] += change
                if sign[j] * moved[j] >= 0:
                    assert (
                        problem.objective(category, moved, solution.intercept)
                        >= solution.objective[-1] - 1e-9
                    )


def test_jeffreys_is_sparser_than_its_ridge_start_and_stationary():
    problem = problem_of(Probit(), JeffreysPrior(), n=300, d=30, tolerance=1e-7)
    found = solve_all(problem, "auto", [None, None], None)[0]
    support = np.flatnonzero(found.coefficients)
    assert 0 < len(support) < 30
    signs = problem.signs(0)
    scores = problem.rows @ found.coefficients + found.intercept
    pulls = problem.rows.T @ (
        problem.importance * signs * log_likelihoods(Probit(), signs * scores)[1]
    )
    np.testing.assert_allclose(pulls[support], 1 / found.coefficients[support], rtol=1e-3)


@pytest.mark.parametrize(
    "solver", [name for name in SOLVERS if name not in ("variational", "ard")]
)
def test_only_supported_terms_get_weights(solver):
    terms = [np.array([0, 3, 4], dtype=np.int32), np.array([1, 11], dtype=np.int32)]
    problem = problem_of(Logit(), GaussianPrior(), terms=terms)
    alone = replace(problem, rows=sparse.csr_array(problem.rows[:, terms[0]]), terms=None)
    found = solve_all(problem, solver, [None, None], None)
    assert set(np.flatnonzero(found[1].coefficients)) <= {1, 11}
    expected = solve_all(alone, "coordinate", [None, None], None)[0]
    np.testing.assert_allclose(
        found[0].coefficients[terms[0]], expected.coefficients, atol=1e-5
    )


@pytest.mark.parametrize(
    "prior", [LaplacePrior(gamma=4.0), GaussianPrior()], ids=lambda prior: prior.kind
)
def test_threads_and_warm_starts_change_nothing(prior):
    problem = problem_of(Logit(), prior)
    cold = solve_all(problem, "auto", [None, None], None)
    for other in (
        solve_all(problem, "auto", [None, None], 2),
        solve_all(problem, "auto", list(cold), None),
    ):
        for left, right in zip(cold, other, strict=True):
            np.testing.assert_allclose(left.coefficients, right.coefficients, atol=1e-7)
    assert solve_all(problem, "auto", list(cold), None)[0].iterations <= 1


def test_solvers_that_cannot_are_refused():
    laplace, jeffreys = (
        problem_of(Logit(), LaplacePrior()),
        problem_of(Logit(), JeffreysPrior()),
    )
    with pytest.raises(ValueError, match="needs a smooth prior"):
        choose_solver("newton", laplace)
    with pytest.raises(ValueError, match="needs a log-concave prior"):
        choose_solver("coordinate", jeffreys)
    with pytest.raises(ValueError, match="no solver 'magic'"):
        choose_solver("magic", laplace)
    with pytest.raises(ValueError, match="no sign constraints"):
        solve_all(problem_of(Logit(), GaussianPrior(sign=1)), "em", [None, None], None)


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.kind)
@pytest.mark.parametrize("intercept", [FLAT, NORMAL, NONE], ids=["flat", "normal", "none"])
def test_dual_ascent_takes_scales_modes_weights_and_starts(link, intercept):
    generator = np.random.default_rng(5)
    variance, mode = generator.uniform(0.2, 5.0, size=(2, 12)), generator.normal(size=(2, 12))
    importance, balance = (
        generator.uniform(0.0, 3.0, size=80).round(1),
        generator.uniform(0.5, 2.0, size=(2, 2)),
    )
    for prior in (
        GaussianPrior(variance=variance, mode=mode),
        GaussianPrior(variance=variance[0], mode=mode[0]),
    ):
        problem = replace(
            problem_of(link, prior, intercept=intercept), importance=importance, balance=balance
        )
        exact = solve_all(problem, "newton", [None, None], None)
        found = solve_all(problem, "dual", [None, None], None)
        nearby = [replace(solution, weights=0.7 * solution.coefficients) for solution in exact]
        for solutions in (found, solve_all(problem, "dual", list(nearby), 2)):
            for left, right in zip(exact, solutions, strict=True):
                assert right.converged
                np.testing.assert_allclose(right.coefficients, left.coefficients, atol=2e-6)
                np.testing.assert_allclose(right.intercept, left.intercept, atol=2e-6)
        assert solve_all(problem, "dual", list(found), None)[0].iterations == 0


@pytest.mark.parametrize("n_categories", [3, 8])
def test_a_block_of_dual_ascent_takes_a_variance_of_each_weight(n_categories):
    generator = np.random.default_rng(4)
    members = sparse.csr_array((generator.random((n_categories, 80)) < 0.3).astype(np.int8))
    prior = GaussianPrior(variance=0.1 + generator.random((n_categories, 12)))
    problem = replace(problem_of(Logit(), prior, intercept=NORMAL), members=members)
    starts = [None] * n_categories
    by_dual, by_newton = (
        solve_all(problem, solver, starts, None) for solver in ("dual", "newton")
    )
    again = solve_all(problem, "dual", by_dual, None)
    for solution, expected, same in zip(by_dual, by_newton, again, strict=True):
        assert solution.converged
        assert same.iterations == 0
        np.testing.assert_allclose(solution.coefficients, expected.coefficients, atol=1e-5)
        np.testing.assert_allclose(solution.intercept, expected.intercept, atol=1e-5)


def test_a_block_of_dual_ascent_takes_a_mode_of_each_category():
    generator = np.random.default_rng(3)
    small = problem_of(
        Logit(), GaussianPrior(variance=0.7, mode=generator.normal(size=(9, 12)))
    )
    members = sparse.csr_array((generator.random((9, 80)) < 0.3).astype(np.int8))
    problem = replace(small, members=members)
    expected = solve_all(problem, "coordinate", [None] * 9, None)
    for solutions in (
        solve_all(problem, "dual", [None] * 9, None),
        solve_all(problem, "dual", expected, None),
    ):
        for category, found in enumerate(solutions):
            assert violations(problem, category, found) < 1e-5
            np.testing.assert_allclose(
                found.coefficients, expected[category].coefficients, atol=2e-5
            )


@pytest.mark.parametrize("solver", ["dual", "newton"])
def test_the_gap_is_at_most_what_the_tolerance_says(solver):
    for variance in (0.1, 10.0, 1e4):  # the last is badly conditioned
        exact = problem_of(Logit(), GaussianPrior(variance=variance), tolerance=1e-9)
        for tolerance in (1e-1, 1e-3):
            found = solve_all(replace(exact, tolerance=tolerance), solver, [None, None], None)
            for category, best in enumerate(solve_all(exact, "lbfgs", [None, None], None)):
                least = exact.objective(category, best.coefficients, best.intercept)
                ours = exact.objective(
                    category, found[category].coefficients, found[category].intercept
                )
                assert ours / least - 1 <= 1.01 * tolerance**2 + 1e-9
