"""Coordinate descent within proximal Newton steps on working sets, for every log-concave prior."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.linear import add_scores, column_dots, differentiate, intercept_step
from bayesift.kernels.working_set import solve
from bayesift.models.linear.problem import Problem, Solution

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
    signs, importance, penalty = problem.signs(category), problem.importance_of(category), problem.penalty(category)
    rows, columns = problem.rows, problem.columns
    if start is not None and start.state is not None:
        weights, bias = start.coefficients.copy(), np.array([start.intercept])
        scores, term_pulls, pulls = (values.copy() for values in start.state)
        rest = _outside(problem, category, signs, importance)[0]
    else:
        weights = problem.mode(category) if start is None else start.coefficients.copy()
        bias = np.array([problem.start_intercepts[category] if start is None else start.intercept])
        scores = np.full(rows.shape[0], bias[0])
        add_scores(columns.indptr, columns.indices, columns.data, weights, scores)
        pulls = _settle_intercept(problem, signs, importance, scores, bias)
        rest, term_pulls = _pulls(problem, category, signs, importance, pulls, constant=not np.any(weights))
    terms, trace, counts = problem.terms_of(category), np.empty(problem.max_iter), np.zeros(2, dtype=np.int64)
    absolute = penalty[0, terms]
    scale = float(absolute.min()) if len(terms) and absolute.min() > 0 else 1.0
    violation = solve(
        columns.indptr, columns.indices, columns.data, rows.indptr, rows.indices, rows.data, problem.norms, rest, terms,
        signs, importance, problem.link.code, problem.link.parameters, penalty, problem.intercept, weights, bias,
        scores, term_pulls, pulls, scale, problem.tolerance * scale, problem.max_iter, trace, counts,
    )  # fmt: skip
    done = int(counts[0])
    state = (scores, term_pulls, pulls) if problem.resumable else None
    met = bool(violation <= problem.tolerance * scale)
    return Solution(weights, float(bias[0]), trace[:done], done, met, state)


def _settle_intercept(problem: Problem, signs: Array, importance: Array, scores: Array, bias: Array) -> Array:
    """Move the intercept to its best for these scores; gives the pulls of the documents."""
    pulls, curvatures = np.empty(len(signs)), np.empty(len(signs))
    link, parameters = problem.link.code, problem.link.parameters
    for _ in range(100):
        differentiate(link, parameters, signs, importance, scores, pulls, curvatures, True)
        step = intercept_step(problem.intercept, bias[0], pulls, curvatures)
        step = min(max(step, -2.0), 2.0)
        if abs(step) < 1e-8 or abs(bias[0]) > 30.0:
            break
        bias[0] += step
        scores += step
    return pulls


def _outside(problem: Problem, category: int, signs: Array, importance: Array) -> tuple[Array, Array]:
    """Column sums over the documents outside the category, and inside it; the latter only where weights are shared."""
    if problem.importance.ndim == 1:
        ours, inside = np.zeros(problem.n_terms), problem.inside
        places = slice(inside.indptr[category], inside.indptr[category + 1])
        ours[inside.indices[places]] = inside.data[places]
        return problem.sums - ours, ours
    columns, rest = problem.columns, np.zeros(problem.n_terms)
    column_dots(columns.indptr, columns.indices, columns.data, np.where(signs < 0, importance, 0.0), rest)
    return rest, np.empty(0)


def _pulls(
    problem: Problem, category: int, signs: Array, importance: Array, pulls: Array, *, constant: bool
) -> tuple[Array, Array]:
    """Column sums over the documents outside the category, and the pulls of all terms."""
    columns, positives = problem.columns, problem.positives(category)
    rest, ours = _outside(problem, category, signs, importance)
    if constant and len(ours) and 0 < len(positives) < len(signs):
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = pulls / importance
        inner, outer = _any_of(unit[signs > 0]), _any_of(unit[signs < 0])
        return rest, inner * ours + outer * rest
    term_pulls = np.empty(problem.n_terms)
    column_dots(columns.indptr, columns.indices, columns.data, pulls, term_pulls)
    return rest, term_pulls


def _any_of(values: Array) -> float:
    """The value that all documents of some weight share."""
    finite = values[np.isfinite(values)]
    return float(finite[0]) if len(finite) else 0.0
