"""The stored entries of a sparse matrix, as kernels take them."""

from __future__ import annotations

from typing import Any, NamedTuple

from bayesift.arrays import FloatArray, IntArray


class Entries(NamedTuple):
    """The arrays of a compressed sparse matrix, by rows or by columns.

    Entries indptr[i] to indptr[i + 1] of `indices` and `data` belong to row (or column) i.
    """

    indptr: IntArray
    indices: IntArray
    data: FloatArray


def entries_of(matrix: Any) -> Entries:
    """Return the arrays of a matrix in SciPy's CSR or CSC format; nothing is copied."""
    return Entries(matrix.indptr, matrix.indices, matrix.data)
