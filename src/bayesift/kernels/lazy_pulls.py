"""Pulls of all terms, kept nearly current for a fraction of the price of a pass over the matrix.

`pulls` is X' included exactly, where `included` is the pull of each document when it was last taken in. Between two
looks documents without a place (`bayesift.kernels.documents`) have moved together: that is a multiple of the column
sums over those inside and those outside the category, and the others are measured from there. A document that moved by
more than a threshold is taken in through its row. What is left has a norm rho, and by Cauchy and Schwarz no term is off
by more than rho times the norm of its column.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesift.kernels.compile import kernel
from bayesift.kernels.documents import INSIDE, OUTSIDE, Documents, Matrix, Model, group_pulls
from bayesift.kernels.linear import L1, MODE, column_dot, penalty_of, violation

Array = np.ndarray[Any, Any]

_DOUBTFUL = 0.5  # a violation of which a larger share may be an error calls for exact pulls


class LazyPulls(NamedTuple):
    """Of all terms; `ours` are the column sums inside the category, `groups` the pulls taken in without a place."""

    pulls: Array
    ours: Array
    included: Array
    groups: Array
    known: Array


class Offenders(NamedTuple):
    """Room for the terms not settled, their pulls, those among them to work on, and what each of these promises."""

    unsettled: Array
    pulls: Array
    found: Array
    promise: Array
    by_document: Array


@kernel
def no_offenders(model: Model) -> Offenders:
    """None."""
    n = len(model.terms)
    by_term, promise, by_document = np.empty(n), np.empty(n), np.empty(len(model.importance))
    return Offenders(np.empty(n, dtype=np.int32), by_term, np.empty(n, dtype=np.int32), promise, by_document)


@kernel
def no_pulls(matrix: Matrix, model: Model) -> LazyPulls:
    """Nothing taken in."""
    n_terms, size = len(model.sums), len(model.importance) + 2
    ours = np.zeros(n_terms)
    for i in model.members:
        for k in range(matrix.row_indptr[i], matrix.row_indptr[i + 1]):
            ours[matrix.row_indices[k]] += model.importance[i] * matrix.row_data[k]
    return LazyPulls(np.zeros(n_terms), ours, np.empty(size), np.zeros(2), np.full(1, 2))


@kernel
def take_in(matrix: Matrix, model: Model, documents: Documents, lazy: LazyPulls, threshold: float) -> float:
    """Bring the pulls up to date but for documents that moved by no more than the threshold.

    Gives the norm rho of what was left out: no term is off by more than rho times the norm of its column.
    """
    count = documents.filled[0]
    for place in range(lazy.known[0], count):
        group = OUTSIDE if documents.signs[place] < 0.0 else INSIDE
        lazy.included[place] = documents.importance[place] * lazy.groups[group]
    lazy.known[0] = count
    inside, outside = group_pulls(model, documents)
    inside_shift, outside_shift = inside - lazy.groups[INSIDE], outside - lazy.groups[OUTSIDE]
    lazy.groups[INSIDE], lazy.groups[OUTSIDE] = inside, outside
    _shift(lazy.pulls, model.sums, lazy.ours, inside_shift, outside_shift)
    return _take_rows(
        count, matrix.row_indptr, matrix.row_indices, matrix.row_data, documents.numbers, documents.signs,
        documents.importance, documents.pulls, inside_shift, outside_shift, threshold, lazy.pulls, lazy.included,
    )  # fmt: skip


@kernel
def _shift(pulls: Array, sums: Array, ours: Array, inside: float, outside: float) -> None:
    for j in range(len(pulls)):
        pulls[j] += outside * sums[j] + (inside - outside) * ours[j]


@kernel
def _take_rows(
    count: int,
    indptr: Array,
    indices: Array,
    data: Array,
    numbers: Array,
    signs: Array,
    importance: Array,
    pulls: Array,
    inside: float,
    outside: float,
    threshold: float,
    term_pulls: Array,
    included: Array,
) -> float:
    square = 0.0
    for place in range(2, count):
        included[place] += importance[place] * (outside if signs[place] < 0.0 else inside)
        move = pulls[place] - included[place]
        if abs(move) > threshold:
            i = numbers[place]
            for k in range(indptr[i], indptr[i + 1]):
                term_pulls[np.uint32(indices[k])] += move * data[k]
            included[place] = pulls[place]
        else:
            square += move * move
    return math.sqrt(square)


@kernel
def look(
    matrix: Matrix,
    model: Model,
    documents: Documents,
    lazy: LazyPulls,
    offenders: Offenders,
    weights: Array,
    threshold: float,
) -> tuple[int, int, float, float]:
    """Find the terms to work on; gives their number, that of those off their mode, the largest violation, and the cost.

    What is found is rough as long as the largest violation is surely one; pulls are exact otherwise.
    """
    rho = take_in(matrix, model, documents, lazy, threshold)
    count = _open_terms(
        model.terms, matrix.norms, model.penalty, weights, lazy.pulls, rho, offenders.unsettled, offenders.pulls
    )
    unsettled, pulls = offenders.unsettled[:count], offenders.pulls[:count]
    found, promise, norms = offenders.found, offenders.promise, matrix.norms
    size, moved, worst, norm, cost = _find(unsettled, norms, model.penalty, weights, pulls, found, promise)
    if rho * norm >= _DOUBTFUL * worst:
        exact_pulls(matrix, model, documents, unsettled, offenders.by_document, pulls)
        size, moved, worst, norm, cost = _find(unsettled, norms, model.penalty, weights, pulls, found, promise)
    return size, moved, worst, cost


@kernel
def _open_terms(
    terms: Array,
    norms: Array,
    penalty: Array,
    weights: Array,
    pulls: Array,
    rho: float,
    unsettled: Array,
    their_pulls: Array,
) -> int:
    """Write the terms that are off their mode or not sure to stay there, and their pulls; gives their number."""
    count = 0
    for place in range(len(terms)):
        j = terms[place]
        if abs(pulls[j]) + rho * norms[j] > penalty[L1, j] or weights[j] != penalty[MODE, j]:
            unsettled[count], their_pulls[count] = j, pulls[j]
            count += 1
    return count


@kernel
def exact_pulls(
    matrix: Matrix, model: Model, documents: Documents, terms: Array, by_document: Array, out: Array
) -> None:
    """Write the pulls of these terms; by_document is scratch."""
    inside, outside = group_pulls(model, documents)
    _scatter(documents.places, documents.pulls, model.importance, inside, outside, by_document)
    for place in range(len(terms)):
        j = terms[place]
        out[place] = column_dot(matrix.indptr[j], matrix.indptr[j + 1], matrix.indices, matrix.data, by_document)


@kernel
def _scatter(places: Array, pulls: Array, importance: Array, inside: float, outside: float, out: Array) -> None:
    for i in range(len(places)):
        place = places[i]
        out[i] = pulls[place] if place > OUTSIDE else importance[i] * (inside if place == INSIDE else outside)


@kernel
def _find(
    unsettled: Array, norms: Array, penalty: Array, weights: Array, pulls: Array, found: Array, promise: Array
) -> tuple[int, int, float, float, float]:
    """Write the terms that are off their mode or violate their conditions, and what each promises.

    Gives their number, that of those off their mode, the largest violation, the norm of its column, and the cost.
    """
    count, moved, worst, norm, cost = 0, 0, 0.0, 0.0, 0.0
    for place in range(len(unsettled)):
        j = unsettled[place]
        size = violation(penalty, j, weights[j], pulls[place])
        off = weights[j] != penalty[MODE, j]
        if off or size > 0.0:
            found[count], promise[count] = j, size / max(norms[j], 1e-12)
            if size > worst:
                worst, norm = size, norms[j]
            if off:
                cost += penalty_of(penalty, j, weights[j])
                moved += 1
            count += 1
    return count, moved, worst, norm, cost
