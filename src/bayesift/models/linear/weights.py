"""Weights of categories: sparse when most are 0, dense otherwise; and scores."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesift.arrays import Array
from bayesift.kernels.products import GROUP, sparse_scores

_SPARSE_BELOW = 0.25  # share of weights that are not 0


class SparseRow(NamedTuple):
    """The weights of one category that are not 0, their terms, and the number of all terms."""

    terms: Array
    values: Array
    n_terms: int

    def dense(self) -> Array:
        """The weights of all terms."""
        weights = np.zeros(self.n_terms)
        weights[self.terms] = self.values
        return weights


Row = Array | SparseRow


def compact_row(weights: Array) -> Row:
    """The weights of one category, sparse when most are 0."""
    terms = np.flatnonzero(weights)
    few = len(terms) < _SPARSE_BELOW * len(weights)
    return SparseRow(terms.astype(np.int32), weights[terms], len(weights)) if few else weights


def stack_rows(rows: list[Row]) -> Any:
    """Categories x terms, as a sparse array when most weights are 0; a dense one is made only where it is returned."""
    sizes = [len(row.values) if isinstance(row, SparseRow) else int(np.count_nonzero(row)) for row in rows]
    n_terms = rows[0].n_terms if isinstance(rows[0], SparseRow) else len(rows[0])
    if sum(sizes) >= _SPARSE_BELOW * len(rows) * n_terms:
        return np.stack([row.dense() if isinstance(row, SparseRow) else row for row in rows])
    parts = [row if isinstance(row, SparseRow) else _nonzeros(row) for row in rows]
    indptr, shape = np.concatenate([[0], np.cumsum(sizes)]), (len(rows), n_terms)
    terms, values = (np.concatenate([part[field] for part in parts]) for field in (0, 1))
    return sparse.csr_array((values, terms, indptr.astype(np.int32 if len(terms) < 2**31 else np.int64)), shape=shape)


def _nonzeros(weights: Array) -> SparseRow:
    terms = np.flatnonzero(weights).astype(np.int32)
    return SparseRow(terms, weights[terms], len(weights))


def rows_of(coefficients: Any) -> list[Row]:
    """The inverse of `stack_rows`."""
    if not sparse.issparse(coefficients):
        return list(coefficients)
    ends, n_terms = coefficients.indptr, coefficients.shape[1]
    parts = [slice(a, b) for a, b in pairwise(ends)]
    return [SparseRow(coefficients.indices[part], coefficients.data[part], n_terms) for part in parts]


def compact(weights: Array) -> Any:
    """Categories x terms, as a sparse array when most weights are 0."""
    few = np.count_nonzero(weights) < _SPARSE_BELOW * weights.size
    return sparse.csr_array(weights) if few else weights


def scores_of(X: sparse.csr_array, coefficients: Any, intercepts: Array) -> Array:
    """X coefficients' + intercepts, documents x categories."""
    if not sparse.issparse(coefficients):
        scores: Array = X @ coefficients.T + intercepts
        return scores
    scores = np.empty((X.shape[0], len(intercepts)))
    longest = int(np.diff(X.indptr).max(initial=0)) + 1
    scratch = np.zeros(len(intercepts) + GROUP), np.empty(longest, dtype=np.int32), np.empty(longest)
    sparse_scores(X.indptr, X.indices, X.data, *_by_groups(coefficients), intercepts, *scratch, scores)
    return scores


def _by_groups(coefficients: Any) -> tuple[Array, Array, Array, Array]:
    """Weights by term in the layout of `bayesift.kernels.products`: slots, groups, categories and weights."""
    by_term = sparse.csr_array(coefficients.T)
    counts = np.diff(by_term.indptr)
    used = counts > 0
    slots = np.where(used, np.cumsum(used), 0).astype(np.int32)
    sizes = -(-counts[used] // GROUP)
    groups = np.concatenate([[0, 0], np.cumsum(sizes)]).astype(np.int32)
    categories = np.tile(coefficients.shape[0] + np.arange(GROUP, dtype=np.int32), groups[-1])
    weights = np.zeros(len(categories))
    gaps = np.repeat(GROUP * groups[1:-1] - by_term.indptr[:-1][used], counts[used])
    places = np.arange(by_term.nnz) + gaps
    categories[places], weights[places] = by_term.indices, by_term.data
    return slots, groups, categories.reshape(-1, GROUP), weights.reshape(-1, GROUP)
