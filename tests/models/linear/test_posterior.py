import numpy as np
import pytest
from scipy import sparse

from bayesift.models.linear import (
    GaussianPrior,
    LaplacePrior,
    LinearProblem,
    Logit,
    Probit,
    posterior_of,
)
from bayesift.models.linear.solvers import solve_all
from tests.models.linear.test_solvers import FLAT, problem_of


@pytest.mark.parametrize("link", [Logit(), Probit()], ids=str)
def test_covariance_is_the_inverse_of_the_numerical_hessian(link):
    problem = problem_of(link, GaussianPrior(variance=2.0), d=5)
    solution = solve_all(problem, "newton", [None, None], None)[0]
    weights = np.append(solution.coefficients, solution.intercept)

    def objective(z):
        return problem.objective(0, z[:-1], z[-1])

    step, hessian = 1e-3, np.empty((6, 6))
    for j in range(6):
        for k in range(6):
            a, b = step * np.eye(6)[j], step * np.eye(6)[k]
            corners = objective(weights + a + b) - objective(weights + a - b)
            corners += objective(weights - a - b) - objective(weights - a + b)
            hessian[j, k] = corners / (4 * step**2)
    np.testing.assert_allclose(
        posterior_of(problem, 0, solution).covariance,
        np.linalg.inv(hessian),
        rtol=1e-3,
        atol=1e-5,
    )


def test_only_active_weights_vary_and_scores_add_them_up():
    problem = problem_of(Logit(), LaplacePrior(gamma=200.0))
    solution = solve_all(problem, "auto", [None, None], None)[0]
    posterior = posterior_of(problem, 0, solution)
    np.testing.assert_array_equal(posterior.terms, np.flatnonzero(solution.coefficients))
    X = np.column_stack([problem.rows.toarray()[:, posterior.terms], np.ones(80)])
    expected = np.sum(X @ posterior.covariance * X, axis=1)
    np.testing.assert_allclose(posterior.score_variances(problem.rows), expected)


def test_without_an_intercept_it_is_known():
    rows, members = sparse.csr_array(np.eye(3)), sparse.csr_array(np.array([[1, 0, 1]]))
    problem = LinearProblem(rows, members, np.ones(3), Logit(), GaussianPrior(), np.zeros(3))
    solution = solve_all(problem, "auto", [None], None)[0]
    assert posterior_of(problem, 0, solution).variances[-1] == 0
    with_one = LinearProblem(rows, members, np.ones(3), Logit(), GaussianPrior(), FLAT)
    assert (
        posterior_of(with_one, 0, solve_all(with_one, "auto", [None], None)[0]).variances[-1]
        > 0
    )
