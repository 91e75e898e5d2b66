"""Rules that take the best threshold on a labelled sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np

from bayesift.arrays import Array, FloatArray
from bayesift.kernels.ranking import best_cuts
from bayesift.thresholds.rules import (
    ThresholdRule,
    labelled_scores,
    n_categories_of,
    probability_matrix,
)

Coefficients = tuple[float, float, float, float]


@dataclass(frozen=True)
class Criterion:
    """A quotient to maximise under a linear constraint.

    Each part holds the coefficients of 1, t (true positives), s (documents assigned) and r
    (positives in all).
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

    `scores` (categories x ranks) descend along each row; `rows` and `positive` are the document at
    each rank, and whether it belongs to the category.
    """

    scores: FloatArray
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
        return cls(
            np.negative(by_rank, out=by_rank), order.astype(np.int32), ranked, len(checked)
        )

    @property
    def positives(self) -> Array:
        """The number of positives of each category."""
        counts: Array = self.positive.sum(axis=1)
        return counts

    def highest(self, weights: Array | None = None) -> Array:
        """Return the highest score of each category among the documents of positive weight."""
        first = 0 if weights is None else np.argmax(weights[self.rows] > 0, axis=1)
        scores: FloatArray = self.scores[np.arange(len(self.scores)), first]
        return scores

    def pooled(self) -> Ranking:
        """Return the scores of all categories in one ranking."""
        order = np.argsort(-self.scores, axis=None)
        scores, rows, positive = (
            part.ravel()[order][None] for part in (self.scores, self.rows, self.positive)
        )
        return Ranking(scores, rows, positive, self.n_documents)

    def best_thresholds(
        self, criterion: Criterion, weights: Array | None = None
    ) -> tuple[Array, Array]:
        """Return the best threshold of each category and its criterion.

        `weights` counts each document so many times.
        """
        if weights is None:
            weights = np.ones(self.n_documents, dtype=np.int32)
        thresholds, values = np.empty((2, len(self.scores)))
        best_cuts(
            self.scores, self.rows, self.positive, weights, criterion.array, thresholds, values
        )
        return thresholds, values


Fallback = Literal["never", "highest"]

# Below one even when multiplied by 67 million documents, and exact beside that many.
_TIE_BREAK = 2.0**-26


class EmpiricalRule(ThresholdRule):
    """The threshold that maximises a criterion on a labelled sample.

    A subclass supplies the criterion.

    A threshold lies midway between two neighbouring scores. Of equally good thresholds the one with
    the widest gap wins, then the higher one. To assign nothing of the sample it is the highest
    score, to assign all just below the lowest.

    Parameters
    ----------
    shrinkage : k of the weight n/(n + k) that a category with n positives gives its own threshold;
        the rest goes to the best common threshold of all categories. 0 leaves thresholds alone

    Examples
    --------
    A rule for F2, which counts recall more than precision, 5t / (assigned + 4 positives):

    >>> class MaxF2(EmpiricalRule):
    ...     criterion = Criterion(numerator=(0, 5, 0, 0), denominator=(0, 0, 1, 4))
    >>> y, scores = [1, 0, 0, 0, 1], [0.9, 0.5, 0.4, 0.3, 0.2]
    >>> MaxF2().fit(y, scores).decide(scores).tolist(), MaxF1().fit(y,
    ...     scores).decide(scores).tolist()
    ([True, True, True, True, True], [True, False, False, False, False])
    """

    def __init__(self, *, shrinkage: float = 0.0) -> None:
        self.shrinkage = shrinkage

    @property
    def criterion(self) -> Criterion:
        """What the threshold maximises."""
        raise NotImplementedError

    def fit(self, Y: Any, scores: Any) -> Self:
        """Choose the best thresholds on labelled documents."""
        self.thresholds_ = self.choose(Ranking.of(Y, scores))
        return self

    def choose(
        self, ranking: Ranking, weights: Array | None = None, pooled: Ranking | None = None
    ) -> Array:
        """Choose the thresholds for ranked documents, each counted `weights` times.

        `pooled` is the sorted pooled ranking.
        """
        thresholds, _ = ranking.best_thresholds(self.criterion, weights)
        return self._shrunk(thresholds, ranking, weights, pooled)

    def _shrunk(
        self, thresholds: Array, ranking: Ranking, weights: Array | None, pooled: Ranking | None
    ) -> Array:
        if self.shrinkage < 0:
            raise ValueError(f"shrinkage must be at least 0, got {self.shrinkage!r}")
        if self.shrinkage == 0:
            return thresholds
        (centre,), _ = (pooled or ranking.pooled()).best_thresholds(self.criterion, weights)
        if not np.isfinite(centre):  # no category has a positive
            return thresholds
        if weights is None:
            positives = ranking.positives
        else:
            positives = (ranking.positive * weights[ranking.rows]).sum(axis=1)
        trust = positives / (positives + self.shrinkage)
        own = np.where(positives > 0, thresholds, centre)
        shrunk: Array = trust * own + (1 - trust) * centre
        return shrunk


class MaxF1(EmpiricalRule):
    """The threshold with the highest F1 on the sample.

    MaxF1 of the online paper, on its training scores.

    Examples
    --------
    >>> Y, scores = [[1, 0], [1, 0], [0, 1], [0, 0]], [[0.9, 0.1], [0.4, 0.2], [0.6, 0.3],
    ...     [0.2, 0.1]]
    >>> MaxF1().fit(Y, scores).thresholds_.round(3)
    array([0.3 , 0.25])
    >>> MaxF1(shrinkage=1).fit(Y, scores).thresholds_.round(3)
    array([0.283, 0.25 ])
    """

    criterion = F1


class MinimumErrors(EmpiricalRule):
    """The threshold with the fewest errors, false positives plus false negatives, on the sample.

    Examples
    --------
    >>> MinimumErrors().fit([1, 0, 1, 0], [0.9, 0.3, 0.2, 0.1]).thresholds_.round(3)
    array([0.6])
    """

    criterion = FEWEST_ERRORS


class SCut(EmpiricalRule):
    """The threshold with the highest F1 on held-out scores.

    Where that F1 is poor, a safe one (Yang's SCutFBR).

    Parameters
    ----------
    minimum_f1 : the F1 that a category has to reach on the sample (`fbr` of Yang 2001)
    fallback : the threshold of the categories that do not: "highest" score of the sample, or
        "never"
    shrinkage : see `EmpiricalRule`

    References
    ----------
    Y. Yang, A study on thresholding strategies for text categorization, SIGIR 2001

    Examples
    --------
    >>> Y, scores = [[1, 0], [0, 0], [0, 1], [0, 0]], [[0.9, 0.4], [0.4, 0.3], [0.6, 0.2],
    ...     [0.2, 0.2]]
    >>> SCut(minimum_f1=0.5).fit(Y, scores).thresholds_.round(3)
    array([0.75, 0.4 ])
    """

    criterion = F1

    def __init__(
        self, *, minimum_f1: float = 0.1, fallback: Fallback = "highest", shrinkage: float = 0.0
    ) -> None:
        super().__init__(shrinkage=shrinkage)
        self.minimum_f1 = minimum_f1
        self.fallback = fallback

    def choose(
        self, ranking: Ranking, weights: Array | None = None, pooled: Ranking | None = None
    ) -> Array:
        """Choose the best thresholds where they are good enough, the fallback elsewhere."""
        if self.fallback not in get_args(Fallback):
            raise ValueError(
                f"fallback must be one of {', '.join(get_args(Fallback))}, got {self.fallback!r}"
            )
        thresholds, values = ranking.best_thresholds(self.criterion, weights)
        safe = np.inf if self.fallback == "never" else ranking.highest(weights)
        shrunk = self._shrunk(thresholds, ranking, weights, pooled)
        return np.where(values < self.minimum_f1, safe, shrunk)


class PrecisionTarget(EmpiricalRule):
    """The threshold with the highest recall among those that reach a precision on the sample.

    A category in which none does gets its highest score: nothing of the sample is assigned.

    Parameters
    ----------
    precision : the least precision
    shrinkage : see `EmpiricalRule`

    Examples
    --------
    >>> PrecisionTarget(precision=0.75).fit([1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.4, 0.1]).thresholds_
    array([0.25])
    """

    def __init__(self, *, precision: float = 0.9, shrinkage: float = 0.0) -> None:
        super().__init__(shrinkage=shrinkage)
        self.precision = precision

    @property
    def criterion(self) -> Criterion:
        """Recall, then precision, where t >= precision s."""
        least = _share("precision", self.precision)
        return Criterion(numerator=(0, 1, -_TIE_BREAK, 0), constraint=(0, 1, -least, 0))


class RecallTarget(EmpiricalRule):
    """The threshold with the highest precision among those that reach a recall on the sample.

    Parameters
    ----------
    recall : the least recall
    shrinkage : see `EmpiricalRule`

    Examples
    --------
    >>> RecallTarget(recall=0.6).fit([1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.4, 0.1]).thresholds_
    array([0.75])
    """

    def __init__(self, *, recall: float = 0.95, shrinkage: float = 0.0) -> None:
        super().__init__(shrinkage=shrinkage)
        self.recall = recall

    @property
    def criterion(self) -> Criterion:
        """Precision t / s, where t >= recall r."""
        least = _share("recall", self.recall)
        return Criterion(
            numerator=(0, 1, 0, 0), denominator=(0, 0, 1, 0), constraint=(0, 1, 0, -least)
        )


class Utility(EmpiricalRule):
    """The threshold with the highest linear utility, from probabilities or on a sample.

    With probabilities, a document is assigned when p (found - missed) > (1 - p) (rejected - alarm),
    that is

        p > (rejected - alarm) / ((rejected - alarm) + (found - missed)).

    Parameters
    ----------
    gains : [[rejected, alarm], [missed, found]], the gain of a true negative, false positive, false
        negative and true positive; a right decision must gain more than a wrong one. The default is
        TREC-9's 2 R+ - N+
    calibrated : take the scores for probabilities; otherwise choose the best threshold on the
        sample
    shrinkage : see `EmpiricalRule`; used only on a sample

    Examples
    --------
    >>> Utility().fit([1, 0, 0]).thresholds_.round(3)
    array([0.333])
    >>> Utility(calibrated=False).fit([1, 0, 0], [9.0, 5.0, 1.0]).thresholds_
    array([7.])
    """

    def __init__(
        self,
        *,
        gains: Sequence[Sequence[float]] = ((0.0, -1.0), (0.0, 2.0)),
        calibrated: bool = True,
        shrinkage: float = 0.0,
    ) -> None:
        super().__init__(shrinkage=shrinkage)
        self.gains = gains
        self.calibrated = calibrated

    @property
    def needs_probabilities(self) -> bool:
        """Whether the scores are taken for probabilities."""
        return self.calibrated

    @property
    def needs_scores(self) -> bool:
        """Whether the threshold is chosen on a sample."""
        return not self.calibrated

    @property
    def criterion(self) -> Criterion:
        """Return the utility without its constant part, the gain of a true negative times n."""
        self._stakes()
        (rejected, alarm), (missed, found) = self.gains
        return Criterion(
            numerator=(
                0,
                found - alarm - missed + rejected,
                alarm - rejected,
                missed - rejected,
            )
        )

    def fit(self, Y: Any, scores: Any = None) -> Self:
        """Compute the threshold, or choose it on labelled documents."""
        if not self.calibrated:
            return super().fit(Y, scores)
        checked = None if scores is None else probability_matrix(scores)
        self.thresholds_ = np.full(n_categories_of(Y, checked), self._break_even())
        return self

    def choose(
        self, ranking: Ranking, weights: Array | None = None, pooled: Ranking | None = None
    ) -> Array:
        """Choose the thresholds for ranked documents."""
        if self.calibrated:
            return np.full(len(ranking.scores), self._break_even())
        return super().choose(ranking, weights, pooled)

    def _break_even(self) -> float:
        negative, positive = self._stakes()
        return negative / (negative + positive)

    def _stakes(self) -> tuple[float, float]:
        """Return the difference between a right and a wrong decision, on either side."""
        (rejected, alarm), (missed, found) = self.gains
        if rejected <= alarm or found <= missed:
            raise ValueError(
                f"a right decision must gain more than a wrong one, got {self.gains!r}"
            )
        return rejected - alarm, found - missed


def _share(name: str, value: float) -> float:
    if not 0 < value <= 1:
        raise ValueError(f"{name} must be above 0 and at most 1, got {value!r}")
    return value
