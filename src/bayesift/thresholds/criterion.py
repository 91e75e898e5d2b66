"""What a threshold maximises, and the ranking of a labelled sample in which the best one is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bayesift.arrays import Array
from bayesift.kernels.ranking import best_cuts
from bayesift.thresholds.rule import labelled_scores

Coefficients = tuple[float, float, float, float]


@dataclass(frozen=True)
class Criterion:
    """A quotient to maximise under a linear constraint.

    Each part holds the coefficients of 1, t (true positives), s (documents assigned) and r (positives in all).
    """

    numerator: Coefficients
    denominator: Coefficients = (1.0, 0.0, 0.0, 0.0)
    constraint: Coefficients = (0.0, 0.0, 0.0, 0.0)

    @property
    def array(self) -> Array:
        """The coefficients as the kernel reads them."""
        return np.array([self.numerator, self.denominator, self.constraint], dtype=np.float64)


F1 = Criterion(numerator=(0, 2, 0, 0), denominator=(0, 0, 1, 1))
FEWEST_ERRORS = Criterion(numerator=(0, 2, -1, -1))


@dataclass(frozen=True, eq=False)
class Ranking:
    """Documents ranked by score in each category, sorted once for many criteria and resamples.

    `scores` (categories x ranks) descend along each row; `rows` and `positive` are the document at each rank, and
    whether it belongs to the category.
    """

    scores: Array
    rows: Array
    positive: Array
    n_documents: int

    @classmethod
    def of(cls, Y: Any, scores: Any) -> Self:
        """Rank the documents of a labelled sample."""
        positive, checked = labelled_scores(Y, scores)
        falling = np.negative(checked.T, order="C")
        order = np.argsort(falling, axis=1)
        by_rank = np.take_along_axis(falling, order, axis=1)
        ranked = np.take_along_axis(positive.T, order, axis=1)
        return cls(np.negative(by_rank, out=by_rank), order.astype(np.int32), ranked, len(checked))

    @property
    def positives(self) -> Array:
        """The number of positives of each category."""
        counts: Array = self.positive.sum(axis=1)
        return counts

    def highest(self, weights: Array | None = None) -> Array:
        """The highest score of each category among the documents of positive weight."""
        first = 0 if weights is None else np.argmax(weights[self.rows] > 0, axis=1)
        scores: Array = self.scores[np.arange(len(self.scores)), first]
        return scores

    def pooled(self) -> Ranking:
        """The scores of all categories in one ranking."""
        order = np.argsort(-self.scores, axis=None)
        scores, rows, positive = (part.ravel()[order][None] for part in (self.scores, self.rows, self.positive))
        return Ranking(scores, rows, positive, self.n_documents)

    def best_thresholds(self, criterion: Criterion, weights: Array | None = None) -> tuple[Array, Array]:
        """The best threshold of each category and its criterion; `weights` counts each document so many times."""
        if weights is None:
            weights = np.ones(self.n_documents, dtype=np.int32)
        thresholds, values = np.empty((2, len(self.scores)))
        best_cuts(self.scores, self.rows, self.positive, weights, criterion.array, thresholds, values)
        return thresholds, values
