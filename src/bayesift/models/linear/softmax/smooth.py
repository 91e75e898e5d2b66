"""Softmax regression under normal priors: truncated Newton, all classes in each pass over the matrix.

Weights are mode + spread x theta, with spread the standard deviation of each: theta has a standard normal prior, and a
spread of 0 keeps a weight at its mode, so that nothing is ever divided by a variance. Intercepts, the last row of
theta, have a spread of 1 and a precision of their own, 0 when they are flat.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from bayesift.kernels import softmax as kernels
from bayesift.models.linear.priors import row_of
from bayesift.models.linear.problem import Problem, Solution
from bayesift.models.linear.softmax.start import labels_of, start_of

Array = np.ndarray[Any, Any]

_CONJUGATE_STEPS = 60
_LOOSEST = 0.3  # relative precision of a Newton direction


class NormalModel:
    """The posterior over theta, terms (and intercepts, last) x classes; classes are filled up to a multiple of four."""

    def __init__(self, problem: Problem, rows: sparse.csr_array, centre: Array, spread: Array) -> None:
        self.rows, self.columns = rows, sparse.csc_array(rows)
        self.squares = self.columns.data**2
        self.labels, self.importance, self.n_classes = labels_of(problem), problem.importance, problem.members.shape[0]
        free, precision, middle = problem.intercept
        self.centre = self._padded(centre, middle)
        self.spread = self._padded(spread, free)
        self.ridge = np.append(np.ones(rows.shape[1]), precision)[:, np.newaxis]
        self.base = self._scores_of(self.centre)

    def _padded(self, by_class: Array, last: float) -> Array:
        out = np.zeros((by_class.shape[1] + 1, -(-self.n_classes // 4) * 4))
        out[:-1, : self.n_classes] = by_class.T
        out[-1, : self.n_classes] = last
        return out

    def theta_of(self, weights: Array, intercepts: Array) -> Array:
        """Of these weights, classes x terms; 0 where there is no spread."""
        distance = self._padded(weights, 0.0) - self.centre
        distance[-1, : self.n_classes] = intercepts - self.centre[-1, : self.n_classes]
        theta: Array = np.divide(distance, self.spread, out=np.zeros_like(distance), where=self.spread > 0)
        return theta

    def weights_of(self, theta: Array) -> tuple[Array, Array]:
        """Weights, classes x terms, and intercepts."""
        whole = (self.centre + self.spread * theta)[:, : self.n_classes]
        return np.ascontiguousarray(whole[:-1].T), whole[-1].copy()

    def _scores_of(self, weights: Array) -> Array:
        out = np.empty((self.rows.shape[0], weights.shape[1]))
        kernels.products(self.rows.indptr, self.rows.indices, self.rows.data, weights, out)
        out += weights[-1]
        return out

    def _back(self, values: Array, data: Array) -> Array:
        """The transposed product with a matrix of these entries, and sums of the values last."""
        out = np.empty_like(self.spread)
        kernels.products(self.columns.indptr, self.columns.indices, data, values, out)
        out[-1] = values.sum(axis=0)
        return out

    def moves(self, step: Array) -> Array:
        """The change of the scores for a step of theta."""
        return self._scores_of(self.spread * step)

    def objective(self, theta: Array, scores: Array) -> float:
        """Minus the log posterior."""
        used = scores[:, : self.n_classes]
        losses = logsumexp(used, axis=1) - used[np.arange(len(used)), self.labels]
        return float(self.importance @ losses + 0.5 * np.sum(self.ridge * theta**2))

    def probabilities(self, scores: Array) -> Array:
        """Documents x classes; 0 in the classes that fill up."""
        out = np.zeros_like(scores)
        used = scores[:, : self.n_classes]
        out[:, : self.n_classes] = np.exp(used - logsumexp(used, axis=1, keepdims=True))
        return out

    def gradient(self, theta: Array, probabilities: Array) -> Array:
        """Of the objective."""
        residuals = self.importance[:, np.newaxis] * probabilities
        residuals[np.arange(len(residuals)), self.labels] -= self.importance
        gradient: Array = self.spread * self._back(residuals, self.columns.data) + self.ridge * theta
        return gradient

    def direction(self, gradient: Array, probabilities: Array, precision: float) -> Array:
        """Minus the inverse Hessian times the gradient, by conjugate gradients preconditioned by the diagonal."""
        weighted = self.importance[:, np.newaxis] * probabilities
        diagonal = self.spread**2 * self._back(weighted * (1.0 - probabilities), self.squares) + self.ridge
        diagonal[diagonal <= 0] = 1.0
        step, residual = np.zeros_like(gradient), -gradient
        search = residual / diagonal
        power = float(np.vdot(residual, search))
        goal = precision**2 * power
        for _ in range(_CONJUGATE_STEPS):
            if power <= goal:
                break
            changes = self.moves(search)
            changes -= np.sum(probabilities * changes, axis=1, keepdims=True)
            image = self.spread * self._back(weighted * changes, self.columns.data) + self.ridge * search
            bend = float(np.vdot(search, image))
            if bend <= 0:
                break
            flat = (array.ravel() for array in (search, image, diagonal, step, residual))
            after = kernels.descend(power / bend, *flat)
            kernels.turn(after / power, residual.ravel(), diagonal.ravel(), search.ravel())
            power = after
        return step

    def minimise(self, theta: Array, tolerance: float, rounds: int) -> tuple[Array, list[float], bool]:
        """The mode, the objective of each round, and whether the gradient fell to the tolerance of its size at 0."""
        scores = self.base + self.moves(theta)
        trace, converged = [self.objective(theta, scores)], False
        first = float(np.linalg.norm(self.gradient(np.zeros_like(theta), self.probabilities(self.base))))
        for _ in range(rounds):
            probabilities = self.probabilities(scores)
            gradient = self.gradient(theta, probabilities)
            size = float(np.linalg.norm(gradient))
            converged = size <= tolerance * first
            if converged:
                break
            step = self.direction(gradient, probabilities, min(_LOOSEST, (size / max(first, 1e-300)) ** 0.5))
            share, scores, objective = self._search(theta, scores, step, float(np.vdot(gradient, step)), trace[-1])
            theta = theta + share * step
            trace.append(objective)
            if share == 0.0:
                break
        return theta, trace, converged

    def _search(self, theta: Array, scores: Array, step: Array, slope: float, now: float) -> tuple[float, Array, float]:
        """The first of 1, 1/2, 1/4, ... of the step that lowers the objective enough; its scores and its objective."""
        moves, share = self.moves(step), 1.0
        for _ in range(40):
            new_scores = scores + share * moves
            new = self.objective(theta + share * step, new_scores)
            if new <= now + 1e-4 * share * slope + 1e-14 * abs(now):
                return share, new_scores, new
            share *= 0.5
        return 0.0, scores, now


def solve_by_newton(problem: Problem, starts: list[Solution | None]) -> list[Solution]:
    """The mode under a normal prior, one `Solution` a class; their objective is that of all together.

    Examples
    --------
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows, members = sparse.csr_array(np.eye(3)), sparse.csr_array(np.eye(3, dtype=np.int8))
    >>> problem = Problem(rows, members, np.ones(3), Logit(), GaussianPrior(), np.array([1.0, 0.0, 0.0]))
    >>> solve_by_newton(problem, [None] * 3)[0].coefficients.round(2).tolist()
    [0.49, -0.24, -0.24]
    """
    n_classes, n_terms = problem.members.shape[0], problem.n_terms
    centre, spread = np.zeros((n_classes, n_terms)), np.zeros((n_classes, n_terms))
    for c in range(n_classes):
        terms = problem.terms_of(c)
        centre[c, terms] = row_of(problem.prior.mode, c, n_terms)[terms]
        spread[c, terms] = problem.prior.spread(np.zeros(n_terms), c)[terms]
    model = NormalModel(problem, problem.rows, centre, spread)
    theta = model.theta_of(*start_of(problem, starts))
    theta, trace, converged = model.minimise(theta, problem.tolerance, problem.max_iter)
    return solutions_of(*model.weights_of(theta), np.array(trace), converged=converged)


def solutions_of(weights: Array, intercepts: Array, objectives: Array, *, converged: bool) -> list[Solution]:
    """One `Solution` a class."""
    rounds = max(1, len(objectives) - 1)
    return [Solution(w, float(b), objectives, rounds, converged) for w, b in zip(weights, intercepts, strict=True)]
