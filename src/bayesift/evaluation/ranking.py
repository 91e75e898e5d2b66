"""Measures of a ranking: of documents by score, and of the order in which documents are read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bayesift.arrays import Array, FloatArray
from bayesift.charts import Axis, Figure, Frame, Layer, Line, Panel, PointLabels, Points
from bayesift.charts.svg import series, shortened
from bayesift.evaluation.measures import Average, Classes, averaged, check_average, scored


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """Precision and recall of every cut of a ranking, the highest threshold first.

    Examples
    --------
    >>> curve = PrecisionRecallCurve.of([1, 0, 1], [0.9, 0.5, 0.5])
    >>> curve.thresholds.tolist(), curve.precision.round(3).tolist(), curve.recall.tolist()
    ([0.9, 0.5], [1.0, 0.667], [0.5, 1.0])
    """

    thresholds: Array
    precision: FloatArray
    recall: Array

    @classmethod
    def of(cls, Y: Any, scores: Any) -> Self:
        """Return the curve of one category, or of all decisions of several together.

        Recall is 0 without positives.
        """
        positive, values = scored(Y, scores)
        return cls._of_ranked(positive.ravel(), values.ravel())

    def thinned(self, n_points: int = 300) -> Self:
        """Keep at most about this many cuts, at equally spaced values of recall."""
        indices = np.searchsorted(self.recall, np.linspace(0, 1, n_points) * self.recall[-1])
        kept = np.unique(np.append(indices[1:], 0))
        return type(self)(self.thresholds[kept], self.precision[kept], self.recall[kept])

    @classmethod
    def _of_ranked(cls, positive: Array, scores: FloatArray) -> Self:
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
    labels: Classes = None,
) -> Any:
    """Precision averaged over the steps of recall, equals stepping together; 0/0 without positives.

    Examples
    --------
    >>> average_precision([1, 0, 1], [0.9, 0.8, 0.7]).__round__(4)
    0.8333
    """
    values = [
        _average_precision(*column, zero_division)
        for column in _columns(Y, scores, average, labels)
    ]
    return averaged(np.array(values), average)


def r_precision(
    Y: Any,
    scores: Any,
    *,
    average: Average | None = "macro",
    zero_division: float = 0.0,
    labels: Classes = None,
) -> Any:
    """Precision among the R documents with the highest scores, R being the number of positives.

    Of equals at rank R the expected number of positives counts, so that their order does not
    matter.

    Examples
    --------
    >>> r_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.5
    """
    values = [
        _r_precision(*column, zero_division) for column in _columns(Y, scores, average, labels)
    ]
    return averaged(np.array(values), average)


def average_time_to_discovery(ranks: Sequence[int] | Array) -> float:
    """Return ATD: the mean rank of relevant documents in the order of reading, from 1.

    Examples
    --------
    >>> average_time_to_discovery([1, 2, 6])
    3.0
    """
    return float(np.mean(ranks))


def work_saved(ranks: Sequence[int] | Array, n_documents: int, recall: float = 0.95) -> float:
    """Return WSS: the share of documents that need not be read to reach this recall.

    What chance would save is taken off.

    `ranks` are those of all relevant documents in the order of reading, 1 for the first.

    Examples
    --------
    >>> work_saved([1, 2, 6], 10)
    0.35
    """
    needed = math.ceil(recall * len(ranks) - 1e-9)
    saved = 1.0 - np.sort(ranks)[needed - 1] / n_documents - (1.0 - recall)
    return float(round(saved, 12))


def precision_recall_plot(
    curves: Mapping[str, PrecisionRecallCurve],
    *,
    decided: Mapping[str, tuple[float, float]] | None = None,
) -> Figure:
    """Precision against recall, over contours of equal F1.

    Parameters
    ----------
    curves : by name
    decided : recall and precision of the decisions made, by the name of their curve; marked by
        rings
    """
    styles = {name: series(index) for index, name in enumerate(curves)}
    rings = [Points([at], styles[name], ring=True) for name, at in (decided or {}).items()]
    values = {name: f"{curve.average_precision:.3f}" for name, curve in curves.items()}
    lines = [
        Line(_steps(curve), styles[name], name, values[name]) for name, curve in curves.items()
    ]
    frame = Frame(left=46, right=318)
    return Figure(
        "Precision and recall",
        [
            Panel(
                Axis.unit("recall"),
                Axis.unit("precision"),
                [*rings, *lines, *_f1_contours()],
                frame,
            )
        ],
        caption="Precision against recall as the threshold moves. The number is the average "
        "precision." + (" The ring marks the decisions." if rings else ""),
        description="; ".join(
            f"{shortened(name)}: average precision {value}" for name, value in values.items()
        ),
        width=360,
    )


def _steps(curve: PrecisionRecallCurve) -> list[tuple[float, float]]:
    """Return the curve as steps: a precision holds back to the recall before it."""
    points = []
    reached = 0.0
    shown = curve.thinned()
    for recall, precision in zip(shown.recall.tolist(), shown.precision.tolist(), strict=True):
        points += [(reached, precision), (recall, precision)]
        reached = recall
    return points


def _f1_contours() -> list[Layer]:
    """Lines of equal F1: P = F R / (2 R - F)."""
    lines: list[Layer] = []
    for f1 in (0.2, 0.4, 0.6, 0.8):
        lowest = f1 / (2 - f1)
        recalls = [lowest + (1 - lowest) * i / 40 for i in range(41)]
        lines.append(Line([(r, min(1.0, f1 * r / (2 * r - f1))) for r in recalls], "contour"))
        lines.append(PointLabels([(1.0, lowest, f"F1 {f1:.1f}")], "faint", (5, 4)))
    return lines


def _columns(
    Y: Any, scores: Any, average: Average | None, labels: Classes
) -> list[tuple[Array, Array]]:
    check_average(average)
    positive, values = scored(Y, scores, labels)
    if average == "micro":
        return [(positive.ravel(), values.ravel())]
    return list(zip(positive.T, values.T, strict=True))


def _cuts(positive: Array, scores: FloatArray) -> tuple[Array, Array, Array]:
    """Return true positives, documents and lowest score above each cut that parts no equals."""
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    ends = np.append(np.flatnonzero(np.diff(falling)), len(falling) - 1)
    return np.cumsum(positive[order])[ends], ends + 1, falling[ends]


def _average_precision(positive: Array, scores: FloatArray, zero_division: float) -> float:
    if positive.any():
        return PrecisionRecallCurve._of_ranked(positive, scores).average_precision
    return zero_division


def _r_precision(positive: Array, scores: FloatArray, zero_division: float) -> float:
    wanted = int(positive.sum())
    if not wanted:
        return zero_division
    true, assigned, _ = _cuts(positive, scores)
    # Between two cuts the expected number of positives grows linearly.
    return float(np.interp(wanted, np.append(0, assigned), np.append(0, true)) / wanted)
