"""Decision rules and how they read labels and scores; the rules that learn nothing."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array
from bayesift.errors import DataError


class ThresholdRule(BaseEstimator):
    """Turns scores (documents x categories) into decisions.

    A document is assigned to a category when its score lies strictly above the threshold. A subclass supplies
    `fit`, which sets `thresholds_`, and overrides the rest where it decides otherwise.

    Attributes
    ----------
    thresholds_ : one per category; +inf for a category without positives in the sample, which is never assigned
    """

    FITTED: ClassVar[tuple[str, ...]] = ("thresholds_",)

    thresholds_: Array

    @property
    def needs_probabilities(self) -> bool:
        """Whether scores must be probabilities."""
        return False

    @property
    def needs_scores(self) -> bool:
        """Whether `fit` learns from scores; without it they may be None."""
        return True

    def fit(self, Y: Any, scores: Any) -> Self:
        """Choose thresholds on labelled documents."""
        raise NotImplementedError

    def thresholds_for(self, scores: Any) -> Array:
        """The thresholds that apply to these documents, to be compared with their scores."""
        check_is_fitted(self)
        n_categories = score_matrix(scores).shape[1]
        if n_categories != len(self.thresholds_):
            raise DataError(f"scores of {n_categories} categories, but thresholds of {len(self.thresholds_)}")
        return self.thresholds_

    def decide(self, scores: Any) -> Array:
        """Which document is assigned to which category, in the shape of `scores`."""
        decisions: Array = score_matrix(scores) > self.thresholds_for(scores)
        return decisions.reshape(np.shape(scores))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, self.FITTED[0])


class Bayes(ThresholdRule):
    """Assign what is more probable than `threshold`; nothing is learned.

    Parameters
    ----------
    threshold : 0.5 makes the fewest errors when the probabilities are right

    Examples
    --------
    >>> Bayes().fit([[1, 0]]).decide([[0.7, 0.5]])
    array([[ True, False]])
    """

    needs_probabilities = True
    needs_scores = False

    def __init__(self, *, threshold: float = 0.5) -> None:
        self.threshold = threshold

    def fit(self, Y: Any, scores: Any = None) -> Self:
        """Set the same threshold for every category."""
        checked = None if scores is None else probability_matrix(scores)
        self.thresholds_ = np.full(n_categories_of(Y, checked), float(self.threshold))
        return self

    def thresholds_for(self, scores: Any) -> Array:
        """The same threshold for every category."""
        return super().thresholds_for(probability_matrix(scores))


class Sign(ThresholdRule):
    """Assign what scores above 0, the positive side of the hyperplane; nothing is learned.

    Examples
    --------
    >>> Sign().fit([[1, 0]]).decide([[0.3, -2.0]])
    array([[ True, False]])
    """

    needs_scores = False

    def fit(self, Y: Any, scores: Any = None) -> Self:
        """Set the threshold 0 for every category."""
        self.thresholds_ = np.zeros(n_categories_of(Y, None if scores is None else score_matrix(scores)))
        return self


def label_matrix(Y: Any) -> Array:
    """Labels as a boolean matrix, documents x categories; one column may come as a vector."""
    dense = Y.toarray() if sparse.issparse(Y) else np.asarray(Y)
    if dense.ndim not in (1, 2):
        raise DataError(f"labels must be documents x categories, got {dense.ndim} dimensions")
    positive: Array = dense == 1
    if not (positive | (dense == 0)).all():
        raise DataError("labels must be 0 or 1: one column per category, 1 where the document belongs to it")
    return positive[:, None] if positive.ndim == 1 else positive


def score_matrix(scores: Any) -> Array:
    """Finite scores, documents x categories; one column may come as a vector."""
    shaped = np.asarray(scores)
    checked: Array = check_array(
        shaped[:, None] if shaped.ndim == 1 else shaped, dtype=np.float64, input_name="scores", ensure_min_samples=0
    )
    return checked


def probability_matrix(probabilities: Any) -> Array:
    """Scores that lie in [0, 1]."""
    checked = score_matrix(probabilities)
    if checked.size and not (checked.min() >= 0 and checked.max() <= 1):
        raise DataError(f"this rule needs probabilities, but scores reach from {checked.min():g} to {checked.max():g}")
    return checked


def labelled_scores(Y: Any, scores: Any) -> tuple[Array, Array]:
    """Labels and scores of the same documents and categories."""
    positive, checked = label_matrix(Y), score_matrix(scores)
    if positive.shape != checked.shape:
        shapes = [" x ".join(map(str, matrix.shape)) for matrix in (positive, checked)]
        raise DataError(f"labels are {shapes[0]}, scores {shapes[1]} (documents x categories)")
    if not len(checked):
        raise DataError("there are no documents to choose a threshold on")
    return positive, checked


def n_categories_of(Y: Any, scores: Array | None) -> int:
    """The number of categories, by the scores where there are any and by the labels otherwise."""
    shape = np.shape(Y) if scores is None else scores.shape
    return int(shape[1]) if len(shape) > 1 else 1
