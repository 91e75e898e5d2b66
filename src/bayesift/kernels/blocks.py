"""Products of a sparse matrix with a block of vectors, one a category.

A row of the block is contiguous, so that each entry of the matrix is read once for all categories of the block and its
product with a row is vectorised. Cost: entries x categories multiply-adds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.compile import kernel

Array = np.ndarray[Any, Any]


@kernel
def times(indptr: Array, indices: Array, data: Array, block: Array, out: Array) -> None:
    """Write X block; X by rows."""
    for i in range(len(out)):
        for c in range(block.shape[1]):
            out[i, c] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            value, j = data[k], indices[k]
            for c in range(block.shape[1]):
                out[i, c] += value * block[j, c]


@kernel
def transposed_times(indptr: Array, indices: Array, data: Array, block: Array, out: Array) -> None:
    """Write X' block; X by rows."""
    out[:] = 0.0
    for i in range(len(block)):
        for k in range(indptr[i], indptr[i + 1]):
            value, j = data[k], indices[k]
            for c in range(block.shape[1]):
                out[j, c] += value * block[i, c]
