"""Documents to judge for what their judgements teach: how much each says about the model, and which are unlike all."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.special import expit, xlogy

from bayesift.arrays import Array

Order = Literal["relevance", "information", "mixture"]

_AT_ONCE = 64  # judged documents whose likeness to all others is computed together


def information_places(n: int, by: Order, share: float, n_judged: int) -> Array:
    """Which of the next n places go to informative documents: in a mixture those where the next whole one is due."""
    if not 0 <= share <= 1:
        raise ValueError(f"information_share must lie between 0 and 1, got {share!r}")
    if by != "mixture":
        return np.full(n, by == "information")
    due = np.floor(share * (n_judged + np.arange(n + 1)) + 1e-9)
    places: Array = np.diff(due) > 0
    return places


def expected_information(means: Array, variances: Array) -> Array:
    """H(E p) - E H(p) of labels with normal scores, by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(15)
    chances = expit(
        means[:, np.newaxis] + np.sqrt(np.maximum(variances, 0.0))[:, np.newaxis] * nodes
    )
    weights = weights / math.sqrt(2.0 * math.pi)
    return _entropy(chances @ weights) - _entropy(chances) @ weights


def most_informative(scores: Array, covariance: Array, n: int) -> list[int]:
    """Greedily the places of the documents of the largest gain, each given those chosen before."""
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


def _entropy(p: Array) -> Array:
    entropy: Array = -xlogy(p, p) - xlogy(1.0 - p, 1.0 - p)
    return entropy


class Farthest:
    """The likeness of every document of a pool to the judged document that it is most like.

    Judged documents are taken in one by one; only when one of them is not judged any more it begins
    again.

    Parameters
    ----------
    X : documents x columns

    Examples
    --------
    >>> Farthest(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])).choose(np.array([1, 2]), judged=[0], n=1)
    [2]
    """

    def __init__(self, X: Array | sparse.csr_array) -> None:
        self._X = X
        self._taken: list[int] = []
        self._nearest = np.full(X.shape[0], -np.inf)

    def choose(self, candidates: Array, judged: Iterable[int], n: int) -> list[int]:
        """The n candidates that are least like all judged documents and like one another."""
        rows = list(judged)
        if rows[: len(self._taken)] != self._taken:
            self._taken, self._nearest = [], np.full(self._X.shape[0], -np.inf)
        self._nearest = self._with(self._nearest, rows[len(self._taken) :])
        self._taken = rows
        nearest = self._nearest
        chosen: list[int] = []
        for _ in range(min(n, len(candidates))):
            chosen.append(int(candidates[np.argmin(nearest[candidates])]))
            nearest = self._with(nearest, chosen[-1:])
            nearest[chosen] = np.inf
        return chosen

    def _with(self, nearest: Array, rows: list[int]) -> Array:
        for first in range(0, len(rows), _AT_ONCE):
            likeness: Any = self._X @ self._X[rows[first : first + _AT_ONCE]].T
            shown = likeness.toarray() if sparse.issparse(likeness) else likeness
            nearest = np.maximum(nearest, shown.max(axis=1))
        return nearest
