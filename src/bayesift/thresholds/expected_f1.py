"""The decisions with the highest expected F1."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from bayesift.arrays import Array
from bayesift.thresholds.rule import ThresholdRule, probability_matrix


class ExpectedF1(ThresholdRule):
    """Choose the threshold of each category on the documents to be decided, by their probabilities alone.

    Maximises Lewis's approximation of the expected F1 over the sets D+ of documents above a threshold,

        E[F1] ≈ 2 Σ_{D+} p_i / (|D+| + Σ_D p_i),   or   Π_D (1 - p_i)   when D+ is empty.

    The optimum is exact: probabilities are sorted once and every threshold is tried. Ties go to the highest.

    Parameters
    ----------
    batch : choose again for each batch of documents, as the formula requires; otherwise keep the thresholds of `fit`,
        so that the decision on a document does not depend on the others

    References
    ----------
    D. Lewis, Evaluating and optimizing autonomous text classification systems, SIGIR 1995

    Examples
    --------
    >>> probabilities = [[0.6, 0.01], [0.4, 0.02], [0.35, 0.01]]
    >>> ExpectedF1().fit(None, probabilities).decide(probabilities).astype(int)
    array([[1, 0],
           [1, 0],
           [1, 0]])
    """

    needs_probabilities = True

    def __init__(self, *, batch: bool = True) -> None:
        self.batch = batch

    def fit(self, Y: Any, scores: Any) -> Self:
        """Choose the thresholds for these documents; their labels are not used."""
        self.thresholds_ = expected_f1_thresholds(scores)
        return self

    def thresholds_for(self, scores: Any) -> Array:
        """The best thresholds for these documents, or those of `fit`."""
        probabilities = probability_matrix(scores)
        fitted = super().thresholds_for(probabilities)
        return expected_f1_thresholds(probabilities) if self.batch else fitted


def expected_f1_thresholds(probabilities: Any) -> Array:
    """The threshold of each category with the highest expected F1 over these documents.

    To assign nothing it is the highest probability, to assign everything it lies just below the lowest.
    """
    rising = np.sort(probability_matrix(probabilities).T, axis=1)
    n_categories, n_documents = rising.shape
    if not n_documents:
        return np.full(n_categories, np.inf)
    falling = rising[:, ::-1]
    sums = np.cumsum(falling, axis=1)
    expected = np.empty((n_categories, n_documents + 1))
    expected[:, 0] = np.prod(1 - falling, axis=1)
    below = np.arange(1, n_documents + 1) + sums[:, -1:]
    np.divide(2 * sums, below, out=expected[:, 1:])
    # No threshold separates equal probabilities.
    expected[:, 1:-1][falling[:, :-1] == falling[:, 1:]] = -np.inf
    return _thresholds_at(falling, np.argmax(expected, axis=1))


def _thresholds_at(falling: Array, assigned: Array) -> Array:
    """Thresholds above which so many of the descending probabilities lie."""
    category = np.arange(len(falling))
    last = falling.shape[1]
    high = falling[category, np.maximum(assigned - 1, 0)]
    low = falling[category, np.minimum(assigned, last - 1)]
    middle = 0.5 * low + 0.5 * high
    between = np.where(middle < high, middle, low)
    return np.select([assigned == 0, assigned == last], [high, np.nextafter(high, -np.inf)], between)
