"""Coordinate descent for non-negative matrix factorisation with the (weighted) divergence.

As a function of one entry x of a row (a document's code for a topic, or a term's weight in it), the rest fixed, the
objective has the derivative

    f'(x) = g - s,    s = sum_k v_k t_k / p_k,    g = slope + curvature x

with v the values of the row, t the other factor's entries at their places, and p the products of the two factors there,
which grow by t_k as x does. With h = sum_k v_k t_k^2 / p_k^2, s at x + d is

    at least  s^2 / (s + h d)                                for d > 0, by Jensen's inequality
    at most   s + h x e / (1 - e m),  m = max_k x t_k / p_k, for d = -e x, since 1 / (1 - e y) is convex in y.

The roots of g + curvature d less the one or the other are steps that stop short of the minimum and have a closed form:
no step raises the objective, none is searched for. Upwards it is Newton's step times s / g (without curvature),
downwards Newton's step held back as p loses its largest part; far from p = 0 it is Newton's, and an entry that is to be
0 becomes 0. A row's places are copied together, so that a pass reads memory in order: about 8 x non-zeros x topics
operations, a quarter of that where entries are 0 and stay so. Sums are taken in any order.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bayesift.kernels.compile import inlined, inlined_in_any_order, vectorised

Array = np.ndarray[Any, Any]

_LARGEST_FALL = 0.99  # of an entry that carries all of a product: what is left of it keeps its digits


class _Row(NamedTuple):
    """What a row holds at its places: v, p, 1 / p and v / p; and room for t, topic by topic."""

    values: Array
    products: Array
    inverses: Array
    ratios: Array
    room: Array


@inlined
def _room(indptr: Array, n_topics: int) -> _Row:
    """Room for the longest row."""
    n = 0
    for i in range(len(indptr) - 1):
        n = max(n, indptr[i + 1] - indptr[i])
    return _Row(np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n_topics * n))


@inlined
def _copy(indptr: Array, indices: Array, data: Array, i: int, right: Array, row: _Row, places: Array) -> None:
    """The values of row i, and t."""
    for k in range(places.shape[1]):
        j = indices[indptr[i] + k]
        row.values[k] = data[indptr[i] + k]
        for a in range(places.shape[0]):
            places[a, k] = right[j, a]


@inlined
def _multiply(left: Array, i: int, row: _Row, places: Array) -> None:
    """The products of row i, from nothing: what steps have added to them loses digits."""
    for k in range(places.shape[1]):
        row.products[k] = 0.0
    for a in range(places.shape[0]):
        if left[i, a] > 0.0:
            for k in range(places.shape[1]):
                row.products[k] += left[i, a] * places[a, k]
    _move(0.0, 0, row, places)


@inlined
def _move(d: float, a: int, row: _Row, places: Array) -> None:
    """Entry a grows by d."""
    for k in range(places.shape[1]):
        row.products[k] += d * places[a, k]
        row.inverses[k] = 1.0 / row.products[k] if row.products[k] > 0.0 else 0.0
        row.ratios[k] = row.values[k] * row.inverses[k]


@inlined_in_any_order
def _pull(a: int, row: _Row, places: Array) -> float:
    """How strongly the values ask for more of entry a: s."""
    total = 0.0
    for k in range(places.shape[1]):
        total += row.ratios[k] * places[a, k]
    return total


@inlined_in_any_order
def _bend(a: int, row: _Row, places: Array) -> float:
    """How fast that falls as the entry grows: h."""
    total = 0.0
    for k in range(places.shape[1]):
        total += row.ratios[k] * places[a, k] * places[a, k] * row.inverses[k]
    return total


@inlined
def _largest_part(x: float, a: int, row: _Row, places: Array) -> float:
    """The largest part that the entry has of a product: m."""
    largest = 0.0
    for k in range(places.shape[1]):
        part = x * places[a, k] * row.inverses[k]
        largest = part if part > largest else largest
    return largest


@inlined
def _climb(pull: float, slope: float, curvature: float, bend: float) -> float:
    """The root d of s^2 / (s + h d) = g + curvature d."""
    excess, linear = pull * (pull - slope), pull * curvature + bend * slope
    bottom = linear + math.sqrt(linear * linear + 4.0 * bend * curvature * excess)
    return 2.0 * excess / bottom if bottom > 0.0 else 0.0


@inlined
def _fall(excess: float, x: float, curvature: float, bend: float, part: float) -> float:
    """-e x, e being the root of g - s = (h + curvature) x e / (1 - e m), and 1 at most."""
    bottom = x * (bend + curvature) + excess * part
    share = excess / bottom if bottom > excess else 1.0
    return -x * (min(share, _LARGEST_FALL) if part > _LARGEST_FALL else share)


@inlined
def _descend(left: Array, i: int, row: _Row, places: Array, slopes: Array, curvatures: Array) -> tuple[float, float]:
    """A step for each entry of row i in turn; gives the longest step and the largest entry.

    `slopes` are g at the entries and move with them.
    """
    moved, largest = 0.0, 0.0
    for a in range(places.shape[0]):
        x, d, pull = left[i, a], 0.0, _pull(a, row, places)
        if pull > slopes[a]:
            d = _climb(pull, slopes[a], curvatures[a], _bend(a, row, places))
        elif pull < slopes[a] and x > 0.0:
            part = _largest_part(x, a, row, places)
            d = _fall(slopes[a] - pull, x, curvatures[a], _bend(a, row, places), part)
        if d != 0.0:
            x = max(x + d, 0.0)
            left[i, a] = x
            slopes[a] += curvatures[a] * d
            _move(d, a, row, places)
        moved, largest = max(moved, abs(d)), max(largest, x)
    return moved, largest


@vectorised
def descend_codes(
    indptr: Array,
    indices: Array,
    data: Array,
    basis: Array,
    slopes: Array,
    curvature: float,
    codes: Array,
    repeats: int,
    tolerance: float,
) -> int:
    """Lower the objective in each document's code in place, up to `repeats` times.

    Slopes are sum_j w_j W_ja, plus alpha for the penalty alpha sum H; the curvature is 2 alpha for the penalty
    alpha sum H^2. A document is done when no code moved by more than `tolerance` times its largest. Gives the most
    repeats any document took.
    """
    n_topics, most = codes.shape[1], 0
    row, at_entries, curvatures = _room(indptr, n_topics), np.empty(n_topics), np.full(n_topics, curvature)
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
    indptr: Array,
    indices: Array,
    data: Array,
    codes: Array,
    importance: Array,
    masses: Array,
    pulls: Array,
    curvatures: Array,
    sums: Array,
    basis: Array,
) -> None:
    """Lower the objective in each term's weights in place; their `sums` S_a are free and move along.

    g = w_j h_a + p_a + curvature_a S_a.
    """
    n_topics = basis.shape[1]
    row, at_entries = _room(indptr, n_topics), np.empty(n_topics)
    for j in range(basis.shape[0]):
        if importance[j] > 0.0:
            n = indptr[j + 1] - indptr[j]
            places = row.room[: n_topics * n].reshape(n_topics, n)
            for a in range(n_topics):
                at_entries[a] = importance[j] * masses[a] + pulls[a] + curvatures[a] * sums[a]
                sums[a] -= basis[j, a]
            _copy(indptr, indices, data, j, codes, row, places)
            _multiply(basis, j, row, places)
            _descend(basis, j, row, places, at_entries, curvatures)
            for a in range(n_topics):
                sums[a] += basis[j, a]
