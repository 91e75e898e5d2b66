"""Dual coordinate ascent for Gaussian priors, a document at a time for a block of categories.

With weights scaled to unit precision the mode is w = X'(y a), b = centre + spread sum(y a), where the pull a_i of a
document is its importance c_i times the slope of its log-likelihood at its margin. A visit to document i solves for
its own pull, all others held (Yu, Huang & Lin 2011, in terms of the margin t instead of a, so that any link will do):

    t = m_i + q_i (c_i slope(t) - a_i),   q_i = |x_i|^2 + spread

with m_i its margin before the visit; the right-hand side falls in t, and Newton's method between bounds finds t. Then
w += (a_i' - a_i) y_i x_i. All categories of a block share the visit: the row of X is read once, and their sums are kept
in registers; blocks have eight categories, or one. Cost of a visit: 2 x entries x categories multiply-adds, and about
one exponential a category.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.likelihoods import LOGIT, parts

Array = np.ndarray[Any, Any]

_NEAR = 0.1  # a Newton step this short is the last one: its error is far below that of the other documents' pulls
_STEPS = 60


@inlined
def _slope_and_curvature(link: int, parameters: Array, t: float) -> tuple[float, float]:
    if link == LOGIT:
        small = math.exp(-abs(t))
        near = 1.0 / (1.0 + small)
        far = small * near
        return (far if t > 0.0 else near), near * far
    _, slope, curvature = parts(link, parameters, t)
    return slope, curvature


@kernel
def _settle(link: int, parameters: Array, base: float, reach: float, counts: float, t: float) -> float:
    """The pull c slope(t) at the margin t = base + reach c slope(t), from a first guess of t."""
    left, right = base, np.inf
    t = max(t, left)
    for _ in range(_STEPS):
        slope, curvature = _slope_and_curvature(link, parameters, t)
        slope, curvature = counts * slope, counts * curvature
        step = (base + reach * slope - t) / (1.0 + reach * curvature)
        pull = slope - curvature * step
        if abs(step) < _NEAR and pull >= 0.0:
            return pull
        if step > 0.0:
            left = t
        else:
            right = t
        t += step
        if not left < t < right:
            t = 0.5 * (left + right)
    return counts * _slope_and_curvature(link, parameters, t)[0]


@kernel
def visit(
    indptr: Array,
    indices: Array,
    data: Array,
    order: Array,
    link: int,
    parameters: Array,
    counts: Array,
    offsets: Array,
    reach: Array,
    spread: float,
    weights: Array,
    intercepts: Array,
    pulls: Array,
    moves: Array,
    sums: Array,
) -> None:
    """Visit the documents of `order`, updating weights, intercepts and pulls.

    `counts` is the importance of each document for each category, with the sign of y; `offsets` is added to the scores
    of a document; `moves` gets the square of the last change of each pull; `sums`, eight or one, is scratch.
    """
    width = len(sums)
    for place in range(len(order)):
        i = order[place]
        first, last = indptr[i], indptr[i + 1]
        if width == 8:
            _row_times_eight(first, last, indices, data, weights, sums)
        else:
            _row_times_one(first, last, indices, data, weights, sums)
        far, offset = reach[i], offsets[i]
        for c in range(width):
            weight = abs(counts[i, c])
            sign = 1.0 if counts[i, c] > 0.0 else -1.0
            before = pulls[i, c]
            margin = sign * (sums[c] + intercepts[c] + offset)
            slope, curvature = _slope_and_curvature(link, parameters, margin)
            step = far * (weight * slope - before) / (1.0 + far * weight * curvature)
            after = weight * (slope - curvature * step)
            if abs(step) >= _NEAR or after < 0.0:
                after = _settle(link, parameters, margin - far * before, far, weight, margin)
            change = after - before
            pulls[i, c] = after
            moves[i, c] = change * change
            sums[c] = sign * change
            intercepts[c] += spread * sums[c]
        if width == 8:
            _add_row_eight(first, last, indices, data, sums, weights)
        else:
            _add_row_one(first, last, indices, data, sums, weights)


@inlined
def _row_times_one(first: int, last: int, indices: Array, data: Array, weights: Array, sums: Array) -> None:
    total = 0.0
    for k in range(first, last):
        total += data[k] * weights[np.uint32(indices[k]), 0]
    sums[0] = total


@inlined
def _add_row_one(first: int, last: int, indices: Array, data: Array, sums: Array, weights: Array) -> None:
    change = sums[0]
    for k in range(first, last):
        weights[np.uint32(indices[k]), 0] += change * data[k]


@inlined
def _row_times_eight(first: int, last: int, indices: Array, data: Array, weights: Array, sums: Array) -> None:
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(first, last):
        value, j = data[k], np.uint32(indices[k])
        a += value * weights[j, 0]
        b += value * weights[j, 1]
        c += value * weights[j, 2]
        d += value * weights[j, 3]
        e += value * weights[j, 4]
        f += value * weights[j, 5]
        g += value * weights[j, 6]
        h += value * weights[j, 7]
    sums[0] = a
    sums[1] = b
    sums[2] = c
    sums[3] = d
    sums[4] = e
    sums[5] = f
    sums[6] = g
    sums[7] = h


@inlined
def _add_row_eight(first: int, last: int, indices: Array, data: Array, sums: Array, weights: Array) -> None:
    a, b, c, d, e, f, g, h = sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]
    for k in range(first, last):
        value, j = data[k], np.uint32(indices[k])
        weights[j, 0] += value * a
        weights[j, 1] += value * b
        weights[j, 2] += value * c
        weights[j, 3] += value * d
        weights[j, 4] += value * e
        weights[j, 5] += value * f
        weights[j, 6] += value * g
        weights[j, 7] += value * h


@kernel
def best_intercepts(
    link: int,
    parameters: Array,
    counts: Array,
    scores: Array,
    precision: float,
    centre: float,
    intercepts: Array,
) -> None:
    """Move the intercept of each category to its best value for scores given without it; Newton's method, bounded."""
    for c in range(len(intercepts)):
        left, right, best = -np.inf, np.inf, intercepts[c]
        for _ in range(_STEPS):
            pull, bend = -precision * (best - centre), precision
            for i in range(len(scores)):
                sign = 1.0 if counts[i, c] > 0.0 else -1.0
                slope, curvature = _slope_and_curvature(link, parameters, sign * (scores[i, c] + best))
                pull += counts[i, c] * slope
                bend += sign * counts[i, c] * curvature
            if pull == 0.0:
                break
            if pull > 0.0:
                left = best
            else:
                right = best
            step = max(-2.0, min(2.0, pull / bend)) if bend > 0.0 else (2.0 if pull > 0.0 else -2.0)
            best += step
            if not left <= best <= right:
                best = 0.5 * (left + right)
            if abs(step) < 1e-7 or abs(best) > 1e3:
                break
        intercepts[c] = best
