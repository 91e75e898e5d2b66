"""The mode along a sequence of scales of the prior, each found from the one before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.kernels.blocks import transposed_times
from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.priors import row_of
from bayesift.models.linear.problem import Problem, Solution
from bayesift.models.linear.solvers import solve_all
from bayesift.models.linear.weights import compact

Array = np.ndarray[Any, Any]
Progress = Callable[[int, int], None]

WIDTH = 1000.0  # the weakest prior of a path by default, in standard deviations of the strongest
_FIRST_SPREAD = 0.1  # of the scores, under the strongest Gaussian prior
_BLOCK = 16


@dataclass(frozen=True, eq=False)
class Path:
    """Models along a sequence of scales.

    Parameters
    ----------
    scales : what the standard deviations of the prior were multiplied by, steps x models
    coefficients : models x terms for each step, sparse where most weights are 0
    intercepts : steps x models
    converged : whether the tolerance was met, steps x models
    """

    scales: Array
    coefficients: list[Any]
    intercepts: Array
    converged: Array

    @property
    def sizes(self) -> Array:
        """How many weights are not 0, steps x models."""
        return np.array([np.diff(sparse.csr_array(weights).indptr) for weights in self.coefficients])


def follow(problem: Problem, solver: str, scales: Array, n_jobs: int | None, progress: Progress | None = None) -> Path:
    """The modes of all models at each row of `scales`, which is steps x models, the strongest prior first.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import LaplacePrior, Logit
    >>> rows, members = sparse.csr_array(np.eye(4)), sparse.csr_array(np.array([[1, 1, 0, 0]]))
    >>> problem = Problem(rows, members, np.ones(4), Logit(), LaplacePrior(), np.array([1.0, 0.0, 0.0]))
    >>> path = follow(problem, "auto", default_scales(problem, 3), None)
    >>> path.sizes.ravel().tolist()
    [0, 4, 4]
    """
    n_models = problem.members.shape[0]
    solutions: list[Solution | None] = [None] * n_models
    coefficients, intercepts, converged = [], [], []
    total = n_models * len(scales)
    for step, row in enumerate(scales):
        report = _reporter(progress, step * n_models, total)
        at_scale = problem.varied(prior=problem.prior.rescaled(column(row)))
        found = solve_all(at_scale, solver, solutions, n_jobs, progress=report)
        coefficients.append(compact(np.stack([solution.coefficients for solution in found])))
        intercepts.append([solution.intercept for solution in found])
        converged.append([solution.converged for solution in found])
        solutions = list(found)
    return Path(np.asarray(scales), coefficients, np.array(intercepts), np.array(converged))


def default_scales(problem: Problem, n_scales: int, *, shared: bool = False) -> Array:
    """Scales in geometric progression, steps x models; the first leaves all weights at their modes (Laplace).

    The last is a thousand times the first. Under a Gaussian prior the first gives the scores of documents a standard
    deviation of 0.1. Shared scales begin where no model has left its modes and end a thousand times the median.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows, members = sparse.csr_array(np.eye(4)), sparse.csr_array(np.array([[1, 1, 0, 0]]))
    >>> problem = Problem(rows, members, np.ones(4), Logit(), GaussianPrior(), np.array([1.0, 0.0, 0.0]))
    >>> default_scales(problem, 3).ravel().round(2).tolist()
    [0.1, 3.16, 100.0]
    """
    first = strongest_scales(problem)
    if shared:
        ends = float(first.min()), WIDTH * float(np.median(first))
        return np.tile(np.geomspace(*ends, n_scales)[:, np.newaxis], len(first))
    steps: Array = first * np.geomspace(1.0, WIDTH, n_scales)[:, np.newaxis]
    return steps


def strongest_scales(problem: Problem) -> Array:
    """One scale a model, below which the prior is all there is: see `default_scales`.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import LaplacePrior, Logit
    >>> rows, members = sparse.csr_array(np.eye(4)), sparse.csr_array(np.array([[1, 1, 0, 0]]))
    >>> problem = Problem(rows, members, np.ones(4), Logit(), LaplacePrior(), np.array([1.0, 0.0, 0.0]))
    >>> strongest_scales(problem).round(6).tolist()
    [2.0]
    """
    if problem.prior.smooth:
        return _FIRST_SPREAD / np.sqrt(prior_spread(problem))
    n_models = problem.members.shape[0]
    found = np.empty(n_models)
    for first in range(0, n_models, _BLOCK):
        models = list(range(first, min(first + _BLOCK, n_models)))
        for c, pulls in zip(models, _pulls_at_modes(problem, models).T, strict=True):
            rates = row_of(problem.prior.strengths[0], c, problem.n_terms)
            terms = problem.terms_of(c)
            found[c] = 1.0 / max(np.max(np.abs(pulls[terms]) / rates[terms], initial=0.0), 1e-12)
    return found


def prior_spread(problem: Problem) -> Array:
    """The mean over documents of the variance that the prior gives their scores, one a model.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows, members = sparse.csr_array([[2.0, 1.0]]), sparse.csr_array(np.array([[1]]))
    >>> problem = Problem(rows, members, np.ones(1), Logit(), GaussianPrior(variance=3.0), np.zeros(3))
    >>> prior_spread(problem).tolist()
    [15.0]
    """
    weights = problem.importance if problem.importance.ndim == 1 else problem.importance.mean(axis=0)
    per_entry = np.repeat(weights / weights.sum(), np.diff(problem.rows.indptr))
    squares = np.bincount(problem.rows.indices, weights=problem.rows.data**2 * per_entry, minlength=problem.n_terms)
    n_models = problem.members.shape[0]
    spread = np.empty(n_models)
    for c in range(n_models):
        terms = problem.terms_of(c)
        spread[c] = squares[terms] @ row_of(problem.prior.variances, c, problem.n_terms)[terms]
    return np.maximum(spread, 1e-300)


def column(scales: Any) -> Any:
    """Scales of models as priors read them: a number where all are the same, else a column.

    Examples
    --------
    >>> column([2.0, 2.0]), column([1.0, 2.0]).shape
    (2.0, (2, 1))
    """
    values = np.asarray(scales, dtype=float)
    return float(values[0]) if np.all(values == values[0]) else values[:, np.newaxis]


def _pulls_at_modes(problem: Problem, models: list[int]) -> Array:
    """Minus the derivative of the likelihood for each weight, all at their modes; terms x models."""
    modes = np.stack([problem.mode(c) for c in models], axis=1)
    scores = problem.start_intercepts[models] + (problem.rows @ modes if np.any(modes) else 0.0)
    signs = np.stack([problem.signs(c) for c in models], axis=1)
    importance = np.stack([problem.importance_of(c) for c in models], axis=1)
    pulls = np.ascontiguousarray(importance * signs * log_likelihoods(problem.link, signs * scores)[1])
    out = np.empty((problem.n_terms, len(models)))
    transposed_times(problem.rows.indptr, problem.rows.indices, problem.rows.data, pulls, out)
    return out


def _reporter(progress: Progress | None, before: int, total: int) -> Callable[[int], None] | None:
    return None if progress is None else lambda done: progress(before + done, total)
