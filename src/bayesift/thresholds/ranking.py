"""Documents ranked by score in each category, sorted once and cut often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bayesift.kernels.decisions import best_cuts
from bayesift.thresholds.criterion import Criterion
from bayesift.thresholds.matrices import sample

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Categories x ranks, the highest score first.

    Parameters
    ----------
    scores : falling along each row
    rows : the document at each rank
    positive : whether it belongs to the category
    n_documents : how many there are

    Examples
    --------
    >>> from bayesift.thresholds.criterion import F1
    >>> ranking = Ranking.of([[1], [0], [1], [0]], [[0.9], [0.8], [0.6], [0.1]])
    >>> thresholds, worths = ranking.cut(F1)
    >>> thresholds.round(3).tolist(), worths.round(3).tolist()
    ([0.35], [0.8])
    """

    scores: Array
    rows: Array
    positive: Array
    n_documents: int

    @classmethod
    def of(cls, Y: Any, scores: Any) -> Self:
        """Rank the documents of a labelled sample."""
        positive, checked = sample(Y, scores)
        falling = np.negative(checked.T, order="C")
        order = np.argsort(falling, axis=1)
        by_rank = np.take_along_axis(falling, order, axis=1)
        return cls(
            scores=np.negative(by_rank, out=by_rank),
            rows=order.astype(np.int32),
            positive=np.take_along_axis(positive.T, order, axis=1),
            n_documents=len(checked),
        )

    @property
    def positives(self) -> Array:
        """How many positives each category has."""
        counts: Array = self.positive.sum(axis=1)
        return counts

    def highest(self, weights: Array | None = None) -> Array:
        """The highest score of each category among the documents that count."""
        first = 0 if weights is None else np.argmax(weights[self.rows] > 0, axis=1)
        scores: Array = self.scores[np.arange(len(self.scores)), first]
        return scores

    def pooled(self) -> Ranking:
        """The decisions of all categories in one ranking."""
        order = np.argsort(-self.scores, axis=None)
        scores, rows, positive = (part.ravel()[order][None] for part in (self.scores, self.rows, self.positive))
        return Ranking(scores, rows, positive, self.n_documents)

    def cut(self, criterion: Criterion, weights: Array | None = None) -> tuple[Array, Array]:
        """The best threshold of each category and what it is worth; `weights` says how often a document counts."""
        if weights is None:
            weights = np.ones(self.n_documents, dtype=np.int32)
        thresholds, worths = np.empty((2, len(self.scores)))
        best_cuts(self.scores, self.rows, self.positive, weights, criterion.array, thresholds, worths)
        return thresholds, worths
