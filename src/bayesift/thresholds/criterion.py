"""What a threshold is chosen for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Coefficients = tuple[float, float, float, float]

# Below one even when multiplied by 67 million documents, and exact beside that many.
_TIE_BREAK = 2.0**-26


@dataclass(frozen=True)
class Criterion:
    """A quotient to maximise under a linear constraint.

    Each part holds the coefficients of 1, t (true positives), s (documents assigned) and r (positives in all).

    Examples
    --------
    >>> F1.of(true_positives=2, assigned=3, positives=5)
    0.5
    """

    numerator: Coefficients
    denominator: Coefficients = (1.0, 0.0, 0.0, 0.0)
    constraint: Coefficients = (0.0, 0.0, 0.0, 0.0)

    @property
    def array(self) -> Array:
        """The coefficients as the kernel reads them."""
        return np.array([self.numerator, self.denominator, self.constraint], dtype=np.float64)

    def of(self, *, true_positives: float, assigned: float, positives: float) -> float:
        """The value for one outcome, whether the constraint holds or not; 0 for 0 / 0."""
        above, below, _ = self.array @ np.array([1.0, true_positives, assigned, positives])
        return float(above / below) if below else 0.0


F1 = Criterion(numerator=(0, 2, 0, 0), denominator=(0, 0, 1, 1))
FEWEST_ERRORS = Criterion(numerator=(0, 2, -1, -1))


def linear_utility(gains: Sequence[Sequence[float]]) -> Criterion:
    """The utility of a gain matrix [[true negative, false positive], [false negative, true positive]].

    What does not depend on the cut (the true negatives' gain times all negatives) is left out.

    Examples
    --------
    >>> linear_utility([[0, -1], [0, 2]]).of(true_positives=3, assigned=5, positives=4)
    4.0
    """
    (rejected, alarm), (missed, found) = gains
    return Criterion(numerator=(0, found - alarm - missed + rejected, alarm - rejected, missed - rejected))


def recall_at_precision(precision: float) -> Criterion:
    """The highest recall, then the highest precision, among cuts of at least this precision.

    Examples
    --------
    >>> recall_at_precision(0.9).constraint
    (0, 1, -0.9, 0)
    """
    return Criterion(numerator=(0, 1, -_TIE_BREAK, 0), constraint=(0, 1, -precision, 0))


def precision_at_recall(recall: float) -> Criterion:
    """The highest precision among cuts of at least this recall.

    Examples
    --------
    >>> precision_at_recall(0.95).constraint
    (0, 1, 0, -0.95)
    """
    return Criterion(numerator=(0, 1, 0, 0), denominator=(0, 0, 1, 0), constraint=(0, 1, 0, -recall))
