"""Decision rules and how they read labels and scores.

Rules that learn nothing, cuts by number, expected F1.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, FloatArray
from bayesift.errors import DataError


class ThresholdRule(BaseEstimator):
    """Turns scores (documents x categories) into decisions.

    A document is assigned to a category when its score lies strictly above the threshold. A
    subclass supplies `fit`, which sets `thresholds_`, and overrides the rest where it decides
    otherwise.

    Attributes
    ----------
    thresholds_ : one per category; +inf for a category without positives in the sample, which is
        never assigned
    """

    FITTED: ClassVar[tuple[str, ...]] = ("thresholds_",)

    thresholds_: Array

    @property
    def needs_probabilities(self) -> bool:
        """Whether scores must be probabilities."""
        return False

    @property
    def needs_scores(self) -> bool:
        """Whether `fit` learns from scores; without it they may be None."""
        return True

    def fit(self, Y: Any, scores: Any) -> Self:
        """Choose thresholds on labelled documents."""
        raise NotImplementedError

    def thresholds_for(self, scores: Any) -> Array:
        """Return the thresholds that apply to these documents, to be compared with their scores."""
        check_is_fitted(self)
        n_categories = score_matrix(scores).shape[1]
        if n_categories != len(self.thresholds_):
            raise DataError(
                f"scores of {n_categories} categories, but thresholds of {len(self.thresholds_)}"
            )
        return self.thresholds_

    def decide(self, scores: Any) -> Array:
        """Which document is assigned to which category, in the shape of `scores`."""
        decisions: Array = score_matrix(scores) > self.thresholds_for(scores)
        return decisions.reshape(np.shape(scores))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, self.FITTED[0])


class Bayes(ThresholdRule):
    """Assign what is more probable than `threshold`; nothing is learned.

    Parameters
    ----------
    threshold : 0.5 makes the fewest errors when the probabilities are right

    Examples
    --------
    >>> Bayes().fit([[1, 0]]).decide([[0.7, 0.5]])
    array([[ True, False]])
    """

    needs_probabilities = True
    needs_scores = False

    def __init__(self, *, threshold: float = 0.5) -> None:
        self.threshold = threshold

    def fit(self, Y: Any, scores: Any = None) -> Self:
        """Set the same threshold for every category."""
        checked = None if scores is None else probability_matrix(scores)
        self.thresholds_ = np.full(n_categories_of(Y, checked), float(self.threshold))
        return self

    def thresholds_for(self, scores: Any) -> Array:
        """Return the same threshold for every category."""
        return super().thresholds_for(probability_matrix(scores))


class Sign(ThresholdRule):
    """Assign what scores above 0, the positive side of the hyperplane; nothing is learned.

    Examples
    --------
    >>> Sign().fit([[1, 0]]).decide([[0.3, -2.0]])
    array([[ True, False]])
    """

    needs_scores = False

    def fit(self, Y: Any, scores: Any = None) -> Self:
        """Set the threshold 0 for every category."""
        self.thresholds_ = np.zeros(
            n_categories_of(Y, None if scores is None else score_matrix(scores))
        )
        return self


def label_matrix(Y: Any) -> Array:
    """Labels as a boolean matrix, documents x categories; one column may come as a vector."""
    dense = Y.toarray() if sparse.issparse(Y) else np.asarray(Y)
    if dense.ndim not in (1, 2):
        raise DataError(f"labels must be documents x categories, got {dense.ndim} dimensions")
    positive: Array = dense == 1
    if not (positive | (dense == 0)).all():
        raise DataError(
            "labels must be 0 or 1: one column per category, 1 where the document belongs to it"
        )
    return positive[:, None] if positive.ndim == 1 else positive


def score_matrix(scores: Any) -> Array:
    """Finite scores, documents x categories; one column may come as a vector."""
    # Not by check_array, which takes longer than all else on the scores of one document.
    checked: Array = np.asarray(scores, dtype=np.float64)
    if checked.ndim == 1:
        checked = checked[:, None]
    if checked.ndim != 2 or not checked.shape[1]:
        raise DataError(f"scores must be documents x categories, got the shape {checked.shape}")
    if not np.isfinite(checked).all():
        raise DataError("scores must be finite; some are NaN or infinite")
    return checked


def probability_matrix(probabilities: Any) -> Array:
    """Scores that lie in [0, 1]."""
    checked = score_matrix(probabilities)
    if checked.size and not (checked.min() >= 0 and checked.max() <= 1):
        raise DataError(
            f"this rule needs probabilities, but scores reach from {checked.min():g} to "
            f"{checked.max():g}"
        )
    return checked


def labelled_scores(Y: Any, scores: Any) -> tuple[Array, Array]:
    """Labels and scores of the same documents and categories."""
    positive = label_matrix(Y)
    checked = score_matrix(scores)
    if positive.shape != checked.shape:
        shapes = [" x ".join(map(str, matrix.shape)) for matrix in (positive, checked)]
        raise DataError(f"labels are {shapes[0]}, scores {shapes[1]} (documents x categories)")
    if not len(checked):
        raise DataError("there are no documents to choose a threshold on")
    return positive, checked


def n_categories_of(Y: Any, scores: FloatArray | None) -> int:
    """Return the number of categories, by the scores or else by the labels."""
    shape = np.shape(Y) if scores is None else scores.shape
    return int(shape[1]) if len(shape) > 1 else 1


class RCut(ThresholdRule):
    """Assign each document to its `t` categories with the highest scores.

    Ties go to the earlier column.

    Parameters
    ----------
    t : number of categories; None takes the one with the highest micro F1 on the sample

    Attributes
    ----------
    t_ : number of categories per document

    Examples
    --------
    >>> RCut(t=1).fit([[1, 0, 0]],
    ...     [[0.1, 0.7, 0.2]]).decide([[0.1, 0.7, 0.2], [0.5, 0.4, 0.5]]).astype(int)
    array([[0, 1, 0],
           [1, 0, 0]])
    """

    FITTED = ("t_", "n_categories_")

    t_: int
    n_categories_: int

    def __init__(self, *, t: int | None = 1) -> None:
        self.t = t

    def fit(self, Y: Any, scores: Any) -> Self:
        """Check or choose the number of categories per document."""
        positive, checked = labelled_scores(Y, scores)
        n_categories = checked.shape[1]
        if self.t is not None and not 1 <= self.t < n_categories:
            raise ValueError(
                f"t must be at least 1 and below the number of categories {n_categories}, got "
                f"{self.t!r}"
            )
        self.t_ = self._best_t(positive, checked) if self.t is None else self.t
        self.n_categories_ = n_categories
        return self

    def thresholds_for(self, scores: Any) -> Array:
        """Return a threshold for each document, its highest score that is not assigned."""
        return -np.partition(-self._checked(scores), self.t_, axis=1)[:, [self.t_]]

    def decide(self, scores: Any) -> Array:
        """Which document is assigned to which category: exactly `t_` per document."""
        checked = self._checked(scores)
        decisions = np.zeros(checked.shape, dtype=bool)
        np.put_along_axis(decisions, _first(checked, axis=1)[:, : self.t_], True, axis=1)
        return decisions

    @staticmethod
    def _best_t(positive: Array, scores: FloatArray) -> int:
        by_rank = np.take_along_axis(positive, _first(scores, axis=1), axis=1).sum(axis=0)[:-1]
        t = np.arange(1, scores.shape[1])
        return int(t[np.argmax(2 * np.cumsum(by_rank) / (t * len(scores) + positive.sum()))])

    def _checked(self, scores: Any) -> Array:
        check_is_fitted(self)
        checked = score_matrix(scores)
        if checked.shape[1] != self.n_categories_:
            raise DataError(
                f"scores of {checked.shape[1]} categories, fitted with {self.n_categories_}"
            )
        return checked


class PCut(ThresholdRule):
    """Assign to each category its share of documents, those with the highest scores.

    A category with prior π takes round(proportion · π · n) of n documents; ties go to the earlier
    document.

    Parameters
    ----------
    proportion : 1 assigns as many as the sample had

    Attributes
    ----------
    priors_ : the share of positives of each category in the sample

    Examples
    --------
    >>> rule = PCut().fit([1, 0, 1, 0], [0.9, 0.1, 0.8, 0.3])
    >>> rule.decide([0.2, 0.4, 0.1, 0.4, 0.4, 0.3]).astype(int)
    array([0, 1, 0, 1, 1, 0])
    """

    needs_scores = False

    FITTED = ("priors_",)

    priors_: Array

    def __init__(self, *, proportion: float = 1.0) -> None:
        self.proportion = proportion

    def fit(self, Y: Any, scores: Any = None) -> Self:
        """Learn the priors; scores are not used."""
        if self.proportion < 0:
            raise ValueError(f"proportion must be at least 0, got {self.proportion!r}")
        self.priors_ = label_matrix(Y).mean(axis=0)
        return self

    def thresholds_for(self, scores: Any) -> Array:
        """For each category its highest score that is not assigned; -inf when all are."""
        checked, counts = self._checked(scores)
        falling = -np.sort(-checked, axis=0)
        padded = np.vstack([falling, np.full((1, len(counts)), -np.inf)])
        return padded[counts, np.arange(len(counts))]

    def decide(self, scores: Any) -> Array:
        """Which document is assigned to which category."""
        checked, counts = self._checked(scores)
        ranks = np.argsort(_first(checked, axis=0), axis=0)
        decisions: Array = ranks < counts
        return decisions.reshape(np.shape(scores))

    def _checked(self, scores: Any) -> tuple[Array, Array]:
        check_is_fitted(self)
        checked = score_matrix(scores)
        if checked.shape[1] != len(self.priors_):
            raise DataError(
                f"scores of {checked.shape[1]} categories, but priors of {len(self.priors_)}"
            )
        wanted = np.rint(self.proportion * self.priors_ * len(checked)).astype(np.int64)
        return checked, np.minimum(wanted, len(checked))


def _first(scores: FloatArray, *, axis: int) -> Array:
    """Positions by falling score, earlier ones first among equals."""
    return np.argsort(-scores, axis=axis, kind="stable")


class ExpectedF1(ThresholdRule):
    """Choose the threshold of each category by the probabilities of the documents alone.

    Maximises Lewis's approximation of the expected F1 over the sets D+ of documents above a
    threshold,

        E[F1] ≈ 2 Σ_{D+} p_i / (|D+| + Σ_D p_i),   or   Π_D (1 - p_i)   when D+ is empty.

    The optimum is exact: probabilities are sorted once and every threshold is tried. Ties go to the
    highest.

    Parameters
    ----------
    batch : choose again for each batch of documents, as the formula requires; otherwise keep the
        thresholds of `fit`, so that the decision on a document does not depend on the others

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
        """Return the best thresholds for these documents, or those of `fit`."""
        probabilities = probability_matrix(scores)
        fitted = super().thresholds_for(probabilities)
        return expected_f1_thresholds(probabilities) if self.batch else fitted


def expected_f1_thresholds(probabilities: Any) -> Array:
    """Find the threshold of each category with the highest expected F1.

    To assign nothing it is the highest probability, to assign everything it lies just below the
    lowest.
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
    # Equal probabilities cannot be separated by a threshold.
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
    return np.select(
        [assigned == 0, assigned == last], [high, np.nextafter(high, -np.inf)], between
    )
