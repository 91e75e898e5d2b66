"""Sums and document counts of every (category, term) pair and of every term, from compressed rows.

    x_indptr, x_indices, x_values   documents x terms
    weights   float64[documents]    a document of weight w counts as w documents; of weight 0 it is not there
    y_indptr, y_documents           categories x documents: the documents of each category, in their order

For category c and term t

    sums[c, t] = sum of w_d x_dt,   documents[c, t] = sum of w_d over the documents d of c with x_dt != 0,

as compressed rows with sorted columns. Both start from earlier sums, term by term in the order of the documents, so
that one batch after the other gives the very numbers of all at once.

Cost: one addition for every entry of X and category of its document, and a scan or a sort of the terms met.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.compile import kernel

Array = np.ndarray[Any, Any]

_SCAN_SHARE = 16  # scanning all terms is cheaper than sorting the ones met when they are more than 1 in 16


def sum_by_category(
    x: tuple[Array, Array, Array],
    weights: Array,
    y: tuple[Array, Array],
    n_terms: int,
    earlier: tuple[Array, Array, Array, Array] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """Compressed rows (indptr, indices, sums, documents) of categories x terms.

    Examples
    --------
    >>> x = np.array([0, 2, 3]), np.array([0, 1, 1], dtype=np.int32), np.array([2.0, 1.0, 3.0])
    >>> y = np.array([0, 2]), np.array([0, 1], dtype=np.int32)
    >>> [part.tolist() for part in sum_by_category(x, np.ones(2), y, 2)]
    [[0, 2], [0, 1], [2.0, 4.0], [1.0, 2.0]]
    """
    x_indptr, y_indptr = x[0], y[0]
    n_categories = len(y_indptr) - 1
    if earlier is None:
        empty = np.empty(0)
        earlier = np.zeros(n_categories + 1, dtype=np.int32), np.empty(0, dtype=np.int32), empty, empty
    entries = np.concatenate(([0], np.cumsum(np.diff(x_indptr)[y[1]], dtype=np.int64)))
    met = entries[y_indptr[1:]] - entries[y_indptr[:-1]] + np.diff(earlier[0])
    room = int(np.minimum(met, n_terms).sum())
    indptr = np.zeros(n_categories + 1, dtype=np.int64)
    indices, sums, documents = np.empty(room, dtype=np.int32), np.empty(room), np.empty(room)
    _sum_by_category(*x, weights, *y, *earlier, n_terms, indptr, indices, sums, documents)
    n = int(indptr[-1])
    return indptr.astype(np.int32 if n <= np.iinfo(np.int32).max else np.int64), indices[:n], sums[:n], documents[:n]


@kernel
def sum_by_term(
    x_indptr: Array, x_indices: Array, x_values: Array, weights: Array, sums: Array, documents: Array
) -> None:
    """Add the sums and document counts of every term to `sums` and `documents`."""
    for d in range(len(x_indptr) - 1):
        if weights[d] == 0:
            continue
        for i in range(x_indptr[d], x_indptr[d + 1]):
            sums[x_indices[i]] += weights[d] * x_values[i]
            documents[x_indices[i]] += weights[d]


@kernel
def _sum_by_category(
    x_indptr: Array,
    x_indices: Array,
    x_values: Array,
    weights: Array,
    y_indptr: Array,
    y_documents: Array,
    old_indptr: Array,
    old_indices: Array,
    old_sums: Array,
    old_documents: Array,
    n_terms: int,
    indptr: Array,
    indices: Array,
    sums: Array,
    documents: Array,
) -> None:
    # Sum and documents of a term lie side by side, so that an entry touches one cache line.
    totals = np.zeros((n_terms, 2))
    met = np.empty(n_terms, dtype=np.int32)
    n = 0
    for c in range(len(y_indptr) - 1):
        n_met = 0
        for i in range(old_indptr[c], old_indptr[c + 1]):
            t = old_indices[i]
            totals[t, 0] = old_sums[i]
            totals[t, 1] = old_documents[i]
            met[n_met] = t
            n_met += 1
        for j in range(y_indptr[c], y_indptr[c + 1]):
            d = y_documents[j]
            weight = weights[d]
            if weight == 0:
                continue
            for i in range(x_indptr[d], x_indptr[d + 1]):
                t = x_indices[i]
                if totals[t, 1] == 0:
                    met[n_met] = t
                    n_met += 1
                totals[t, 0] += weight * x_values[i]
                totals[t, 1] += weight
        if n_met * _SCAN_SHARE > n_terms:
            n_met = 0
            for t in range(n_terms):
                if totals[t, 1] != 0:
                    met[n_met] = t
                    n_met += 1
        else:
            met[:n_met].sort()
        for j in range(n_met):
            t = met[j]
            indices[n] = t
            sums[n] = totals[t, 0]
            documents[n] = totals[t, 1]
            totals[t, 0] = 0.0
            totals[t, 1] = 0.0
            n += 1
        indptr[c + 1] = n
