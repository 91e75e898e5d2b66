"""What every decision rule does."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bayesift.errors import DataError
from bayesift.thresholds.matrices import score_matrix

Array = np.ndarray[Any, Any]


class ThresholdRule(BaseEstimator):
    """Turns scores (documents x categories) into decisions: strictly above the threshold of its category is yes.

    A rule supplies `fit`, which sets `thresholds_`, and whatever of the rest it does in another way.

    Attributes
    ----------
    thresholds_ : of each category; +inf says never, for a category without positives in the sample

    Examples
    --------
    >>> from bayesift.thresholds import MaxF1
    >>> rule = MaxF1().fit([[1, 0], [0, 1]], [[0.9, 0.2], [0.1, 0.4]])
    >>> rule.decide([[0.6, 0.2]])
    array([[ True, False]])
    """

    thresholds_: Array

    @property
    def needs_probabilities(self) -> bool:
        """Whether scores have to be probabilities."""
        return False

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
        return hasattr(self, "thresholds_")
