"""Coordinate updates of a factorised posterior under a spike-and-slab prior.

At the present posterior the log-likelihood of a category has a quadratic lower bound in the scores f = X beta + b:

    sum_i t_i f_i - w_i f_i^2 / 2 + constant

A weight comes from the slab, N(0, v_1), with prior log odds `odds`, otherwise from the spike, N(0, v_0); v_0 = 0 is a
weight of exactly 0. Its posterior is such a mixture too. With the residuals r_i = t_i - w_i E f_i, the mean m_j of the
weight, d_j = sum_i w_i x_ij^2 and g_j = sum_i x_ij r_i + d_j m_j, the factor of term j that maximises the bound has

    s_k = v_k / (1 + d_j v_k),   mu_k = s_k g_j,     k = 0, 1
    logit a_j = odds + (g_j^2 (s_1 - s_0) - log(1 + d_j v_1) + log(1 + d_j v_0)) / 2

(Carbonetto & Stephens 2012, eqs. 8-10, for v_0 = 0). A sweep costs one pass over the entries of its columns, and a
second one over those of the columns that move.
"""

from __future__ import annotations

import math

from bayesift.arrays import Array
from bayesift.kernels.compile import vectorised

_LARGEST_ODDS = 700.0  # of a logarithm: its exponential is finite


@vectorised
def sweep_terms(
    indptr: Array,
    indices: Array,
    data: Array,
    terms: Array,
    odds: float,
    spike: float,
    slab: float,
    still: float,
    curvatures: Array,
    residuals: Array,
    scores: Array,
    spreads: Array,
    factors: Array,
    moves: Array,
) -> None:
    """Update the factors of these terms in place, with residuals, means and variances (`spreads`) of the scores.

    The rows of `factors` are a, g, d and the mean and the variance of each weight. A term's move is the change of a, or
    of the mean in units of 1 / sqrt(d), whichever is larger; a move of at most `still` is not made.
    """
    for place in range(len(terms)):
        j = terms[place]
        gain, d = 0.0, 0.0
        for k in range(indptr[j], indptr[j + 1]):
            x = data[k]
            gain += x * residuals[indices[k]]
            d += x * x * curvatures[indices[k]]
        g = gain + d * factors[3, j]
        narrow, wide = spike / (1.0 + d * spike), slab / (1.0 + d * slab)
        ratio = odds + 0.5 * (g * g * (wide - narrow) - math.log1p(d * slab) + math.log1p(d * spike))
        a = 1.0 / (1.0 + math.exp(-min(max(ratio, -_LARGEST_ODDS), _LARGEST_ODDS)))
        mean = g * (a * wide + (1.0 - a) * narrow)
        square = a * wide * (1.0 + wide * g * g) + (1.0 - a) * narrow * (1.0 + narrow * g * g)
        moved, widened = mean - factors[3, j], square - mean * mean - factors[4, j]
        moves[place] = max(abs(a - factors[0, j]), abs(moved) * math.sqrt(d))
        if moves[place] <= still:
            continue
        factors[0, j], factors[1, j], factors[2, j] = a, g, d
        factors[3, j], factors[4, j] = mean, square - mean * mean
        for k in range(indptr[j], indptr[j + 1]):
            i, x = indices[k], data[k]
            scores[i] += x * moved
            residuals[i] -= curvatures[i] * x * moved
            spreads[i] += x * x * widened
