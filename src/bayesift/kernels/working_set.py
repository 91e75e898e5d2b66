"""Proximal Newton on working sets: the mode of a linear model under any log-concave prior.

Each round updates the gradient of all terms (`lazy_gradient`), selects those off their mode and those with the largest
violations, and makes a few Newton steps (`newton_steps`) on them alone, reusing a Gram matrix for as long as that pays.
"""

from __future__ import annotations

import math

import numpy as np

from bayesift.arrays import Array
from bayesift.kernels.compile import kernel
from bayesift.kernels.documents import (
    Documents,
    Matrix,
    Model,
    WorkingSet,
    add_scores,
    arrange_rows,
    assign_places,
    evaluate_new,
    group_documents,
    optimise_intercept,
    working_set,
)
from bayesift.kernels.lazy_gradient import empty_candidates, empty_gradient, find_candidates
from bayesift.kernels.linear import MODE, intercept_neg_gradient, intercept_penalty
from bayesift.kernels.newton_steps import column_step, column_sums, gram_pairs, newton_step, reduced_gram, set_violation

_SMALLEST_SET = 16
_NEGLIGIBLE = 0.1  # of the scale of the prior, left out of the gradient of all terms
_GROWTH = 1.0  # of the working set a round
_SHARE = 48  # of the terms that violate their conditions at the start
_CAUTIOUS = 3  # rounds
_GRAMS, _STEPS, _COLUMN_STEPS = 3, 8, 3  # a round
_PASS, _SQUARE = 30, 3  # work of descent along columns by entry of the set, of that on a Gram matrix by entry of it
_FRESH = 0.1  # the share of the violation that a step by a new Gram matrix leaves


@kernel
def select_terms(found: Array, priority: Array, penalty: Array, weights: Array, moved: int) -> Array:
    """The working set: all `moved` terms off their mode, and those of the others with the highest priority."""
    wanted = max(_SMALLEST_SET, len(found) // _SHARE if moved == 0 else int(_GROWTH * moved))
    size = min(moved + wanted, len(found))
    if size == len(found):
        return found.copy()
    for place in range(len(found)):
        if weights[found[place]] != penalty[MODE, found[place]]:
            priority[place] = np.inf
    cut = np.partition(priority, len(found) - size)[len(found) - size]
    chosen: Array = found[priority >= cut]
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
    """Descend to the mode in place; returns the largest violation left.

    Writes the objective of each round to `trace`, and the numbers of rounds and of Newton steps to `counts`.
    """
    documents, lazy = group_documents(model, bias[0]), empty_gradient(matrix, model)
    weighted = np.flatnonzero(weights).astype(np.int32)
    assign_places(matrix, model, documents, weighted)
    add_scores(matrix, documents, weighted, weights)
    loss = optimise_intercept(model, documents, bias, 1e-3 * tolerance, 100, True)
    candidates, threshold = empty_candidates(model), _NEGLIGIBLE * scale / math.sqrt(len(model.importance))
    worst = np.inf
    for k in range(len(trace)):
        count, moved, worst, cost = find_candidates(matrix, model, documents, lazy, candidates, weights, threshold)
        worst = max(
            worst, abs(intercept_neg_gradient(model.intercept, bias[0], documents.residuals[: documents.filled[0]]))
        )
        trace[k] = loss + cost + intercept_penalty(model.intercept, bias[0])
        counts[0] = k + 1
        if worst <= tolerance:
            break
        chosen = select_terms(candidates.found[:count], candidates.priority[:count], model.penalty, weights, moved)
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
    """One round: Newton steps on a working set. Returns the loss and the number of steps."""
    known = documents.filled[0]
    terms = working_set(matrix, model, documents, chosen)
    evaluate_new(model, documents, known, cautious)
    column_sums(terms.starts, terms.places, terms.values, documents.residuals, terms.neg_gradient)
    goal = max(0.1 * worst, 0.5 * tolerance)
    pairs = gram_pairs(terms.row_starts[1:])
    if pairs + _SQUARE * len(chosen) ** 2 > _PASS * len(terms.places):
        loss, steps = _steps_by_columns(model, documents, terms, weights, bias, loss, worst, goal, tolerance, cautious)
    else:
        loss, steps = _steps_by_gram(
            model, documents, terms, weights, bias, loss, worst, goal, tolerance, pairs, cautious
        )
    if abs(intercept_neg_gradient(model.intercept, bias[0], documents.residuals[: documents.filled[0]])) > goal:
        loss = optimise_intercept(model, documents, bias, goal, 4, cautious)
    return loss, steps


@kernel
def _steps_by_gram(
    model: Model,
    documents: Documents,
    terms: WorkingSet,
    weights: Array,
    bias: Array,
    loss: float,
    worst: float,
    goal: float,
    tolerance: float,
    pairs: int,
    cautious: bool,
) -> tuple[float, int]:
    """Newton steps by Gram matrices (each costs `pairs`), until the violation falls from `worst` to the goal."""
    arrange_rows(terms)
    size, cost = len(terms.chosen), pairs / (2.0 * len(terms.row_starts) + len(terms.places))
    product, enough = np.empty((size, size)), _FRESH ** (1.0 / (1.0 + cost))
    left, before, total, steps, grams = worst, 0.0, 0.0, 0, 0
    while steps < _STEPS and left > goal:
        if left > enough * before:
            if grams == _GRAMS:
                break
            total = reduced_gram(model, documents, terms, product)
            grams += 1
        inner = max(0.05 * left, 0.1 * tolerance)
        loss = newton_step(model, documents, terms, product, total, weights, bias, loss, inner, cautious)
        before, left = left, _violation_left(model, documents, terms, weights, bias)
        steps += 1
    return loss, steps


@kernel
def _steps_by_columns(
    model: Model,
    documents: Documents,
    terms: WorkingSet,
    weights: Array,
    bias: Array,
    loss: float,
    worst: float,
    goal: float,
    tolerance: float,
    cautious: bool,
) -> tuple[float, int]:
    """Newton steps along columns, until the violation within the set falls from `worst` to the goal."""
    scaled, left, steps = np.empty(len(terms.places)), worst, 0
    while steps < _COLUMN_STEPS and left > goal:
        inner = max(0.05 * left, 0.1 * tolerance)
        loss = column_step(model, documents, terms, scaled, weights, bias, loss, inner, cautious)
        left = _violation_left(model, documents, terms, weights, bias)
        steps += 1
    return loss, steps


@kernel
def _violation_left(model: Model, documents: Documents, terms: WorkingSet, weights: Array, bias: Array) -> float:
    """The largest violation within a set and of the intercept; writes the gradient of the set."""
    column_sums(terms.starts, terms.places, terms.values, documents.residuals, terms.neg_gradient)
    left = set_violation(terms.chosen, model.penalty, weights, terms.neg_gradient)
    return max(left, abs(intercept_neg_gradient(model.intercept, bias[0], documents.residuals[: documents.filled[0]])))
