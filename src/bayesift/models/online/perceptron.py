"""The Bayesian online perceptron: a normal posterior, updated document by document."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, FloatArray, SparseRows
from bayesift.models.base import check_documents, signs_of, unchanged_if_refused
from bayesift.models.linear.scale import BlockScales
from bayesift.models.online.bank import PosteriorBank, check_settings
from bayesift.models.online.likelihoods import Gain, likelihood_of
from bayesift.models.online.streaming import ProbabilitiesMixin, models_over
from bayesift.state import storable
from bayesift.validation import (
    Targets,
    check_targets,
    check_terms,
    check_two_classes,
    longer_names,
)


@storable("online-perceptron")
class OnlinePerceptron(ProbabilitiesMixin, ClassifierMixin, BaseEstimator):
    """Linear classifier with a normal posterior that learns one document at a time.

    A document x with label y moves mean a and covariance C to the moments of the exact posterior
    after it:

        a += g C x,  C += q (C x)(C x)',  g, q = the first two derivatives of log P(y | x) by the
        mean field a x

    where P(y | x) integrates the likelihood over the posterior, as `predict_proba` does. With an
    indicator matrix each category has a model of its own. With class labels there is one model for
    two classes, and one per class against the rest for more, whose probabilities are normalised.

    Parameters
    ----------
    likelihood : P(y | field): "probit", "logit" or "flip", or `ProbitNoise(sigma0)`,
        `LogitNoise(by)`, `FlipNoise(kappa)`
    covariance : "full"; "diagonal"; or "low-rank", a precision of diagonal plus low rank, for whole
        vocabularies
    rank : how many components "low-rank" keeps; with enough of them it is the full covariance
    n_epochs : how often `fit` goes over the documents
    bias : the value of the constant feature, which is vital; 0 for none
    prior : "fixed" gives every weight the same variance; with "likelihood-ratio" (diagonal
        covariance only) the variance of a weight follows the likelihood ratio LR of its term and
        category over the documents so far, `prior_variance` (0.03 + 0.97 LR / (LR + 50)): words
        that tell nothing about a category hardly move
    prior_variance : of every weight; with "likelihood-ratio" the largest one, 64 is good for
        vectors of length one
    prior_scale : None; or a `BlockScales`, such as of words and vectors: `fit` then finds a prior
        scale for each block by the evidence of one epoch, in which every label is predicted from
        those before it
    half_life : forget: after so many documents what was learned counts half. The weights drift back
        to their prior, for streams whose topics move ("low-rank" does so every 16 documents); None
        never forgets
    shuffle : whether `fit` puts the documents into random order first, for files sorted by label;
        `partial_fit` never does
    random_state : seed of that order
    n_jobs : threads over categories; -1 for all cores

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    coef_ : the posterior mean of the weights, models x terms
    intercept_ : the part of the bias, one per model
    evidence_ : the log evidence of all documents learned from, each given those before it, one a
        model
    n_seen_ : how many documents were learned from, each pass counted
    weight_posteriors_ : the posterior of each model

    Notes
    -----
    The order of documents matters; a file sorted by label is the worst. `partial_fit` keeps the
    order, and gives the same bits however a stream is cut into batches.
    There are no sample weights: an update answers one label.

    References
    ----------
    Chai, Ng & Chieu (2002), sections 3.1 and 4.1, appendix A; Opper (1998); Solla & Winther (1998).

    Examples
    --------
    >>> X = [[1.0, 0.2], [0.9, 0.0], [0.1, 1.0], [0.0, 0.8]]
    >>> model = OnlinePerceptron().fit(X, ["grain", "grain", "crude", "crude"])
    >>> model.predict([[1, 0], [0, 1]]).tolist()
    ['grain', 'crude']
    >>> model.partial_fit([[0.0, 1.0, 0.4]], ["crude"]).coef_.shape
    (1, 3)
    """

    FITTED = ("classes_", "multilabel_", "n_seen_", "_bank")

    n_seen_: int
    _bank: PosteriorBank

    def __init__(
        self,
        *,
        likelihood: Any = "probit",
        covariance: str = "full",
        rank: int = 8,
        n_epochs: int = 3,
        bias: float = 1.0,
        prior: str = "fixed",
        prior_variance: float = 1.0,
        prior_scale: BlockScales | None = None,
        half_life: float | None = None,
        shuffle: bool = True,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.likelihood = likelihood
        self.covariance = covariance
        self.rank = rank
        self.n_epochs = n_epochs
        self.bias = bias
        self.prior = prior
        self.prior_variance = prior_variance
        self.prior_scale = prior_scale
        self.half_life = half_life
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, feature_mask: Any = None) -> Self:
        """Learn from the documents, `n_epochs` times in one order.

        It is random, or their own with `shuffle=False`.

        `feature_mask`, models x terms, says which terms each model may use. Numbers other than True
        are prior scales: the weight of a term has the variance scale^2 times `prior_variance`.
        """
        check_settings(self)
        with unchanged_if_refused(self):
            return self.fit_checked(*check_documents(self, X, y), feature_mask)

    def fit_checked(
        self, rows: SparseRows, targets: Targets, weights: FloatArray, feature_mask: Any = None
    ) -> Self:
        """Learn from documents and targets that were checked; the weights do not count."""
        check_settings(self)
        signs = _signs_of(targets, targets.classes)
        if self.shuffle:
            order = np.random.default_rng(self.random_state).permutation(targets.n_documents)
            rows = rows[order]
            signs = signs[:, order]
        if self.prior_scale is not None:
            feature_mask = self._block_scales(self.prior_scale, rows, signs, feature_mask)
        self._start(targets, rows.shape[1], feature_mask)
        for _ in range(self.n_epochs):
            self._update(rows, signs)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, feature_mask: Any = None
    ) -> Self:
        """Learn from the next documents of a stream, once.

        The result does not depend on how a stream is cut.

        X may have more columns than before: new terms enter at the prior (with `feature_mask`,
        those it names), and nothing else moves. An indicator may have more columns: new categories
        start at the prior. `classes` are all labels that may come; only the first time, and only if
        y lacks some of them.
        """
        check_settings(self)
        first = not hasattr(self, "_bank")
        if first and self.prior_scale is not None:
            raise ValueError(
                "prior_scale is chosen by fit; give partial_fit a feature_mask of prior scales"
            )
        targets = check_targets(
            y, classes=classes if first or classes is not None else self._known(y)
        )
        known = targets.classes if first else self._all_classes(targets)
        signs = _signs_of(targets, known)
        with unchanged_if_refused(self):
            rows = check_terms(
                self, X, n_documents=targets.n_documents, reset=first, may_grow=not first
            )
            if first:
                self._start(targets, rows.shape[1], feature_mask)
            else:
                self.classes_ = known
                self._bank.grow(len(signs), rows.shape[1], feature_mask, self)
            return self._update(rows, signs)

    def progressive_proba(self, X: Any, y: Any) -> FloatArray:
        """Learn as `partial_fit`, and return P(c | d) of each document before its label.

        Test, then train: progressive validation. The model must have been started by `fit` or
        `partial_fit`.
        """
        check_is_fitted(self)
        before = self.n_seen_
        self.partial_fit(X, y)
        fields = self._bank.last_fields
        assert fields.shape[2] == self.n_seen_ - before
        return np.exp(self._log_proba(fields))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log P(c | d), documents x categories, integrated over the posterior."""
        return self._log_proba(self._fields(X))

    def predict_fields(self, X: Any) -> tuple[Array, Array]:
        """Mean and variance of a x under the posterior, documents x models each."""
        means, variances = np.moveaxis(self._fields(X), 1, 0)
        return means.T, variances.T

    def log_evidence(self, X: Any, y: Any) -> FloatArray:
        """Return the log probability of these labels, summed over documents, per model.

        Nothing is learned.
        """
        means, variances, signs = self._labelled_fields(X, y)
        sums: FloatArray = (
            likelihood_of(self.likelihood).log_evidence(signs, means, variances).sum(axis=1)
        )
        return sums

    def information_gain(self, X: Any, y: Any, *, kind: Gain = "exact") -> FloatArray:
        """How many bits each label would tell a model, documents x models.

        See `ProbitNoise.information_gain`.
        """
        means, variances, signs = self._labelled_fields(X, y)
        return (
            likelihood_of(self.likelihood)
            .information_gain(signs, means, variances, kind=kind)
            .T
        )

    def expected_information_gain(self, X: Any, *, kind: Gain = "exact") -> FloatArray:
        """How many bits each document's label may be expected to tell, before it is known.

        Documents x models.
        """
        means, variances = np.moveaxis(self._fields(X), 1, 0)
        return (
            likelihood_of(self.likelihood)
            .expected_information_gain(means, variances, kind=kind)
            .T
        )

    @property
    def coef_(self) -> FloatArray:
        """The posterior mean of the weights, models x terms."""
        check_is_fitted(self)
        return self._bank.means()[:, 1:]

    @property
    def intercept_(self) -> FloatArray:
        """The part of the bias in the mean field, one per model."""
        check_is_fitted(self)
        return self.bias * self._bank.means()[:, 0]

    @property
    def evidence_(self) -> FloatArray:
        """The log evidence of all documents so far, each given those before it, per model."""
        check_is_fitted(self)
        return self._bank.evidence.copy()

    @property
    def weight_posteriors_(self) -> list[Any]:
        """The posterior of each model; column 0 is the bias."""
        check_is_fitted(self)
        return self._bank.posteriors

    def contributions(
        self, X: Any, category: Any, *, against: Any = None
    ) -> tuple[SparseRows, Array]:
        """Return what each term adds to the mean field of a category, and the part of the bias."""
        terms, bias = super().contributions(X, category, against=against)
        return terms, self.bias * bias

    def _post_load(self) -> None:
        self._bank.check(self)
        self.n_features_in_ = self._bank.n_terms
        self._check_classes(len(self._bank.posteriors))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_bank")

    def _block_scales(
        self, rule: BlockScales, rows: SparseRows, signs: FloatArray, feature_mask: Any
    ) -> Any:
        """Return the mask times the prior scale of each column, by the evidence of one epoch."""
        sizes = [size for _, size in rule.blocks]
        if sum(sizes) != rows.shape[1]:
            raise ValueError(
                f"the blocks have {sum(sizes):,} columns, but there are {rows.shape[1]:,}"
            )
        mask = np.ones((len(signs), rows.shape[1])) if feature_mask is None else feature_mask
        mask = sparse.csr_array(mask, dtype=np.float64)

        def scaled(logarithms: FloatArray) -> SparseRows:
            scales = np.exp(logarithms[-1] + np.repeat(logarithms[:-1], sizes))
            return sparse.csr_array(
                (mask.data * scales[mask.indices], mask.indices, mask.indptr), shape=mask.shape
            )

        def loss(logarithms: FloatArray) -> float:
            bank = PosteriorBank()
            bank.grow(len(signs), rows.shape[1], scaled(logarithms), self)
            bank.learn(rows, signs, self)
            return -float(bank.evidence.sum())

        return scaled(rule.search(loss))

    def _start(self, targets: Targets, n_terms: int, feature_mask: Any) -> None:
        """Set every model to its prior."""
        self.classes_ = targets.classes
        self.multilabel_ = targets.multilabel
        self.n_seen_ = 0
        self.n_features_in_ = n_terms
        n_models = 1 if self._is_binary() else len(self.classes_)
        self._bank = PosteriorBank()
        self._bank.grow(n_models, n_terms, feature_mask, self)

    def _update(self, rows: SparseRows, signs: FloatArray) -> Self:
        """Make the one update behind `fit` and `partial_fit`."""
        self._bank.learn(rows, signs, self)
        self.n_seen_ += rows.shape[0]
        return self

    def _all_classes(self, targets: Targets) -> Array:
        """Return the classes so far; an indicator may add columns."""
        self._check_form(targets)
        if self.multilabel_:
            return longer_names(self.classes_, targets.classes)
        if not np.array_equal(targets.classes, self.classes_):
            new = sorted(set(targets.classes.tolist()) - set(self.classes_.tolist()))
            raise ValueError(
                f"new classes {new}: name all in the first call, partial_fit(X, y, classes=...)"
            )
        return self.classes_

    def _fields(self, X: Any) -> FloatArray:
        """Means and variances, models x 2 x documents."""
        check_is_fitted(self)
        return self._bank.fields(check_terms(self, X, reset=False), self)

    def _labelled_fields(self, X: Any, y: Any) -> tuple[Array, Array, Array]:
        """Means, variances and labels (-1, +1), models x documents."""
        check_is_fitted(self)
        targets = check_targets(y, classes=self._known(y))
        self._all_classes(targets)
        if len(targets.classes) != len(self.classes_):
            raise ValueError(
                f"y has {len(targets.classes)} columns, the model {len(self.classes_)}"
            )
        rows = check_terms(self, X, n_documents=targets.n_documents, reset=False)
        means, variances = np.moveaxis(self._bank.fields(rows, self), 1, 0)
        return means, variances, _signs_of(targets, self.classes_)

    def _log_proba(self, fields: FloatArray) -> FloatArray:
        likelihood = likelihood_of(self.likelihood)
        means, variances = np.moveaxis(fields, 1, 0)
        if self._is_binary():
            return likelihood.log_evidence([[-1.0, 1.0]], means.T, variances.T)
        return self._normalised(likelihood.log_evidence(1.0, means.T, variances.T))

    def _linear_form(self, category: Any) -> tuple[Array, float]:
        index, sign = self._place(category)
        weights = sign * self._bank.means([index])[0]
        return weights[1:], weights[0]


def _signs_of(targets: Targets, classes: Array) -> Array:
    """+1 and -1, models x documents: of two classes the second is enough."""
    if not targets.multilabel:
        check_two_classes(classes)
    return signs_of(models_over(targets, classes))
