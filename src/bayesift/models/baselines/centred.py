"""Logistic regression with a prior that is centred on naive Bayes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import log_expit
from sklearn.base import BaseEstimator, ClassifierMixin

from bayesift.arrays import FloatArray, IntArray, SparseRows
from bayesift.errors import DataError
from bayesift.folds import deal_folds
from bayesift.models.base import (
    LogOddsMixin,
    check_documents,
    models_of,
    signs_of,
    unchanged_if_refused,
)
from bayesift.models.linear import GaussianPrior, SparseBayesClassifier
from bayesift.models.naive_bayes import Laplace, NaiveBayesClassifier, Smoothing
from bayesift.state import storable
from bayesift.validation import Targets, TermTagsMixin

_SHARES_TRIED = (1.0, 0.5, 0.25, 0.125)  # 0 is logistic regression without naive Bayes
_MAX_DOCUMENTS = 3_000  # that the share is chosen on: it is one number
_FOLDS = 3  # one of which is held out
_UNTRIED = 0.5  # the share when there are too few documents to hold any out
_ADD_ONE = Laplace()


@storable("naive-bayes-logistic")
class NaiveBayesLogisticClassifier(TermTagsMixin, LogOddsMixin, ClassifierMixin, BaseEstimator):
    """Logistic regression whose weights start from the log odds of naive Bayes.

        beta, b = argmax  sum_i w_i log psi(y_i (x_i beta + b)) - |beta - a m|^2 / (2 v)

    m are the log odds of the words under naive Bayes, v has the highest evidence. Naive Bayes
    takes words for independent, so that its log odds are far too large together; the share a of
    them is chosen on documents held out. The evidence cannot choose it, because m was estimated
    from the same labels.

    Parameters
    ----------
    share : a; None chooses it among 1, 1/2, 1/4 and 1/8 by the log loss of a third of the
        documents (of 3,000 at most), or takes 1/2 where there are too few of them
    smoothing : of naive Bayes
    tol, n_jobs : as of `SparseBayesClassifier`
    random_state : seed of the documents that are held out

    Attributes
    ----------
    share_ : the share of the log odds of naive Bayes
    validation_losses_ : the log loss of each share that was tried; empty if it was given
    prior_scale_ : the square root of v, one per model

    References
    ----------
    Nandanwar & Murty (2013) mix naive Bayes with a support vector machine by a number on a grid;
    here a prior does it.

    Examples
    --------
    >>> X, y = [[2, 0, 1], [1, 0, 0], [0, 1, 1], [0, 2, 0]], ["grain", "grain", "crude", "crude"]
    >>> NaiveBayesLogisticClassifier(share=0.5).fit(X, y).predict([[1, 0, 0], [0, 1, 0]]).tolist()
    ['grain', 'crude']
    """

    POSITIVE_ONLY = True
    FITTED = (*LogOddsMixin.FITTED, "share_", "prior_scale_")

    share_: float
    prior_scale_: FloatArray
    validation_losses_: dict[float, float]

    def __init__(
        self,
        *,
        share: float | None = None,
        smoothing: Smoothing = _ADD_ONE,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.share = share
        self.smoothing = smoothing
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit naive Bayes, then the weights.

        Documents of one of the `groups` are held out together.
        """
        with unchanged_if_refused(self):
            return self.fit_checked(
                *check_documents(self, X, y, sample_weight, groups, non_negative=True)
            )

    def fit_checked(self, rows: SparseRows, targets: Targets, weights: FloatArray) -> Self:
        """Fit to documents, targets and weights that were checked."""
        self._check_share()
        members = sparse.csr_array(models_of(targets))
        self.validation_losses_ = {}
        if self.share is None:
            losses = self._losses(rows, members, weights, targets.groups)
            self.validation_losses_ = losses
            self.share_ = min(losses, key=losses.__getitem__, default=_UNTRIED)
        else:
            self.share_ = float(self.share)
        fitted = self._model(rows, members, weights, self.share_)
        self.prior_scale_ = fitted.prior_scale_
        return self._set_hyperplanes(targets, fitted.coef_, fitted.intercept_)

    def _model(
        self, rows: SparseRows, members: SparseRows, weights: FloatArray, share: float
    ) -> SparseBayesClassifier:
        """Fit the logistic regression whose prior has a share of the log odds of naive Bayes."""
        targets = Targets.of_indicator(sparse.csr_array(members.T))
        bayes = NaiveBayesClassifier(smoothing=self.smoothing)
        bayes.fit_checked(rows, targets, weights)
        return SparseBayesClassifier(
            prior=GaussianPrior(mode=share * bayes.log_odds_coef_),
            prior_scale="evidence",
            tol=self.tol,
            n_jobs=self.n_jobs,
        ).fit_checked(rows, targets, weights)

    def _losses(
        self,
        rows: SparseRows,
        members: SparseRows,
        weights: FloatArray,
        groups: IntArray | None,
    ) -> dict[float, float]:
        """Return the log loss of each share on documents held out; empty without such documents."""
        train, held_out = self._split(members, groups)
        if not weights[held_out].any() or not weights[train].any():
            return {}
        losses: dict[float, float] = {}
        for share in _SHARES_TRIED:
            model = self._model(rows[train], members[:, train], weights[train], share)
            scores = model.scores_checked(rows[held_out])
            losses[share] = _log_loss(members[:, held_out], scores, weights[held_out])
        return losses

    def _split(self, members: SparseRows, groups: IntArray | None) -> tuple[IntArray, IntArray]:
        """Return documents to learn from and documents to judge the shares by."""
        random = np.random.default_rng(self.random_state)
        chosen = random.permutation(members.shape[1])[:_MAX_DOCUMENTS]
        folds = deal_folds(
            sparse.csr_array(members[:, chosen].T),
            n_folds=_FOLDS,
            random_state=self.random_state,
            groups=None if groups is None else groups[chosen],
        )
        return chosen[folds != 0], chosen[folds == 0]

    def _check_share(self) -> None:
        if self.share is not None and not 0 <= self.share <= 1:
            raise ValueError(f"share must be None or lie between 0 and 1, got {self.share!r}")

    def _post_load(self) -> None:
        super()._post_load()
        self._check_share()
        if not 0 <= self.share_ <= 1:
            raise DataError(f"{self.share_!r:.40} is not a share of naive Bayes")


def _log_loss(members: SparseRows, scores: FloatArray, weights: FloatArray) -> float:
    """Return the mean log loss of the models on documents."""
    fits = log_expit(signs_of(members).T * scores)
    return float(-np.sum(weights[:, np.newaxis] * fits) / np.sum(weights))
