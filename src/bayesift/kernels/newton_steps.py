"""Newton steps on a working set of terms.

A step minimises the quadratic model of the likelihood plus the exact penalty by coordinate descent on the Gram matrix
X_W' H X_W of the set, from which the intercept has been eliminated, then searches along the line. Cost: one pass over
the documents with a place (`bayesift.kernels.documents`), two over the entries of the set, and for a new Gram matrix
the square of the entries of each document within the set.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.documents import Documents, Matrix, Model, evaluate, single_out
from bayesift.kernels.linear import (
    CENTRE,
    FREE,
    L2,
    MODE,
    PRECISION,
    best_weight,
    column_dot,
    intercept_penalty,
    intercept_pull,
    penalty_of,
    violation,
)

Array = np.ndarray[Any, Any]

_ENOUGH_DECREASE = 1e-4
_LITTLE = 0.1
_FLAT = 1e-10  # added to curvatures, so that a flat direction has a step
_PASSES = 20


class WorkingSet(NamedTuple):
    """Columns (starts, places, values) and rows (row_starts, row_columns, row_values) of the terms `chosen`.

    Documents go by their places. The vectors are the pulls of the terms, the derivatives of the model (slack), the
    step, and X_W' h (sums).
    """

    chosen: Array
    starts: Array
    places: Array
    values: Array
    row_starts: Array
    row_columns: Array
    row_values: Array
    pulls: Array
    slack: Array
    step: Array
    sums: Array


@kernel
def working_set(matrix: Matrix, model: Model, documents: Documents, chosen: Array) -> WorkingSet:
    """The entries of a set of terms, whose documents get places."""
    single_out(matrix, model, documents, chosen)
    size, count = len(chosen), documents.filled[0]
    starts = np.zeros(size + 1, dtype=np.int64)
    for column in range(size):
        starts[column + 1] = starts[column] + matrix.indptr[chosen[column] + 1] - matrix.indptr[chosen[column]]
    entries = starts[size]
    places, row_columns = np.empty(entries, dtype=np.int32), np.empty(entries, dtype=np.int32)
    values, row_values, row_starts = np.empty(entries), np.empty(entries), np.zeros(count + 1, dtype=np.int64)
    _copy_columns(matrix.indptr, matrix.indices, matrix.data, chosen, documents.places, starts, places, values)
    _transpose(starts, places, values, row_starts, row_columns, row_values)
    pulls, slack, step, sums = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    return WorkingSet(chosen, starts, places, values, row_starts, row_columns, row_values, pulls, slack, step, sums)


@kernel
def _copy_columns(
    indptr: Array,
    indices: Array,
    data: Array,
    chosen: Array,
    places_of: Array,
    starts: Array,
    places: Array,
    values: Array,
) -> None:
    for column in range(len(chosen)):
        shift = starts[column] - indptr[chosen[column]]
        for k in range(indptr[chosen[column]], indptr[chosen[column] + 1]):
            places[k + shift] = places_of[indices[k]]
            values[k + shift] = data[k]


@kernel
def _transpose(
    starts: Array, places: Array, values: Array, row_starts: Array, row_columns: Array, row_values: Array
) -> None:
    for k in range(len(places)):
        row_starts[np.uint32(places[k]) + 1] += 1
    for i in range(len(row_starts) - 1):
        row_starts[i + 1] += row_starts[i]
    for column in range(len(starts) - 1):
        for k in range(starts[column], starts[column + 1]):
            place = np.uint32(places[k])
            rank = np.uint64(row_starts[place])
            row_columns[rank], row_values[rank] = column, values[k]
            row_starts[place] += 1
    for i in range(len(row_starts) - 1, 0, -1):
        row_starts[i] = row_starts[i - 1]
    row_starts[0] = 0


@kernel
def column_sums(starts: Array, places: Array, values: Array, factors: Array, out: Array) -> None:
    """Write X_W' factors."""
    for column in range(len(out)):
        out[column] = column_dot(starts[column], starts[column + 1], places, values, factors)


@kernel
def gram(
    row_starts: Array,
    row_columns: Array,
    row_values: Array,
    curvatures: Array,
    least: float,
    out: Array,
    sums: Array,
) -> None:
    """Add the lower half of X_W' H X_W to out (its rows one after another), and X_W' h to sums.

    Documents of less curvature than the least count on the diagonal alone. Unsigned numbers spare Numba the question
    whether an index counts from the end.
    """
    size = np.uint64(len(sums))
    for i in range(len(row_starts) - 1):
        h, first, last = curvatures[i], np.uint64(row_starts[i]), np.uint64(row_starts[i + 1])
        if h < least:
            for k in range(first, last):
                out[np.uint64(row_columns[k]) * (size + np.uint64(1))] += h * row_values[k] * row_values[k]
            continue
        for k in range(first, last):
            row, scaled = np.uint64(row_columns[k]), h * row_values[k]
            sums[row] += scaled
            for other in range(first, k + np.uint64(1)):
                out[row * size + np.uint64(row_columns[other])] += scaled * row_values[other]


@kernel
def complete(matrix: Array, sums: Array, total: float) -> None:
    """Fill the upper half, less what the intercept (if total > 0) takes over; tile by tile."""
    size, tile = len(sums), 32
    for first in range(0, size, tile):
        for second in range(0, first + 1, tile):
            for j in range(first, min(first + tile, size)):
                share = sums[j] / total if total > 0.0 else 0.0
                for k in range(second, min(second + tile, j + 1)):
                    matrix[j, k] -= share * sums[k]
                    matrix[k, j] = matrix[j, k]


@kernel
def reduced_gram(model: Model, documents: Documents, terms: WorkingSet, matrix: Array) -> float:
    """Write the Gram matrix with the intercept, which follows the weights at its best, taken out; gives its curvature.

    Documents of little curvature, a tenth of it all together at most, count on the diagonal alone (that of the
    intercept too, so that the whole stays positive definite): a metric for steps need not be exact.
    """
    total: float = documents.curvatures[: documents.filled[0]].sum()
    least = _LITTLE * total / len(model.importance)
    matrix[:] = 0.0
    terms.sums[:] = 0.0
    flat = matrix.reshape(matrix.size)
    gram(terms.row_starts, terms.row_columns, terms.row_values, documents.curvatures, least, flat, terms.sums)
    total += model.intercept[PRECISION]
    complete(matrix, terms.sums, total if model.intercept[FREE] != 0.0 else 0.0)
    return total


@inlined
def _step_of(
    place: int, matrix: Array, chosen: Array, penalty: Array, weights: Array, step: Array, slack: Array
) -> float:
    """Minimise the model over one weight; gives the size of the change of its derivative."""
    j = chosen[place]
    curvature = matrix[place, place] + _FLAT
    now = weights[j] + step[place]
    change = best_weight(penalty, j, now, slack[place], curvature) - now
    if change == 0.0:
        return 0.0
    step[place] += change
    for k in range(len(slack)):
        slack[k] -= change * matrix[place, k]
    size: float = abs(change) * (curvature + penalty[L2, j])
    return size


@kernel
def minimise_model(
    matrix: Array, chosen: Array, penalty: Array, weights: Array, step: Array, slack: Array, goal: float
) -> None:
    """Coordinate descent on the quadratic model, with more passes over the weights off their mode than over all."""
    step[:] = 0.0
    for _ in range(_PASSES):
        largest = 0.0
        for place in range(len(chosen)):
            largest = max(largest, _step_of(place, matrix, chosen, penalty, weights, step, slack))
        if largest <= goal:
            return
        for _ in range(10):
            largest = 0.0
            for place in range(len(chosen)):
                j = chosen[place]
                if weights[j] + step[place] != penalty[MODE, j]:
                    largest = max(largest, _step_of(place, matrix, chosen, penalty, weights, step, slack))
            if largest <= goal:
                break


@kernel
def move(
    starts: Array, places: Array, values: Array, step: Array, common: float, direction: Array, scores: Array
) -> None:
    """Write the change of every score, and add it."""
    direction[:] = common
    for column in range(len(step)):
        change = step[column]
        if change != 0.0:
            for k in range(starts[column], starts[column + 1]):
                direction[np.uint32(places[k])] += values[k] * change
    for i in range(len(scores)):
        scores[i] += direction[i]


@kernel
def newton_step(
    model: Model,
    documents: Documents,
    terms: WorkingSet,
    matrix: Array,
    total: float,
    weights: Array,
    bias: Array,
    loss: float,
    goal: float,
    cautious: bool,
) -> float:
    """One step on the working set by its reduced Gram matrix; gives the new loss (the likelihood part)."""
    n, penalty, intercept, step = documents.filled[0], model.penalty, model.intercept, terms.step
    pull = intercept_pull(intercept, bias[0], documents.pulls[:n])
    for place in range(len(step)):
        terms.slack[place] = terms.pulls[place] - (terms.sums[place] / total * pull if pull != 0.0 else 0.0)
    minimise_model(matrix, terms.chosen, penalty, weights, step, terms.slack, goal)
    common = (pull - np.dot(terms.sums, step)) / total if intercept[FREE] != 0.0 and total > 0.0 else 0.0
    gain = pull * common  # minus the directional derivative, with the whole change of the penalty
    before, after = intercept_penalty(intercept, bias[0]), intercept_penalty(intercept, bias[0] + common)
    gain -= after - before - intercept[PRECISION] * (bias[0] - intercept[CENTRE]) * common
    gain += np.dot(terms.pulls, step) - _cost_change(terms.chosen, penalty, weights, step, 1.0)
    move(terms.starts, terms.places, terms.values, step, common, documents.direction[:n], documents.scores[:n])
    return _search(model, documents, terms, weights, bias, common, loss, gain, cautious)


@kernel
def _cost_change(chosen: Array, penalty: Array, weights: Array, step: Array, share: float) -> float:
    """By how much a share of the step raises the penalty."""
    change = 0.0
    for place in range(len(chosen)):
        j = chosen[place]
        change += penalty_of(penalty, j, weights[j] + share * step[place]) - penalty_of(penalty, j, weights[j])
    return change


@kernel
def _search(
    model: Model,
    documents: Documents,
    terms: WorkingSet,
    weights: Array,
    bias: Array,
    common: float,
    loss: float,
    gain: float,
    cautious: bool,
) -> float:
    """Halve the step until the objective falls enough; gives the new loss."""
    n, penalty, intercept = documents.filled[0], model.penalty, model.intercept
    share, new_loss = 1.0, loss
    for _ in range(60):
        new_loss = evaluate(model, documents, cautious)
        change = new_loss - loss + _cost_change(terms.chosen, penalty, weights, terms.step, share)
        change += intercept_penalty(intercept, bias[0] + share * common) - intercept_penalty(intercept, bias[0])
        if change <= -_ENOUGH_DECREASE * share * max(gain, 0.0) + 1e-14 * abs(loss):
            break
        share *= 0.5
        documents.scores[:n] -= share * documents.direction[:n]
    for place in range(len(terms.chosen)):
        j = terms.chosen[place]
        moved = weights[j] + share * terms.step[place]
        rounding = 1e-15 * (abs(weights[j]) + abs(terms.step[place]))
        weights[j] = penalty[MODE, j] if abs(moved - penalty[MODE, j]) <= rounding else moved
    bias[0] += share * common
    return new_loss


@kernel
def gram_cost(row_starts: Array) -> float:
    """What a Gram matrix costs, in passes over the entries of the set and twice the documents (a Newton step)."""
    pairs = 0
    for i in range(len(row_starts) - 1):
        held = row_starts[i + 1] - row_starts[i]
        pairs += held * (held + 1) // 2
    cost: float = pairs / (2.0 * len(row_starts) + row_starts[-1])
    return cost


@kernel
def set_violation(chosen: Array, penalty: Array, weights: Array, pulls: Array) -> float:
    """The largest violation within the set."""
    largest = 0.0
    for place in range(len(chosen)):
        largest = max(largest, violation(penalty, chosen[place], weights[chosen[place]], pulls[place]))
    return largest
