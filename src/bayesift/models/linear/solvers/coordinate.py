"""Coordinate descent within proximal Newton steps on working sets, for every log-concave prior."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.documents import Model
from bayesift.kernels.working_set import solve
from bayesift.models.linear.problem import Problem, Solution, matrix_of

Array = np.ndarray[Any, Any]


def solve_by_coordinates(problem: Problem, category: int, start: Solution | None = None) -> Solution:
    """The mode of one category's weights.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import LaplacePrior, Logit
    >>> rows = sparse.csr_array(np.eye(4))
    >>> members = sparse.csr_array(np.array([[1, 1, 0, 0]]))
    >>> problem = Problem(rows, members, np.ones(4), Logit(), LaplacePrior(gamma=0.01), np.zeros(3))
    >>> solve_by_coordinates(problem, 0).coefficients.round(2).tolist()
    [2.2, 2.2, -2.2, -2.2]
    """
    weights = _start(problem, category) if start is None else start.coefficients.copy()
    bias = np.array([problem.start_intercepts[category] if start is None else start.intercept])
    model = _model(problem, category)
    absolute = model.penalty[0, model.terms]
    scale = float(absolute.min()) if len(absolute) and absolute.min() > 0 else 1.0
    trace, counts = np.empty(problem.max_iter), np.zeros(2, dtype=np.int64)
    violation = solve(matrix_of(problem), model, weights, bias, scale, problem.tolerance * scale, trace, counts)
    done = int(counts[0])
    return Solution(weights, float(bias[0]), trace[:done], done, bool(violation <= problem.tolerance * scale))


def _start(problem: Problem, category: int) -> Array:
    return problem.mode(category) if np.any(problem.prior.mode) else np.zeros(problem.n_terms)


def _model(problem: Problem, category: int) -> Model:
    importance = problem.importance_of(category)
    sums = problem.sums if problem.importance.ndim == 1 else problem.rows.T @ importance
    return Model(
        problem.positives(category), importance, sums, problem.terms_of(category), problem.link.code,
        problem.link.parameters, problem.penalty(category), problem.intercept,
    )  # fmt: skip
