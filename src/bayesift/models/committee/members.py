"""The members of a committee: each gives one hyperplane a category, whose scores are log odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logit

from bayesift.models.linear import GaussianPrior, SparseBayesClassifier
from bayesift.models.linear.weights import scores_of
from bayesift.models.naive_bayes import JelinekMercer, Laplace, NaiveBayesClassifier

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


Member = GaussianMember | InformedMember | NaiveBayesMember


def _mode(sample: Sample, prior: GaussianPrior, tol: float, n_jobs: int | None) -> Hyperplanes:
    model = SparseBayesClassifier(prior=prior, tol=tol, n_jobs=n_jobs)
    model.fit(sample.rows, sample.members, sample.importance)
    weights = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    return Hyperplanes(weights, model.intercept_)


def _finite(ratios: Array) -> Array:
    return np.nan_to_num(ratios, nan=0.0, posinf=0.0, neginf=0.0)
