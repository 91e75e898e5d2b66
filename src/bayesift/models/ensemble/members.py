"""The members of a stacked classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import logit

from bayesift.arrays import Array, inner
from bayesift.models.base import scores_of
from bayesift.models.baselines.neighbors import NeighborsClassifier
from bayesift.models.baselines.svm import LinearSVM
from bayesift.models.linear import GaussianPrior, SparseBayesClassifier
from bayesift.models.naive_bayes import JelinekMercer, Laplace, NaiveBayesClassifier
from bayesift.models.online import OnlinePerceptron, OnlineStackedClassifier
from bayesift.state import storable

_MOST_COMPARED = (
    30_000  # numbers that a search for neighbours may look at, per document and category
)
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
        return sparse.csr_array(
            (values, self.rows.indices, self.rows.indptr), shape=self.rows.shape
        )

    def take(self, documents: Array) -> Sample:
        """Some of the documents."""
        return Sample(self.rows[documents], self.labels[documents], self.weights[documents])

    def of_columns(self, columns: Array) -> Sample:
        """All documents, some of the columns."""
        return Sample(self.rows[:, columns], self.labels, self.weights)


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


@dataclass(frozen=True, slots=True)
class OnlineStackOdds:
    """Log odds of an online stack."""

    model: OnlineStackedClassifier

    def scores(self, rows: sparse.csr_array) -> Array:
        """Log odds, documents x categories."""
        return self.model.predict_log_odds(rows)


Odds = NeighborOdds | OnlineStackOdds
Fitted = Hyperplanes | Odds


class Member:
    """A model in a stacked classifier; each category against the rest."""

    kind: ClassVar[str]  # in words, for people

    def fit(self, sample: Sample, settings: Settings) -> Fitted:
        """Fit the member to a sample."""
        raise NotImplementedError

    def is_affordable(self, sample: Sample) -> bool:
        """Whether scoring such documents takes no longer than fitting the others."""
        return True


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
        return NeighborOdds(
            NeighborsClassifier(n_neighbors=self.n_neighbors).fit(sample.rows, sample.labels)
        )

    def is_affordable(self, sample: Sample) -> bool:
        """Whether a document shares its terms with so few others that comparing it with all is quick."""
        frequencies = np.bincount(sample.rows.indices, minlength=sample.rows.shape[1]).astype(float)
        n_documents, n_categories = sample.labels.shape
        per_document = n_documents + inner(frequencies, frequencies) / n_documents
        return bool(per_document <= _MOST_COMPARED * n_categories)


@storable("perceptron-member")
@dataclass(frozen=True)
class PerceptronMember(Member):
    """The posterior mean of an `OnlinePerceptron` after three epochs in random order.

    It has no sample weights.
    """

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


@storable("online-stack-member")
@dataclass(frozen=True)
class OnlineStackMember(Member):
    """An `OnlineStackedClassifier` after one pass in random order.

    It is not linear and has no sample weights.
    """

    kind: ClassVar[str] = "online stack"

    def fit(self, sample: Sample, settings: Settings) -> OnlineStackOdds:
        """Learn one document after the other."""
        learner = OnlineStackedClassifier(random_state=settings.random_state)
        return OnlineStackOdds(learner.fit(sample.rows, sample.labels))


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
    """Softmax regression of classes that exclude one another, under a Gaussian prior.

    Found from one against the rest.

    The classes together are the last step: from the modes of each against the rest it is a third of
    the way.
    """

    kind: ClassVar[str] = "softmax regression"
    variance: float = 30.0

    def fit(self, sample: Sample, settings: Settings) -> Hyperplanes:
        """Find the mode of the posterior."""
        prior = GaussianPrior(variance=self.variance)
        labels = np.asarray(sample.labels.argmax(axis=1)).ravel()
        n_documents, n_classes = sample.labels.shape
        if (
            len(np.unique(labels)) < n_classes or 2 * n_classes > n_documents
        ):  # nothing that classes could share
            return _logistic_mode(sample, prior, settings)
        model = _logistic(prior, settings, sample).fit(sample.rows, labels, sample.weights)
        model.set_params(multiclass="softmax", warm_start=True, solver="auto").fit(
            sample.rows, labels, sample.weights
        )
        return Hyperplanes(_dense(model.coef_), model.intercept_)


@storable("nb-logistic-member")
@dataclass(frozen=True)
class NBLogisticMember(Member):
    """Logistic regression whose prior is scaled by the log-count ratios of naive Bayes.

    The standard deviation of a term's weight is |log P(t | c) / P(t | not c)| times the root of
    `variance`: terms that are as common in a category as outside it are held near 0. `alpha` is
    added to every count. Wang & Manning (2012) scale the features by these ratios, which is the
    same prior.
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


def _logistic_mode(sample: Sample, prior: GaussianPrior, settings: Settings) -> Hyperplanes:
    model = _logistic(prior, settings, sample).fit(sample.rows, sample.labels, sample.weights)
    return Hyperplanes(_dense(model.coef_), model.intercept_)


def _logistic(prior: GaussianPrior, settings: Settings, sample: Sample) -> SparseBayesClassifier:
    # On little data Newton's method is about as quick as the default, and nothing is compiled for
    # it.
    solver = "newton" if sample.rows.nnz * sample.labels.shape[1] <= _SMALL else "auto"
    return SparseBayesClassifier(
        prior=prior,
        intercept=settings.intercept,
        tol=settings.tol,
        n_jobs=settings.n_jobs,
        solver=solver,
    )


def _dense(weights: Any) -> Array:
    found: Array = weights.toarray() if sparse.issparse(weights) else weights
    return found


def _finite(ratios: Array) -> Array:
    return np.nan_to_num(ratios, nan=0.0, posinf=0.0, neginf=0.0)
