"""The variational bound of Jaakkola & Jordan (2000), for the logit link and Gaussian priors.

For every xi the log-likelihood of a margin z has a quadratic lower bound, tight at z = xi and z =
-xi:

    log psi(z) >= log psi(xi) + (z - xi) / 2 - l(xi) (z^2 - xi^2),   l(xi) = tanh(xi / 2) / (4 xi)

Under it the posterior is normal, with precision S^-1 = P + 2 sum_i c_i l(xi_i) x_i x_i' and mean
m = S (P mode + sum_i c_i y_i x_i / 2), P being the precision of the prior, and the evidence is at
least

    sum_i c_i (log psi(xi_i) - xi_i / 2 + l(xi_i) xi_i^2)
        + (m' S^-1 m - mode' P mode + log |S| + log |P|) / 2

(a flat intercept adds nothing to log |P|). There are two ways to tighten it, neither of which ever
loosens it:

    "variational"        xi_i^2 = x_i' (S + m m') x_i   raises the bound of the evidence; the
                         result is the mean, which lies near the mode but is not the mode: it
                         allows for the width of the posterior
    "variational-mode"   xi_i = |x_i' m|                raises the bound of the posterior at m,
                         up to the mode itself

Matrices are dense: for at most 2000 terms. Cost of a round: entries of X x terms, and a
factorisation.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from bayesift.arrays import Array, FloatArray
from bayesift.kernels.likelihoods import LOGIT
from bayesift.models.linear.posterior import WeightPosterior
from bayesift.models.linear.problem import LinearProblem, Solution

_MOST_TERMS = 2000  # terms
_STOPPING_SHARE = 1e-1  # change of xi at which to stop, as a share of the tolerance


def solve_by_bound(
    problem: LinearProblem,
    category: int,
    start: Solution | None = None,
    *,
    to_mode: bool = False,
) -> Solution:
    """Find the mean of one category's weights under the bound, or their mode."""
    return _solve(problem, category, start, to_mode=to_mode)[0]


def variational_posterior(
    problem: LinearProblem, category: int, start: Solution | None = None
) -> tuple[Solution, WeightPosterior]:
    """Find the normal posterior of one category's weights under the bound.

    The objective of the solution is minus the bound of the log evidence after each round.
    """
    solution, design, covariance = _solve(problem, category, start, to_mode=False)
    whole = np.zeros((len(design.terms) + 1, len(design.terms) + 1))
    whole[: len(covariance), : len(covariance)] = covariance
    return solution, WeightPosterior(design.terms, whole)


def _solve(
    problem: LinearProblem, category: int, start: Solution | None, *, to_mode: bool
) -> tuple[Solution, _BoundedPosterior, Array]:
    _refuse(problem, category)
    design = _BoundedPosterior(problem, category)
    xi = np.ones(problem.rows.shape[0])
    trace = []
    converged = False
    if start is not None:
        first = np.append(
            start.coefficients[design.terms],
            [start.intercept] * (len(design.mode) - len(design.terms)),
        )
        xi = design.spreads(first, None)
    mean, covariance, bound = design.normal(xi)
    for _ in range(problem.max_iter):
        trace.append(problem.objective(category, *design.weights(mean)) if to_mode else -bound)
        before = xi
        xi = design.spreads(mean, None if to_mode else covariance)
        mean, covariance, bound = design.normal(xi)
        if (
            np.max(np.abs(xi - before) / (1.0 + before), initial=0.0)
            <= _STOPPING_SHARE * problem.tolerance
        ):
            converged = True
            break
    trace.append(problem.objective(category, *design.weights(mean)) if to_mode else -bound)
    return (
        Solution(*design.weights(mean), np.array(trace), len(trace) - 1, converged),
        design,
        covariance,
    )


def _refuse(problem: LinearProblem, category: int) -> None:
    """Refuse what the bound does not cover."""
    if problem.link.code != LOGIT:
        raise ValueError("the variational bound is that of the logit link; use solver='auto'")
    if np.any(problem.prior.sign):
        raise ValueError(
            "the variational bound takes no sign constraints; use solver='coordinate'"
        )
    n_terms = len(problem.terms_of(category))
    if n_terms > _MOST_TERMS:
        raise ValueError(
            f"the variational bound is for at most {_MOST_TERMS} terms, got {n_terms}; select "
            "some first"
        )


class _BoundedPosterior:
    """One category's documents, and the normal posterior that a bound makes.

    The intercept is a last column.
    """

    def __init__(self, problem: LinearProblem, category: int) -> None:
        self.terms = problem.terms_of(category)
        penalty = problem.penalty(category)
        self.n_terms = problem.n_terms
        free, precision, centre = problem.intercept
        columns = problem.columns if problem.terms is None else problem.columns[:, self.terms]
        self.importance = problem.importance_of(category)
        self.signs = problem.signs(category)
        last = np.ones((len(self.signs), 1))
        self.rows = sparse.csr_array(sparse.hstack([columns, last]) if free else columns)
        self.precision = np.append(penalty[1, self.terms], [precision] if free else [])
        self.mode = np.append(penalty[2, self.terms], [centre] if free else [])
        self.shift = 0.0 if free else float(centre)
        self.target = self.precision * self.mode + self.rows.T @ (
            0.5 * self.importance * self.signs
        )

    def normal(self, xi: FloatArray) -> tuple[Array, Array, float]:
        """Mean and covariance under the bound, and the bound of the log evidence."""
        curvatures = 2.0 * self.importance * bound_curvature(xi)
        target = self.target - self.rows.T @ (curvatures * self.shift)
        inverse = (self.rows.T @ (self.rows * curvatures[:, None])).toarray()
        inverse[np.diag_indices_from(inverse)] += self.precision
        factor = linalg.cho_factor(inverse, lower=True)
        mean = linalg.cho_solve(factor, target)
        proper = self.precision > 0
        log_ratio = (
            np.log(self.precision[proper]).sum() - 2.0 * np.log(np.diag(factor[0])).sum()
        )
        heights = (
            -np.log1p(np.exp(-xi)) - 0.5 * xi + bound_curvature(xi) * (xi**2 - self.shift**2)
        )
        heights += 0.5 * self.signs * self.shift
        bound = self.importance @ heights + 0.5 * (
            mean @ target - self.precision @ self.mode**2 + log_ratio
        )
        return mean, linalg.cho_solve(factor, np.eye(len(mean))), float(bound)

    def weights(self, mean: FloatArray) -> tuple[Array, float]:
        """Coefficients of all terms, and the intercept."""
        coefficients = np.zeros(self.n_terms)
        coefficients[self.terms] = mean[: len(self.terms)]
        return coefficients, float(mean[-1]) if len(mean) > len(self.terms) else self.shift

    def spreads(self, mean: FloatArray, covariance: FloatArray | None) -> FloatArray:
        """Return the root mean square of each score; its size without a covariance."""
        scores: FloatArray = self.rows @ mean + self.shift
        if covariance is None:
            return np.abs(scores)
        variances = np.asarray(self.rows.multiply(self.rows @ covariance).sum(axis=1)).ravel()
        spreads: FloatArray = np.sqrt(scores**2 + variances)
        return spreads


def bound_curvature(xi: FloatArray) -> Array:
    """Return the coefficient l(xi) = tanh(xi / 2) / (4 xi), 1/8 at 0."""
    safe = np.where(xi > 1e-4, xi, 1.0)
    return np.where(xi > 1e-4, np.tanh(safe / 2.0) / (4.0 * safe), 0.125 - xi**2 / 96.0)
