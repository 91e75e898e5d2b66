"""Online updates with a precision that is diagonal plus low rank: P + W W', d weights, W of r columns.

In precisions a document is sparse: C^-1 += rho x x', rho = -q / (1 + q v). So the last documents wait as they are, and
between two compressions nothing is approximated:

    C^-1 = P + Y Y',  Y = [W, sqrt(rho_k) x_k],  L L' = I + Y' P^-1 Y
    z = L^-1 Y' P^-1 x,  v = x' P^-1 x - z'z,  C x = P^-1 (x - Y L'^-1 z)
    L grows by the row [sqrt(rho) z', sqrt(1 + rho v)]

The mean waits too: it is `mean` + P^-1 (W c + sum_k e_k x_k). A document costs n non-zeros + n^2, n = r + waiting.

When the places are taken, Y is compressed. In the metric P^-1 its components w_p (Y' P^-1 Y = Q diag(l_p) Q', w = Y Q)
are orthogonal, so that each lowers the variances on its own, by w_pj^2 / (P_j^2 (1 + l_p)). The r leading ones stay as
the new W; what the others took from the variances is given to P:

    1 / P_j  <-  1 / P_j - sum_{p > r} w_pj^2 / (P_j^2 (1 + l_p))

which for r = 0 is the diagonal of the covariance, the closest diagonal posterior. The mean is preserved exactly, and
the posterior stays proper, as P only grows. A compression costs about 3 d r^2 + n^3 and is shared
by the documents that waited. If r components hold everything nothing is lost: the posterior is that of the full
covariance.

A label that would widen the posterior (q > 0: flip noise only) moves the mean and leaves the covariance.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesift.kernels.compile import inlined, kernel
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
    rank = factors.shape[1]
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
            products[p] += scaled * factors[j, p]
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
    rank = factors.shape[1]
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
        fields[1, i] = max(length - _solve_lower(triangle, factors.shape[1] + count, products), 0.0)


@kernel
def settle_mean(
    indptr: Array,
    indices: Array,
    data: Array,
    first: int,
    count: int,
    mean: Array,
    precision: Array,
    factors: Array,
    coefficients: Array,
) -> None:
    """Write the waiting part of the mean into it."""
    rank = factors.shape[1]
    for j in range(len(mean)):
        total = 0.0
        for p in range(rank):
            total += factors[j, p] * coefficients[p]
        mean[j] += total / precision[j]
    for b in range(count):
        for k in range(indptr[first + b], indptr[first + b + 1]):
            mean[indices[k]] += coefficients[rank + b] * data[k] / precision[indices[k]]
    coefficients[:] = 0.0


@kernel
def compress(
    indptr: Array,
    indices: Array,
    data: Array,
    first: int,
    count: int,
    mean: Array,
    precision: Array,
    factors: Array,
    triangle: Array,
    roots: Array,
    coefficients: Array,
    slots: Array,
) -> None:
    """Take the waiting documents into factors and diagonal; `slots` is a zeroed workspace and zero again after."""
    rank = factors.shape[1]
    settle_mean(indptr, indices, data, first, count, mean, precision, factors, coefficients)
    eigenvalues, rotation = _components(triangle, rank + count)
    components = _components_of_touched(indptr, indices, data, first, count, roots, rotation, slots)
    quadratic = np.zeros((rank, rank))  # of rows that no waiting document touches
    for p in range(rank):
        for o in range(rank):
            for c in range(rank, rank + count):
                quadratic[p, o] += rotation[p, c] * rotation[o, c] / (1.0 + eigenvalues[c])
    row = np.empty(rank)
    for j in range(len(mean)):
        row[:] = factors[j]
        if slots[j] > 0.0:
            given = _compress_touched(row, rotation, eigenvalues, components[int(slots[j]) - 1], factors[j])
            slots[j] = 0.0
        else:
            given = _compress_untouched(row, rotation, quadratic, factors[j])
        precision[j] /= max(1.0 - given / precision[j], 1e-12)
    factorise(precision, factors, triangle)


@inlined
def _compress_touched(row: Array, rotation: Array, eigenvalues: Array, components: Array, factors: Array) -> float:
    """Write the kept components of one weight; gives what the dropped ones take, sum_p w_p^2 / (1 + l_p)."""
    rank, size = len(row), len(eigenvalues)
    for p in range(rank):
        for c in range(size):
            components[c] += row[p] * rotation[p, c]
    factors[:] = components[:rank]
    given = 0.0
    for c in range(rank, size):
        given += components[c] * components[c] / (1.0 + eigenvalues[c])
    return given


@inlined
def _compress_untouched(row: Array, rotation: Array, quadratic: Array, factors: Array) -> float:
    """The same for a weight that is in no waiting document, from its factors alone."""
    rank = len(row)
    given = 0.0
    factors[:] = 0.0
    for p in range(rank):
        if row[p] != 0.0:
            for o in range(rank):
                factors[o] += row[p] * rotation[p, o]
                given += row[p] * quadratic[p, o] * row[o]
    return given


@kernel
def _components_of_touched(
    indptr: Array,
    indices: Array,
    data: Array,
    first: int,
    count: int,
    roots: Array,
    rotation: Array,
    slots: Array,
) -> Array:
    """The part of the waiting documents in the components of each weight they touch; `slots` says where (from 1)."""
    size = rotation.shape[0]
    rank = size - count
    touched = 0
    for k in range(indptr[first], indptr[first + count]):
        if slots[indices[k]] == 0.0:
            touched += 1
            slots[indices[k]] = touched
    components = np.zeros((touched, size))
    for b in range(count):
        for k in range(indptr[first + b], indptr[first + b + 1]):
            row, x = components[int(slots[indices[k]]) - 1], roots[b] * data[k]
            for c in range(size):
                row[c] += x * rotation[rank + b, c]
    return components


@kernel
def _components(triangle: Array, size: int) -> tuple[Array, Array]:
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


@kernel
def factorise(precision: Array, factors: Array, triangle: Array) -> None:
    """The Cholesky factor L of I + W' P^-1 W into the head of `triangle`."""
    rank = factors.shape[1]
    gram = np.zeros((rank, rank))
    for j in range(len(precision)):
        for p in range(rank):
            scaled = factors[j, p] / precision[j]
            if scaled != 0.0:
                for o in range(p + 1):
                    gram[p, o] += scaled * factors[j, o]
    for p in range(rank):
        for o in range(p + 1):
            total = gram[p, o] + (1.0 if p == o else 0.0)
            for m in range(o):
                total -= triangle[p, m] * triangle[o, m]
            triangle[p, o] = math.sqrt(total) if p == o else total / triangle[o, o]


@kernel
def forget_low_rank(keep: float, prior: float, mean: Array, precision: Array, factors: Array, triangle: Array) -> None:
    """One Ornstein-Uhlenbeck step towards the prior: mean <- keep mean, C <- keep^2 C + (1 - keep^2) prior I.

    With V = P^-1 W L'^-1 the covariance is P^-1 - V V'; after the step it is D - keep^2 V V' with D diagonal, and its
    inverse again diagonal plus low rank: D^-1 + D^-1 keep V K'^-1 (..)', K K' = I - keep^2 V' D^-1 V.
    """
    rank = factors.shape[1]
    gram = np.eye(rank)
    row = np.empty(rank)
    for j in range(len(mean)):
        mean[j] *= keep
        for p in range(rank):  # row of V: L V_j = W_j / P_j
            total = factors[j, p] / precision[j]
            for o in range(p):
                total -= triangle[p, o] * row[o]
            row[p] = total / triangle[p, p]
        precision[j] = 1.0 / (keep * keep / precision[j] + (1.0 - keep * keep) * prior)
        for p in range(rank):
            factors[j, p] = keep * row[p] * precision[j]
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
            total = factors[j, p]
            for o in range(p):
                total -= gram[p, o] * factors[j, o]
            factors[j, p] = total / gram[p, p]
    factorise(precision, factors, triangle)
