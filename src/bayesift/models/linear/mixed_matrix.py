"""Products of a matrix that is sparse in most columns and dense in some.

Such are words beside vectors of meaning.

Dense columns are multiplied by BLAS and the others by the kernels of sparse matrices, each in its
own storage, so that neither pays for the other. A matrix without dense columns is multiplied by the
kernels alone.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from bayesift.arrays import Array, FloatArray, SparseRows
from bayesift.kernels.products import is_small, times, transposed_times
from bayesift.threads import computed_once

_DENSE_COLUMN_SHARE = 0.95  # of the rows have an entry in a dense column
_FEWEST_DENSE_COLUMNS = 32  # dense columns that are worth a table of their own


def dense_columns(rows: SparseRows) -> Array:
    """Return the columns with an entry in nearly all rows, if there are many; else none."""
    counts = np.bincount(rows.indices, minlength=rows.shape[1])
    found = np.flatnonzero(counts >= max(1.0, _DENSE_COLUMN_SHARE * rows.shape[0]))
    return found if len(found) >= _FEWEST_DENSE_COLUMNS else found[:0]


class MixedMatrix:
    """Products with documents x terms and with its transpose.

    Parameters
    ----------
    rows : documents x terms
    dense : the columns to be multiplied by BLAS
    """

    def __init__(self, rows: SparseRows, dense: FloatArray) -> None:
        self.shape = rows.shape
        self.dense = dense
        self.sparse = rows
        self.table = np.zeros((rows.shape[0], 0))
        if len(dense):
            self.table = np.ascontiguousarray(rows[:, dense].toarray())
            others = np.ones(rows.shape[1], dtype=bool)
            others[dense] = False
            self.sparse = _only(rows, others)

    def times(self, weights: FloatArray, out: Array) -> None:
        """Write X weights; weights of terms are the first rows, others are ignored."""
        if is_small(self.sparse.nnz, weights.shape[1]):
            out[:] = self.sparse @ weights[: self.shape[1]]
        else:
            times(self.sparse.indptr, self.sparse.indices, self.sparse.data, weights, out)
        if len(self.dense):
            out += self.table @ weights[self.dense]

    def transposed_times(self, values: FloatArray, out: Array) -> None:
        """Write X' values into the first rows of `out`."""
        if is_small(self.sparse.nnz, values.shape[1]):
            out[: self.shape[1]] = self._transposed @ values
        else:
            transposed_times(
                self.sparse.indptr, self.sparse.indices, self.sparse.data, values, out
            )
        if len(self.dense):
            out[self.dense] = self.table.T @ values

    @computed_once
    def _transposed(self) -> sparse.csc_array:
        return self.sparse.T

    @computed_once
    def _squares(self) -> SparseRows:
        rows = self.sparse
        return sparse.csr_array((rows.data**2, rows.indices, rows.indptr), shape=rows.shape)

    def squares_times(self, values: FloatArray) -> Array:
        """Return the transposed product of the squares of all entries."""
        out: Array = self._squares.T @ values
        if len(self.dense):
            out[self.dense] = (self.table**2).T @ values
        return out


def _only(rows: SparseRows, kept: Array) -> SparseRows:
    """Return the matrix with the entries of these columns only, in the same shape."""
    chosen = kept[rows.indices]
    indptr = np.concatenate([[0], np.cumsum(chosen)])[rows.indptr].astype(np.int32)
    return sparse.csr_array((rows.data[chosen], rows.indices[chosen], indptr), shape=rows.shape)
