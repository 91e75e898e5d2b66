"""How relevant the documents of a fixed pool are, from those judged so far.

The model is logistic regression with a Gaussian prior, refitted after every judgement from where it stood:

    w, b = argmax  sum_i c_i log psi(y_i (x_i w + b + o_i)) - |w|^2 / (2 v) - b^2 / (2 v s)

Judgements are balanced, as relevant documents are rare and shown first: those of the relevant documents count
c = share L / (number of them) each, L being the number of all judgements, those of the others (1 - share) L / (their
number). What people say of words enters as o = x m, m being the weights that they expect: the prior's mode. The pulls
a_i = c_i (1 - psi) of the judged documents are all that is kept: w = v X'(y a) (`bayesift.kernels.dual`). One round of
visits costs 4 operations an entry of the judged documents; from the last pulls a few rounds do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.special import expit

from bayesift.kernels.dual import visit
from bayesift.kernels.likelihoods import LOGIT

Array = np.ndarray[Any, Any]

_ROUNDS = 50
_SETTLED = 0.01  # the largest change of a pull, as a share of what it may be, in the last round
_LEAST_CURVATURE = 1e-10
_NO_PARAMETERS = np.zeros(1)


@dataclass(frozen=True)
class RelevanceSettings:
    """What the model of relevance takes for granted; docs/screening.md says how it was chosen.

    Parameters
    ----------
    variance : v, of the prior of each weight; documents have length one or so
    share : of the judgements' weight that the relevant ones have
    intercept_spread : s, the variance of the intercept's prior relative to that of a weight

    Examples
    --------
    >>> RelevanceSettings().share
    0.9
    """

    variance: float = 0.8
    share: float = 0.9
    intercept_spread: float = 1.0

    def __post_init__(self) -> None:
        if not (self.variance > 0 and self.intercept_spread > 0):
            raise ValueError("variance and intercept_spread must be positive")
        if not 0 < self.share < 1:
            raise ValueError(f"share must lie between 0 and 1, got {self.share!r}")


class RelevanceModel:
    """Scores of all documents of a pool from the labels of some.

    Parameters
    ----------
    X : the pool, documents x terms
    settings : of the model

    Examples
    --------
    >>> model = RelevanceModel(sparse.csr_array(np.eye(3)), RelevanceSettings())
    >>> pulls = model.fit(np.array([1, -1, 0]), np.zeros(3), np.zeros(3))
    >>> model.scores(np.array([1, -1, 0]), pulls, np.zeros(3)).round(2).tolist()[0] > 0
    True
    """

    def __init__(self, X: sparse.csr_array, settings: RelevanceSettings) -> None:
        self.X = X
        self.settings = settings
        self._squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        self._indices = X.indices.astype(np.int32, copy=False)
        self._indptr = X.indptr.astype(np.int64, copy=False)

    def fit(self, labels: Array, pulls: Array, offsets: Array) -> Array:
        """The pulls of the mode.

        Parameters
        ----------
        labels : 1 for relevant, -1 for irrelevant, 0 for not judged
        pulls : where to start from, such as those of the last fit or zeros
        offsets : o of every document
        """
        judged = np.flatnonzero(labels)
        settings = self.settings
        counts = settings.variance * self._importance(labels)
        found = np.where(labels == 0, 0.0, np.minimum(pulls, counts))[:, np.newaxis]
        weights, intercept = self._weights(labels, found[:, 0])
        reach = self._squares + settings.intercept_spread
        moves, sums = np.zeros_like(found), np.zeros(1)
        signed = (labels * counts)[:, np.newaxis]
        for _ in range(_ROUNDS if len(judged) else 0):
            visit(
                self._indptr,
                self._indices,
                self.X.data,
                judged,
                LOGIT,
                _NO_PARAMETERS,
                signed,
                offsets[:, np.newaxis],
                reach,
                settings.intercept_spread,
                weights,
                intercept,
                found,
                moves,
                sums,
            )
            if np.all(np.sqrt(moves[judged, 0]) <= _SETTLED * counts[judged]):
                break
        return found[:, 0]

    def scores(self, labels: Array, pulls: Array, offsets: Array) -> Array:
        """The score of every document of the pool, judged or not."""
        weights, intercept = self._weights(labels, pulls)
        scores: Array = self.X @ weights[:, 0] + intercept[0] + offsets
        return scores

    def variances(self, rows: Array, labels: Array, scores: Array) -> Array:
        """The covariance of the scores of some documents, by the normal approximation about the mode."""
        judged = np.flatnonzero(labels)
        prior = self._covariance(rows, rows)
        if not len(judged):
            return prior
        chance = expit(scores[judged])
        bend = np.maximum(self._importance(labels)[judged] * chance * (1.0 - chance), _LEAST_CURVATURE)
        root = np.sqrt(bend)
        inner = np.eye(len(judged)) + root[:, np.newaxis] * self._covariance(judged, judged) * root
        shared = root[:, np.newaxis] * self._covariance(judged, rows)
        half = linalg.solve_triangular(linalg.cholesky(inner, lower=True), shared, lower=True)
        posterior: Array = prior - half.T @ half
        return posterior

    def _covariance(self, some: Array, others: Array) -> Array:
        products = (self.X[some] @ self.X[others].T).toarray()
        covariance: Array = self.settings.variance * (products + self.settings.intercept_spread)
        return covariance

    def _importance(self, labels: Array) -> Array:
        """C of every document."""
        relevant, others = labels > 0, labels < 0
        total, share = float(np.count_nonzero(labels)), self.settings.share
        importance = np.zeros(len(labels))
        importance[relevant] = share * total / max(int(np.count_nonzero(relevant)), 1)
        importance[others] = (1.0 - share) * total / max(int(np.count_nonzero(others)), 1)
        return importance

    def _weights(self, labels: Array, pulls: Array) -> tuple[Array, Array]:
        """Weights and intercept, as columns."""
        signed = labels * pulls
        weights: Array = np.ascontiguousarray((self.X.T @ signed)[:, np.newaxis])
        return weights, np.array([self.settings.intercept_spread * signed.sum()])
