"""Proximal Newton on working sets: the mode of a linear model under any log-concave prior.

Each round looks at all terms (`lazy_pulls`), picks those off their mode and the worst offenders, and runs a few Newton
steps (`newton_steps`) on them alone, reusing a Gram matrix for as long as it serves. `scores`, `weights` and `bias` are
updated in place.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesift.kernels.compile import kernel
from bayesift.kernels.lazy_pulls import all_violations, take_in
from bayesift.kernels.linear import MODE, differentiate, intercept_step, penalty_of
from bayesift.kernels.newton_steps import (
    intercept_penalty,
    intercept_pull,
    newton_step,
    reduced_gram,
    rows_of_set,
    set_pulls,
    set_violation,
)

Array = np.ndarray[Any, Any]

_SMALLEST_SET = 16
_NEGLIGIBLE = 0.2  # of the scale of the prior, left out of the pulls of all terms
_GROWTH = 0.5  # of the working set a round
_SHARE = 48  # of the terms that violate their conditions at the start
_LARGEST_SET = 2500
_CAUTIOUS = 3  # rounds
_STEPS = 3  # a round, on a large set
_SMALL_SET, _SMALL_STEPS = 128, 8
_SLOW = 0.25  # a step that leaves more than this share of the violation calls for a new Gram matrix


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
    worst = np.inf
    for k in range(rounds):
        threshold = _NEGLIGIBLE * scale / math.sqrt(n_documents)
        rho = take_in(
            row_indptr, row_indices, row_data, rest, signs, importance, pulls, threshold, term_pulls, included
        )
        worst = all_violations(
            indptr, indices, data, norms, terms, penalty, weights, pulls, term_pulls, rho, violations
        )
        worst = max(worst, abs(intercept_pull(intercept, bias[0], pulls)))
        trace[k] = loss + intercept_penalty(intercept, bias[0])
        for place in range(len(terms)):
            trace[k] += penalty_of(penalty, terms[place], weights[terms[place]])
        counts[0] = k + 1
        if worst <= tolerance:
            break
        loss, steps = improve(
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
) -> tuple[float, int]:
    """One round: Newton steps on a new working set. Gives the loss and the number of steps."""
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
    holders = np.empty(len(signs), dtype=np.int32)
    count = rows_of_set(indptr, indices, data, chosen, holders, starts, columns, values)
    documents = holders[:count]
    matrix = np.empty((size, size))
    sums, set_pull = np.empty(size), np.empty(size)
    slack, step = np.empty(size), np.empty(size)
    goal = max(0.1 * worst, 0.5 * tolerance)
    set_pulls(documents, starts, columns, values, pulls, set_pull)
    left, before, total, steps = worst, 0.0, 0.0, 0
    most = _SMALL_STEPS if size <= _SMALL_SET else _STEPS
    while steps < most:
        steps += 1
        if left > _SLOW * before:
            total = reduced_gram(documents, starts, columns, values, curvatures, intercept, matrix, sums)
        loss = newton_step(
            documents, starts, columns, values, chosen, matrix, sums, set_pull, slack, step, direction, signs,
            importance, link, parameters, penalty, intercept, weights, bias, scores, pulls, curvatures, loss, total,
            max(0.05 * left, 0.1 * tolerance), cautious,
        )  # fmt: skip
        set_pulls(documents, starts, columns, values, pulls, set_pull)
        before, left = left, set_violation(chosen, penalty, weights, set_pull)
        left = max(left, abs(intercept_pull(intercept, bias[0], pulls)))
        if left <= goal:
            break
    for _ in range(4):
        if abs(intercept_pull(intercept, bias[0], pulls)) <= goal:
            break
        common = intercept_step(intercept, bias[0], pulls, curvatures)
        scores += common
        bias[0] += common
        loss = differentiate(link, parameters, signs, importance, scores, pulls, curvatures, cautious)
    return loss, steps
