"""Counts and moments of every (category, term) pair, gathered in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.kernels.contingency import sum_by_category
from bayesift.validation import Targets, check_targets, check_terms

Array = np.ndarray[Any, Any]

_BLOCK_CELLS = 1 << 17


@dataclass(frozen=True, eq=False)
class TermTables:
    """Contingency tables and moments of terms and categories; what no document holds is not stored.

    Parameters
    ----------
    n_documents : N
    category_sizes : documents of each category
    document_frequencies : documents that hold each term (a weight other than 0)
    sums, squares : of the weights of each term, and of their squares
    joint : categories x terms, documents of the category that hold the term
    cross : categories x terms, sum of the term's weights in the category

    Examples
    --------
    >>> tables = TermTables.of([[2, 1], [0, 3]], ["grain", "crude"])
    >>> tables.document_frequencies.tolist(), tables.joint.toarray().tolist(), tables.cross.toarray().tolist()
    ([1.0, 2.0], [[0.0, 1.0], [1.0, 1.0]], [[0.0, 3.0], [2.0, 1.0]])
    """

    n_documents: int
    category_sizes: Array
    document_frequencies: Array
    sums: Array
    squares: Array
    joint: sparse.csr_array
    cross: sparse.csr_array

    @classmethod
    def of(cls, X: Any, y: Any) -> TermTables:
        """The tables of documents x terms (sparse or dense) and labels or an indicator matrix."""
        targets = check_targets(y)
        return gather(check_terms(None, X, n_documents=targets.n_documents), targets)

    @property
    def shape(self) -> tuple[int, int]:
        """Categories, terms."""
        n_categories, n_terms = self.joint.shape
        return n_categories, n_terms

    def contingency(self) -> tuple[Array, Array, Array, Array]:
        """Documents in the category with and without each term, outside it with and without: categories x terms."""
        with_term = self.joint.toarray()
        sizes = self.category_sizes[:, np.newaxis]
        outside = self.document_frequencies - with_term
        return with_term, sizes - with_term, outside, self.n_documents - sizes - outside

    def blocks(self) -> Iterator[TermTables]:
        """The same tables for a few categories at a time, so that what is dense stays in the cache."""
        n_categories, n_terms = self.shape
        step = max(1, _BLOCK_CELLS // max(n_terms, 1))
        for begin in range(0, n_categories, step):
            rows = slice(begin, begin + step)
            yield TermTables(
                self.n_documents,
                self.category_sizes[rows],
                self.document_frequencies,
                self.sums,
                self.squares,
                self.joint[rows],
                self.cross[rows],
            )


def gather(X: sparse.csr_array, targets: Targets) -> TermTables:
    """The tables of documents and targets that are checked already.

    Examples
    --------
    >>> X = check_terms(None, [[2, 1], [0, 3]])
    >>> gather(X, check_targets([1, 0])).category_sizes.tolist()
    [1.0, 1.0]
    """
    n_documents, n_terms = X.shape
    members = targets.members
    indptr, indices, sums, documents = sum_by_category(
        (X.indptr, X.indices, X.data), np.ones(n_documents), (members.indptr, members.indices), n_terms
    )
    shape = members.shape[0], n_terms
    return TermTables(
        n_documents=n_documents,
        category_sizes=np.diff(members.indptr).astype(np.float64),
        document_frequencies=np.bincount(X.indices, minlength=n_terms).astype(np.float64),
        sums=np.bincount(X.indices, weights=X.data, minlength=n_terms),
        squares=np.bincount(X.indices, weights=X.data**2, minlength=n_terms),
        joint=sparse.csr_array((documents, indices, indptr), shape=shape),
        cross=sparse.csr_array((sums, indices, indptr), shape=shape),
    )
