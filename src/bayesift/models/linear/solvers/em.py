"""EM and block EM (ECM), for every prior that is a scale mixture of normals.

E-step: the expected precision of each weight (`Prior.spread`) and the expected latent score v = f +
residual / kappa, with kappa the bound of the curvature of the link. For the probit link (kappa = 1)
this is the EM algorithm of Figueiredo & Jain (eqs. 9-14 of Eyheramendy et al.); other links have v
from the same quadratic bound, so that no step ascends.

M-step: with U = diag(spread) the solution U (I + U X'WX U)^-1 U X'W v never divides by a weight,
however small. Weights are not snapped to 0 on the way (that stops short of the mode), only at the
end. With blocks, a sub-vector is updated at a time, each with its own E-step: the matrices to solve
are those of the blocks.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.priors import row_of
from bayesift.models.linear.problem import LinearProblem, Solution

_NEGLIGIBLE_WEIGHT_SHARE = (
    1e-8  # relative to the largest weight; below it a weight is on its way to 0
)
_STOPPING_SHARE = 1e-2  # change of the weights at which to stop, as a share of the tolerance


def solve_by_em(
    problem: LinearProblem,
    category: int,
    start: Solution | None = None,
    *,
    block: int | None = None,
) -> Solution:
    """Find the mode of one category's weights, or a local one under the Jeffreys prior."""
    if np.any(problem.prior.sign):
        raise ValueError("EM takes no sign constraints; use solver='coordinate'")
    terms = problem.terms_of(category)
    design = _LeastSquares(problem, category, terms)
    mode = row_of(problem.prior.mode, category, problem.n_terms)[terms]
    distance, intercept = (
        design.ridge() if start is None else (start.coefficients[terms] - mode, start.intercept)
    )
    blocks = np.array_split(
        np.arange(len(terms)), max(1, -(-len(terms) // (block or max(1, len(terms)))))
    )
    grams = [design.gram(indices) for indices in blocks]
    trace = []
    converged = False
    for _ in range(problem.max_iter):
        before = np.append(distance, intercept)
        for indices, gram in zip(blocks, grams, strict=True):
            residuals = design.residuals(mode + distance, intercept)
            spread = _spread(problem, category, terms, distance)[indices]
            distance[indices], intercept = design.step(
                indices, gram, spread, distance[indices], intercept, residuals
            )
        change = np.abs(np.append(distance, intercept) - before).max()
        largest = np.abs(distance).max(initial=1.0)
        coefficients = np.zeros(problem.n_terms)
        coefficients[terms] = mode + distance
        trace.append(problem.objective(category, coefficients, intercept))
        if change <= _STOPPING_SHARE * problem.tolerance * largest:
            converged = True
            break
    distance[
        np.abs(distance) < _NEGLIGIBLE_WEIGHT_SHARE * np.abs(distance).max(initial=0.0)
    ] = 0.0
    coefficients = problem.mode(category) * 0.0
    coefficients[terms] = mode + distance
    return Solution(coefficients, float(intercept), np.array(trace), len(trace), converged)


def _spread(
    problem: LinearProblem, category: int, terms: IntArray, distance: FloatArray
) -> Array:
    whole = np.zeros(problem.n_terms)
    whole[terms] = distance
    return problem.prior.spread(whole, category)[terms]


class _LeastSquares:
    """The columns of one category and the least-squares problems of its M-steps.

    The intercept comes last.
    """

    def __init__(self, problem: LinearProblem, category: int, terms: IntArray) -> None:
        self.link = problem.link
        self.bound = problem.link.curvature_bound
        if len(terms) == problem.n_terms:
            self.columns = problem.columns
        else:
            self.columns = problem.columns[:, terms]
        self.signs = problem.signs(category)
        self.importance = problem.importance_of(category)
        self.free, self.precision, self.centre = problem.intercept

    def gram(self, indices: Array) -> Array:
        """Kappa X'WX of these columns and the intercept."""
        columns = self.columns[:, indices]
        weighted = sparse.csc_array(columns * self.importance[:, np.newaxis])
        sums = weighted.sum(axis=0)
        whole = np.block(
            [
                [(columns.T @ weighted).toarray(), sums[:, None]],
                [sums[None], self.importance.sum()],
            ]
        )
        return self.bound * whole

    def residuals(self, weights: FloatArray, intercept: float) -> FloatArray:
        """Return the derivative of the log-likelihood for each score."""
        margins = self.signs * (self.columns @ weights + intercept)
        return self.importance * self.signs * log_likelihoods(self.link, margins)[1]

    def step(
        self,
        indices: Array,
        gram: FloatArray,
        spread: FloatArray,
        distance: FloatArray,
        intercept: float,
        residuals: FloatArray,
    ) -> tuple[Array, float]:
        """Make the M-step of one block."""
        now = np.append(distance, intercept)
        target = gram @ now + np.append(self.columns[:, indices].T @ residuals, residuals.sum())
        target[-1] += self.precision * self.centre
        scale = np.append(spread, self.free)
        matrix = scale[:, None] * gram * scale
        matrix[np.diag_indices_from(matrix)] += 1.0
        matrix[-1, -1] += self.precision - 1.0 if self.free else 0.0
        moved = scale * linalg.solve(matrix, scale * target, assume_a="pos")
        return moved[:-1], float(moved[-1]) if self.free else intercept

    def ridge(self) -> tuple[Array, float]:
        """(X'X + I)^-1 X'y, the start of Figueiredo & Jain."""
        n_terms = self.columns.shape[1]
        gram = self.gram(np.arange(n_terms)) / self.bound
        target = np.append(
            self.columns.T @ (self.importance * self.signs), self.importance @ self.signs
        )
        gram[np.diag_indices_from(gram)] += 1.0
        if not self.free:
            gram = gram[:-1, :-1]
            target = target[:-1]
        found = linalg.solve(gram, target, assume_a="pos")
        return found[:n_terms], float(found[-1]) if self.free else self.centre
