"""Softmax regression under Jeffreys' prior: a local mode, that which EM reaches from the ridge solution.

The prior 1 / |beta| is a scale mixture of normals whose expected precision is 1 / beta^2 (Figueiredo & Jain). An
E-step makes the prior of each weight normal with its own last value as spread; an M-step takes one Newton step
towards the mode under it (`NormalModel`, which never divides by a weight), so that no round ascends. Weights that fall
below a share of the largest are 0 from then on, and terms that no class uses leave the matrix.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.models.linear.priors import GaussianPrior, prior_of
from bayesift.models.linear.problem import Problem, Solution
from bayesift.models.linear.softmax.smooth import NormalModel, solutions_of, solve_by_newton

Array = np.ndarray[Any, Any]

_ZERO = 1e-8  # relative to the largest weight
_PRECISION = 1e-2  # change of the weights at which to stop, as a share of the tolerance


def solve_by_reweighting(problem: Problem, starts: list[Solution | None]) -> list[Solution]:
    """A local mode, one `Solution` a class; the start is the mode under a normal prior of variance 1.

    Examples
    --------
    >>> from bayesift.models.linear import JeffreysPrior, Logit
    >>> rows = sparse.csr_array(np.repeat(np.eye(4), 5, axis=0)[:, :3])
    >>> members = sparse.csr_array(np.eye(3, dtype=np.int8)[np.r_[[0] * 5, [1] * 5, [2, 2, 2, 2, 0] * 2]].T)
    >>> problem = Problem(rows, members, np.ones(20), Logit(), JeffreysPrior(), np.array([1.0, 0.0, 0.0]))
    >>> [int(np.count_nonzero(solution.coefficients)) for solution in solve_by_reweighting(problem, [None] * 3)]
    [1, 1, 0]
    """
    ridge = replace(problem, prior=prior_of(GaussianPrior()))
    known = starts if all(start is not None for start in starts) else solve_by_newton(ridge, starts)
    weights = np.stack([start.coefficients for start in known if start is not None])
    intercepts = np.array([start.intercept for start in known if start is not None])
    used = np.flatnonzero(np.any(weights, axis=0))
    trace, converged = [], False
    for _ in range(problem.max_iter):
        used = used[np.any(weights[:, used], axis=0)]
        now = weights[:, used]
        model = NormalModel(problem, sparse.csr_array(problem.rows[:, used]), np.zeros_like(now), np.abs(now))
        theta, _, _ = model.minimise(model.theta_of(now, intercepts), 0.0, 1)
        new, before = model.weights_of(theta), intercepts
        largest = np.abs(new[0]).max(initial=0.0)
        new[0][np.abs(new[0]) < _ZERO * largest] = 0.0
        weights[:, used], intercepts = new
        trace.append(_objective(model, theta, new[0]))
        change = max(np.abs(new[0] - now).max(initial=0.0), np.abs(intercepts - before).max())
        if change <= _PRECISION * problem.tolerance * max(largest, 1.0):
            converged = True
            break
    return solutions_of(weights, intercepts, np.array(trace), converged=converged)


def _objective(model: NormalModel, theta: Array, weights: Array) -> float:
    """Minus the log posterior, of the weights that are not 0."""
    loss = model.objective(theta, model.base + model.moves(theta)) - 0.5 * float(np.sum(model.ridge * theta**2))
    intercepts = 0.5 * float(model.ridge[-1, 0]) * float(np.sum(theta[-1] ** 2))
    return loss + intercepts + float(np.sum(np.log(np.abs(weights[weights != 0]))))
