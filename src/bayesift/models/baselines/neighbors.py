"""Nearest neighbours: the search among points and among documents, votes, the classifier.

And nearest centroids.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows
from bayesift.errors import DataError
from bayesift.kernels.ranking import nearest_rows
from bayesift.models.base import (
    LinearScoresMixin,
    check_documents,
    compact_row,
    models_of,
    stack_rows,
)
from bayesift.state import StateMixin, check_classes, storable
from bayesift.validation import Targets, TermTagsMixin, check_terms

_BLOCK_VALUES = 4_000_000  # distances in memory at a time


def squared_distances(points: FloatArray, others: Array) -> Array:
    """Squared Euclidean distances by one matrix product, none below 0."""
    distances: FloatArray = points @ others.T
    distances *= -2.0
    distances += np.sum(points**2, axis=1)[:, np.newaxis]
    distances += np.sum(others**2, axis=1)
    np.maximum(distances, 0.0, out=distances)
    return distances


def nearest_points(points: FloatArray, others: Array, n_neighbors: int) -> tuple[Array, Array]:
    """Find the nearest of `others` for each point, and their squared distances.

    Ties go to the earlier.

    Equal points are compared once, since a matrix product may round their distances differently.
    """
    k = min(n_neighbors, len(others))
    indices = np.empty((len(points), k), dtype=np.int64)
    found = np.empty((len(points), k))
    distinct, index = _distinct_rows(others)
    step = max(1, _BLOCK_VALUES // max(len(others), 1))
    for start in range(0, len(points), step):
        block = slice(start, start + step)
        distances = squared_distances(points[block], distinct)[:, index]
        candidates = _lowest(distances, k)
        values = np.take_along_axis(distances, candidates, axis=1)
        order = np.argsort(values, axis=1, kind="stable")
        indices[block] = np.take_along_axis(candidates, order, axis=1)
        found[block] = np.take_along_axis(values, order, axis=1)
    return indices, found


def _distinct_rows(rows: Array) -> tuple[Array, Any]:
    """Return the distinct rows by first appearance, and the index of each row among them."""
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    if len(first) == len(rows):
        return rows, slice(None)
    ranks = np.empty(len(first), dtype=np.int64)
    ranks[np.argsort(first)] = np.arange(len(first))
    return rows[np.sort(first)], ranks[inverse.ravel()]


def _lowest(values: FloatArray, k: int) -> Array:
    """Return the columns of the k lowest values of each row; ties go to the earlier."""
    kth = np.partition(values, k - 1, axis=1)[:, [k - 1]]
    below = values < kth
    equal = values == kth
    n_missing = k - np.count_nonzero(below, axis=1, keepdims=True)
    chosen = below | (equal & (np.cumsum(equal, axis=1, dtype=np.int32) <= n_missing))
    return np.nonzero(chosen)[1].reshape(len(values), k)


def weighted_votes(neighbors: IntArray, weights: FloatArray, members: SparseRows) -> Array:
    """Return the sum of the neighbours' weights in each category, documents x categories.

    `members` has a row per document.
    """
    n_documents, k = neighbors.shape
    shape = (n_documents, members.shape[0])
    indptr = np.arange(n_documents + 1) * k
    sums: FloatArray = (
        sparse.csr_array((weights.ravel(), neighbors.ravel(), indptr), shape=shape) @ members
    ).toarray()
    return sums


@storable("neighbors")
class NeighborsClassifier(TermTagsMixin, StateMixin, ClassifierMixin, BaseEstimator):
    """The categories of the most similar training documents.

        P(c | d) = (sum of cos(d, n) over neighbours n in c + prior · share of c) / (sum over all
        neighbours + prior)

    with the share of c among the training documents, (n_c + 1/2) / (n + 1). A document without a
    term in common with any other gets these shares.

    Parameters
    ----------
    n_neighbors : number of neighbours
    prior : weight of the categories' shares, in neighbours of cosine 1

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix

    References
    ----------
    Yang & Liu (1999); `k` is theirs on Reuters.

    Examples
    --------
    >>> model = NeighborsClassifier(n_neighbors=2).fit([[1, 0], [1, 1], [0, 1]],
    ...     ["grain", "grain", "crude"])
    >>> model.predict_proba([[1, 0]]).round(2).tolist()
    [[0.14, 0.86]]
    """

    FITTED = ("classes_", "multilabel_", "_documents", "_members")

    classes_: Array
    multilabel_: bool
    _documents: SparseRows
    _members: SparseRows

    def __init__(self, *, n_neighbors: int = 45, prior: float = 1.0) -> None:
        self.n_neighbors = n_neighbors
        self.prior = prior

    def fit(self, X: Any, y: Any) -> Self:
        """Remember the documents."""
        self._check_settings()
        return self.fit_checked(*check_documents(self, X, y))

    def fit_checked(self, rows: SparseRows, targets: Targets, weights: FloatArray) -> Self:
        """Remember documents and targets that were checked; the weights do not count."""
        from sklearn.preprocessing import normalize

        self._check_settings()
        models_of(targets)  # refuses a single class
        self.classes_ = targets.classes
        self.multilabel_ = targets.multilabel
        self.n_features_in_ = rows.shape[1]
        self._remember(normalize(rows), sparse.csr_array(targets.members.T))
        return self

    def _check_settings(self) -> None:
        if self.n_neighbors < 1:
            raise ValueError(f"n_neighbors must be at least 1, got {self.n_neighbors!r}")
        if self.prior <= 0:
            raise ValueError(f"prior must be positive, got {self.prior!r}")

    def kneighbors(self, X: Any) -> tuple[Array, Array]:
        """Find the nearest training documents of each document and their cosines."""
        return self._nearest(self._normalised(X))

    def scores_checked(self, rows: SparseRows) -> FloatArray:
        """Return log odds of the shares in the votes for checked rows, documents x categories."""
        from sklearn.preprocessing import normalize

        log_odds: FloatArray = logit(self._votes(normalize(rows)))
        return log_odds

    def _normalised(self, X: Any) -> SparseRows:
        """Check documents and scale them to length 1."""
        from sklearn.preprocessing import normalize

        check_is_fitted(self)
        return normalize(check_terms(self, X, reset=False))

    def _nearest(self, rows: SparseRows) -> tuple[Array, Array]:
        """Find the nearest training documents of rows of length 1, and their cosines."""
        n_neighbors = min(self.n_neighbors, self._documents.shape[0])
        found = np.empty((rows.shape[0], n_neighbors), dtype=np.int64)
        cosines = np.empty(found.shape)
        by_term = self._by_term
        nearest_rows(
            rows.indptr, rows.indices, rows.data, by_term.indptr, by_term.indices, by_term.data,
            np.empty(self._documents.shape[0]), found, cosines,
        )  # fmt: skip
        return found, cosines

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the share of each category in the votes, documents x categories."""
        return self._votes(self._normalised(X))

    def _votes(self, rows: SparseRows) -> Array:
        found, cosines = self._nearest(rows)
        weights = cosines.clip(0.0)
        votes = weighted_votes(found, weights, self._members)
        votes += self.prior * self._shares()
        votes /= weights.sum(axis=1, keepdims=True) + self.prior
        return votes

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of P(c | d), documents x categories."""
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """Return the class with most votes, or the indicator of categories of more than half."""
        votes = self.predict_proba(X)
        if self.multilabel_:
            return (votes > 0.5).astype(np.int64)
        classes: Array = self.classes_[np.argmax(votes, axis=1)]
        return classes

    def contributions(self, X: Any, category: Any) -> tuple[SparseRows, Array]:
        """Return what terms add to a probability through neighbours, and what the prior adds."""
        positions = np.flatnonzero(self.classes_ == category)
        if len(positions) != 1:
            raise ValueError(f"no category {category!r}")
        rows = self._normalised(X)
        found, cosines = self._nearest(rows)
        member = self._members[:, positions].toarray().ravel()
        totals = cosines.clip(0.0).sum(axis=1) + self.prior
        for d in range(rows.shape[0]):
            near = found[d, cosines[d] > 0]
            centre = self._documents[near].T @ member[near]
            stretch = slice(rows.indptr[d], rows.indptr[d + 1])
            rows.data[stretch] *= centre[rows.indices[stretch]] / totals[d]
        return rows, self.prior * self._shares()[positions[0]] / totals

    def _post_load(self) -> None:
        documents = self._documents
        members = self._members
        if self.n_neighbors < 1 or not self.prior > 0 or documents.shape[0] != members.shape[0]:
            raise DataError("not a neighbours model")
        if documents.dtype != np.float64 or not np.all(members.data == 1):
            raise DataError("not the documents of a neighbours model")
        check_classes(self.classes_, members.shape[1], multilabel=self.multilabel_)
        self.n_features_in_ = documents.shape[1]
        self._remember(documents, members)

    def _remember(self, documents: SparseRows, members: SparseRows) -> None:
        self._documents = documents
        self._members = members.astype(np.float64)
        self._by_term = sparse.csc_array(documents)

    def _shares(self) -> Array:
        n_documents = self._members.shape[0]
        shares: FloatArray = (self._members.sum(axis=0) + 0.5) / (n_documents + 1.0)
        return shares if self.multilabel_ else shares / shares.sum()


_BLOCK_WEIGHTS = 500_000  # dense weights in memory at a time


@storable("rocchio")
class RocchioClassifier(TermTagsMixin, LinearScoresMixin, ClassifierMixin, BaseEstimator):
    """A prototype for each category.

    It is the mean of its documents minus a multiple of the mean of the others.

        w_c = max(0, positive · mean of members - negative · mean of the rest), scaled to length 1

    Documents are scaled to length 1 first, so that the score of such a document is its cosine with
    the prototype. Two classes share one hyperplane, the difference of their prototypes.

    Parameters
    ----------
    positive, negative : the factors of the two means; 16 and 4 are those of Buckley et al. (1994)

    References
    ----------
    Rocchio (1971); Buckley, Salton & Allan (1994).

    Examples
    --------
    >>> model = RocchioClassifier().fit([[1, 0], [0, 1]], [[1, 0], [0, 1]])
    >>> model.decision_function([[1, 0]]).tolist()
    [[1.0, 0.0]]
    """

    POOR_SCORE = True

    def __init__(self, *, positive: float = 16.0, negative: float = 4.0) -> None:
        self.positive = positive
        self.negative = negative

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Average the documents of each category."""
        return self.fit_checked(*check_documents(self, X, y, sample_weight))

    def fit_checked(self, rows: SparseRows, targets: Targets, weights: FloatArray) -> Self:
        """Average documents that were checked, with their targets and weights."""
        from sklearn.preprocessing import normalize

        models_of(targets)  # refuses a single class
        blocks = self._prototypes(normalize(rows), targets.members, weights)
        if targets.multilabel or len(targets.classes) > 2:
            prototypes = stack_rows([compact_row(row) for block in blocks for row in block])
        else:
            first, second = np.vstack(list(blocks))
            prototypes = (second - first)[np.newaxis] / np.sqrt(2.0)
        return self._set_hyperplanes(targets, prototypes, np.zeros(prototypes.shape[0]))

    def _prototypes(
        self, rows: SparseRows, members: SparseRows, weights: FloatArray
    ) -> Iterator[Array]:
        """Yield the prototypes of a few categories at a time."""
        from sklearn.preprocessing import normalize

        weighted = sparse.csr_array(rows * weights[:, np.newaxis])
        totals = weighted.sum(axis=0)
        masses = members @ weights
        step = max(1, _BLOCK_WEIGHTS // rows.shape[1])
        for start in range(0, members.shape[0], step):
            block = slice(start, start + step)
            inside = (members[block] @ weighted).toarray()
            mass = masses[block]
            means = inside / np.where(mass > 0, mass, 1.0)[:, np.newaxis]
            outside = weights.sum() - mass
            others = (totals - inside) / np.where(outside > 0, outside, 1.0)[:, np.newaxis]
            yield normalize(np.maximum(self.positive * means - self.negative * others, 0.0))
