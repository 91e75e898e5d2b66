"""Measures of the order in which scores put the documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bayesift.evaluation.contingency import Average, averaged, check_average
from bayesift.evaluation.labels import scored

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """Precision and recall of every cut of a ranking, the highest threshold first.

    Parameters
    ----------
    thresholds : what has at least this score is assigned
    precision, recall : of each

    Examples
    --------
    >>> curve = PrecisionRecallCurve.of([1, 0, 1], [0.9, 0.5, 0.5])
    >>> curve.thresholds.tolist(), curve.precision.round(3).tolist(), curve.recall.tolist()
    ([0.9, 0.5], [1.0, 0.667], [0.5, 1.0])
    """

    thresholds: Array
    precision: Array
    recall: Array

    @classmethod
    def of(cls, Y: Any, scores: Any) -> Self:
        """The curve of one category, or of all decisions of several together; recall is 0 without positives."""
        positive, values = scored(Y, scores)
        return cls._of_ranked(positive.ravel(), values.ravel())

    @classmethod
    def _of_ranked(cls, positive: Array, scores: Array) -> Self:
        true, assigned, thresholds = _cuts(positive, scores)
        return cls(thresholds, true / assigned, true / max(true[-1], 1))

    @property
    def average_precision(self) -> float:
        """Precision averaged over the steps of recall."""
        return float(np.sum(self.precision * np.diff(self.recall, prepend=0.0)))


def average_precision(
    Y: Any,
    scores: Any,
    *,
    average: Average | None = "macro",
    zero_division: float = 0.0,
    labels: Sequence[Any] | None = None,
) -> Any:
    """Precision averaged over the steps of recall, equals stepping together; 0/0 without positives.

    Examples
    --------
    >>> average_precision([1, 0, 1], [0.9, 0.8, 0.7]).__round__(4)
    0.8333
    """
    values = [_average_precision(*column, zero_division) for column in _columns(Y, scores, average, labels)]
    return averaged(np.array(values), average)


def r_precision(
    Y: Any,
    scores: Any,
    *,
    average: Average | None = "macro",
    zero_division: float = 0.0,
    labels: Sequence[Any] | None = None,
) -> Any:
    """Precision among the R documents with the highest scores, R being the number of positives.

    Of equals at rank R the expected number of positives counts, so that their order does not matter.

    Examples
    --------
    >>> r_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.5
    """
    values = [_r_precision(*column, zero_division) for column in _columns(Y, scores, average, labels)]
    return averaged(np.array(values), average)


def _columns(Y: Any, scores: Any, average: Average | None, labels: Sequence[Any] | None) -> list[tuple[Array, Array]]:
    check_average(average)
    positive, values = scored(Y, scores, labels)
    if average == "micro":
        return [(positive.ravel(), values.ravel())]
    return list(zip(positive.T, values.T, strict=True))


def _cuts(positive: Array, scores: Array) -> tuple[Array, Array, Array]:
    """True positives, documents and lowest score above each cut that parts no equals."""
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    ends = np.append(np.flatnonzero(np.diff(falling)), len(falling) - 1)
    return np.cumsum(positive[order])[ends], ends + 1, falling[ends]


def _average_precision(positive: Array, scores: Array, zero_division: float) -> float:
    return PrecisionRecallCurve._of_ranked(positive, scores).average_precision if positive.any() else zero_division


def _r_precision(positive: Array, scores: Array, zero_division: float) -> float:
    wanted = int(positive.sum())
    if not wanted:
        return zero_division
    true, assigned, _ = _cuts(positive, scores)
    # Between two cuts the expected number of positives grows linearly.
    return float(np.interp(wanted, np.append(0, assigned), np.append(0, true)) / wanted)
