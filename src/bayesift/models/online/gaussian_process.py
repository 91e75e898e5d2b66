"""Gaussian processes learned one example at a time."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, FloatArray, SparseRows
from bayesift.errors import DataError
from bayesift.models.base import (
    check_documents,
    for_each_model,
    models_of,
    signs_of,
    terms_of,
    unchanged_if_refused,
)
from bayesift.models.online.covariances import LinearCovariance, Rows, covariance_of
from bayesift.models.online.likelihoods import Gain, likelihood_of
from bayesift.models.online.process import ProcessSettings, SparseProcess, restricted
from bayesift.models.online.streaming import ProbabilitiesMixin
from bayesift.state import expect_array, storable
from bayesift.validation import Targets, check_targets, check_terms


def _is_linear(self: OnlineGaussianProcess) -> bool:
    return isinstance(covariance_of(self.kernel), LinearCovariance)


@storable("online-gp")
class OnlineGaussianProcess(ProbabilitiesMixin, ClassifierMixin, BaseEstimator):
    """Gaussian process with a bounded number of basis vectors (Csató & Opper).

    It learns one example at a time.

        P(y | x) = E[p(y | h)],  h ~ N(k(x)' alpha, k0(x, x) + k(x)' C k(x))

    Every example moves the posterior to the normal distribution with the moments of the exact
    update. Its vector enters the basis when the basis does not span it; beyond `max_basis` the
    vector that matters least is deleted, keeping the marginals of all others. With an indicator
    matrix each category has a process of its own. With class labels there is one for two classes,
    and one per class against the rest for more, whose probabilities are normalised.

    Parameters
    ----------
    kernel : "linear", "polynomial" or "rbf" (the paper's GP-1, GP-2 and GP-R1), a covariance of
        `bayesift.models.online`, or a kernel of scikit-learn with fixed parameters
    likelihood : "probit", "logit" or "flip", or one of `bayesift.models.online`
    n_epochs : how often `fit` goes through the documents; `partial_fit` goes once
    max_basis : how many basis vectors each process may hold; "terms" for one more than it has
        terms, as many as a linear kernel can need
    tolerance : a vector enters the basis when the part of its variance that the basis does not span
        is above this share
    least_error : a vector enters only if, too, leaving it out would move the mean of its field by
        at least this: the paper's |epsilon|, epsilon = gamma d ln p / d mean. Its own gate is this
        with a `tolerance` near 0 (1e-6), which keeps covariances of the basis invertible
    drift_tolerance : how far rounding may move Q K from the identity before Q is computed anew
    shuffle : whether `fit` puts the documents into random order first, for files sorted by label;
        `partial_fit` never does
    random_state : seed of that order
    n_jobs : threads over categories; -1 for all cores

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    processes_ : the `SparseProcess` of each model
    terms_ : the columns each model uses; None for all
    evidence_ : of each model, the log evidence of all labels so far, each before it was learned
    n_basis_ : basis vectors of each model

    Notes
    -----
    The order of documents matters. Learning documents one by one, in batches or at once gives
    identical models, and `fit` in the given order with three passes is `partial_fit` three times
    (with a scikit-learn kernel up to rounding). A second pass counts every example again:
    probabilities get surer than the evidence warrants, decisions better. Columns that are new in
    `partial_fit` enter at the prior; nothing else moves.

    References
    ----------
    Csató & Opper (2001), "Sparse representation for Gaussian process models"; Chai, Ng & Chieu
    (2002), section 3.2.

    Examples
    --------
    >>> X = [[2, 1, 0], [1, 0, 0], [0, 1, 3], [0, 0, 1]]
    >>> model = OnlineGaussianProcess().fit(X, ["grain", "grain", "crude", "crude"])
    >>> model.predict([[1, 0, 0], [0, 0, 1]]).tolist()
    ['grain', 'crude']
    >>> model.partial_fit([[0, 0, 0, 1]], ["grain"]).predict([[0, 0, 0, 5]]).tolist()
    ['grain']
    """

    FITTED = ("classes_", "multilabel_", "n_features_in_", "processes_", "terms_")

    n_features_in_: int
    processes_: list[SparseProcess]
    terms_: list[Array] | None

    def __init__(
        self,
        *,
        kernel: Any = "linear",
        likelihood: Any = "probit",
        n_epochs: int = 3,
        max_basis: int | Literal["terms"] = 300,
        tolerance: float = 1e-3,
        drift_tolerance: float = 1e-8,
        least_error: float = 0.0,
        shuffle: bool = True,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.likelihood = likelihood
        self.n_epochs = n_epochs
        self.max_basis = max_basis
        self.tolerance = tolerance
        self.drift_tolerance = drift_tolerance
        self.least_error = least_error
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, feature_mask: Any = None) -> Self:
        """Learn from the prior on.

        `feature_mask` (models x terms) says which terms each model may use.
        """
        if not (isinstance(self.n_epochs, int) and self.n_epochs >= 1):
            raise ValueError(f"n_epochs must be a whole number from 1, got {self.n_epochs!r}")
        with unchanged_if_refused(self):
            return self.fit_checked(*check_documents(self, X, y), feature_mask)

    def fit_checked(
        self, rows: SparseRows, targets: Targets, weights: FloatArray, feature_mask: Any = None
    ) -> Self:
        """Learn from documents and targets that were checked; the weights do not count."""
        order = None
        if self.shuffle:
            order = np.random.default_rng(self.random_state).permutation(targets.n_documents)
        return self._learn(
            rows, targets, feature_mask, first=True, n_epochs=self.n_epochs, order=order
        )

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, feature_mask: Any = None
    ) -> Self:
        """Learn more documents, once.

        X may have columns, and an indicator categories, that earlier ones did not.

        `classes` are all labels that will come, at the first call; terms that a model has stay
        beside `feature_mask`.
        """
        first = not hasattr(self, "classes_")
        targets = check_targets(y, classes=classes if first else None)
        if not first:
            targets = self._over_known(targets, y)
        with unchanged_if_refused(self):
            rows = check_terms(
                self, X, n_documents=targets.n_documents, reset=first, may_grow=not first
            )
            return self._learn(rows, targets, feature_mask, first=first, n_epochs=1)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of P(c | d), documents x categories."""
        likelihood = likelihood_of(self.likelihood)
        means, variances = self.predict_fields(X)
        if self._is_binary():
            return likelihood.log_evidence([[-1.0, 1.0]], means, variances)
        return self._normalised(likelihood.log_evidence(1.0, means, variances))

    def predict_fields(self, X: Any) -> tuple[Array, Array]:
        """Means and variances of the fields h, documents x models."""
        check_is_fitted(self)
        rows = _rows(check_terms(self, X, reset=False))
        settings = self._settings()
        n_terms = self.n_features_in_

        def fields(c: int) -> tuple[Array, Array]:
            return self.processes_[c].fields(restricted(rows, self._kept(c)), settings, n_terms)

        means, variances = zip(
            *for_each_model(fields, len(self.processes_), self.n_jobs), strict=True
        )
        return np.column_stack(means), np.column_stack(variances)

    def log_evidence(self, X: Any, y: Any) -> FloatArray:
        """Return the log probability of the labels under the posterior as it is, per model."""
        labels = self._labels_of(y)
        means, variances = self.predict_fields(X)
        total: Array = (
            likelihood_of(self.likelihood).log_evidence(labels, means, variances).sum(axis=0)
        )
        return total

    def information_gain(self, X: Any, y: Any, *, kind: Gain = "exact") -> FloatArray:
        """How many bits each label would tell a model, documents x models.

        See `ProbitNoise.information_gain`.
        """
        labels = self._labels_of(y)
        return likelihood_of(self.likelihood).information_gain(
            labels, *self.predict_fields(X), kind=kind
        )

    def expected_information_gain(self, X: Any, *, kind: Gain = "exact") -> FloatArray:
        """Return the information gain before labels are known, documents x models."""
        return likelihood_of(self.likelihood).expected_information_gain(
            *self.predict_fields(X), kind=kind
        )

    @available_if(_is_linear)
    def contributions(
        self, X: Any, category: Any, *, against: Any = None
    ) -> tuple[SparseRows, Array]:
        """Return what each term adds to the mean field of a category, and the bias.

        Linear kernels only.
        """
        return super().contributions(X, category, against=against)

    @property
    def evidence_(self) -> FloatArray:
        """Of each model, the log evidence of all labels so far, each before it was learned."""
        check_is_fitted(self)
        return np.array([process.log_evidence for process in self.processes_])

    @property
    def n_basis_(self) -> Array:
        """Basis vectors of each model."""
        check_is_fitted(self)
        return np.array([process.size for process in self.processes_])

    def _post_load(self) -> None:
        settings = self._settings()
        n_models = len(self.processes_)
        self._check_classes(n_models)
        if not 0 <= self.n_features_in_ < 2**31:
            raise DataError(f"{self.n_features_in_!r:.40} is not a number of terms")
        for process in self.processes_:
            process.check(settings, self.n_features_in_)
        if self.terms_ is None:
            return
        if len(self.terms_) != n_models:
            raise DataError("its terms are not those of its categories")
        for columns in self.terms_:
            expect_array(columns, "terms_", np.int32, (None,))
            if np.any((columns < 0) | (columns >= self.n_features_in_)):
                raise DataError("its terms are not among the columns")

    def _learn(
        self,
        rows: SparseRows,
        targets: Targets,
        feature_mask: Any,
        *,
        first: bool,
        n_epochs: int,
        order: Array | None = None,
    ) -> Self:
        settings = self._settings()
        members = models_of(targets)
        n_models = members.shape[0]
        n_terms = rows.shape[1]
        self.n_features_in_ = n_terms
        self.terms_ = terms_of(
            feature_mask, (n_models, n_terms), None if first else self.terms_
        )
        earlier = [] if first else self.processes_
        self.processes_ = earlier + [SparseProcess.empty()] * (n_models - len(earlier))
        self.classes_ = targets.classes
        self.multilabel_ = targets.multilabel
        labels = signs_of(members)
        if order is not None:
            rows = rows[order]
            labels = labels[:, order]

        def learn(c: int) -> SparseProcess:
            documents = restricted(_rows(rows), self._kept(c))
            budget = self._budget(c)
            process = self.processes_[c]
            return process.learn(
                documents,
                labels[c],
                settings,
                budget=budget,
                n_terms=n_terms,
                n_epochs=n_epochs,
            )

        self.processes_ = for_each_model(learn, n_models, self.n_jobs)
        return self

    def _settings(self) -> ProcessSettings:
        if not (isinstance(self.tolerance, int | float) and 0 <= self.tolerance < 1):
            raise ValueError(f"tolerance must lie between 0 and 1, got {self.tolerance!r}")
        for name in ("drift_tolerance", "least_error"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and value >= 0):
                raise ValueError(f"{name} must be a number from 0, got {value!r}")
        if self.max_basis != "terms" and not (
            isinstance(self.max_basis, int) and self.max_basis >= 1
        ):
            raise ValueError(
                f"max_basis must be 'terms' or a whole number from 1, got {self.max_basis!r}"
            )
        covariance = covariance_of(self.kernel)
        likelihood = likelihood_of(self.likelihood)
        gates = float(self.tolerance), float(self.drift_tolerance), float(self.least_error)
        return ProcessSettings(covariance, likelihood, *gates)

    def _budget(self, model: int) -> int:
        if self.max_basis != "terms":
            return self.max_basis
        return 1 + (self.n_features_in_ if self.terms_ is None else len(self.terms_[model]))

    def _kept(self, model: int) -> Array | None:
        """Return a mask of the columns a model uses."""
        if self.terms_ is None:
            return None
        kept = np.zeros(self.n_features_in_, dtype=np.bool_)
        kept[self.terms_[model]] = True
        return kept

    def _over_known(self, targets: Targets, y: Any) -> Targets:
        """Targets over the classes that are known, or more columns of an indicator.

        Refuses other labels.
        """
        self._check_form(targets)
        known = targets if targets.multilabel else check_targets(y, classes=self.classes_)
        if len(known.classes) < len(self.classes_):
            raise ValueError(
                f"y has {len(known.classes)} columns, the model {len(self.classes_)}"
            )
        if not targets.multilabel and len(known.classes) > len(self.classes_):
            new = sorted(set(known.classes.tolist()) - set(self.classes_.tolist()))
            raise ValueError(
                f"new classes {new}: name all in the first call, partial_fit(X, y, classes=...)"
            )
        return known

    def _labels_of(self, y: Any) -> Array:
        """Labels -1 and +1, documents x models."""
        check_is_fitted(self)
        targets = self._over_known(check_targets(y), y)
        if len(targets.classes) != len(self.classes_):
            raise ValueError(
                f"y has {len(targets.classes)} columns, the model {len(self.classes_)}"
            )
        return signs_of(models_of(targets)).T

    def _linear_form(self, category: Any) -> tuple[Array, float]:
        """Weights of the terms and bias of the mean field."""
        index, sign = self._place(category)
        process = self.processes_[index]
        covariance = covariance_of(self.kernel)
        assert isinstance(covariance, LinearCovariance)
        indptr, indices, data = process.rows
        basis = sparse.csr_array(
            (data, indices, indptr), shape=(process.size, self.n_features_in_)
        )
        weights: FloatArray = sign * (process.alpha @ basis)
        return weights, float(sign * covariance.constant * process.alpha.sum())


def _rows(X: SparseRows) -> Rows:
    return X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data
