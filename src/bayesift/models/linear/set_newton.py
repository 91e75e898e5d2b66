"""Newton steps on working sets for many models at once (`bayesift.models.linear.asking`), for priors with an edge.

Under a Laplace prior few weights differ from their modes. A question at given weights brings, beside losses and
gradients of all weights, the second derivatives of a model's working set: the weights off their modes and those whose
gradient is too steep to stay. Here the quadratic model plus the exact penalty is minimised by coordinate descent
(`bayesift.kernels.newton_steps`), the intercept taken out, and the next question is asked where that leads, with a set
that was chosen anew. So a step costs one question, and there are tens of them, not hundreds. A model whose set grows
too large goes on by OWL-QN.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.kernels.linear import L1, L2, MODE
from bayesift.kernels.newton_steps import complete, gram, minimise_model
from bayesift.models.linear import quasi_newton
from bayesift.models.linear.asking import Answer, Descent, Documents, Settings, Terms, WorkingSet, taking
from bayesift.models.linear.problem import Solution

Array = np.ndarray[Any, Any]

LARGEST_SET = 3072  # 19 MB, as second derivatives travel
_FIRST = 256  # terms of a set at the start
_INNER = 0.01  # of the largest slope may be left by coordinate descent
_CAUTIOUS = 0.03  # of the objective: a step that promises more goes far
_RIDGE = 1e-6  # of the diagonal: matrices travel in single precision


def minimise(documents: Documents, weights: Array, terms: Terms, settings: Settings) -> tuple[list[Solution], Array]:
    """The modes of all models, and bounds of the shares of their objectives that are left to gain.

    Parameters
    ----------
    documents : answer questions
    weights : where to start; weights x models, the intercepts last
    terms : the prior
    settings : when to stop
    """
    search = _Search(documents, weights, terms, settings)
    for _ in range(settings.max_iter):
        if not search.going.any():
            break
        search.step()
    solutions, gaps = search.solutions(), search.gaps()
    large = np.flatnonzero(search.large & (gaps > settings.tolerance))
    if not len(large):
        return solutions, gaps
    progress = settings.progress
    rest = replace(settings, progress=None if progress is None else lambda n: progress(search.asked + n))
    found, gaps[large] = quasi_newton.minimise(
        _Some(documents, large), search.weights[:, large], terms.taking(large), rest
    )
    for place, solution in zip(large, found, strict=True):
        trace = np.concatenate([solutions[place].objective, solution.objective[1:]])
        solutions[place] = replace(solution, objective=trace, iterations=len(trace) - 1)
    return solutions, gaps


@dataclass(frozen=True, eq=False)
class _Some:
    """Documents that are asked for some of the models."""

    documents: Documents
    models: Array

    def slopes(self, weights: Array, models: list[int]) -> Answer:
        return self.documents.slopes(weights, self.models[models].tolist())

    def curvatures(self, weights: Array, models: list[int]) -> Array:
        return self.documents.curvatures(weights, self.models[models].tolist())

    def grams(self, weights: Array, models: list[int], sets: list[WorkingSet]) -> tuple[Array, Array, list[Array]]:
        return self.documents.grams(weights, self.models[models].tolist(), sets)


class _Search(Descent):
    """Models on their way; the working set of each, and the second derivatives there."""

    def __init__(self, documents: Documents, weights: Array, terms: Terms, settings: Settings) -> None:
        super().__init__(weights, terms, settings)
        self.documents, n_models = documents, weights.shape[1]
        self.inverse = 1.0 / (terms.curvatures[:-1] + terms.penalty[L2, :-1] + 1e-10)
        self.sets: list[Array] = [np.empty(0, dtype=np.int64)] * n_models
        self.bends: list[Array] = [np.empty(0)] * n_models
        self.large, self.cautious = np.zeros(n_models, dtype=bool), np.ones(n_models, dtype=bool)
        everyone = np.arange(n_models)
        answer = documents.slopes(self.weights, everyone.tolist())
        self.count()
        self.begin(answer)
        self._choose(np.flatnonzero(self.going))
        going = np.flatnonzero(self.going)
        if len(going):
            self._ask(self.weights[:, going], going)

    def step(self) -> None:
        """One step of every model that is going."""
        columns = np.flatnonzero(self.going)
        start, direction = self.weights[:, columns], np.zeros((len(self.weights), len(columns)))
        gains = np.empty(len(columns))
        slopes = self.terms.taking(columns).slope(start, taking(self.gradients, columns))
        for place, c in enumerate(columns.tolist()):
            gains[place] = self._aim(c, slopes[:, place], direction[:, place])
        ahead = start + direction
        self._choose(columns, ahead)
        self.cautious[columns] = -gains > _CAUTIOUS * self.objectives[columns]
        self.search(
            columns,
            lambda places, lengths: taking(start, places) + lengths * taking(direction, places),
            lambda places, _, lengths: lengths * gains[places],
            self._ask,
        )
        self.going &= ~self.large

    def _aim(self, c: int, slope: Array, direction: Array) -> float:
        """Write the step of a model; gives the change of the objective that it promises, were all else straight."""
        chosen = self.sets[c]
        bend = unpacked_gram(self.bends[c], len(chosen))
        penalty = np.ascontiguousarray(self.terms.penalty[:, :, min(c, self.terms.penalty.shape[2] - 1)])
        edges, gradient, weights = np.ascontiguousarray(penalty[:, chosen]), self.gradients[:, c], self.weights[:, c]
        sums, total = bend[-1, :-1].copy(), float(bend[-1, -1] + penalty[L2, -1])
        matrix = np.ascontiguousarray(bend[:-1, :-1])
        matrix[np.diag_indices_from(matrix)] *= 1.0 + _RIDGE
        tilted = self.terms.free and total > 0.0
        complete(matrix, sums, total if tilted else 0.0)
        pull = -(gradient[-1] + penalty[L2, -1] * (weights[-1] - penalty[MODE, -1])) if tilted else 0.0
        slack = -gradient[chosen] - (sums * (pull / total) if tilted else 0.0)
        step, goal = np.empty(len(chosen)), _INNER * float(np.max(np.abs(slope)))
        minimise_model(matrix, np.arange(len(chosen), dtype=np.int32), edges, weights[chosen], step, slack, goal)
        direction[chosen] = step
        direction[-1] = (pull - sums @ step) / total if tilted else 0.0
        here, there = (self._cost(penalty, at) for at in (weights, weights + direction))
        return min(float(gradient @ direction + there - here), 0.0)

    @staticmethod
    def _cost(penalty: Array, weights: Array) -> float:
        distance = weights - penalty[MODE]
        return float(penalty[L1] @ np.abs(distance) + 0.5 * penalty[L2] @ distance**2)

    def _choose(self, columns: Array, ahead: Array | None = None) -> None:
        """Choose the sets of these models: what is off its mode, and as many again whose slopes promise most."""
        terms, start = self.terms.taking(columns), taking(self.weights, columns)
        slopes = terms.slope(start, taking(self.gradients, columns))[:-1]
        promise = slopes**2 * taking(self.inverse, columns)
        moved = start[:-1] != terms.penalty[MODE, :-1]
        if ahead is not None:
            moved |= ahead[:-1] != terms.penalty[MODE, :-1]
        for place, c in enumerate(columns):
            off = np.flatnonzero(moved[:, place])
            promise[off, place] = 0.0
            promise[self.sets[c], place] = 0.0  # these were in the set and stayed at their modes
            steep = np.flatnonzero(promise[:, place])
            wanted = max(_FIRST, len(off))
            if len(steep) > wanted:
                steep = steep[np.argpartition(-promise[steep, place], wanted)[:wanted]]
            if len(off) >= LARGEST_SET:
                self.large[c] = True
            self.sets[c] = np.sort(np.concatenate([off, steep])[:LARGEST_SET])

    def _ask(self, weights: Array, models: Array) -> Answer:
        sets = [WorkingSet(self.sets[c], bool(self.cautious[c])) for c in models]
        losses, gradients, bends = self.documents.grams(weights, models.tolist(), sets)
        self.count()
        for c, bend in zip(models, bends, strict=True):
            self.bends[c] = bend
        return losses, gradients


def packed_gram(rows: sparse.csr_array, terms: Array, curvatures: Array) -> Array:
    """The lower half of X' H X of some terms, a column of ones after them: its rows one after another.

    Examples
    --------
    >>> packed_gram(sparse.csr_array([[2.0, 1.0, 3.0]]), np.array([0, 2]), np.array([0.5])).tolist()
    [2.0, 3.0, 4.5, 1.0, 1.5, 0.5]
    """
    size = len(terms)
    places = np.full(rows.shape[1], size, dtype=np.int32)
    places[terms] = np.arange(size)
    columns = places[rows.indices]
    held = columns < size
    starts = np.concatenate([[0], np.cumsum(held)])[rows.indptr]
    some = sparse.csr_array((rows.data[held], columns[held], starts), shape=(rows.shape[0], size))
    some.sort_indices()
    matrix, sums, whole = np.zeros(size * size), np.zeros(size), np.empty((size + 1, size + 1))
    gram(some.indptr.astype(np.int64), some.indices, some.data, curvatures, 0.0, matrix, sums)
    whole[:-1, :-1], whole[-1, :-1], whole[-1, -1] = matrix.reshape(size, size), sums, curvatures.sum()
    packed: Array = whole[np.tri(size + 1, dtype=bool)]
    return packed


def unpacked_gram(packed: Array, size: int) -> Array:
    """The matrix of `packed_gram`, of so many terms; its upper half is 0.

    Examples
    --------
    >>> unpacked_gram(np.array([2.0, 1.0, 0.5]), 1).tolist()
    [[2.0, 0.0], [1.0, 0.5]]
    """
    half = np.tri(size + 1, dtype=bool)
    matrix = np.zeros(half.shape)
    matrix[half] = packed
    return matrix


def packed_size(size: int) -> int:
    """How many numbers `packed_gram` gives for so many terms.

    Examples
    --------
    >>> packed_size(2)
    6
    """
    return (size + 1) * (size + 2) // 2
