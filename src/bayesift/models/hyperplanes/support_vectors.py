"""Linear support vector machines."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import LinearSVC

from bayesift.models.categories import models_of
from bayesift.models.hyperplanes.stored import StoredHyperplanes
from bayesift.models.linear.importance import importance_of
from bayesift.validation import check_sample_weight, check_targets, check_terms

Array = np.ndarray[Any, Any]

_MAX_ITER = 20_000


class SupportVectorClassifier(StoredHyperplanes, ClassifierMixin, BaseEstimator):
    """A maximum-margin hyperplane for each category, by scikit-learn's `LinearSVC` (liblinear).

        w, b = argmin  |w|^2 / 2 + C sum_i max(0, 1 - y_i (x_i w + b))^2

    Scores are margins, not probabilities: decide with a rule that is fitted to scores (`scut`, `max-f1`), or by sign.

    Parameters
    ----------
    C : what a document on the wrong side costs
    class_weight : None, "balanced", or with class labels a weight a class
    dual : solve the dual problem, which copes with long and short documents alike, or the primal one, which takes long
        for raw counts and is precise to many digits
    tol : of the solver
    random_state : of the order in which the dual solver takes the documents

    Examples
    --------
    >>> model = SupportVectorClassifier().fit([[1, 0], [0, 1], [0, 2]], ["grain", "crude", "crude"])
    >>> model.predict([[0, 1]]).tolist()
    ['crude']
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        class_weight: Any = None,
        dual: bool = True,
        tol: float = 1e-4,
        random_state: int | None = 0,
    ) -> None:
        self.C = C
        self.class_weight = class_weight
        self.dual = dual
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the hyperplanes."""
        targets = check_targets(y)
        weights = check_sample_weight(sample_weight, targets.n_documents, some_positive=True)
        rows = check_terms(self, X, n_documents=targets.n_documents)
        members = models_of(targets)
        importance = importance_of(self.class_weight, targets, members, weights)
        importance = np.broadcast_to(importance, members.shape)
        sides = members.toarray().astype(bool)
        found = [self._hyperplane_of(rows, side, weight) for side, weight in zip(sides, importance, strict=True)]
        coefficients, intercepts = zip(*found, strict=True)
        return self._keep(targets, np.stack(coefficients), np.array(intercepts))

    def _hyperplane_of(self, X: sparse.csr_array, members: Array, weights: Array) -> tuple[Array, float]:
        counted = weights > 0
        if members[counted].all() or not members[counted].any():  # nothing to separate: all on one side
            return np.zeros(X.shape[1]), 1.0 if members[counted].any() else -1.0
        machine = LinearSVC(C=self.C, dual=self.dual, tol=self.tol, max_iter=_MAX_ITER, random_state=self.random_state)
        machine.fit(X[counted], members[counted], sample_weight=weights[counted])
        return machine.coef_[0], float(machine.intercept_[0])
