"""Dual coordinate ascent for Gaussian priors, a document at a time for a block of categories.

With weights of the prior variance v the mode is w = v X'(y a), b = centre + spread sum(y a), where
the dual variable a_i of a document is its importance c_i times the derivative of its log-likelihood
at its margin. A visit to document i solves for a_i, all others fixed (Yu, Huang & Lin 2011, in
terms of the margin t instead of a, so that any link works):

    t = m_i + q_i (c_i derivative(t) - a_i),   q_i = v |x_i|^2 + spread

by Newton's method between bounds, with m_i its margin before the visit; then w += v (a_i' - a_i)
y_i x_i. Where each weight has a v of its own, q_i = sum_j v_j x_ij^2 + spread. The squared hinge
needs no iteration: a_i' = 2 c_i max(0, 1 - m_i + q_i a_i) / (1 + 2 c_i q_i). The categories of a
block (eight, four or one) share the visit. Cost: 2 x entries x categories multiply-adds, an
exponential per category.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.compile import inlined, kernel, tight
from bayesift.kernels.entries import Entries
from bayesift.kernels.likelihoods import LOGIT, SQUARED_HINGE, parts
from bayesift.kernels.linear import column_dot
from bayesift.kernels.products import (
    add_row_eight,
    add_row_four,
    row_times_eight,
    row_times_four,
)

# A Newton step this short is the last one: its error is far below that of other variables.
_LAST_STEP_LENGTH = 0.1
_MOST_STEPS = 60


@inlined
def _derivatives(link: int, parameters: FloatArray, t: float) -> tuple[float, float]:
    if link == LOGIT:
        small = math.exp(-abs(t))
        near = 1.0 / (1.0 + small)
        far = small * near
        return (far if t > 0.0 else near), near * far
    if link == SQUARED_HINGE:
        return 2.0 * max(1.0 - t, 0.0), 2.0 if t < 1.0 else 0.0
    _, derivative, curvature = parts(link, parameters, t)
    return derivative, curvature


@kernel
def _solve_dual(
    link: int, parameters: FloatArray, base: float, reach: float, counts: float, t: float
) -> float:
    """Return the dual variable c derivative(t) at t = base + reach c derivative(t)."""
    if link == SQUARED_HINGE:
        return 2.0 * counts * max(1.0 - base, 0.0) / (1.0 + 2.0 * counts * reach)
    left, right = base, np.inf
    t = max(t, left)
    for _ in range(_MOST_STEPS):
        derivative, curvature = _derivatives(link, parameters, t)
        derivative, curvature = counts * derivative, counts * curvature
        step = (base + reach * derivative - t) / (1.0 + reach * curvature)
        dual = derivative - curvature * step
        if abs(step) < _LAST_STEP_LENGTH and dual >= 0.0:
            return dual
        if step > 0.0:
            left = t
        else:
            right = t
        t += step
        if not left < t < right:
            t = 0.5 * (left + right)
    return counts * _derivatives(link, parameters, t)[0]


class DualDocuments(NamedTuple):
    """Documents, and of each for each category its importance with the sign of y, and its offset.

    `reach` is the q_i of each document for each category.
    """

    rows: Entries
    counts: Array
    offsets: FloatArray
    reach: FloatArray


class DualArrays(NamedTuple):
    """What a visit changes; `moves` gets squared changes; `sums`, one per category, is scratch."""

    weights: FloatArray
    intercepts: FloatArray
    duals: FloatArray
    moves: FloatArray
    sums: FloatArray


@tight
def visit(
    documents: DualDocuments,
    order: IntArray,
    link: int,
    parameters: FloatArray,
    spread: FloatArray,
    variances: FloatArray,
    least: FloatArray,
    model: DualArrays,
) -> None:
    """Update weights, intercepts and dual variables with the documents of `order`.

    There are eight, four or one categories, each with a `spread`; `variances` are terms x
    categories, or a single one. A dual variable whose squared change is below the `least` of its
    category stays as it is.
    """
    rows, counts, offsets, reach = documents
    indptr, indices, data = rows
    weights, intercepts, duals, moves, sums = model
    width, hinge = len(sums), link == SQUARED_HINGE
    is_shared = variances.size == 1
    variance = variances[0, 0] if is_shared else 1.0
    for place in range(len(order)):
        i = order[place]
        first, last = indptr[i], indptr[i + 1]
        if width == 8:
            row_times_eight(first, last, indices, data, weights, sums)
        elif width == 4:
            row_times_four(first, last, indices, data, weights, sums)
        else:
            _row_times_one(first, last, indices, data, weights, sums)
        moved = False
        for c in range(width):
            far = reach[i, c]
            weight = abs(counts[i, c])
            sign = 1.0 if counts[i, c] > 0.0 else -1.0
            before = duals[i, c]
            margin = sign * (sums[c] + intercepts[c] + offsets[i, c])
            derivative, curvature = _derivatives(link, parameters, margin)
            step = far * (weight * derivative - before) / (1.0 + far * weight * curvature)
            after = weight * (derivative - curvature * step)
            if hinge or abs(step) >= _LAST_STEP_LENGTH or after < 0.0:
                after = _solve_dual(
                    link, parameters, margin - far * before, far, weight, margin
                )
            change = after - before
            moves[i, c] = change * change
            if moves[i, c] <= least[c]:
                sums[c] = 0.0
                continue
            duals[i, c] = after
            intercepts[c] += spread[c] * sign * change
            sums[c] = variance * sign * change
            moved = True
        if not moved:
            continue
        if not is_shared and width == 8:
            _add_scaled_eight(first, last, indices, data, sums, variances, weights)
        elif not is_shared:
            _add_scaled_row(first, last, indices, data, sums, variances, weights)
        elif width == 8:
            add_row_eight(first, last, indices, data, sums, weights)
        elif width == 4:
            add_row_four(first, last, indices, data, sums, weights)
        else:
            _add_row_one(first, last, indices, data, sums, weights)


@inlined
def _row_times_one(
    first: int,
    last: int,
    indices: IntArray,
    data: FloatArray,
    weights: FloatArray,
    sums: FloatArray,
) -> None:
    sums[0] = column_dot(first, last, indices, data, weights[:, 0])


@inlined
def _add_row_one(
    first: int,
    last: int,
    indices: IntArray,
    data: FloatArray,
    sums: FloatArray,
    weights: FloatArray,
) -> None:
    change, middle = sums[0], last - (last - first) % 4
    for k in range(
        first, middle, 4
    ):  # terms of a row differ, so that no sum waits for the one before it
        e, f, g, h = (
            np.uint32(indices[k]),
            np.uint32(indices[k + 1]),
            np.uint32(indices[k + 2]),
            np.uint32(indices[k + 3]),
        )
        p, q = weights[e, 0] + change * data[k], weights[f, 0] + change * data[k + 1]
        r, s = weights[g, 0] + change * data[k + 2], weights[h, 0] + change * data[k + 3]
        weights[e, 0], weights[f, 0], weights[g, 0], weights[h, 0] = p, q, r, s
    for k in range(middle, last):
        weights[np.uint32(indices[k]), 0] += change * data[k]


@inlined
def _add_scaled_eight(
    first: int,
    last: int,
    indices: IntArray,
    data: FloatArray,
    sums: FloatArray,
    scales: FloatArray,
    weights: FloatArray,
) -> None:
    """As `add_row_eight`, each term of each category times a scale."""
    a, b, c, d = sums[0], sums[1], sums[2], sums[3]
    e, f, g, h = sums[4], sums[5], sums[6], sums[7]
    for k in range(first, last):
        value, j = data[k], np.uint32(indices[k])
        # All are read before the first is written: they need not be read again then.
        p, q, r, s = scales[j, 0], scales[j, 1], scales[j, 2], scales[j, 3]
        t, u, v, w = scales[j, 4], scales[j, 5], scales[j, 6], scales[j, 7]
        weights[j, 0] += value * a * p
        weights[j, 1] += value * b * q
        weights[j, 2] += value * c * r
        weights[j, 3] += value * d * s
        weights[j, 4] += value * e * t
        weights[j, 5] += value * f * u
        weights[j, 6] += value * g * v
        weights[j, 7] += value * h * w


@inlined
def _add_scaled_row(
    first: int,
    last: int,
    indices: IntArray,
    data: FloatArray,
    sums: FloatArray,
    scales: FloatArray,
    weights: FloatArray,
) -> None:
    """As `_add_scaled_eight`, for any number of columns."""
    for k in range(first, last):
        value, j = data[k], np.uint32(indices[k])
        for c in range(len(sums)):
            weights[j, c] += value * sums[c] * scales[j, c]


@kernel
def best_intercepts(
    link: int,
    parameters: FloatArray,
    counts: Array,
    scores: FloatArray,
    precision: float,
    centre: float,
    intercepts: FloatArray,
) -> None:
    """Move the intercept of each category to its best value for scores given without it.

    Newton's method, bounded.
    """
    for c in range(len(intercepts)):
        left, right, best = -np.inf, np.inf, intercepts[c]
        for _ in range(_MOST_STEPS):
            neg_gradient, hessian = -precision * (best - centre), precision
            for i in range(len(scores)):
                sign = 1.0 if counts[i, c] > 0.0 else -1.0
                derivative, curvature = _derivatives(
                    link, parameters, sign * (scores[i, c] + best)
                )
                neg_gradient += counts[i, c] * derivative
                hessian += sign * counts[i, c] * curvature
            if neg_gradient == 0.0:
                break
            if neg_gradient > 0.0:
                left = best
            else:
                right = best
            newton = (
                neg_gradient / hessian
                if hessian > 0.0
                else (2.0 if neg_gradient > 0.0 else -2.0)
            )
            step = max(-2.0, min(2.0, newton))
            best += step
            if not left <= best <= right:
                best = 0.5 * (left + right)
            if abs(step) < 1e-7 or abs(best) > 1e3:
                break
        intercepts[c] = best
