"""Covariances of documents under a Gaussian process, and the sparse rows they are computed from.

    LINEAR       x.x' + constant
    POLYNOMIAL   (x.x' + constant)^degree
    RBF          exp(-|x - x'|^2 / 2 length^2),  |x - x'|^2 = |x|^2 + |x'|^2 - 2 x.x'

`parameters` holds (constant, degree or length, jitter); jitter is added where two rows are equal. A covariance costs as
many multiplications as the other row has terms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesift.kernels.compile import inlined, kernel

Array = np.ndarray[Any, Any]

LINEAR, POLYNOMIAL, RBF = 0, 1, 2


@kernel
def squared_norms(indptr: Array, data: Array, norms: Array) -> None:
    """Write |x|^2 of every row."""
    for i in range(len(norms)):
        total = 0.0
        for n in range(indptr[i], indptr[i + 1]):
            total += data[n] * data[n]
        norms[i] = total


@inlined
def _covariance(code: int, parameters: Array, dot: float, left: float, right: float) -> float:
    """The covariance of two documents by their product and squared norms."""
    if code == RBF:
        return math.exp(-0.5 * max(left + right - 2.0 * dot, 0.0) / (parameters[1] * parameters[1]))
    value: float = dot + parameters[0]
    if code == POLYNOMIAL:
        value = value ** parameters[1]
    return value


@inlined
def _same_row(indices: Array, data: Array, first: int, n_first: int, second: int, n_second: int) -> bool:
    if n_first != n_second:
        return False
    for n in range(n_first):
        if indices[first + n] != indices[second + n] or data[first + n] != data[second + n]:
            return False
    return True


@kernel
def covariances(
    code: int,
    parameters: Array,
    indptr: Array,
    indices: Array,
    data: Array,
    norms: Array,
    first: int,
    n_others: int,
    work: Array,
    gram: Array,
) -> None:
    """Write the covariances of rows first.. with rows 0 .. n_others, or (-1) with all rows before each.

    `work` has a zero for every column and is left so. Sums run in the order of columns, so that a covariance does
    not depend on which documents it is computed with.
    """
    for i in range(gram.shape[0]):
        start, stop = indptr[first + i], indptr[first + i + 1]
        for n in range(start, stop):
            work[indices[n]] = data[n]
        for j in range(n_others if n_others >= 0 else first + i):
            dot = 0.0
            for n in range(indptr[j], indptr[j + 1]):
                dot += work[indices[n]] * data[n]
            gram[i, j] = _covariance(code, parameters, dot, norms[first + i], norms[j])
            if norms[first + i] == norms[j] and _same_row(
                indices, data, start, stop - start, indptr[j], indptr[j + 1] - indptr[j]
            ):
                gram[i, j] += parameters[2]
        for n in range(start, stop):
            work[indices[n]] = 0.0


@kernel
def add_to_equal(indptr: Array, indices: Array, data: Array, first: int, amount: float, gram: Array) -> None:
    """Add an amount to the covariances of rows first.. with rows that are equal to them."""
    for i in range(gram.shape[0]):
        start = indptr[first + i]
        for j in range(gram.shape[1]):
            if _same_row(indices, data, start, indptr[first + i + 1] - start, indptr[j], indptr[j + 1] - indptr[j]):
                gram[i, j] += amount


@kernel
def own_covariances(code: int, parameters: Array, norms: Array, diagonal: Array) -> None:
    """Write the covariance of every row with itself."""
    for i in range(len(norms)):
        diagonal[i] = _covariance(code, parameters, norms[i], norms[i], norms[i]) + parameters[2]


@kernel
def take_rows(indptr: Array, indices: Array, data: Array, rows: Array) -> tuple[Array, Array, Array]:
    """The named rows of a sparse matrix, in that order."""
    chosen = np.zeros(len(rows) + 1, dtype=np.int64)
    for i in range(len(rows)):
        chosen[i + 1] = chosen[i] + indptr[rows[i] + 1] - indptr[rows[i]]
    columns = np.empty(chosen[-1], dtype=np.int32)
    values = np.empty(chosen[-1])
    for i in range(len(rows)):
        start = indptr[rows[i]]
        for n in range(chosen[i + 1] - chosen[i]):
            columns[chosen[i] + n] = indices[start + n]
            values[chosen[i] + n] = data[start + n]
    return chosen, columns, values


@kernel
def keep_columns(indptr: Array, indices: Array, data: Array, kept: Array) -> tuple[Array, Array, Array]:
    """The entries of a sparse matrix in the kept columns; the numbers of columns stay."""
    starts = np.zeros(len(indptr), dtype=np.int64)
    for i in range(len(indptr) - 1):
        starts[i + 1] = starts[i]
        for n in range(indptr[i], indptr[i + 1]):
            if kept[indices[n]]:
                starts[i + 1] += 1
    columns = np.empty(starts[-1], dtype=np.int32)
    values = np.empty(starts[-1])
    place = 0
    for n in range(indptr[0], indptr[-1]):
        if kept[indices[n]]:
            columns[place], values[place] = indices[n], data[n]
            place += 1
    return starts, columns, values
