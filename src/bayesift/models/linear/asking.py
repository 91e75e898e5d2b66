"""Descent for many models at once, where documents can only be asked for sums.

    minimise  L(w) + sum_j P_j(w_j) + Q(b)       (the objective of `bayesift.kernels.linear`)

Weights of all models are the columns of one array, the intercepts its last row: one question gives losses and gradients
of all. A question costs a pass over documents that lie elsewhere, so that all work that needs none is done here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from bayesift.kernels.linear import L1, L2, LOWER, MODE, UPPER
from bayesift.models.linear.problem import Solution

Array = np.ndarray[Any, Any]
Answer = tuple[Array, Array]

_SUFFICIENT = 1e-4  # of the decrease a step promises
_ROUNDING = 1e-14
_SHORTEST, _SHORTENED = 1e-6, 0.1
_STALLED = 1e-10  # of the objective, gained in so many steps
_STALLED_STEPS = 10


class WorkingSet(NamedTuple):
    """Some of the terms of a model.

    Parameters
    ----------
    terms : which, in order
    cautious : whether a document on the wrong side counts with the mean curvature of its way to the boundary
    """

    terms: Array
    cautious: bool


class Documents(Protocol):
    """Documents that answer questions; weights are weights x models, `models` says of which models."""

    def slopes(self, weights: Array, models: list[int]) -> Answer:
        """Minus the log-likelihood of each model, and its gradient, of the shape of the weights."""
        ...

    def curvatures(self, weights: Array, models: list[int]) -> Array:
        """The diagonals of the second derivatives, of the shape of the weights."""
        ...

    def grams(self, weights: Array, models: list[int], sets: list[WorkingSet]) -> tuple[Array, Array, list[Array]]:
        """Losses, gradients, and of each model the second derivatives of a set of its weights, its intercept last.

        They are packed as by `bayesift.models.linear.set_newton.packed_gram`.
        """
        ...


def taking(array: Array, columns: Array) -> Array:
    """Some of the columns in their order; the array itself for all of them, or if one column stands for all.

    Examples
    --------
    >>> taking(np.eye(3), np.array([0, 2])).shape
    (3, 2)
    """
    return array if array.shape[-1] in (1, len(columns)) else array[..., columns]


@dataclass(frozen=True, eq=False)
class Terms:
    """The prior of a block of models.

    Parameters
    ----------
    penalty : rows L1, L2, mode, lower and upper of `bayesift.kernels.linear`, each weights x models, or weights x 1
        where all models have the same; the last weight is the intercept
    curvatures : an estimate of the second derivatives of minus the log-likelihood, weights x models
    free : whether there is an intercept to be found
    """

    penalty: Array
    curvatures: Array
    free: bool = True

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
        return Terms(taking(self.penalty, columns), taking(self.curvatures, columns), self.free)


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


class Descent:
    """All models on their way: where they are, and who is still going.

    Parameters
    ----------
    weights : where to start; weights x models, the intercepts last
    terms : the prior
    settings : when to stop
    """

    def __init__(self, weights: Array, terms: Terms, settings: Settings) -> None:
        self.weights, self.terms, self.settings = weights.copy(), terms, settings
        self.asked = 0
        self.gradients = np.empty(weights.shape)
        self.objectives = np.empty(weights.shape[1])
        self.traces: list[list[float]] = [[] for _ in range(weights.shape[1])]
        self.going = np.ones(weights.shape[1], dtype=bool)

    def begin(self, answer: Answer) -> None:
        """Take the answer at the start."""
        losses, self.gradients = answer
        self.objectives = losses + self.terms.cost(self.weights)
        self.note(np.arange(len(losses)))

    def count(self) -> None:
        """One question more."""
        self.asked += 1
        if self.settings.progress is not None:
            self.settings.progress(self.asked)

    def search(
        self,
        columns: Array,
        trial: Callable[[Array, Array], Array],
        promised: Callable[[Array, Array, Array], Array],
        ask: Callable[[Array, Array], Answer],
    ) -> Array:
        """Go a step of each of these models, shortened until it lowers its objective enough; who finds none ends.

        A step that is too long is shortened to where the parabola through what is known is lowest.

        Parameters
        ----------
        columns : the models
        trial : gives the weights of some of them (their places in columns) at these lengths of the step
        promised : by how much the objective should change (below 0), for places, weights on trial and lengths
        ask : takes weights and their models

        Returns
        -------
        the lengths that were gone are 1 where nothing had to be shortened
        """
        lengths, waiting = np.ones(len(columns)), np.arange(len(columns))
        while len(waiting):
            here, share = columns[waiting], lengths[waiting]
            weights = trial(waiting, share)
            losses, gradients = ask(weights, here)
            values = losses + self.terms.taking(here).cost(weights)
            change, wanted = values - self.objectives[here], promised(waiting, weights, share)
            good = change <= _SUFFICIENT * wanted + _ROUNDING * np.abs(values)
            done = here[good]
            self.weights[:, done], self.gradients[:, done] = weights[:, good], gradients[:, good]
            self.objectives[done] = values[good]
            bent = np.maximum(change - wanted, 1e-300)
            lengths[waiting] *= np.where(good, 1.0, np.clip(-0.5 * wanted / bent, _SHORTENED, 0.5))
            waiting = waiting[~good]
            given_up = lengths[waiting] < _SHORTEST
            self.going[columns[waiting[given_up]]] = False
            waiting = waiting[~given_up]
        self.note(columns)
        return lengths

    def note(self, columns: Array) -> None:
        """Note the objectives of models that made a step, and who ends."""
        for c in columns:
            trace = self.traces[c]
            trace.append(float(self.objectives[c]))
            if len(trace) > _STALLED_STEPS and trace[-_STALLED_STEPS - 1] - trace[-1] <= _STALLED * abs(trace[-1]):
                self.going[c] = False
        self.going &= self.gaps() > self.settings.tolerance

    def gaps(self) -> Array:
        """Bounds of the shares of the objectives that are left to gain."""
        return gap_bounds(self.terms, self.weights, self.gradients, self.objectives)

    def solutions(self) -> list[Solution]:
        """Where the models are."""
        return [
            Solution(self.weights[:-1, c], float(self.weights[-1, c]), np.array(trace), len(trace) - 1, bool(ended))
            for c, (trace, ended) in enumerate(zip(self.traces, ~self.going, strict=True))
        ]


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
