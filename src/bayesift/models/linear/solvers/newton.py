"""Truncated Newton and L-BFGS for smooth priors.

Newton: all categories of a block share each pass over the matrix (`bayesift.kernels.products`);
each has its own conjugate directions, preconditioned by the diagonal of its Hessian, its own
forcing term and its own line search. L-BFGS is scipy's, one category at a time. Both stop as dual
coordinate ascent does (`Problem.small_gradient`).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from bayesift.arrays import Array, FloatArray
from bayesift.kernels.linear import L2, LOWER, MODE, UPPER
from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.priors import penalty_rows
from bayesift.models.linear.problem import LinearProblem, Solution
from bayesift.models.linear.solvers.line_search import StepLengths, backtrack

BLOCK = 8
_CONJUGATE_STEPS = 60
_ROUNDING = 1e-14  # of the objective: scipy's line search cannot find a smaller decrease


class _NewtonBlock:
    """Weights (terms, then the intercept.

    One column per category) and the derivatives of their posterior.
    """

    def __init__(
        self, problem: LinearProblem, categories: list[int], starts: list[Solution | None]
    ) -> None:
        self.design = problem.design
        self.link = problem.link
        self.signs = np.stack([problem.signs(c) for c in categories], axis=1)
        self.importance = np.stack([problem.importance_of(c) for c in categories], axis=1)
        penalties = [penalty_rows(problem.prior, c, problem.n_terms) for c in categories]
        free, precision, centre = problem.intercept
        tail = np.full((1, len(categories)), 1.0)
        self.precision = np.vstack(
            [np.stack([p[L2] for p in penalties], axis=1), precision * tail]
        )
        self.centre = np.vstack([np.stack([p[MODE] for p in penalties], axis=1), centre * tail])
        self.used = np.ones_like(self.precision)
        self.used[-1] = free
        for index, c in enumerate(categories if problem.terms is not None else []):
            self.used[:-1, index] = 0.0
            self.used[problem.terms_of(c), index] = 1.0
        self.weights = self.centre.copy()
        self.weights[-1] = problem.start_intercepts[categories]
        for index, start in enumerate(starts):
            if start is not None:
                self.weights[:, index] = np.append(start.coefficients, start.intercept)
        self.weights[:-1][self.used[:-1] == 0] = 0.0

    def scores(self, weights: FloatArray) -> FloatArray:
        """X weights + intercept, documents x categories."""
        out = np.empty(self.signs.shape)
        self.design.times(weights, out)
        out += weights[-1]
        return out

    def back(self, values: FloatArray) -> Array:
        """Return the transposed product, with the sum of the values last."""
        out = np.empty(self.weights.shape)
        self.design.transposed_times(values, out)
        out[-1] = values.sum(axis=0)
        out *= self.used
        return out

    def objective(self, scores: FloatArray, weights: FloatArray) -> tuple[Array, Array, Array]:
        """Return minus the log posterior of each category, residuals and curvatures."""
        logarithms, derivatives, curvatures = log_likelihoods(self.link, self.signs * scores)
        cost = 0.5 * np.sum(self.precision * self.used * (weights - self.centre) ** 2, axis=0)
        loss = cost - np.sum(self.importance * logarithms, axis=0)
        return loss, self.importance * self.signs * derivatives, self.importance * curvatures

    def gradient(self, residuals: FloatArray) -> FloatArray:
        """Return the gradient of minus the log posterior."""
        gradient: FloatArray = self.used * self.precision * (
            self.weights - self.centre
        ) - self.back(residuals)
        return gradient

    def size(self, gradient: FloatArray, curvatures: FloatArray) -> Array:
        """Return the square of the gradient in units of the prior.

        Half of it bounds how far the objective can fall.
        """
        scale = self.precision.copy()
        scale[-1] += curvatures.sum(axis=0)
        size: Array = np.sum(gradient**2 / np.where(scale > 0, scale, 1.0), axis=0)
        return size

    def direction(self, gradient: FloatArray, curvatures: FloatArray, forcing: Array) -> Array:
        """Minus the inverse Hessian times the gradient, by conjugate gradients."""
        diagonal = self.precision + np.vstack(
            [self.design.squares_times(curvatures), curvatures.sum(axis=0)[None]]
        )
        diagonal = np.where(diagonal > 0, diagonal, 1.0)
        step = np.zeros_like(gradient)
        residual = -gradient
        scaled = residual / diagonal
        search = scaled.copy()
        power = np.sum(residual * scaled, axis=0)
        goal = forcing**2 * power
        active = power > 0
        for _ in range(_CONJUGATE_STEPS):
            image = (
                self.back(curvatures * self.scores(search))
                + self.used * self.precision * search
            )
            curvature = np.sum(search * image, axis=0)
            length = np.where(
                active & (curvature > 0), power / np.where(curvature > 0, curvature, 1.0), 0.0
            )
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


def solve_by_newton(
    problem: LinearProblem, categories: list[int], starts: list[Solution | None]
) -> list[Solution]:
    """Find the modes of a block of categories."""
    if np.any(problem.prior.sign):
        raise ValueError("Newton's method takes no sign constraints; use solver='coordinate'")
    block = _NewtonBlock(problem, categories, starts)
    scores = block.scores(block.weights)
    loss, residuals, curvatures = block.objective(scores, block.weights)
    trace = [loss]
    first = None
    done, failed = np.zeros((2, len(categories)), dtype=bool)
    for _ in range(problem.max_iter):
        gradient = block.gradient(residuals)
        size = block.size(gradient, curvatures)
        done = size <= problem.small_gradient(loss)
        ended = done | failed
        if ended.all():
            break
        first = size if first is None else first
        forcing = np.where(
            ended, 1.0, np.minimum(0.3, (size / np.maximum(first, 1e-300)) ** 0.25)
        )
        step = block.direction(np.where(ended, 0.0, gradient), curvatures, forcing)
        found = _search(block, step, scores, loss, np.sum(gradient * step, axis=0))
        failed |= ~found.accepted
        block.weights += found.lengths * step
        scores = block.scores(block.weights)
        loss, residuals, curvatures = block.objective(scores, block.weights)
        trace.append(loss)
    objectives = np.array(trace)
    return [
        Solution(w[:-1].copy(), float(w[-1]), objectives[:, k], len(trace) - 1, bool(done[k]))
        for k, w in enumerate(block.weights.T)
    ]


def _search(
    block: _NewtonBlock, step: FloatArray, scores: FloatArray, loss: Array, slope: Array
) -> StepLengths:
    """Find the step length of each category; objectives are computed together."""
    moves = block.scores(step)
    lengths = np.ones(len(loss))

    def evaluate(indices: Array, tried: Array) -> Array:
        lengths[indices] = tried
        return block.objective(scores + lengths * moves, block.weights + lengths * step)[0][
            indices
        ]

    return backtrack(evaluate, lambda indices, tried: tried * slope[indices], loss)


def solve_by_lbfgs(
    problem: LinearProblem, category: int, start: Solution | None = None
) -> Solution:
    """Find the mode of one category's weights."""
    terms = problem.terms_of(category)
    penalty = problem.penalty(category)
    columns = problem.columns if len(terms) == problem.n_terms else problem.columns[:, terms]
    signs = problem.signs(category)
    importance = problem.importance_of(category)
    free, precision, centre = problem.intercept
    precisions = np.append(penalty[L2, terms], precision)
    modes = np.append(penalty[MODE, terms], centre)
    lower = np.append(penalty[LOWER, terms], -np.inf if free else centre)
    upper = np.append(penalty[UPPER, terms], np.inf if free else centre)
    trace: list[float] = []
    left = np.inf  # the squared gradient in units of the prior, divided by the one to stop at

    def value(weights: FloatArray) -> tuple[float, Array]:
        nonlocal left
        margins = signs * (columns @ weights[:-1] + weights[-1])
        logarithms, derivatives, curvatures = log_likelihoods(problem.link, margins)
        residuals = importance * signs * derivatives
        distance = weights - modes
        gradient = precisions * distance - np.append(
            columns.T @ residuals, residuals.sum() * free
        )
        objective = float(0.5 * precisions @ distance**2 - importance @ logarithms)
        held = ((weights <= lower) & (gradient > 0)) | ((weights >= upper) & (gradient < 0))
        scale = precisions + np.append(np.zeros(len(terms)), importance @ curvatures)
        size = np.sum(np.where(held, 0.0, gradient) ** 2 / np.where(scale > 0, scale, 1.0))
        left = float(size / problem.small_gradient(np.array(objective)))
        return objective, gradient

    def note(intermediate_result: OptimizeResult) -> None:
        trace.append(intermediate_result.fun)
        if left <= 1.0:
            raise StopIteration

    first = modes if start is None else np.append(start.coefficients[terms], start.intercept)
    found = minimize(
        value, first, jac=True, method="L-BFGS-B", bounds=np.stack([lower, upper], axis=1),
        callback=note,
        options={"maxiter": problem.max_iter, "maxfun": 10 * problem.max_iter, "ftol": 0.0,
        "gtol": 0.0},
    )  # fmt: skip
    value(found.x)
    coefficients = np.zeros(problem.n_terms)
    coefficients[terms] = found.x[:-1]
    converged = left <= max(1.0, _ROUNDING / problem.tolerance**2)
    return Solution(
        coefficients, float(found.x[-1]), np.array(trace), int(found.nit), bool(converged)
    )
