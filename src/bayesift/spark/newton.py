"""Newton steps on working sets for many models at once, for priors with a kink.

See `bayesift.spark.descent`.

Under a Laplace prior few weights differ from their modes. An evaluation at given weights brings,
beside losses and gradients of all weights, the Hessian of a model's working set: the weights off
their modes and those whose gradient is too steep to stay. The quadratic model plus the exact
penalty is minimised by coordinate descent (`bayesift.kernels.newton_steps`), the intercept
eliminated, and the next evaluation is made at its minimum, with a new set. So a step costs one
evaluation, and there are tens of them, not hundreds. A model whose set grows too large continues by
L-BFGS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows
from bayesift.kernels.linear import L1, L2, MODE
from bayesift.kernels.newton_steps import complete_gram, gram, minimise_model
from bayesift.models.linear.problem import Solution
from bayesift.models.linear.solvers.line_search import backtrack
from bayesift.spark.descent import (
    DescentLimits,
    LossGradient,
    LossOracle,
    Penalty,
    WeightedSet,
    gap_bounds,
    has_stalled,
    minimise_by_lbfgs,
    select,
)

LARGEST_SET = 3072  # 19 MB, as Hessians are sent
_FIRST_SET_TERMS = 256  # terms of a set at the start
_INNER_SHARE = 0.01  # of the largest subgradient may be left by coordinate descent
_CAUTIOUS_SHARE = 0.03  # of the objective: a step that should gain more goes far
_SHORTEST_STEP = 1e-6  # share of a Newton step that a line search tries at last
_RIDGE_SHARE = 1e-6  # of the diagonal: Hessians are sent in single precision


def minimise_by_newton(
    oracle: LossOracle, weights: FloatArray, penalty: Penalty, rule: DescentLimits
) -> tuple[list[Solution], Array]:
    """Find the modes of all models, and bounds of what is left to gain.

    Parameters as in `minimise_by_lbfgs`.
    """
    search = _SetNewton(oracle, weights, penalty, rule)
    for _ in range(rule.max_iter):
        if not search.active.any():
            break
        search.step()
    solutions = search.solutions()
    gaps = search.gaps()
    large = np.flatnonzero(search.large & (gaps > rule.tolerance))
    if not len(large):
        return solutions, gaps
    progress = rule.progress
    rest = replace(
        rule,
        progress=None if progress is None else lambda n: progress(search.n_evaluations + n),
    )
    found, gaps[large] = minimise_by_lbfgs(
        oracle, search.weights[:, large], penalty.select(large), rest, large
    )
    for index, solution in zip(large, found, strict=True):
        trace = np.concatenate([solutions[index].objective, solution.objective[1:]])
        solutions[index] = replace(solution, objective=trace, iterations=len(trace) - 1)
    return solutions, gaps


class _SetNewton:
    """Models: weights (weights x models, intercepts last), working sets and their Hessians."""

    def __init__(
        self, oracle: LossOracle, weights: FloatArray, penalty: Penalty, rule: DescentLimits
    ) -> None:
        self.oracle = oracle
        self.penalty = penalty
        self.rule = rule
        self.weights = weights.copy()
        n_models = weights.shape[1]
        self.n_evaluations = 0
        self.traces: list[list[float]] = [[] for _ in range(n_models)]
        self.active = np.ones(n_models, dtype=bool)
        self.inverse = 1.0 / (penalty.curvatures[:-1] + penalty.rows[L2, :-1] + 1e-10)
        self.sets: list[Array] = [np.empty(0, dtype=np.int64)] * n_models
        self.hessians: list[Array] = [np.empty(0)] * n_models
        self.large = np.zeros(n_models, dtype=bool)
        self.cautious = np.ones(n_models, dtype=bool)
        losses, self.gradients = oracle.loss_and_gradient(self.weights, list(range(n_models)))
        self._count()
        self.objectives = losses + penalty.cost(self.weights)
        self._record(np.arange(n_models))
        self._select_sets(np.flatnonzero(self.active))
        active = np.flatnonzero(self.active)
        if len(active):
            self._evaluate(self.weights[:, active], active)

    def step(self) -> None:
        """One step of every active model."""
        columns = np.flatnonzero(self.active)
        start = self.weights[:, columns]
        direction = np.zeros((len(self.weights), len(columns)))
        gains = np.empty(len(columns))
        subgradients = self.penalty.select(columns).subgradient(
            start, select(self.gradients, columns)
        )
        for index, c in enumerate(columns.tolist()):
            gains[index] = self._direction(c, subgradients[:, index], direction[:, index])
        ahead = start + direction
        self._select_sets(columns, ahead)
        self.cautious[columns] = -gains > _CAUTIOUS_SHARE * self.objectives[columns]
        self._search(
            columns,
            lambda indices, lengths: (
                select(start, indices) + lengths * select(direction, indices)
            ),
            lambda indices, _, lengths: lengths * gains[indices],
            self._evaluate,
        )
        self.active &= ~self.large

    def _count(self) -> None:
        """Count an evaluation."""
        self.n_evaluations += 1
        if self.rule.progress is not None:
            self.rule.progress(self.n_evaluations)

    def _search(
        self,
        columns: IntArray,
        trial: Callable[[Array, Array], Array],
        expected: Callable[[Array, Array, Array], Array],
        evaluate: Callable[[Array, Array], LossGradient],
    ) -> None:
        """Take a step of each of these models; a model for which no step length is accepted ends.

        `trial` gives the weights of some models (indices into `columns`) at these step lengths,
        `expected` the change of the objective to first order for places, trial weights and step
        lengths.
        """
        weights = np.empty(0)
        gradients = np.empty(0)
        values = np.empty(0)

        def objectives(indices: Array, lengths: Array) -> Array:
            nonlocal weights, gradients, values
            weights = trial(indices, lengths)
            losses, gradients = evaluate(weights, columns[indices])
            values = losses + self.penalty.select(columns[indices]).cost(weights)
            return values

        def accept(indices: Array, good: Array) -> None:
            done = columns[indices[good]]
            self.weights[:, done] = weights[:, good]
            self.gradients[:, done] = gradients[:, good]
            self.objectives[done] = values[good]

        found = backtrack(
            objectives,
            lambda indices, lengths: expected(indices, weights, lengths),
            self.objectives[columns],
            accept=accept,
            interpolate=True,
            shortest=_SHORTEST_STEP,
        )
        self.active[columns[~found.accepted]] = False
        self._record(columns)

    def _record(self, columns: IntArray) -> None:
        """Record the objectives of models that made a step.

        A model that has converged or gains no more ends.
        """
        for c in columns:
            trace = self.traces[c]
            trace.append(float(self.objectives[c]))
            if has_stalled(trace):
                self.active[c] = False
        self.active &= self.gaps() > self.rule.tolerance

    def gaps(self) -> Array:
        """Bounds of the shares of the objectives that are left to gain."""
        return gap_bounds(self.penalty, self.weights, self.gradients, self.objectives)

    def solutions(self) -> list[Solution]:
        """Return the models as they are, converged where their gap is within the tolerance."""
        converged = self.gaps() <= self.rule.tolerance
        return [
            Solution(
                weights[:-1].copy(),
                float(weights[-1]),
                np.array(trace),
                len(trace) - 1,
                bool(met),
            )
            for weights, trace, met in zip(self.weights.T, self.traces, converged, strict=True)
        ]

    def _direction(self, c: int, subgradient: Array, direction: FloatArray) -> float:
        """Write the step of a model; returns the change of the objective to first order."""
        chosen = self.sets[c]
        hessian = unpacked_gram(self.hessians[c], len(chosen))
        penalty = np.ascontiguousarray(
            self.penalty.rows[:, :, min(c, self.penalty.rows.shape[2] - 1)]
        )
        edges = np.ascontiguousarray(penalty[:, chosen])
        gradient = self.gradients[:, c]
        weights = self.weights[:, c]
        sums = hessian[-1, :-1].copy()
        total = float(hessian[-1, -1] + penalty[L2, -1])
        matrix = np.ascontiguousarray(hessian[:-1, :-1])
        matrix[np.diag_indices_from(matrix)] *= 1.0 + _RIDGE_SHARE
        tilted = self.penalty.free and total > 0.0
        complete_gram(matrix, sums, total if tilted else 0.0)
        if tilted:
            neg_bias_gradient = -(
                gradient[-1] + penalty[L2, -1] * (weights[-1] - penalty[MODE, -1])
            )
        else:
            neg_bias_gradient = 0.0
        neg_gradient = -gradient[chosen] - (
            sums * (neg_bias_gradient / total) if tilted else 0.0
        )
        step = np.empty(len(chosen))
        goal = _INNER_SHARE * float(np.max(np.abs(subgradient)))
        minimise_model(
            matrix,
            np.arange(len(chosen), dtype=np.int32),
            edges,
            weights[chosen],
            step,
            neg_gradient,
            goal,
        )
        direction[chosen] = step
        direction[-1] = (neg_bias_gradient - sums @ step) / total if tilted else 0.0
        here, there = (self._cost(penalty, at) for at in (weights, weights + direction))
        return min(float(gradient @ direction + there - here), 0.0)

    @staticmethod
    def _cost(penalty: FloatArray, weights: FloatArray) -> float:
        distance = weights - penalty[MODE]
        return float(penalty[L1] @ np.abs(distance) + 0.5 * penalty[L2] @ distance**2)

    def _select_sets(self, columns: IntArray, ahead: Array | None = None) -> None:
        """Select the sets of models: weights off their modes, and others of the largest gain."""
        penalty = self.penalty.select(columns)
        start = select(self.weights, columns)
        subgradients = penalty.subgradient(start, select(self.gradients, columns))[:-1]
        priority = subgradients**2 * select(self.inverse, columns)
        moved = start[:-1] != penalty.rows[MODE, :-1]
        if ahead is not None:
            moved |= ahead[:-1] != penalty.rows[MODE, :-1]
        for index, c in enumerate(columns):
            off = np.flatnonzero(moved[:, index])
            priority[off, index] = 0.0
            priority[self.sets[c], index] = (
                0.0  # these were in the set and stayed at their modes
            )
            steep = np.flatnonzero(priority[:, index])
            wanted = max(_FIRST_SET_TERMS, len(off))
            if len(steep) > wanted:
                steep = steep[np.argpartition(-priority[steep, index], wanted)[:wanted]]
            if len(off) >= LARGEST_SET:
                self.large[c] = True
            self.sets[c] = np.sort(np.concatenate([off, steep])[:LARGEST_SET])

    def _evaluate(self, weights: FloatArray, models: Array) -> LossGradient:
        sets = [WeightedSet(self.sets[c], bool(self.cautious[c])) for c in models]
        losses, gradients, hessians = self.oracle.loss_and_hessians(
            weights, models.tolist(), sets
        )
        self._count()
        for c, hessian in zip(models, hessians, strict=True):
            self.hessians[c] = hessian
        return losses, gradients


def packed_gram(rows: SparseRows, terms: IntArray, curvatures: FloatArray) -> Array:
    """Return the lower half of X' H X of some terms and a column of ones, row by row."""
    size = len(terms)
    indices = np.full(rows.shape[1], size, dtype=np.int32)
    indices[terms] = np.arange(size)
    columns = indices[rows.indices]
    held = columns < size
    starts = np.concatenate([[0], np.cumsum(held)])[rows.indptr]
    some = sparse.csr_array(
        (rows.data[held], columns[held], starts), shape=(rows.shape[0], size)
    )
    some.sort_indices()
    matrix = np.zeros(size * size)
    sums = np.zeros(size)
    whole = np.empty((size + 1, size + 1))
    gram(some.indptr.astype(np.int64), some.indices, some.data, curvatures, 0.0, matrix, sums)
    whole[:-1, :-1] = matrix.reshape(size, size)
    whole[-1, :-1] = sums
    whole[-1, -1] = curvatures.sum()
    packed: FloatArray = whole[np.tri(size + 1, dtype=bool)]
    return packed


def unpacked_gram(packed: FloatArray, size: int) -> Array:
    """Return the matrix of `packed_gram` for this number of terms; its upper half is 0."""
    half = np.tri(size + 1, dtype=bool)
    matrix = np.zeros(half.shape)
    matrix[half] = packed
    return matrix


def packed_size(size: int) -> int:
    """How many numbers `packed_gram` returns for this number of terms."""
    return (size + 1) * (size + 2) // 2
