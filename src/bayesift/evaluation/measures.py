"""Measures of decisions.

Y and decisions are indicator matrices (documents x categories, dense or sparse), or vectors of class labels whose
columns `labels` names. `average` is

    "micro"  the measure over the decisions of all categories together
    "macro"  the mean of the measure over categories; macro F1 is the mean of F1, not F1 of mean precision and recall
    None     an array, one value a category

A quotient 0/0 counts as `zero_division`, 0 by default as in scikit-learn: a category without positives and without
assignments has F1 0 and takes part in the macro average.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesift.evaluation.contingency import Average, Contingency, averaged
from bayesift.evaluation.labels import aligned

Array = np.ndarray[Any, Any]


def precision(
    Y: Any,
    decisions: Any,
    *,
    average: Average | None = "micro",
    zero_division: float = 0.0,
    labels: Sequence[Any] | None = None,
) -> Any:
    """Share of the assigned that is right.

    Examples
    --------
    >>> precision([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.6666666666666666
    """
    return averaged(_counts(Y, decisions, average, labels).precision(zero_division=zero_division), average)


def recall(
    Y: Any,
    decisions: Any,
    *,
    average: Average | None = "micro",
    zero_division: float = 0.0,
    labels: Sequence[Any] | None = None,
) -> Any:
    """Share of the positives that is found.

    Examples
    --------
    >>> recall([[1, 0], [0, 1]], [[1, 1], [0, 0]], average="macro")
    0.5
    """
    return averaged(_counts(Y, decisions, average, labels).recall(zero_division=zero_division), average)


def f1(
    Y: Any,
    decisions: Any,
    *,
    average: Average | None = "micro",
    zero_division: float = 0.0,
    labels: Sequence[Any] | None = None,
) -> Any:
    """Harmonic mean of precision and recall.

    Examples
    --------
    >>> f1(["corn", "oil", "oil"], ["corn", "oil", "corn"], average=None).round(3)
    array([0.667, 0.667])
    """
    return averaged(_counts(Y, decisions, average, labels).f1(zero_division=zero_division), average)


def accuracy(Y: Any, decisions: Any, *, labels: Sequence[Any] | None = None) -> float:
    """Share of the documents that are decided right in every category.

    Examples
    --------
    >>> accuracy([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.5
    """
    return float(np.mean(wholly_right(Y, decisions, labels=labels)))


def wholly_right(Y: Any, decisions: Any, *, labels: Sequence[Any] | None = None) -> Array:
    """Which documents are decided right in every category.

    Examples
    --------
    >>> wholly_right(["corn", "oil"], ["corn", "corn"])
    array([ True, False])
    """
    truth, decided = aligned(Y, decisions, labels=labels)
    right: Array = abs(truth - decided).sum(axis=1) == 0
    return right


def _counts(Y: Any, decisions: Any, average: Average | None, labels: Sequence[Any] | None) -> Contingency:
    counts = Contingency.of(Y, decisions, labels=labels)
    return counts.pooled() if average == "micro" else counts
