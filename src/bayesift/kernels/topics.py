"""Passes of non-negative matrix factorisation with the (weighted) divergence.

    objective = sum_ij w_j (V_ij log(V_ij / (HW')_ij) - V_ij + (HW')_ij) + penalty(H)

V is documents x terms and sparse, H (codes) documents x topics, W (basis) terms x topics, w_j the importance of a term.
Kernels take the values w_j V_ij, since V appears in no other way beside log V. Only places where V is not 0 are
visited: the rest of the divergence is the product of two sums. A place where HW' is 0 is passed over; it stands for a
term that no topic knows.

With the shares c_ia = H_ia sum_j w_j V_ij W_ja / (HW')_ij and b_a = sum_j w_j W_ja, the divergence lies below
- sum c_ia log H_ia + sum b_a H_ia + constant and touches it at the present H (Lee & Seung 2000). The updates minimise
that bound plus the penalty. Each pass costs 4 x non-zeros x topics operations. Dot products are summed in any order:
relative errors of topics x 1e-16 at most.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesift.kernels.compile import inlined, inlined_in_any_order, kernel

Array = np.ndarray[Any, Any]

_SMALLEST = 1e-280  # below it lie numbers that processors are slow with


@inlined_in_any_order
def _dot(left: Array, i: int, right: Array, j: int) -> float:
    total = 0.0
    for a in range(left.shape[1]):
        total += left[i, a] * right[j, a]
    return total


@inlined_in_any_order
def _add_row(ratio: float, right: Array, j: int, sums: Array) -> None:
    for a in range(right.shape[1]):
        sums[a] += ratio * right[j, a]


@inlined
def _gather_ratios(indptr: Array, indices: Array, data: Array, left: Array, i: int, right: Array, sums: Array) -> None:
    """sums_a = sum_j data_ij right_ja / (left right')_ij."""
    sums[:] = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        product = _dot(left, i, right, indices[k])
        if product > 0.0:
            _add_row(data[k] / product, right, indices[k], sums)


@kernel
def gather_shares(indptr: Array, indices: Array, data: Array, left: Array, right: Array, shares: Array) -> None:
    """shares_ia = left_ia sum_j data_ij right_ja / (left right')_ij for every row; shares may not be left."""
    sums = np.empty(left.shape[1])
    for i in range(left.shape[0]):
        _gather_ratios(indptr, indices, data, left, i, right, sums)
        for a in range(left.shape[1]):
            share = left[i, a] * sums[a]
            shares[i, a] = share if share > _SMALLEST else 0.0


@kernel
def update_codes(
    indptr: Array,
    indices: Array,
    data: Array,
    basis: Array,
    slopes: Array,
    curvature: float,
    codes: Array,
) -> None:
    """Update each document's code in place.

    A code becomes the root of slopes_a x + curvature x^2 = c_a, in a form without cancellation: slopes are b_a, plus
    alpha for the penalty alpha sum H; the curvature is 2 alpha for the penalty alpha sum H^2 (eq. 9).
    """
    sums = np.empty(codes.shape[1])
    for i in range(codes.shape[0]):
        _gather_ratios(indptr, indices, data, codes, i, basis, sums)
        for a in range(codes.shape[1]):
            share = codes[i, a] * sums[a]
            root = slopes[a] + math.sqrt(slopes[a] * slopes[a] + 4.0 * curvature * share)
            codes[i, a] = 0.0 if share < _SMALLEST else 2.0 * share / root


@kernel
def sum_quotients(shares: Array, importance: Array, masses: Array, pulls: Array, totals: Array, squares: Array) -> None:
    """totals_a = sum_j c_ja / (w_j h_a + p_a), and squares_a the same with the denominator squared."""
    totals[:] = 0.0
    squares[:] = 0.0
    for j in range(shares.shape[0]):
        for a in range(shares.shape[1]):
            bottom = importance[j] * masses[a] + pulls[a]
            inverse = 1.0 / bottom if bottom > 0.0 else 0.0
            quotient = shares[j, a] * inverse
            totals[a] += quotient
            squares[a] += quotient * inverse


@kernel
def divide_shares(shares: Array, importance: Array, masses: Array, pulls: Array, scales: Array, basis: Array) -> None:
    """basis_ja = c_ja / (w_j h_a + p_a) / scales_a; a topic of scale 0 stays as it is."""
    for j in range(shares.shape[0]):
        for a in range(shares.shape[1]):
            bottom = (importance[j] * masses[a] + pulls[a]) * scales[a]
            if bottom > 0.0:
                basis[j, a] = shares[j, a] / bottom


@kernel
def log_likelihood(indptr: Array, indices: Array, data: Array, left: Array, right: Array) -> float:
    """sum_ij data_ij log (left right')_ij, over places where that is not 0."""
    total = 0.0
    for i in range(left.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            product = _dot(left, i, right, indices[k])
            if product > 0.0:
                total += data[k] * math.log(product)
    return total
