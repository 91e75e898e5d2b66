"""Choice of documents whose judgements teach most: informative ones, and ones unlike all others."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.special import expit, xlogy

from bayesift.arrays import Array, BoolArray, FloatArray, IntArray, SparseRows

Order = Literal["relevance", "information", "mixture"]

_ROWS_AT_ONCE = 64  # judged documents whose similarity to all others is computed together


def informative_positions(n: int, by: Order, share: float, n_judged: int) -> BoolArray:
    """Mark which of the next n documents are informative ones.

    In a mixture these are the positions where `share` times the position passes a whole number.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"information_share must lie between 0 and 1, got {share!r}")
    if by != "mixture":
        return np.full(n, by == "information")
    due = np.floor(share * (n_judged + np.arange(n + 1)) + 1e-9)
    return np.asarray(np.diff(due) > 0)


def expected_information(means: FloatArray, variances: FloatArray) -> FloatArray:
    """Return H(E p) - E H(p) of labels with normal scores, by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(15)
    chances = expit(
        means[:, np.newaxis] + np.sqrt(np.maximum(variances, 0.0))[:, np.newaxis] * nodes
    )
    weights = weights / math.sqrt(2.0 * math.pi)
    return _entropy(chances @ weights) - _entropy(chances) @ weights


def most_informative(scores: FloatArray, covariance: FloatArray, n: int) -> list[int]:
    """Choose greedily the documents of the largest gain, each given those chosen before."""
    chosen: list[int] = []
    for _ in range(min(n, len(scores))):
        gains = expected_information(scores, np.diagonal(covariance))
        gains[chosen] = -np.inf
        best = int(np.argmax(gains))
        chosen.append(best)
        chance = expit(scores[best])
        noise = 1.0 / max(chance * (1.0 - chance), 1e-6)
        column = covariance[:, best]
        covariance = covariance - np.outer(column, column) / (column[best] + noise)
    return chosen


def _entropy(p: FloatArray) -> FloatArray:
    return np.asarray(-xlogy(p, p) - xlogy(1.0 - p, 1.0 - p))


class Farthest:
    """The similarity of every document of a pool to the judged document most similar to it.

    Judged documents are taken in one by one; if one of them is withdrawn, all are taken in anew.

    Parameters
    ----------
    X : documents x columns

    Examples
    --------
    >>> farthest = Farthest(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]))
    >>> farthest.choose(np.array([1, 2]), judged=[0], n=1)
    [2]
    """

    def __init__(self, X: Array | SparseRows) -> None:
        self._X = X
        self._taken: list[int] = []
        self._nearest = np.full(X.shape[0], -np.inf)

    def choose(self, candidates: IntArray, judged: Iterable[int], n: int) -> list[int]:
        """Choose the n candidates least similar to all judged documents and to one another."""
        rows = list(judged)
        if rows[: len(self._taken)] != self._taken:
            self._taken = []
            self._nearest = np.full(self._X.shape[0], -np.inf)
        self._nearest = self._with(self._nearest, rows[len(self._taken) :])
        self._taken = rows
        nearest = self._nearest
        chosen: list[int] = []
        for _ in range(min(n, len(candidates))):
            chosen.append(int(candidates[np.argmin(nearest[candidates])]))
            nearest = self._with(nearest, chosen[-1:])
            nearest[chosen] = np.inf
        return chosen

    def _with(self, nearest: FloatArray, rows: list[int]) -> FloatArray:
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            similarity: Any = self._X @ self._X[rows[first : first + _ROWS_AT_ONCE]].T
            if sparse.issparse(similarity):
                similarity = similarity.toarray()
            nearest = np.maximum(nearest, similarity.max(axis=1))
        return nearest
