"""The Bayes decision: more probable than not."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from bayesift.thresholds.matrices import probability_matrix
from bayesift.thresholds.rule import ThresholdRule

Array = np.ndarray[Any, Any]


class Bayes(ThresholdRule):
    """Assign what is more probable than `threshold`; nothing is learned.

    Parameters
    ----------
    threshold : 0.5 makes the fewest errors when the probabilities are right

    Examples
    --------
    >>> Bayes().fit([[1, 0]], [[0.7, 0.5]]).decide([[0.7, 0.5]])
    array([[ True, False]])
    """

    def __init__(self, *, threshold: float = 0.5) -> None:
        self.threshold = threshold

    @property
    def needs_probabilities(self) -> bool:
        """Yes."""
        return True

    def fit(self, Y: Any, scores: Any) -> Self:
        """Note the number of categories."""
        self.thresholds_ = np.full(probability_matrix(scores).shape[1], float(self.threshold))
        return self

    def thresholds_for(self, scores: Any) -> Array:
        """The same threshold for every category."""
        return super().thresholds_for(probability_matrix(scores))
