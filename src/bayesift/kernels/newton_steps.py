"""Newton steps on a working set of terms: the quadratic model of the likelihood plus the exact penalty, minimised.

Coordinate descent minimises the model in one of two ways, and a line search follows. On the Gram matrix X_W' H X_W of
the set, from which the intercept is eliminated, it costs the square of the entries of each document within the set.
Along the columns of the set (Friedman et al.; Yuan, Ho & Lin's newGLMNET) a pass costs the entries of the set twice,
better for thousands of terms: beside the step d it keeps Z d over the documents, where Z = H^(1/2) X_W, and a
derivative is z_j' Z d. The intercept is always at its best, at the cost of one number per change:

    c = (g_b - s' d) / total,     s = X_W' h,     total = sum_i h_i + its precision,     g_b = minus its gradient
"""

from __future__ import annotations

import numpy as np

from bayesift.arrays import Array
from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.documents import Documents, Model, WorkingSet, evaluate
from bayesift.kernels.linear import (
    CENTRE,
    FREE,
    L2,
    MODE,
    PRECISION,
    best_weight,
    column_dot,
    intercept_neg_gradient,
    intercept_penalty,
    penalty_of,
    violation,
)

_ENOUGH_DECREASE = 1e-4
_LITTLE = 0.1
FLAT = 1e-10  # added to curvatures, so that a flat direction has a step
_PASSES = 20
_COLUMN_PASSES, _SHORT_PASSES = 3, 6  # over all weights, and after each over those off their mode


@kernel
def column_sums(starts: Array, places: Array, values: Array, factors: Array, out: Array) -> None:
    """Write X_W' factors."""
    for column in range(len(out)):
        out[column] = column_dot(starts[column], starts[column + 1], places, values, factors)


@kernel
def gram(
    row_starts: Array, row_columns: Array, row_values: Array, curvatures: Array, least: float, out: Array, sums: Array
) -> None:
    """Add the lower half of X_W' H X_W to out (its rows one after another), and X_W' h to sums.

    Documents of less curvature than `least` count on the diagonal alone. Unsigned indices need no test of their sign.
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
def complete_gram(matrix: Array, sums: Array, total: float) -> None:
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
def reduced_gram(model: Model, documents: Documents, terms: WorkingSet, matrix: Array) -> float:
    """Write the Gram matrix with the intercept eliminated; returns the curvature of the intercept.

    Documents of little curvature, at most a tenth of the total, count on the diagonal alone (also of the intercept, so
    that the matrix stays positive definite): a metric for steps need not be exact.
    """
    total: float = documents.curvatures[: documents.filled[0]].sum()
    least = _LITTLE * total / len(model.importance)
    matrix[:] = 0.0
    terms.sums[:] = 0.0
    flat = matrix.reshape(matrix.size)
    gram(terms.row_starts, terms.row_columns, terms.row_values, documents.curvatures, least, flat, terms.sums)
    total += model.intercept[PRECISION]
    complete_gram(matrix, terms.sums, total if model.intercept[FREE] != 0.0 else 0.0)
    return total


@inlined
def _step_of(
    place: int, matrix: Array, chosen: Array, penalty: Array, weights: Array, step: Array, neg_gradient: Array
) -> float:
    """Minimise the model over one weight; returns the size of the change of its derivative."""
    j = chosen[place]
    curvature = matrix[place, place] + FLAT
    now = weights[j] + step[place]
    change = best_weight(penalty, j, now, neg_gradient[place], curvature) - now
    if change == 0.0:
        return 0.0
    step[place] += change
    for k in range(len(neg_gradient)):
        neg_gradient[k] -= change * matrix[place, k]
    size: float = abs(change) * (curvature + penalty[L2, j])
    return size


@kernel
def minimise_model(
    matrix: Array, chosen: Array, penalty: Array, weights: Array, step: Array, neg_gradient: Array, goal: float
) -> None:
    """Coordinate descent on the quadratic model, with more passes over the weights off their mode than over all."""
    step[:] = 0.0
    for _ in range(_PASSES):
        largest = 0.0
        for place in range(len(chosen)):
            largest = max(largest, _step_of(place, matrix, chosen, penalty, weights, step, neg_gradient))
        if largest <= goal:
            return
        for _ in range(10):
            largest = 0.0
            for place in range(len(chosen)):
                j = chosen[place]
                if weights[j] + step[place] != penalty[MODE, j]:
                    largest = max(largest, _step_of(place, matrix, chosen, penalty, weights, step, neg_gradient))
            if largest <= goal:
                break


@kernel
def move_scores(
    starts: Array, places: Array, values: Array, step: Array, common: float, direction: Array, scores: Array
) -> None:
    """Write the change of every score and add it to the scores."""
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
    """One step on the working set by its reduced Gram matrix; returns the new loss (the likelihood part)."""
    step = terms.step
    neg_bias_gradient = intercept_neg_gradient(model.intercept, bias[0], documents.residuals[: documents.filled[0]])
    for place in range(len(step)):
        eliminated = terms.sums[place] / total * neg_bias_gradient if neg_bias_gradient != 0.0 else 0.0
        terms.neg_model_gradient[place] = terms.neg_gradient[place] - eliminated
    minimise_model(matrix, terms.chosen, model.penalty, weights, step, terms.neg_model_gradient, goal)
    return line_search_step(model, documents, terms, total, weights, bias, loss, neg_bias_gradient, cautious)


@kernel
def line_search_step(
    model: Model,
    documents: Documents,
    terms: WorkingSet,
    total: float,
    weights: Array,
    bias: Array,
    loss: float,
    neg_bias_gradient: float,
    cautious: bool,
) -> float:
    """Search along the step of a working set and the best step of the intercept with it; returns the new loss."""
    n, penalty, intercept, step = documents.filled[0], model.penalty, model.intercept, terms.step
    common = (neg_bias_gradient - np.dot(terms.sums, step)) / total if intercept[FREE] != 0.0 and total > 0.0 else 0.0
    gain = neg_bias_gradient * common  # minus the directional derivative, with the whole change of the penalty
    before, after = intercept_penalty(intercept, bias[0]), intercept_penalty(intercept, bias[0] + common)
    gain -= after - before - intercept[PRECISION] * (bias[0] - intercept[CENTRE]) * common
    gain += np.dot(terms.neg_gradient, step) - _cost_change(terms.chosen, penalty, weights, step, 1.0)
    move_scores(terms.starts, terms.places, terms.values, step, common, documents.direction[:n], documents.scores[:n])
    return _line_search(model, documents, terms, weights, bias, common, loss, gain, cautious)


@kernel
def _cost_change(chosen: Array, penalty: Array, weights: Array, step: Array, share: float) -> float:
    """The change of the penalty for a share of the step."""
    change = 0.0
    for place in range(len(chosen)):
        j = chosen[place]
        change += penalty_of(penalty, j, weights[j] + share * step[place]) - penalty_of(penalty, j, weights[j])
    return change


@kernel
def _line_search(
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
    """Halve the step until the objective decreases enough (Armijo); returns the new loss."""
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
def gram_pairs(counts: Array) -> int:
    """How many products a Gram matrix sums, by the number of entries in each row."""
    pairs = 0
    for held in counts:
        pairs += held * (held + 1) // 2
    return pairs


@kernel
def set_violation(chosen: Array, penalty: Array, weights: Array, neg_gradient: Array) -> float:
    """The largest violation within the set."""
    largest = 0.0
    for place in range(len(chosen)):
        largest = max(largest, violation(penalty, chosen[place], weights[chosen[place]], neg_gradient[place]))
    return largest


@kernel
def weigh_columns(
    starts: Array,
    places: Array,
    values: Array,
    curvatures: Array,
    roots: Array,
    out: Array,
    squares: Array,
    sums: Array,
) -> None:
    """Write Z, the squares of its columns' norms, and X_W' h; `roots` is scratch."""
    for i in range(len(roots)):
        roots[i] = np.sqrt(curvatures[i])
    for column in range(len(sums)):
        square, total = 0.0, 0.0
        for k in range(starts[column], starts[column + 1]):
            root = roots[np.uint32(places[k])]
            scaled = values[k] * root
            out[k] = scaled
            square += scaled * scaled
            total += scaled * root
        squares[column], sums[column] = square, total


@inlined
def _improve_weight(
    column: int,
    starts: Array,
    places: Array,
    scaled: Array,
    squares: Array,
    shares: Array,
    neg_gradient: Array,
    sums: Array,
    penalty: Array,
    j: int,
    weight: float,
    step: Array,
    moved: Array,
    common: Array,
) -> float:
    """Minimise the model over one weight; returns the size of the change of its derivative."""
    first, last = starts[column], starts[column + 1]
    left = neg_gradient[column] - column_dot(first, last, places, scaled, moved) - sums[column] * common[0]
    curvature = squares[column] - shares[column] * sums[column] + FLAT
    now = weight + step[column]
    change = best_weight(penalty, j, now, left, curvature) - now
    if change == 0.0:
        return 0.0
    step[column] += change
    common[0] -= change * shares[column]
    for k in range(first, last):
        moved[np.uint32(places[k])] += change * scaled[k]
    size: float = abs(change) * (curvature + penalty[L2, j])
    return size


@kernel
def minimise_by_columns(
    chosen: Array,
    starts: Array,
    places: Array,
    scaled: Array,
    squares: Array,
    shares: Array,
    neg_gradient: Array,
    sums: Array,
    penalty: Array,
    weights: Array,
    step: Array,
    moved: Array,
    common: Array,
    goal: float,
) -> None:
    """Coordinate descent, with more passes over the weights off their mode than over all; writes step and Z step."""
    for _ in range(_COLUMN_PASSES):
        for short in range(1 + _SHORT_PASSES):
            largest = 0.0
            for column in range(len(chosen)):
                j = chosen[column]
                if short == 0 or weights[j] + step[column] != penalty[MODE, j]:
                    size = _improve_weight(
                        column, starts, places, scaled, squares, shares, neg_gradient, sums, penalty, j, weights[j],
                        step, moved, common,
                    )  # fmt: skip
                    largest = max(largest, size)
            if largest <= goal:
                break
        if short == 0:
            return


@kernel
def column_step(
    model: Model,
    documents: Documents,
    terms: WorkingSet,
    scaled: Array,
    weights: Array,
    bias: Array,
    loss: float,
    goal: float,
    cautious: bool,
) -> float:
    """One step on the working set along its columns; returns the new loss. `scaled` has room for Z."""
    n, size, intercept = documents.filled[0], len(terms.chosen), model.intercept
    squares, moved = np.empty(size), np.zeros(n)
    weigh_columns(
        terms.starts, terms.places, terms.values, documents.curvatures, documents.direction[:n], scaled, squares,
        terms.sums,
    )  # fmt: skip
    total = documents.curvatures[:n].sum() + intercept[PRECISION]
    free = intercept[FREE] != 0.0 and total > 0.0
    shares = terms.sums / total if free else np.zeros(size)
    neg_bias_gradient = intercept_neg_gradient(intercept, bias[0], documents.residuals[:n])
    common = np.array([neg_bias_gradient / total if free else 0.0])
    terms.step[:] = 0.0
    minimise_by_columns(
        terms.chosen, terms.starts, terms.places, scaled, squares, shares, terms.neg_gradient,
        terms.sums if free else shares, model.penalty, weights, terms.step, moved, common, goal,
    )  # fmt: skip
    return line_search_step(model, documents, terms, total, weights, bias, loss, neg_bias_gradient, cautious)
