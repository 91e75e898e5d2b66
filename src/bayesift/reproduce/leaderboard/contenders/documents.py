"""Documents and labels in the shapes that peers without matrices read, and in an order that is fair to all."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

Array = np.ndarray[Any, Any]
Pairs = list[tuple[int, float]]


def pairs_of(X: Any) -> list[Pairs]:
    """Terms and weights of each document.

    Examples
    --------
    >>> pairs_of([[0, 2.0], [1.0, 0]])
    [[(1, 2.0)], [(0, 1.0)]]
    """
    rows = sparse.csr_array(X)
    indices, data = rows.indices.tolist(), rows.data.tolist()
    bounds = list(zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True))
    return [list(zip(indices[a:b], data[a:b], strict=True)) for a, b in bounds]


def indicator_of(y: Array, multilabel: bool) -> Array:
    """Documents x categories, whatever the labels are.

    Examples
    --------
    >>> indicator_of(np.array([1, 0]), multilabel=False).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return np.asarray(y) if multilabel else np.eye(int(np.max(y)) + 1)[np.asarray(y)]


class InRandomOrder:
    """A learner that goes from document to document, fed in random order: corpora may be sorted by class.

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> learner = InRandomOrder(BernoulliNB()).fit(np.eye(3), np.array([0, 1, 1]))
    >>> learner.predict(np.eye(3)).tolist(), hasattr(learner, "decision_function")
    ([0, 1, 1], False)
    """

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def fit(self, X: Any, y: Array) -> InRandomOrder:
        """Show all documents in an order that is the same every time."""
        order = np.random.default_rng(0).permutation(X.shape[0])
        self.learner.fit(X[order], y[order])
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.learner, name)
