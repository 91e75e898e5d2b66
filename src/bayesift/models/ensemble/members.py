"""The members of a stacked classifier."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import logit

from bayesift.arrays import FloatArray, IntArray, SparseRows, inner
from bayesift.features import Design
from bayesift.models.base import scores_of
from bayesift.models.baselines.neighbors import NeighborsClassifier
from bayesift.models.baselines.svm import LinearSVM
from bayesift.models.linear import GaussianPrior, SparseBayesClassifier
from bayesift.models.linear.mixed_matrix import dense_columns
from bayesift.models.naive_bayes import JelinekMercer, Laplace, NaiveBayesClassifier
from bayesift.models.online import OnlinePerceptron, OnlineStackedClassifier
from bayesift.state import storable
from bayesift.threads import computed_once
from bayesift.validation import Targets

# Numbers that a search for neighbours may look at, per document and category.
_MAX_COMPARISONS = 30_000
# Entries x categories below which Newton's method is as quick as the default solver.
_NEWTON_CELLS = 1 << 18
# The cost of an entry of a dense column, which BLAS multiplies, relative to that of another.
_DENSE_COST = 0.1
# Seconds of fits as measured on one core of 2024, on questions, posts, news and links: of an entry
# that is counted, of a weight of naive Bayes, and in logistic regression with variance 100 of a
# document and of an entry in one category. Columns beyond this number are not in the cache.
_COUNT_SECONDS = 1e-8
_TABLE_SECONDS = 3e-8
_DOCUMENT_SECONDS = 6e-7
_ENTRY_SECONDS = 1.5e-8
_CACHED_COLUMNS = 100_000
_SOFTMAX_FACTOR = 3.0
# The tolerance of the modes that softmax regression starts from.
_START_TOLERANCE = 0.1
# Of categories whose terms have different variances, each with its own; measured when they were
# solved one by one, so that it is rather too high.
_ONE_BY_ONE_FACTOR = 2.7
_OWN_ROWS_SECONDS = 4e-8
# Keeps the prior variance of terms without a log-count ratio above 0.
_MIN_RATIO = 0.03


class Size(NamedTuple):
    """What the time of a fit depends on; an entry of a dense column counts as a part of one."""

    n_documents: int
    n_entries: float
    n_columns: int
    n_categories: int

    def logistic_seconds(self, variance: float) -> float:
        """Return about how long logistic regression takes, each category against the rest."""
        of_documents = _DOCUMENT_SECONDS * self.n_documents
        of_entries = _ENTRY_SECONDS * self.n_entries
        of_category = of_documents + of_entries * (1.0 + self.n_columns / _CACHED_COLUMNS)
        # Of variance 100 as one.
        passes = min(1.0, math.sqrt(math.sqrt(variance / 100.0)))
        return passes * of_category * self.n_categories


@dataclass(frozen=True, eq=False)
class Sample:
    """Training documents: their columns, their labels and their weights.

    Parameters
    ----------
    design : documents x columns, and the blocks of columns
    labels : documents x categories, 1 where a document belongs to a category
    weights : one per document
    groups : the group of each document, whose documents are held out together; None for none
    """

    design: Design
    labels: SparseRows
    weights: FloatArray
    groups: IntArray | None = None

    @property
    def rows(self) -> SparseRows:
        """Documents x columns."""
        return self.design.rows

    @computed_once
    def entry_costs(self) -> FloatArray:
        """Count the entries of each column; those of a dense column count as a part of one."""
        counts = np.bincount(self.rows.indices, minlength=self.rows.shape[1]).astype(np.float64)
        counts[dense_columns(self.rows)] *= _DENSE_COST
        return counts

    def size_of(self, kinds: Collection[str]) -> Size:
        """Return what the time of a fit to the columns of these kinds of blocks depends on."""
        costs = self.entry_costs[self.design.columns_of(kinds)]
        n_documents, n_categories = self.labels.shape
        return Size(n_documents, float(costs.sum()), len(costs), n_categories)

    @computed_once
    def targets(self) -> Targets:
        """Give the labels as models take them: each category against the rest."""
        return Targets.of_indicator(self.labels)

    @computed_once
    def counts(self) -> SparseRows:
        """Give the columns for naive Bayes: negative values are left out."""
        if not np.any(self.rows.data < 0):
            return self.rows
        rows = self.rows.copy()
        np.maximum(rows.data, 0.0, out=rows.data)
        rows.eliminate_zeros()
        return rows

    def take(self, documents: IntArray) -> Sample:
        """Return some of the documents."""
        groups = None if self.groups is None else self.groups[documents]
        return Sample(
            self.design.take(documents),
            self.labels[documents],
            self.weights[documents],
            groups,
        )

    def of_categories(self, block: slice) -> Sample:
        """Return all documents with the labels of a block of categories."""
        return replace(self, labels=self.labels[:, block])

    def only(self, kinds: Collection[str]) -> Sample:
        """Return all documents with the columns of these kinds of blocks."""
        return replace(self, design=self.design.only(kinds))


@dataclass(frozen=True, slots=True)
class Settings:
    """What all members share: tolerance, seed, threads, and the prior of logistic intercepts."""

    tol: float
    random_state: int | None
    n_jobs: int | None
    intercept: Any = "flat"


@dataclass(frozen=True, slots=True)
class Hyperplanes:
    """Scores x w + b: weights (categories x columns, dense or sparse) and intercepts."""

    weights: Any
    intercepts: FloatArray

    def scores_checked(self, rows: SparseRows) -> FloatArray:
        """Return scores, documents x categories."""
        return scores_of(rows, self.weights, self.intercepts)


# Members that are not linear stay models of their own.
NotLinear = NeighborsClassifier | OnlineStackedClassifier
Fitted = Hyperplanes | NotLinear


class Member:
    """A model in a stacked classifier; each category against the rest."""

    kind: ClassVar[str]  # in words, for people

    def seconds(self, size: Size) -> float:
        """Return about how long a fit to documents of this size takes."""
        return size.logistic_seconds(100.0)

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
        machine.fit_checked(sample.rows, sample.targets, sample.weights)
        return Hyperplanes(_dense(machine.coef_), machine.intercept_)


@storable("neighbors-member")
@dataclass(frozen=True)
class NeighborsMember(Member):
    """A `NeighborsClassifier`, which has no sample weights."""

    kind: ClassVar[str] = "nearest neighbours"
    n_neighbors: int = 45

    def fit(self, sample: Sample, settings: Settings) -> NeighborsClassifier:
        """Store the documents."""
        neighbors = NeighborsClassifier(n_neighbors=self.n_neighbors)
        return neighbors.fit_checked(sample.rows, sample.targets, sample.weights)

    def is_affordable(self, sample: Sample) -> bool:
        """Whether documents share terms with so few others that comparing them is quick."""
        frequencies = np.bincount(sample.rows.indices, minlength=sample.rows.shape[1]).astype(
            float
        )
        n_documents, n_categories = sample.labels.shape
        per_document = n_documents + inner(frequencies, frequencies) / n_documents
        return bool(per_document <= _MAX_COMPARISONS * n_categories)


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
        learner.fit_checked(sample.rows, sample.targets, sample.weights)
        return Hyperplanes(learner.coef_, learner.intercept_)


@storable("online-stack-member")
@dataclass(frozen=True)
class OnlineStackMember(Member):
    """An `OnlineStackedClassifier` after one pass in random order.

    It is not linear and has no sample weights.
    """

    kind: ClassVar[str] = "online stack"

    def fit(self, sample: Sample, settings: Settings) -> OnlineStackedClassifier:
        """Learn one document after the other."""
        learner = OnlineStackedClassifier(random_state=settings.random_state)
        return learner.fit_checked(sample.rows, sample.targets, sample.weights)


@storable("naive-bayes-member")
@dataclass(frozen=True)
class NaiveBayesMember(Member):
    """Naive Bayes, every category mixed with the collection (`JelinekMercer`)."""

    kind: ClassVar[str] = "naive Bayes"
    mixing: float = 0.5

    def fit(self, sample: Sample, settings: Settings) -> Hyperplanes:
        """Count; a term that no document contains has the weight 0."""
        bayes = NaiveBayesClassifier(smoothing=JelinekMercer(self.mixing))
        bayes.fit_checked(sample.counts, sample.targets, sample.weights)
        positive = sample.weights @ sample.labels
        prior = logit((positive + 0.5) / (sample.weights.sum() + 1.0))
        return Hyperplanes(_finite(bayes.log_odds_coef_), prior)

    def seconds(self, size: Size) -> float:
        """Return about how long a fit to documents of this size takes."""
        tables = _TABLE_SECONDS * size.n_columns * size.n_categories
        return _COUNT_SECONDS * size.n_entries + tables


@storable("logistic-member")
@dataclass(frozen=True)
class LogisticMember(Member):
    """Logistic regression under a Gaussian prior with the same variance for all terms."""

    kind: ClassVar[str] = "logistic regression"
    variance: float = 30.0

    def fit(self, sample: Sample, settings: Settings) -> Hyperplanes:
        """Find the mode of the posterior."""
        return _logistic_mode(sample, GaussianPrior(variance=self.variance), settings)

    def seconds(self, size: Size) -> float:
        """Return about how long a fit to documents of this size takes."""
        return size.logistic_seconds(self.variance)


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
        n_documents, n_classes = sample.labels.shape
        is_empty = np.diff(sample.targets.members.indptr) == 0
        # With an empty class, or one document per class, there is nothing for classes to share.
        if np.any(is_empty) or 2 * n_classes > n_documents:
            return _logistic_mode(sample, prior, settings)
        classes = Targets(sample.targets.members, np.arange(n_classes), multilabel=False)
        start = replace(settings, tol=_START_TOLERANCE)
        model = _logistic(prior, start, sample)
        model.fit_checked(sample.rows, classes, sample.weights)
        model.set_params(multiclass="softmax", warm_start=True, solver="auto", tol=settings.tol)
        model.fit_checked(sample.rows, classes, sample.weights)
        return Hyperplanes(_dense(model.coef_), model.intercept_)

    def seconds(self, size: Size) -> float:
        """Return about how long a fit to documents of this size takes."""
        return _SOFTMAX_FACTOR * size.logistic_seconds(self.variance)


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
        bayes.fit_checked(sample.counts, sample.targets, sample.weights)
        ratios = _finite(bayes.log_odds_coef_)
        variances = self.variance * np.maximum(ratios**2, _MIN_RATIO**2)
        return _logistic_mode(sample, GaussianPrior(variance=variances), settings)

    def seconds(self, size: Size) -> float:
        """Return about how long a fit to documents of this size takes."""
        own_rows = _OWN_ROWS_SECONDS * (size.n_entries + size.n_columns) * size.n_categories
        return _ONE_BY_ONE_FACTOR * size.logistic_seconds(self.variance) + own_rows


def _logistic_mode(sample: Sample, prior: GaussianPrior, settings: Settings) -> Hyperplanes:
    model = _logistic(prior, settings, sample)
    model.fit_checked(sample.rows, sample.targets, sample.weights)
    return Hyperplanes(_dense(model.coef_), model.intercept_)


def _logistic(
    prior: GaussianPrior, settings: Settings, sample: Sample
) -> SparseBayesClassifier:
    # On little data Newton's method is about as quick, and nothing is compiled for it.
    is_small = sample.rows.nnz * sample.labels.shape[1] <= _NEWTON_CELLS
    return SparseBayesClassifier(
        prior=prior,
        intercept=settings.intercept,
        tol=settings.tol,
        n_jobs=settings.n_jobs,
        solver="newton" if is_small else "auto",
    )


def _dense(weights: Any) -> FloatArray:
    dense: FloatArray = weights.toarray() if sparse.issparse(weights) else weights
    return dense


def _finite(ratios: FloatArray) -> FloatArray:
    return np.nan_to_num(ratios, nan=0.0, posinf=0.0, neginf=0.0)
