"""The members of a stacked classifier, and their out-of-fold scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy import sparse
from scipy.special import logit

from bayesift.arrays import Array
from bayesift.folds import deal_folds
from bayesift.models.baselines.linear_svm import LinearSVM
from bayesift.models.baselines.neighbors import NeighborsClassifier
from bayesift.models.linear import GaussianPrior, SparseBayesClassifier
from bayesift.models.linear.weights import scores_of
from bayesift.models.naive_bayes import JelinekMercer, Laplace, NaiveBayesClassifier
from bayesift.models.online import OnlinePerceptron
from bayesift.state import storable

Progress = Callable[[int, int], None]
Fitted = TypeVar("Fitted")

_SMALL = 1 << 18  # entries x categories
_LEAST_RATIO = 0.03  # keeps the prior variance of terms without a log-count ratio above 0


@dataclass(frozen=True, slots=True)
class Sample:
    """Training documents x terms, documents x categories (1 where a document belongs), and weights of documents."""

    rows: sparse.csr_array
    labels: sparse.csr_array
    weights: Array

    @property
    def counts(self) -> sparse.csr_array:
        """The terms for naive Bayes: negative values are 0."""
        values = np.maximum(self.rows.data, 0.0)
        return sparse.csr_array((values, self.rows.indices, self.rows.indptr), shape=self.rows.shape)

    def take(self, documents: Array) -> Sample:
        """Some of the documents."""
        return Sample(self.rows[documents], self.labels[documents], self.weights[documents])


@dataclass(frozen=True, slots=True)
class Settings:
    """What all members share: tolerance, seed, threads, and the prior of intercepts of logistic regressions."""

    tol: float
    random_state: int | None
    n_jobs: int | None
    intercept: Any = "flat"


@dataclass(frozen=True, slots=True)
class Hyperplanes:
    """Scores x w + b: weights (categories x terms) and intercepts."""

    weights: Array
    intercepts: Array

    def scores(self, rows: sparse.csr_array) -> Array:
        """Scores, documents x categories."""
        return scores_of(rows, self.weights, self.intercepts)


@dataclass(frozen=True, slots=True)
class NeighborOdds:
    """Log odds of the votes of nearest neighbours."""

    model: NeighborsClassifier

    def scores(self, rows: sparse.csr_array) -> Array:
        """Log odds, documents x categories."""
        odds: Array = logit(self.model.predict_proba(rows))
        return odds


class Member:
    """A model in a stacked classifier; each category against the rest."""

    kind: ClassVar[str]  # in words, for people

    def fit(self, sample: Sample, settings: Settings) -> Hyperplanes | NeighborOdds:
        """Fit the member to a sample."""
        raise NotImplementedError


@storable("svm-member")
@dataclass(frozen=True)
class SVMMember(Member):
    """A `LinearSVM`; its margins are not log odds, which the stacking weights correct."""

    kind: ClassVar[str] = "linear SVM"
    C: float = 1.0

    def fit(self, sample: Sample, settings: Settings) -> Hyperplanes:
        """Find the hyperplanes, by the dual problem where there are more terms than documents."""
        machine = LinearSVM(C=self.C, dual="auto", random_state=settings.random_state)
        machine.fit(sample.rows, sample.labels, sample.weights)
        return Hyperplanes(_dense(machine.coef_), machine.intercept_)


@storable("neighbors-member")
@dataclass(frozen=True)
class NeighborsMember(Member):
    """A `NeighborsClassifier`, which has no sample weights."""

    kind: ClassVar[str] = "nearest neighbours"
    n_neighbors: int = 45

    def fit(self, sample: Sample, settings: Settings) -> NeighborOdds:
        """Store the documents."""
        return NeighborOdds(NeighborsClassifier(n_neighbors=self.n_neighbors).fit(sample.rows, sample.labels))


@storable("perceptron-member")
@dataclass(frozen=True)
class PerceptronMember(Member):
    """The posterior mean of an `OnlinePerceptron` after three epochs in random order; it has no sample weights."""

    kind: ClassVar[str] = "Bayesian perceptron"
    prior_variance: float = 4.0

    def fit(self, sample: Sample, settings: Settings) -> Hyperplanes:
        """Update the posterior by one document after the other."""
        learner = OnlinePerceptron(
            covariance="diagonal",
            prior_variance=self.prior_variance,
            random_state=settings.random_state,
            n_jobs=settings.n_jobs,
        )
        learner.fit(sample.rows, sample.labels)
        return Hyperplanes(learner.coef_, learner.intercept_)


@storable("naive-bayes-member")
@dataclass(frozen=True)
class NaiveBayesMember(Member):
    """Naive Bayes, every category mixed with the collection (`JelinekMercer`)."""

    kind: ClassVar[str] = "naive Bayes"
    mixing: float = 0.5

    def fit(self, sample: Sample, settings: Settings) -> Hyperplanes:
        """Count; a term that no document contains has the weight 0."""
        bayes = NaiveBayesClassifier(smoothing=JelinekMercer(self.mixing))
        bayes.fit(sample.counts, sample.labels, sample.weights)
        positive = sample.weights @ sample.labels
        prior = logit((positive + 0.5) / (sample.weights.sum() + 1.0))
        return Hyperplanes(_finite(bayes.log_odds_coef_), prior)


@storable("logistic-member")
@dataclass(frozen=True)
class LogisticMember(Member):
    """Logistic regression under a Gaussian prior with the same variance for all terms."""

    kind: ClassVar[str] = "logistic regression"
    variance: float = 30.0

    def fit(self, sample: Sample, settings: Settings) -> Hyperplanes:
        """Find the mode of the posterior."""
        return _logistic_mode(sample, GaussianPrior(variance=self.variance), settings)


@storable("softmax-member")
@dataclass(frozen=True)
class SoftmaxMember(Member):
    """Softmax regression of classes that exclude one another, under a Gaussian prior; found from one against the rest.

    The classes together are the last step: from the modes of each against the rest it is a third of the way.
    """

    kind: ClassVar[str] = "softmax regression"
    variance: float = 30.0

    def fit(self, sample: Sample, settings: Settings) -> Hyperplanes:
        """Find the mode of the posterior."""
        prior = GaussianPrior(variance=self.variance)
        labels = np.asarray(sample.labels.argmax(axis=1)).ravel()
        n_documents, n_classes = sample.labels.shape
        if len(np.unique(labels)) < n_classes or 2 * n_classes > n_documents:  # nothing that classes could share
            return _logistic_mode(sample, prior, settings)
        model = _logistic(prior, settings, sample).fit(sample.rows, labels, sample.weights)
        model.set_params(multiclass="softmax", warm_start=True, solver="auto").fit(sample.rows, labels, sample.weights)
        return Hyperplanes(_dense(model.coef_), model.intercept_)


@storable("nb-logistic-member")
@dataclass(frozen=True)
class NBLogisticMember(Member):
    """Logistic regression whose prior is scaled by the log-count ratios of naive Bayes.

    The standard deviation of a term's weight is |log P(t | c) / P(t | not c)| times the root of `variance`: terms that
    are as common in a category as outside it are held near 0. `alpha` is added to every count. Wang & Manning (2012)
    scale the features by these ratios, which is the same prior.
    """

    kind: ClassVar[str] = "logistic regression"
    variance: float = 3.0
    alpha: float = 0.05

    def fit(self, sample: Sample, settings: Settings) -> Hyperplanes:
        """Find the mode of the posterior."""
        bayes = NaiveBayesClassifier(smoothing=Laplace(self.alpha))
        ratios = bayes.fit(sample.counts, sample.labels, sample.weights).log_odds_coef_
        variances = self.variance * np.maximum(_finite(ratios) ** 2, _LEAST_RATIO**2)
        return _logistic_mode(sample, GaussianPrior(variance=variances), settings)


class ProgressCounter:
    """Counts the members that have been fitted and reports each to `progress`."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.done = progress, total, 0

    def count(self, fitted: Fitted) -> Fitted:
        """Report one more fitted member, and return it."""
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)
        return fitted

    def finish(self) -> None:
        """Report that nothing is left to do, where fewer members were fitted than planned."""
        if self.progress is not None and self.done < self.total:
            self.progress(self.total, self.total)


@dataclass(frozen=True, slots=True)
class OutOfFold:
    """Scores, members x documents x categories, by models fitted without the documents; their labels and weights."""

    scores: Array
    labels: Array
    weights: Array


def out_of_fold(
    members: Sequence[Member], sample: Sample, settings: Settings, *, n_folds: int, counter: ProgressCounter
) -> OutOfFold:
    """Hold out every document once, except those that `deal_folds` keeps in training for a rare category."""
    labels = sample.labels.toarray() != 0
    folds = deal_folds(labels, n_folds=n_folds, random_state=settings.random_state)
    documents = np.flatnonzero(folds >= 0)
    n_members, (n_documents, n_categories) = len(members), labels[documents].shape
    # Of one category documents lie first, so that BLAS sums as it did in bayesift 0.1.
    scores = np.empty((n_members, n_documents, n_categories), order="C" if n_categories > 1 else "F")
    for fold in range(n_folds):
        held_out, rest = np.flatnonzero(folds == fold), sample.take(np.flatnonzero(folds != fold))
        places = np.searchsorted(documents, held_out)
        for m, member in enumerate(members):
            scores[m, places] = counter.count(member.fit(rest, settings)).scores(sample.rows[held_out])
    return OutOfFold(scores, labels[documents], sample.weights[documents])


def combine(parts: Sequence[Hyperplanes], weights: Array) -> Hyperplanes:
    """The hyperplanes whose scores are the weighted sum of those of others."""
    total = sum(weight * part.weights for weight, part in zip(weights, parts, strict=True))
    return Hyperplanes(total, weights @ np.stack([part.intercepts for part in parts]))


def _logistic_mode(sample: Sample, prior: GaussianPrior, settings: Settings) -> Hyperplanes:
    model = _logistic(prior, settings, sample).fit(sample.rows, sample.labels, sample.weights)
    return Hyperplanes(_dense(model.coef_), model.intercept_)


def _logistic(prior: GaussianPrior, settings: Settings, sample: Sample) -> SparseBayesClassifier:
    # On little data Newton's method is about as quick as the default, and nothing is compiled for it.
    solver = "newton" if sample.rows.nnz * sample.labels.shape[1] <= _SMALL else "auto"
    return SparseBayesClassifier(
        prior=prior, intercept=settings.intercept, tol=settings.tol, n_jobs=settings.n_jobs, solver=solver
    )


def as_new(rows: sparse.csr_array, training: sparse.csr_array, in_pairs: Array | None = None) -> sparse.csr_array:
    """Rows as they would be if only the training documents were known: without terms that those lack.

    Columns `in_pairs` (boolean) are word pairs, which must be in two training documents. Rows of one length, or their
    words and pairs, keep it, as a vectorizer would give it to what is left of them.
    """
    pairs = np.zeros(rows.shape[1], dtype=bool) if in_pairs is None else in_pairs
    known = np.bincount(training.indices, minlength=training.shape[1]) > pairs
    owners = 2 * np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)) + pairs[rows.indices]
    data = np.where(known[rows.indices], rows.data, 0.0)
    before, after = (np.sqrt(np.bincount(owners, part**2, minlength=2 * rows.shape[0])) for part in (rows.data, data))
    lengths = before[before > 0]
    if len(lengths) and np.ptp(lengths) <= 1e-6 * lengths.max():
        data = data * np.divide(before, after, out=np.ones(len(before)), where=after > 0)[owners]
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


def _dense(weights: Any) -> Array:
    found: Array = weights.toarray() if sparse.issparse(weights) else weights
    return found


def _finite(ratios: Array) -> Array:
    return np.nan_to_num(ratios, nan=0.0, posinf=0.0, neginf=0.0)
