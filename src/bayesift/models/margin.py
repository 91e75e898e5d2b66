"""Support vector machines with the kernels of the online models, to compare with: scikit-learn's, one a category."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.validation import check_is_fitted

from bayesift.models.categories import for_each_model, models_of, terms_of
from bayesift.validation import check_targets, check_terms

Array = np.ndarray[Any, Any]

KERNELS = ("linear", "polynomial", "rbf")
_CACHE = 500  # megabytes of kernel values
_LARGEST_SHARED = 12_000  # documents whose kernel values are computed once for all models: 1.2 GB
_BLOCK = 1_000  # documents whose kernel values are computed together


class MarginClassifier(ClassifierMixin, BaseEstimator):
    """Support vector machine with hinge loss; scores are margins, there are no probabilities.

    With an indicator matrix each category has a machine of its own. With class labels there is one for two classes, and
    one a class against the rest for more.

    Parameters
    ----------
    kernel : "linear", x.x' + 1 (scikit-learn's LinearSVC); "polynomial", (x.x' + 1)^2; or "rbf", exp(-|x - x'|^2 / 2)
        (its SVC): SVM-1, SVM-2 and SVM-R1 of Chai, Ng & Chieu (2002)
    C : the price of margins below 1; "scale" is SVMlight's default, one over the mean squared distance of documents
        from the origin in the kernel's space
    n_jobs : threads over categories; -1 for all cores

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    machines_ : scikit-learn's estimator of each model; None for a category without documents, or with all of them
    terms_ : the columns each model uses; None for all

    Notes
    -----
    Kernels other than the linear are computed once for all models when these share their terms and there are at most
    12,000 documents; one product then gives the margins of all.

    Examples
    --------
    >>> X = [[2, 1, 0], [1, 0, 0], [0, 1, 3], [0, 0, 1]]
    >>> MarginClassifier().fit(X, ["grain", "grain", "crude", "crude"]).predict([[1, 0, 0], [0, 0, 1]]).tolist()
    ['grain', 'crude']
    """

    classes_: Array
    multilabel_: bool
    machines_: list[Any]
    terms_: list[Array] | None

    def __init__(
        self, *, kernel: str = "linear", C: float | Literal["scale"] = "scale", n_jobs: int | None = None
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, supports: Any = None) -> Self:
        """Learn; `supports` (models x terms) says which terms each model may use, all without it."""
        if self.kernel not in KERNELS:
            raise ValueError(f"kernel must be one of {', '.join(KERNELS)}, got {self.kernel!r}")
        if self.C != "scale" and not (isinstance(self.C, int | float) and self.C > 0):
            raise ValueError(f"C must be 'scale' or a number above 0, got {self.C!r}")
        targets = check_targets(y)
        rows = check_terms(self, X, n_documents=targets.n_documents)
        members = models_of(targets)
        self.terms_ = terms_of(supports, (members.shape[0], rows.shape[1]))
        self.classes_, self.multilabel_ = targets.classes, targets.multilabel
        self._constants = np.where(np.diff(members.indptr) == members.shape[1], 1.0, -1.0)
        self._documents = rows if self._shares_values(members.shape) else None
        columns = sparse.csc_array(rows)
        price = self._price(rows) if self._documents is not None else None
        values = None if self._documents is None else self._values(rows, rows)

        def learn(c: int) -> Any:
            member = np.zeros(members.shape[1], dtype=np.int64)
            member[members.indices[members.indptr[c] : members.indptr[c + 1]]] = 1
            if not 0 < member.sum() < len(member):
                return None
            if values is not None:
                return SVC(C=price, kernel="precomputed", cache_size=_CACHE).fit(values, member)
            return self._machine(self._part(columns, c), member)

        # liblinear draws from one generator for all threads: in turn it is the same every time
        self.machines_ = for_each_model(learn, members.shape[0], 1 if self.kernel == "linear" else self.n_jobs)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _shares_values(self, shape: tuple[int, int]) -> bool:
        """Whether kernel values of models x documents are computed once for all."""
        shared = self.kernel != "linear" and self.terms_ is None
        return shared and shape[0] > 1 and shape[1] <= _LARGEST_SHARED

    def _values(self, rows: sparse.csr_array, others: sparse.csr_array) -> Array:
        """Kernel values, rows x others."""
        values, across = np.empty((rows.shape[0], others.shape[0])), sparse.csc_array(others.T)
        lengths, other_lengths = _squares(rows), _squares(others)
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

    def _price(self, X: Any) -> float:
        return self._scaled(X) if self.C == "scale" else float(self.C)

    def _machine(self, X: Any, member: Array) -> Any:
        price = self._price(X)
        if self.kernel == "linear":
            return LinearSVC(C=price, loss="hinge", max_iter=100_000, random_state=0).fit(X, member)
        kernel = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}
        if self.kernel == "rbf":
            kernel = {"kernel": "rbf", "gamma": 0.5}
        return SVC(C=price, cache_size=_CACHE, **kernel).fit(X, member)

    def _scaled(self, X: Any) -> float:
        """One over the mean of K(x, x) - 2 K(x, 0) + K(0, 0)."""
        squares = _squares(X)
        if self.kernel == "polynomial":
            squares = (squares + 1.0) ** 2 - 1.0
        elif self.kernel == "rbf":
            squares = 2.0 - 2.0 * np.exp(-0.5 * squares)
        mean = float(squares.mean())
        return 1.0 / mean if mean > 0 else 1.0

    def _part(self, columns: sparse.csc_array, model: int) -> Any:
        part = columns if self.terms_ is None else columns[:, self.terms_[model]]
        return sparse.csr_array(part)

    def _is_binary(self) -> bool:
        return not self.multilabel_ and len(self.classes_) == 2


def _squares(rows: Any) -> Array:
    """The squared length of every document."""
    squares: Array = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return squares
