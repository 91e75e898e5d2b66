"""The sufficient statistics of naive Bayes, and the bag of words of each category."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.kernels.counts import sum_by_category, sum_by_term
from bayesift.state import expect_array, storable

_ROUNDING = 1e-12  # a difference of sums below this share of them is rounding


@storable("category-counts")
@dataclass(frozen=True, eq=False)
class CategoryCounts:
    """The sufficient statistics of naive Bayes; adding batches gives the same numbers as adding all documents at once.

    Parameters
    ----------
    counts : categories x terms, summed term weights
    documents : aligned with `counts.data`: how many documents of the category hold the term
    category_documents : number of documents of each category
    term_counts, term_documents : counts of each term over all documents, also those without a category
    n_documents : number of documents
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
        return type(self)(counts, documents, category_documents, term_counts, term_documents, n_documents)

    def _post_load(self) -> None:
        """Refuse stored counts that do not fit together."""
        n_categories, n_terms = self.counts.shape
        lengths = {"category_documents": n_categories, "term_counts": n_terms, "term_documents": n_terms}
        for name, length in {"documents": self.counts.nnz, **lengths}.items():
            _check_counts(name, expect_array(getattr(self, name), name, np.float64, (length,)))
        _check_counts("counts", expect_array(self.counts.data, "counts", np.float64, (None,)))
        _check_counts("n_documents", np.array([self.n_documents]))
        if not (self.counts.has_canonical_format and np.all(self.counts.data) and np.all(self.documents)):
            raise DataError("the counts do not fit together")


def _rows(data: Array, indices: Array, indptr: Array, n_terms: int) -> sparse.csr_array:
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_terms))


def _check_counts(name: str, numbers: Array) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if not (np.isfinite(numbers.sum()) and np.all(numbers >= 0)):
            raise DataError(f"{name} are not finite numbers from 0 on")


@dataclass(frozen=True, eq=False)
class Bags:
    """The words of each category, or (`rest`) the words of all documents outside each category.

    Attributes
    ----------
    sizes : N_c, the sum of the counts of each bag
    background : the collection model q(w) = (n_w + 1) / (N + K); adding one keeps words possible that the vocabulary
        lists but no document contains
    """

    counted: CategoryCounts
    classes: Array
    multilabel: bool = False
    rest: bool = False
    sizes: Array = field(init=False)
    background: Array = field(init=False)

    def __post_init__(self) -> None:
        sizes: Array = self.counted.counts.sum(axis=1)
        added = self.counted.term_counts + 1
        object.__setattr__(self, "sizes", remainder(self.counted.term_counts.sum(), sizes) if self.rest else sizes)
        object.__setattr__(self, "background", added / added.sum())

    @property
    def n_terms(self) -> int:
        """K, the size of the vocabulary."""
        return len(self.counted.term_counts)

    def discounted(self, discount: float) -> Array:
        """What each bag loses when `discount` (or all of a smaller count) is taken from every count."""
        if not self.rest:
            return _row_sums(self.counted.counts, np.minimum(self.counted.counts.data, discount))
        totals = self.counted.term_counts
        everywhere = np.minimum(totals, discount)
        there = self.counted.counts.indices
        here = np.minimum(remainder(totals[there], self.counted.counts.data), discount)
        lost: Array = everywhere.sum() - _row_sums(self.counted.counts, everywhere[there] - here)
        return lost

    def dense(self, category: int) -> Array:
        """The counts of one bag over all terms."""
        return self._dense(self.counted.counts.data, self.counted.term_counts, category)

    def dense_documents(self, category: int) -> Array:
        """How many documents of one bag hold each term."""
        return self._dense(self.counted.documents, self.counted.term_documents, category)

    def n_documents(self, category: int) -> float:
        """How many documents make up one bag."""
        inside = float(self.counted.category_documents[category])
        return self.counted.n_documents - inside if self.rest else inside

    def log_mixtures(self, scale: Array, share: Array, background: Array, discount: float = 0.0) -> Array:
        """log(scale_c max(n - discount, 0) + share_c background), terms x categories; log 0 is -inf."""
        counts, totals = self.counted.counts, self.counted.term_counts
        terms, categories = counts.indices, np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        inside = remainder(totals[terms], counts.data) if self.rest else counts.data
        with np.errstate(divide="ignore"):
            if self.rest:
                out, kept = np.empty((self.n_terms, counts.shape[0])), np.maximum(totals - discount, 0.0)
                for c in range(counts.shape[0]):
                    out[:, c] = np.log(scale[c] * kept + share[c] * background)
            else:  # most counts are 0: those cells cost an addition, not a logarithm
                out = np.log(background)[:, np.newaxis] + np.log(share)
            mixed = scale[categories] * np.maximum(inside - discount, 0.0) + share[categories] * background[terms]
            out[terms, categories] = np.log(mixed)
        return out

    def _dense(self, values: Array, totals: Array, category: int) -> Array:
        begin, end = self.counted.counts.indptr[category : category + 2]
        row = np.zeros(self.n_terms)
        row[self.counted.counts.indices[begin:end]] = values[begin:end]
        return remainder(totals, row) if self.rest else row


def remainder(totals: Any, parts: Array) -> Array:
    """Totals minus parts, where differences within rounding are 0."""
    difference = totals - parts
    return np.where(difference > _ROUNDING * totals, difference, 0.0)


def _row_sums(rows: sparse.csr_array, values: Array) -> Array:
    category = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return np.bincount(category, weights=values, minlength=rows.shape[0])
