"""Logistic regression with a Laplace prior, one document at a time: FTRL-proximal (McMahan et al. 2013).

    w_j = -soft(z_j, lambda) rate / (1 + sqrt(n_j)),  soft(z, lambda) = sign(z) max(|z| - lambda, 0)
    g_j = (p - y) x_j,  z_j += g_j - w_j (sqrt(n_j + g_j^2) - sqrt(n_j)) / rate,  n_j += g_j^2

z and n are terms x models, `biases` (z, n) x models; the intercept has no prior. lambda is the factor of |w| in the
negative log prior, so that a term enters the model when documents have pulled it by more than its prior holds it.
"""

from __future__ import annotations

import math

import numpy as np

from bayesift.arrays import Array
from bayesift.kernels.compile import inlined, kernel


@inlined
def _weight(z: float, n: float, strength: float, rate: float) -> float:
    if abs(z) <= strength:
        return 0.0
    return -(z - math.copysign(strength, z)) * rate / (1.0 + math.sqrt(n))


@kernel
def run_laplace(
    indptr: Array,
    indices: Array,
    data: Array,
    labels: Array,
    strength: float,
    rate: float,
    sums: Array,
    squares: Array,
    biases: Array,
    scores: Array,
) -> None:
    """Write the log odds of every document and model, each before its labels (0 or 1) are learned, if there are any."""
    n_models = biases.shape[1]
    error = np.empty(n_models)
    for i in range(len(indptr) - 1):
        for c in range(n_models):
            scores[i, c] = _weight(biases[0, c], biases[1, c], 0.0, rate)
        for k in range(indptr[i], indptr[i + 1]):
            for c in range(n_models):
                scores[i, c] += data[k] * _weight(sums[indices[k], c], squares[indices[k], c], strength, rate)
        if len(labels) == 0:
            continue
        for c in range(n_models):
            p = 1.0 / (1.0 + math.exp(-min(max(scores[i, c], -30.0), 30.0)))
            error[c] = p - labels[i, c]
            _learn(biases[0], biases[1], c, error[c], 0.0, rate)
        for k in range(indptr[i], indptr[i + 1]):
            for c in range(n_models):
                _learn(sums[indices[k]], squares[indices[k]], c, error[c] * data[k], strength, rate)


@inlined
def _learn(sums: Array, squares: Array, c: int, slope: float, strength: float, rate: float) -> None:
    n = squares[c] + slope * slope
    sums[c] += slope - _weight(sums[c], squares[c], strength, rate) * (math.sqrt(n) - math.sqrt(squares[c])) / rate
    squares[c] = n
