"""What naive Bayes remembers of its documents: sums that can be added to, and the bags of words they make."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from bayesift.errors import DataError
from bayesift.kernels.contingency import sum_by_category, sum_by_term

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class CategoryCounts:
    """The sufficient statistics of naive Bayes; adding batches gives the very numbers of adding all at once.

    Parameters
    ----------
    counts : categories x terms, summed term weights
    documents : aligned with `counts.data`: how many documents of the category hold the term
    category_documents : documents of each category
    term_counts, term_documents : of each term, in all documents, also those without a category
    n_documents : all documents

    Examples
    --------
    >>> X = sparse.csr_array([[2.0, 1.0], [0.0, 3.0]])
    >>> members = sparse.csr_array([[1, 1], [0, 1]])
    >>> counted = CategoryCounts.empty(2, 2).add(X, members, np.ones(2))
    >>> counted.counts.toarray()
    array([[2., 4.],
           [0., 3.]])
    """

    counts: sparse.csr_array
    documents: Array
    category_documents: Array
    term_counts: Array
    term_documents: Array
    n_documents: float

    @classmethod
    def empty(cls, n_categories: int, n_terms: int) -> Self:
        """Nothing counted yet."""
        counts = sparse.csr_array((n_categories, n_terms))
        return cls(counts, np.empty(0), np.zeros(n_categories), np.zeros(n_terms), np.zeros(n_terms), 0.0)

    def grow(self, places: Array, n_categories: int, n_terms: int) -> Self:
        """Room for more categories and terms; `places`, ascending, are the new rows of the old categories."""
        lengths = np.zeros(n_categories, dtype=self.counts.indptr.dtype)
        lengths[places] = np.diff(self.counts.indptr)
        indptr = np.concatenate((self.counts.indptr[:1], np.cumsum(lengths, dtype=lengths.dtype)))
        category_documents = np.zeros(n_categories)
        category_documents[places] = self.category_documents
        more = (0, n_terms - len(self.term_counts))
        return replace(
            self,
            counts=_rows(self.counts.data, self.counts.indices, indptr, n_terms),
            category_documents=category_documents,
            term_counts=np.pad(self.term_counts, more),
            term_documents=np.pad(self.term_documents, more),
        )

    def add(self, X: sparse.csr_array, members: sparse.csr_array, weights: Array) -> Self:
        """These and more documents; `members` is categories x documents."""
        x = X.indptr, X.indices, X.data
        earlier = self.counts.indptr, self.counts.indices, self.counts.data, self.documents
        indptr, indices, sums, documents = sum_by_category(
            x, weights, (members.indptr, members.indices), X.shape[1], earlier
        )
        term_counts, term_documents = self.term_counts.copy(), self.term_documents.copy()
        sum_by_term(*x, weights, term_counts, term_documents)
        category_documents = self.category_documents.copy()
        category = np.repeat(np.arange(members.shape[0]), np.diff(members.indptr))
        np.add.at(category_documents, category, weights[members.indices])
        # Added one by one, as everything else here is: the result must not depend on the batches.
        n_documents = float(np.cumsum(np.concatenate(([self.n_documents], weights)))[-1])
        counts = _rows(sums, indices, indptr, X.shape[1])
        return replace(
            self,
            counts=counts,
            documents=documents,
            category_documents=category_documents,
            term_counts=term_counts,
            term_documents=term_documents,
            n_documents=n_documents,
        )

    def to_arrays(self) -> dict[str, Array]:
        """The numbers as plain arrays."""
        return {
            "counts": self.counts.data,
            "indices": self.counts.indices,
            "indptr": self.counts.indptr,
            "documents": self.documents,
            "category_documents": self.category_documents,
            "term_counts": self.term_counts,
            "term_documents": self.term_documents,
            "n_documents": np.array([self.n_documents]),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> Self:
        """The inverse of `to_arrays`; refuses arrays that do not fit together."""
        missing = {"indices", "indptr", *_NUMBERS} - set(arrays)
        if missing:
            raise DataError(f"the counts lack {', '.join(sorted(missing))}")
        counts, documents, *others, n_documents = (_non_negative(name, arrays[name]) for name in _NUMBERS)
        category_documents, term_counts, term_documents = others
        shape = len(category_documents), len(term_counts)
        try:
            rows = sparse.csr_array((counts, _index(arrays["indices"]), _index(arrays["indptr"])), shape=shape)
            rows.check_format(full_check=True)
        except ValueError as error:
            raise DataError(f"the counts do not fit together: {error}") from error
        fits = rows.has_canonical_format and len(documents) == rows.nnz and np.all(counts) and np.all(documents)
        if not (fits and len(term_documents) == shape[1] and len(n_documents) == 1):
            raise DataError("the counts do not fit together")
        return cls(rows, documents, category_documents, term_counts, term_documents, float(n_documents[0]))


_NUMBERS = ("counts", "documents", "category_documents", "term_counts", "term_documents", "n_documents")


def _rows(data: Array, indices: Array, indptr: Array, n_terms: int) -> sparse.csr_array:
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_terms))


def _non_negative(name: str, array: Array) -> Array:
    numbers = np.array(array)
    if numbers.dtype != np.float64 or numbers.ndim != 1:
        raise DataError(f"{name} are not a row of float64 numbers")
    with np.errstate(over="ignore", invalid="ignore"):
        if not (np.isfinite(numbers.sum()) and np.all(numbers >= 0)):
            raise DataError(f"{name} are not finite numbers from 0 on")
    return numbers


def _index(array: Array) -> Array:
    if array.ndim != 1 or array.dtype not in (np.int32, np.int64):
        raise ValueError("indices are whole numbers")
    return array.copy()
