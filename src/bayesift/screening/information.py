"""How much the judgement of a document is expected to say about the model, and which of a batch say most."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.special import expit, xlogy

from bayesift.arrays import Array

Order = Literal["relevance", "information", "mixture"]


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
    chances = expit(means[:, np.newaxis] + np.sqrt(np.maximum(variances, 0.0))[:, np.newaxis] * nodes)
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
