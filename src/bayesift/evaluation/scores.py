"""All measures of one evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.evaluation.calibration import (
    brier_score,
    expected_calibration_error,
    log_loss,
    top_label_calibration_error,
)
from bayesift.evaluation.measures import Contingency, accuracy, aligned
from bayesift.evaluation.ranking import average_precision, r_precision


@dataclass(frozen=True)
class Averages:
    """Precision, recall and F1, micro or macro."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class CategoryScores:
    """One row of the table of categories; without probabilities it has no ranking measures."""

    category: str
    positives: int
    assigned: int
    true_positives: int
    precision: float
    recall: float
    f1: float
    average_precision: float | None = None
    r_precision: float | None = None


@dataclass(frozen=True)
class Probabilities:
    """Measures of the probabilities.

    Ranking is averaged over the categories that have documents, the others over all decisions.

    Calibration errors of all categories have 10 bins, those of the top label 15, of equal width or
    of equal mass.
    """

    average_precision: float
    r_precision: float
    log_loss: float
    brier_score: float
    calibration_error_width: float
    calibration_error_mass: float
    top_label_calibration_error_width: float
    top_label_calibration_error_mass: float


@dataclass(frozen=True, repr=False)
class Scores:
    """The measures of one evaluation: micro and macro averages, and a row per category.

    Macro averages are over the categories that have documents: precision, recall and F1 of the
    others can only be 0, whatever is decided. Micro averages and accuracy count all decisions.
    """

    n_documents: int
    n_positives: int
    n_assigned: int
    micro: Averages
    macro: Averages
    accuracy: float
    categories: tuple[CategoryScores, ...]
    probabilities: Probabilities | None = None
    zero_division: float = 0.0

    @property
    def categories_without_documents(self) -> tuple[str, ...]:
        """The categories that no document has; macro averages leave them out."""
        return tuple(row.category for row in self.categories if not row.positives)

    def describe_absent(self, limit: int = 5) -> str:
        """Name the categories that no document has in one sentence; empty if all have some."""
        absent = self.categories_without_documents
        if not absent:
            return ""
        named = ", ".join(map(repr, absent[:limit]))
        if len(absent) > limit:
            named += f" and {len(absent) - limit:,} more"
        total = f"{len(absent):,} of {len(self.categories):,} categories"
        have = "has" if len(absent) == 1 else "have"
        return f"{total} {have} no documents here and no part in macro averages: {named}"

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, lists and numbers, ready for JSON."""
        return {
            **asdict(self),
            "categories": [asdict(row) for row in self.categories],
            "categories_without_documents": list(self.categories_without_documents),
        }

    def summary(self) -> str:
        """Return the main measures in one line."""
        one_each = self.n_documents == self.n_positives == self.n_assigned
        main = f"accuracy {self.accuracy:.4f}" if one_each else f"micro F1 {self.micro.f1:.4f}"
        parts = [main, f"macro F1 {self.macro.f1:.4f}"]
        if self.probabilities is not None:
            parts.append(f"log loss {self.probabilities.log_loss:.4f}")
        absent = len(self.categories_without_documents)
        if absent:
            parts.append(f"{absent:,} of {len(self.categories):,} categories without documents")
        documents = "document" if self.n_documents == 1 else "documents"
        return f"{self.n_documents:,} {documents}: {', '.join(parts)}"

    def __repr__(self) -> str:
        return f"Scores({self.summary()})"


def evaluate_decisions(
    Y: Any,
    decisions: Any,
    probabilities: Any = None,
    *,
    categories: Sequence[Any] | None = None,
    zero_division: float = 0.0,
) -> Scores:
    """Measure decisions, and probabilities where there are any.

    Parameters
    ----------
    Y, decisions : indicator matrices, or class labels; those are columns by `categories`, or else
        sorted
    probabilities : documents x categories
    categories : the names of the columns
    zero_division : what 0/0 counts as

    Examples
    --------
    >>> evaluate_decisions(["ham", "spam", "ham"], ["ham", "ham", "ham"],
    ...     categories=["ham", "spam"]).macro.f1
    0.4
    """
    names = _names(Y, decisions) if categories is None else list(categories)
    truth, decided = aligned(Y, decisions, labels=names)
    if len(names) != truth.shape[1]:
        raise DataError(f"{len(names)} names for {truth.shape[1]} categories")
    counts = Contingency.of(truth, decided)
    ranked = _ranked(truth, probabilities, zero_division)
    measured = evaluate_counts(
        counts, accuracy(truth, decided), names, zero_division=zero_division
    )
    if ranked is None:
        return measured
    rows = _rows(counts, names, ranked, zero_division)
    present = counts.positives > 0
    ranking = [_mean(values[present], zero_division) for values in ranked]
    return replace(
        measured, categories=rows, probabilities=_measured(Y, probabilities, names, ranking)
    )


def evaluate_counts(
    counts: Contingency,
    accuracy: float,
    categories: Sequence[Any],
    *,
    zero_division: float = 0.0,
) -> Scores:
    """Measure decisions that were counted elsewhere.

    Accuracy is the share of documents right in every category.
    """
    return Scores(
        n_documents=counts.n_documents,
        n_positives=int(counts.positives.sum()),
        n_assigned=int(counts.assigned.sum()),
        micro=_averages(counts.pooled(), np.array([True]), zero_division),
        macro=_averages(counts, counts.positives > 0, zero_division),
        accuracy=accuracy,
        categories=_rows(counts, list(categories), None, zero_division),
        zero_division=zero_division,
    )


def _names(Y: Any, decisions: Any) -> list[Any]:
    """Return the class labels, or the numbers of the columns."""
    if np.ndim(Y) == 1:
        names: list[Any] = np.unique(
            np.concatenate([np.asarray(Y), np.asarray(decisions)])
        ).tolist()
        return names
    return list(range(np.shape(Y)[1]))


def _averages(counts: Contingency, averaged: Array, zero_division: float) -> Averages:
    """Return means over the `averaged` categories, a mask."""
    means = []
    for part in (counts.precision, counts.recall, counts.f1):
        means.append(_mean(part(zero_division=zero_division)[averaged], zero_division))
    return Averages(*means)


def _mean(values: Array, zero_division: float) -> float:
    return float(np.mean(values)) if len(values) else zero_division


def _ranked(truth: Any, probabilities: Any, zero_division: float) -> tuple[Array, Array] | None:
    """Average precision and R-precision of each category."""
    if probabilities is None:
        return None
    options: dict[str, Any] = {"average": None, "zero_division": zero_division}
    return average_precision(truth, probabilities, **options), r_precision(
        truth, probabilities, **options
    )


def _rows(
    counts: Contingency,
    names: list[Any],
    ranked: tuple[Array, Array] | None,
    zero_division: float,
) -> tuple[CategoryScores, ...]:
    columns = (
        [str(name) for name in names],
        counts.positives.tolist(),
        counts.assigned.tolist(),
        counts.true_positives.tolist(),
        counts.precision(zero_division=zero_division).tolist(),
        counts.recall(zero_division=zero_division).tolist(),
        counts.f1(zero_division=zero_division).tolist(),
        *(() if ranked is None else (ranks.tolist() for ranks in ranked)),
    )
    return tuple(CategoryScores(*row) for row in zip(*columns, strict=True))


def _measured(
    Y: Any, probabilities: Any, names: list[Any], ranking: Sequence[float]
) -> Probabilities:
    return Probabilities(
        average_precision=ranking[0],
        r_precision=ranking[1],
        log_loss=log_loss(Y, probabilities, labels=names),
        brier_score=brier_score(Y, probabilities, labels=names),
        calibration_error_width=expected_calibration_error(
            Y, probabilities, labels=names, bins="width"
        ),
        calibration_error_mass=expected_calibration_error(
            Y, probabilities, labels=names, bins="mass"
        ),
        top_label_calibration_error_width=top_label_calibration_error(
            Y, probabilities, labels=names
        ),
        top_label_calibration_error_mass=top_label_calibration_error(
            Y, probabilities, labels=names, bins="mass"
        ),
    )
