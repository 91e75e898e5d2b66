"""Truncated Newton for smooth priors: conjugate gradients for a block of categories at a time.

All categories of a block share each pass over the matrix (`bayesift.kernels.blocks`); each has its own conjugate
directions, preconditioned by the diagonal of its Hessian, its own forcing term and its own line search. Stops where the
gradient bounds what the objective can still fall by tol^2 of it, as in `bayesift.models.linear.solvers.dual`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.blocks import times, transposed_times
from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.priors import penalty_rows
from bayesift.models.linear.problem import Problem, Solution

Array = np.ndarray[Any, Any]

BLOCK = 8
_CONJUGATE_STEPS = 60


class _Block:
    """Weights (terms, then the intercept; a column a category) and the derivatives of their posterior."""

    def __init__(self, problem: Problem, categories: list[int], starts: list[Solution | None]) -> None:
        self.rows, self.link = problem.rows, problem.link
        self.signs = np.stack([problem.signs(c) for c in categories], axis=1)
        self.importance = np.stack([problem.importance_of(c) for c in categories], axis=1)
        penalties = [penalty_rows(problem.prior, c, problem.n_terms) for c in categories]
        free, precision, centre = problem.intercept
        tail = np.full((1, len(categories)), 1.0)
        self.precision = np.vstack([np.stack([p[1] for p in penalties], axis=1), precision * tail])
        self.centre = np.vstack([np.stack([p[2] for p in penalties], axis=1), centre * tail])
        self.used = np.ones_like(self.precision)
        self.used[-1] = free
        for place, c in enumerate(categories if problem.terms is not None else []):
            self.used[:-1, place] = 0.0
            self.used[problem.terms_of(c), place] = 1.0
        self.weights = self.centre.copy()
        self.weights[-1] = problem.start_intercepts[categories]
        for place, start in enumerate(starts):
            if start is not None:
                self.weights[:, place] = np.append(start.coefficients, start.intercept)
        self.weights[:-1][self.used[:-1] == 0] = 0.0

    def scores(self, weights: Array) -> Array:
        """X weights + intercept, documents x categories."""
        out = np.empty(self.signs.shape)
        times(self.rows.indptr, self.rows.indices, self.rows.data, weights, out)
        out += weights[-1]
        return out

    def back(self, values: Array) -> Array:
        """The transposed product, with the sum of the values last."""
        out = np.empty(self.weights.shape)
        transposed_times(self.rows.indptr, self.rows.indices, self.rows.data, values, out)
        out[-1] = values.sum(axis=0)
        out *= self.used
        return out

    def objective(self, scores: Array, weights: Array) -> tuple[Array, Array, Array]:
        """Minus the log posterior of each category, and pulls and curvatures of the documents."""
        logarithms, slopes, curvatures = log_likelihoods(self.link, self.signs * scores)
        cost = 0.5 * np.sum(self.precision * self.used * (weights - self.centre) ** 2, axis=0)
        loss = cost - np.sum(self.importance * logarithms, axis=0)
        return loss, self.importance * self.signs * slopes, self.importance * curvatures

    def gradient(self, pulls: Array) -> Array:
        """Of minus the log posterior."""
        gradient: Array = self.used * self.precision * (self.weights - self.centre) - self.back(pulls)
        return gradient

    def size(self, gradient: Array, curvatures: Array) -> Array:
        """The square of the gradient in units of the prior; half of it bounds how far the objective can fall."""
        scale = self.precision.copy()
        scale[-1] += curvatures.sum(axis=0)
        size: Array = np.sum(gradient**2 / np.where(scale > 0, scale, 1.0), axis=0)
        return size

    def direction(self, gradient: Array, curvatures: Array, squares: Any, forcing: Array) -> Array:
        """Minus the inverse Hessian times the gradient, by conjugate gradients."""
        diagonal = self.precision + np.vstack([squares.T @ curvatures, curvatures.sum(axis=0)[None]])
        diagonal = np.where(diagonal > 0, diagonal, 1.0)
        step, residual = np.zeros_like(gradient), -gradient
        scaled = residual / diagonal
        search, power = scaled.copy(), np.sum(residual * scaled, axis=0)
        goal = forcing**2 * power
        active = power > 0
        for _ in range(_CONJUGATE_STEPS):
            image = self.back(curvatures * self.scores(search)) + self.used * self.precision * search
            bend = np.sum(search * image, axis=0)
            length = np.where(active & (bend > 0), power / np.where(bend > 0, bend, 1.0), 0.0)
            step += length * search
            residual -= length * image
            np.divide(residual, diagonal, out=scaled)
            after = np.sum(residual * scaled, axis=0)
            active &= after > goal
            if not active.any():
                break
            search *= np.where(power > 0, after / np.where(power > 0, power, 1.0), 0.0)
            search += scaled
            power = after
        return step


def solve_by_newton(problem: Problem, categories: list[int], starts: list[Solution | None]) -> list[Solution]:
    """The modes of a block of categories.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows = sparse.csr_array(np.eye(4))
    >>> members = sparse.csr_array(np.array([[1, 1, 0, 0]]))
    >>> problem = Problem(rows, members, np.ones(4), Logit(), GaussianPrior(), np.array([1.0, 0.0, 0.0]))
    >>> solve_by_newton(problem, [0], [None])[0].coefficients.round(2).tolist()
    [0.4, 0.4, -0.4, -0.4]
    """
    if np.any(problem.prior.sign):
        raise ValueError("Newton's method takes no sign constraints; use solver='coordinate'")
    block = _Block(problem, categories, starts)
    squares = problem.rows.multiply(problem.rows).tocsr()
    scores = block.scores(block.weights)
    loss, pulls, curvatures = block.objective(scores, block.weights)
    trace, done, first = [loss], np.zeros(len(categories), dtype=bool), None
    for _ in range(problem.max_iter):
        gradient = block.gradient(pulls)
        size = block.size(gradient, curvatures)
        done = size <= problem.small_gradient(loss)
        if done.all():
            break
        first = size if first is None else first
        forcing = np.where(done, 1.0, np.minimum(0.3, (size / np.maximum(first, 1e-300)) ** 0.25))
        step = block.direction(np.where(done, 0.0, gradient), curvatures, squares, forcing)
        share = _search(block, step, scores, loss, np.sum(gradient * step, axis=0))
        block.weights += share * step
        scores = block.scores(block.weights)
        loss, pulls, curvatures = block.objective(scores, block.weights)
        trace.append(loss)
    objectives = np.array(trace)
    return [
        Solution(w[:-1].copy(), float(w[-1]), objectives[:, k], len(trace) - 1, bool(done[k]))
        for k, w in enumerate(block.weights.T)
    ]


def _search(block: _Block, step: Array, scores: Array, loss: Array, slope: Array) -> Array:
    """For each category the first of 1, 1/2, 1/4, ... of the step that lowers its objective enough."""
    moves, share = block.scores(step), np.ones(len(loss))
    for _ in range(40):
        new = block.objective(scores + share * moves, block.weights + share * step)[0]
        enough = new <= loss + 1e-4 * share * slope + 1e-14 * np.abs(loss)
        if enough.all():
            break
        share = np.where(enough, share, 0.5 * share)
    return share
