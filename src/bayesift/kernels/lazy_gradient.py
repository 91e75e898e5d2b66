"""The negative gradient of all terms, kept nearly current for a fraction of the cost of a pass over the matrix.

`neg_gradient` is X' included exactly, where `included` is the residual of each document when it was last included. A
group of documents (`bayesift.kernels.documents`) is updated by its column sums, a document with a place through its row
when its residual changed by more than a threshold. The changes left out have a norm rho, and by Cauchy and Schwarz no
entry of the gradient is off by more than rho times the norm of its column.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array
from bayesift.kernels.compile import kernel
from bayesift.kernels.documents import INSIDE, OUTSIDE, Documents, Matrix, Model, group_residuals
from bayesift.kernels.linear import L1, MODE, column_dot, penalty_of, violation

_DOUBTFUL = 0.5  # of the largest violation: if more of it may be an error, the gradient is computed exactly


class LazyGradient(NamedTuple):
    """Of all terms; `inside_sums`: column sums inside the category, `groups`: the included residuals of the groups."""

    neg_gradient: Array
    inside_sums: Array
    included: Array
    groups: Array
    known: Array


class Candidates(NamedTuple):
    """Room for terms that may move and their negative gradient; those of them that do, and the priority of each."""

    unsettled: Array
    neg_gradient: Array
    found: Array
    priority: Array
    by_document: Array


@kernel
def empty_candidates(model: Model) -> Candidates:
    """Room for all terms of a model."""
    n = len(model.terms)
    by_term, priority, by_document = np.empty(n), np.empty(n), np.empty(len(model.importance))
    return Candidates(np.empty(n, dtype=np.int32), by_term, np.empty(n, dtype=np.int32), priority, by_document)


@kernel
def empty_gradient(matrix: Matrix, model: Model) -> LazyGradient:
    """The gradient before any residual is included."""
    n_terms, size = len(model.sums), len(model.importance) + 2
    inside_sums = np.zeros(n_terms)
    for i in model.members:
        for k in range(matrix.row_indptr[i], matrix.row_indptr[i + 1]):
            inside_sums[matrix.row_indices[k]] += model.importance[i] * matrix.row_data[k]
    return LazyGradient(np.zeros(n_terms), inside_sums, np.empty(size), np.zeros(2), np.full(1, 2))


@kernel
def update_gradient(matrix: Matrix, model: Model, documents: Documents, lazy: LazyGradient, threshold: float) -> float:
    """Include the residuals that changed by more than the threshold; returns the norm rho of what was left out."""
    count = documents.filled[0]
    for place in range(lazy.known[0], count):
        group = OUTSIDE if documents.signs[place] < 0.0 else INSIDE
        lazy.included[place] = documents.importance[place] * lazy.groups[group]
    lazy.known[0] = count
    inside, outside = group_residuals(model, documents)
    inside_shift, outside_shift = inside - lazy.groups[INSIDE], outside - lazy.groups[OUTSIDE]
    lazy.groups[INSIDE], lazy.groups[OUTSIDE] = inside, outside
    _shift(lazy.neg_gradient, model.sums, lazy.inside_sums, inside_shift, outside_shift)
    return _update_rows(
        count, matrix.row_indptr, matrix.row_indices, matrix.row_data, documents.numbers, documents.signs,
        documents.importance, documents.residuals, inside_shift, outside_shift, threshold, lazy.neg_gradient,
        lazy.included,
    )  # fmt: skip


@kernel
def _shift(neg_gradient: Array, sums: Array, inside_sums: Array, inside: float, outside: float) -> None:
    for j in range(len(neg_gradient)):
        neg_gradient[j] += outside * sums[j] + (inside - outside) * inside_sums[j]


@kernel
def _update_rows(
    count: int,
    indptr: Array,
    indices: Array,
    data: Array,
    numbers: Array,
    signs: Array,
    importance: Array,
    residuals: Array,
    inside: float,
    outside: float,
    threshold: float,
    neg_gradient: Array,
    included: Array,
) -> float:
    square = 0.0
    for place in range(2, count):
        included[place] += importance[place] * (outside if signs[place] < 0.0 else inside)
        move = residuals[place] - included[place]
        if abs(move) > threshold:
            i = numbers[place]
            for k in range(indptr[i], indptr[i + 1]):
                neg_gradient[np.uint32(indices[k])] += move * data[k]
            included[place] = residuals[place]
        else:
            square += move * move
    return math.sqrt(square)


@kernel
def find_candidates(
    matrix: Matrix,
    model: Model,
    documents: Documents,
    lazy: LazyGradient,
    candidates: Candidates,
    weights: Array,
    threshold: float,
) -> tuple[int, int, float, float]:
    """Find the terms off their mode or in violation: their number, how many are off, the largest violation, the cost.

    The gradient is approximate while the largest violation certainly is one, and exact otherwise.
    """
    rho = update_gradient(matrix, model, documents, lazy, threshold)
    penalty, norms, found, priority = model.penalty, matrix.norms, candidates.found, candidates.priority
    count = _unsettled_terms(
        model.terms, norms, penalty, weights, lazy.neg_gradient, rho, candidates.unsettled, candidates.neg_gradient
    )
    unsettled, gradient = candidates.unsettled[:count], candidates.neg_gradient[:count]
    size, moved, worst, norm, cost = _find_violations(unsettled, norms, penalty, weights, gradient, found, priority)
    if rho * norm >= _DOUBTFUL * worst:
        exact_gradient(matrix, model, documents, unsettled, candidates.by_document, gradient)
        size, moved, worst, norm, cost = _find_violations(unsettled, norms, penalty, weights, gradient, found, priority)
    return size, moved, worst, cost


@kernel
def _unsettled_terms(
    terms: Array,
    norms: Array,
    penalty: Array,
    weights: Array,
    neg_gradient: Array,
    rho: float,
    unsettled: Array,
    kept_gradient: Array,
) -> int:
    """Write the terms that are off their mode or may leave it, and their gradient; returns their number."""
    count = 0
    for place in range(len(terms)):
        j = terms[place]
        if abs(neg_gradient[j]) + rho * norms[j] > penalty[L1, j] or weights[j] != penalty[MODE, j]:
            unsettled[count], kept_gradient[count] = j, neg_gradient[j]
            count += 1
    return count


@kernel
def exact_gradient(
    matrix: Matrix, model: Model, documents: Documents, terms: Array, by_document: Array, out: Array
) -> None:
    """Write the negative gradient of these terms; by_document is scratch."""
    inside, outside = group_residuals(model, documents)
    _scatter(documents.places, documents.residuals, model.importance, inside, outside, by_document)
    for place in range(len(terms)):
        j = terms[place]
        out[place] = column_dot(matrix.indptr[j], matrix.indptr[j + 1], matrix.indices, matrix.data, by_document)


@kernel
def _scatter(places: Array, residuals: Array, importance: Array, inside: float, outside: float, out: Array) -> None:
    for i in range(len(places)):
        place = places[i]
        out[i] = residuals[place] if place > OUTSIDE else importance[i] * (inside if place == INSIDE else outside)


@kernel
def _find_violations(
    unsettled: Array, norms: Array, penalty: Array, weights: Array, neg_gradient: Array, found: Array, priority: Array
) -> tuple[int, int, float, float, float]:
    """Write terms off their mode or in violation, and priorities; their number, how many off, worst, norm, penalty."""
    count, moved, worst, norm, cost = 0, 0, 0.0, 0.0, 0.0
    for place in range(len(unsettled)):
        j = unsettled[place]
        size = violation(penalty, j, weights[j], neg_gradient[place])
        off = weights[j] != penalty[MODE, j]
        if off or size > 0.0:
            found[count], priority[count] = j, size / max(norms[j], 1e-12)
            if size > worst:
                worst, norm = size, norms[j]
            if off:
                cost += penalty_of(penalty, j, weights[j])
                moved += 1
            count += 1
    return count, moved, worst, norm, cost
