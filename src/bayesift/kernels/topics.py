"""Non-negative matrix factorisation with the (weighted) divergence.

By multiplicative updates and by coordinate descent.

    objective = sum_ij w_j (V_ij log(V_ij / (HW')_ij) - V_ij + (HW')_ij) + penalty(H)

V is documents x terms and sparse, H (codes) documents x topics, W (basis) terms x topics, w_j the
importance of a term. Kernels take the values w_j V_ij. Only entries where V is not 0 are visited:
the rest of the divergence is the product of two sums. An entry where HW' is 0 (a term in no topic)
is skipped. Dot products are summed in any order.

**Multiplicative updates.** With the shares c_ia = H_ia sum_j w_j V_ij W_ja / (HW')_ij and b_a =
sum_j w_j W_ja, the divergence lies below - sum c_ia log H_ia + sum b_a H_ia + constant and touches
it at the present H (Lee & Seung 2000). The updates minimise that bound plus the penalty. Each pass
costs 4 x non-zeros x topics operations.

**Coordinate descent.** As a function of one entry x of a row, the rest fixed, the objective has the
derivative

    f'(x) = g - s,    s = sum_k v_k t_k / p_k,    g = slope + curvature x

with v the values of the row, t the other factor's entries at their places, and p the products of
the two factors there. With h = sum_k v_k t_k^2 / p_k^2, s at x + d is

    at least  s^2 / (s + h d)                                for d > 0, by Jensen's inequality
    at most   s + h x e / (1 - e m),  m = max_k x t_k / p_k  for d = -e x, as 1 / (1 - e y) is
                                                             convex in y.

The roots of g + curvature d less the one or the other are steps that stop short of the minimum and
have a closed form: no step raises the objective, and no line search is needed. A pass costs about 8
x non-zeros x topics operations.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.compile import inlined, inlined_in_any_order, kernel, vectorised

_SMALLEST_NORMAL = 1e-280  # below it lie numbers that processors are slow with


@inlined_in_any_order
def _dot(left: Array, i: int, right: Array, j: int) -> float:
    total = 0.0
    for a in range(left.shape[1]):
        total += left[i, a] * right[j, a]
    return total


@inlined_in_any_order
def _add_row(ratio: float, right: Array, j: int, sums: FloatArray) -> None:
    for a in range(right.shape[1]):
        sums[a] += ratio * right[j, a]


@inlined
def _gather_ratios(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    left: Array,
    i: int,
    right: Array,
    sums: FloatArray,
) -> None:
    """sums_a = sum_j data_ij right_ja / (left right')_ij."""
    sums[:] = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        product = _dot(left, i, right, indices[k])
        if product > 0.0:
            _add_row(data[k] / product, right, indices[k], sums)


@kernel
def gather_shares(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    left: Array,
    right: Array,
    shares: FloatArray,
) -> None:
    """shares_ia = left_ia sum_j data_ij right_ja / (left right')_ij for every row.

    Shares may not be left.
    """
    sums = np.empty(left.shape[1])
    for i in range(left.shape[0]):
        _gather_ratios(indptr, indices, data, left, i, right, sums)
        for a in range(left.shape[1]):
            share = left[i, a] * sums[a]
            shares[i, a] = share if share > _SMALLEST_NORMAL else 0.0


@kernel
def update_codes(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    basis: FloatArray,
    slopes: FloatArray,
    curvature: float,
    codes: FloatArray,
) -> None:
    """Update each code in place to the root of slopes_a x + curvature x^2 = c_a.

    No digits cancel.

    slopes: b_a, plus alpha for the penalty alpha sum H; curvature: 2 alpha for the penalty alpha
    sum H^2 (eq. 9).
    """
    sums = np.empty(codes.shape[1])
    for i in range(codes.shape[0]):
        _gather_ratios(indptr, indices, data, codes, i, basis, sums)
        for a in range(codes.shape[1]):
            share = codes[i, a] * sums[a]
            root = slopes[a] + math.sqrt(slopes[a] * slopes[a] + 4.0 * curvature * share)
            codes[i, a] = 0.0 if share < _SMALLEST_NORMAL else 2.0 * share / root


@kernel
def sum_quotients(
    shares: FloatArray,
    importance: FloatArray,
    masses: FloatArray,
    offsets: FloatArray,
    totals: FloatArray,
    squares: FloatArray,
) -> None:
    """Sum c_ja / (w_j h_a + p_a) into `totals`, with squared denominators into `squares`."""
    totals[:] = 0.0
    squares[:] = 0.0
    for j in range(shares.shape[0]):
        for a in range(shares.shape[1]):
            bottom = importance[j] * masses[a] + offsets[a]
            inverse = 1.0 / bottom if bottom > 0.0 else 0.0
            quotient = shares[j, a] * inverse
            totals[a] += quotient
            squares[a] += quotient * inverse


@kernel
def divide_shares(
    shares: FloatArray,
    importance: FloatArray,
    masses: FloatArray,
    offsets: FloatArray,
    scales: FloatArray,
    basis: FloatArray,
) -> None:
    """basis_ja = c_ja / (w_j h_a + p_a) / scales_a; a topic of scale 0 stays as it is."""
    for j in range(shares.shape[0]):
        for a in range(shares.shape[1]):
            bottom = (importance[j] * masses[a] + offsets[a]) * scales[a]
            if bottom > 0.0:
                basis[j, a] = shares[j, a] / bottom


@kernel
def log_likelihood(
    indptr: IntArray, indices: IntArray, data: FloatArray, left: Array, right: Array
) -> float:
    """sum_ij data_ij log (left right')_ij, over places where that is not 0."""
    total = 0.0
    for i in range(left.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            product = _dot(left, i, right, indices[k])
            if product > 0.0:
                total += data[k] * math.log(product)
    return total


_LARGEST_DECREASE = 0.99  # of an entry that is all of a product: the product keeps its digits


class _Row(NamedTuple):
    """The entries of a row: v, p, 1 / p and v / p; and room for t, topic by topic."""

    values: FloatArray
    products: FloatArray
    inverses: FloatArray
    ratios: FloatArray
    room: Array


@inlined
def _room(indptr: IntArray, n_topics: int) -> _Row:
    """Room for the longest row."""
    n = 0
    for i in range(len(indptr) - 1):
        n = max(n, indptr[i + 1] - indptr[i])
    return _Row(np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n_topics * n))


@inlined
def _copy(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    i: int,
    right: Array,
    row: _Row,
    places: IntArray,
) -> None:
    """Copy the values of row i, and t."""
    for k in range(places.shape[1]):
        j = indices[indptr[i] + k]
        row.values[k] = data[indptr[i] + k]
        for a in range(places.shape[0]):
            places[a, k] = right[j, a]


@inlined
def _multiply(left: Array, i: int, row: _Row, places: IntArray) -> None:
    """Recompute the products of row i; sums updated step by step lose digits."""
    for k in range(places.shape[1]):
        row.products[k] = 0.0
    for a in range(places.shape[0]):
        if left[i, a] > 0.0:
            for k in range(places.shape[1]):
                row.products[k] += left[i, a] * places[a, k]
    _move(0.0, 0, row, places)


@inlined
def _move(d: float, a: int, row: _Row, places: IntArray) -> None:
    """Entry a grows by d."""
    for k in range(places.shape[1]):
        row.products[k] += d * places[a, k]
        row.inverses[k] = 1.0 / row.products[k] if row.products[k] > 0.0 else 0.0
        row.ratios[k] = row.values[k] * row.inverses[k]


@inlined_in_any_order
def _neg_gradient(a: int, row: _Row, places: IntArray) -> float:
    """Minus the derivative of the log term by entry a: s."""
    total = 0.0
    for k in range(places.shape[1]):
        total += row.ratios[k] * places[a, k]
    return total


@inlined_in_any_order
def _curvature(a: int, row: _Row, places: IntArray) -> float:
    """How fast s decreases as the entry grows: h."""
    total = 0.0
    for k in range(places.shape[1]):
        total += row.ratios[k] * places[a, k] * places[a, k] * row.inverses[k]
    return total


@inlined
def _largest_part(x: float, a: int, row: _Row, places: IntArray) -> float:
    """Return the largest part that the entry has of a product: m."""
    largest = 0.0
    for k in range(places.shape[1]):
        part = x * places[a, k] * row.inverses[k]
        largest = part if part > largest else largest
    return largest


@inlined
def _upward_step(gain: float, slope: float, curvature: float, second: float) -> float:
    """Return the root d of s^2 / (s + h d) = g + curvature d."""
    excess, linear = gain * (gain - slope), gain * curvature + second * slope
    bottom = linear + math.sqrt(linear * linear + 4.0 * second * curvature * excess)
    return 2.0 * excess / bottom if bottom > 0.0 else 0.0


@inlined
def _downward_step(
    excess: float, x: float, curvature: float, second: float, part: float
) -> float:
    """-e x, e being the root of g - s = (h + curvature) x e / (1 - e m), and 1 at most."""
    bottom = x * (second + curvature) + excess * part
    share = excess / bottom if bottom > excess else 1.0
    return -x * (min(share, _LARGEST_DECREASE) if part > _LARGEST_DECREASE else share)


@inlined
def _descend(
    left: Array, i: int, row: _Row, places: IntArray, slopes: FloatArray, curvatures: FloatArray
) -> tuple[float, float]:
    """Take a step for each entry of row i, whose g are in `slopes`.

    Returns the longest step and the largest entry.
    """
    moved, largest = 0.0, 0.0
    for a in range(places.shape[0]):
        x, d, gain = left[i, a], 0.0, _neg_gradient(a, row, places)
        if gain > slopes[a]:
            d = _upward_step(gain, slopes[a], curvatures[a], _curvature(a, row, places))
        elif gain < slopes[a] and x > 0.0:
            part = _largest_part(x, a, row, places)
            d = _downward_step(
                slopes[a] - gain, x, curvatures[a], _curvature(a, row, places), part
            )
        if d != 0.0:
            x = max(x + d, 0.0)
            left[i, a] = x
            slopes[a] += curvatures[a] * d
            _move(d, a, row, places)
        moved, largest = max(moved, abs(d)), max(largest, x)
    return moved, largest


@vectorised
def descend_codes(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    basis: FloatArray,
    slopes: FloatArray,
    curvature: float,
    codes: FloatArray,
    repeats: int,
    tolerance: float,
) -> int:
    """Lower the objective in each document's code in place, up to `repeats` times.

    Returns the most repeats made.

    Slopes, curvature: as in `update_codes`. A document is done when no code moved over `tolerance`
    times its largest.
    """
    n_topics, most = codes.shape[1], 0
    row, at_entries, curvatures = (
        _room(indptr, n_topics),
        np.empty(n_topics),
        np.full(n_topics, curvature),
    )
    for i in range(codes.shape[0]):
        n = indptr[i + 1] - indptr[i]
        places = row.room[: n_topics * n].reshape(n_topics, n)
        _copy(indptr, indices, data, i, basis, row, places)
        for repeat in range(repeats):
            for a in range(n_topics):
                at_entries[a] = slopes[a] + curvature * codes[i, a]
            _multiply(codes, i, row, places)
            moved, largest = _descend(codes, i, row, places, at_entries, curvatures)
            most = max(most, repeat + 1)
            if moved <= tolerance * largest:
                break
    return most


@vectorised
def descend_basis(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    codes: FloatArray,
    importance: FloatArray,
    masses: FloatArray,
    offsets: FloatArray,
    curvatures: FloatArray,
    sums: FloatArray,
    basis: FloatArray,
) -> None:
    """Lower the objective in each term's weights and their `sums` S_a in place.

    G = w_j h_a + p_a + curvature_a S_a.
    """
    n_topics = basis.shape[1]
    row, at_entries = _room(indptr, n_topics), np.empty(n_topics)
    for j in range(basis.shape[0]):
        if importance[j] > 0.0:
            n = indptr[j + 1] - indptr[j]
            places = row.room[: n_topics * n].reshape(n_topics, n)
            for a in range(n_topics):
                at_entries[a] = importance[j] * masses[a] + offsets[a] + curvatures[a] * sums[a]
                sums[a] -= basis[j, a]
            _copy(indptr, indices, data, j, codes, row, places)
            _multiply(basis, j, row, places)
            _descend(basis, j, row, places, at_entries, curvatures)
            for a in range(n_topics):
                sums[a] += basis[j, a]
