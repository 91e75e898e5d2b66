"""Rules that take the best threshold on a labelled sample."""

from __future__ import annotations

from typing import Any, Literal, Self, get_args

import numpy as np

from bayesift.thresholds.criterion import F1, FEWEST_ERRORS, Criterion, precision_at_recall, recall_at_precision
from bayesift.thresholds.ranking import Ranking
from bayesift.thresholds.rule import ThresholdRule

Array = np.ndarray[Any, Any]
Fallback = Literal["never", "highest"]


class EmpiricalRule(ThresholdRule):
    """A rule that supplies only its criterion; the best cut of each category is found in one pass.

    A threshold lies midway between two neighbouring scores. Of equally good cuts that with the widest gap wins, then
    the higher one. To assign nothing of the sample it is the highest score, to assign all just below the lowest.

    Examples
    --------
    A rule for F2, which counts recall more than precision, 5t / (assigned + 4 positives):

    >>> class MaxF2(EmpiricalRule):
    ...     shrinkage = 0.0
    ...     criterion = Criterion(numerator=(0, 5, 0, 0), denominator=(0, 0, 1, 4))
    >>> y, scores = [1, 0, 0, 0, 1], [0.9, 0.5, 0.4, 0.3, 0.2]
    >>> MaxF2().fit(y, scores).decide(scores).tolist(), MaxF1().fit(y, scores).decide(scores).tolist()
    ([True, True, True, True, True], [True, False, False, False, False])
    """

    shrinkage: float

    @property
    def criterion(self) -> Criterion:
        """What a cut is worth."""
        raise NotImplementedError

    def fit(self, Y: Any, scores: Any) -> Self:
        """Choose the best thresholds on labelled documents."""
        self.thresholds_ = self.cut(Ranking.of(Y, scores))
        return self

    def cut(self, ranking: Ranking, weights: Array | None = None, pooled: Ranking | None = None) -> Array:
        """The thresholds for ranked documents; `weights` says how often each counts, `pooled` spares sorting again."""
        thresholds, _ = ranking.cut(self.criterion, weights)
        return self._shrunk(thresholds, ranking, weights, pooled)

    def _shrunk(self, thresholds: Array, ranking: Ranking, weights: Array | None, pooled: Ranking | None) -> Array:
        if self.shrinkage < 0:
            raise ValueError(f"shrinkage must be at least 0, got {self.shrinkage!r}")
        if self.shrinkage == 0:
            return thresholds
        (centre,), _ = (pooled or ranking.pooled()).cut(self.criterion, weights)
        if not np.isfinite(centre):  # no category has a positive
            return thresholds
        positives = ranking.positives if weights is None else (ranking.positive * weights[ranking.rows]).sum(axis=1)
        trust = positives / (positives + self.shrinkage)
        own = np.where(positives > 0, thresholds, centre)
        shrunk: Array = trust * own + (1 - trust) * centre
        return shrunk


class MaxF1(EmpiricalRule):
    """The threshold with the highest F1 on the sample (MaxF1 of the online paper, on its training scores).

    Parameters
    ----------
    shrinkage : k of the weight n/(n + k) that a category with n positives gives its own threshold; the rest goes to
        the best common threshold of all categories. 0 leaves thresholds alone

    Examples
    --------
    >>> Y, scores = [[1, 0], [1, 0], [0, 1], [0, 0]], [[0.9, 0.1], [0.4, 0.2], [0.6, 0.3], [0.2, 0.1]]
    >>> MaxF1().fit(Y, scores).thresholds_.round(3)
    array([0.3 , 0.25])
    >>> MaxF1(shrinkage=1).fit(Y, scores).thresholds_.round(3)
    array([0.283, 0.25 ])
    """

    def __init__(self, *, shrinkage: float = 0.0) -> None:
        self.shrinkage = shrinkage

    @property
    def criterion(self) -> Criterion:
        """F1."""
        return F1


class MinimumErrors(EmpiricalRule):
    """The threshold with the fewest errors, false positives plus false negatives, on the sample.

    Parameters
    ----------
    shrinkage : see `MaxF1`

    Examples
    --------
    >>> MinimumErrors().fit([1, 0, 1, 0], [0.9, 0.3, 0.2, 0.1]).thresholds_.round(3)
    array([0.6])
    """

    def __init__(self, *, shrinkage: float = 0.0) -> None:
        self.shrinkage = shrinkage

    @property
    def criterion(self) -> Criterion:
        """Errors, negated."""
        return FEWEST_ERRORS


class SCut(EmpiricalRule):
    """The threshold with the highest F1 on held-out scores; where that F1 is poor, a safe one (Yang's SCutFBR).

    Parameters
    ----------
    minimum_f1 : the F1 that a category has to reach on the sample (`fbr` of Yang 2001)
    fallback : the threshold of the categories that do not: "highest" score of the sample, or "never"
    shrinkage : see `MaxF1`

    References
    ----------
    Y. Yang, A study on thresholding strategies for text categorization, SIGIR 2001

    Examples
    --------
    >>> Y, scores = [[1, 0], [0, 0], [0, 1], [0, 0]], [[0.9, 0.4], [0.4, 0.3], [0.6, 0.2], [0.2, 0.2]]
    >>> SCut(minimum_f1=0.5).fit(Y, scores).thresholds_.round(3)
    array([0.75, 0.4 ])
    """

    def __init__(self, *, minimum_f1: float = 0.1, fallback: Fallback = "highest", shrinkage: float = 0.0) -> None:
        self.minimum_f1 = minimum_f1
        self.fallback = fallback
        self.shrinkage = shrinkage

    @property
    def criterion(self) -> Criterion:
        """F1."""
        return F1

    def cut(self, ranking: Ranking, weights: Array | None = None, pooled: Ranking | None = None) -> Array:
        """The best thresholds where they are good enough, the fallback elsewhere."""
        if self.fallback not in get_args(Fallback):
            raise ValueError(f"fallback must be one of {', '.join(get_args(Fallback))}, got {self.fallback!r}")
        thresholds, worths = ranking.cut(self.criterion, weights)
        safe = np.inf if self.fallback == "never" else ranking.highest(weights)
        shrunk = self._shrunk(thresholds, ranking, weights, pooled)
        return np.where(worths < self.minimum_f1, safe, shrunk)


class PrecisionTarget(EmpiricalRule):
    """The threshold with the highest recall among those that reach a precision on the sample.

    A category in which none does gets its highest score: nothing of the sample is assigned.

    Parameters
    ----------
    precision : the least precision
    shrinkage : see `MaxF1`

    Examples
    --------
    >>> PrecisionTarget(precision=0.75).fit([1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.4, 0.1]).thresholds_
    array([0.25])
    """

    def __init__(self, *, precision: float = 0.9, shrinkage: float = 0.0) -> None:
        self.precision = precision
        self.shrinkage = shrinkage

    @property
    def criterion(self) -> Criterion:
        """Recall, where precision is reached."""
        return recall_at_precision(_share("precision", self.precision))


class RecallTarget(EmpiricalRule):
    """The threshold with the highest precision among those that reach a recall on the sample.

    Parameters
    ----------
    recall : the least recall
    shrinkage : see `MaxF1`

    Examples
    --------
    >>> RecallTarget(recall=0.6).fit([1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.4, 0.1]).thresholds_
    array([0.75])
    """

    def __init__(self, *, recall: float = 0.95, shrinkage: float = 0.0) -> None:
        self.recall = recall
        self.shrinkage = shrinkage

    @property
    def criterion(self) -> Criterion:
        """Precision, where recall is reached."""
        return precision_at_recall(_share("recall", self.recall))


def _share(name: str, value: float) -> float:
    if not 0 < value <= 1:
        raise ValueError(f"{name} must lie above 0 and up to 1, got {value!r}")
    return value
