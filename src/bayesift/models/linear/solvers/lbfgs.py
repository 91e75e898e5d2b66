"""L-BFGS for smooth priors, by scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.problem import Problem, Solution

Array = np.ndarray[Any, Any]


def solve_by_lbfgs(problem: Problem, category: int, start: Solution | None = None) -> Solution:
    """The mode of one category's weights.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows = sparse.csr_array(np.eye(4))
    >>> members = sparse.csr_array(np.array([[1, 1, 0, 0]]))
    >>> problem = Problem(rows, members, np.ones(4), Logit(), GaussianPrior(), np.array([1.0, 0.0, 0.0]))
    >>> solve_by_lbfgs(problem, 0).coefficients.round(2).tolist()
    [0.4, 0.4, -0.4, -0.4]
    """
    terms, penalty = problem.terms_of(category), problem.penalty(category)
    columns = problem.columns if len(terms) == problem.n_terms else problem.columns[:, terms]
    signs, importance = problem.signs(category), problem.importance_of(category)
    free, precision, centre = problem.intercept
    precisions, modes = np.append(penalty[1, terms], precision), np.append(penalty[2, terms], centre)
    trace = []

    def value(weights: Array) -> tuple[float, Array]:
        margins = signs * (columns @ weights[:-1] + weights[-1])
        logarithms, slopes, _ = log_likelihoods(problem.link, margins)
        pulls = importance * signs * slopes
        distance = weights - modes
        gradient = precisions * distance - np.append(columns.T @ pulls, pulls.sum() * free)
        return float(0.5 * precisions @ distance**2 - importance @ logarithms), gradient

    first = modes if start is None else np.append(start.coefficients[terms], start.intercept)
    limits = [*zip(penalty[3, terms], penalty[4, terms], strict=True), (None, None) if free else (centre, centre)]
    found = minimize(
        value,
        first,
        jac=True,
        method="L-BFGS-B",
        bounds=limits,
        callback=lambda intermediate_result: trace.append(intermediate_result.fun),
        options={
            "maxiter": problem.max_iter,
            "maxfun": 10 * problem.max_iter,
            "ftol": 1e-15,
            "gtol": problem.tolerance,
        },
    )
    coefficients = np.zeros(problem.n_terms)
    coefficients[terms] = found.x[:-1]
    return Solution(coefficients, float(found.x[-1]), np.array(trace), int(found.nit), found.status != 1)
