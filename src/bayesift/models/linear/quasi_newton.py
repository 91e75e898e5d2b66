"""L-BFGS and its orthant-wise form for many models at once, where documents can only be asked for sums.

    minimise  L(w) + sum_j P_j(w_j) + Q(b)       (the objective of `bayesift.kernels.linear`)

Weights of all models are the columns of one array, the intercepts its last row: one question gives losses and gradients
of all. Under a Laplace prior the steps are those of OWL-QN (Andrew & Gao 2007): the gradient is the smallest of the
subgradients, a step keeps within the orthant it starts for, and what would leave it becomes 0; under a Gaussian prior
nothing of this happens and they are those of L-BFGS. Weights are in units of the roots of a diagonal of the Hessian.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesift.kernels.linear import L1, L2, LOWER, MODE, UPPER
from bayesift.models.linear.problem import Solution

Array = np.ndarray[Any, Any]
Question = Callable[[Array, list[int]], tuple[Array, Array]]

MEMORY = 10
_SUFFICIENT = 1e-4  # of the decrease a step promises
_SHORTEST = 2.0**-20
_STALLED = 1e-10  # of the objective, gained in as many steps as are remembered


@dataclass(frozen=True, eq=False)
class Terms:
    """The prior of a block of models.

    Parameters
    ----------
    penalty : rows L1, L2, mode, lower and upper of `bayesift.kernels.linear`, each weights x models; the last weight is
        the intercept
    curvatures : an estimate of the second derivatives of minus the log-likelihood, of the same shape
    """

    penalty: Array
    curvatures: Array

    @property
    def units(self) -> Array:
        """What a weight is measured in."""
        units: Array = 1.0 / np.sqrt(np.maximum(self.curvatures + self.penalty[L2], 1e-10))
        return units

    def cost(self, weights: Array) -> Array:
        """Minus the log prior of each model."""
        distance = weights - self.penalty[MODE]
        costs: Array = np.sum(self.penalty[L1] * np.abs(distance) + 0.5 * self.penalty[L2] * distance**2, axis=0)
        return costs

    def slope(self, weights: Array, gradient: Array) -> Array:
        """The smallest subgradient of the objective; gradient is that of minus the log-likelihood."""
        distance = weights - self.penalty[MODE]
        smooth = gradient + self.penalty[L2] * distance
        shrunk = np.sign(smooth) * np.maximum(np.abs(smooth) - self.penalty[L1], 0.0)
        slope = np.where(distance == 0.0, shrunk, smooth + self.penalty[L1] * np.sign(distance))
        stuck = ((slope > 0) & (weights <= self.penalty[LOWER])) | ((slope < 0) & (weights >= self.penalty[UPPER]))
        return np.where(stuck, 0.0, slope)

    def edged(self, weights: Array) -> Array:
        """Which weights stand at a bound, or have an edge at their mode: they only move downhill."""
        bounded = (weights <= self.penalty[LOWER]) | (weights >= self.penalty[UPPER])
        edged: Array = bounded | (self.penalty[L1] > 0)
        return edged

    def kept_within(self, weights: Array, start: Array, slope: Array) -> Array:
        """Weights that left the orthant or the bounds they started for, put back onto its edge."""
        mode = self.penalty[MODE]
        side = np.where(start == mode, -np.sign(slope), np.sign(start - mode))
        left = (self.penalty[L1] > 0) & ((weights - mode) * side <= 0.0)
        return np.clip(np.where(left, mode, weights), self.penalty[LOWER], self.penalty[UPPER])

    def taking(self, columns: Array) -> Terms:
        """The prior of some of the models."""
        return Terms(self.penalty[:, :, columns], self.curvatures[:, columns])


@dataclass(frozen=True, eq=False)
class Settings:
    """When to stop.

    Parameters
    ----------
    tolerance : the share of the objective that may be left to gain, by the bound of `gap_bounds`
    max_iter : steps
    progress : called with the number of questions asked so far
    """

    tolerance: float = 1e-6
    max_iter: int = 500
    progress: Callable[[int], None] | None = None


def minimise(ask: Question, weights: Array, terms: Terms, settings: Settings) -> tuple[list[Solution], Array]:
    """The modes of all models, and bounds of the shares of their objectives that are left to gain.

    Parameters
    ----------
    ask : takes weights and the numbers of their models; gives losses (one a model) and gradients (weights x models)
    weights : where to start; weights x models, the intercepts last
    terms : the prior
    settings : when to stop

    Examples
    --------
    >>> penalty = np.zeros((5, 2, 1)); penalty[3], penalty[4], penalty[0, 0] = -np.inf, np.inf, 1.0
    >>> centre = np.array([[3.0], [2.0]])
    >>> ask = lambda w, models: (0.5 * np.sum((w - centre) ** 2, axis=0), w - centre)
    >>> found, gaps = minimise(ask, np.zeros((2, 1)), Terms(penalty, np.ones((2, 1))), Settings())
    >>> found[0].coefficients.round(6).tolist(), round(found[0].intercept, 6)
    ([2.0], 2.0)
    """
    search = _Search(ask, weights.copy(), terms, settings)
    for _ in range(settings.max_iter):
        if not search.going.any():
            break
        search.step()
    gaps = search.gaps()
    solutions = [
        Solution(search.weights[:-1, c], float(search.weights[-1, c]), np.array(trace), len(trace) - 1, bool(ended))
        for c, (trace, ended) in enumerate(zip(search.traces, ~search.going, strict=True))
    ]
    return solutions, gaps


class _Search:
    """All models on their way: where they are, what the last steps taught, who is still going."""

    def __init__(self, ask: Question, weights: Array, terms: Terms, settings: Settings) -> None:
        self.ask, self.weights, self.terms, self.settings = ask, weights, terms, settings
        self.units = terms.units
        self.asked = 0
        n_models = weights.shape[1]
        losses, self.gradients = self._ask(weights, np.arange(n_models))
        self.objectives = losses + terms.cost(weights)
        self.traces = [[float(value)] for value in self.objectives]
        self.steps: list[tuple[Array, Array, Array]] = []
        self.going = np.ones(n_models, dtype=bool)
        self._note_who_ends()

    def step(self) -> None:
        """One step of every model that is going, each of a length that lowers its objective enough."""
        columns = np.flatnonzero(self.going)
        terms, start = self.terms.taking(columns), self.weights[:, columns]
        smooth = self._smooth(columns)
        slope = terms.slope(start, self.gradients[:, columns])
        direction = self._direction(slope, columns)
        direction[terms.edged(start) & (direction * slope >= 0)] = 0.0
        lengths = np.ones(len(columns))
        waiting = np.arange(len(columns))
        while len(waiting):
            here, some = columns[waiting], terms.taking(waiting)
            trial = start[:, waiting] + lengths[waiting] * direction[:, waiting]
            trial = some.kept_within(trial, start[:, waiting], slope[:, waiting])
            losses, gradients = self._ask(trial, here)
            values = losses + some.cost(trial)
            promised = np.sum(slope[:, waiting] * (trial - start[:, waiting]), axis=0)
            good = values <= self.objectives[here] + _SUFFICIENT * promised
            done = here[good]
            self.weights[:, done], self.gradients[:, done] = trial[:, good], gradients[:, good]
            self.objectives[done] = values[good]
            lengths[waiting[~good]] *= 0.5
            waiting = waiting[~good]
            given_up = lengths[waiting] < _SHORTEST
            self.going[columns[waiting[given_up]]] = False
            waiting = waiting[~given_up]
        self._remember(columns, start, smooth)
        for c in columns:
            self.traces[c].append(float(self.objectives[c]))
        self._note_who_ends()

    def gaps(self) -> Array:
        """Bounds of the shares of the objectives that are left to gain."""
        return gap_bounds(self.terms, self.weights, self.gradients, self.objectives)

    def _ask(self, weights: Array, models: Array) -> tuple[Array, Array]:
        answer = self.ask(weights, models.tolist())
        self.asked += 1
        if self.settings.progress is not None:
            self.settings.progress(self.asked)
        return answer

    def _smooth(self, columns: Array) -> Array:
        """The gradient of all but the factors of |w - mode|."""
        penalty = self.terms.penalty[:, :, columns]
        smooth: Array = self.gradients[:, columns] + penalty[L2] * (self.weights[:, columns] - penalty[MODE])
        return smooth

    def _remember(self, columns: Array, start: Array, smooth: Array) -> None:
        n_weights, n_models = self.weights.shape
        moves, changes = np.zeros((n_weights, n_models)), np.zeros((n_weights, n_models))
        moves[:, columns] = (self.weights[:, columns] - start) / self.units[:, columns]
        changes[:, columns] = (self._smooth(columns) - smooth) * self.units[:, columns]
        products = np.sum(moves * changes, axis=0)
        self.steps = [*self.steps[-MEMORY + 1 :], (moves, changes, products)]

    def _direction(self, slope: Array, columns: Array) -> Array:
        """Minus the inverse Hessian that the last steps imply, times the slope: the two loops of L-BFGS."""
        units = self.units[:, columns]
        q = units * slope
        shares, scale = [], np.ones(len(columns))
        for moves, changes, products in reversed(self.steps):
            s, y, p = moves[:, columns], changes[:, columns], products[columns]
            known = p > 1e-12 * np.sum(y * y, axis=0)
            share = np.where(known, np.sum(s * q, axis=0) / np.where(known, p, 1.0), 0.0)
            q = q - share * y
            shares.append(share)
        if self.steps:
            _, changes, products = self.steps[-1]
            sizes = np.sum(changes[:, columns] ** 2, axis=0)
            known = products[columns] > 1e-12 * sizes
            scale = np.where(known, products[columns] / np.where(known, sizes, 1.0), 1.0)
        q = q * scale
        for (moves, changes, products), share in zip(self.steps, reversed(shares), strict=True):
            s, y, p = moves[:, columns], changes[:, columns], products[columns]
            known = p > 1e-12 * np.sum(y * y, axis=0)
            back = np.where(known, np.sum(y * q, axis=0) / np.where(known, p, 1.0), 0.0)
            q = q + s * np.where(known, share - back, 0.0)
        direction: Array = -units * q
        return direction

    def _note_who_ends(self) -> None:
        self.going &= self.gaps() > self.settings.tolerance
        for c in np.flatnonzero(self.going):
            trace = self.traces[c]
            if len(trace) > MEMORY and trace[-MEMORY - 1] - trace[-1] <= _STALLED * abs(trace[-1]):
                self.going[c] = False


def gap_bounds(terms: Terms, weights: Array, gradients: Array, objectives: Array) -> Array:
    """No more than this share of each objective is left to gain.

    The objective is convex: with slope g, what is left is at most g (w - w*). Under a normal prior of precision L2 it
    is at most the sum of g^2 / 2 L2. Under a Laplace prior |w* - mode| is at most objective / L1, since no part of the
    objective is negative. The intercept is taken to be within 1 of its best.
    """
    penalty = terms.penalty[:, :-1]
    slope = terms.slope(weights, gradients)
    straight, bent = penalty[L1] > 0, penalty[L1] == 0
    distance = np.abs(weights[:-1] - penalty[MODE])
    quadratic = np.sum(np.where(bent, slope[:-1] ** 2 / (2.0 * np.maximum(penalty[L2], 1e-300)), 0.0), axis=0)
    worst = np.max(np.where(straight, np.abs(slope[:-1]) / np.maximum(penalty[L1], 1e-300), 0.0), axis=0, initial=0.0)
    size = np.sum(np.where(straight, penalty[L1] * distance, 0.0), axis=0)
    gained = np.sum(np.where(straight, slope[:-1] * (weights[:-1] - penalty[MODE]), 0.0), axis=0)
    linear = np.minimum(worst * (size + objectives), np.maximum(gained, 0.0) + worst * objectives)
    bounds: Array = (quadratic + linear + np.abs(slope[-1])) / np.maximum(objectives, 1e-300)
    return bounds
