"""Logistic regression with a Laplace prior by FTRL-proximal (McMahan et al. 2013).

It learns one document at a time.

    w_j = -soft(z_j, k lambda) rate / (1 + sqrt(n_j)),  soft(z, l) = sign(z) max(|z| - l, 0)
    g_j = (p - y) x_j,  z_j += g_j - w_j (sqrt(n_j + k g_j^2) - sqrt(n_j)) / rate,  n_j += k g_j^2

z and n are terms x models, `biases` (z, n) x models; the intercept has no prior. lambda is the
factor of |w| in the negative log prior, so that a term enters the model when documents have pulled
it by more than its prior holds it. k is 1 in the first pass over the documents and then the number
of passes so far: the prior counts as often as documents do, and steps become short as 1 / k, with
which they come to the mode (k is 1 throughout in McMahan et al.).
"""

from __future__ import annotations

import math

import numpy as np

from bayesift.arrays import Array, FloatArray
from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.entries import Entries


@inlined
def _weight(z: float, n: float, strength: float, rate: float) -> float:
    if abs(z) <= strength:
        return 0.0
    return -(z - math.copysign(strength, z)) * rate / (1.0 + math.sqrt(n))


@inlined
def _passes(n_documents: int, pass_size: int) -> float:
    return max(1.0, n_documents / pass_size) if pass_size > 0 else 1.0


@kernel
def run_laplace(
    documents: Entries,
    labels: Array,
    n_before: int,
    pass_size: int,
    factor: float,
    rate: float,
    sums: FloatArray,
    squares: FloatArray,
    biases: FloatArray,
    scores: FloatArray,
) -> None:
    """Write the log odds of every document, each before its labels (0 or 1) are learned.

    Without labels nothing is learned.

    `n_before` documents were learned before, in passes of `pass_size` (0: the first is not over);
    `factor` is lambda.
    """
    indptr, indices, data = documents
    n_models = biases.shape[1]
    error = np.empty(n_models)
    passes = _passes(n_before, pass_size)
    for i in range(len(indptr) - 1):
        if len(labels):
            passes = _passes(n_before + i, pass_size)
        strength = passes * factor
        for c in range(n_models):
            scores[i, c] = _weight(biases[0, c], biases[1, c], 0.0, rate)
        for k in range(indptr[i], indptr[i + 1]):
            for c in range(n_models):
                scores[i, c] += data[k] * _weight(
                    sums[indices[k], c], squares[indices[k], c], strength, rate
                )
        if len(labels) == 0:
            continue
        for c in range(n_models):
            p = 1.0 / (1.0 + math.exp(-min(max(scores[i, c], -30.0), 30.0)))
            error[c] = p - labels[i, c]
            _learn(biases[0], biases[1], c, error[c], passes, 0.0, rate)
        for k in range(indptr[i], indptr[i + 1]):
            for c in range(n_models):
                _learn(
                    sums[indices[k]],
                    squares[indices[k]],
                    c,
                    error[c] * data[k],
                    passes,
                    strength,
                    rate,
                )


@inlined
def _learn(
    sums: FloatArray,
    squares: FloatArray,
    c: int,
    slope: float,
    passes: float,
    strength: float,
    rate: float,
) -> None:
    n = squares[c] + passes * slope * slope
    sums[c] += (
        slope
        - _weight(sums[c], squares[c], strength, rate)
        * (math.sqrt(n) - math.sqrt(squares[c]))
        / rate
    )
    squares[c] = n
