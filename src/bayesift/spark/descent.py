"""Distributed descent: modes of many models at once, where documents lie elsewhere and only sums over them are known.

    minimise  L(w) + sum_j P_j(w_j) + Q(b)       (the objective of `bayesift.kernels.linear`)

A `LossOracle` evaluates L and its derivatives. Weights of all models are the columns of one array,
the intercepts its last row: one evaluation gives the losses and gradients of all. An evaluation is
a pass over the documents, so that everything that needs none is done here.

`minimise_by_lbfgs` takes the steps of L-BFGS under a Gaussian prior, and of OWL-QN under a Laplace
prior (Andrew & Gao 2007): the gradient is the smallest of the subgradients, a step stays within the
orthant it starts for, and what would leave it becomes 0. The first estimate of the Hessian is its
diagonal, first where all documents have the share of the category for probability, and after a few
steps where the models then are: that halves the steps that are left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from bayesift.arrays import Array
from bayesift.kernels.linear import L1, L2, LOWER, MODE, UPPER
from bayesift.models.linear.problem import Solution
from bayesift.models.linear.solvers.line_search import backtrack

LossGradient = tuple[Array, Array]

_SHORTEST = 1e-6
_STALLED = 1e-10  # of the objective, gained in so many steps
_STALLED_STEPS = 10
_MEMORY = 20
_DIAGONAL_AGAIN = 5  # steps, before the diagonal of the Hessian is evaluated
_LEAST = 1e-10


class WorkingSet(NamedTuple):
    """Terms of a model.

    If cautious, misclassified documents have their mean curvature up to the boundary.
    """

    terms: Array
    cautious: bool


class LossOracle(Protocol):
    """Evaluates minus the log-likelihood of models.

    Weights are weights x models, `models` says of which models.
    """

    def loss_and_gradient(self, weights: Array, models: list[int]) -> LossGradient:
        """The loss of each model, and the gradients, of the shape of the weights."""
        ...

    def hessian_diagonal(self, weights: Array, models: list[int]) -> Array:
        """The diagonals of the Hessians, of the shape of the weights."""
        ...

    def loss_and_hessians(
        self, weights: Array, models: list[int], sets: list[WorkingSet]
    ) -> tuple[Array, Array, list[Array]]:
        """Losses, gradients, and of each model the Hessian of a set of its weights, its intercept last.

        Hessians are packed as by `bayesift.spark.newton.packed_gram`.
        """
        ...


def select(array: Array, columns: Array) -> Array:
    """Some of the columns in their order.

    The array itself for all of them, or if one column stands for all.
    """
    return array if array.shape[-1] in (1, len(columns)) else array[..., columns]


@dataclass(frozen=True, eq=False)
class Penalty:
    """Minus the log prior of a block of models.

    Parameters
    ----------
    rows : L1, L2, mode, lower and upper of `bayesift.kernels.linear`, each weights x models, or
        weights x 1 where all models have the same; the last weight is the intercept
    curvatures : an estimate of the diagonals of the Hessians of the loss, weights x models
    free : whether an intercept is fitted
    """

    rows: Array
    curvatures: Array
    free: bool = True

    def cost(self, weights: Array) -> Array:
        """Minus the log prior of each model."""
        distance = weights - self.rows[MODE]
        costs: Array = np.sum(
            self.rows[L1] * np.abs(distance) + 0.5 * self.rows[L2] * distance**2, axis=0
        )
        return costs

    def subgradient(self, weights: Array, gradient: Array) -> Array:
        """The smallest subgradient of the objective; `gradient` is that of the loss."""
        distance = weights - self.rows[MODE]
        smooth = gradient + self.rows[L2] * distance
        shrunk = np.sign(smooth) * np.maximum(np.abs(smooth) - self.rows[L1], 0.0)
        slope = np.where(distance == 0.0, shrunk, smooth + self.rows[L1] * np.sign(distance))
        bound = ((slope > 0) & (weights <= self.rows[LOWER])) | (
            (slope < 0) & (weights >= self.rows[UPPER])
        )
        return np.where(bound, 0.0, slope)

    def constrained(self, weights: Array) -> Array:
        """Which weights are at a bound, or have a kink at their mode: they only move downhill."""
        bounded = (weights <= self.rows[LOWER]) | (weights >= self.rows[UPPER])
        constrained: Array = bounded | (self.rows[L1] > 0)
        return constrained

    def project(self, weights: Array, start: Array, subgradient: Array) -> Array:
        """The weights, projected onto the orthant they started for and onto their bounds."""
        mode = self.rows[MODE]
        side = np.where(start == mode, -np.sign(subgradient), np.sign(start - mode))
        left = (self.rows[L1] > 0) & ((weights - mode) * side <= 0.0)
        return np.clip(np.where(left, mode, weights), self.rows[LOWER], self.rows[UPPER])

    def select(self, columns: Array) -> Penalty:
        """The penalty of some of the models."""
        return Penalty(select(self.rows, columns), select(self.curvatures, columns), self.free)


@dataclass(frozen=True, eq=False)
class Settings:
    """When to stop: at this share of the objective left to gain (`gap_bounds`), or after max_iter steps.

    `progress` is called with the number of evaluations so far.
    """

    tolerance: float = 1e-6
    max_iter: int = 500
    progress: Callable[[int], None] | None = None


class Descent:
    """The state of all models: their weights (weights x models, the intercepts last), and which are active."""

    def __init__(self, weights: Array, penalty: Penalty, settings: Settings) -> None:
        self.weights, self.penalty, self.settings = weights.copy(), penalty, settings
        self.n_evaluations = 0
        self.gradients = np.empty(weights.shape)
        self.objectives = np.empty(weights.shape[1])
        self.traces: list[list[float]] = [[] for _ in range(weights.shape[1])]
        self.active = np.ones(weights.shape[1], dtype=bool)

    def begin(self, losses: Array, gradients: Array) -> None:
        """Set losses and gradients at the start."""
        self.gradients = gradients
        self.objectives = losses + self.penalty.cost(self.weights)
        self.record(np.arange(len(losses)))

    def count(self) -> None:
        """Count an evaluation."""
        self.n_evaluations += 1
        if self.settings.progress is not None:
            self.settings.progress(self.n_evaluations)

    def search(
        self,
        columns: Array,
        trial: Callable[[Array, Array], Array],
        expected: Callable[[Array, Array, Array], Array],
        evaluate: Callable[[Array, Array], LossGradient],
    ) -> None:
        """Take a step of each of these models; a model for which no step length is accepted ends.

        `trial` gives the weights of some models (their places in columns) at these step lengths,
        `expected` the change of the objective to first order for places, trial weights and step
        lengths.
        """
        weights, gradients, values = np.empty(0), np.empty(0), np.empty(0)

        def objectives(places: Array, lengths: Array) -> Array:
            nonlocal weights, gradients, values
            weights = trial(places, lengths)
            losses, gradients = evaluate(weights, columns[places])
            values = losses + self.penalty.select(columns[places]).cost(weights)
            return values

        def accept(places: Array, good: Array) -> None:
            done = columns[places[good]]
            self.weights[:, done], self.gradients[:, done] = weights[:, good], gradients[:, good]
            self.objectives[done] = values[good]

        found = backtrack(
            objectives,
            lambda places, lengths: expected(places, weights, lengths),
            self.objectives[columns],
            accept=accept,
            interpolate=True,
            shortest=_SHORTEST,
        )
        self.active[columns[~found.accepted]] = False
        self.record(columns)

    def record(self, columns: Array) -> None:
        """Record the objectives of models that made a step.

        A model that has converged or gains no more ends.
        """
        for c in columns:
            trace = self.traces[c]
            trace.append(float(self.objectives[c]))
            if len(trace) > _STALLED_STEPS and trace[-_STALLED_STEPS - 1] - trace[
                -1
            ] <= _STALLED * abs(trace[-1]):
                self.active[c] = False
        self.active &= self.gaps() > self.settings.tolerance

    def gaps(self) -> Array:
        """Bounds of the shares of the objectives that are left to gain."""
        return gap_bounds(self.penalty, self.weights, self.gradients, self.objectives)

    def solutions(self) -> list[Solution]:
        """The models as they are, converged where the bound of their gap is within the tolerance."""
        converged = self.gaps() <= self.settings.tolerance
        return [
            Solution(
                weights[:-1].copy(), float(weights[-1]), np.array(trace), len(trace) - 1, bool(met)
            )
            for weights, trace, met in zip(self.weights.T, self.traces, converged, strict=True)
        ]


def gap_bounds(penalty: Penalty, weights: Array, gradients: Array, objectives: Array) -> Array:
    """No more than this share of each objective is left to gain.

    The objective is convex: with subgradient g, at most g (w - w*) is left. Under a normal prior of
    precision L2 it is at most the sum of g^2 / 2 L2. Under a Laplace prior |w* - mode| is at most
    objective / L1, since no part of the objective is negative. The intercept is taken to be within
    1 of its best.
    """
    rows = penalty.rows[:, :-1]
    slope = penalty.subgradient(weights, gradients)
    straight, curved = rows[L1] > 0, rows[L1] == 0
    distance = np.abs(weights[:-1] - rows[MODE])
    quadratic = np.sum(
        np.where(curved, slope[:-1] ** 2 / (2.0 * np.maximum(rows[L2], 1e-300)), 0.0), axis=0
    )
    worst = np.max(
        np.where(straight, np.abs(slope[:-1]) / np.maximum(rows[L1], 1e-300), 0.0),
        axis=0,
        initial=0.0,
    )
    size = np.sum(np.where(straight, rows[L1] * distance, 0.0), axis=0)
    gained = np.sum(np.where(straight, slope[:-1] * (weights[:-1] - rows[MODE]), 0.0), axis=0)
    linear = np.minimum(worst * (size + objectives), np.maximum(gained, 0.0) + worst * objectives)
    bounds: Array = (quadratic + linear + np.abs(slope[-1])) / np.maximum(objectives, 1e-300)
    return bounds


def minimise_by_lbfgs(
    oracle: LossOracle,
    weights: Array,
    penalty: Penalty,
    settings: Settings,
    models: Array | None = None,
) -> tuple[list[Solution], Array]:
    """The modes of all models from these weights, and bounds of the shares of their objectives left to gain.

    `models` are the numbers of the models in the oracle; None for all.
    """
    numbers = np.arange(weights.shape[1]) if models is None else models
    search = _QuasiNewton(oracle, weights, penalty, settings, numbers)
    for number in range(settings.max_iter):
        if not search.active.any():
            break
        if number == _DIAGONAL_AGAIN:
            search.update_diagonal()
        search.step()
    return search.solutions(), search.gaps()


class _QuasiNewton(Descent):
    """Models, and the last steps of each."""

    def __init__(
        self,
        oracle: LossOracle,
        weights: Array,
        penalty: Penalty,
        settings: Settings,
        models: Array,
    ) -> None:
        super().__init__(weights, penalty, settings)
        self.oracle, self.models = oracle, models
        self.inverse = 1.0 / np.maximum(penalty.curvatures + penalty.rows[L2], _LEAST)
        self.steps: list[tuple[Array, Array, Array]] = []
        self.begin(*self._evaluate(self.weights, np.arange(weights.shape[1])))

    def update_diagonal(self) -> None:
        """Evaluate the diagonal of the Hessian where the models are."""
        columns = np.flatnonzero(self.active)
        curvatures = self.oracle.hessian_diagonal(
            select(self.weights, columns), self.models[columns].tolist()
        )
        self.count()
        rows = select(self.penalty.rows, columns)
        self.inverse[:, columns] = 1.0 / np.maximum(curvatures + rows[L2], _LEAST)

    def step(self) -> None:
        """One step of every active model."""
        columns = np.flatnonzero(self.active)
        penalty, start = self.penalty.select(columns), self.weights[:, columns]
        smooth = self._smooth_gradient(columns)
        slope = penalty.subgradient(start, select(self.gradients, columns))
        direction = self._direction(slope, columns)
        direction[penalty.constrained(start) & (direction * slope >= 0)] = 0.0

        def trial(places: Array, lengths: Array) -> Array:
            begun = select(start, places)
            new = begun + lengths * select(direction, places)
            return penalty.select(places).project(new, begun, select(slope, places))

        def expected(places: Array, new: Array, _: Array) -> Array:
            return _products(select(slope, places), new - select(start, places))

        self.search(columns, trial, expected, self._evaluate)
        self._remember(columns, start, smooth)

    def _evaluate(self, weights: Array, models: Array) -> LossGradient:
        found = self.oracle.loss_and_gradient(weights, self.models[models].tolist())
        self.count()
        return found

    def _smooth_gradient(self, columns: Array) -> Array:
        """The gradient of all but the factors of |w - mode|."""
        rows = select(self.penalty.rows, columns)
        smooth: Array = select(self.gradients, columns) + rows[L2] * (
            select(self.weights, columns) - rows[MODE]
        )
        return smooth

    def _remember(self, columns: Array, start: Array, smooth: Array) -> None:
        moves, changes = np.zeros(self.weights.shape), np.zeros(self.weights.shape)
        moves[:, columns] = self.weights[:, columns] - start
        changes[:, columns] = self._smooth_gradient(columns) - smooth
        self.steps = [*self.steps[-_MEMORY + 1 :], (moves, changes, _products(moves, changes))]

    def _direction(self, slope: Array, columns: Array) -> Array:
        """Minus the inverse Hessian that the last steps imply, times the subgradient: the two loops of L-BFGS."""
        inverse = select(self.inverse, columns)
        q, shares, scale = slope.copy(), [], np.ones(len(columns))
        for number, step in enumerate(reversed(self.steps)):
            s, y, p = (select(part, columns) for part in step)
            curvature = np.einsum("jc,jc,jc->c", y, inverse, y)
            known = p > 1e-12 * curvature
            share = np.where(known, _products(s, q) / np.where(known, p, 1.0), 0.0)
            q -= share * y
            shares.append((known, share))
            if number == 0:
                scale = np.where(known, p / np.where(known, curvature, 1.0), 1.0)
        q *= scale * inverse
        for step, (known, share) in zip(self.steps, reversed(shares), strict=True):
            s, y, p = (select(part, columns) for part in step)
            back = _products(y, q) / np.where(known, p, 1.0)
            q += s * np.where(known, share - back, 0.0)
        return -q


def _products(a: Array, b: Array) -> Array:
    """Dot products of columns with columns."""
    products: Array = np.einsum("jc,jc->c", a, b)
    return products
