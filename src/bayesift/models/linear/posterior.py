"""The Laplace approximation of the posterior about its mode.

About the mode the posterior of the weights that are off their prior's mode (the active set) is
close to normal, with precision X_A' H X_A + diag(l2): under a Laplace prior weights at 0, or at a
bound, count as known. At another mode the prior counts as a normal one of its variance. The score
of a document is then normal, with mean f and variance v = x' S x, and its probability

    probit   Phi(f / sqrt(1 + v)), exactly
    logit    1 / (1 + exp(-f / sqrt(1 + pi v / 8))), MacKay (1992)

with the shape's own factor between the two for the log-F family.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.special import expit, logsumexp, ndtri

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows
from bayesift.errors import DataError
from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.problem import LinearProblem, Solution
from bayesift.state import expect_array, storable

# Active terms of which the whole covariance is kept; beyond, weights count as independent.
_LARGEST = 1000
_BLOCK_DOCUMENTS = 4096  # documents whose score variances are computed at a time


@storable("weight-posterior")
@dataclass(frozen=True, eq=False)
class WeightPosterior:
    """The normal approximation of one model's weights.

    Parameters
    ----------
    terms : the active columns
    covariance : of their weights and, last, of the intercept; for very many terms their variances
        alone
    """

    terms: IntArray
    covariance: FloatArray

    @property
    def variances(self) -> FloatArray:
        """Variances of the weights of `terms` and, last, of the intercept."""
        return (
            self.covariance
            if self.covariance.ndim == 1
            else np.diagonal(self.covariance).copy()
        )

    def _post_load(self) -> None:
        """Refuse a stored posterior whose parts do not fit together."""
        if self.terms.dtype.kind != "i":
            raise DataError("the terms of the posterior must be whole numbers")
        n_weights = 1 + len(expect_array(self.terms, "terms", self.terms.dtype, (None,)))
        expect_array(
            self.covariance,
            "covariance",
            np.float64,
            (n_weights,) * max(1, min(2, self.covariance.ndim)),
        )
        if np.any(np.diff(self.terms) <= 0) or np.any(self.terms < 0):
            raise DataError("the terms of the posterior are not in order")
        if np.any(self.variances < 0):
            raise DataError("the posterior has a negative variance")

    def score_variances(self, X: SparseRows) -> Array:
        """Return the variance of the score of each document."""
        part = sparse.csr_array(sparse.csc_array(X)[:, self.terms])
        design = sparse.csr_array(sparse.hstack([part, np.ones((X.shape[0], 1))]))
        if self.covariance.ndim == 1:
            spread: FloatArray = design.multiply(design) @ self.covariance
            return spread
        blocks = [
            design[start : start + _BLOCK_DOCUMENTS]
            for start in range(0, X.shape[0], _BLOCK_DOCUMENTS)
        ]
        forms = [
            np.asarray(block.multiply(block @ self.covariance).sum(axis=1)).ravel()
            for block in blocks
        ]
        variances: FloatArray = np.maximum(np.concatenate(forms), 0.0)
        return variances


def variances_of(posteriors: list[WeightPosterior], n_terms: int) -> tuple[SparseRows, Array]:
    """Return the variances of weights, models x terms, 0 where a weight counts as known.

    And of the intercepts.
    """
    indptr = np.cumsum([0, *(len(posterior.terms) for posterior in posteriors)])
    indices = np.concatenate([posterior.terms for posterior in posteriors]).astype(np.int32)
    values = np.concatenate([posterior.variances[:-1] for posterior in posteriors])
    shape = (len(posteriors), n_terms)
    intercepts = np.array([posterior.variances[-1] for posterior in posteriors])
    return sparse.csr_array((values, indices, indptr.astype(np.int32)), shape=shape), intercepts


def posterior_of(
    problem: LinearProblem,
    category: int,
    solution: Solution,
    curvatures: FloatArray | None = None,
) -> WeightPosterior:
    """Make the Laplace approximation about a mode.

    `curvatures` are minus the second derivatives of the log-likelihood by each document's score,
    times its importance; by default those of the link.

    Examples
    --------
    >>> from bayesift.models.linear import GaussianPrior, Probit
    >>> members = sparse.csr_array(np.array([[1, 0]]))
    >>> rows = sparse.csr_array(np.array([[1.0], [-1.0]]))
    >>> problem = LinearProblem(rows, members, np.ones(2), Probit(), GaussianPrior(), np.zeros(3))
    >>> posterior_of(problem, 0,
    ...     Solution(np.zeros(1), 0.0, np.empty(0), 0, True)).variances.round(4).tolist()
    [0.4399, 0.0]
    """
    penalty = problem.penalty(category)
    weights = solution.coefficients
    at_mode = (weights == penalty[2]) & (penalty[0] > 0)
    known = (at_mode & (penalty[2] == 0)) | (weights == penalty[3]) | (weights == penalty[4])
    terms = problem.terms_of(category)
    terms = terms[~known[terms]]
    if curvatures is None:
        curvatures = _curvatures(problem, category, solution)
    free, precision, _ = problem.intercept
    ones = np.full((len(curvatures), 1), free)
    design = sparse.csc_array(sparse.hstack([problem.columns[:, terms], ones]))
    curved = np.where(at_mode, penalty[0] ** 2 / 2, penalty[1])  # variance 2 / gamma
    ridge = np.append(curved[terms], precision if free else 1.0)
    varies = np.append(np.ones(len(terms)), free)
    if len(terms) > _LARGEST:
        return WeightPosterior(terms, varies / (design.multiply(design).T @ curvatures + ridge))
    hessian = (
        design.T @ sparse.csc_array(design * curvatures[:, np.newaxis])
    ).toarray() + np.diag(ridge)
    covariance = varies[:, np.newaxis] * linalg.pinvh(hessian) * varies
    return WeightPosterior(terms, (covariance + covariance.T) / 2)


def _curvatures(problem: LinearProblem, category: int, solution: Solution) -> Array:
    margins = problem.signs(category) * (
        problem.rows @ solution.coefficients + solution.intercept
    )
    return problem.importance_of(category) * log_likelihoods(problem.link, margins)[2]


def score_interval(
    scores: FloatArray, deviations: FloatArray, mass: float
) -> tuple[Array, Array]:
    """Return the ends of the central interval that holds this much probability."""
    if not 0 < mass < 1:
        raise ValueError(f"mass must lie between 0 and 1, got {mass!r}")
    reach = float(ndtri((1.0 + mass) / 2.0)) * deviations
    return scores - reach, scores + reach


def normalised_bounds(logarithms: FloatArray, low: Array, high: Array) -> tuple[Array, Array]:
    """Return bounds of normalised probabilities when one logarithm moves from low to high."""
    total = logsumexp(logarithms, axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        others = total + np.log1p(-np.exp(logarithms - total))
    return expit(low - others), expit(high - others)
