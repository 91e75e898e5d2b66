"""What sparse non-negative matrix factorisation minimises.

    sum_ij w_j (V_ij log(V_ij / (HW')_ij) - V_ij + (HW')_ij) + alpha sum_ia S(H_ia),    H, W >= 0,  sum_j W_ja = 1

V is documents x terms, H (codes) documents x topics, W (basis) terms x topics. S(x) is x^2 (the paper's choice, a
ridge, which spreads a code over more topics and makes topics more local) or x (which shrinks codes: with w = 1 it
divides them all by 1 + alpha, since the sums of topics are fixed, and empties none).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from bayesift.kernels.topics import log_likelihood

Array = np.ndarray[Any, Any]
Importance = Literal["variance", "uniform"]
Penalty = Literal["squared", "absolute"]

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Objective:
    """The objective of one matrix.

    Parameters
    ----------
    rows : documents x terms, the values w_j V_ij
    importance : w_j, a number a term
    alpha : strength of the penalty
    penalty : S, "squared" or "absolute"
    """

    rows: sparse.csr_array
    importance: Array
    alpha: float = 0.0
    penalty: Penalty = "squared"

    @classmethod
    def of(cls, X: sparse.csr_array, importance: Array, alpha: float, penalty: Penalty) -> Objective:
        """The objective of documents x terms."""
        values = X.data * importance[X.indices]
        return cls(sparse.csr_array((values, X.indices, X.indptr), shape=X.shape), importance, alpha, penalty)

    @cached_property
    def columns(self) -> sparse.csr_array:
        """Terms x documents."""
        return sparse.csr_array(self.rows.T)

    @cached_property
    def constant(self) -> float:
        """The part that depends on V alone: sum w (V log V - V)."""
        weights = self.importance[self.rows.indices]
        values = np.divide(self.rows.data, weights, out=np.zeros(self.rows.nnz), where=weights > 0)
        return float(np.sum(xlogy(self.rows.data, values)) - np.sum(self.rows.data))

    @property
    def curvature(self) -> float:
        """The second derivative of the penalty."""
        return 2.0 * self.alpha if self.penalty == "squared" else 0.0

    def slopes(self, basis: Array) -> Array:
        """What does not depend on the code in the derivative of the bound: sum_j w_j W_ja, plus alpha for S(x) = x."""
        masses: Array = self.importance @ basis
        return masses if self.penalty == "squared" else masses + self.alpha

    def divergence(self, codes: Array, basis: Array) -> float:
        """The first sum, over terms that some topic knows."""
        rows = self.rows
        likelihood = log_likelihood(rows.indptr, rows.indices, rows.data, codes, basis)
        return float(self.constant - likelihood + codes.sum(axis=0) @ (self.importance @ basis))

    def value(self, codes: Array, basis: Array) -> float:
        """The objective."""
        size = np.sum(codes**2) if self.penalty == "squared" else np.sum(codes)
        return self.divergence(codes, basis) + self.alpha * float(size)


def importance_of(X: sparse.csr_array, kind: Importance) -> Array:
    """w_j: the variance of each term, scaled to mean 1 over the terms that vary, or 1; 0 for terms that never occur.

    The paper scales the variances to sum 1, which is the same with `alpha` divided by the number of terms. A matrix in
    which nothing varies has no variances to go by; all its terms count the same.

    Examples
    --------
    >>> importance_of(sparse.csr_array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]), "variance").tolist()
    [1.0, 0.0, 0.0]
    >>> importance_of(sparse.csr_array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]), "uniform").tolist()
    [1.0, 1.0, 0.0]
    """
    occurs = (np.bincount(X.indices, minlength=X.shape[1]) > 0).astype(np.float64)
    if kind == "uniform":
        return occurs
    means = np.bincount(X.indices, X.data, X.shape[1]) / X.shape[0]
    squares = np.bincount(X.indices, X.data**2, X.shape[1]) / X.shape[0]
    variances = np.maximum(squares - means**2, 0.0)
    variances[variances <= _ROUNDING * squares] = 0.0
    varies = np.count_nonzero(variances)
    return variances * (varies / variances.sum()) if varies else occurs
