"""Decisions that pay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from bayesift.thresholds.criterion import Criterion, linear_utility
from bayesift.thresholds.empirical import EmpiricalRule
from bayesift.thresholds.matrices import probability_matrix
from bayesift.thresholds.ranking import Ranking

Array = np.ndarray[Any, Any]


class Utility(EmpiricalRule):
    """The threshold with the highest linear utility, from probabilities or on a sample.

    With probabilities, yes pays when p (found - missed) > (1 - p) (rejected - alarm), that is

        p > (rejected - alarm) / ((rejected - alarm) + (found - missed)).

    Parameters
    ----------
    gains : [[rejected, alarm], [missed, found]], the gain of a true negative, false positive, false negative and true
        positive; a right decision must gain more than a wrong one. The default is TREC-9's 2 R+ - N+
    calibrated : trust the scores as probabilities; otherwise take the best threshold on the sample
    shrinkage : see `MaxF1`; used only on a sample

    Examples
    --------
    >>> Utility().fit([1, 0, 0], [0.9, 0.5, 0.1]).thresholds_.round(3)
    array([0.333])
    >>> Utility(calibrated=False).fit([1, 0, 0], [9.0, 5.0, 1.0]).thresholds_
    array([7.])
    """

    def __init__(
        self,
        *,
        gains: Sequence[Sequence[float]] = ((0.0, -1.0), (0.0, 2.0)),
        calibrated: bool = True,
        shrinkage: float = 0.0,
    ) -> None:
        self.gains = gains
        self.calibrated = calibrated
        self.shrinkage = shrinkage

    @property
    def needs_probabilities(self) -> bool:
        """Whether the scores are trusted as probabilities."""
        return self.calibrated

    @property
    def criterion(self) -> Criterion:
        """The utility, but for a constant."""
        self._stakes()
        return linear_utility(self.gains)

    def fit(self, Y: Any, scores: Any) -> Self:
        """Work out the threshold, or choose it on labelled documents."""
        if not self.calibrated:
            return super().fit(Y, scores)
        self.thresholds_ = np.full(probability_matrix(scores).shape[1], self._break_even())
        return self

    def cut(self, ranking: Ranking, weights: Array | None = None, pooled: Ranking | None = None) -> Array:
        """The thresholds for ranked documents."""
        if self.calibrated:
            return np.full(len(ranking.scores), self._break_even())
        return super().cut(ranking, weights, pooled)

    def _break_even(self) -> float:
        negative, positive = self._stakes()
        return negative / (negative + positive)

    def _stakes(self) -> tuple[float, float]:
        """What is at stake in a negative and in a positive document."""
        (rejected, alarm), (missed, found) = self.gains
        if rejected <= alarm or found <= missed:
            raise ValueError(f"a right decision must gain more than a wrong one, got {self.gains!r}")
        return rejected - alarm, found - missed
