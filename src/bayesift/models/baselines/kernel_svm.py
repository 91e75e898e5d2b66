"""Support vector machines with the kernels of the online models, by scikit-learn."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array
from bayesift.models.base import for_each_model, models_of, terms_of
from bayesift.models.baselines.linear_svm import check_cost, scaled_cost, squared_lengths
from bayesift.validation import TermTagsMixin, check_targets, check_terms

_PARAMETERS: dict[str, dict[str, Any]] = {
    "polynomial": {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.5},
}
_CACHE = 500  # megabytes of kernel values
_LARGEST_SHARED = 12_000  # documents whose kernel values are computed once for all models: 1.2 GB
_BLOCK = 1_000  # documents whose kernel values are computed together


class KernelSVM(TermTagsMixin, ClassifierMixin, BaseEstimator):
    """Support vector machine with a kernel and hinge loss, by scikit-learn's `SVC`; scores are margins.

    With an indicator matrix each category has its own machine. With class labels there is one for two classes, and one
    per class against the rest for more. `LinearSVM` has the linear kernel.

    Parameters
    ----------
    kernel : "polynomial", (x.x' + 1)^2, or "rbf", exp(-|x - x'|^2 / 2): SVM-2 and SVM-R1 of Chai, Ng & Chieu (2002)
    C : cost of margins below 1; "scale" is SVMlight's default, one over the mean squared distance of documents from the
        origin in the kernel's space
    n_jobs : threads over categories; -1 for all cores

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    machines_ : the `SVC` of each model; None for a category with no document or all of them
    terms_ : the columns each model uses; None for all

    Examples
    --------
    >>> X = [[2, 1, 0], [1, 0, 0], [0, 1, 3], [0, 0, 1]]
    >>> KernelSVM().fit(X, ["grain", "grain", "crude", "crude"]).predict([[1, 0, 0], [0, 0, 1]]).tolist()
    ['grain', 'crude']
    """

    classes_: Array
    multilabel_: bool
    machines_: list[Any]
    terms_: list[Array] | None

    def __init__(
        self, *, kernel: str = "rbf", C: float | Literal["scale"] = "scale", n_jobs: int | None = None
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, feature_mask: Any = None) -> Self:
        """Fit the machines; `feature_mask` (models x terms) limits the terms of each, all without it."""
        if self.kernel not in _PARAMETERS:
            raise ValueError(f"kernel must be one of {', '.join(_PARAMETERS)}, got {self.kernel!r}")
        check_cost(self.C)
        targets = check_targets(y)
        rows = check_terms(self, X, n_documents=targets.n_documents)
        members = models_of(targets)
        self.terms_ = terms_of(feature_mask, (members.shape[0], rows.shape[1]))
        self.classes_, self.multilabel_ = targets.classes, targets.multilabel
        self._constants = np.where(np.diff(members.indptr) == members.shape[1], 1.0, -1.0)
        share_values = self.terms_ is None and members.shape[0] > 1 and members.shape[1] <= _LARGEST_SHARED
        self._documents = rows if share_values else None
        columns = sparse.csc_array(rows)
        values = None if self._documents is None else self._values(rows, rows)
        cost = self._cost(rows)

        def learn(c: int) -> Any:
            from sklearn.svm import SVC

            positive = members[[c]].toarray()[0]
            if not 0 < positive.sum() < len(positive):
                return None
            if values is not None:
                return SVC(C=cost, kernel="precomputed", cache_size=_CACHE).fit(values, positive)
            part = self._part(columns, c)
            return SVC(C=self._cost(part), cache_size=_CACHE, **_PARAMETERS[self.kernel]).fit(part, positive)

        self.machines_ = for_each_model(learn, members.shape[0], self.n_jobs)
        return self

    def decision_function(self, X: Any) -> Array:
        """Margins, documents x models; one dimension for two classes."""
        check_is_fitted(self)
        rows = check_terms(self, X, reset=False)
        margins = self._separate_margins(rows) if self._documents is None else self._shared_margins(rows)
        return margins[:, 0] if self._is_binary() else margins

    def predict(self, X: Any) -> Array:
        """The class with the largest margin, or the indicator of the categories with a margin above 0."""
        margins = self.decision_function(X)
        if self.multilabel_:
            return (margins > 0).astype(np.int64)
        classes: Array = self.classes_[(margins > 0).astype(int) if self._is_binary() else np.argmax(margins, axis=1)]
        return classes

    def _values(self, rows: sparse.csr_array, others: sparse.csr_array) -> Array:
        """Kernel values, rows x others."""
        values, across = np.empty((rows.shape[0], others.shape[0])), sparse.csc_array(others.T)
        lengths, other_lengths = squared_lengths(rows), squared_lengths(others)
        for start in range(0, rows.shape[0], _BLOCK):
            block = slice(start, start + _BLOCK)
            part = values[block]
            part[:] = (rows[block] @ across).toarray()
            if self.kernel == "polynomial":
                part += 1.0
                part *= part
            else:
                part -= 0.5 * (lengths[block, np.newaxis] + other_lengths)
                np.exp(part, out=part)
        return values

    def _shared_margins(self, rows: sparse.csr_array) -> Array:
        """Margins of all models by the same kernel values, a block of documents at a time."""
        assert self._documents is not None
        weights = np.zeros((self._documents.shape[0], len(self.machines_)))
        constants = self._constants.copy()
        for c, machine in enumerate(self.machines_):
            if machine is not None:
                weights[machine.support_, c] = machine.dual_coef_[0]
                constants[c] = machine.intercept_[0]
        margins = np.empty((rows.shape[0], len(self.machines_)))
        for start in range(0, rows.shape[0], _BLOCK):
            block = slice(start, start + _BLOCK)
            margins[block] = self._values(rows[block], self._documents) @ weights + constants
        return margins

    def _separate_margins(self, rows: sparse.csr_array) -> Array:
        """Margins of models with terms of their own."""
        columns = sparse.csc_array(rows)

        def score(c: int) -> Array:
            if self.machines_[c] is None:
                return np.full(columns.shape[0], self._constants[c])
            margins: Array = self.machines_[c].decision_function(self._part(columns, c))
            return margins

        return np.column_stack(for_each_model(score, len(self.machines_), self.n_jobs))

    def _cost(self, X: Any) -> float:
        """C; "scale" is one over the mean of K(x, x) - 2 K(x, 0) + K(0, 0)."""
        if self.C != "scale":
            return float(self.C)
        squares = squared_lengths(X)
        polynomial = self.kernel == "polynomial"
        return scaled_cost((squares + 1.0) ** 2 - 1.0 if polynomial else 2.0 - 2.0 * np.exp(-0.5 * squares))

    def _part(self, columns: sparse.csc_array, model: int) -> Any:
        part = columns if self.terms_ is None else columns[:, self.terms_[model]]
        return sparse.csr_array(part)

    def _is_binary(self) -> bool:
        return not self.multilabel_ and len(self.classes_) == 2
