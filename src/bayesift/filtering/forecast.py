"""How many of the unseen documents are relevant: a model made for probabilities, beside the one made for ranking.

The ranking model balances its judgements, so its scores are no log odds. The forecast counts every judgement once:
logistic regression on the leading directions of the pool (its truncated singular value decomposition, computed once),
with a Gaussian prior whose variance has the highest evidence, and the normal approximation of the posterior about the
mode (MacKay 1992). Which documents were judged depends on their vectors and on earlier judgements only, so that the
posterior is that of any other order of reading.

    w | judgements ~ N(mode, S),   S^-1 = Z' D Z + diag(1 / v),   D = p (1 - p)

Cost: judgements x directions^2 a Newton step, a few steps a variance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.special import expit

from bayesift.filtering.pool import leading_directions
from bayesift.filtering.stopping import RemainingRelevant, remaining_relevant

Array = np.ndarray[Any, Any]

DIRECTIONS = 100
_VARIANCES = (1.0, 10.0, 100.0)
_INTERCEPT_VARIANCE = 100.0
_STEPS = 50
_NEAR = 1e-6


class Forecast:
    """The number of relevant documents still unseen, from the judgements of a pool.

    Parameters
    ----------
    X : the pool, documents x terms
    directions : of the pool that the model sees, at most

    Examples
    --------
    >>> pool = sparse.csr_array(np.vstack([np.tile([1.0, 0.0], (20, 1)), np.tile([0.0, 1.0], (20, 1))]))
    >>> labels = np.zeros(40)
    >>> labels[:15], labels[20:35] = 1, -1
    >>> 3.5 < Forecast(pool).remaining(labels).mean < 6.5
    True
    """

    def __init__(self, X: sparse.csr_array, *, directions: int = DIRECTIONS) -> None:
        self._design = np.hstack([leading_directions(X, directions), np.ones((X.shape[0], 1))])

    def remaining(self, labels: Array, *, draws: int = 1000, seed: int = 0) -> RemainingRelevant:
        """The posterior of the number of relevant documents among those with label 0."""
        judged, unseen = np.flatnonzero(labels), np.flatnonzero(labels == 0)
        mode, root = _most_evident(self._design[judged], (labels[judged] > 0).astype(np.float64))
        rows = self._design[unseen]
        n_found = int(np.count_nonzero(labels > 0))
        return remaining_relevant(rows @ mode, rows @ root, n_found=n_found, draws=draws, seed=seed)


def _most_evident(Z: Array, y: Array) -> tuple[Array, Array]:
    fits = [_laplace(Z, y, variance) for variance in _VARIANCES]
    _, mode, root = max(fits, key=lambda fit: fit[0])
    return mode, root


def _laplace(Z: Array, y: Array, variance: float) -> tuple[float, Array, Array]:
    """Log evidence, mode, and a root of the covariance, for one variance of the prior; Newton's method, damped."""
    precision = np.append(np.full(Z.shape[1] - 1, 1.0 / variance), 1.0 / _INTERCEPT_VARIANCE)
    mode = np.zeros(Z.shape[1])
    value = _log_posterior(Z, y, precision, mode)
    for _ in range(_STEPS):
        chance = expit(Z @ mode)
        gradient = Z.T @ (y - chance) - precision * mode
        step = linalg.solve(_hessian(Z, chance, precision), gradient, assume_a="pos")
        length = 1.0
        while (moved := _log_posterior(Z, y, precision, mode + length * step)) < value and length > _NEAR:
            length /= 2.0
        mode, gained, value = mode + length * step, moved - value, max(moved, value)
        if gained < _NEAR:
            break
    lower = linalg.cholesky(_hessian(Z, expit(Z @ mode), precision), lower=True)
    evidence = value + 0.5 * np.log(precision).sum() - np.log(np.diagonal(lower)).sum()
    root = linalg.solve_triangular(lower, np.eye(len(mode)), lower=True, trans="T")
    return float(evidence), mode, root


def _hessian(Z: Array, chance: Array, precision: Array) -> Array:
    hessian: Array = (Z.T * (chance * (1.0 - chance))) @ Z + np.diag(precision)
    return hessian


def _log_posterior(Z: Array, y: Array, precision: Array, w: Array) -> float:
    scores = Z @ w
    return float(np.sum(y * scores - np.logaddexp(0.0, scores)) - 0.5 * np.sum(precision * w**2))
