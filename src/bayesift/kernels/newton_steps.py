"""Newton steps on a working set of terms.

The quadratic model of the likelihood plus the exact penalty is minimised.

Coordinate descent minimises the model in one of two ways, and a line search follows. On the Gram
matrix X_W' H X_W of the set, from which the intercept is eliminated, it costs the square of the
entries of each document within the set. Along the columns of the set (Friedman et al.; Yuan, Ho &
Lin's newGLMNET) a pass costs the entries of the set twice, better for thousands of terms: beside
the step d it keeps Z d over the documents, where Z = H^(1/2) X_W, and a derivative is z_j' Z d. The
intercept is always at its best, at the cost of one number per change:

    c = (g_b - s' d) / total,   s = X_W' h,   total = sum_i h_i + its precision,
    g_b = minus its gradient

Documents of little curvature, a tenth of the total at most, count on the diagonal of the model
alone (also on that of the intercept, so that it stays positive definite): a metric for steps need
not be exact, and such documents are many.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.compile import kernel
from bayesift.kernels.entries import Entries
from bayesift.kernels.linear import L2, MODE, best_weight, column_dot, penalty_of, violation

FLAT = 1e-10  # added to curvatures, so that a flat direction has a step
_PASSES, _SHORT_PASSES = 20, 10  # over all weights, and after each over those off their mode
_SHORT_COLUMN_PASSES = 6  # the same along columns


def least_curvature(curvatures: FloatArray, share: float) -> float:
    """Return the curvature below which documents hold this share of the total at most."""
    ordered = np.sort(curvatures)
    sums = np.cumsum(ordered)
    return float(
        ordered[min(np.searchsorted(sums, share * sums[-1], side="right"), len(sums) - 1)]
    )


@kernel
def gram(
    row_starts: IntArray,
    row_columns: IntArray,
    row_values: FloatArray,
    curvatures: FloatArray,
    least: float,
    out: Array,
    sums: FloatArray,
) -> None:
    """Add the lower half of X_W' H X_W to out (its rows one after another), and X_W' h to sums.

    Documents of less curvature than `least` count on the diagonal alone. Unsigned indices need no
    test of their sign.
    """
    size = np.uint64(len(sums))
    for i in range(len(row_starts) - 1):
        h, first, last = curvatures[i], np.uint64(row_starts[i]), np.uint64(row_starts[i + 1])
        if h < least:
            for k in range(first, last):
                out[np.uint64(row_columns[k]) * (size + np.uint64(1))] += (
                    h * row_values[k] * row_values[k]
                )
            continue
        for k in range(first, last):
            row, scaled = np.uint64(row_columns[k]), h * row_values[k]
            sums[row] += scaled
            for other in range(first, k + np.uint64(1)):
                out[row * size + np.uint64(row_columns[other])] += scaled * row_values[other]


@kernel
def complete_gram(matrix: Array, sums: FloatArray, total: float) -> None:
    """Eliminate the intercept (if total > 0) and fill the upper half, tile by tile."""
    size, tile = len(sums), 32
    for first in range(0, size, tile):
        for second in range(0, first + 1, tile):
            for j in range(first, min(first + tile, size)):
                share = sums[j] / total if total > 0.0 else 0.0
                for k in range(second, min(second + tile, j + 1)):
                    matrix[j, k] -= share * sums[k]
                    matrix[k, j] = matrix[j, k]


@kernel
def minimise_model(
    matrix: Array,
    chosen: IntArray,
    penalty: FloatArray,
    weights: FloatArray,
    step: FloatArray,
    neg_gradient: FloatArray,
    goal: float,
) -> None:
    """Minimise the quadratic model by coordinate descent.

    More passes are made over the weights off their mode than over all.
    """
    step[:] = 0.0
    for _ in range(_PASSES):
        for short in range(1 + _SHORT_PASSES):
            largest = 0.0
            for place in range(len(chosen)):
                j = chosen[place]
                now = weights[j] + step[place]
                if short > 0 and now == penalty[MODE, j]:
                    continue
                curvature = matrix[place, place] + FLAT
                change = best_weight(penalty, j, now, neg_gradient[place], curvature) - now
                if change != 0.0:
                    step[place] += change
                    for k in range(len(neg_gradient)):
                        neg_gradient[k] -= change * matrix[place, k]
                    largest = max(largest, abs(change) * (curvature + penalty[L2, j]))
            if largest <= goal:
                break
        if short == 0:
            return


@kernel
def move_scores(
    starts: IntArray,
    places: IntArray,
    values: FloatArray,
    step: FloatArray,
    common: float,
    direction: FloatArray,
    scores: FloatArray,
) -> None:
    """Write the change of every score and add it to the scores; by columns."""
    direction[:] = common
    for column in range(len(step)):
        change = step[column]
        if change != 0.0:
            for k in range(starts[column], starts[column + 1]):
                direction[np.uint32(places[k])] += values[k] * change
    for i in range(len(scores)):
        scores[i] += direction[i]


@kernel
def move_scores_by_rows(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    numbers: IntArray,
    steps: Array,
    common: float,
    direction: FloatArray,
    scores: FloatArray,
) -> None:
    """As `move_scores`, by rows of the whole matrix.

    `steps` has the step of every term. The first two are groups.
    """
    for place in range(len(scores)):
        move = common
        if place > 1:
            i = numbers[place]
            move += column_dot(indptr[i], indptr[i + 1], indices, data, steps)
        direction[place] = move
        scores[place] += move


@kernel
def cost_change(
    chosen: IntArray, penalty: FloatArray, weights: FloatArray, step: FloatArray, share: float
) -> float:
    """Return the change of the penalty for a share of the step."""
    change = 0.0
    for place in range(len(chosen)):
        j = chosen[place]
        change += penalty_of(penalty, j, weights[j] + share * step[place]) - penalty_of(
            penalty, j, weights[j]
        )
    return change


@kernel
def move_weights(
    chosen: IntArray, penalty: FloatArray, weights: FloatArray, step: FloatArray, share: float
) -> None:
    """Take a share of the step; a weight that rounding alone keeps off its mode is at its mode."""
    for place in range(len(chosen)):
        j = chosen[place]
        moved = weights[j] + share * step[place]
        rounding = 1e-15 * (abs(weights[j]) + abs(step[place]))
        weights[j] = penalty[MODE, j] if abs(moved - penalty[MODE, j]) <= rounding else moved


@kernel
def set_violation(
    starts: IntArray,
    places: IntArray,
    values: FloatArray,
    residuals: FloatArray,
    chosen: IntArray,
    penalty: FloatArray,
    weights: FloatArray,
    neg_gradient: FloatArray,
) -> float:
    """Write the gradient X_W' residuals; returns the largest violation within the set."""
    largest = 0.0
    for column in range(len(chosen)):
        gradient = column_dot(starts[column], starts[column + 1], places, values, residuals)
        neg_gradient[column] = gradient
        largest = max(
            largest, violation(penalty, chosen[column], weights[chosen[column]], gradient)
        )
    return largest


class WeighedColumns(NamedTuple):
    """Z by columns (`starts`, `places`, `scaled`) and sums over documents of each column.

    `squares`: of the entries of Z; `rest`: h x^2 of documents that count on the diagonal alone;
    `sums`: h x.
    """

    starts: IntArray
    places: IntArray
    scaled: FloatArray
    squares: FloatArray
    rest: FloatArray
    sums: FloatArray


class InterceptModel(NamedTuple):
    """The curvature of the intercept (0 without one), and minus its gradient."""

    total: float
    neg_gradient: float


@kernel
def weigh_columns(
    columns: Entries,
    chosen: IntArray,
    curvatures: FloatArray,
    slots: IntArray,
    weighed: WeighedColumns,
) -> None:
    """Write Z by columns, the squares of its columns' norms, and X_W' h.

    Z is in single precision, which is enough for a metric. By document: `slots`, its row of Z, or
    -1 if it counts on the diagonal alone (`rest`); `curvatures`, or their roots where there is a
    row.
    """
    indptr, indices, data = columns
    starts, places, scaled, squares, rest, sums = weighed
    count = 0
    for column in range(len(chosen)):
        j = chosen[column]
        square, little, total = 0.0, 0.0, 0.0
        starts[column] = count
        for k in range(indptr[j], indptr[j + 1]):
            i = np.uint32(indices[k])
            slot, h = slots[i], curvatures[i]
            if slot >= 0:
                value = data[k] * h
                places[count], scaled[count] = slot, value
                square += value * value
                total += value * h
                count += 1
            else:
                little += h * data[k] * data[k]
        squares[column], rest[column], sums[column] = square, little, total
    starts[len(chosen)] = count


@kernel
def minimise_by_columns(
    chosen: IntArray,
    weighed: WeighedColumns,
    neg_gradient: FloatArray,
    intercept: InterceptModel,
    penalty: FloatArray,
    weights: FloatArray,
    step: FloatArray,
    moved: Array,
    goal: float,
    rounds: int,
) -> int:
    """Coordinate descent, with more passes over the weights off their mode than over all.

    Writes step and Z step (`moved`). Returns the number of passes.
    """
    starts, places, scaled, squares, rest, sums = weighed
    total, neg_bias_gradient = intercept
    share = 1.0 / total if total > 0.0 else 0.0
    common, passes = neg_bias_gradient * share, 0
    for _ in range(rounds):
        for short in range(1 + _SHORT_COLUMN_PASSES):
            largest = 0.0
            for column in range(len(chosen)):
                j = chosen[column]
                now = weights[j] + step[column]
                if short > 0 and now == penalty[MODE, j]:
                    continue
                first, last = starts[column], starts[column + 1]
                left = neg_gradient[column] - column_dot(first, last, places, scaled, moved)
                left -= rest[column] * step[column] + (
                    sums[column] * common if share > 0.0 else 0.0
                )
                curvature = (
                    squares[column] + rest[column] - share * sums[column] * sums[column] + FLAT
                )
                change = best_weight(penalty, j, now, left, curvature) - now
                if change != 0.0:
                    step[column] += change
                    common -= change * share * sums[column]
                    for k in range(first, last):
                        moved[np.uint32(places[k])] += change * scaled[k]
                    largest = max(largest, abs(change) * (curvature + penalty[L2, j]))
            passes += 1
            if largest <= goal:
                break
        if short == 0:
            break
    return passes
