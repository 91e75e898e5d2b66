"""The most similar rows of a sparse matrix.

For a document the products with all rows of the other matrix are summed term by term (columns of that matrix list the
rows that hold a term) into one buffer; a heap keeps the k largest. Cost: for each entry of a document the rows that
hold its term, and one look at the buffer; memory: one number a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.compile import inlined, kernel

Array = np.ndarray[Any, Any]


@inlined
def _is_lower(products: Array, i: int, j: int) -> bool:
    """Whether row i ranks below row j: a smaller product, or an equal one and a later place."""
    lower: bool = products[i] < products[j] or (products[i] == products[j] and i > j)
    return lower


@kernel
def _sink(heap: Array, products: Array, place: int, size: int) -> None:
    """Restore the heap, lowest row first, from a place downwards."""
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        if child + 1 < size and _is_lower(products, heap[child + 1], heap[child]):
            child += 1
        if not _is_lower(products, heap[child], heap[place]):
            return
        heap[place], heap[child] = heap[child], heap[place]
        place = child


@kernel
def _best_rows(products: Array, rows: Array, similarities: Array) -> None:
    """Write the rows with the largest products, largest first; of equals the earlier one."""
    size = len(rows)
    for i in range(size):
        rows[i] = i
    for place in range(size // 2 - 1, -1, -1):
        _sink(rows, products, place, size)
    for i in range(size, len(products)):
        if products[i] > products[rows[0]]:
            rows[0] = i
            _sink(rows, products, 0, size)
    for last in range(size - 1, 0, -1):
        rows[0], rows[last] = rows[last], rows[0]
        _sink(rows, products, 0, last)
    for place in range(size):
        similarities[place] = products[rows[place]]


@kernel
def nearest_rows(
    indptr: Array,
    indices: Array,
    data: Array,
    column_indptr: Array,
    column_indices: Array,
    column_data: Array,
    products: Array,
    rows: Array,
    similarities: Array,
) -> None:
    """Write for each document the rows with the largest products, and these products; `products` is a buffer."""
    for d in range(len(rows)):
        products[:] = 0.0
        for k in range(indptr[d], indptr[d + 1]):
            value, j = data[k], indices[k]
            for place in range(column_indptr[j], column_indptr[j + 1]):
                products[column_indices[place]] += value * column_data[place]
        _best_rows(products, rows[d], similarities[d])
