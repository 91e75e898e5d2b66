"""The mode along scales of the prior: paths and searches for the best scale.

Each mode of a path is found from the one before.

A scale multiplies the standard deviations of the prior about its modes, for all weights of a model
alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.products import transposed_times
from bayesift.models.base import stack_rows
from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.priors import Prior, row_of
from bayesift.models.linear.problem import LinearProblem, Solution
from bayesift.models.linear.solvers import solve_path

Progress = Callable[[int, int], None]

WIDTH = (
    1000.0  # the weakest prior of a path by default, in standard deviations of the strongest
)
# Scales that a category goes along before the next: what its solver knows stays in memory.
AHEAD = 10
_FIRST_SCORE_DEVIATION = 0.1  # of the scores, under the strongest Gaussian prior
_BLOCK_MODELS = 16
Losses = Callable[[Array, list[int]], tuple[Array, Array]]
_GOLDEN = (3.0 - np.sqrt(5.0)) / 2.0
_MOST_SCALES = 20  # scales
_LOG_SCALE_TOLERANCE = 0.1  # of the logarithm of the scale


@dataclass(frozen=True, eq=False)
class Validation:
    """The loss of each scale that was evaluated.

    One column per model, or one for all where they share a scale.

    Parameters
    ----------
    scales : what the standard deviations of the prior were multiplied by, steps x models
    losses : minus the mean held-out log-likelihood, or minus the log evidence; NaN where a search
        ended before
    errors : the standard error of each loss over the folds; NaN for the evidence
    chosen : the scale of each column
    """

    scales: FloatArray
    losses: FloatArray
    errors: FloatArray
    chosen: IntArray


@dataclass(frozen=True, eq=False)
class ScaleChoice:
    """One scale per model, and how it was found.

    With blocks of columns also a factor of the scale for each column.
    """

    scales: FloatArray
    validation: Validation | None = None
    factors: FloatArray | None = None

    def rescale(self, prior: Prior) -> Prior:
        """Return the prior with these scales."""
        return rescaled(prior, self.scales, self.factors)


@dataclass(frozen=True, eq=False)
class Path:
    """Models along a sequence of scales.

    Scales are steps x models; each step has coefficients, models x terms.
    """

    scales: FloatArray
    coefficients: list[Any]
    intercepts: FloatArray
    converged: Array

    @property
    def sizes(self) -> Array:
        """How many weights are not 0, steps x models."""
        return np.array(
            [np.diff(sparse.csr_array(weights).indptr) for weights in self.coefficients]
        )


def follow(
    problem: LinearProblem,
    solver: str,
    scales: FloatArray,
    n_jobs: int | None,
    progress: Progress | None = None,
) -> Path:
    """Find the modes of all models at each row of `scales`, the strongest prior first."""
    n_models = problem.members.shape[0]
    solutions: list[Solution | None] = [None] * n_models
    problems = [problem.varied(prior=problem.prior.rescaled(column(row))) for row in scales]
    coefficients = []
    intercepts = []
    converged = []
    for first in range(0, len(scales), AHEAD):
        report = _reporter(progress, first * n_models, n_models * len(scales))
        for found in solve_path(
            problems[first : first + AHEAD], solver, solutions, n_jobs, progress=report
        ):
            coefficients.append(stack_rows([solution.weights for solution in found]))
            intercepts.append([solution.intercept for solution in found])
            converged.append([solution.converged for solution in found])
            solutions = list(found)
    return Path(np.asarray(scales), coefficients, np.array(intercepts), np.array(converged))


def default_scales(problem: LinearProblem, n_scales: int, *, shared: bool = False) -> Array:
    """Scales in geometric progression, steps x models; the last is a thousand times the first.

    The first leaves all weights at their modes (Laplace) or gives scores a standard deviation of
    0.1 (Gaussian). Shared scales begin where no model has left its modes and end a thousand times
    the median.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows, members = sparse.csr_array(np.eye(4)), sparse.csr_array(np.array([[1, 1, 0, 0]]))
    >>> problem = LinearProblem(rows, members, np.ones(4), Logit(), GaussianPrior(),
    ...     np.array([1.0, 0.0, 0.0]))
    >>> default_scales(problem, 3).ravel().round(2).tolist()
    [0.1, 3.16, 100.0]
    """
    first = strongest_scales(problem)
    if shared:
        ends = float(first.min()), WIDTH * float(np.median(first))
        return np.tile(np.geomspace(*ends, n_scales)[:, np.newaxis], len(first))
    return first * np.geomspace(1.0, WIDTH, n_scales)[:, np.newaxis]


def strongest_scales(problem: LinearProblem) -> Array:
    """One scale per model, below which the prior determines the weights: see `default_scales`."""
    if problem.prior.smooth:
        return _FIRST_SCORE_DEVIATION / np.sqrt(prior_spread(problem))
    n_models = problem.members.shape[0]
    found = np.empty(n_models)
    for first in range(0, n_models, _BLOCK_MODELS):
        models = list(range(first, min(first + _BLOCK_MODELS, n_models)))
        for c, gradient in zip(models, _gradients_at_modes(problem, models).T, strict=True):
            rates = row_of(problem.prior.strengths[0], c, problem.n_terms)
            terms = problem.terms_of(c)
            found[c] = 1.0 / max(
                np.max(np.abs(gradient[terms]) / rates[terms], initial=0.0), 1e-12
            )
    return found


def prior_spread(problem: LinearProblem) -> Array:
    """Return the mean variance that the prior gives the scores of documents, per model."""
    weights = problem.mean_importance()
    per_entry = np.repeat(weights / weights.sum(), np.diff(problem.rows.indptr))
    squares = np.bincount(
        problem.rows.indices,
        weights=problem.rows.data**2 * per_entry,
        minlength=problem.n_terms,
    )
    n_models = problem.members.shape[0]
    spread = np.empty(n_models)
    for c in range(n_models):
        terms = problem.terms_of(c)
        spread[c] = squares[terms] @ row_of(problem.prior.variances, c, problem.n_terms)[terms]
    return np.maximum(spread, 1e-300)


def column(scales: Any) -> Any:
    """Scales of models as priors read them: a number where all are the same, else a column."""
    values = np.asarray(scales, dtype=float)
    return float(values[0]) if np.all(values == values[0]) else values[:, np.newaxis]


def rescaled(prior: Prior, scales: FloatArray, factors: FloatArray | None = None) -> Prior:
    """Return a prior with one scale per model, and one factor of it per column."""
    return prior.rescaled(column(scales) if factors is None else column(scales) * factors)


def _gradients_at_modes(problem: LinearProblem, models: list[int]) -> Array:
    """Minus the derivative of the likelihood for each weight, all at their modes.

    Terms x models.
    """
    modes = np.stack([problem.mode(c) for c in models], axis=1)
    scores = problem.start_intercepts[models] + (problem.rows @ modes if np.any(modes) else 0.0)
    signs = np.stack([problem.signs(c) for c in models], axis=1)
    importance = np.stack([problem.importance_of(c) for c in models], axis=1)
    residuals = np.ascontiguousarray(
        importance * signs * log_likelihoods(problem.link, signs * scores)[1]
    )
    out = np.empty((problem.n_terms, len(models)))
    transposed_times(
        problem.rows.indptr, problem.rows.indices, problem.rows.data, residuals, out
    )
    return out


def _reporter(
    progress: Progress | None, before: int, total: int
) -> Callable[[int], None] | None:
    return None if progress is None else lambda done: progress(before + done, total)


class MinimumSearch:
    """Search for the minimum of a function of one variable.

    It gives the next point to evaluate, and takes its value.

    Steps lead downhill from `start` until the minimum lies between two neighbours; parabolas
    through the three, or golden sections where those say little, then close in on it, until its
    neighbours are within the tolerance.
    """

    def __init__(
        self, start: float, step: float, bounds: tuple[float, float], tolerance: float
    ) -> None:
        self.start = start
        self.step = step
        self.bounds = bounds
        self.tolerance = tolerance
        self.seen: list[tuple[float, float]] = []

    @property
    def best(self) -> float:
        """The best point so far."""
        return min(self.seen, key=lambda pair: pair[1])[0]

    def add(self, point: float, value: float) -> None:
        """Add the value at a point."""
        self.seen = sorted([*self.seen, (point, value)])

    def next_point(self) -> float | None:
        """Return the next point to evaluate; None at the end."""
        if not self.seen:
            return self.start
        if len(self.seen) >= _MOST_SCALES:
            return None
        best = min(range(len(self.seen)), key=lambda k: self.seen[k][1])
        if 0 < best < len(self.seen) - 1:
            return self._between(self.seen[best - 1 : best + 2])
        return self._beyond(1.0 if best or len(self.seen) == 1 else -1.0)

    def _beyond(self, direction: float) -> float | None:
        """Return the next step downhill.

        At the bound, between it and its neighbour while they are far apart.
        """
        last, *others = self.seen[::-1] if direction > 0 else self.seen
        point = float(np.clip(last[0] + direction * self.step, *self.bounds))
        if point != last[0]:
            return point
        gap = abs(last[0] - others[0][0]) if others else 0.0
        return last[0] - direction * _GOLDEN * gap if gap > 0.5 * self.step else None

    def _between(self, three: list[tuple[float, float]]) -> float | None:
        (a, fa), (b, fb), (c, fc) = three
        if max(b - a, c - b) <= self.tolerance:
            return None
        below = (b - a) * (fb - fc)
        above = (b - c) * (fb - fa)
        if below != above:
            point = b - 0.5 * ((b - a) * below - (b - c) * above) / (below - above)
        else:
            point = b
        if abs(point - b) < 0.5 * self.tolerance or not a < point < c:
            point = b + _GOLDEN * (c - b) if c - b > b - a else b - _GOLDEN * (b - a)
        return point


def search_scales(
    problem: LinearProblem,
    losses: Losses,
    progress: Progress | None,
    *,
    shared: bool,
    most: int = _MOST_SCALES,
) -> ScaleChoice:
    """Find the scales with the least loss, one per model or (`shared`) one for all.

    `losses` takes one scale per model and the models; returns their losses and standard errors.
    """
    first = np.log(strongest_scales(problem))
    first = np.array([first.min()]) if shared else first
    middle = 0.5 * np.log(WIDTH)
    step = np.log(WIDTH) / 8
    searches = [
        MinimumSearch(x + middle, step, (x, x + 2.0 * middle), _LOG_SCALE_TOLERANCE)
        for x in first
    ]
    rows: list[tuple[Array, Array, Array]] = []
    while True:
        points = [search.next_point() for search in searches]
        going = [k for k, point in enumerate(points) if point is not None]
        if not going:
            break
        logs = np.array([points[k] for k in going], dtype=float)
        found, errors = losses(np.exp(logs), going)
        for k, point, loss in zip(going, logs, found, strict=True):
            searches[k].add(float(point), float(loss))
        rows.append(_spread(len(searches), going, np.exp(logs), found, errors))
        if progress is not None:
            progress(len(rows), max(most, len(rows)))
    chosen = np.exp([search.best for search in searches])
    scales, values, spreads = (np.array(column) for column in zip(*rows, strict=True))
    scale_of_each = np.full(problem.members.shape[0], chosen[0]) if shared else chosen
    return ScaleChoice(scale_of_each, Validation(scales, values, spreads, chosen))


def _spread(n: int, indices: list[int], *columns: FloatArray) -> tuple[Array, Array, Array]:
    """Each column at its indices, NaN elsewhere."""
    out = np.full((3, n), np.nan)
    out[:, indices] = columns
    return out[0], out[1], out[2]
