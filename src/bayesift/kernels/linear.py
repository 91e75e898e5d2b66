"""Parts of the posterior of a linear model, shared by its solvers.

    objective = - sum_i w_i log psi(y_i f_i) + sum_j P_j(beta_j) + Q(b),     f = X beta + b
    P_j(beta) = l1_j |beta - mode_j| + l2_j / 2 (beta - mode_j)^2,           lower_j <= beta <= upper_j

y is -1 or +1, sums are over documents, never means. Every prior whose logarithm is concave has this form; `penalty`
holds its rows l1, l2, mode, lower and upper, a column a term. Q has the row `intercept` = (free, l2, mode): the
intercept is free (1) or stays what it is (0), and its prior is flat (l2 = 0) or normal.

The pull of a document is minus the derivative of the objective for its score, w y psi'/psi; that of a term the sum
over documents x pull: minus the derivative of the likelihood part for its weight.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.likelihoods import LOGIT, parts

Array = np.ndarray[Any, Any]

L1, L2, MODE, LOWER, UPPER = 0, 1, 2, 3, 4
FREE, PRECISION, CENTRE = 0, 1, 2
_LARGE = 1e200


@inlined
def penalty_of(penalty: Array, j: int, weight: float) -> float:
    """P_j of a weight within its bounds."""
    distance = weight - penalty[MODE, j]
    cost: float = penalty[L1, j] * abs(distance) + 0.5 * penalty[L2, j] * distance * distance
    return cost


@inlined
def violation(penalty: Array, j: int, weight: float, pull: float) -> float:
    """How far the optimality condition of a weight is from being met."""
    distance = weight - penalty[MODE, j]
    slope = penalty[L2, j] * distance - pull
    if distance > 0.0:
        slope += penalty[L1, j]
    elif distance < 0.0:
        slope -= penalty[L1, j]
    elif slope > 0.0:
        slope = max(slope - penalty[L1, j], 0.0)
    else:
        slope = min(slope + penalty[L1, j], 0.0)
    if (slope > 0.0 and weight <= penalty[LOWER, j]) or (slope < 0.0 and weight >= penalty[UPPER, j]):
        return 0.0
    size: float = abs(slope)
    return size


@inlined
def best_weight(penalty: Array, j: int, weight: float, pull: float, curvature: float) -> float:
    """The weight that minimises curvature / 2 (x - weight)^2 - pull (x - weight) + P_j(x)."""
    centre = curvature * (weight - penalty[MODE, j]) + pull
    size = abs(centre) - penalty[L1, j]
    distance = 0.0
    if size > 0.0:
        distance = math.copysign(size / (curvature + penalty[L2, j]), centre)
    best: float = min(max(penalty[MODE, j] + distance, penalty[LOWER, j]), penalty[UPPER, j])
    return best


@kernel
def add_scores(indptr: Array, indices: Array, data: Array, weights: Array, scores: Array) -> None:
    """Add X weights to scores; X by columns."""
    for j in range(len(weights)):
        weight = weights[j]
        if weight != 0.0:
            for k in range(indptr[j], indptr[j + 1]):
                scores[indices[k]] += data[k] * weight


@inlined
def column_dot(indptr: Array, indices: Array, data: Array, j: int, values: Array) -> float:
    """The sum over the documents of column j; four sums at once, so that none waits for the last addition."""
    start, stop = indptr[j], indptr[j + 1]
    middle = stop - (stop - start) % 4
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for k in range(start, middle, 4):
        a += data[k] * values[indices[k]]
        b += data[k + 1] * values[indices[k + 1]]
        c += data[k + 2] * values[indices[k + 2]]
        d += data[k + 3] * values[indices[k + 3]]
    for k in range(middle, stop):
        a += data[k] * values[indices[k]]
    return (a + b) + (c + d)


@kernel
def column_dots(indptr: Array, indices: Array, data: Array, values: Array, out: Array) -> None:
    """Write X' values; X by columns."""
    for j in range(len(out)):
        out[j] = column_dot(indptr, indices, data, j, values)


@kernel
def differentiate(
    link: int,
    parameters: Array,
    signs: Array,
    importance: Array,
    scores: Array,
    pulls: Array,
    curvatures: Array,
    cautious: bool,
) -> float:
    """Write the pull and the curvature of every document; gives minus the log-likelihood.

    The logit likelihood of a margin far below 0 is nearly straight, but not where a step takes it: `cautious` takes
    the curvature of Jaakkola & Jordan's bound there, tanh(t/2) / (2t), and Newton steps do not overshoot.
    """
    if link == LOGIT:
        return _differentiate_logit(signs, importance, scores, pulls, curvatures, cautious)
    loss = 0.0
    for i in range(len(scores)):
        logarithm, slope, curvature = parts(link, parameters, signs[i] * scores[i])
        loss -= importance[i] * logarithm
        pulls[i] = importance[i] * signs[i] * slope
        curvatures[i] = importance[i] * curvature
    return loss


@kernel
def _differentiate_logit(
    signs: Array, importance: Array, scores: Array, pulls: Array, curvatures: Array, cautious: bool
) -> float:
    """As above; documents of weight 1 share one logarithm, that of the product of 1 + exp(-|t|)."""
    loss, product = 0.0, 1.0
    for i in range(len(scores)):
        t = signs[i] * scores[i]
        small = math.exp(-abs(t))
        near = 1.0 / (1.0 + small)
        far = small * near
        weight = importance[i]
        pulls[i] = weight * signs[i] * (far if t > 0.0 else near)
        curvatures[i] = weight * near * far
        if cautious and t < -0.1:
            curvatures[i] = weight * (far - near) / (2.0 * t)
        loss -= weight * min(t, 0.0)
        if weight == 1.0:
            product *= 1.0 + small
            if product > _LARGE:
                loss += math.log(product)
                product = 1.0
        else:
            loss += weight * math.log1p(small)
    return loss + math.log(product)


@kernel
def intercept_step(intercept: Array, value: float, pulls: Array, curvatures: Array) -> float:
    """The Newton step of the intercept alone."""
    if intercept[FREE] == 0.0:
        return 0.0
    pull, curvature = -intercept[PRECISION] * (value - intercept[CENTRE]), intercept[PRECISION]
    for i in range(len(pulls)):
        pull += pulls[i]
        curvature += curvatures[i]
    return pull / curvature if curvature > 0.0 else 0.0
