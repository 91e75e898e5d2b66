"""Distributed descent: modes of many models, where only sums over documents are known.

    minimise  L(w) + sum_j P_j(w_j) + Q(b)       (the objective of `bayesift.kernels.linear`)

A `LossOracle` evaluates L and its derivatives. Weights of all models are the columns of one array,
the intercepts its last row: one evaluation gives the losses and gradients of all. An evaluation is
a pass over the documents, so that everything that needs none is done here.

`minimise_by_lbfgs` runs SciPy's L-BFGS-B for every model in a thread of its own; one pass over the
documents answers what all of them ask. A weight under a Laplace prior is its mode plus a positive
and minus a negative part, both at least 0: its penalty is then linear. Weights are scaled by the
diagonal of the Hessian, first where all documents have the share of the category for probability,
and after a few steps where the models then are: that halves the steps that are left.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import Queue
from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize

from bayesift.arrays import FloatArray, IntArray
from bayesift.kernels.linear import L1, L2, LOWER, MODE, UPPER
from bayesift.models.linear.problem import Solution

LossGradient = tuple[FloatArray, FloatArray]

STALLED_GAIN = 1e-10  # share of the objective: a model that gains less in so many steps ends
STALLED_STEPS = 10
_MEMORY_STEPS = 20
_STEPS_BEFORE_DIAGONAL = 5  # then the diagonal of the Hessian is evaluated
_LEAST_CURVATURE = 1e-10


class WeightedSet(NamedTuple):
    """Terms of a model.

    If cautious, misclassified documents have their mean curvature up to the boundary.
    """

    terms: IntArray
    cautious: bool


class LossOracle(Protocol):
    """Evaluates minus the log-likelihood of models.

    Weights are weights x models, `models` says of which models.
    """

    def loss_and_gradient(self, weights: FloatArray, models: list[int]) -> LossGradient:
        """Return the loss of each model, and the gradients, of the shape of the weights."""
        ...

    def hessian_diagonal(self, weights: FloatArray, models: list[int]) -> FloatArray:
        """Return the diagonals of the Hessians, of the shape of the weights."""
        ...

    def loss_and_hessians(
        self, weights: FloatArray, models: list[int], sets: list[WeightedSet]
    ) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
        """Return losses, gradients, and of each model the Hessian of a set of weights.

        The intercept comes last.

        Hessians are packed as by `bayesift.spark.newton.packed_gram`.
        """
        ...


def select(array: FloatArray, columns: IntArray) -> FloatArray:
    """Select some of the columns in their order.

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

    rows: FloatArray
    curvatures: FloatArray
    free: bool = True

    def cost(self, weights: FloatArray) -> FloatArray:
        """Minus the log prior of each model."""
        distance = weights - self.rows[MODE]
        costs: FloatArray = np.sum(
            self.rows[L1] * np.abs(distance) + 0.5 * self.rows[L2] * distance**2, axis=0
        )
        return costs

    def subgradient(self, weights: FloatArray, gradient: FloatArray) -> FloatArray:
        """Return the smallest subgradient; `gradient` is that of the loss."""
        distance = weights - self.rows[MODE]
        smooth = gradient + self.rows[L2] * distance
        shrunk = np.sign(smooth) * np.maximum(np.abs(smooth) - self.rows[L1], 0.0)
        slope = np.where(distance == 0.0, shrunk, smooth + self.rows[L1] * np.sign(distance))
        bound = ((slope > 0) & (weights <= self.rows[LOWER])) | (
            (slope < 0) & (weights >= self.rows[UPPER])
        )
        return np.where(bound, 0.0, slope)

    def select(self, columns: IntArray) -> Penalty:
        """Return the penalty of some of the models."""
        return Penalty(select(self.rows, columns), select(self.curvatures, columns), self.free)


@dataclass(frozen=True, eq=False)
class DescentLimits:
    """When descent ends: at this share of the objective left to gain, or after max_iter steps.

    The share is that of `gap_bounds`. `progress` is called with the number of evaluations so far.
    """

    tolerance: float = 1e-6
    max_iter: int = 500
    progress: Callable[[int], None] | None = None


def gap_bounds(
    penalty: Penalty, weights: FloatArray, gradients: FloatArray, objectives: FloatArray
) -> FloatArray:
    """No more than this share of each objective is left to gain.

    The objective is convex: with subgradient g, at most g (w - w*) is left. Under a normal prior of
    precision L2 it is at most the sum of g^2 / 2 L2. Under a Laplace prior |w* - mode| is at most
    objective / L1, since no part of the objective is negative. The intercept is taken to be within
    1 of its best.
    """
    rows = penalty.rows[:, :-1]
    slope = penalty.subgradient(weights, gradients)
    straight = rows[L1] > 0
    curved = rows[L1] == 0
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
    linear = np.minimum(
        worst * (size + objectives), np.maximum(gained, 0.0) + worst * objectives
    )
    bounds: FloatArray = (quadratic + linear + np.abs(slope[-1])) / np.maximum(
        objectives, 1e-300
    )
    return bounds


def has_stalled(trace: list[float]) -> bool:
    """Tell whether the last steps of a model gained next to nothing."""
    if len(trace) <= STALLED_STEPS:
        return False
    return trace[-STALLED_STEPS - 1] - trace[-1] <= STALLED_GAIN * abs(trace[-1])


def minimise_by_lbfgs(
    oracle: LossOracle,
    weights: FloatArray,
    penalty: Penalty,
    rule: DescentLimits,
    models: IntArray | None = None,
) -> tuple[list[Solution], FloatArray]:
    """Find the modes of all models, and bounds of the shares of their objectives left to gain.

    The search begins at these weights. `models` are the numbers of the models in the oracle; None
    for all.
    """
    if models is None:
        models = np.arange(weights.shape[1])
    searches = []
    for column, number in enumerate(models.tolist()):
        own = penalty.select(np.array([column]))
        searches.append(_LbfgsSearch(number, weights[:, column], own, rule.tolerance))
    evaluations = _Evaluations(oracle, rule.progress)
    evaluations.run(searches, min(_STEPS_BEFORE_DIAGONAL, rule.max_iter))
    going = [search for search in searches if search.is_active]
    if going and rule.max_iter > _STEPS_BEFORE_DIAGONAL:
        evaluations.update_diagonals(going)
        evaluations.run(going, rule.max_iter - _STEPS_BEFORE_DIAGONAL)
    gaps = np.array([search.gap for search in searches])
    return [search.solution() for search in searches], gaps


class _Evaluations:
    """Answers what several searches ask by one evaluation of all of them."""

    def __init__(self, oracle: LossOracle, progress: Callable[[int], None] | None) -> None:
        self.oracle = oracle
        self.progress = progress
        self.count = 0

    def run(self, searches: list[_LbfgsSearch], max_iter: int) -> None:
        """Run all searches for this number of steps, each in a thread of its own."""
        with ThreadPoolExecutor(len(searches)) as pool:
            runs = [pool.submit(search.run, max_iter) for search in searches]
            asking = self._asking(searches)
            try:
                while asking:
                    self._answer(asking)
                    asking = self._asking(asking)
            finally:
                # After an error of the oracle the searches still wait: None ends them.
                for search in asking:
                    search.answers.put(None)
        for run in runs:
            run.result()

    def _answer(self, searches: list[_LbfgsSearch]) -> None:
        weights = np.column_stack([search.asked for search in searches])
        numbers = [search.number for search in searches]
        losses, gradients = self.oracle.loss_and_gradient(weights, numbers)
        self._report()
        for search, loss, gradient in zip(searches, losses, gradients.T, strict=True):
            search.answers.put((float(loss), gradient.copy()))

    def update_diagonals(self, searches: list[_LbfgsSearch]) -> None:
        """Evaluate the diagonals of the Hessians where the searches are."""
        weights = np.column_stack([search.weights for search in searches])
        numbers = [search.number for search in searches]
        diagonals = self.oracle.hessian_diagonal(weights, numbers)
        self._report()
        for search, curvatures in zip(searches, diagonals.T, strict=True):
            search.set_scale(curvatures)

    def _asking(self, searches: list[_LbfgsSearch]) -> list[_LbfgsSearch]:
        """Wait until every search asks or has ended; return those that ask."""
        return [search for search in searches if search.requests.get()]

    def _report(self) -> None:
        self.count += 1
        if self.progress is not None:
            self.progress(self.count)


class _Interrupted(Exception):  # noqa: N818
    """The evaluation that a search waits for has failed."""


class _LbfgsSearch:
    """The search for the mode of one model by SciPy's L-BFGS-B.

    Its variables are the scaled distances of weights from their modes; of a weight with a kink at
    its mode they are two, the part above the mode and the part below it.
    """

    def __init__(
        self, number: int, weights: FloatArray, penalty: Penalty, tolerance: float
    ) -> None:
        self.number = number
        self.weights = weights.copy()
        self.penalty = penalty
        self.tolerance = tolerance
        self.rows = penalty.rows[:, :, 0]
        self.kinked = np.flatnonzero(self.rows[L1] > 0)
        self.trace: list[float] = []
        self.gap = np.inf
        self.is_active = True
        self.asked = self.weights
        self.requests: Queue[bool] = Queue()  # True: asks for an evaluation; False: has ended
        self.answers: Queue[tuple[float, FloatArray] | None] = Queue()
        self.latest: tuple[float, FloatArray] = (np.inf, np.zeros(len(weights)))
        self.set_scale(penalty.curvatures[:, 0])

    def set_scale(self, curvatures: FloatArray) -> None:
        """Scale variables by the diagonal of the Hessian of the objective."""
        self.scale = 1.0 / np.sqrt(np.maximum(curvatures + self.rows[L2], _LEAST_CURVATURE))

    def run(self, max_iter: int) -> None:
        """Make this number of steps at most."""
        begin, lower, upper = self._variables()
        options = {"maxiter": max_iter, "maxcor": _MEMORY_STEPS, "ftol": 0.0, "gtol": 0.0}
        try:
            if not self.trace:
                self._objective(begin)
                self._record()
            if self.is_active:
                found = minimize(
                    self._objective,
                    begin,
                    jac=True,
                    method="L-BFGS-B",
                    bounds=np.column_stack([lower, upper]),
                    callback=self._step,
                    options=options,
                )
                self.is_active &= found.nit == max_iter
        except _Interrupted:
            self.is_active = False
        finally:
            self.requests.put(False)

    def solution(self) -> Solution:
        """Return the model as it is, converged if the bound of its gap is within the tolerance."""
        trace = np.array(self.trace)
        converged = bool(self.gap <= self.tolerance)
        weights = self.weights[:-1].copy()
        return Solution(weights, float(self.weights[-1]), trace, len(trace) - 1, converged)

    def _variables(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the variables of the weights as they are, and their bounds."""
        distance = self.weights - self.rows[MODE]
        below = -np.minimum(distance, 0.0)[self.kinked]
        distance[self.kinked] += below
        lower = self.rows[LOWER] - self.rows[MODE]
        upper = self.rows[UPPER] - self.rows[MODE]
        depth = -lower[self.kinked]
        lower[self.kinked] = 0.0
        scale = np.concatenate([self.scale, self.scale[self.kinked]])
        return (
            np.concatenate([distance, below]) / scale,
            np.concatenate([lower, np.zeros(len(below))]) / scale,
            np.concatenate([upper, depth]) / scale,
        )

    def _weights_at(self, variables: FloatArray) -> FloatArray:
        distance = variables[: len(self.weights)] * self.scale
        distance[self.kinked] -= variables[len(self.weights) :] * self.scale[self.kinked]
        moved: FloatArray = self.rows[MODE] + distance
        return moved

    def _objective(self, variables: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective and its gradient by the variables; asks for an evaluation."""
        self.asked = self._weights_at(variables)
        self.requests.put(True)
        answer = self.answers.get()
        if answer is None:
            raise _Interrupted
        loss, gradient = answer
        objective = loss + float(self.penalty.cost(self.asked[:, np.newaxis])[0])
        self.latest = objective, gradient
        smooth = gradient + self.rows[L2] * (self.asked - self.rows[MODE])
        above = (smooth + self.rows[L1]) * self.scale
        below = (self.rows[L1] - smooth)[self.kinked] * self.scale[self.kinked]
        return objective, np.concatenate([above, below])

    def _step(self, variables: FloatArray) -> None:
        """Record a step, and end the search when it has converged or stalled."""
        self._record()
        if not self.is_active:
            raise StopIteration

    def _record(self) -> None:
        # A step ends at the weights that were evaluated last.
        self.weights = self.asked
        objective, gradient = self.latest
        self.trace.append(objective)
        columns = self.weights[:, np.newaxis], gradient[:, np.newaxis], np.array([objective])
        self.gap = float(gap_bounds(self.penalty, *columns)[0])
        self.is_active = self.gap > self.tolerance and not has_stalled(self.trace)
