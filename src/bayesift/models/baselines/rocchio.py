"""Rocchio's prototypes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from bayesift.arrays import Array
from bayesift.models.base.categories import models_of
from bayesift.models.linear.mixins import LinearScoresMixin
from bayesift.models.linear.weights import compact_row, stack_rows
from bayesift.state import storable
from bayesift.validation import TermTagsMixin, check_sample_weight, check_targets, check_terms

_BLOCK_WEIGHTS = 500_000  # dense weights in memory at a time


@storable("rocchio")
class RocchioClassifier(TermTagsMixin, LinearScoresMixin, ClassifierMixin, BaseEstimator):
    """A prototype for each category: the mean of its documents minus a multiple of the mean of the others.

        w_c = max(0, positive · mean of members - negative · mean of the rest), scaled to length 1

    Documents are scaled to length 1 first, so that the score of such a document is its cosine with the prototype. Two
    classes share one hyperplane, the difference of their prototypes.

    Parameters
    ----------
    positive, negative : the factors of the two means; 16 and 4 are those of Buckley et al. (1994)

    References
    ----------
    Rocchio (1971); Buckley, Salton & Allan (1994).

    Examples
    --------
    >>> model = RocchioClassifier().fit([[1, 0], [0, 1]], [[1, 0], [0, 1]])
    >>> model.decision_function([[1, 0]]).tolist()
    [[1.0, 0.0]]
    """

    POOR_SCORE = True

    def __init__(self, *, positive: float = 16.0, negative: float = 4.0) -> None:
        self.positive = positive
        self.negative = negative

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Average the documents of each category."""
        from sklearn.preprocessing import normalize

        targets = check_targets(y)
        weights = check_sample_weight(sample_weight, targets.n_documents, some_positive=True)
        rows = normalize(check_terms(self, X, n_documents=targets.n_documents))
        models_of(targets)  # refuses a single class
        blocks = self._prototypes(rows, targets.members, weights)
        if targets.multilabel or len(targets.classes) > 2:
            prototypes = stack_rows([compact_row(row) for block in blocks for row in block])
        else:
            first, second = np.vstack(list(blocks))
            prototypes = (second - first)[np.newaxis] / np.sqrt(2.0)
        return self._set_hyperplanes(targets, prototypes, np.zeros(prototypes.shape[0]))

    def _prototypes(self, rows: sparse.csr_array, members: sparse.csr_array, weights: Array) -> Iterator[Array]:
        """The prototypes of a few categories at a time."""
        from sklearn.preprocessing import normalize

        weighted = sparse.csr_array(rows * weights[:, np.newaxis])
        totals, masses = weighted.sum(axis=0), members @ weights
        step = max(1, _BLOCK_WEIGHTS // rows.shape[1])
        for start in range(0, members.shape[0], step):
            block = slice(start, start + step)
            inside, mass = (members[block] @ weighted).toarray(), masses[block]
            means = inside / np.where(mass > 0, mass, 1.0)[:, np.newaxis]
            outside = weights.sum() - mass
            others = (totals - inside) / np.where(outside > 0, outside, 1.0)[:, np.newaxis]
            yield normalize(np.maximum(self.positive * means - self.negative * others, 0.0))
