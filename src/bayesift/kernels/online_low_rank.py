"""Online updates with a precision that is diagonal plus low rank: P + W W', d weights, W of r columns.

In precisions a document is sparse: C^-1 += rho x x', rho = -q / (1 + q v). So the last documents wait as they are, and
between two compressions nothing is approximated:

    C^-1 = P + Y Y',  Y = [W, sqrt(rho_k) x_k],  L L' = I + Y' P^-1 Y
    z = L^-1 Y' P^-1 x,  v = x' P^-1 x - z'z,  C x = P^-1 (x - Y L'^-1 z)
    L grows by the row [sqrt(rho) z', sqrt(1 + rho v)]

The mean waits too: it is `mean` + P^-1 (W c + sum_k e_k x_k). A document costs n non-zeros + n^2, n = r + waiting.

When the places are taken, Y is compressed (`bayesift.kernels.online_compression`).

A label that would widen the posterior (q > 0: flip noise only) moves the mean and leaves the covariance.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.online_compression import compress, forget_low_rank
from bayesift.kernels.online_moments import moments

Array = np.ndarray[Any, Any]


@inlined
def _project(
    row: int,
    first: int,
    count: int,
    indptr: Array,
    indices: Array,
    data: Array,
    mean: Array,
    precision: Array,
    factors: Array,
    roots: Array,
    coefficients: Array,
    scattered: Array,
    products: Array,
) -> tuple[float, float]:
    """Y' P^-1 x of a document into `products`; gives h and x' P^-1 x."""
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
def _solve_lower(triangle: Array, size: int, vector: Array) -> float:
    """Vector <- L^-1 vector; gives its squared length."""
    length = 0.0
    for i in range(size):
        total = vector[i]
        for j in range(i):
            total -= triangle[i, j] * vector[j]
        vector[i] = total / triangle[i, i]
        length += vector[i] * vector[i]
    return length


@inlined
def _solve_upper(triangle: Array, size: int, vector: Array) -> None:
    """Vector <- L'^-1 vector."""
    for i in range(size - 1, -1, -1):
        vector[i] /= triangle[i, i]
        for j in range(i):
            vector[j] -= vector[i] * triangle[i, j]


@inlined
def _await(
    v: float,
    g: float,
    q: float,
    count: int,
    rank: int,
    products: Array,
    triangle: Array,
    roots: Array,
    coefficients: Array,
) -> None:
    """Let a document wait behind `count` others; `products` is its z on entry."""
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
    parameters: Array,
    indptr: Array,
    indices: Array,
    data: Array,
    signs: Array,
    first: int,
    count: int,
    keep: float,
    prior: float,
    mean: Array,
    precision: Array,
    factors: Array,
    triangle: Array,
    roots: Array,
    coefficients: Array,
    scattered: Array,
    fields: Array,
) -> tuple[float, int]:
    """Update with each document in turn; gives the sum of their log evidence and how many rows wait at the end.

    Rows first .. first + count wait already, the documents to learn follow them; `fields` and `signs` belong to these.
    """
    rank = factors.shape[0]
    products = np.empty(len(coefficients))
    total = 0.0
    for i in range(len(signs)):
        h, length = _project(
            first + count, first, count, indptr, indices, data, mean, precision, factors, roots, coefficients,
            scattered, products,
        )  # fmt: skip
        v = max(length - _solve_lower(triangle, rank + count, products), 0.0)
        fields[0, i], fields[1, i] = h, v
        log_evidence, g, q = moments(code, parameters, signs[i], h, v)
        total += log_evidence
        _await(v, g, min(q, 0.0), count, rank, products, triangle, roots, coefficients)
        count += 1
        if count == len(roots):
            compress(
                indptr, indices, data, first, count, mean, precision, factors, triangle, roots, coefficients, scattered
            )
            first, count = first + count, 0
            if keep < 1.0:
                forget_low_rank(keep ** len(roots), prior, mean, precision, factors, triangle)
    return total, count


@kernel
def low_rank_fields(
    indptr: Array,
    indices: Array,
    data: Array,
    count: int,
    mean: Array,
    precision: Array,
    factors: Array,
    triangle: Array,
    roots: Array,
    coefficients: Array,
    scattered: Array,
    fields: Array,
) -> None:
    """Write mean and variance of every document's field; the first `count` rows are those that wait."""
    products = np.empty(len(coefficients))
    for i in range(fields.shape[1]):
        h, length = _project(
            count + i, 0, count, indptr, indices, data, mean, precision, factors, roots, coefficients, scattered,
            products,
        )  # fmt: skip
        fields[0, i] = h
        fields[1, i] = max(length - _solve_lower(triangle, factors.shape[0] + count, products), 0.0)
