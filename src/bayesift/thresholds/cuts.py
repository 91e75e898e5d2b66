"""Rules that assign a fixed number: of categories per document, or of documents per category."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.thresholds.rule import ThresholdRule, label_matrix, labelled_scores, score_matrix


class RCut(ThresholdRule):
    """Assign each document to its `t` categories with the highest scores; ties go to the earlier column.

    Parameters
    ----------
    t : number of categories; None takes the one with the highest micro F1 on the sample

    Attributes
    ----------
    t_ : number of categories per document

    Examples
    --------
    >>> RCut(t=1).fit([[1, 0, 0]], [[0.1, 0.7, 0.2]]).decide([[0.1, 0.7, 0.2], [0.5, 0.4, 0.5]]).astype(int)
    array([[0, 1, 0],
           [1, 0, 0]])
    """

    FITTED = ("t_", "n_categories_")

    t_: int
    n_categories_: int

    def __init__(self, *, t: int | None = 1) -> None:
        self.t = t

    def fit(self, Y: Any, scores: Any) -> Self:
        """Check or choose the number of categories per document."""
        positive, checked = labelled_scores(Y, scores)
        n_categories = checked.shape[1]
        if self.t is not None and not 1 <= self.t < n_categories:
            raise ValueError(f"t must be at least 1 and below the number of categories {n_categories}, got {self.t!r}")
        self.t_ = self._best_t(positive, checked) if self.t is None else self.t
        self.n_categories_ = n_categories
        return self

    def thresholds_for(self, scores: Any) -> Array:
        """A threshold for each document, its highest score that is not assigned; a column."""
        return -np.partition(-self._checked(scores), self.t_, axis=1)[:, [self.t_]]

    def decide(self, scores: Any) -> Array:
        """Which document is assigned to which category: exactly `t_` per document."""
        checked = self._checked(scores)
        decisions = np.zeros(checked.shape, dtype=bool)
        np.put_along_axis(decisions, _first(checked, axis=1)[:, : self.t_], True, axis=1)
        return decisions

    @staticmethod
    def _best_t(positive: Array, scores: Array) -> int:
        by_rank = np.take_along_axis(positive, _first(scores, axis=1), axis=1).sum(axis=0)[:-1]
        t = np.arange(1, scores.shape[1])
        return int(t[np.argmax(2 * np.cumsum(by_rank) / (t * len(scores) + positive.sum()))])

    def _checked(self, scores: Any) -> Array:
        check_is_fitted(self)
        checked = score_matrix(scores)
        if checked.shape[1] != self.n_categories_:
            raise DataError(f"scores of {checked.shape[1]} categories, fitted with {self.n_categories_}")
        return checked


class PCut(ThresholdRule):
    """Assign to each category its share of the documents to be decided, those with the highest scores.

    A category with prior π takes round(proportion · π · n) of n documents; ties go to the earlier document.

    Parameters
    ----------
    proportion : 1 assigns as many as the sample had

    Attributes
    ----------
    priors_ : the share of positives of each category in the sample

    Examples
    --------
    >>> rule = PCut().fit([1, 0, 1, 0], [0.9, 0.1, 0.8, 0.3])
    >>> rule.decide([0.2, 0.4, 0.1, 0.4, 0.4, 0.3]).astype(int)
    array([0, 1, 0, 1, 1, 0])
    """

    needs_scores = False

    FITTED = ("priors_",)

    priors_: Array

    def __init__(self, *, proportion: float = 1.0) -> None:
        self.proportion = proportion

    def fit(self, Y: Any, scores: Any = None) -> Self:
        """Learn the priors; scores are not used."""
        if self.proportion < 0:
            raise ValueError(f"proportion must be at least 0, got {self.proportion!r}")
        self.priors_ = label_matrix(Y).mean(axis=0)
        return self

    def thresholds_for(self, scores: Any) -> Array:
        """For each category its highest score that is not assigned; -inf when all are."""
        checked, counts = self._checked(scores)
        falling = -np.sort(-checked, axis=0)
        padded = np.vstack([falling, np.full((1, len(counts)), -np.inf)])
        return padded[counts, np.arange(len(counts))]

    def decide(self, scores: Any) -> Array:
        """Which document is assigned to which category."""
        checked, counts = self._checked(scores)
        ranks = np.argsort(_first(checked, axis=0), axis=0)
        decisions: Array = ranks < counts
        return decisions.reshape(np.shape(scores))

    def _checked(self, scores: Any) -> tuple[Array, Array]:
        check_is_fitted(self)
        checked = score_matrix(scores)
        if checked.shape[1] != len(self.priors_):
            raise DataError(f"scores of {checked.shape[1]} categories, but priors of {len(self.priors_)}")
        wanted = np.rint(self.proportion * self.priors_ * len(checked)).astype(np.int64)
        return checked, np.minimum(wanted, len(checked))


def _first(scores: Array, *, axis: int) -> Array:
    """Positions by falling score, earlier ones first among equals."""
    return np.argsort(-scores, axis=axis, kind="stable")
