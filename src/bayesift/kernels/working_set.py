"""Proximal Newton on working sets: the mode of a linear model under any log-concave prior.

Each round looks at all terms (`lazy_pulls`), picks those off their mode and the worst offenders, and runs a few Newton
steps (`newton_steps`) on them alone, reusing a Gram matrix for as long as that pays. `weights` and `bias` are updated
in place.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesift.kernels.compile import kernel
from bayesift.kernels.documents import (
    Documents,
    Matrix,
    Model,
    add_terms,
    evaluate_new,
    settle_intercept,
    single_out,
    stand_in,
)
from bayesift.kernels.lazy_pulls import look, no_offenders, no_pulls
from bayesift.kernels.linear import MODE, intercept_penalty, intercept_pull
from bayesift.kernels.newton_steps import column_sums, gram_cost, newton_step, reduced_gram, set_violation, working_set

Array = np.ndarray[Any, Any]

_SMALLEST_SET = 16
_NEGLIGIBLE = 0.1  # of the scale of the prior, left out of the pulls of all terms
_GROWTH = 0.5  # of the working set a round
_SHARE = 48  # of the terms that violate their conditions at the start
_LARGEST_SET = 2500
_CAUTIOUS = 3  # rounds
_GRAMS, _STEPS = 3, 8  # a round
_FRESH = 0.1  # the share of the violation that a step by a new Gram matrix leaves


@kernel
def pick(found: Array, promise: Array, penalty: Array, weights: Array, moved: int) -> Array:
    """The working set: all `moved` terms off their mode, and some others, those that promise the largest gain.

    Where that is too large, the most promising of all.
    """
    wanted = max(_SMALLEST_SET, len(found) // _SHARE if moved == 0 else int(_GROWTH * moved))
    size = min(moved + wanted, len(found), _LARGEST_SET)
    if size == len(found):
        return found.copy()
    if moved + wanted <= _LARGEST_SET:
        for place in range(len(found)):
            if weights[found[place]] != penalty[MODE, found[place]]:
                promise[place] = np.inf
    cut = np.partition(promise, len(found) - size)[len(found) - size]
    chosen: Array = found[promise >= cut]
    return chosen


@kernel
def solve(
    matrix: Matrix,
    model: Model,
    weights: Array,
    bias: Array,
    scale: float,
    tolerance: float,
    trace: Array,
    counts: Array,
) -> float:
    """Descend to the mode; gives the largest violation left. Writes the objective of each round to trace.

    counts gets the rounds and the Newton steps.
    """
    documents, lazy = stand_in(model, bias[0]), no_pulls(matrix, model)
    weighted = np.flatnonzero(weights).astype(np.int32)
    single_out(matrix, model, documents, weighted)
    add_terms(matrix, documents, weighted, weights)
    loss = settle_intercept(model, documents, bias, 1e-3 * tolerance, 100, True)
    offenders, threshold = no_offenders(model), _NEGLIGIBLE * scale / math.sqrt(len(model.importance))
    worst = np.inf
    for k in range(len(trace)):
        count, moved, worst, cost = look(matrix, model, documents, lazy, offenders, weights, threshold)
        worst = max(worst, abs(intercept_pull(model.intercept, bias[0], documents.pulls[: documents.filled[0]])))
        trace[k] = loss + cost + intercept_penalty(model.intercept, bias[0])
        counts[0] = k + 1
        if worst <= tolerance:
            break
        chosen = pick(offenders.found[:count], offenders.promise[:count], model.penalty, weights, moved)
        loss, steps = improve(matrix, model, documents, chosen, weights, bias, loss, worst, tolerance, k < _CAUTIOUS)
        counts[1] += steps
    return worst


@kernel
def improve(
    matrix: Matrix,
    model: Model,
    documents: Documents,
    chosen: Array,
    weights: Array,
    bias: Array,
    loss: float,
    worst: float,
    tolerance: float,
    cautious: bool,
) -> tuple[float, int]:
    """One round: Newton steps on a working set. Gives the loss and the number of steps."""
    known = documents.filled[0]
    terms, size = working_set(matrix, model, documents, chosen), len(chosen)
    evaluate_new(model, documents, known, cautious)
    product = np.empty((size, size))
    enough = _FRESH ** (1.0 / (1.0 + gram_cost(terms.row_starts)))
    goal = max(0.1 * worst, 0.5 * tolerance)
    left, before, total, steps, grams = worst, 0.0, 0.0, 0, 0
    column_sums(terms.starts, terms.places, terms.values, documents.pulls, terms.pulls)
    while steps < _STEPS and left > goal:
        if left > enough * before:
            if grams == _GRAMS:
                break
            total = reduced_gram(model, documents, terms, product)
            grams += 1
        inner = max(0.05 * left, 0.1 * tolerance)
        loss = newton_step(model, documents, terms, product, total, weights, bias, loss, inner, cautious)
        column_sums(terms.starts, terms.places, terms.values, documents.pulls, terms.pulls)
        before, left = left, set_violation(chosen, model.penalty, weights, terms.pulls)
        left = max(left, abs(intercept_pull(model.intercept, bias[0], documents.pulls[: documents.filled[0]])))
        steps += 1
    if abs(intercept_pull(model.intercept, bias[0], documents.pulls[: documents.filled[0]])) > goal:
        loss = settle_intercept(model, documents, bias, goal, 4, cautious)
    return loss, steps
