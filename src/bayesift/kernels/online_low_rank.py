"""Online updates with a precision of diagonal plus low rank, P + W W'.

There are d weights; W has r columns.

In precisions a document is sparse: C^-1 += rho x x', rho = -q / (1 + q v). The last documents are
kept as they are (pending) until the buffer is full, then compressed
(`bayesift.kernels.online_compression`); nothing else is approximate:

    C^-1 = P + Y Y',  Y = [W, sqrt(rho_k) x_k],  L L' = I + Y' P^-1 Y
    z = L^-1 Y' P^-1 x,  v = x' P^-1 x - z'z,  C x = P^-1 (x - Y L'^-1 z)
    L grows by the row [sqrt(rho) z', sqrt(1 + rho v)]

The mean is `mean` + P^-1 (W c + sum_k e_k x_k). A document costs n non-zeros + n^2, n = r + the
number pending. A label that would widen the posterior (q > 0: flip noise only) moves the mean and
leaves the covariance.
"""

from __future__ import annotations

import math

import numpy as np

from bayesift.arrays import FloatArray
from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.entries import Entries
from bayesift.kernels.online_compression import LowRankArrays, compress, forget_low_rank
from bayesift.kernels.online_moments import moments


@inlined
def _project(
    row: int,
    first: int,
    count: int,
    documents: Entries,
    posterior: LowRankArrays,
    scattered: FloatArray,
    products: FloatArray,
) -> tuple[float, float]:
    """Y' P^-1 x of a document into `products`; returns h and x' P^-1 x."""
    indptr, indices, data = documents
    mean, precision, factors, _, roots, coefficients = posterior
    rank = factors.shape[0]
    h, length = 0.0, 0.0
    for p in range(rank):
        products[p] = 0.0
    for k in range(indptr[row], indptr[row + 1]):
        j = indices[k]
        scaled = data[k] / precision[j]
        scattered[j] = scaled
        h += data[k] * mean[j]
        length += data[k] * scaled
        for p in range(rank):
            products[p] += scaled * factors[p, j]
    for p in range(rank):
        h += products[p] * coefficients[p]
    for b in range(count):
        product = 0.0
        for k in range(indptr[first + b], indptr[first + b + 1]):
            product += data[k] * scattered[indices[k]]
        h += product * coefficients[rank + b]
        products[rank + b] = roots[b] * product
    for k in range(indptr[row], indptr[row + 1]):
        scattered[indices[k]] = 0.0
    return h, length


@inlined
def _solve_lower(triangle: FloatArray, size: int, vector: FloatArray) -> float:
    """Vector <- L^-1 vector; returns its squared length."""
    length = 0.0
    for i in range(size):
        total = vector[i]
        for j in range(i):
            total -= triangle[i, j] * vector[j]
        vector[i] = total / triangle[i, i]
        length += vector[i] * vector[i]
    return length


@inlined
def _solve_upper(triangle: FloatArray, size: int, vector: FloatArray) -> None:
    """Vector <- L'^-1 vector."""
    for i in range(size - 1, -1, -1):
        vector[i] /= triangle[i, i]
        for j in range(i):
            vector[j] -= vector[i] * triangle[i, j]


@inlined
def _append_pending(
    v: float, g: float, q: float, count: int, posterior: LowRankArrays, products: FloatArray
) -> None:
    """Append a document to `count` pending ones; `products` is its z on entry."""
    _, _, factors, triangle, roots, coefficients = posterior
    rank = factors.shape[0]
    size = rank + count
    rho = -q / (1.0 + q * v)
    root = math.sqrt(rho)
    for j in range(size):
        triangle[size, j] = root * products[j]
    triangle[size, size] = math.sqrt(1.0 + rho * v)
    _solve_upper(triangle, size, products)
    for p in range(rank):
        coefficients[p] -= g * products[p]
    for b in range(count):
        coefficients[rank + b] -= g * roots[b] * products[rank + b]
    coefficients[size] = g
    roots[count] = root


@kernel
def learn_low_rank(
    code: int,
    parameters: FloatArray,
    documents: Entries,
    signs: FloatArray,
    count: int,
    keep: float,
    prior: float,
    posterior: LowRankArrays,
    scattered: FloatArray,
    fields: FloatArray,
) -> tuple[float, int]:
    """Update with each document in turn.

    Returns the sum of their log evidence and the number of pending rows.

    The first `count` documents are pending, those to learn follow them; `fields` and `signs`
    belong to these. `scattered` is a workspace of zeros, one per weight.
    """
    _, _, factors, triangle, roots, coefficients = posterior
    first, rank = 0, factors.shape[0]
    products = np.empty(len(coefficients))
    total = 0.0
    for i in range(len(signs)):
        h, length = _project(
            first + count, first, count, documents, posterior, scattered, products
        )
        v = max(length - _solve_lower(triangle, rank + count, products), 0.0)
        fields[0, i], fields[1, i] = h, v
        log_evidence, g, q = moments(code, parameters, signs[i], h, v)
        total += log_evidence
        _append_pending(v, g, min(q, 0.0), count, posterior, products)
        count += 1
        if count == len(roots):
            compress(documents, first, count, posterior, scattered)
            first, count = first + count, 0
            if keep < 1.0:
                forget_low_rank(keep ** len(roots), prior, posterior)
    return total, count


@kernel
def low_rank_fields(
    documents: Entries,
    count: int,
    posterior: LowRankArrays,
    scattered: FloatArray,
    fields: FloatArray,
) -> None:
    """Write mean and variance of every document's field.

    The first `count` rows are the pending ones.
    """
    size = posterior.factors.shape[0] + count
    products = np.empty(len(posterior.coefficients))
    for i in range(fields.shape[1]):
        h, length = _project(count + i, 0, count, documents, posterior, scattered, products)
        fields[0, i] = h
        fields[1, i] = max(length - _solve_lower(posterior.triangle, size, products), 0.0)
