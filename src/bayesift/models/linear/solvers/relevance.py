"""Automatic relevance determination (Tipping 2001): a variance for each weight, by the evidence.

Weights have normal priors of variances tau_j, which have the prior of `GammaPrior`. A round finds
the mode m of the weights and the covariance S of Laplace's approximation about it, then sets

    tau_j = (m_j^2 + 2 rate) / (k_j + 2 shape),    k_j = 1 - S_jj / tau_j

where k_j says how well the labels determine the weight. With rate 0 the best variance of a weight,
the others as they are, is 0 where q_j^2 <= s_j, s_j = 1 / S_jj - 1 / tau_j and q_j = m_j / S_jj
(Tipping & Faul 2003); such a weight is left out once the labels hardly determine it. Weights are
deviation x theta, so that nothing is divided by a variance.

Matrices are dense: for at most 2000 terms. Cost of a round: entries of X x terms that are left, and
factorisations.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.problem import LinearProblem, Solution
from bayesift.models.linear.solvers.line_search import backtrack

_MOST_TERMS = 2000  # terms
# The largest share of a term in any score, in prior deviations, that counts as none.
_NEGLIGIBLE_SCORE_SHARE = 1e-5
_HARDLY_DETERMINED = 0.1  # k_j
_STOPPING_SHARE = 1e-2  # change of the deviations at which to stop, as a share of the tolerance
_NEWTON_STEPS = 50
_SMALLEST_VARIANCE = 1e-20


def solve_by_relevance(
    problem: LinearProblem, category: int, start: Solution | None = None
) -> Solution:
    """Find the weights of one category under the variances with the highest evidence.

    Minus its logarithm each round.
    """
    terms = problem.terms_of(category)
    if len(terms) > _MOST_TERMS:
        raise ValueError(
            f"solver 'ard' is for at most {_MOST_TERMS} terms, got {len(terms)}; select some first"
        )
    shape, rate = problem.prior.shape, problem.prior.rate  # type: ignore[attr-defined]
    if len(terms):
        reach = abs(problem.columns[:, terms]).max(axis=0).toarray().ravel()
    else:
        reach = np.zeros(0)
    left = np.arange(len(terms))
    deviations = np.ones(len(terms))
    weights = np.zeros(len(terms))
    intercept = float(problem.start_intercepts[category])
    trace = []
    converged = False
    for _ in range(problem.max_iter):
        normal = _Normal(problem, category, terms[left], deviations[left])
        weights[left], intercept, determined, objective = normal.mode(weights[left], intercept)
        trace.append(
            objective
            + float(
                np.sum(2.0 * shape * np.log(deviations[left]) + rate / deviations[left] ** 2)
            )
        )
        before = deviations.copy()
        idle = _says_nothing(weights[left], deviations[left], determined) & (rate == 0)
        deviations[left] = np.sqrt(
            (weights[left] ** 2 + 2.0 * rate)
            / np.maximum(determined + 2.0 * shape, _SMALLEST_VARIANCE)
        )
        gone = left[idle | (deviations[left] * reach[left] < _NEGLIGIBLE_SCORE_SHARE)]
        weights[gone] = deviations[gone] = 0.0
        left = left[deviations[left] > 0]
        change = np.abs(deviations - before).max(initial=0.0)
        largest = deviations.max(initial=0.0)
        if not len(left) or change <= _STOPPING_SHARE * problem.tolerance * max(
            largest, _SMALLEST_VARIANCE
        ):
            converged = True
            break
    coefficients = np.zeros(problem.n_terms)
    coefficients[terms] = weights
    return Solution(coefficients, intercept, np.array(trace), len(trace), converged)


def _says_nothing(weights: FloatArray, deviations: FloatArray, determined: Array) -> Array:
    """Whether q^2 <= s, for weights that the labels hardly determine.

    Both are multiplied by S^2 / tau.
    """
    variances = deviations**2 * (1.0 - determined)
    return (determined < _HARDLY_DETERMINED) & (weights**2 <= variances * determined)


class _Normal:
    """The posterior over theta, terms and intercept, with a normal prior per weight."""

    def __init__(
        self, problem: LinearProblem, category: int, terms: IntArray, deviations: FloatArray
    ) -> None:
        free, precision, self.centre = problem.intercept
        self.deviations = np.append(deviations, free)
        self.link = problem.link
        self.ridge = np.append(np.ones(len(terms)), precision if free else 1.0)
        last = np.ones((problem.rows.shape[0], 1))
        columns = sparse.hstack([problem.columns[:, terms], last]) @ sparse.diags_array(
            self.deviations
        )
        self.columns = sparse.csc_array(columns)
        self.signs = problem.signs(category)
        self.importance = problem.importance_of(category)

    def mode(self, weights: FloatArray, intercept: float) -> tuple[Array, float, Array, float]:
        """Return the mode, how well weights are determined, and minus the log evidence."""
        theta = np.append(weights / self.deviations[:-1], intercept - self.centre)
        objective, gradient, hessian = self._derivatives(theta)
        for _ in range(_NEWTON_STEPS):
            step = -linalg.solve(hessian, gradient, assume_a="pos")
            slope = float(gradient @ step)
            if -slope <= _SMALLEST_VARIANCE**0.5 * max(objective, 1.0):
                break
            length = self._step_length(theta, step, objective, slope)
            if length == 0.0:
                break
            theta = theta + length * step
            objective, gradient, hessian = self._derivatives(theta)
        factor = linalg.cholesky(hessian, lower=True)
        inverse = linalg.solve_triangular(factor, np.eye(len(theta)), lower=True)
        determined = np.maximum(1.0 - np.sum(inverse**2, axis=0)[:-1], 0.0)
        whole = self.deviations * theta
        evidence = objective + float(np.sum(np.log(np.diagonal(factor))))
        return whole[:-1], float(whole[-1] + self.centre), determined, evidence

    def _step_length(
        self, theta: FloatArray, step: FloatArray, objective: float, slope: float
    ) -> float:
        def evaluate(_: Array, lengths: Array) -> Array:
            return np.array([self._objective(theta + lengths[0] * step)])

        return float(
            backtrack(
                evaluate, lambda _, lengths: lengths * slope, np.array([objective])
            ).lengths[0]
        )

    def _margins(self, theta: FloatArray) -> Array:
        return np.asarray(self.signs * (self.columns @ theta + self.centre))

    def _objective(self, theta: FloatArray) -> float:
        logarithms = log_likelihoods(self.link, self._margins(theta))[0]
        return float(0.5 * self.ridge @ theta**2 - self.importance @ logarithms)

    def _derivatives(self, theta: FloatArray) -> tuple[float, Array, Array]:
        _, slopes, curvatures = log_likelihoods(self.link, self._margins(theta))
        gradient = self.ridge * theta - self.columns.T @ (self.importance * self.signs * slopes)
        weighted = sparse.csc_array(
            self.columns * (self.importance * curvatures)[:, np.newaxis]
        )
        hessian = (self.columns.T @ weighted).toarray() + np.diag(self.ridge)
        return self._objective(theta), gradient, hessian
