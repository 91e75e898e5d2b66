"""The sign of the score."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from bayesift.thresholds.matrices import score_matrix
from bayesift.thresholds.rule import ThresholdRule


class Sign(ThresholdRule):
    """Assign what scores above 0, the side of the hyperplane; nothing is learned.

    Examples
    --------
    >>> Sign().fit([[1, 0]], [[0.3, -2.0]]).decide([[0.3, -2.0]])
    array([[ True, False]])
    """

    def fit(self, Y: Any, scores: Any) -> Self:
        """Note the number of categories."""
        self.thresholds_ = np.zeros(score_matrix(scores).shape[1])
        return self
