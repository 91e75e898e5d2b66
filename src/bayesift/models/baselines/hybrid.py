"""Naive Bayes regularised by a support vector machine, and any other two linear models mixed."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import log_expit, xlogy
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows
from bayesift.errors import DataError
from bayesift.folds import split_by_groups
from bayesift.models.base import LinearScoresMixin, check_documents, models_of, scores_of
from bayesift.models.baselines.svm import LinearSVM
from bayesift.models.naive_bayes import NaiveBayesClassifier
from bayesift.state import storable
from bayesift.validation import Targets, TermTagsMixin

Planes = tuple[Array, Array]

_SHARES_TRIED = np.linspace(0.0, 1.0, 21)
_SHARE_PRECISION = 1e-4  # of a share chosen by likelihood
_LINE_COST = 1e4  # C of the line from scores to log odds: finite where documents are separable


@storable("hybrid")
class HybridClassifier(TermTagsMixin, LinearScoresMixin, ClassifierMixin, BaseEstimator):
    """A mixture of two linear models.

    Each keeps its heaviest features and is scaled to weights that sum to 1.

        w = (1 - alpha) w_first / |w_first|_1 + alpha w_second / |w_second|_1

    By default the first is naive Bayes (features that are common in a category) and the second a
    support vector machine (features that tell it from others).

    Parameters
    ----------
    alpha : the share of the second model; None chooses it among 0, 0.05, ..., 1 on documents held
        out, by accuracy for class labels and by mean average precision for an indicator matrix;
        ties go to the middle one. "likelihood" chooses any share from 0 to 1, by the likelihood of
        documents held out: P = 1/(1 + exp(-a s - b)) of the mixed score s, with the best a >= 0 and
        b of each category
    keep : the share of each model's features that stays, those with the largest weights
    bias : which intercepts are mixed in: none (False; the paper ignores them), both (True), that of
        the "first" (the prior of naive Bayes) or of the "second" model (the bias of the support
        vector machine)
    loss : of the default second model: "squared_hinge", or "hinge", the paper's C sum xi
    validation : number of folds to choose alpha on, or the share of documents to hold out once
    C, dual, tol : of the default second model, a `LinearSVM`
    first, second : other linear classifiers, with `coef_` and `intercept_` (or the `log_odds_coef_`
        of `NaiveBayesClassifier`)
    random_state : seed of the splits

    Attributes
    ----------
    alpha_ : the share of the second model
    alphas_, validation_scores_ : what was tried and how good it was, if alpha was chosen

    References
    ----------
    Nandanwar & Murty (2013). Halving comes before scaling here; naive Bayes adds one to every
    count.

    Examples
    --------
    >>> model = HybridClassifier(alpha=0.5).fit([[1, 0], [0, 1], [0, 2]],
    ...     ["grain", "crude", "crude"])
    >>> model.predict([[1, 0], [0, 1]]).tolist()
    ['grain', 'crude']
    """

    POSITIVE_ONLY = True
    POOR_SCORE = True
    FITTED = (*LinearScoresMixin.FITTED, "alpha_")

    alpha_: float
    alphas_: Array
    validation_scores_: Array

    def __init__(
        self,
        *,
        alpha: float | str | None = None,
        keep: float = 0.5,
        bias: bool | str = False,
        loss: Literal["squared_hinge", "hinge"] = "squared_hinge",
        validation: float = 5,
        C: float = 1.0,
        dual: bool = True,
        tol: float = 1e-4,
        first: Any = None,
        second: Any = None,
        random_state: int | None = 0,
    ) -> None:
        self.alpha = alpha
        self.keep = keep
        self.bias = bias
        self.loss = loss
        self.validation = validation
        self.C = C
        self.dual = dual
        self.tol = tol
        self.first = first
        self.second = second
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit both models and mix them.

        Documents of one of the `groups` are held out together.
        """
        self._check_settings()
        return self.fit_checked(
            *check_documents(self, X, y, sample_weight, groups, non_negative=True)
        )

    def fit_checked(self, rows: SparseRows, targets: Targets, weights: FloatArray) -> Self:
        """Fit and mix both models for documents, targets and weights that were checked."""
        self._check_settings()
        Y = sparse.csr_array(models_of(targets).T)
        if self.alpha is None:
            truth, found = self._held_out(rows, Y, weights, targets.groups)
            self.alphas_ = _SHARES_TRIED
            mixed = (_mixed(found[0], found[1], alpha) for alpha in _SHARES_TRIED)
            self.validation_scores_ = np.array(
                [_quality(truth, scores, targets.multilabel) for scores in mixed]
            )
            self.alpha_ = _middle_of_best(self.alphas_, self.validation_scores_)
        elif isinstance(self.alpha, str):
            self.alphas_, self.validation_scores_ = _likeliest(
                *self._held_out(rows, Y, weights, targets.groups)
            )
            self.alpha_ = float(self.alphas_[np.argmax(self.validation_scores_)])
        else:
            self.alpha_ = float(self.alpha)
        first, second = self._parts(rows, Y, weights)
        coefficients = _mixed(first[0], second[0], self.alpha_)
        return self._set_hyperplanes(
            targets, coefficients, _mixed(first[1], second[1], self.alpha_)
        )

    def _check_settings(self) -> None:
        if isinstance(self.alpha, str):
            if self.alpha != "likelihood":
                raise ValueError(
                    f"alpha must be a number, None or 'likelihood', got {self.alpha!r}"
                )
        elif self.alpha is not None and not 0 <= self.alpha <= 1:
            raise ValueError(f"alpha must lie between 0 and 1, got {self.alpha!r}")
        if self.bias not in (False, True, "first", "second"):
            raise ValueError(
                f"bias must be False, True, 'first' or 'second', got {self.bias!r}"
            )
        if not 0 < self.keep <= 1:
            raise ValueError(f"keep must be above 0 and at most 1, got {self.keep!r}")

    def _parts(self, rows: SparseRows, Y: SparseRows, weights: FloatArray) -> list[Planes]:
        """Return the hyperplanes of both models, cut down and scaled."""
        first = NaiveBayesClassifier() if self.first is None else clone(self.first)
        machine = LinearSVM(C=self.C, loss=self.loss, dual=self.dual, tol=self.tol)
        second = machine if self.second is None else clone(self.second)
        planes = [
            (name, _fitted(model, rows, Y, weights))
            for name, model in (("first", first), ("second", second))
        ]
        return [
            _scaled(*parts, keep=self.keep, bias=self.bias in (True, name))
            for name, parts in planes
        ]

    def _held_out(
        self, rows: SparseRows, Y: SparseRows, weights: FloatArray, groups: IntArray | None
    ) -> tuple[Array, Array]:
        """Labels of documents held out, and their scores by both models."""
        scores = np.zeros((2, *Y.shape))
        held_out = np.zeros(Y.shape[0], dtype=bool)
        for train, test in self._splits(Y.shape[0], groups):
            for part, planes in enumerate(self._parts(rows[train], Y[train], weights[train])):
                scores[part, test] = scores_of(rows[test], *planes)
            held_out[test] = True
        return Y.toarray()[held_out] > 0, scores[:, held_out]

    def _splits(
        self, n_documents: int, groups: IntArray | None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        from sklearn.model_selection import KFold, ShuffleSplit

        if isinstance(self.validation, Integral) and self.validation >= 2:
            n_units = n_documents if groups is None else len(np.unique(groups))
            folds = min(int(self.validation), n_units)
            splitter: Any = KFold(folds, shuffle=True, random_state=self.random_state)
        elif 0 < self.validation < 1:
            splitter = ShuffleSplit(
                1, test_size=float(self.validation), random_state=self.random_state
            )
        else:
            raise ValueError(
                f"validation must be a number of folds or a share below 1, got {self.validation!r}"
            )
        yield from split_by_groups(splitter, n_documents, groups)

    def _post_load(self) -> None:
        super()._post_load()
        self._check_settings()
        if not 0 <= self.alpha_ <= 1:
            raise DataError(f"{self.alpha_!r:.40} is not the share of a model")


def hyperplanes_of(model: Any) -> Planes:
    """Return the weights and intercepts of a fitted linear model, hyperplanes x terms."""
    if hasattr(model, "log_odds_coef_"):
        return model.log_odds_coef_, model.log_odds_intercept_
    if not hasattr(model, "coef_"):
        raise TypeError(f"{type(model).__name__} is not a linear model: it has no coef_")
    weights = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    return weights, np.asarray(model.intercept_)


def heaviest(weights: FloatArray, keep: float) -> Array:
    """Weights without the lightest ones of each row; a share `keep` of the columns stays."""
    n_dropped = weights.shape[1] - max(1, round(keep * weights.shape[1]))
    if n_dropped <= 0:
        return weights
    lightest = np.argsort(np.abs(weights), axis=1, kind="stable")[:, :n_dropped]
    kept = weights.copy()
    np.put_along_axis(kept, lightest, 0.0, axis=1)
    return kept


def _fitted(model: Any, rows: SparseRows, Y: SparseRows, weights: FloatArray) -> Planes:
    """Return the hyperplanes of a model, fitted to all categories at once where it can."""
    if hasattr(model, "fit_checked"):
        return hyperplanes_of(model.fit_checked(rows, Targets.of_indicator(Y), weights))
    weighted = {"sample_weight": weights} if has_fit_parameter(model, "sample_weight") else {}
    if get_tags(model).classifier_tags.multi_label:
        return hyperplanes_of(model.fit(rows, Y, **weighted))
    planes = [
        hyperplanes_of(clone(model).fit(rows, column, **weighted)) for column in Y.toarray().T
    ]
    return np.vstack([weights for weights, _ in planes]), np.concatenate(
        [intercepts for _, intercepts in planes]
    )


def _scaled(weights: FloatArray, intercepts: FloatArray, *, keep: float, bias: bool) -> Planes:
    kept = heaviest(np.asarray(weights), keep)
    sums = np.abs(kept).sum(axis=1)
    sums[sums == 0] = 1.0
    return kept / sums[:, np.newaxis], intercepts / sums if bias else np.zeros(len(sums))


def _mixed(first: Array, second: Array, alpha: float) -> Array:
    return (1.0 - alpha) * first + alpha * second


def _quality(truth: Array, scores: FloatArray, multilabel: bool) -> float:
    from sklearn.metrics import average_precision_score

    if multilabel:
        present = np.flatnonzero(truth.any(axis=0))
        return float(
            np.mean([average_precision_score(truth[:, c], scores[:, c]) for c in present])
        )
    if truth.shape[1] == 1:
        return float(np.mean((scores[:, 0] > 0) == truth[:, 0]))
    return float(np.mean(truth[np.arange(len(truth)), np.argmax(scores, axis=1)]))


def _likeliest(truth: Array, scores: FloatArray) -> tuple[Array, Array]:
    """Return the shares that a search tried, ascending, and the mean log-likelihood at each."""
    tried: dict[float, float] = {}

    def loss(alpha: float) -> float:
        tried[float(alpha)] = _log_likelihood(truth, _mixed(scores[0], scores[1], alpha))
        return -tried[float(alpha)]

    for end in (0.0, 1.0):
        loss(end)
    minimize_scalar(
        loss, bounds=(0.0, 1.0), method="bounded", options={"xatol": _SHARE_PRECISION}
    )
    alphas = np.array(sorted(tried))
    return alphas, np.array([tried[alpha] for alpha in alphas.tolist()])


def _log_likelihood(truth: Array, scores: FloatArray) -> float:
    """Return the mean log-likelihood of labels by the best lines from scores to log odds."""
    from sklearn.linear_model import LogisticRegression

    total = 0.0
    for labels, column in zip(truth.T, scores.T, strict=True):
        share = float(labels.mean())
        width = float(column.std())
        base = float(np.sum(xlogy(labels, share) + xlogy(~labels, 1.0 - share)))
        if 0.0 < share < 1.0 and width > 0.0:
            line = LogisticRegression(C=_LINE_COST).fit(column[:, np.newaxis] / width, labels)
            odds = line.coef_[0, 0] * column / width + line.intercept_[0]
            fitted = float(np.sum(log_expit(np.where(labels, odds, -odds))))
            base = max(base, fitted) if line.coef_[0, 0] > 0 else base
        total += base
    return total / truth.size


def _middle_of_best(alphas: Array, scores: FloatArray) -> float:
    best = np.flatnonzero(scores >= scores.max() - 1e-12)
    return float(alphas[best[len(best) // 2]])
