"""Support vector machines on naive Bayes features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from bayesift.models.categories import models_of
from bayesift.models.hyperplanes.stored import StoredHyperplanes
from bayesift.models.hyperplanes.support_vectors import SupportVectorClassifier
from bayesift.models.naive_bayes import Laplace, NaiveBayesClassifier
from bayesift.validation import check_sample_weight, check_targets, check_terms

Array = np.ndarray[Any, Any]


class NBSVMClassifier(StoredHyperplanes, ClassifierMixin, BaseEstimator):
    """A support vector machine whose features are scaled by the log-count ratios of naive Bayes.

        r = log p(t | c) / p(t | not c),   w = argmin SVM on x ∘ r,   score = x · (r ∘ w') + b
        w' = (1 - beta) mean(|w|) + beta w

    so that weights far from the mean, which rest on few documents, are drawn towards naive Bayes. Meant for binary
    weights (presence of terms).

    Parameters
    ----------
    alpha : added to every count
    beta : 1 is the plain machine on scaled features, 0 naive Bayes
    C, dual, tol, random_state : as in `SupportVectorClassifier`

    References
    ----------
    Wang & Manning (2012), eqs. 1-5.

    Examples
    --------
    >>> model = NBSVMClassifier().fit([[1, 0], [0, 1], [1, 1]], ["grain", "crude", "crude"])
    >>> model.predict([[0, 1], [1, 0]]).tolist()
    ['crude', 'grain']
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        beta: float = 0.25,
        C: float = 1.0,
        dual: bool = True,
        tol: float = 1e-4,
        random_state: int | None = 0,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.C = C
        self.dual = dual
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count, scale, and find the hyperplanes."""
        targets = check_targets(y)
        weights = check_sample_weight(sample_weight, targets.n_documents, some_positive=True)
        rows = check_terms(self, X, n_documents=targets.n_documents, non_negative=True)
        positives = models_of(targets)
        bayes = NaiveBayesClassifier(smoothing=Laplace(self.alpha)).fit(rows, sparse.csr_array(positives.T), weights)
        planes = [
            self._on_scaled(rows, positives[[c]], ratios, weights) for c, ratios in enumerate(bayes.log_odds_coef_)
        ]
        coefficients, intercepts = zip(*planes, strict=True)
        return self._keep(targets, np.stack(coefficients), np.array(intercepts))

    def _on_scaled(
        self, rows: sparse.csr_array, members: sparse.csr_array, ratios: Array, weights: Array
    ) -> tuple[Array, float]:
        """The hyperplane of one category, its weights those of the unscaled features."""
        machine = SupportVectorClassifier(C=self.C, dual=self.dual, tol=self.tol, random_state=self.random_state)
        scaled = sparse.csr_array((rows.data * ratios[rows.indices], rows.indices, rows.indptr), shape=rows.shape)
        machine.fit(scaled, sparse.csr_array(members.T), weights)
        found = machine.coef_.toarray()[0] if sparse.issparse(machine.coef_) else machine.coef_[0]
        mixed = (1.0 - self.beta) * np.mean(np.abs(found)) + self.beta * found
        return ratios * mixed, float(machine.intercept_[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags
