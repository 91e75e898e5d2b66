"""Estimators that know one category at a time, put side by side for an indicator matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

Array = np.ndarray[Any, Any]


class OneVsRest:
    """One estimator a category; a category without documents to learn from is never assigned.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> model = one_vs_rest(LinearSVC, True).fit([[1.0, 0.0], [0.0, 1.0]], np.array([[1, 0], [0, 0]]))
    >>> model.decision_function([[1.0, 0.0]])[:, 1].tolist()
    [-30.0]
    """

    _NEVER = -30.0  # log odds of what no training document had

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        if hasattr(make(), "predict_proba"):
            self.predict_proba = self._predict_proba

    def fit(self, X: Any, Y: Array) -> OneVsRest:
        """Fit each category."""
        rows = sparse.csr_matrix(X)  # some estimators know only the older class
        self.models_ = [self._make().fit(rows, column) if column.any() else None for column in np.asarray(Y).T]
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores."""
        return self._columns(X, lambda model, rows: _log_odds(model, rows), self._NEVER)

    def _predict_proba(self, X: Any) -> Array:
        return self._columns(X, lambda model, rows: model.predict_proba(rows)[:, 1], 0.0)

    def _columns(self, X: Any, score: Callable[[Any, Any], Array], never: float) -> Array:
        rows = sparse.csr_matrix(X)
        empty = np.full(rows.shape[0], never)
        return np.column_stack([empty if model is None else score(model, rows) for model in self.models_])


class OldMatrices:
    """An estimator that is given scipy's older matrices, which some know only."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Array) -> OldMatrices:
        """Fit."""
        self.estimator.fit(sparse.csr_matrix(X), y)
        return self

    def __getattr__(self, name: str) -> Any:
        if name not in ("predict_proba", "decision_function"):
            raise AttributeError(name)
        method = getattr(self.estimator, name)
        return lambda X: method(sparse.csr_matrix(X))


def one_vs_rest(make: Callable[[], Any], multilabel: bool) -> Any:
    """An estimator of scikit-learn for class labels, or one a category for an indicator matrix."""
    return OneVsRest(make) if multilabel else OldMatrices(make())


def _log_odds(model: Any, rows: Any) -> Array:
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(rows))
    logarithms = model.predict_log_proba(rows)
    return np.asarray(logarithms[:, 1] - logarithms[:, 0])
