"""Compression of a precision P + Y Y' to P + W W'.

Y = [W, sqrt(rho_k) x_k], W of r columns, x_k pending documents.

In the metric P^-1 the components of Y (Y' P^-1 Y = Q diag(l_p) Q', w = Y Q) are orthogonal, so that
each lowers the variances on its own. The r leading ones stay as the new W; what the others took
from the variances is given to P:

    1 / P_j  <-  1 / P_j - sum_{p > r} w_pj^2 / (P_j^2 (1 + l_p))

which for r = 0 is the closest diagonal posterior. The mean is preserved exactly, and the posterior
stays proper, as P only grows. If r components suffice, nothing is lost. A compression costs about 3
d r^2 + n^3. `factors` holds W' (r rows): work on all d weights runs along rows, by blocks that stay
in the cache, in loops that become vector code.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array, FloatArray
from bayesift.kernels.compile import kernel, vectorised
from bayesift.kernels.entries import Entries

_BLOCK_WEIGHTS = 512  # weights whose factors are worked on together
_LEAST_VARIANCE_SHARE = 1e-12  # share of a variance that a compression leaves at least


class LowRankArrays(NamedTuple):
    """The arrays of a normal posterior whose precision is diagonal plus low rank.

    `triangle` is L, `roots` the sqrt(rho_k) of pending documents, `coefficients` c and e_k.
    """

    mean: FloatArray
    precision: FloatArray
    factors: FloatArray
    triangle: FloatArray
    roots: FloatArray
    coefficients: FloatArray


@vectorised
def _add_multiple(target: Array, factor: float, source: Array) -> None:
    for j in range(len(target)):
        target[j] += factor * source[j]


@vectorised
def _add_products(target: Array, factor: float, left: Array, right: Array) -> None:
    for j in range(len(target)):
        target[j] += factor * left[j] * right[j]


@vectorised
def _add_ratios(target: Array, above: FloatArray, below: FloatArray) -> None:
    for j in range(len(target)):
        target[j] += above[j] / below[j]


@vectorised
def _add_weighted(target: Array, left: Array, right: Array, precision: FloatArray) -> None:
    for j in range(len(target)):
        target[j] += left[j] * right[j] / precision[j]


@vectorised
def _lower_variances(precision: FloatArray, given: Array) -> None:
    """1 / P <- 1 / P - given / P^2."""
    for j in range(len(precision)):
        precision[j] /= max(1.0 - given[j] / precision[j], _LEAST_VARIANCE_SHARE)


@kernel
def apply_pending_mean(
    documents: Entries, first: int, count: int, posterior: LowRankArrays
) -> None:
    """Add the pending part to the mean, and set its coefficients to 0."""
    indptr, indices, data = documents
    mean, precision, factors, _, _, coefficients = posterior
    rank = factors.shape[0]
    _apply_factors(mean, precision, factors, coefficients, np.empty(_BLOCK_WEIGHTS))
    for b in range(count):
        for k in range(indptr[first + b], indptr[first + b + 1]):
            mean[indices[k]] += coefficients[rank + b] * data[k] / precision[indices[k]]
    coefficients[:] = 0.0


@vectorised
def _apply_factors(
    mean: FloatArray,
    precision: FloatArray,
    factors: FloatArray,
    coefficients: FloatArray,
    sums: FloatArray,
) -> None:
    """Mean += P^-1 W c."""
    for start in range(0, len(mean), _BLOCK_WEIGHTS):
        block = slice(start, min(start + _BLOCK_WEIGHTS, len(mean)))
        total = sums[: block.stop - start]
        total[:] = 0.0
        for p in range(factors.shape[0]):
            _add_multiple(total, coefficients[p], factors[p, block])
        _add_ratios(mean[block], total, precision[block])


@kernel
def compress(
    documents: Entries, first: int, count: int, posterior: LowRankArrays, slots: FloatArray
) -> None:
    """Move the pending documents into factors and diagonal.

    `slots` is a workspace of zeros, zero again after.
    """
    _, precision, factors, triangle, roots, _ = posterior
    rank = factors.shape[0]
    apply_pending_mean(documents, first, count, posterior)
    eigenvalues, rotation = _components(triangle, rank + count)
    touched, components = _components_of_touched(
        documents, first, count, roots, rotation, factors, slots
    )
    old = precision[touched]
    quadratic = np.zeros((rank, rank))  # of weights of terms in no pending document
    for p in range(rank):
        for o in range(rank):
            for c in range(rank, rank + count):
                quadratic[p, o] += rotation[p, c] * rotation[o, c] / (1.0 + eigenvalues[c])
    _compress_untouched(
        precision,
        factors,
        rotation,
        quadratic,
        np.empty((rank, _BLOCK_WEIGHTS)),
        np.empty(_BLOCK_WEIGHTS),
    )
    for t in range(len(touched)):
        given = 0.0
        for c in range(rank, rank + count):
            given += components[t, c] * components[t, c] / (1.0 + eigenvalues[c])
        precision[touched[t]] = old[t] / max(1.0 - given / old[t], _LEAST_VARIANCE_SHARE)
        for p in range(rank):
            factors[p, touched[t]] = components[t, p]
    factorise(precision, factors, triangle)


@vectorised
def _compress_untouched(
    precision: FloatArray,
    factors: FloatArray,
    rotation: FloatArray,
    quadratic: FloatArray,
    rows: Array,
    given: Array,
) -> None:
    """Rotate the factors of all weights as if in no pending document.

    Add what is dropped to the diagonal.
    """
    rank = factors.shape[0]
    for start in range(0, len(precision), _BLOCK_WEIGHTS):
        block = slice(start, min(start + _BLOCK_WEIGHTS, len(precision)))
        size = block.stop - start
        dropped = given[:size]
        dropped[:] = 0.0
        for p in range(rank):
            rows[p, :size] = factors[p, block]
            factors[p, block] = 0.0
            for o in range(p + 1):
                weight = quadratic[p, o] if o == p else 2.0 * quadratic[p, o]
                _add_products(dropped, weight, rows[p, :size], rows[o, :size])
        for o in range(rank):
            for p in range(rank):
                _add_multiple(factors[o, block], rotation[p, o], rows[p, :size])
        _lower_variances(precision[block], dropped)


@kernel
def _components_of_touched(
    documents: Entries,
    first: int,
    count: int,
    roots: FloatArray,
    rotation: FloatArray,
    factors: FloatArray,
    slots: FloatArray,
) -> tuple[Array, Array]:
    """Return the weights of terms in pending documents, and the components of each, Y Q."""
    indptr, indices, data = documents
    size = rotation.shape[0]
    rank = size - count
    touched = np.empty(indptr[first + count] - indptr[first], dtype=np.int64)
    found = 0
    for k in range(indptr[first], indptr[first + count]):
        if slots[indices[k]] == 0.0:
            touched[found] = indices[k]
            found += 1
            slots[indices[k]] = found
    components = np.zeros((found, size))
    for b in range(count):
        for k in range(indptr[first + b], indptr[first + b + 1]):
            at, x = int(slots[indices[k]]) - 1, roots[b] * data[k]
            for c in range(size):
                components[at, c] += x * rotation[rank + b, c]
    for t in range(found):
        slots[touched[t]] = 0.0
        for p in range(rank):
            for c in range(size):
                components[t, c] += factors[p, touched[t]] * rotation[p, c]
    return touched[:found], components


@kernel
def _components(triangle: FloatArray, size: int) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors (columns) of Y' P^-1 Y = L L' - I, the largest first."""
    gram = np.zeros((size, size))
    for i in range(size):
        for j in range(i + 1):
            total = 0.0
            for p in range(j + 1):
                total += triangle[i, p] * triangle[j, p]
            gram[i, j] = total
            gram[j, i] = total
        gram[i, i] -= 1.0
    values, vectors = np.linalg.eigh(gram)
    eigenvalues, rotation = np.empty(size), np.empty((size, size))
    for c in range(size):
        eigenvalues[c] = max(values[size - 1 - c], 0.0)
        for i in range(size):
            rotation[i, c] = vectors[i, size - 1 - c]
    return eigenvalues, rotation


@vectorised
def _weighted_product(
    left: Array, right: Array, precision: FloatArray, sums: FloatArray
) -> float:
    """Sum left_j right_j / P_j, each position within blocks by itself first."""
    sums[:] = 0.0
    for start in range(0, len(precision), _BLOCK_WEIGHTS):
        block = slice(start, min(start + _BLOCK_WEIGHTS, len(precision)))
        _add_weighted(sums[: block.stop - start], left[block], right[block], precision[block])
    total = 0.0
    for j in range(len(sums)):
        total += sums[j]
    return total


@kernel
def factorise(precision: FloatArray, factors: FloatArray, triangle: FloatArray) -> None:
    """Write the Cholesky factor L of I + W' P^-1 W into the head of `triangle`."""
    sums = np.empty(_BLOCK_WEIGHTS)
    for p in range(factors.shape[0]):
        for o in range(p + 1):
            total = _weighted_product(factors[p], factors[o], precision, sums) + (
                1.0 if p == o else 0.0
            )
            for m in range(o):
                total -= triangle[p, m] * triangle[o, m]
            triangle[p, o] = math.sqrt(total) if p == o else total / triangle[o, o]


@kernel
def forget_low_rank(keep: float, prior: float, posterior: LowRankArrays) -> None:
    """Make one Ornstein-Uhlenbeck step towards the prior.

    mean <- keep mean, C <- keep^2 C + (1 - keep^2) prior I.

    With V = P^-1 W L'^-1 the covariance is D - keep^2 V V' after the step, D diagonal, and its
    inverse again diagonal plus low rank: D^-1 + D^-1 keep V K'^-1 (..)', K K' = I - keep^2 V' D^-1
    V.
    """
    mean, precision, factors, triangle, _, _ = posterior
    rank = factors.shape[0]
    gram = np.eye(rank)
    row = np.empty(rank)
    for j in range(len(mean)):
        mean[j] *= keep
        for p in range(rank):  # row of V: L V_j = W_j / P_j
            total = factors[p, j] / precision[j]
            for o in range(p):
                total -= triangle[p, o] * row[o]
            row[p] = total / triangle[p, p]
        precision[j] = 1.0 / (keep * keep / precision[j] + (1.0 - keep * keep) * prior)
        for p in range(rank):
            factors[p, j] = keep * row[p] * precision[j]
            for o in range(p + 1):
                gram[p, o] -= keep * keep * row[p] * row[o] * precision[j]
    for p in range(rank):
        for o in range(p + 1):
            total = gram[p, o]
            for m in range(o):
                total -= gram[p, m] * gram[o, m]
            gram[p, o] = math.sqrt(total) if p == o else total / gram[o, o]
    for j in range(len(mean)):
        for p in range(rank):  # K W'_j = (D^-1 keep V)_j
            total = factors[p, j]
            for o in range(p):
                total -= gram[p, o] * factors[o, j]
            factors[p, j] = total / gram[p, p]
    factorise(precision, factors, triangle)
