"""Bags of words, one a category: what a smoothing turns into language models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.kernels import language_models as kernels
from bayesift.models.naive_bayes.counts import CategoryCounts

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Bags:
    """The words of each category, or (`rest`) the words of all documents outside each category.

    Parameters
    ----------
    counted : the counts of categories and of the collection
    classes : the name of each category
    multilabel : whether a document may have several categories
    rest : whether the bag of a category is what the collection holds beyond it

    Examples
    --------
    >>> X, members = sparse.csr_array([[2.0, 1.0], [0.0, 3.0]]), sparse.csr_array([[1, 0], [0, 1]])
    >>> counted = CategoryCounts.empty(2, 2).add(X, members, np.ones(2))
    >>> bags = Bags(counted, np.array(["a", "b"]))
    >>> bags.sizes.tolist(), bags.background.tolist()
    ([3.0, 3.0], [0.375, 0.625])
    >>> Bags(counted, np.array(["a", "b"]), rest=True).dense(0).tolist()
    [0.0, 3.0]
    """

    counted: CategoryCounts
    classes: Array
    multilabel: bool = False
    rest: bool = False

    @property
    def n_terms(self) -> int:
        """K, the size of the vocabulary."""
        return len(self.counted.term_counts)

    @cached_property
    def sizes(self) -> Array:
        """N_c, the sum of the counts of each bag."""
        sizes: Array = self.counted.counts.sum(axis=1)
        return remainder(self.counted.term_counts.sum(), sizes) if self.rest else sizes

    @cached_property
    def background(self) -> Array:
        """The collection model q(w) = (n_w + 1) / (N + K).

        Adding one keeps those words possible that the vocabulary lists but no document holds.
        """
        added = self.counted.term_counts + 1
        background: Array = added / added.sum()
        return background

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
        """log(scale_c max(n - discount, 0) + share_c background), terms x categories."""
        counts = self.counted.counts
        out = np.empty((self.n_terms, counts.shape[0]))
        rows = counts.indptr, counts.indices, counts.data
        if self.rest:
            totals = self.counted.term_counts
            kernels.log_remainder_mixtures(*rows, totals, discount, scale, share, background, out)
        else:
            kernels.log_mixtures(*rows, discount, scale, share, background, out)
        return out

    def _dense(self, values: Array, totals: Array, category: int) -> Array:
        begin, end = self.counted.counts.indptr[category : category + 2]
        row = np.zeros(self.n_terms)
        row[self.counted.counts.indices[begin:end]] = values[begin:end]
        return remainder(totals, row) if self.rest else row


def remainder(totals: Any, parts: Array) -> Array:
    """What is left of totals without parts, where what is only rounding is 0.

    Examples
    --------
    >>> remainder(0.1 + 0.2, np.array([0.3, 0.1])).round(2).tolist()
    [0.0, 0.2]
    """
    difference = totals - parts
    return np.where(difference > kernels.ROUNDING * totals, difference, 0.0)


def _row_sums(rows: sparse.csr_array, values: Array) -> Array:
    category = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return np.bincount(category, weights=values, minlength=rows.shape[0])
