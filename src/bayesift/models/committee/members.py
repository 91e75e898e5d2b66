"""The members of a committee: each says of documents what it thinks of their categories, nearly all by hyperplanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.special import logit

from bayesift.models.hyperplanes import SupportVectorClassifier
from bayesift.models.linear import GaussianPrior, SparseBayesClassifier
from bayesift.models.linear.weights import scores_of
from bayesift.models.naive_bayes import JelinekMercer, Laplace, NaiveBayesClassifier
from bayesift.models.neighbors import NeighborsClassifier
from bayesift.models.online import OnlinePerceptron

Array = np.ndarray[Any, Any]

_LEAST_RATIO = 0.03  # a word that naive Bayes has no opinion about is still not ruled out


@dataclass(frozen=True, slots=True)
class Sample:
    """Documents and what is known of them.

    Parameters
    ----------
    rows : documents x terms
    members : documents x categories, 1 where a document belongs
    importance : of the documents
    """

    rows: sparse.csr_array
    members: sparse.csr_array
    importance: Array

    @property
    def counts(self) -> sparse.csr_array:
        """The terms as naive Bayes can count them: nothing below 0."""
        values = np.maximum(self.rows.data, 0.0)
        return sparse.csr_array((values, self.rows.indices, self.rows.indptr), shape=self.rows.shape)

    def take(self, documents: Array) -> Sample:
        """Some of the documents."""
        return Sample(self.rows[documents], self.members[documents], self.importance[documents])


@dataclass(frozen=True, slots=True)
class Hyperplanes:
    """Log odds x w + b: weights (categories x terms) and intercepts."""

    weights: Array
    intercepts: Array

    def scores(self, rows: sparse.csr_array) -> Array:
        """Log odds, documents x categories."""
        return scores_of(rows, self.weights, self.intercepts)


@dataclass(frozen=True, slots=True)
class GaussianMember:
    """Logistic regression under a Gaussian prior that is the same for all terms."""

    variance: float
    tol: float
    n_jobs: int | None

    def fit(self, sample: Sample) -> Hyperplanes:
        """The mode of the posterior."""
        return _mode(sample, GaussianPrior(variance=self.variance), self.tol, self.n_jobs)


@dataclass(frozen=True, slots=True)
class InformedMember:
    """Logistic regression whose prior listens to naive Bayes.

    The standard deviation of a term's weight is |log P(t | c) / P(t | not c)|, times one number for all: terms that are
    as common in a category as outside it are held near 0. It is the machine of Wang & Manning (2012), who scale the
    features by these ratios, seen as a prior.
    """

    variance: float
    alpha: float
    tol: float
    n_jobs: int | None

    def fit(self, sample: Sample) -> Hyperplanes:
        """The mode of the posterior."""
        bayes = NaiveBayesClassifier(smoothing=Laplace(self.alpha))
        ratios = bayes.fit(sample.counts, sample.members, sample.importance).log_odds_coef_
        variances = self.variance * np.maximum(_finite(ratios) ** 2, _LEAST_RATIO**2)
        return _mode(sample, GaussianPrior(variance=variances), self.tol, self.n_jobs)


@dataclass(frozen=True, slots=True)
class NaiveBayesMember:
    """Naive Bayes, every category mixed with the collection."""

    mixing: float

    def fit(self, sample: Sample) -> Hyperplanes:
        """Count; a term that no document had says nothing."""
        bayes = NaiveBayesClassifier(smoothing=JelinekMercer(self.mixing))
        bayes.fit(sample.counts, sample.members, sample.importance)
        positive = sample.importance @ sample.members
        prior = logit((positive + 0.5) / (sample.importance.sum() + 1.0))
        return Hyperplanes(_finite(bayes.log_odds_coef_), prior)


@dataclass(frozen=True, slots=True)
class MarginMember:
    """A linear support vector machine; its margins are no log odds, which shares make up for."""

    C: float
    random_state: int | None

    def fit(self, sample: Sample) -> Hyperplanes:
        """The widest margin, by the dual problem where there are more terms than documents."""
        n_documents, n_terms = sample.rows.shape
        machine = SupportVectorClassifier(C=self.C, dual=n_documents < n_terms, random_state=self.random_state)
        machine.fit(sample.rows, sample.members, sample.importance)
        return Hyperplanes(_dense(machine.coef_), machine.intercept_)


@dataclass(frozen=True, slots=True)
class PerceptronMember:
    """The Bayesian online perceptron after one look at every document, in random order: the mean of its posterior.

    It does not know of the importance of documents.
    """

    prior_variance: float
    random_state: int | None
    n_jobs: int | None

    def fit(self, sample: Sample) -> Hyperplanes:
        """Learn from one document after the other."""
        order = np.random.default_rng(self.random_state).permutation(sample.rows.shape[0])
        learner = OnlinePerceptron(covariance="diagonal", prior_variance=self.prior_variance, n_jobs=self.n_jobs)
        learner.fit(sample.rows[order], sample.members[order])
        return Hyperplanes(learner.coef_, learner.intercept_)


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Documents that are remembered, and the log odds of the votes of the nearest."""

    memory: NeighborsClassifier

    def scores(self, rows: sparse.csr_array) -> Array:
        """Log odds, documents x categories."""
        odds: Array = logit(self.memory.predict_proba(rows))
        return odds


@dataclass(frozen=True, slots=True)
class NeighborsMember:
    """Nearest neighbours by cosine; they do not know of the importance of documents."""

    k: int

    def fit(self, sample: Sample) -> Neighborhood:
        """Remember."""
        return Neighborhood(NeighborsClassifier(k=self.k).fit(sample.rows, sample.members))


class Opinion(Protocol):
    """What has scores of documents."""

    def scores(self, rows: sparse.csr_array) -> Array:
        """Documents x categories."""
        ...


class Member(Protocol):
    """Who forms an opinion on a sample."""

    def fit(self, sample: Sample) -> Opinion:
        """Learn."""
        ...


def blend(parts: Sequence[Hyperplanes], shares: Array) -> Hyperplanes:
    """The hyperplanes whose scores are the sum of others' scores, each times its share.

    Examples
    --------
    >>> blend([Hyperplanes(np.ones((1, 2)), np.ones(1)), Hyperplanes(np.eye(1, 2), np.zeros(1))], np.array([2.0, 3.0]))
    Hyperplanes(weights=array([[5., 2.]]), intercepts=array([2.]))
    """
    weights = sum(share * part.weights for share, part in zip(shares, parts, strict=True))
    return Hyperplanes(weights, shares @ np.stack([part.intercepts for part in parts]))


def _mode(sample: Sample, prior: GaussianPrior, tol: float, n_jobs: int | None) -> Hyperplanes:
    model = SparseBayesClassifier(prior=prior, tol=tol, n_jobs=n_jobs)
    model.fit(sample.rows, sample.members, sample.importance)
    return Hyperplanes(_dense(model.coef_), model.intercept_)


def _dense(weights: Any) -> Array:
    found: Array = weights.toarray() if sparse.issparse(weights) else weights
    return found


def _finite(ratios: Array) -> Array:
    return np.nan_to_num(ratios, nan=0.0, posinf=0.0, neginf=0.0)
