"""Products of a sparse matrix with a block of vectors, one a category.

A row of the block is contiguous, so that each entry of the matrix is read once for all categories of the block and its
product with a row is vectorised; blocks of eight keep their sums in registers. Cost: entries x categories
multiply-adds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.compile import kernel

Array = np.ndarray[Any, Any]


@kernel
def times(indptr: Array, indices: Array, data: Array, block: Array, out: Array) -> None:
    """Write X block; X by rows."""
    if block.shape[1] == 8:
        _times_eight(indptr, indices, data, block, out)
        return
    for i in range(len(out)):
        for c in range(block.shape[1]):
            out[i, c] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            value, j = data[k], indices[k]
            for c in range(block.shape[1]):
                out[i, c] += value * block[j, c]


@kernel
def _times_eight(indptr: Array, indices: Array, data: Array, block: Array, out: Array) -> None:
    for i in range(len(out)):
        a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(indptr[i], indptr[i + 1]):
            value, j = data[k], np.uint32(indices[k])
            a += value * block[j, 0]
            b += value * block[j, 1]
            c += value * block[j, 2]
            d += value * block[j, 3]
            e += value * block[j, 4]
            f += value * block[j, 5]
            g += value * block[j, 6]
            h += value * block[j, 7]
        out[i, 0] = a
        out[i, 1] = b
        out[i, 2] = c
        out[i, 3] = d
        out[i, 4] = e
        out[i, 5] = f
        out[i, 6] = g
        out[i, 7] = h


@kernel
def transposed_times(indptr: Array, indices: Array, data: Array, block: Array, out: Array) -> None:
    """Write X' block; X by rows."""
    out[:] = 0.0
    if block.shape[1] == 8:
        _transposed_times_eight(indptr, indices, data, block, out)
        return
    for i in range(len(block)):
        for k in range(indptr[i], indptr[i + 1]):
            value, j = data[k], indices[k]
            for c in range(block.shape[1]):
                out[j, c] += value * block[i, c]


@kernel
def _transposed_times_eight(indptr: Array, indices: Array, data: Array, block: Array, out: Array) -> None:
    for i in range(len(block)):
        a = block[i, 0]
        b = block[i, 1]
        c = block[i, 2]
        d = block[i, 3]
        e = block[i, 4]
        f = block[i, 5]
        g = block[i, 6]
        h = block[i, 7]
        for k in range(indptr[i], indptr[i + 1]):
            value, j = data[k], np.uint32(indices[k])
            out[j, 0] += value * a
            out[j, 1] += value * b
            out[j, 2] += value * c
            out[j, 3] += value * d
            out[j, 4] += value * e
            out[j, 5] += value * f
            out[j, 6] += value * g
            out[j, 7] += value * h
