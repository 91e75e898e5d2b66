"""Pulls of all terms, kept nearly current for a fraction of the price of a pass over the matrix.

`term_pulls` is X' included exactly, where `included` is the pull of each document when it was last taken in. Between
two looks most documents hardly move, and the many documents outside a category move together (with the intercept):

- what they move together is one multiple of `rest`, the column sums over them;
- a document that moved by more than a threshold is taken in through its row;
- what is left has a norm rho, and by Cauchy and Schwarz no term is off by more than rho times the norm of its column.

A term that stays within its bounds by more than that is settled; only the others are computed exactly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesift.kernels.compile import kernel
from bayesift.kernels.linear import L1, MODE, column_dot, violation

Array = np.ndarray[Any, Any]


@kernel
def _common_shift(signs: Array, importance: Array, pulls: Array, included: Array) -> float:
    """What the documents outside the category moved by, leaving out those that moved much more than the rest."""
    shift, limit = 0.0, np.inf
    for _ in range(3):
        total, deviation, mass = 0.0, 0.0, 0.0
        for i in range(len(signs)):
            if signs[i] < 0.0 and importance[i] > 0.0:
                distance = (pulls[i] - included[i]) / importance[i] - shift
                if abs(distance) <= limit:
                    total += importance[i] * distance
                    deviation += importance[i] * abs(distance)
                    mass += importance[i]
        if mass == 0.0:
            return shift
        shift += total / mass
        limit = deviation / mass
    return shift


@kernel
def take_in(
    row_indptr: Array,
    row_indices: Array,
    row_data: Array,
    rest: Array,
    signs: Array,
    importance: Array,
    pulls: Array,
    threshold: float,
    term_pulls: Array,
    included: Array,
) -> float:
    """Bring term_pulls and included up to date but for small moves; gives the norm rho of what was left out."""
    shift = _common_shift(signs, importance, pulls, included)
    for j in range(len(term_pulls)):
        term_pulls[j] += shift * rest[j]
    square = 0.0
    for i in range(len(signs)):
        if signs[i] < 0.0:
            included[i] += shift * importance[i]
        move = pulls[i] - included[i]
        if abs(move) > threshold:
            for k in range(row_indptr[i], row_indptr[i + 1]):
                term_pulls[row_indices[k]] += move * row_data[k]
            included[i] = pulls[i]
        else:
            square += move * move
    return math.sqrt(square)


@kernel
def all_violations(
    indptr: Array,
    indices: Array,
    data: Array,
    norms: Array,
    terms: Array,
    penalty: Array,
    weights: Array,
    pulls: Array,
    term_pulls: Array,
    rho: float,
    violations: Array,
) -> float:
    """Write the violation of every term, 0 for settled ones; gives the largest."""
    largest = 0.0
    for place in range(len(terms)):
        j = terms[place]
        violations[place] = 0.0
        if weights[j] == penalty[MODE, j] and abs(term_pulls[j]) + rho * norms[j] <= penalty[L1, j]:
            continue
        violations[place] = violation(penalty, j, weights[j], column_dot(indptr, indices, data, j, pulls))
        largest = max(largest, violations[place])
    return largest
