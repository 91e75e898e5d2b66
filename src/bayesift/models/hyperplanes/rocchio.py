"""Rocchio's prototypes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import normalize

from bayesift.models.categories import models_of
from bayesift.models.hyperplanes.stored import StoredHyperplanes
from bayesift.validation import check_sample_weight, check_targets, check_terms

Array = np.ndarray[Any, Any]


class RocchioClassifier(StoredHyperplanes, ClassifierMixin, BaseEstimator):
    """A prototype for each category: the mean of its documents less a share of the mean of the others.

        w_c = max(0, positive · mean of members - negative · mean of the rest), scaled to length 1

    Documents are scaled to length 1 first, so that the score of such a document is its cosine with the prototype. Two
    classes share the difference of their prototypes.

    Parameters
    ----------
    positive, negative : the shares; 16 and 4 are those of Buckley et al. (1994)

    References
    ----------
    Rocchio (1971); Buckley, Salton & Allan (1994).

    Examples
    --------
    >>> model = RocchioClassifier().fit([[1, 0], [0, 1]], [[1, 0], [0, 1]])
    >>> model.decision_function([[1, 0]]).tolist()
    [[1.0, 0.0]]
    """

    def __init__(self, *, positive: float = 16.0, negative: float = 4.0) -> None:
        self.positive = positive
        self.negative = negative

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Average the documents of each category."""
        targets = check_targets(y)
        weights = check_sample_weight(sample_weight, targets.n_documents, some_positive=True)
        rows = normalize(check_terms(self, X, n_documents=targets.n_documents))
        models_of(targets)  # refuses a single class
        prototypes = self._prototypes(rows, targets.members, weights)
        if not targets.multilabel and len(targets.classes) == 2:
            prototypes = (prototypes[[1]] - prototypes[[0]]) / np.sqrt(2.0)
        return self._keep(targets, prototypes, np.zeros(prototypes.shape[0]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _prototypes(self, rows: sparse.csr_array, members: sparse.csr_array, weights: Array) -> Array:
        weighted = sparse.csr_array(rows * weights[:, np.newaxis])
        inside = (members @ weighted).toarray()
        mass = members @ weights
        means = inside / np.where(mass > 0, mass, 1.0)[:, np.newaxis]
        outside = weights.sum() - mass
        others = (weighted.sum(axis=0) - inside) / np.where(outside > 0, outside, 1.0)[:, np.newaxis]
        prototypes: Array = normalize(np.maximum(self.positive * means - self.negative * others, 0.0))
        return prototypes
