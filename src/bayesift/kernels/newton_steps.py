"""Newton steps on a working set of terms.

A step minimises the quadratic model of the likelihood plus the exact penalty by coordinate descent on the Gram matrix
X_W' H X_W of the set, from which the intercept has been eliminated, then searches along the line. Cost: one pass over
the documents, one over the entries of the set, and for a new Gram matrix the square of the entries of each document
within the set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.linear import (
    CENTRE,
    FREE,
    L2,
    MODE,
    PRECISION,
    best_weight,
    differentiate,
    penalty_of,
    violation,
)

Array = np.ndarray[Any, Any]

_ENOUGH_DECREASE = 1e-4
_LITTLE = 0.1
_FLAT = 1e-10  # added to curvatures, so that a flat direction has a step


@kernel
def rows_of_set(
    indptr: Array,
    indices: Array,
    data: Array,
    chosen: Array,
    documents: Array,
    starts: Array,
    columns: Array,
    values: Array,
) -> int:
    """Write the columns of the working set as compressed rows of the documents that hold any; gives their number.

    documents gets the documents of the rows; starts has room for one entry more than there are documents.
    """
    starts[:] = 0
    for place in range(len(chosen)):
        for k in range(indptr[chosen[place]], indptr[chosen[place] + 1]):
            starts[indices[k] + 1] += 1
    for i in range(len(starts) - 1):
        starts[i + 1] += starts[i]
    for place in range(len(chosen)):
        for k in range(indptr[chosen[place]], indptr[chosen[place] + 1]):
            i = indices[k]
            columns[starts[i]] = place
            values[starts[i]] = data[k]
            starts[i] += 1
    for i in range(len(starts) - 1, 0, -1):
        starts[i] = starts[i - 1]
    starts[0] = 0
    count = 0
    for i in range(len(documents)):
        if starts[i + 1] > starts[i]:
            documents[count], starts[count] = i, starts[i]
            count += 1
    starts[count] = len(values)
    return count


@kernel
def set_pulls(documents: Array, starts: Array, columns: Array, values: Array, pulls: Array, out: Array) -> None:
    """Write the pulls of the terms of the set."""
    out[:] = 0.0
    for i in range(len(documents)):
        pull = pulls[documents[i]]
        for k in range(starts[i], starts[i + 1]):
            out[columns[k]] += values[k] * pull


@kernel
def gram(
    documents: Array, starts: Array, columns: Array, values: Array, curvatures: Array, out: Array, sums: Array
) -> float:
    """Write the lower half of X_W' H X_W, and X_W' h; gives the sum of h.

    Documents of little curvature, a tenth of it all together at most, count on the diagonal alone (that of the
    intercept too, so that the whole stays positive definite): a metric for steps need not be exact.
    """
    out[:] = 0.0
    sums[:] = 0.0
    total: float = curvatures.sum()
    least = _LITTLE * total / len(curvatures)
    for i in range(len(documents)):
        h = curvatures[documents[i]]
        if h < least:
            for k in range(starts[i], starts[i + 1]):
                out[columns[k], columns[k]] += h * values[k] * values[k]
            continue
        for k in range(starts[i], starts[i + 1]):
            row, scaled = columns[k], h * values[k]
            sums[row] += scaled
            for other in range(starts[i], k + 1):
                out[row, columns[other]] += scaled * values[other]
    return total


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
    matrix: Array, chosen: Array, penalty: Array, weights: Array, step: Array, slack: Array, goal: float, passes: int
) -> None:
    """Coordinate descent on the quadratic model, with more passes over the weights off their mode than over all."""
    step[:] = 0.0
    for _ in range(passes):
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
    documents: Array,
    starts: Array,
    columns: Array,
    values: Array,
    step: Array,
    common: float,
    direction: Array,
    scores: Array,
) -> None:
    """Write the change of every score, and add it."""
    direction[:] = common
    for i in range(len(documents)):
        total = common
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * step[columns[k]]
        direction[documents[i]] = total
    for i in range(len(scores)):
        scores[i] += direction[i]


@inlined
def intercept_pull(intercept: Array, bias: float, pulls: Array) -> float:
    """Minus the derivative of the objective for the intercept."""
    if intercept[FREE] == 0.0:
        return 0.0
    pull: float = pulls.sum() - intercept[PRECISION] * (bias - intercept[CENTRE])
    return pull


@inlined
def intercept_penalty(intercept: Array, bias: float) -> float:
    """The cost Q of the intercept."""
    cost: float = 0.5 * intercept[PRECISION] * (bias - intercept[CENTRE]) ** 2
    return cost


@kernel
def reduced_gram(
    documents: Array,
    starts: Array,
    columns: Array,
    values: Array,
    curvatures: Array,
    intercept: Array,
    matrix: Array,
    sums: Array,
) -> float:
    """Write the Gram matrix with the intercept, which follows the weights at its best, taken out."""
    total: float = gram(documents, starts, columns, values, curvatures, matrix, sums) + intercept[PRECISION]
    complete(matrix, sums, total if intercept[FREE] != 0.0 else 0.0)
    return total


@kernel
def newton_step(
    documents: Array,
    starts: Array,
    columns: Array,
    values: Array,
    chosen: Array,
    matrix: Array,
    sums: Array,
    set_pull: Array,
    slack: Array,
    step: Array,
    direction: Array,
    signs: Array,
    importance: Array,
    link: int,
    parameters: Array,
    penalty: Array,
    intercept: Array,
    weights: Array,
    bias: Array,
    scores: Array,
    pulls: Array,
    curvatures: Array,
    loss: float,
    total: float,
    goal: float,
    cautious: bool,
) -> float:
    """One step on the working set by its reduced Gram matrix; gives the new loss (the likelihood part)."""
    pull = intercept_pull(intercept, bias[0], pulls)
    for place in range(len(chosen)):
        slack[place] = set_pull[place] - (sums[place] / total * pull if pull != 0.0 else 0.0)
    minimise_model(matrix, chosen, penalty, weights, step, slack, goal, 20)
    common = (pull - np.dot(sums, step)) / total if intercept[FREE] != 0.0 and total > 0.0 else 0.0
    gain = pull * common  # minus the directional derivative, with the whole change of the penalty
    before, after = intercept_penalty(intercept, bias[0]), intercept_penalty(intercept, bias[0] + common)
    gain -= after - before - intercept[PRECISION] * (bias[0] - intercept[CENTRE]) * common
    for place in range(len(chosen)):
        j = chosen[place]
        gain += set_pull[place] * step[place]
        gain -= penalty_of(penalty, j, weights[j] + step[place]) - penalty_of(penalty, j, weights[j])
    move(documents, starts, columns, values, step, common, direction, scores)
    return _search(
        chosen, step, common, direction, signs, importance, link, parameters, penalty, intercept,
        weights, bias, scores, pulls, curvatures, loss, gain, cautious,
    )  # fmt: skip


@kernel
def _search(
    chosen: Array,
    step: Array,
    common: float,
    direction: Array,
    signs: Array,
    importance: Array,
    link: int,
    parameters: Array,
    penalty: Array,
    intercept: Array,
    weights: Array,
    bias: Array,
    scores: Array,
    pulls: Array,
    curvatures: Array,
    loss: float,
    gain: float,
    cautious: bool,
) -> float:
    """Halve the step until the objective falls enough; gives the new loss."""
    share, new_loss = 1.0, loss
    for _ in range(60):
        new_loss = differentiate(link, parameters, signs, importance, scores, pulls, curvatures, cautious)
        change = new_loss - loss
        change += intercept_penalty(intercept, bias[0] + share * common) - intercept_penalty(intercept, bias[0])
        for place in range(len(chosen)):
            j = chosen[place]
            change += penalty_of(penalty, j, weights[j] + share * step[place]) - penalty_of(penalty, j, weights[j])
        if change <= -_ENOUGH_DECREASE * share * max(gain, 0.0) + 1e-14 * abs(loss):
            break
        share *= 0.5
        for i in range(len(scores)):
            scores[i] -= share * direction[i]
    for place in range(len(chosen)):
        j = chosen[place]
        moved = weights[j] + share * step[place]
        rounding = 1e-15 * (abs(weights[j]) + abs(step[place]))
        weights[j] = penalty[MODE, j] if abs(moved - penalty[MODE, j]) <= rounding else moved
    bias[0] += share * common
    return new_loss


@kernel
def set_violation(chosen: Array, penalty: Array, weights: Array, set_pull: Array) -> float:
    """The largest violation within the set."""
    largest = 0.0
    for place in range(len(chosen)):
        largest = max(largest, violation(penalty, chosen[place], weights[chosen[place]], set_pull[place]))
    return largest
