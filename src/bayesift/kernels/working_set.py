"""Proximal Newton on working sets: the mode of a linear model under any log-concave prior.

Each round looks at all terms (`lazy_pulls`), picks those off their mode and the worst offenders, and runs Newton steps
on them alone. A step minimises the quadratic model of the likelihood plus the exact penalty by coordinate descent on
the Gram matrix X_W' H X_W of the set, from which the intercept has been eliminated, then searches along the line.

Cost of a step: one pass over the documents, one over the entries of the set, and the square of the entries of each
document within the set. `scores`, `weights` and `bias` are updated in place.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.lazy_pulls import all_violations, take_in
from bayesift.kernels.linear import (
    CENTRE,
    FREE,
    L2,
    MODE,
    PRECISION,
    best_weight,
    differentiate,
    intercept_step,
    penalty_of,
    violation,
)

Array = np.ndarray[Any, Any]

_SMALLEST_SET = 16
_NEGLIGIBLE = 0.2  # of the scale of the prior, left out of the pulls of all terms
_GROWTH = 0.5  # of the working set a round
_SHARE = 48  # of the terms that violate their conditions at the start
_LARGEST_SET = 2500
_ENOUGH_DECREASE = 1e-4
_LITTLE = 0.1
_CAUTIOUS = 3  # rounds
_STEPS = 3  # a round
_SLOW = 0.25  # a step that leaves more than this share of the violation calls for a new Gram matrix
_FLAT = 1e-10  # added to curvatures, so that a flat direction has a step


@kernel
def pick(terms: Array, norms: Array, penalty: Array, weights: Array, violations: Array, size: int) -> Array:
    """The working set: all terms off their mode, and up to `size` others, those that promise the largest gain."""
    scores = np.empty(len(terms))
    moved = 0
    for place in range(len(terms)):
        scores[place] = violations[place] / max(norms[terms[place]], 1e-12)
        if weights[terms[place]] != penalty[MODE, terms[place]]:
            scores[place] = np.inf
            moved += 1
    if moved > _LARGEST_SET - size:
        for place in range(len(terms)):
            scores[place] = violations[place]
        moved = 0
        size = _LARGEST_SET
    wanted = min(moved + size, len(terms))
    cut = -1.0 if wanted == 0 else np.partition(scores, len(terms) - wanted)[len(terms) - wanted]
    chosen = np.empty(len(terms), dtype=np.int32)
    count = 0
    for place in range(len(terms)):
        if scores[place] >= cut and scores[place] > 0.0:
            chosen[count] = terms[place]
            count += 1
    return chosen[:count]


@kernel
def rows_of_set(
    indptr: Array, indices: Array, data: Array, chosen: Array, starts: Array, columns: Array, values: Array
) -> None:
    """Write the columns of the working set as compressed rows; starts has one entry more than there are documents."""
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


@kernel
def set_pulls(starts: Array, columns: Array, values: Array, pulls: Array, out: Array) -> None:
    """Write the pulls of the terms of the set."""
    out[:] = 0.0
    for i in range(len(pulls)):
        pull = pulls[i]
        for k in range(starts[i], starts[i + 1]):
            out[columns[k]] += values[k] * pull


@kernel
def gram(starts: Array, columns: Array, values: Array, curvatures: Array, out: Array, sums: Array) -> float:
    """Write the lower half of X_W' H X_W, and X_W' h; gives the sum of h.

    Documents of little curvature, a tenth of it all together at most, count on the diagonal alone (that of the
    intercept too, so that the whole stays positive definite): a metric for steps need not be exact.
    """
    out[:] = 0.0
    sums[:] = 0.0
    total = curvatures.sum()
    least = _LITTLE * total / len(curvatures)
    for i in range(len(curvatures)):
        h = curvatures[i]
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
    return abs(change) * (curvature + penalty[L2, j])


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
    starts: Array, columns: Array, values: Array, step: Array, common: float, direction: Array, scores: Array
) -> None:
    """Write the change of every score, and add it."""
    for i in range(len(scores)):
        total = common
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * step[columns[k]]
        direction[i] = total
        scores[i] += total


@inlined
def _intercept_pull(intercept: Array, bias: float, pulls: Array) -> float:
    if intercept[FREE] == 0.0:
        return 0.0
    return pulls.sum() - intercept[PRECISION] * (bias - intercept[CENTRE])


@inlined
def _intercept_penalty(intercept: Array, bias: float) -> float:
    return 0.5 * intercept[PRECISION] * (bias - intercept[CENTRE]) ** 2


@kernel
def reduced_gram(
    starts: Array, columns: Array, values: Array, curvatures: Array, intercept: Array, matrix: Array, sums: Array
) -> float:
    """Write the Gram matrix with the intercept, which follows the weights at its best, taken out."""
    total = gram(starts, columns, values, curvatures, matrix, sums) + intercept[PRECISION]
    complete(matrix, sums, total if intercept[FREE] != 0.0 else 0.0)
    return total


@kernel
def newton_step(
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
    pull = _intercept_pull(intercept, bias[0], pulls)
    for place in range(len(chosen)):
        slack[place] = set_pull[place] - (sums[place] / total * pull if pull != 0.0 else 0.0)
    minimise_model(matrix, chosen, penalty, weights, step, slack, goal, 20)
    common = (pull - np.dot(sums, step)) / total if intercept[FREE] != 0.0 and total > 0.0 else 0.0
    gain = pull * common  # minus the directional derivative, with the whole change of the penalty
    before, after = _intercept_penalty(intercept, bias[0]), _intercept_penalty(intercept, bias[0] + common)
    gain -= after - before - intercept[PRECISION] * (bias[0] - intercept[CENTRE]) * common
    for place in range(len(chosen)):
        j = chosen[place]
        gain += set_pull[place] * step[place]
        gain -= penalty_of(penalty, j, weights[j] + step[place]) - penalty_of(penalty, j, weights[j])
    move(starts, columns, values, step, common, direction, scores)
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
        change += _intercept_penalty(intercept, bias[0] + share * common) - _intercept_penalty(intercept, bias[0])
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


@kernel
def solve(
    indptr: Array,
    indices: Array,
    data: Array,
    row_indptr: Array,
    row_indices: Array,
    row_data: Array,
    norms: Array,
    rest: Array,
    terms: Array,
    signs: Array,
    importance: Array,
    link: int,
    parameters: Array,
    penalty: Array,
    intercept: Array,
    weights: Array,
    bias: Array,
    scores: Array,
    term_pulls: Array,
    included: Array,
    scale: float,
    tolerance: float,
    rounds: int,
    trace: Array,
    counts: Array,
) -> float:
    """Descend to the mode; gives the largest violation left. Writes the objective of each round to trace.

    counts gets the rounds and the Newton steps.
    """
    n_documents = len(signs)
    pulls, curvatures, direction = np.empty(n_documents), np.empty(n_documents), np.empty(n_documents)
    starts, violations = np.empty(n_documents + 1, dtype=np.int64), np.empty(len(terms))
    loss = differentiate(link, parameters, signs, importance, scores, pulls, curvatures, True)
    level, worst = np.inf, np.inf
    for k in range(rounds):
        threshold = _NEGLIGIBLE * scale / math.sqrt(n_documents)
        rho = take_in(
            row_indptr, row_indices, row_data, rest, signs, importance, pulls, threshold, term_pulls, included
        )
        worst = all_violations(
            indptr, indices, data, norms, terms, penalty, weights, pulls, term_pulls, rho, violations
        )
        worst = max(worst, abs(_intercept_pull(intercept, bias[0], pulls)))
        trace[k] = loss + _intercept_penalty(intercept, bias[0])
        for place in range(len(terms)):
            trace[k] += penalty_of(penalty, terms[place], weights[terms[place]])
        counts[0] = k + 1
        if worst <= tolerance:
            break
        loss, level, steps = improve(
            indptr, indices, data, norms, terms, violations, signs, importance, link, parameters, penalty, intercept,
            weights, bias, scores, pulls, curvatures, direction, starts, loss, worst, tolerance, k < _CAUTIOUS,
        )  # fmt: skip
        counts[1] += steps
    return worst


@kernel
def improve(
    indptr: Array,
    indices: Array,
    data: Array,
    norms: Array,
    terms: Array,
    violations: Array,
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
    direction: Array,
    starts: Array,
    loss: float,
    worst: float,
    tolerance: float,
    cautious: bool,
) -> tuple[float, float, int]:
    """One round: Newton steps on a new working set. Gives the loss, the violation left in the set, and the steps."""
    moved, wrong = 0, 0
    for place in range(len(terms)):
        if weights[terms[place]] != penalty[MODE, terms[place]]:
            moved += 1
        elif violations[place] > 0.0:
            wrong += 1
    chosen = pick(
        terms,
        norms,
        penalty,
        weights,
        violations,
        max(_SMALLEST_SET, wrong // _SHARE if moved == 0 else int(_GROWTH * moved)),
    )
    size, entries = len(chosen), 0
    for place in range(size):
        entries += indptr[chosen[place] + 1] - indptr[chosen[place]]
    columns, values = np.empty(entries, dtype=np.int32), np.empty(entries)
    rows_of_set(indptr, indices, data, chosen, starts, columns, values)
    matrix = np.empty((size, size))
    sums, set_pull = np.empty(size), np.empty(size)
    slack, step = np.empty(size), np.empty(size)
    goal = max(0.1 * worst, 0.5 * tolerance)
    set_pulls(starts, columns, values, pulls, set_pull)
    left, before, total = worst, 0.0, 0.0
    for k in range(_STEPS):
        if left > _SLOW * before:
            total = reduced_gram(starts, columns, values, curvatures, intercept, matrix, sums)
        loss = newton_step(
            starts, columns, values, chosen, matrix, sums, set_pull, slack, step, direction, signs, importance, link,
            parameters, penalty, intercept, weights, bias, scores, pulls, curvatures, loss, total,
            max(0.05 * left, 0.1 * tolerance), cautious,
        )  # fmt: skip
        set_pulls(starts, columns, values, pulls, set_pull)
        before, left = left, set_violation(chosen, penalty, weights, set_pull)
        left = max(left, abs(_intercept_pull(intercept, bias[0], pulls)))
        if left <= goal:
            break
    for _ in range(4):
        if abs(_intercept_pull(intercept, bias[0], pulls)) <= goal:
            break
        common = intercept_step(intercept, bias[0], pulls, curvatures)
        scores += common
        bias[0] += common
        loss = differentiate(link, parameters, signs, importance, scores, pulls, curvatures, cautious)
    return loss, left, k + 1
