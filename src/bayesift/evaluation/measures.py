"""Measures of decisions, also those of filtering.

Y and decisions are indicator matrices (documents x categories, dense or sparse), or vectors of
class labels whose columns `labels` names. `average` is

    "micro"  the measure over the decisions of all categories together
    "macro"  the mean of the measure over categories; macro F1 is the mean of F1, not F1 of mean
    precision and recall None     an array, one value per category

A quotient 0/0 counts as `zero_division`, 0 by default as in scikit-learn: a category without
positives and without assignments has F1 0 and takes part in the macro average.

Measures of filtering are as TREC-9 defined them: one value a topic (column), averaged over topics.
R+ and N+ are the relevant and the other documents retrieved, R the relevant documents in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy import sparse

from bayesift.arrays import Array, SparseRows
from bayesift.errors import DataError

Average = Literal["micro", "macro"]
Classes = Sequence[Any] | None


@dataclass(frozen=True, eq=False)
class Contingency:
    """Counts of correct and wrong decisions in each category.

    Parameters
    ----------
    true_positives : documents assigned correctly
    assigned : documents assigned to the category
    positives : documents that belong to the category
    n_documents : number of documents

    Examples
    --------
    >>> counts = Contingency.of([[1, 0], [1, 1], [0, 0]], [[1, 0], [0, 1], [1, 1]])
    >>> counts.true_positives.tolist(
    ...     ), counts.false_positives.tolist(), counts.false_negatives.tolist()
    ([1, 1], [1, 1], [1, 0])
    >>> counts.f1().round(3).tolist()
    [0.5, 0.667]
    """

    true_positives: Array
    assigned: Array
    positives: Array
    n_documents: int

    @classmethod
    def of(cls, Y: Any, decisions: Any, *, labels: Classes = None) -> Self:
        """Count the decisions on labelled documents."""
        truth, decided = aligned(Y, decisions, labels=labels)
        matrices = (truth.multiply(decided), decided, truth)
        true_positives, assigned, positives = (
            matrix.sum(axis=0).astype(np.int64) for matrix in matrices
        )
        return cls(true_positives, assigned, positives, truth.shape[0])

    @property
    def false_positives(self) -> Array:
        """Documents assigned wrongly."""
        return self.assigned - self.true_positives

    @property
    def false_negatives(self) -> Array:
        """Documents missed."""
        return self.positives - self.true_positives

    @property
    def true_negatives(self) -> Array:
        """Documents correctly not assigned."""
        return self.n_documents - self.assigned - self.false_negatives

    def pooled(self) -> Contingency:
        """Return the counts of all categories together, as one category."""
        parts = (self.true_positives, self.assigned, self.positives)
        true_positives, assigned, positives = (part.sum(keepdims=True) for part in parts)
        return Contingency(
            true_positives, assigned, positives, self.n_documents * len(self.positives)
        )

    def precision(self, *, zero_division: float = 0.0) -> Array:
        """Share of the assigned documents that is correct."""
        return quotient(self.true_positives, self.assigned, zero_division)

    def recall(self, *, zero_division: float = 0.0) -> Array:
        """Share of the positive documents that is found."""
        return quotient(self.true_positives, self.positives, zero_division)

    def f1(self, *, zero_division: float = 0.0) -> Array:
        """Harmonic mean of precision and recall, 2t / (assigned + positives)."""
        return quotient(2 * self.true_positives, self.assigned + self.positives, zero_division)


def precision(
    Y: Any,
    decisions: Any,
    *,
    average: Average | None = "micro",
    zero_division: float = 0.0,
    labels: Classes = None,
) -> Any:
    """Share of the assigned documents that is correct.

    Examples
    --------
    >>> precision([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.6666666666666666
    """
    return averaged(
        _counts(Y, decisions, average, labels).precision(zero_division=zero_division), average
    )


def recall(
    Y: Any,
    decisions: Any,
    *,
    average: Average | None = "micro",
    zero_division: float = 0.0,
    labels: Classes = None,
) -> Any:
    """Share of the positive documents that is found.

    Examples
    --------
    >>> recall([[1, 0], [0, 1]], [[1, 1], [0, 0]], average="macro")
    0.5
    """
    return averaged(
        _counts(Y, decisions, average, labels).recall(zero_division=zero_division), average
    )


def f1(
    Y: Any,
    decisions: Any,
    *,
    average: Average | None = "micro",
    zero_division: float = 0.0,
    labels: Classes = None,
) -> Any:
    """Harmonic mean of precision and recall.

    Examples
    --------
    >>> f1(["corn", "oil", "oil"], ["corn", "oil", "corn"], average=None).round(3)
    array([0.667, 0.667])
    """
    return averaged(
        _counts(Y, decisions, average, labels).f1(zero_division=zero_division), average
    )


def accuracy(Y: Any, decisions: Any, *, labels: Classes = None) -> float:
    """Share of the documents that are correct in every category.

    Examples
    --------
    >>> accuracy([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.5
    """
    return float(np.mean(exact_matches(Y, decisions, labels=labels)))


def exact_matches(Y: Any, decisions: Any, *, labels: Classes = None) -> Array:
    """Which documents are correct in every category."""
    truth, decided = aligned(Y, decisions, labels=labels)
    right: Array = abs(truth - decided).sum(axis=1) == 0
    return right


def quotient(numerator: Array, denominator: Array, zero_division: float) -> Array:
    """Numerator over denominator; `zero_division` where the denominator is 0."""
    result = np.full(np.shape(numerator), float(zero_division))
    np.divide(numerator, denominator, out=result, where=np.asarray(denominator) != 0)
    return result


def averaged(values: Array, average: Average | None) -> Any:
    """Return the mean over categories, or the values themselves."""
    check_average(average)
    return values if average is None else float(np.mean(values))


def check_average(average: Average | None) -> None:
    """Raise ValueError unless the average is one of those known."""
    if average is not None and average not in get_args(Average):
        raise ValueError(f"average must be 'micro', 'macro' or None, got {average!r}")


def indicator(y: Any, labels: Sequence[Any] | Array | None = None) -> SparseRows:
    """Return the documents x categories matrix of 0 and 1.

    Class labels are spread over the columns named by `labels`.
    """
    matrix = y if sparse.issparse(y) else np.asarray(y)
    if matrix.ndim == 1:
        return _spread(matrix, labels)
    if matrix.ndim != 2:
        raise DataError(
            f"labels must be class labels or documents x categories, got {matrix.ndim} dimensions"
        )
    rows = sparse.csr_array(matrix)
    if not np.isin(rows.data, (0, 1)).all():
        raise DataError(
            "labels must be 0 or 1: one column per category, 1 where the document belongs to it"
        )
    counted = rows.astype(np.int32)
    counted.eliminate_zeros()
    return counted


def aligned(Y: Any, *decisions: Any, labels: Classes = None) -> tuple[SparseRows, ...]:
    """Labels and decisions on the same documents and categories, as indicator matrices."""
    if labels is None and all(np.ndim(part) == 1 for part in (Y, *decisions)):
        labels = np.unique(
            np.concatenate([np.asarray(part) for part in (Y, *decisions)])
        ).tolist()
    truth, *decided = (indicator(part, labels) for part in (Y, *decisions))
    for matrix in decided:
        if truth.shape != matrix.shape:
            raise DataError(
                f"labels are {_shape(truth)}, decisions {_shape(matrix)} (documents x categories)"
            )
    if not truth.shape[0]:
        raise DataError("there are no documents to evaluate")
    return truth, *decided


def scored(Y: Any, scores: Any, labels: Classes = None) -> tuple[Array, Array]:
    """Labels as booleans and the finite scores of the same documents and categories.

    One column may be a vector.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim == 1:
        values = values[:, None]
        Y = Y if sparse.issparse(Y) else np.asarray(Y).reshape(len(values), -1)
    positive = indicator(Y, labels).toarray().astype(bool)
    if positive.shape != values.shape:
        raise DataError(
            f"labels are {_shape(positive)}, scores {_shape(values)} (documents x categories)"
        )
    if not len(values):
        raise DataError("there are no documents to evaluate")
    if not np.isfinite(values).all():
        raise DataError("scores must be finite numbers")
    return positive, values


def _counts(Y: Any, decisions: Any, average: Average | None, labels: Classes) -> Contingency:
    counts = Contingency.of(Y, decisions, labels=labels)
    return counts.pooled() if average == "micro" else counts


def _spread(y: Array, labels: Sequence[Any] | Array | None) -> SparseRows:
    columns = {
        label: j
        for j, label in enumerate(
            (np.unique(y) if labels is None else np.asarray(labels)).tolist()
        )
    }
    unknown = sorted({str(label) for label in y.tolist() if label not in columns})
    if unknown:
        raise DataError(f"class labels that are not among the labels: {', '.join(unknown[:5])}")
    indices = np.array([columns[label] for label in y.tolist()], dtype=np.int32)
    ones = np.ones(len(y), dtype=np.int32)
    starts = np.arange(len(y) + 1, dtype=np.int32)
    return sparse.csr_array((ones, indices, starts), shape=(len(y), len(columns)))


def _shape(matrix: Any) -> str:
    return " x ".join(str(extent) for extent in matrix.shape)


Gains = Sequence[Sequence[float]]
Scaling = Literal["trec-9", "unit"]

T9U_GAINS: Gains = ((0.0, -1.0), (0.0, 2.0))


def t9p(
    Y: Any, decisions: Any, *, target: int = 50, average: Literal["macro"] | None = "macro"
) -> Any:
    """T9P, precision with a penalty for retrieving fewer than `target`: R+ / max(target, R+ + N+).

    Examples
    --------
    >>> t9p([1, 1, 0, 0], [1, 0, 1, 0], target=4)
    0.25
    """
    if target < 1:
        raise ValueError(f"target must be at least 1, got {target!r}")
    counts = Contingency.of(_topics(Y), _topics(decisions))
    return averaged(counts.true_positives / np.maximum(target, counts.assigned), average)


def linear_utility(
    Y: Any,
    decisions: Any,
    *,
    gains: Gains = T9U_GAINS,
    average: Literal["macro"] | None = "macro",
) -> Any:
    """Return the sum of gains [[true negative, false positive], [false negative, true positive]].

    2 R+ - N+ by default.

    Examples
    --------
    >>> linear_utility([1, 1, 0, 0], [1, 0, 1, 0])
    1.0
    """
    return averaged(_utility(Contingency.of(_topics(Y), _topics(decisions)), gains), average)


def t9u(
    Y: Any,
    decisions: Any,
    *,
    floor: float = -100.0,
    gains: Gains = T9U_GAINS,
    average: Literal["macro"] | None = "macro",
) -> Any:
    """T9U, the utility max(2 R+ - N+, MinU), so that no topic outweighs all others.

    Parameters
    ----------
    floor : MinU; TREC-9 took -100 for the OHSUMED topics and -400 for the MeSH topics

    Examples
    --------
    >>> t9u([1, 0, 0, 0], [1, 1, 1, 1], floor=-0.5)
    -0.5
    """
    return averaged(
        np.maximum(_utility(Contingency.of(_topics(Y), _topics(decisions)), gains), floor),
        average,
    )


def scaled_utility(
    Y: Any,
    decisions: Any,
    *,
    floor: float = -100.0,
    gains: Gains = T9U_GAINS,
    scaling: Scaling = "trec-9",
    zero_division: float = 0.0,
    average: Literal["macro"] | None = "macro",
) -> Any:
    """Return utility relative to that of retrieving exactly the relevant documents (2 R).

    Parameters
    ----------
    floor : MinU, as in `t9u`
    scaling : "trec-9" is T9U / MaxU, which may be negative; "unit" maps MinU to 0 and MaxU to 1,
        (T9U - MinU) / (MaxU - MinU), as TREC-8 did
    zero_division : the value of a topic without relevant documents under "trec-9"

    Examples
    --------
    >>> scaled_utility([1, 1, 0, 0], [1, 0, 1, 0])
    0.25
    >>> scaled_utility([1, 1, 0, 0], [1, 0, 1, 0], floor=-2, scaling="unit")
    0.5
    """
    if scaling not in get_args(Scaling):
        raise ValueError(
            f"scaling must be one of {', '.join(get_args(Scaling))}, got {scaling!r}"
        )
    counts = Contingency.of(_topics(Y), _topics(decisions))
    best = Contingency(counts.positives, counts.positives, counts.positives, counts.n_documents)
    highest = _utility(best, gains)
    bounded = np.maximum(_utility(counts, gains), floor)
    lowest = 0.0 if scaling == "trec-9" else floor
    return averaged(quotient(bounded - lowest, highest - lowest, zero_division), average)


def zero_returns(decisions: Any) -> int:
    """How many topics retrieve nothing."""
    return int(np.sum(_topics(decisions).sum(axis=0) == 0))


def _utility(counts: Contingency, gains: Gains) -> Array:
    (rejected, alarm), (missed, found) = gains
    return (
        found * counts.true_positives
        + alarm * counts.false_positives
        + missed * counts.false_negatives
        + rejected * counts.true_negatives
    )


def _topics(matrix: Any) -> SparseRows:
    """One topic may come as a vector of 0 and 1."""
    return indicator(np.asarray(matrix)[:, None] if np.ndim(matrix) == 1 else matrix)
