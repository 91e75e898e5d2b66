"""Estimate how many relevant documents are still unseen, from the texts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.special import expit

from bayesift.arrays import FloatArray, IntArray, SparseRows
from bayesift.screening.relevance import leading_directions

_RECALL_ROUNDING = 1e-9
_PRIOR_VARIANCES = (1.0, 10.0, 100.0)
_INTERCEPT_VARIANCE = 100.0
_MAX_STEPS = 50
_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class RemainingRelevant:
    """The number of relevant documents unseen, as draws from the posterior, and the number found.

    Examples
    --------
    >>> remaining = RemainingRelevant(np.array([0, 0, 1, 3]), n_found=9)
    >>> remaining.mean, remaining.interval(0.5), remaining.probability_of_recall(0.9)
    (1.0, (0, 1), 0.75)
    """

    draws: IntArray
    n_found: int

    @property
    def mean(self) -> float:
        """The expected number."""
        return float(self.draws.mean())

    def interval(self, mass: float = 0.95) -> tuple[int, int]:
        """Return the central credible interval."""
        tails = [(1.0 - mass) / 2.0, (1.0 + mass) / 2.0]
        low, high = np.quantile(self.draws, tails, method="inverted_cdf")
        return int(low), int(high)

    def probability_of_recall(self, recall: float) -> float:
        """Compute the probability that this share of all relevant documents is found."""
        return float(np.mean(self.draws <= allowed_missing(self.n_found, recall)))


def allowed_missing(n_found: int, recall: float) -> int:
    """Return how many relevant documents may be missing when so many are found.

    Examples
    --------
    >>> allowed_missing(19, 0.95), allowed_missing(18, 0.95), allowed_missing(0, 0.95)
    (1, 0, 0)
    """
    check_share("recall", recall)
    return math.floor(n_found * (1.0 - recall) / recall + _RECALL_ROUNDING)


def check_share(name: str, value: float) -> None:
    """Refuse what does not lie between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {value!r}")


class Forecast:
    """The number of relevant documents still unseen, from the texts and judgements of a pool.

    The ranking model balances its judgements, so that its scores are no log odds. The forecast
    counts every judgement once: logistic regression on the leading directions of the pool, with the
    Gaussian prior of the highest evidence and the normal approximation of the posterior about the
    mode (MacKay 1992):

        w | judgements ~ N(mode, S),   S^-1 = Z' D Z + diag(1 / v),   D = p (1 - p)

    Which documents were judged depends on their vectors and on earlier judgements only, so that the
    order of reading does not bias the posterior. Cost: judgements x directions^2 per Newton step, a
    few steps per variance.

    Parameters
    ----------
    X : the pool, documents x terms
    directions : of the pool that the model uses, at most

    Examples
    --------
    >>> from scipy import sparse
    >>> kinds = np.tile([1.0, 0.0], (20, 1)), np.tile([0.0, 1.0], (20, 1))
    >>> pool = sparse.csr_array(np.vstack(kinds))
    >>> labels = np.zeros(40)
    >>> labels[:15], labels[20:35] = 1, -1
    >>> 3.5 < Forecast(pool).remaining(labels).mean < 6.5
    True
    """

    def __init__(self, X: SparseRows, *, directions: int = 100) -> None:
        self._design = np.hstack([leading_directions(X, directions), np.ones((X.shape[0], 1))])

    def remaining(
        self, labels: FloatArray, *, draws: int = 1000, seed: int = 0
    ) -> RemainingRelevant:
        """Draw the number of relevant documents among those with label 0."""
        judged = np.flatnonzero(labels)
        unseen = np.flatnonzero(labels == 0)
        Z = self._design[judged]
        y = (labels[judged] > 0).astype(np.float64)
        _, mode, root = max(
            (_laplace(Z, y, variance) for variance in _PRIOR_VARIANCES), key=lambda fit: fit[0]
        )
        rows = self._design[unseen]
        n_found = int(np.count_nonzero(labels > 0))
        return remaining_relevant(
            rows @ mode, rows @ root, n_found=n_found, draws=draws, seed=seed
        )


def remaining_relevant(
    means: FloatArray, root: FloatArray, *, n_found: int, draws: int = 1000, seed: int = 0
) -> RemainingRelevant:
    """Draw the number of relevant documents with normal scores of covariance root root'."""
    rng = np.random.default_rng(seed)
    scores = means[:, np.newaxis] + root @ rng.standard_normal((root.shape[1], draws))
    relevant = rng.random(scores.shape) < expit(scores)
    return RemainingRelevant(relevant.sum(axis=0), n_found)


def _laplace(
    Z: FloatArray, y: FloatArray, variance: float
) -> tuple[float, FloatArray, FloatArray]:
    """Compute log evidence, mode and a root of the covariance, for one variance of the prior.

    Newton's method is damped.
    """
    precision = np.append(np.full(Z.shape[1] - 1, 1.0 / variance), 1.0 / _INTERCEPT_VARIANCE)
    mode = np.zeros(Z.shape[1])
    value = _log_posterior(Z, y, precision, mode)
    for _ in range(_MAX_STEPS):
        chance = expit(Z @ mode)
        gradient = Z.T @ (y - chance) - precision * mode
        step = linalg.solve(_hessian(Z, chance, precision), gradient, assume_a="pos")
        length = 1.0
        while (
            moved := _log_posterior(Z, y, precision, mode + length * step)
        ) < value and length > _TOLERANCE:
            length /= 2.0
        mode = mode + length * step
        gained = moved - value
        value = max(moved, value)
        if gained < _TOLERANCE:
            break
    lower = linalg.cholesky(_hessian(Z, expit(Z @ mode), precision), lower=True)
    evidence = value + 0.5 * np.log(precision).sum() - np.log(np.diagonal(lower)).sum()
    root = linalg.solve_triangular(lower, np.eye(len(mode)), lower=True, trans="T")
    return float(evidence), mode, root


def _hessian(Z: FloatArray, chance: FloatArray, precision: FloatArray) -> FloatArray:
    hessian: FloatArray = (Z.T * (chance * (1.0 - chance))) @ Z + np.diag(precision)
    return hessian


def _log_posterior(Z: FloatArray, y: FloatArray, precision: FloatArray, w: FloatArray) -> float:
    scores = Z @ w
    return float(
        np.sum(y * scores - np.logaddexp(0.0, scores)) - 0.5 * np.sum(precision * w**2)
    )
