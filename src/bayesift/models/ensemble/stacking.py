"""Stacking: several models of the same documents, combined by weights that are fitted to out-of-fold scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_softmax, logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.models.base.categories import models_of
from bayesift.models.baselines.neighbors import NeighborsClassifier
from bayesift.models.ensemble.label_coupling import PRIOR_MEANS, LabelCoupling, coupling_features, label_couplings
from bayesift.models.ensemble.members import (
    Hyperplanes,
    LogisticMember,
    Member,
    NaiveBayesMember,
    NBLogisticMember,
    NeighborOdds,
    NeighborsMember,
    OutOfFold,
    PerceptronMember,
    Progress,
    ProgressCounter,
    Sample,
    Settings,
    SVMMember,
    combine,
    out_of_fold,
)
from bayesift.models.linear.mixins import LinearScoresMixin
from bayesift.state import check_fitted, expect_array, storable
from bayesift.validation import check_sample_weight, check_targets, check_terms

JURY: tuple[Member, ...] = (
    SVMMember(),
    NeighborsMember(),
    PerceptronMember(),
    NaiveBayesMember(0.5),
    NaiveBayesMember(0.9),
    NBLogisticMember(),
)
COMMITTEE: tuple[Member, ...] = (LogisticMember(), NBLogisticMember(), NaiveBayesMember(0.9))


class LogOddsMixin(LinearScoresMixin):
    """P(c | d) from linear scores that are log odds, or logarithms of the probabilities of several classes."""

    def predict_proba(self, X: Any) -> Array:
        """P(c | d), documents x categories."""
        scores = self._scores(X)
        return expit(scores) if self.multilabel_ else np.exp(self._log_proba(scores))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of P(c | d), documents x categories."""
        return self._log_proba(self._scores(X))

    def _log_proba(self, scores: Array) -> Array:
        several = not (self.multilabel_ or self._is_binary())
        sided = scores * [[-1.0, 1.0]] if self._is_binary() else scores
        logarithms: Array = log_softmax(scores, axis=1) if several else log_expit(sided)
        return logarithms


@storable("stacked")
class StackedClassifier(LogOddsMixin, ClassifierMixin, BaseEstimator):
    """Several models combined by weights that maximise the posterior on out-of-fold scores.

        z(d, c) = sum_m w_m s_m(d, c) + b

    The weights are the same for all categories (see `stacking_weights`). Linear members are combined into one linear
    model. With an indicator matrix and `couple_labels`, z is then corrected by the probabilities of the other
    categories (`bayesift.models.ensemble.label_coupling`). Meant for term weights such as ltc; naive Bayes takes
    negative ones for 0.

    Two presets are learners: `StackedClassifier.jury()` is the most accurate; it keeps the training documents for its
    neighbours. `StackedClassifier.committee()` is one linear model.

    Parameters
    ----------
    members : the models, of `bayesift.models.ensemble`: `JURY`, `COMMITTEE` or others, at most one `NeighborsMember`
    weights : one per member, at least 0; None fits them to out-of-fold scores
    signed : whether fitted weights may be negative, which corrects errors that members share
    scale_scores : fit the weights to scores divided by the root mean square of their member
    couple_labels : couple the categories of an indicator matrix; not with given `weights`
    n_folds : number of folds
    tol : tolerance of logistic regressions
    random_state : seed of folds and orders
    n_jobs : threads over categories; -1 for all cores
    progress : called with the number of fits done and their total

    Attributes
    ----------
    weights_, offset_ : w and b; weights are None in committees of bayesift 0.1, which did not store them
    label_coupling_ : the fitted `LabelCoupling`, or None
    neighbors_ : the fitted `NeighborsClassifier`, or None
    classes_, multilabel_ : as in `LinearScoresMixin`
    coef_, intercept_ : the weighted sum of the linear members

    References
    ----------
    Wolpert (1992), Stacked generalization. Wang & Manning (2012), Baselines and bigrams.

    Examples
    --------
    >>> X, y = [[2, 1, 0], [1, 0, 0], [0, 1, 3], [0, 0, 1]], ["grain", "grain", "crude", "crude"]
    >>> model = StackedClassifier.jury(n_folds=2).fit(X, y)
    >>> model.predict([[1, 0, 0], [0, 0, 1]]).tolist()
    ['grain', 'crude']
    """

    FITTED = (*LinearScoresMixin.FITTED, "weights_", "offset_", "neighbors_", "label_coupling_")

    weights_: Array | None
    offset_: float
    neighbors_: NeighborsClassifier | None
    label_coupling_: LabelCoupling | None

    def __init__(
        self,
        *,
        members: Sequence[Member] = JURY,
        weights: Sequence[float] | Array | None = None,
        signed: bool = True,
        scale_scores: bool = True,
        couple_labels: bool = True,
        n_folds: int = 5,
        tol: float = 1e-2,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.members = members
        self.weights = weights
        self.signed = signed
        self.scale_scores = scale_scores
        self.couple_labels = couple_labels
        self.n_folds = n_folds
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    @classmethod
    def jury(cls, *, C: float = 1.0, n_neighbors: int = 45, **parameters: Any) -> Self:
        """SVM, nearest neighbours, Bayesian perceptron, naive Bayes twice and logistic regression, with signed weights.

        C is that of the SVM; `parameters` are those of `StackedClassifier`.
        """
        return cls(**{"members": (SVMMember(C), NeighborsMember(n_neighbors), *JURY[2:]), **parameters})

    @classmethod
    def committee(
        cls,
        *,
        variance: float = 30.0,
        informed_variance: float = 3.0,
        alpha: float = 0.05,
        mixing: float = 0.9,
        **parameters: Any,
    ) -> Self:
        """Two logistic regressions and naive Bayes, with weights of at least 0: one linear model that takes weights.

        `variance` is that of a `LogisticMember`; `informed_variance` and `alpha` of a `NBLogisticMember`; `mixing` of
        naive Bayes; `parameters` are those of `StackedClassifier`.
        """
        members = LogisticMember(variance), NBLogisticMember(informed_variance, alpha), NaiveBayesMember(mixing)
        fixed = {"members": members, "signed": False, "scale_scores": False, "couple_labels": False}
        return cls(**{**fixed, **parameters})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the weights to out-of-fold scores, then the members to all documents.

        Documents of weight 0 are left out. To a `NeighborsMember` and a `PerceptronMember` all others have weight 1.
        """
        self._check_members()
        targets = check_targets(y)
        sample_weights = check_sample_weight(sample_weight, targets.n_documents, some_positive=True)
        rows = check_terms(self, X, n_documents=targets.n_documents)
        sample = Sample(rows, sparse.csr_array(models_of(targets).T), sample_weights)
        if not np.all(sample_weights):
            sample = sample.take(np.flatnonzero(sample_weights))
        settings = Settings(self.tol, self.random_state, self.n_jobs)
        n_folds = 0 if self.weights is not None else min(self.n_folds, len(sample.weights))
        counter = ProgressCounter(self.progress, len(self.members) * (n_folds + 1))
        self.label_coupling_ = None
        if self.weights is not None:
            self.weights_, self.offset_ = self._given_weights(), 0.0
        else:
            held_out = out_of_fold(self.members, sample, settings, n_folds=n_folds, counter=counter)
            exclusive = not targets.multilabel and len(targets.classes) > 2
            coupled = self.couple_labels and targets.multilabel and len(targets.classes) > 1
            self.weights_, self.offset_ = self._fit_weights(held_out, exclusive=exclusive, keep_scores=coupled)
            if coupled:
                scores = np.tensordot(self.weights_, held_out.scores, 1) + self.offset_
                self.label_coupling_ = fit_label_coupling(scores, held_out, sample)
            del held_out
        fitted = [counter.count(member.fit(sample, settings)) for member in self.members]
        self.neighbors_ = next((part.model for part in fitted if isinstance(part, NeighborOdds)), None)
        linear = self._combined([part for part in fitted if isinstance(part, Hyperplanes)], sample)
        return self._set_hyperplanes(targets, linear.weights, linear.intercepts + self.offset_)

    def contributions(self, X: Any, category: Any, *, against: Any = None) -> tuple[sparse.csr_array, Array]:
        """What each term adds to the score of a category through the linear members, and the remainder.

        The remainder is what the intercept, the neighbours and the other categories of the document add.
        """
        terms, intercepts = super().contributions(X, category, against=against)
        if self.neighbors_ is None and self.label_coupling_ is None:
            return terms, intercepts
        if self.label_coupling_ is not None:
            terms *= self.label_coupling_.weights[0]
        scores = self._scores(X)
        place, sign = self._place(category)
        whole = sign * scores[:, place]
        if against is not None and not self._is_binary():
            whole = whole - scores[:, self._place(against)[0]]
        return terms, whole - terms.sum(axis=1)

    def _check_members(self) -> None:
        members = self.members
        if not members or not all(isinstance(member, Member) for member in members) or self._n_neighbors_members() > 1:
            raise ValueError(f"members must be models of an ensemble, at most one of neighbours, got {members!r}")

    def _n_neighbors_members(self) -> int:
        return sum(isinstance(member, NeighborsMember) for member in self.members)

    def _given_weights(self) -> Array:
        given = np.asarray(self.weights, dtype=float)
        if given.shape != (len(self.members),) or not np.all(given >= 0.0):
            raise ValueError(f"weights must be {len(self.members)} numbers of at least 0, got {self.weights!r}")
        return given

    def _fit_weights(self, held_out: OutOfFold, *, exclusive: bool, keep_scores: bool) -> tuple[Array, float]:
        """Weights and offset; scores are scaled in place unless they are needed again."""
        scores, scales = held_out.scores, np.ones(len(held_out.scores))
        labels, importance = held_out.labels, held_out.weights
        if self.scale_scores:
            size = importance.sum() * labels.shape[1]
            scales = np.sqrt([_sum_by_document(member**2, importance) / size for member in scores])
            scales[scales == 0.0] = 1.0
            divisors = scales[:, np.newaxis, np.newaxis]
            scores = np.divide(scores, divisors, out=None if keep_scores else scores)
        weights, offset = stacking_weights(scores, labels, importance, exclusive=exclusive, signed=self.signed)
        return weights / scales, offset

    def _combined(self, parts: list[Hyperplanes], sample: Sample) -> Hyperplanes:
        """The weighted sum of the linear members; the others count as hyperplanes of 0."""
        assert self.weights_ is not None
        linear = [not isinstance(member, NeighborsMember) for member in self.members]
        weights = self.weights_[linear]
        if not all(linear):
            shape = sample.labels.shape[1], sample.rows.shape[1]
            parts, weights = [Hyperplanes(np.zeros(shape), np.zeros(shape[0])), *parts], np.append(0.0, weights)
        return combine(parts, weights)

    def _scores(self, X: Any) -> Array:
        scores = super()._scores(X)
        if self.neighbors_ is not None:
            assert self.weights_ is not None
            weight = self.weights_[[isinstance(member, NeighborsMember) for member in self.members]][0]
            scores = scores + weight * NeighborOdds(self.neighbors_).scores(check_terms(self, X, reset=False))
        return scores if self.label_coupling_ is None else self.label_coupling_(scores)

    def _post_load(self) -> None:
        """Refuse a stored ensemble whose parts do not fit together."""
        super()._post_load()
        n_models = len(self.intercept_)
        self._check_members()
        if self._n_neighbors_members() != (self.neighbors_ is not None):
            raise DataError("its neighbours are not those of its members")
        if self.weights_ is not None:
            expect_array(self.weights_, "weights_", np.float64, (len(self.members),))
        if self.neighbors_ is not None:
            check_fitted(self.neighbors_)
            if self.weights_ is None:
                raise DataError("the weight of its neighbours is missing")
            if len(self.neighbors_.classes_) != n_models or self.neighbors_.n_features_in_ != self.n_features_in_:
                raise DataError("its neighbours have other categories or terms")
        if self.label_coupling_ is not None:
            expect_array(self.label_coupling_.rates, "rates", np.float64, (n_models,))


def fit_label_coupling(scores: Array, held_out: OutOfFold, sample: Sample) -> LabelCoupling:
    """The `LabelCoupling` with the highest posterior on log odds `scores` of the documents held out."""
    couplings = label_couplings(sample.labels, sample.weights)
    rates = (sample.weights / sample.weights.sum()) @ sample.labels
    features = coupling_features(scores, couplings, rates)
    labels, importance = held_out.labels, held_out.weights
    fitted = stacking_weights(features, labels, importance, exclusive=False, signed=True, prior_means=PRIOR_MEANS)
    return LabelCoupling(couplings, rates, *fitted)


def stacking_weights(
    scores: Array,
    labels: Array,
    importance: Array,
    *,
    exclusive: bool,
    signed: bool = False,
    prior_means: Sequence[float] | None = None,
) -> tuple[Array, float]:
    """The weights w_m of members and the offset b that maximise the posterior on out-of-fold scores s_m.

        sum log P(labels of d | z),   z(d, c) = sum_m w_m s_m(d, c) + b

    P is the logistic function of each category's z, or for class labels the softmax over categories (without offset,
    which would cancel). The priors are w_m ~ N(1/M, 1), or of other means, and b ~ N(0, 1), so that without data z is
    the mean of the members. Scores are members x documents x categories; weights may be negative if `signed`.
    """
    start = np.full(len(scores), 1.0 / len(scores)) if prior_means is None else np.array(prior_means)
    flat = scores.reshape(len(scores), -1)

    def objective(point: Array) -> tuple[float, Array]:
        weights, offset = point[:-1], point[-1]
        z = (weights @ flat).reshape(labels.shape) + offset
        value, slopes = stacking_loss(z, labels, importance, exclusive=exclusive)
        gradient = np.append(flat @ slopes.ravel() + weights - start, slopes.sum() + offset)
        return value + 0.5 * float(np.sum((weights - start) ** 2) + offset**2), gradient

    bounds = [(None if signed else 0.0, None)] * len(scores) + [(0.0, 0.0) if exclusive else (None, None)]
    found = minimize(objective, np.append(start, 0.0), jac=True, bounds=bounds, method="L-BFGS-B")
    return found.x[:-1], float(found.x[-1])


def stacking_loss(z: Array, labels: Array, importance: Array, *, exclusive: bool) -> tuple[float, Array]:
    """Minus the log-likelihood of the labels at scores z, and its derivatives."""
    return (_softmax_loss if exclusive else _logistic_loss)(z, labels, importance)


def _sum_by_document(values: Array, importance: Array) -> float:
    """The weighted sum over documents, one after the other, of sums over categories."""
    return float(np.cumsum(importance * values.sum(axis=1))[-1])


def _logistic_loss(z: Array, labels: Array, importance: Array) -> tuple[float, Array]:
    margins = np.where(labels, z, -z)
    losses, wrong = -log_expit(margins), expit(-margins)
    return float(importance @ losses.sum(axis=1)), np.where(labels, -wrong, wrong) * importance[:, np.newaxis]


def _softmax_loss(z: Array, labels: Array, importance: Array) -> tuple[float, Array]:
    losses = logsumexp(z, axis=1) - np.sum(z * labels, axis=1)
    return float(importance @ losses), (softmax(z, axis=1) - labels) * importance[:, np.newaxis]
