"""Products of a sparse matrix with dense blocks, and scores under sparse models.

**Blocks.** A row of a block has one value per category and is contiguous, so that each entry of the
matrix is read once for all categories; blocks of eight keep their sums in registers. Cost: entries
x categories multiply-adds.

**Sparse models.** Weights are stored by term, in groups of four places, each a category and its
weight; unused places point at columns behind the last category. The entries of a row whose terms
have weights are first packed without a branch, then each adds its groups to the row of scores.
Cost: one step per entry of X, four multiply-adds per group of its term, one pass over the scores.

Small products, and those with one vector, are SciPy's, which adds in the same order: nothing to
compile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.entries import Entries

GROUP = 4
_SMALL_WORK = 1 << 20  # entries x categories


@inlined
def row_times_eight(
    first: int,
    last: int,
    indices: IntArray,
    data: FloatArray,
    weights: FloatArray,
    sums: FloatArray,
) -> None:
    """Write the product of the entries first to last with eight columns of weights.

    The sums stay in registers.
    """
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(first, last):
        value, j = data[k], np.uint32(indices[k])
        a += value * weights[j, 0]
        b += value * weights[j, 1]
        c += value * weights[j, 2]
        d += value * weights[j, 3]
        e += value * weights[j, 4]
        f += value * weights[j, 5]
        g += value * weights[j, 6]
        h += value * weights[j, 7]
    sums[0] = a
    sums[1] = b
    sums[2] = c
    sums[3] = d
    sums[4] = e
    sums[5] = f
    sums[6] = g
    sums[7] = h


@inlined
def add_row_eight(
    first: int,
    last: int,
    indices: IntArray,
    data: FloatArray,
    sums: FloatArray,
    weights: FloatArray,
) -> None:
    """Add the entries first to last times eight sums to eight columns of weights."""
    a, b, c, d, e, f, g, h = (
        sums[0],
        sums[1],
        sums[2],
        sums[3],
        sums[4],
        sums[5],
        sums[6],
        sums[7],
    )
    for k in range(first, last):
        value, j = data[k], np.uint32(indices[k])
        weights[j, 0] += value * a
        weights[j, 1] += value * b
        weights[j, 2] += value * c
        weights[j, 3] += value * d
        weights[j, 4] += value * e
        weights[j, 5] += value * f
        weights[j, 6] += value * g
        weights[j, 7] += value * h


@inlined
def row_times_four(
    first: int,
    last: int,
    indices: IntArray,
    data: FloatArray,
    weights: FloatArray,
    sums: FloatArray,
) -> None:
    """As `row_times_eight`, for four columns."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for k in range(first, last):
        value, j = data[k], np.uint32(indices[k])
        a += value * weights[j, 0]
        b += value * weights[j, 1]
        c += value * weights[j, 2]
        d += value * weights[j, 3]
    sums[0] = a
    sums[1] = b
    sums[2] = c
    sums[3] = d


@inlined
def add_row_four(
    first: int,
    last: int,
    indices: IntArray,
    data: FloatArray,
    sums: FloatArray,
    weights: FloatArray,
) -> None:
    """As `add_row_eight`, for four columns."""
    a, b, c, d = sums[0], sums[1], sums[2], sums[3]
    for k in range(first, last):
        value, j = data[k], np.uint32(indices[k])
        weights[j, 0] += value * a
        weights[j, 1] += value * b
        weights[j, 2] += value * c
        weights[j, 3] += value * d


def is_small(n_entries: int, n_columns: int) -> bool:
    """Whether a product with a block of so many columns needs no kernel."""
    return n_entries * n_columns <= _SMALL_WORK


def times(
    indptr: IntArray, indices: IntArray, data: FloatArray, block: Array, out: Array
) -> None:
    """Write X block; X by rows."""
    if block.shape[1] == 1 or is_small(len(data), block.shape[1]):
        rows = sparse.csr_array((len(out), len(block)))
        rows.indptr, rows.indices, rows.data = (
            indptr,
            indices,
            data,
        )  # without the checks of a constructor
        out[:] = _scipy_product(rows, block)
    else:
        _times(indptr, indices, data, block, out)


def _scipy_product(matrix: Any, block: Array) -> Array:
    """SciPy multiplies one vector faster than a block of one."""
    product: FloatArray = (
        (matrix @ block[:, 0])[:, np.newaxis] if block.shape[1] == 1 else matrix @ block
    )
    return product


@kernel
def _times(
    indptr: IntArray, indices: IntArray, data: FloatArray, block: Array, out: Array
) -> None:
    if block.shape[1] == 8:
        for i in range(len(out)):
            row_times_eight(indptr[i], indptr[i + 1], indices, data, block, out[i])
        return
    for i in range(len(out)):
        for c in range(block.shape[1]):
            out[i, c] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            value, j = data[k], indices[k]
            for c in range(block.shape[1]):
                out[i, c] += value * block[j, c]


def transposed_times(
    indptr: IntArray, indices: IntArray, data: FloatArray, block: Array, out: Array
) -> None:
    """Write X' block; X by rows."""
    if block.shape[1] == 1 or is_small(len(data), block.shape[1]):
        columns = sparse.csc_array((len(out), len(block)))
        columns.indptr, columns.indices, columns.data = indptr, indices, data
        out[:] = _scipy_product(columns, block)
    else:
        _transposed_times(indptr, indices, data, block, out)


@kernel
def _transposed_times(
    indptr: IntArray, indices: IntArray, data: FloatArray, block: Array, out: Array
) -> None:
    out[:] = 0.0
    if block.shape[1] == 8:
        for i in range(len(block)):
            add_row_eight(indptr[i], indptr[i + 1], indices, data, block[i], out)
        return
    for i in range(len(block)):
        for k in range(indptr[i], indptr[i + 1]):
            value, j = data[k], indices[k]
            for c in range(block.shape[1]):
                out[j, c] += value * block[i, c]


class GroupedWeights(NamedTuple):
    """Weights by term, in groups of categories.

    `slots`: the number of each term among those with weights, from 1, or 0; the groups of slot s,
    rows of `categories` and `weights`, are those from groups[s] to groups[s + 1].
    """

    slots: IntArray
    groups: IntArray
    categories: IntArray
    weights: FloatArray


@kernel
def sparse_scores(
    documents: Entries,
    grouped: GroupedWeights,
    intercepts: FloatArray,
    row: Array,
    kept_slots: IntArray,
    kept_values: FloatArray,
    scores: FloatArray,
) -> None:
    """Write the products of the rows of X with the weights, plus the intercepts.

    `row`, `kept_slots` and `kept_values` are scratch.
    """
    indptr, indices, data = documents
    slots, groups, categories, weights = grouped
    width = len(intercepts)
    for i in range(len(scores)):
        n_kept = 0
        for k in range(indptr[i], indptr[i + 1]):
            slot = slots[np.uint32(indices[k])]
            kept_slots[n_kept] = slot
            kept_values[n_kept] = data[k]
            n_kept += slot > 0
        for c in range(width):
            row[c] = intercepts[c]
        for k in range(n_kept):
            value, slot = kept_values[k], np.uint32(kept_slots[k])
            for g in range(groups[slot], groups[slot + np.uint32(1)]):
                row[np.uint32(categories[g, 0])] += value * weights[g, 0]
                row[np.uint32(categories[g, 1])] += value * weights[g, 1]
                row[np.uint32(categories[g, 2])] += value * weights[g, 2]
                row[np.uint32(categories[g, 3])] += value * weights[g, 3]
        for c in range(width):
            scores[i, c] = row[c]
