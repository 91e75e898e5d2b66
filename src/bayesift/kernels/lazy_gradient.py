"""The negative gradient of all terms, kept nearly current.

It takes a fraction of the cost of a pass over the matrix.

`neg_gradient` is X' included exactly, where `included` is the residual of each document when it was
last included. A group of documents (`bayesift.kernels.documents`) is updated by its column sums, a
document with a place through its row when its residual changed by more than a threshold. The
changes left out have a norm rho, and by Cauchy and Schwarz no entry of the gradient is off by more
than rho times the norm of its column.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array, BoolArray, FloatArray, IntArray
from bayesift.kernels.compile import kernel
from bayesift.kernels.documents import (
    INSIDE,
    OUTSIDE,
    Documents,
    Matrix,
    Model,
    group_residuals,
)
from bayesift.kernels.entries import Entries
from bayesift.kernels.linear import L1, MODE, column_dot, penalty_of, violation

# Of the largest violation: if more of it may be an error, the gradient is computed exactly.
_DOUBTFUL_SHARE = 0.5


class LazyGradient(NamedTuple):
    """Of all terms.

    `inside_sums`: column sums inside the category, `groups`: the included residuals of the
    groups.

    `known`: the number of documents with places, `rho`: the norm of what is left out, both as of
    the last update.
    """

    neg_gradient: FloatArray
    inside_sums: FloatArray
    included: FloatArray
    groups: FloatArray
    known: Array
    rho: FloatArray


class Candidates(NamedTuple):
    """Room for terms that may move and their negative gradient.

    Those of them that do, and the priority of each.

    `by_document` and `near`, one per term of the matrix, are scratch.
    """

    unsettled: IntArray
    neg_gradient: FloatArray
    found: Array
    priority: FloatArray
    by_document: FloatArray
    near: BoolArray


class Search(NamedTuple):
    """Terms off their mode or in violation, their priorities.

    How many are off, the worst, the cost; all gradients.
    """

    found: Array
    priority: FloatArray
    moved: int
    worst: float
    cost: float
    neg_gradient: FloatArray


def empty_candidates(model: Model) -> Candidates:
    """Room for all terms of a model."""
    unsettled, found = np.empty((2, len(model.terms)), dtype=np.int32)
    neg_gradient, priority = np.empty((2, len(model.terms)))
    near = np.empty(len(model.sums), dtype=bool)
    return Candidates(
        unsettled, neg_gradient, found, priority, np.empty(len(model.importance)), near
    )


def empty_gradient(matrix: Matrix, model: Model) -> LazyGradient:
    """Return the gradient before any residual is included."""
    neg_gradient, inside_sums = np.zeros((2, len(model.sums)))
    _add_rows(*matrix.rows, model.members, model.importance, inside_sums)
    included = np.empty(len(model.importance) + 2)
    return LazyGradient(
        neg_gradient, inside_sums, included, np.zeros(2), np.full(1, 2), np.zeros(1)
    )


@kernel
def _add_rows(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    documents: Array,
    factors: FloatArray,
    out: Array,
) -> None:
    for place in range(len(documents)):
        i = documents[place]
        factor = factors[i]
        for k in range(indptr[i], indptr[i + 1]):
            out[np.uint32(indices[k])] += factor * data[k]


def update_gradient(
    matrix: Matrix, model: Model, documents: Documents, lazy: LazyGradient, threshold: float
) -> None:
    """Include the residuals that changed by more than the threshold."""
    count, known = int(documents.filled[0]), int(lazy.known[0])
    if count > known:
        residuals = np.where(
            documents.signs[known:count] < 0.0, lazy.groups[OUTSIDE], lazy.groups[INSIDE]
        )
        lazy.included[known:count] = documents.importance[known:count] * residuals
        lazy.known[0] = count
    shifts = group_residuals(model, documents) - lazy.groups
    lazy.groups[:] += shifts
    lazy.rho[0] = _update(count, matrix.rows, documents, lazy, model.sums, shifts, threshold)


@kernel
def _update(
    count: int,
    rows: Entries,
    documents: Documents,
    lazy: LazyGradient,
    sums: FloatArray,
    shifts: FloatArray,
    threshold: float,
) -> float:
    """Include residuals in the gradient; returns the norm of the changes left out."""
    indptr, indices, data = rows
    _, _, _, numbers, signs, importance, _, residuals, _, _, _ = documents
    neg_gradient, inside_sums, included, _, _, _ = lazy
    square, inside, outside = 0.0, shifts[INSIDE], shifts[OUTSIDE]
    for j in range(len(neg_gradient)):
        neg_gradient[j] += outside * sums[j] + (inside - outside) * inside_sums[j]
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


def find_candidates(
    matrix: Matrix,
    model: Model,
    documents: Documents,
    lazy: LazyGradient,
    candidates: Candidates,
    weights: FloatArray,
    tolerance: float,
) -> Search:
    """Find the terms off their mode or in violation, by an up-to-date gradient.

    See `update_gradient`.

    The gradient is approximate while the largest violation certainly is one, or certainly none
    above the tolerance, and exact otherwise.
    """
    rho = float(lazy.rho[0])
    count = _unsettled_terms(
        model.terms, matrix.norms, model.penalty, weights, lazy.neg_gradient, rho, candidates.near,
        candidates.unsettled, candidates.neg_gradient,
    )  # fmt: skip
    unsettled, gradient = candidates.unsettled[:count], candidates.neg_gradient[:count]
    given = (
        unsettled,
        matrix.norms,
        model.penalty,
        weights,
        gradient,
        rho,
        candidates.found,
        candidates.priority,
    )
    size, moved, worst, norm, bound, cost = _find_violations(*given)
    of_all = lazy.neg_gradient
    if rho * norm >= _DOUBTFUL_SHARE * worst and bound > tolerance:
        gradient[:] = exact_gradient(
            matrix, model, documents, unsettled, candidates.by_document
        )
        size, moved, worst, _, _, cost = _find_violations(*given)
        of_all = of_all.copy()
        of_all[unsettled] = gradient
    return Search(
        candidates.found[:size], candidates.priority[:size], moved, worst, cost, of_all
    )


@kernel
def _unsettled_terms(
    terms: IntArray,
    norms: FloatArray,
    penalty: FloatArray,
    weights: FloatArray,
    neg_gradient: FloatArray,
    rho: float,
    near: BoolArray,
    unsettled: IntArray,
    kept_gradient: FloatArray,
) -> int:
    """Write the terms that are off their mode or may leave it, and their gradient.

    Returns their number.

    They are few: a loop of comparisons alone, into `near`, becomes vector code.
    """
    for j in range(len(near)):
        may_leave = abs(neg_gradient[j]) + rho * norms[j] > penalty[L1, j]
        near[j] = may_leave | (weights[j] != penalty[MODE, j])
    count = 0
    for place in range(len(terms)):
        term = np.uint32(terms[place])
        if near[term]:
            unsettled[count], kept_gradient[count] = term, neg_gradient[term]
            count += 1
    return count


def exact_gradient(
    matrix: Matrix, model: Model, documents: Documents, terms: IntArray, by_document: FloatArray
) -> Array:
    """Return the negative gradient of these terms; by_document is scratch."""
    _residuals_by_document(
        documents.places,
        documents.residuals,
        group_residuals(model, documents),
        model.importance,
        by_document,
    )
    out = np.empty(len(terms))
    column_sums(*matrix.columns, terms, by_document, out)
    return out


@kernel
def _residuals_by_document(
    places: IntArray,
    residuals: FloatArray,
    groups: FloatArray,
    importance: FloatArray,
    out: Array,
) -> None:
    for i in range(len(out)):
        place = np.uint32(places[i])
        out[i] = (
            groups[place] * importance[i]
            if place < np.uint32(len(groups))
            else residuals[place]
        )


@kernel
def column_sums(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    terms: IntArray,
    factors: FloatArray,
    out: Array,
) -> None:
    """Write the products of these columns with the factors."""
    for place in range(len(terms)):
        j = terms[place]
        out[place] = column_dot(indptr[j], indptr[j + 1], indices, data, factors)


@kernel
def _find_violations(
    unsettled: IntArray,
    norms: FloatArray,
    penalty: FloatArray,
    weights: FloatArray,
    neg_gradient: FloatArray,
    rho: float,
    found: Array,
    priority: FloatArray,
) -> tuple[int, int, float, float, float, float]:
    """Write terms off their mode or in violation, and priorities.

    Returns their number, how many are off, the worst violation, the norm of its column, a bound of
    all violations where a gradient may be off by rho times the norm of its column, and the penalty.
    """
    count, moved, worst, norm, bound, cost = 0, 0, 0.0, 0.0, 0.0, 0.0
    for place in range(len(unsettled)):
        j = unsettled[place]
        size = violation(penalty, j, weights[j], neg_gradient[place])
        bound = max(bound, size + rho * norms[j])
        off = weights[j] != penalty[MODE, j]
        if off or size > 0.0:
            found[count], priority[count] = j, size / max(norms[j], 1e-12)
            if size > worst:
                worst, norm = size, norms[j]
            if off:
                cost += penalty_of(penalty, j, weights[j])
                moved += 1
            count += 1
    return count, moved, worst, norm, bound, cost
