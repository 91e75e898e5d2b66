"""Dual coordinate ascent for Gaussian priors, a document at a time for a block of categories.

With weights scaled to unit precision the mode is w = X'(y a), b = centre + spread sum(y a), where the dual variable
a_i of a document is its importance c_i times the derivative of its log-likelihood at its margin. A visit to document i
solves for a_i, all others fixed (Yu, Huang & Lin 2011, in terms of the margin t instead of a, so that any link works):

    t = m_i + q_i (c_i derivative(t) - a_i),   q_i = |x_i|^2 + spread

by Newton's method between bounds, with m_i its margin before the visit; then w += (a_i' - a_i) y_i x_i. The categories
of a block (eight, or one) share the visit. Cost: 2 x entries x categories multiply-adds, an exponential per category.
"""

from __future__ import annotations

import math

import numpy as np

from bayesift.arrays import Array
from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.likelihoods import LOGIT, parts
from bayesift.kernels.linear import column_dot
from bayesift.kernels.products import add_row_eight, row_times_eight

_NEAR = 0.1  # a Newton step this short is the last one: its error is far below that of the other dual variables
_STEPS = 60


@inlined
def _derivatives(link: int, parameters: Array, t: float) -> tuple[float, float]:
    if link == LOGIT:
        small = math.exp(-abs(t))
        near = 1.0 / (1.0 + small)
        far = small * near
        return (far if t > 0.0 else near), near * far
    _, derivative, curvature = parts(link, parameters, t)
    return derivative, curvature


@kernel
def _solve_dual(link: int, parameters: Array, base: float, reach: float, counts: float, t: float) -> float:
    """The dual variable c derivative(t) at the margin t = base + reach c derivative(t), from a first guess of t."""
    left, right = base, np.inf
    t = max(t, left)
    for _ in range(_STEPS):
        derivative, curvature = _derivatives(link, parameters, t)
        derivative, curvature = counts * derivative, counts * curvature
        step = (base + reach * derivative - t) / (1.0 + reach * curvature)
        dual = derivative - curvature * step
        if abs(step) < _NEAR and dual >= 0.0:
            return dual
        if step > 0.0:
            left = t
        else:
            right = t
        t += step
        if not left < t < right:
            t = 0.5 * (left + right)
    return counts * _derivatives(link, parameters, t)[0]


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
    duals: Array,
    moves: Array,
    sums: Array,
) -> None:
    """Update weights, intercepts and dual variables with the documents of `order`; `moves` gets their squared changes.

    `counts` is the importance of each document for each category, with the sign of y; `sums`, eight or one, is scratch.
    """
    width = len(sums)
    for place in range(len(order)):
        i = order[place]
        first, last = indptr[i], indptr[i + 1]
        if width == 8:
            row_times_eight(first, last, indices, data, weights, sums)
        else:
            _row_times_one(first, last, indices, data, weights, sums)
        far = reach[i]
        for c in range(width):
            weight = abs(counts[i, c])
            sign = 1.0 if counts[i, c] > 0.0 else -1.0
            before = duals[i, c]
            margin = sign * (sums[c] + intercepts[c] + offsets[i, c])
            derivative, curvature = _derivatives(link, parameters, margin)
            step = far * (weight * derivative - before) / (1.0 + far * weight * curvature)
            after = weight * (derivative - curvature * step)
            if abs(step) >= _NEAR or after < 0.0:
                after = _solve_dual(link, parameters, margin - far * before, far, weight, margin)
            change = after - before
            duals[i, c] = after
            moves[i, c] = change * change
            sums[c] = sign * change
            intercepts[c] += spread * sums[c]
        if width == 8:
            add_row_eight(first, last, indices, data, sums, weights)
        else:
            _add_row_one(first, last, indices, data, sums, weights)


@inlined
def _row_times_one(first: int, last: int, indices: Array, data: Array, weights: Array, sums: Array) -> None:
    sums[0] = column_dot(first, last, indices, data, weights[:, 0])


@inlined
def _add_row_one(first: int, last: int, indices: Array, data: Array, sums: Array, weights: Array) -> None:
    change = sums[0]
    for k in range(first, last):
        weights[np.uint32(indices[k]), 0] += change * data[k]


@kernel
def best_intercepts(
    link: int, parameters: Array, counts: Array, scores: Array, precision: float, centre: float, intercepts: Array
) -> None:
    """Move the intercept of each category to its best value for scores given without it; Newton's method, bounded."""
    for c in range(len(intercepts)):
        left, right, best = -np.inf, np.inf, intercepts[c]
        for _ in range(_STEPS):
            neg_gradient, hessian = -precision * (best - centre), precision
            for i in range(len(scores)):
                sign = 1.0 if counts[i, c] > 0.0 else -1.0
                derivative, curvature = _derivatives(link, parameters, sign * (scores[i, c] + best))
                neg_gradient += counts[i, c] * derivative
                hessian += sign * counts[i, c] * curvature
            if neg_gradient == 0.0:
                break
            if neg_gradient > 0.0:
                left = best
            else:
                right = best
            newton = neg_gradient / hessian if hessian > 0.0 else (2.0 if neg_gradient > 0.0 else -2.0)
            step = max(-2.0, min(2.0, newton))
            best += step
            if not left <= best <= right:
                best = 0.5 * (left + right)
            if abs(step) < 1e-7 or abs(best) > 1e3:
                break
        intercepts[c] = best
