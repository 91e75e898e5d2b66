"""Right and wrong decisions of each category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np

from bayesift.evaluation.labels import aligned

Array = np.ndarray[Any, Any]
Average = Literal["micro", "macro"]


@dataclass(frozen=True, eq=False)
class Contingency:
    """Counts of each category, from which the measures follow.

    Parameters
    ----------
    true_positives : assigned and rightly so
    assigned : decided yes
    positives : belonging to the category
    n_documents : in all

    Examples
    --------
    >>> counts = Contingency.of([[1, 0], [1, 1], [0, 0]], [[1, 0], [0, 1], [1, 1]])
    >>> counts.true_positives.tolist(), counts.false_positives.tolist(), counts.false_negatives.tolist()
    ([1, 1], [1, 1], [1, 0])
    >>> counts.f1().round(3).tolist()
    [0.5, 0.667]
    """

    true_positives: Array
    assigned: Array
    positives: Array
    n_documents: int

    @classmethod
    def of(cls, Y: Any, decisions: Any, *, labels: Sequence[Any] | None = None) -> Self:
        """Count the decisions on labelled documents."""
        truth, decided = aligned(Y, decisions, labels=labels)
        matrices = (truth.multiply(decided), decided, truth)
        true_positives, assigned, positives = (matrix.sum(axis=0).astype(np.int64) for matrix in matrices)
        return cls(true_positives, assigned, positives, truth.shape[0])

    @property
    def false_positives(self) -> Array:
        """Assigned wrongly."""
        return self.assigned - self.true_positives

    @property
    def false_negatives(self) -> Array:
        """Missed."""
        return self.positives - self.true_positives

    @property
    def true_negatives(self) -> Array:
        """Rightly left alone."""
        return self.n_documents - self.assigned - self.false_negatives

    def pooled(self) -> Contingency:
        """The counts of all categories together, as one category."""
        parts = (self.true_positives, self.assigned, self.positives)
        true_positives, assigned, positives = (part.sum(keepdims=True) for part in parts)
        return Contingency(true_positives, assigned, positives, self.n_documents * len(self.positives))

    def precision(self, *, zero_division: float = 0.0) -> Array:
        """Share of the assigned that is right."""
        return quotient(self.true_positives, self.assigned, zero_division)

    def recall(self, *, zero_division: float = 0.0) -> Array:
        """Share of the positives that is found."""
        return quotient(self.true_positives, self.positives, zero_division)

    def f1(self, *, zero_division: float = 0.0) -> Array:
        """Harmonic mean of precision and recall, 2t / (assigned + positives)."""
        return quotient(2 * self.true_positives, self.assigned + self.positives, zero_division)


def quotient(above: Array, below: Array, zero_division: float) -> Array:
    """Above over below, `zero_division` where below is 0.

    Examples
    --------
    >>> quotient(np.array([1, 0]), np.array([2, 0]), 0.0).tolist()
    [0.5, 0.0]
    """
    result = np.full(np.shape(above), float(zero_division))
    np.divide(above, below, out=result, where=np.asarray(below) != 0)
    return result


def averaged(values: Array, average: Average | None) -> Any:
    """The mean over categories, or the values themselves.

    Examples
    --------
    >>> averaged(np.array([0.0, 1.0]), "macro")
    0.5
    """
    check_average(average)
    return values if average is None else float(np.mean(values))


def check_average(average: Average | None) -> None:
    """Refuse an average that there is not.

    Examples
    --------
    >>> check_average("weighted")
    Traceback (most recent call last):
    ValueError: average must be 'micro', 'macro' or None, got 'weighted'
    """
    if average is not None and average not in get_args(Average):
        raise ValueError(f"average must be 'micro', 'macro' or None, got {average!r}")
