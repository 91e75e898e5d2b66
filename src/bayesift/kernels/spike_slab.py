"""Coordinate updates of a factorised posterior under a spike-and-slab prior.

At the present posterior the log-likelihood of a category has a quadratic model in the scores f = X
beta + b:

    sum_i t_i f_i - w_i f_i^2 / 2 + constant

A weight comes from the slab, N(0, v_1), with prior log odds `odds`, otherwise from the spike, N(0,
v_0); v_0 = 0 is a weight of exactly 0. Its posterior is such a mixture too. With the residuals r_i
= t_i - w_i E f_i, the mean m_j of the weight, d_j = sum_i w_i x_ij^2 and g_j = sum_i x_ij r_i + d_j
m_j, the factor of term j that maximises the ELBO is prior x exp(g_j beta - d_j beta^2 / 2), with

    s_k = v_k / (1 + d_j v_k),   mu_k = s_k g_j,     k = 0, 1
    logit a_j = odds + (g_j^2 (s_1 - s_0) - log(1 + d_j v_1) + log(1 + d_j v_0)) / 2

(Carbonetto & Stephens 2012, eqs. 8-10, for v_0 = 0). A sweep costs one pass over the entries of its
columns, and a second one over those of the columns that move.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bayesift.arrays import FloatArray, IntArray
from bayesift.kernels.compile import kernel, vectorised
from bayesift.kernels.entries import Entries
from bayesift.kernels.likelihoods import parts

_SMALLEST_VARIANCE = 1e-8  # of a score


class ScoreArrays(NamedTuple):
    """Means and variances (`spreads`) of the scores of documents, curvatures w and residuals r."""

    scores: FloatArray
    spreads: FloatArray
    curvatures: FloatArray
    residuals: FloatArray


@vectorised
def sweep_terms(
    columns: Entries,
    terms: IntArray,
    odds: float,
    spike: float,
    slab: float,
    still: float,
    rate: float,
    documents: ScoreArrays,
    factors: FloatArray,
    moves: FloatArray,
) -> None:
    """Update the factors of these terms in place, and the moments of the scores.

    Residuals, means and variances (`spreads`) of the scores follow.

    The rows of `factors` are a, g, d, the mean and the variance of each weight, and the divergence
    of its factor from the prior. g and d go the share `rate` of the way. A term's move is the
    change of a, or of the mean in units of 1 / sqrt(d), whichever is larger; a move of at most
    `still` is not made.
    """
    indptr, indices, data = columns
    scores, spreads, curvatures, residuals = documents
    outside = -math.log1p(math.exp(odds))
    for place in range(len(terms)):
        j = terms[place]
        gain, d = 0.0, 0.0
        for k in range(indptr[j], indptr[j + 1]):
            x = data[k]
            gain += x * residuals[indices[k]]
            d += x * x * curvatures[indices[k]]
        g = gain + d * factors[3, j]
        change, widening, precision = g - factors[1, j], d - factors[2, j], d + 1.0 / slab
        settled = (
            abs(widening) <= still * precision and change * change <= still * still * precision
        )
        if settled and factors[0, j] > 0.0:
            moves[place] = 0.0
            continue
        g, d = factors[1, j] + rate * change, factors[2, j] + rate * widening
        narrow, wide = spike / (1.0 + d * spike), slab / (1.0 + d * slab)
        spread = math.log1p(d * spike) if spike > 0.0 else 0.0
        ratio = odds + 0.5 * (g * g * (wide - narrow) - math.log1p(d * slab) + spread)
        small = math.exp(-abs(ratio))
        a = (1.0 if ratio > 0.0 else small) / (1.0 + small)
        mean = g * (a * wide + (1.0 - a) * narrow)
        square = a * wide * (1.0 + wide * g * g) + (1.0 - a) * narrow * (1.0 + narrow * g * g)
        moved, widened = mean - factors[3, j], square - mean * mean - factors[4, j]
        moves[place] = max(abs(a - factors[0, j]), abs(moved) * math.sqrt(d)) / rate
        if moves[place] <= still:
            continue
        factors[0, j], factors[1, j], factors[2, j] = a, g, d
        factors[3, j], factors[4, j] = mean, square - mean * mean
        normaliser = (
            outside + 0.5 * (narrow * g * g - spread) + max(ratio, 0.0) + math.log1p(small)
        )
        factors[5, j] = g * mean - 0.5 * d * square - normaliser
        for k in range(indptr[j], indptr[j + 1]):
            i, x = indices[k], data[k]
            scores[i] += x * moved
            residuals[i] -= curvatures[i] * x * moved
            spreads[i] += x * x * widened


@kernel
def expected_likelihood(
    link: int,
    parameters: FloatArray,
    signs: FloatArray,
    importance: FloatArray,
    scores: FloatArray,
    spreads: FloatArray,
    common: float,
    residuals: FloatArray,
    curvatures: FloatArray,
) -> float:
    """Return the mean log-likelihood where scores are normal, by three Gauss-Hermite nodes.

    Written are its derivatives by the means of the scores and -2 times those by their variances.
    """
    total = 0.0
    for i in range(len(scores)):
        margin, distance = (
            signs[i] * scores[i],
            math.sqrt(3.0 * max(spreads[i] + common, _SMALLEST_VARIANCE)),
        )
        here, slope, _ = parts(link, parameters, margin)
        above, flatter, _ = parts(link, parameters, margin + distance)
        below, steeper, _ = parts(link, parameters, margin - distance)
        total += importance[i] * (4.0 * here + above + below) / 6.0
        residuals[i] = importance[i] * signs[i] * (4.0 * slope + flatter + steeper) / 6.0
        curvatures[i] = importance[i] * (steeper - flatter) / (2.0 * distance)
    return total
