"""Parts of the posterior of a linear model, shared by its solvers.

All modules use the names given here.

    objective = - sum_i w_i log psi(y_i f_i) + sum_j P_j(beta_j) + Q(b),     f = X beta + b
    P_j(beta) = l1_j |beta - mode_j| + l2_j / 2 (beta - mode_j)^2,     lower_j <= beta <= upper_j

y is -1 or +1; sums are over documents, never means. Every log-concave prior has this form;
`penalty` holds its rows l1, l2, mode, lower and upper, one column per term. Q has the row
`intercept` = (free, l2, mode): the intercept is free (1) or fixed (0), and its prior is flat (l2 =
0) or normal.

    residuals      one per document: w_i y_i psi'/psi, minus the derivative by its score
    curvatures     one per document: minus the second derivative by its score, times w_i
    neg_gradient   one per term: X' residuals, minus the derivative of the likelihood by its weight
"""

from __future__ import annotations

import math

import numpy as np

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.compile import inlined, kernel, vectorised
from bayesift.kernels.likelihoods import parts

L1, L2, MODE, LOWER, UPPER = 0, 1, 2, 3, 4
FREE, PRECISION, CENTRE = 0, 1, 2
_LARGEST_EXPONENT = 708.0  # exp(-708) is the smallest power that is not denormal
_BLOCK_DOCUMENTS = 256  # documents that share a logarithm


@inlined
def penalty_of(penalty: FloatArray, j: int, weight: float) -> float:
    """P_j of a weight within its bounds."""
    distance = weight - penalty[MODE, j]
    cost: float = penalty[L1, j] * abs(distance) + 0.5 * penalty[L2, j] * distance * distance
    return cost


@inlined
def violation(penalty: FloatArray, j: int, weight: float, neg_gradient: float) -> float:
    """Return the size of the smallest subgradient of the objective by one weight."""
    distance = weight - penalty[MODE, j]
    gradient = penalty[L2, j] * distance - neg_gradient
    if distance > 0.0:
        gradient += penalty[L1, j]
    elif distance < 0.0:
        gradient -= penalty[L1, j]
    elif gradient > 0.0:
        gradient = max(gradient - penalty[L1, j], 0.0)
    else:
        gradient = min(gradient + penalty[L1, j], 0.0)
    if (gradient > 0.0 and weight <= penalty[LOWER, j]) or (
        gradient < 0.0 and weight >= penalty[UPPER, j]
    ):
        return 0.0
    size: float = abs(gradient)
    return size


@inlined
def best_weight(
    penalty: FloatArray, j: int, weight: float, neg_gradient: float, curvature: float
) -> float:
    """Return the weight that minimises a quadratic function plus its penalty."""
    centre = curvature * (weight - penalty[MODE, j]) + neg_gradient
    size = abs(centre) - penalty[L1, j]
    distance = 0.0
    if size > 0.0:
        distance = math.copysign(size / (curvature + penalty[L2, j]), centre)
    best: float = min(max(penalty[MODE, j] + distance, penalty[LOWER, j]), penalty[UPPER, j])
    return best


@inlined
def column_dot(
    start: int, stop: int, indices: IntArray, data: FloatArray, values: FloatArray
) -> float:
    """Return the sum over the entries of a column.

    Four sums at once, so that none waits for the last addition.
    """
    middle = stop - (stop - start) % 4
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for k in range(start, middle, 4):
        a += data[k] * values[np.uint32(indices[k])]
        b += data[k + 1] * values[np.uint32(indices[k + 1])]
        c += data[k + 2] * values[np.uint32(indices[k + 2])]
        d += data[k + 3] * values[np.uint32(indices[k + 3])]
    for k in range(middle, stop):
        a += data[k] * values[np.uint32(indices[k])]
    return (a + b) + (c + d)


@kernel
def differentiate(
    link: int,
    parameters: FloatArray,
    signs: FloatArray,
    importance: FloatArray,
    scores: FloatArray,
    residuals: FloatArray,
    curvatures: FloatArray,
    totals: FloatArray,
) -> float:
    """Write residual and curvature of every document under any link, and their sums.

    Returns minus the log-likelihood.
    """
    loss = 0.0
    totals[:] = 0.0
    for i in range(len(scores)):
        logarithm, derivative, curvature = parts(link, parameters, signs[i] * scores[i])
        loss -= importance[i] * logarithm
        residuals[i] = importance[i] * signs[i] * derivative
        curvatures[i] = importance[i] * curvature
        totals[0] += residuals[i]
        totals[1] += curvatures[i]
    return loss


@inlined
def _exponential(x: float) -> float:
    """exp(x) for -708 <= x <= 0 to the last bit or two, of operations that become vector code.

    x = k log 2 + r, |r| <= log 2 / 2: 2^k is made of the last bits of x / log 2 + 1.5 2^52, exp(r)
    a Taylor polynomial.
    """
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    k = shifted - 6755399441055744.0
    r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    tail = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r / 479001600)))
    power = 1.0 + r * (
        1.0
        + r
        * (
            1 / 2
            + r
            * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * tail)))))
        )
    )
    bits = (np.float64(shifted).view(np.int64) + 1023) << 52
    return power * np.int64(bits).view(np.float64)


@vectorised
def differentiate_logit(
    signs: FloatArray,
    importance: FloatArray,
    scores: FloatArray,
    residuals: FloatArray,
    curvatures: FloatArray,
    likelihoods: FloatArray,
    totals: FloatArray,
    cautious: bool,
) -> float:
    """`differentiate` for the logit link.

    Also writes the likelihood of the likelier side of each document.

    `cautious` takes the curvature tanh(t/2) / (2t) of Jaakkola & Jordan's bound of the likelihood
    for margins far below 0, so that Newton steps do not overshoot. Documents of weight 1 share a
    logarithm, that of the product of their likelihoods.
    """
    edge = -0.1 if cautious else -np.inf
    for i in range(len(scores)):
        t = signs[i] * scores[i]
        size = abs(t)
        small = _exponential(max(-size, -_LARGEST_EXPONENT))
        near = 1.0 / (1.0 + small)
        far = small * near
        bound = (near - far) / (2.0 * max(size, 0.1))
        likelihoods[i] = near
        residuals[i] = importance[i] * signs[i] * (far if t > 0.0 else near)
        curvatures[i] = importance[i] * (bound if t < edge else near * far)
    loss, residual, curvature = 0.0, 0.0, 0.0
    for first in range(0, len(scores), _BLOCK_DOCUMENTS):
        product, below = 1.0, 0.0
        for i in range(first, min(first + _BLOCK_DOCUMENTS, len(scores))):
            residual += residuals[i]
            curvature += curvatures[i]
            below += importance[i] * min(signs[i] * scores[i], 0.0)
            if importance[i] == 1.0:
                product *= likelihoods[i]
            else:
                loss -= importance[i] * math.log(likelihoods[i])
        loss -= below + math.log(product)
    totals[0], totals[1] = residual, curvature
    return loss


def squared_lengths(indptr: IntArray, data: FloatArray) -> Array:
    """Return the squared lengths of the rows of a matrix by rows, or of its columns.

    No copy is made.
    """
    squares = np.empty(len(indptr) - 1)
    _sum_squares(indptr, data, squares)
    return squares


@kernel
def _sum_squares(indptr: IntArray, data: FloatArray, out: Array) -> None:
    for i in range(len(out)):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * data[k]
        out[i] = total
