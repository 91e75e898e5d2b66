"""Classifiers on topics: nearest documents, and a linear support vector machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows
from bayesift.errors import DataError
from bayesift.folds import split_by_groups
from bayesift.models.baselines.neighbors import nearest_points, weighted_votes
from bayesift.models.baselines.svm import LinearSVM
from bayesift.models.topics.similarity import TopicSimilarity
from bayesift.models.topics.sparse_nmf import SparseNMF, encoder_for_categories
from bayesift.state import StateMixin, check_classes, check_fitted, expect_array, storable
from bayesift.validation import (
    Targets,
    TermTagsMixin,
    check_groups,
    check_targets,
    check_terms,
    check_two_classes,
)

N_NEIGHBORS = (1, 3, 5, 10, 15, 20, 30, 50, 80)

_MOST_HELD_OUT = 2000
_FOLDS = 3


class _TopicClassifier(TermTagsMixin, StateMixin, ClassifierMixin, BaseEstimator):
    """A classifier on the codes of an encoder; a subclass supplies `fit` and `predict_proba`."""

    POSITIVE_ONLY = True
    POOR_SCORE = True  # of two features, codes of length one keep only an angle

    encoder: SparseNMF | None
    classes_: Array
    multilabel_: bool
    encoder_: SparseNMF

    def predict_proba(self, X: Any) -> FloatArray:
        """P(c | d), documents x categories."""
        raise NotImplementedError

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of P(c | d), documents x categories."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """Return the most probable class, or the indicator of probabilities above 1/2."""
        probabilities = self.predict_proba(X)
        if self.multilabel_:
            return (probabilities > 0.5).astype(np.int64)
        classes: Array = self.classes_[np.argmax(probabilities, axis=1)]
        return classes

    def _fit_encoder(self, X: Any, y: Any) -> tuple[Targets, Array]:
        """Fit the encoder; the targets and the codes of the documents."""
        targets = check_targets(y)
        rows = check_terms(self, X, n_documents=targets.n_documents, non_negative=True)
        if not targets.multilabel:
            check_two_classes(targets.classes)
        self.encoder_ = encoder_for_categories(self.encoder)
        return targets, self.encoder_.fit_transform(rows)

    def _codes(self, X: Any) -> Array:
        check_is_fitted(self)
        return self.encoder_.transform(check_terms(self, X, reset=False, non_negative=True))


@storable("topics-similarity")
class TopicSimilarityClassifier(_TopicClassifier):
    """The categories of the nearest documents, by the probability that they share a category.

        P(c | d) = (pi_c + sum_n P(d ~ n) [n in c]) / (1 + sum_n P(d ~ n))

    n runs over the nearest training documents, P(d ~ n) is their `TopicSimilarity`, pi_c the
    relative frequency of category c.

    Parameters
    ----------
    encoder : a `SparseNMF`; None takes one with the paper's importance and penalty
    similarity : a `TopicSimilarity`; None takes one with its defaults
    n_neighbors : number of nearest documents; None chooses it by leave-one-out on training
        documents
    t : with an indicator matrix, `predict` assigns the t most probable categories (RCut); None
        those above one half

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    encoder_, similarity_ : the fitted parts
    n_neighbors_ : number of nearest documents
    points_ : the training documents, scaled to the distances of the similarity
    members_ : categories x training documents

    References
    ----------
    Qiu, Huang & Wu, "Probabilistic text categorization using sparse topical encoding".

    Examples
    --------
    >>> X = [[3, 2, 0, 0], [1, 1, 0, 0], [0, 0, 2, 2], [0, 0, 1, 1]]
    >>> model = TopicSimilarityClassifier(encoder=SparseNMF(n_components=2), n_neighbors=2)
    >>> model.fit(X,
    ...     ["grain", "grain", "crude", "crude"]).predict([[1, 0, 0, 0], [0, 0, 0, 1]]).tolist()
    ['grain', 'crude']
    """

    FITTED = (
        "classes_",
        "multilabel_",
        "encoder_",
        "similarity_",
        "n_neighbors_",
        "points_",
        "members_",
    )

    n_neighbors_: int
    similarity_: TopicSimilarity
    points_: Array
    members_: SparseRows

    def __init__(
        self,
        *,
        encoder: SparseNMF | None = None,
        similarity: TopicSimilarity | None = None,
        n_neighbors: int | None = None,
        t: int | None = 1,
    ) -> None:
        self.encoder = encoder
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.t = t

    def fit(self, X: Any, y: Any) -> Self:
        """Find topics, learn their weights, and keep the codes of the documents."""
        self._check_parameters()
        targets, codes = self._fit_encoder(X, y)
        self.similarity_ = clone(
            TopicSimilarity() if self.similarity is None else self.similarity
        )
        self.similarity_.fit(codes, targets)
        self.points_ = self.similarity_.points(codes)
        self.members_ = targets.members
        self.n_neighbors_ = self.n_neighbors or choose_n_neighbors(
            self.points_,
            self.members_,
            self._likeness,
            check_random_state(self.similarity_.random_state),
        )
        self.classes_ = targets.classes
        self.multilabel_ = targets.multilabel
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """P(c | d), documents x categories."""
        neighbors, distances = self.kneighbors(X)
        likeness = self._likeness(distances)
        votes = weighted_votes(
            neighbors, likeness, sparse.csr_array(self.members_.T, dtype=np.float64)
        )
        priors = np.diff(self.members_.indptr) / self.members_.shape[1]
        total = 1.0 + likeness.sum(axis=1, keepdims=True)
        probabilities: FloatArray = (votes + priors) / total
        return np.minimum(probabilities, 1.0)

    def predict(self, X: Any) -> Array:
        """Return the most probable class, or the indicator of the `t` most probable categories."""
        check_is_fitted(self)
        if self.t is None or not self.multilabel_:
            return super().predict(X)
        probabilities = self.predict_proba(X)
        chosen = np.argsort(-probabilities, axis=1, kind="stable")[:, : self.t]
        decisions = np.zeros(probabilities.shape, dtype=np.int64)
        np.put_along_axis(decisions, chosen, 1, axis=1)
        return decisions

    def kneighbors(self, X: Any) -> tuple[Array, Array]:
        """Find the nearest training documents, and their squared distances."""
        check_is_fitted(self)
        return nearest_points(
            self.similarity_.points(self._codes(X)), self.points_, self.n_neighbors_
        )

    def _post_load(self) -> None:
        self._check_parameters()
        check_fitted(self.encoder_, self.similarity_)
        n_topics = len(self.encoder_.components_)
        n_documents = len(expect_array(self.points_, "points_", np.float64, (None, n_topics)))
        if len(self.similarity_.weights_) != n_topics or self.n_neighbors_ < 1:
            raise DataError("its topics do not fit together")
        members = self.members_
        if (
            members.shape[1] != n_documents
            or not n_documents
            or not members.has_canonical_format
        ):
            raise DataError("the documents of its categories do not fit together")
        if members.dtype != np.int8 or not np.all(members.data == 1):
            raise DataError("the documents of its categories are not in order")
        check_classes(self.classes_, members.shape[0], multilabel=self.multilabel_)
        self.n_features_in_ = self.encoder_.n_features_in_

    def _likeness(self, distances: FloatArray) -> Array:
        return np.asarray(expit(self.similarity_.log_odds_at(distances)))

    def _check_parameters(self) -> None:
        if self.n_neighbors is not None and self.n_neighbors < 1:
            raise ValueError(
                f"n_neighbors must be at least 1 or None, got {self.n_neighbors!r}"
            )
        if self.t is not None and self.t < 1:
            raise ValueError(f"t must be at least 1 or None, got {self.t!r}")


def choose_n_neighbors(
    points: FloatArray,
    members: SparseRows,
    weigh: Callable[[Array], Array],
    random: np.random.RandomState,
) -> int:
    """Choose the best number of neighbours among `N_NEIGHBORS`, by `leave_one_out`.

    Ties go to the smallest.
    """
    accuracies = leave_one_out(points, members, weigh, random)
    return max(accuracies, key=accuracies.__getitem__, default=1)


def leave_one_out(
    points: FloatArray,
    members: SparseRows,
    weigh: Callable[[Array], Array],
    random: np.random.RandomState,
) -> dict[int, float]:
    """Return the share of documents in the category with most votes, per number.

    There is one for each number of neighbours.

    `weigh` gives the weight of a neighbour at a squared distance; `random` draws the documents,
    2,000 at most.
    """
    n = len(points)
    held_out = np.sort(random.permutation(n)[:_MOST_HELD_OUT])
    k = min(max(N_NEIGHBORS), n - 1)
    if k < 1:
        return {}
    neighbors, distances = _without_self(
        held_out, *nearest_points(points[held_out], points, k + 1)
    )
    weights = weigh(distances)
    by_document = sparse.csr_array(members.T, dtype=np.float64)
    truth = by_document[held_out].toarray() > 0
    return {
        size: _n_correct(neighbors[:, :size], weights[:, :size], by_document, truth)
        / len(held_out)
        for size in N_NEIGHBORS
        if size <= k
    }


def _without_self(
    documents: Array, neighbors: IntArray, distances: FloatArray
) -> tuple[Array, Array]:
    """Neighbours without the document itself.

    Without the last one where it is not among its own neighbours.
    """
    own = neighbors == documents[:, np.newaxis]
    own[~own.any(axis=1), -1] = True
    shape = (len(documents), neighbors.shape[1] - 1)
    return neighbors[~own].reshape(shape), distances[~own].reshape(shape)


def _n_correct(
    neighbors: IntArray, weights: FloatArray, by_document: SparseRows, truth: Array
) -> int:
    best = np.argmax(weighted_votes(neighbors, weights, by_document), axis=1)
    return int(truth[np.arange(len(best)), best].sum())


@storable("topics-svm")
class TopicSVMClassifier(_TopicClassifier):
    """Topics by `SparseNMF`, then a `LinearSVM` per category on codes of length one.

    Probabilities are 1 / (1 + exp(-(slope score + shift))), slope and shift of each category fitted
    to the scores of three-fold cross-validation (Platt); with class labels they are normalised.

    Parameters
    ----------
    encoder : a `SparseNMF`; None takes one with the paper's importance and penalty
    C : of the `LinearSVM`
    random_state : seed of the `LinearSVM` and the folds

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    encoder_ : the fitted encoder
    coef_, intercept_ : categories x topics, and one per category
    slopes_, shifts_ : from scores to log odds, one per category

    Examples
    --------
    >>> X = [[3, 2, 0, 0], [1, 1, 0, 0], [2, 1, 0, 0], [0, 0, 2, 2], [0, 0, 1, 1], [0, 0, 1, 2]]
    >>> model = TopicSVMClassifier(encoder=SparseNMF(n_components=2))
    >>> model.fit(X, ["grain"] * 3 + ["crude"] * 3).predict([[1, 0, 0, 0], [0, 0, 0, 1]]).tolist()
    ['grain', 'crude']
    """

    FITTED = (
        "classes_",
        "multilabel_",
        "encoder_",
        "coef_",
        "intercept_",
        "slopes_",
        "shifts_",
    )

    coef_: Array
    intercept_: FloatArray
    slopes_: Array
    shifts_: Array

    def __init__(
        self, *, encoder: SparseNMF | None = None, C: float = 1.0, random_state: int | None = 0
    ) -> None:
        self.encoder = encoder
        self.C = C
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Find topics and fit a hyperplane to each category.

        Documents of one of the `groups` are held out together.
        """
        from sklearn.preprocessing import normalize

        targets, codes = self._fit_encoder(X, y)
        codes = normalize(codes)
        indicator = targets.members.toarray().T > 0
        self.coef_, self.intercept_ = self._hyperplanes(codes, indicator)
        units = check_groups(groups, targets.n_documents)
        self.slopes_, self.shifts_ = self._lines(codes, indicator, units)
        self.classes_ = targets.classes
        self.multilabel_ = targets.multilabel
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """P(c | d), documents x categories."""
        probabilities: FloatArray = np.asarray(
            expit(self._scores(X) * self.slopes_ + self.shifts_)
        )
        if not self.multilabel_:
            probabilities = np.maximum(probabilities, np.finfo(float).tiny)
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def contributions(self, X: Any, category: Any) -> tuple[SparseRows, Array]:
        """Return what each term adds to the log odds of a category, and those without any term.

        A topic's part of a code is divided among the terms by `SparseNMF.shares`; the sum over
        terms is the score up to the tolerance of the codes.
        """
        check_is_fitted(self)
        indices = np.flatnonzero(self.classes_ == category)
        if len(indices) != 1:
            raise ValueError(f"no category {category!r}")
        rows = check_terms(self, X, reset=False, non_negative=True)
        index = indices[0]
        values = np.empty(rows.nnz)
        for i, code in enumerate(self.encoder_.transform(rows)):
            length = float(np.linalg.norm(code)) or 1.0
            shares = self.encoder_.shares(rows[[i]], code)[
                :, rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
            ]
            values[rows.indptr[i] : rows.indptr[i + 1]] = self.coef_[index] @ shares / length
        contributions = sparse.csr_array(
            (self.slopes_[index] * values, rows.indices, rows.indptr), shape=rows.shape
        )
        prior = self.slopes_[index] * self.intercept_[index] + self.shifts_[index]
        return contributions, np.full(rows.shape[0], prior)

    def _post_load(self) -> None:
        check_fitted(self.encoder_)
        n_categories = len(expect_array(self.intercept_, "intercept_", np.float64, (None,)))
        expect_array(
            self.coef_, "coef_", np.float64, (n_categories, len(self.encoder_.components_))
        )
        expect_array(self.slopes_, "slopes_", np.float64, (n_categories,))
        expect_array(self.shifts_, "shifts_", np.float64, (n_categories,))
        check_classes(self.classes_, n_categories, multilabel=self.multilabel_)
        self.n_features_in_ = self.encoder_.n_features_in_

    def _scores(self, X: Any) -> FloatArray:
        from sklearn.preprocessing import normalize

        scores: FloatArray = normalize(self._codes(X)) @ self.coef_.T + self.intercept_
        return scores

    def _hyperplanes(self, codes: FloatArray, indicator: Array) -> tuple[Array, Array]:
        """One hyperplane per category against the rest."""
        machine = LinearSVM(C=self.C, dual="auto", random_state=self.random_state)
        members = sparse.csr_array(indicator.T, dtype=np.int8)
        targets = Targets(members, np.arange(len(members.indptr) - 1), multilabel=True)
        machine.fit_checked(sparse.csr_array(codes), targets, np.ones(len(codes)))
        weights: FloatArray = (
            machine.coef_.toarray() if sparse.issparse(machine.coef_) else machine.coef_
        )
        return weights, machine.intercept_

    def _lines(
        self, codes: FloatArray, indicator: Array, groups: IntArray | None
    ) -> tuple[Array, Array]:
        """Slope and shift of each category, from cross-validated scores."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import KFold

        slopes = np.ones(indicator.shape[1])
        shifts = np.zeros(indicator.shape[1])
        n_units = len(codes) if groups is None else len(np.unique(groups))
        n_folds = min(_FOLDS, n_units)
        if n_folds < 2:
            return slopes, shifts
        scores = np.empty(indicator.shape)
        splitter = KFold(n_folds, shuffle=True, random_state=self.random_state)
        for train, test in split_by_groups(splitter, len(codes), groups):
            coefficients, intercepts = self._hyperplanes(codes[train], indicator[train])
            scores[test] = codes[test] @ coefficients.T + intercepts
        for c, positive in enumerate(indicator.T):
            if positive.any() and not positive.all():
                line = LogisticRegression().fit(scores[:, [c]], positive)
                slopes[c] = max(float(line.coef_[0, 0]), np.finfo(float).eps)
                shifts[c] = float(line.intercept_[0])
        return slopes, shifts
