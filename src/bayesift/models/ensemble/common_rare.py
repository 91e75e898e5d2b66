"""Two classifiers, one for common categories and one for rare ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, BoolArray, FloatArray, IntArray
from bayesift.errors import DataError
from bayesift.folds import split_by_groups
from bayesift.state import StateMixin, check_classes, expect_array, storable
from bayesift.validation import TermTagsMixin, check_groups, check_targets, check_terms

Criterion = Literal["macro", "micro"]

_PARTS = ("common", "rare")


def _have_probabilities(self: CommonRareClassifier) -> bool:
    return all(hasattr(part, "predict_proba") for part in (self.common, self.rare))


@storable("common-rare")
class CommonRareClassifier(
    TermTagsMixin, StateMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator
):
    """One classifier for categories with many documents, another for those with few.

    Chai, Ng & Chieu (2002) conclude that Bayesian classifiers do better on common categories and
    margin classifiers on rare ones. Where common begins is chosen on the training documents: both
    classifiers decide documents that they were not trained on, fold by fold, and the boundary is
    the one with the highest F1. For indicator matrices only.

    Parameters
    ----------
    common, rare : any two classifiers that take indicator matrices, such as an
        `OnlineGaussianProcess` and a `KernelSVM`, alone or within a `ThresholdedClassifier`
    boundary : the number of documents from which a category is common; None chooses it
    criterion : what the boundary is chosen by, "macro" or "micro" F1
    cv : number of folds
    random_state : seed of the folds

    Attributes
    ----------
    boundary_ : the number of documents from which a category is common
    boundaries_, criteria_ : the boundaries that were tried and their F1; None when the boundary was
        given
    is_common_ : of each category
    common_, rare_ : the fitted classifiers, each of its own categories; None when it has none
    classes_ : the numbers of the categories

    Notes
    -----
    It can be stored when both parts can (`bayesift.models.STORABLE`): scikit-learn's and
    `KernelSVM` cannot.

    Examples
    --------
    >>> from bayesift.models.naive_bayes import NaiveBayesClassifier
    >>> from bayesift.models.online import OnlineGaussianProcess
    >>> X, Y = [[2, 1, 0], [1, 0, 0], [0, 1, 3], [0, 0, 1]], [[1, 0], [1, 0], [1, 0], [0, 1]]
    >>> common, rare = OnlineGaussianProcess(), NaiveBayesClassifier()
    >>> model = CommonRareClassifier(common, rare, boundary=2).fit(X, Y)
    >>> model.is_common_.tolist(), model.predict([[1, 0, 0]]).tolist()
    ([True, False], [[1, 0]])
    """

    FITTED = ("classes_", "boundary_", "is_common_", "n_features_in_", "common_", "rare_")

    classes_: Array
    boundary_: int
    n_features_in_: int
    boundaries_: Array | None
    criteria_: FloatArray | None
    is_common_: BoolArray

    def __init__(
        self,
        common: Any,
        rare: Any,
        *,
        boundary: int | None = None,
        criterion: Criterion = "macro",
        cv: int = 5,
        random_state: int | None = 0,
    ) -> None:
        self.common = common
        self.rare = rare
        self.boundary = boundary
        self.criterion = criterion
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, feature_mask: Any = None, groups: Any = None) -> Self:
        """Choose the boundary and fit both parts to their categories; y is an indicator matrix.

        `feature_mask` (categories x terms) limits the terms of the common part; a function of X and
        y that gives it is called again in every fold. Documents of one of the `groups` are held out
        together.
        """
        if self.criterion not in ("macro", "micro"):
            raise ValueError(f"criterion must be 'macro' or 'micro', got {self.criterion!r}")
        targets = check_targets(y)
        if not targets.multilabel:
            raise ValueError(
                "a CommonRareClassifier takes an indicator matrix, not class labels"
            )
        rows = check_terms(self, X, n_documents=targets.n_documents)
        Y = sparse.csr_array(targets.members.T).toarray().astype(np.int64)
        sizes = Y.sum(axis=0)
        if self.boundary is None:
            units = check_groups(groups, targets.n_documents)
            boundaries, criteria = self._try_boundaries(rows, Y, feature_mask, units)
            self.boundaries_, self.criteria_ = boundaries, criteria
            self.boundary_ = int(boundaries[np.argmax(criteria)])
        else:
            self.boundaries_ = self.criteria_ = None
            self.boundary_ = int(self.boundary)
        self.classes_, self.is_common_ = targets.classes, sizes >= self.boundary_
        self.common_ = self._fitted(
            "common", rows, Y, np.flatnonzero(self.is_common_), feature_mask
        )
        self.rare_ = self._fitted("rare", rows, Y, np.flatnonzero(~self.is_common_), None)
        return self

    def predict(self, X: Any) -> IntArray:
        """Predict an indicator matrix, each part deciding on its categories."""
        return self._joined(X, lambda part, rows: part.predict(rows)).astype(np.int64)

    def decision_function(self, X: Any) -> FloatArray:
        """Return scores, documents x categories: margins, or probabilities minus 1/2."""
        return self._joined(X, _margins)

    @available_if(_have_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities, documents x categories, where both parts have them."""
        return self._joined(X, lambda part, rows: part.predict_proba(rows))

    @available_if(_have_probabilities)
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            logarithms: FloatArray = np.log(self.predict_proba(X))
        return logarithms

    def _post_load(self) -> None:
        n_categories = len(expect_array(self.is_common_, "is_common_", np.bool_, (None,)))
        check_classes(self.classes_, n_categories, multilabel=True)
        self.boundaries_ = self.criteria_ = None
        for part, size in (
            (self.common_, self.is_common_.sum()),
            (self.rare_, (~self.is_common_).sum()),
        ):
            known = 0 if part is None else len(part.classes_)
            if known != size or (known and not part.multilabel_):
                raise DataError("the parts do not fit the categories")
            if known and part.n_features_in_ != self.n_features_in_:
                raise DataError("the parts do not fit the terms")

    def _fitted(self, name: str, X: Any, Y: Array, categories: Array, feature_mask: Any) -> Any:
        """Fit a part to some of the categories; return None without categories."""
        if len(categories) == 0:
            return None
        chosen: Any = Y[:, categories]
        # A dense single column would count as class labels.
        target = sparse.csr_array(chosen) if len(categories) == 1 else chosen
        if feature_mask is None:
            return clone(getattr(self, name)).fit(X, target)
        terms = sparse.csr_array(
            feature_mask(X, Y) if callable(feature_mask) else feature_mask
        )[categories]
        return clone(getattr(self, name)).fit(X, target, feature_mask=terms)

    def _splits(
        self, n_documents: int, groups: IntArray | None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        from sklearn.model_selection import KFold

        splitter = KFold(self.cv, shuffle=True, random_state=self.random_state)
        yield from split_by_groups(splitter, n_documents, groups)

    def _try_boundaries(
        self, X: Any, Y: Array, feature_mask: Any, groups: IntArray | None
    ) -> tuple[Array, Array]:
        """Return the F1 of each boundary between categories of different sizes, held out."""
        everything = np.arange(Y.shape[1])
        decided = {name: np.zeros(Y.shape, dtype=bool) for name in _PARTS}
        for train, held_out in self._splits(len(Y), groups):
            for name, terms in (("common", feature_mask), ("rare", None)):
                part = self._fitted(name, X[train], Y[train], everything, terms)
                decided[name][held_out] = np.asarray(part.predict(X[held_out])) != 0
        sizes = Y.sum(axis=0)
        boundaries = np.append(np.unique(sizes), sizes.max() + 1)
        counted = [_counts(Y, decided[name]) for name in _PARTS]
        f1 = [
            _f1(np.where(sizes >= boundary, *counted), self.criterion)
            for boundary in boundaries
        ]
        return boundaries, np.array(f1)

    def _joined(self, X: Any, evaluate: Any) -> FloatArray:
        """Join the outputs of both parts, each in the columns of its categories."""
        check_is_fitted(self)
        rows = check_terms(self, X, reset=False)
        answers = np.empty((rows.shape[0], len(self.classes_)))
        for part, categories in (
            (self.common_, self.is_common_),
            (self.rare_, ~self.is_common_),
        ):
            if part is not None:
                answers[:, categories] = np.asarray(evaluate(part, rows)).reshape(
                    rows.shape[0], -1
                )
        return answers


def _margins(part: Any, rows: Any) -> Any:
    if hasattr(part, "decision_function"):
        return part.decision_function(rows)
    return part.predict_proba(rows) - 0.5


def _counts(Y: Array, decided: Array) -> Array:
    """Return true positives, and predicted plus actual positives, of each category."""
    return np.stack([(Y * decided).sum(axis=0), Y.sum(axis=0) + decided.sum(axis=0)])


def _f1(counts: FloatArray, criterion: Criterion) -> float:
    right, together = counts.sum(axis=1, keepdims=True) if criterion == "micro" else counts
    return float(np.mean(2.0 * right / np.maximum(together, 1)))
