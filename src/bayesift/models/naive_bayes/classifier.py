"""Naive Bayes: a language model for every category."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit, logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, FloatArray, SparseRows
from bayesift.errors import DataError
from bayesift.models.base import unchanged_if_refused
from bayesift.models.naive_bayes.language_models import Bags, CategoryCounts, Laplace, Smoothing
from bayesift.state import StateMixin, check_classes, storable
from bayesift.threads import computed_once
from bayesift.validation import (
    Targets,
    TermTagsMixin,
    check_sample_weight,
    check_targets,
    check_terms,
    longer_names,
    union_of_classes,
)

_ADD_ONE = Laplace()


@storable("naive-bayes")
class NaiveBayesClassifier(TermTagsMixin, StateMixin, ClassifierMixin, BaseEstimator):
    """Multinomial naive Bayes with exchangeable smoothings.

        log P(c | d) = log P(c) + sum_w n_dw log p(w | c) + constant

    With class labels the categories exclude one another. With an indicator matrix each category
    stands against its rest (all documents outside it), all from one pass over the counts.

    Parameters
    ----------
    smoothing : how counts become p(w | c): `Laplace`, `Dirichlet`, `JelinekMercer`,
        `AbsoluteDiscounting`, `HierarchicalShrinkage` or `MaximumLikelihood`
    priors : P(c): "empirical" (shares of the documents), "uniform" (1/2 with an indicator matrix),
        or the probabilities in the order of `classes_`

    Attributes
    ----------
    classes_ : labels, sorted; or the names of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    counted_ : the `CategoryCounts` everything else follows from
    class_log_prior_ : log P(c)
    feature_log_prob_ : log p(w | c), categories x terms
    log_odds_coef_, log_odds_intercept_ : the linear form of the log odds against the rest
        (multi-label), or of the second of two classes against the first

    Notes
    -----
    A document without words gets the prior; so does one that is impossible under every category
    (maximum likelihood). TF-IDF and other non-negative weights may stand for counts.

    References
    ----------
    McCallum & Nigam (1998); Zhai & Lafferty (2004) for the smoothings.

    Examples
    --------
    >>> X = [[2, 1, 0], [1, 0, 0], [0, 1, 3]]
    >>> model = NaiveBayesClassifier().fit(X, ["grain", "grain", "crude"])
    >>> model.predict([[1, 0, 0], [0, 0, 1]]).tolist()
    ['grain', 'crude']
    >>> NaiveBayesClassifier().fit(X, [[1, 0], [1, 1], [0, 1]]).predict([[1, 0, 0]]).tolist()
    [[1, 0]]
    """

    POSITIVE_ONLY = True
    POOR_SCORE = True
    FITTED = ("classes_", "multilabel_", "counted_")

    classes_: Array
    multilabel_: bool
    counted_: CategoryCounts

    def __init__(self, *, smoothing: Smoothing = _ADD_ONE, priors: Any = "empirical") -> None:
        self.smoothing = smoothing
        self.priors = priors

    def fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Self:
        """Count the words of the categories; `classes` as in `partial_fit`."""
        targets = check_targets(y, classes=classes)
        weights = check_sample_weight(sample_weight, targets.n_documents)
        with unchanged_if_refused(self):
            rows = check_terms(self, X, n_documents=targets.n_documents, non_negative=True)
            return self.fit_checked(rows, targets, weights)

    def fit_checked(self, rows: SparseRows, targets: Targets, weights: FloatArray) -> Self:
        """Count the words of documents that were checked, with their targets and weights."""
        counted = CategoryCounts.empty(len(targets.classes), rows.shape[1])
        counted = counted.add(rows, targets.members, weights)
        return self.fit_counts(counted, targets.classes, multilabel=targets.multilabel)

    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None
    ) -> Self:
        """Learn from more documents; the result is that of one `fit` to all of them.

        New labels, further columns of an indicator, and further columns of X (terms that earlier
        documents did not hold) may appear. `classes` lists labels that may come later, or names the
        columns of an indicator.
        """
        if not hasattr(self, "classes_"):
            return self.fit(X, y, sample_weight, classes)
        targets = check_targets(y, classes=classes)
        weights = check_sample_weight(sample_weight, targets.n_documents)
        known = self._all_classes(targets)
        if self.multilabel_:
            indices = np.arange(len(self.classes_))
        else:
            indices = np.searchsorted(known, self.classes_)
        count = targets.n_documents
        with unchanged_if_refused(self):
            rows = check_terms(
                self, X, n_documents=count, reset=False, may_grow=True, non_negative=True
            )
            counted = self.counted_.grow(indices, len(known), rows.shape[1])
            counted = counted.add(rows, targets.members_over(known), weights)
            return self.fit_counts(counted, known, multilabel=self.multilabel_)

    def predict(self, X: Any) -> Array:
        """Return the most probable class, or the indicator of probabilities above 1/2."""
        if self._is_multilabel():
            return (self.predict_log_odds(X) > 0).astype(np.int64)
        best: Array = self.classes_[np.argmax(self._posterior_joint(X), axis=1)]
        return best

    def predict_proba(self, X: Any) -> FloatArray:
        """P(c | d), documents x categories."""
        if self._is_multilabel():
            probabilities: FloatArray = expit(self.predict_log_odds(X))
            return probabilities
        joint = self._posterior_joint(X)
        joint -= joint.max(axis=1, keepdims=True)
        np.exp(joint, out=joint)
        joint /= joint.sum(axis=1, keepdims=True)
        return joint

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of P(c | d), documents x categories."""
        if self._is_multilabel():
            logarithms: FloatArray = log_expit(self.predict_log_odds(X))
            return logarithms
        joint = self._posterior_joint(X)
        joint -= logsumexp(joint, axis=1, keepdims=True)
        return joint

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithm of P(c) p(d | c) without the multinomial coefficient."""
        joint: FloatArray = self._terms(X) @ self.feature_log_prob_.T
        joint += self.class_log_prior_
        return joint

    def predict_log_odds(self, X: Any) -> FloatArray:
        """Return the log odds of P(c | d), which tell apart what rounds to probability 1."""
        if self._is_multilabel():
            log_odds = self._terms(X) @ self.log_odds_coef_.T + self.log_odds_intercept_
            # inf - inf: a document that is impossible in the category and outside it gets the
            # prior.
            return np.where(np.isnan(log_odds), self.log_odds_intercept_, log_odds)
        return log_odds_of(self._posterior_joint(X))

    def cross_entropy(self, X: Any) -> FloatArray:
        """Return the nats that a word of each document costs, documents x categories.

        They are H(d || c) - log P(c) / |d|, smallest for the best category.

        The order of a document's categories is that of the posterior. With an indicator y it is the
        difference to the rest of each category: negative for a category more probable than not. A
        document without words counts as one of length 1, so that its prior is left.
        """
        X = self._terms(X)
        lengths = X.sum(axis=1)[:, np.newaxis]
        scores = (
            self.predict_log_odds(X) if self.multilabel_ else self.predict_joint_log_proba(X)
        )
        return -scores / np.where(lengths > 0, lengths, 1)

    def contributions(
        self, X: Any, category: Any, *, against: Any = None
    ) -> tuple[SparseRows, Array]:
        """Return what each term adds to the log odds of a category, and the prior log odds.

        Parameters
        ----------
        X : documents x terms
        category : one of `classes_`
        against : the class to compare with (labels only); the most probable other class of each
            document without. With an indicator y it is always the rest of the category
        """
        X = self._terms(X)
        c = self._place(category)
        if self.multilabel_:
            values = self.log_odds_coef_[c, X.indices]
            prior = np.full(X.shape[0], self.log_odds_intercept_[c])
        else:
            if against is None:
                others = self._rivals(X, c)
            else:
                others = np.full(X.shape[0], self._place(against))
            rival = np.repeat(others, np.diff(X.indptr))
            ours = self.feature_log_prob_[c, X.indices]
            theirs = self.feature_log_prob_[rival, X.indices]
            values = difference(ours, theirs)
            prior = self.class_log_prior_[c] - self.class_log_prior_[others]
        return sparse.csr_array((X.data * values, X.indices, X.indptr), shape=X.shape), prior

    def fit_counts(self, counted: CategoryCounts, classes: Array, *, multilabel: bool) -> Self:
        """Learn from counts that were made elsewhere, of these categories."""
        self.counted_ = counted
        self.classes_ = classes
        self.multilabel_ = multilabel
        self.n_features_in_ = counted.counts.shape[1]
        self._estimate()
        return self

    def _post_load(self) -> None:
        n_categories, self.n_features_in_ = self.counted_.counts.shape
        check_classes(self.classes_, n_categories, multilabel=self.multilabel_)
        with np.errstate(over="ignore", invalid="ignore"):
            self._estimate()
        if np.any(np.isnan(self.feature_log_prob_)) or np.any(np.isnan(self.class_log_prior_)):
            raise DataError("not the state of a naive Bayes model: its numbers are too large")

    @property
    def log_odds_coef_(self) -> Array:
        """The change of the log odds for each occurrence of a term, categories x terms."""
        if self.multilabel_:
            return self._tables.log_ratio.T
        return difference(*self._two_classes(self.feature_log_prob_))[np.newaxis]

    @property
    def log_odds_intercept_(self) -> Array:
        """The prior log odds of each category."""
        if self.multilabel_:
            return self._prior_log_odds
        return difference(*self._two_classes(self.class_log_prior_[:, np.newaxis]))

    def _all_classes(self, targets: Targets) -> Array:
        """Return the classes so far and the new ones."""
        if targets.multilabel != self.multilabel_:
            raise ValueError(
                "y was an indicator matrix before and is labels now, or the other way round"
            )
        join = longer_names if self.multilabel_ else union_of_classes
        return join(self.classes_, targets.classes)

    def _estimate(self) -> None:
        """Everything that follows from the counts.

        The large tables when they are first asked for.
        """
        self.class_log_prior_, self._prior_log_odds = log_priors(
            self.priors, self.counted_, self.multilabel_
        )
        self._tables = _Tables(self.smoothing, self.counted_, self.classes_, self.multilabel_)

    @property
    def feature_log_prob_(self) -> Array:
        """The log p(w | c), categories x terms."""
        return self._tables.log_prob.T

    def _is_multilabel(self) -> bool:
        check_is_fitted(self)
        return self.multilabel_

    def _terms(self, X: Any) -> SparseRows:
        check_is_fitted(self)
        return check_terms(self, X, reset=False, non_negative=True)

    def _posterior_joint(self, X: Any) -> Array:
        """Return the joint log probabilities, or the prior's where no class is possible."""
        joint = self.predict_joint_log_proba(X)
        joint[np.all(joint == -np.inf, axis=1)] = self.class_log_prior_
        return joint

    def _rivals(self, X: SparseRows, category: int) -> Array:
        """Return the most probable other class of each document."""
        if len(self.classes_) < 2:
            raise ValueError("only one class is known; it cannot be compared with another")
        joint = self._posterior_joint(X)
        joint[:, category] = -np.inf
        rivals = np.argmax(joint, axis=1)
        return np.where(rivals == category, (category + 1) % len(self.classes_), rivals)

    def _place(self, category: Any) -> int:
        positions = np.flatnonzero(self.classes_ == category)
        if len(positions) != 1:
            raise ValueError(f"no category {category!r}")
        return int(positions[0])

    def _two_classes(self, rows: Array) -> Array:
        if len(self.classes_) != 2:
            raise AttributeError(
                "log odds are linear for an indicator y or two classes; use `contributions`"
            )
        return rows[::-1]


class _Tables:
    """Log probabilities of words, computed when they are first needed.

    Learning and saving need only counts.
    """

    def __init__(
        self, smoothing: Smoothing, counted: CategoryCounts, classes: Array, multilabel: bool
    ) -> None:
        self._smoothing = smoothing
        self._counts = counted, classes, multilabel

    @computed_once
    def log_prob(self) -> Array:
        """Within the categories, terms x categories."""
        return self._smoothing(Bags(*self._counts))

    @computed_once
    def log_ratio(self) -> Array:
        """Within the categories minus outside of them, terms x categories."""
        ratio = self._smoothing(Bags(*self._counts, rest=True))
        same = self.log_prob == ratio  # a term that is impossible under both counts 0
        np.subtract(self.log_prob, ratio, out=ratio, where=~same)
        ratio[same] = 0.0
        return ratio


def log_priors(priors: Any, counted: CategoryCounts, multilabel: bool) -> tuple[Array, Array]:
    """Logarithms of P(c), and of the odds P(c) / P(not c), of every category."""
    inside, outside = _documents(priors, counted, multilabel)
    with np.errstate(divide="ignore"):
        return np.log(inside) - np.log(inside + outside), np.log(inside) - np.log(outside)


def _documents(priors: Any, counted: CategoryCounts, multilabel: bool) -> tuple[Array, Array]:
    """Weights of the documents inside and outside each category; only their ratio counts."""
    n_categories = len(counted.category_documents)
    if isinstance(priors, str) and priors == "empirical":
        if counted.n_documents == 0:
            raise ValueError(
                "the weights of all documents are zero, so there are no empirical priors"
            )
        inside = counted.category_documents
        return inside, np.maximum(counted.n_documents - inside, 0.0)
    if isinstance(priors, str) and priors == "uniform":
        return np.ones(n_categories), np.full(
            n_categories, 1.0 if multilabel else n_categories - 1.0
        )
    if isinstance(priors, str) or priors is None:
        raise ValueError(
            f"priors must be 'empirical', 'uniform' or probabilities, got {priors!r}"
        )
    given = np.asarray(priors, dtype=np.float64)
    if given.shape != (n_categories,) or not np.all((given >= 0) & (given <= 1)):
        raise ValueError(f"priors must be {n_categories} probabilities, one per category")
    if not multilabel and not np.isclose(given.sum(), 1):
        raise ValueError(
            f"the priors of exclusive classes must sum to 1, not to {given.sum():g}"
        )
    return given, 1 - given


def log_odds_of(joint: FloatArray) -> Array:
    """Log odds of each class against all others, from joint log probabilities.

    Exact also where P(c | d) is near 1.
    """
    log_posterior: Array = joint - logsumexp(joint, axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        log_odds = log_posterior - np.log1p(-np.exp(log_posterior))
    # Of the most probable class 1 - P is a difference of near equals: sum up the others instead.
    documents = np.arange(len(joint))
    best = np.argmax(joint, axis=1)
    others = joint.copy()
    others[documents, best] = -np.inf
    log_odds[documents, best] = joint[documents, best] - logsumexp(others, axis=1)
    return log_odds


def difference(left: Array, right: Array) -> Array:
    """Subtract right from left, where infinite equals differ by 0."""
    return np.subtract(left, right, out=np.zeros_like(left), where=left != right)
