"""Softmax regression, all classes in each pass.

Truncated Newton and L-BFGS under normal priors, EM under all.

    beta, b = argmin  sum_i w_i (log sum_c exp f_ic - f_i,y_i) - sum_cj log p(beta_cj),
    f_ic = x_i beta_c + b_c

Every class has weights of its own, which the prior identifies; flat intercepts have a mean of 0.

Weights are mode + spread x theta, with spread the standard deviation of each: theta has a standard
normal prior, and a spread of 0 keeps a weight at its mode, so that nothing is ever divided by a
variance. Intercepts, the last row of theta, have a spread of 1 and a precision of their own, which
is 0 for flat intercepts.

EM: every prior is a scale mixture of normals (Figueiredo & Jain). An E-step makes the prior of each
weight normal with the deviation that its last value lets expect (`Prior.spread`); an M-step takes
one Newton step towards the mode under it, so that no round ascends. Weights whose spread is 0 stay
where they are, and terms that no class moves leave the matrix. Under Jeffreys' prior the mode found
is the local one that EM reaches from the ridge solution.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.optimize import OptimizeResult, minimize
from scipy.special import logsumexp

from bayesift.arrays import Array, FloatArray, SparseRows, inner
from bayesift.kernels import softmax as kernels
from bayesift.models.linear.mixed_matrix import MixedMatrix, dense_columns
from bayesift.models.linear.priors import GaussianPrior, prior_of, row_of
from bayesift.models.linear.problem import LinearProblem, Solution
from bayesift.models.linear.solvers.line_search import backtrack

# Share of documents that an empty class counts as, so that its logarithm is finite.
_RAREST_CLASS_SHARE = 1e-13
_NEGLIGIBLE_WEIGHT_SHARE = 1e-8  # relative to the largest weight
_STOPPING_SHARE = 1e-2  # change of the weights at which to stop, as a share of the tolerance
_CONJUGATE_STEPS = 60
_LOOSEST_DIRECTION = 0.3  # relative precision of a Newton direction


class NormalModel:
    """The posterior over theta, terms (and intercepts, last) x classes.

    Classes are padded to a multiple of four.
    """

    def __init__(
        self, problem: LinearProblem, rows: SparseRows, centre: Array, spread: FloatArray
    ) -> None:
        self.design = (
            problem.design if rows is problem.rows else MixedMatrix(rows, dense_columns(rows))
        )
        self.columns = sparse.csc_array(self.design.sparse)
        self.single = self.design.table.astype(
            np.float32
        )  # precise enough for directions, and twice as quick
        self.labels = labels_of(problem)
        self.importance = problem.importance
        self.n_classes = problem.members.shape[0]
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

    def theta_of(self, weights: FloatArray, intercepts: FloatArray) -> Array:
        """Theta of these weights, classes x terms; 0 where the spread is 0."""
        distance = self._padded(weights, 0.0) - self.centre
        distance[-1, : self.n_classes] = intercepts - self.centre[-1, : self.n_classes]
        theta: FloatArray = np.divide(
            distance, self.spread, out=np.zeros_like(distance), where=self.spread > 0
        )
        return theta

    def weights_of(self, theta: FloatArray) -> tuple[Array, Array]:
        """Weights, classes x terms, and intercepts."""
        whole = (self.centre + self.spread * theta)[:, : self.n_classes]
        return np.ascontiguousarray(whole[:-1].T), whole[-1].copy()

    def _scores_of(self, weights: FloatArray, table: Array | None = None) -> Array:
        """Return the scores by weights; `table` has the dense columns in another precision."""
        rows = self.design.sparse
        dense = self.design.dense
        out = np.empty((rows.shape[0], weights.shape[1]))
        kernels.products(rows.indptr, rows.indices, rows.data, weights, out)
        if len(dense):
            table = self.design.table if table is None else table
            out += table @ weights[dense].astype(table.dtype, copy=False)
        out += weights[-1]
        return out

    def _back(
        self,
        values: FloatArray,
        power: int = 1,
        table: Array | None = None,
        out: Array | None = None,
    ) -> Array:
        """Multiply by the transposed matrix, or by that of its squares; sums of values last."""
        out = np.empty_like(self.spread) if out is None else out
        dense = self.design.dense
        data = self.columns.data
        entries = data if power == 1 else data**power
        kernels.products(self.columns.indptr, self.columns.indices, entries, values, out)
        if len(dense):
            table = self.design.table if table is None else table
            out[dense] = (table if power == 1 else table**power).T @ values.astype(
                table.dtype, copy=False
            )
        out[-1] = values.sum(axis=0)
        return out

    def moves(self, step: FloatArray) -> Array:
        """Return the change of the scores by a step of theta."""
        return self._scores_of(self.spread * step)

    def objective(self, theta: FloatArray, scores: FloatArray) -> float:
        """Minus the log posterior."""
        used = scores[:, : self.n_classes]
        losses = logsumexp(used, axis=1) - used[np.arange(len(used)), self.labels]
        return inner(self.importance, losses) + 0.5 * float(np.sum(self.ridge * theta**2))

    def probabilities(self, scores: FloatArray) -> Array:
        """Documents x classes; 0 in the padding."""
        out = np.zeros_like(scores)
        used = scores[:, : self.n_classes]
        out[:, : self.n_classes] = np.exp(used - logsumexp(used, axis=1, keepdims=True))
        return out

    def gradient(self, theta: FloatArray, probabilities: FloatArray) -> FloatArray:
        """Return the gradient of the objective."""
        residuals = self.importance[:, np.newaxis] * probabilities
        residuals[np.arange(len(residuals)), self.labels] -= self.importance
        return self.spread * self._back(residuals) + self.ridge * theta

    def first_slope(self) -> float:
        """Return the length of the gradient at 0."""
        gradient = self.gradient(np.zeros_like(self.spread), self.probabilities(self.base))
        return math.sqrt(inner(gradient, gradient))

    def hessian_product(
        self,
        search: FloatArray,
        probabilities: FloatArray,
        table: Array | None = None,
        out: Array | None = None,
    ) -> Array:
        """Multiply a step by the Hessian of the objective; `table` as for the scores.

        `out` takes the result: new memory for each product takes as long as the product.
        """
        image = np.multiply(self.spread, search, out=out)
        changes = self._scores_of(image, table)
        changes -= np.einsum("dc,dc->d", probabilities, changes)[:, np.newaxis]
        changes *= probabilities
        changes *= self.importance[:, np.newaxis]
        self._back(changes, 1, table, image)
        image *= self.spread
        image[:-1] += search[:-1]
        image[-1] += self.ridge[-1] * search[-1]
        return image

    def direction(
        self, gradient: FloatArray, probabilities: FloatArray, precision: float
    ) -> Array:
        """Return minus the inverse Hessian times the gradient, by conjugate gradients."""
        weighted = self.importance[:, np.newaxis] * probabilities
        diagonal = (
            self.spread**2 * self._back(weighted * (1.0 - probabilities), 2, self.single)
            + self.ridge
        )
        diagonal[diagonal <= 0] = 1.0
        step = np.zeros_like(gradient)
        residual = -gradient
        search = residual / diagonal
        power = inner(residual, search)
        goal = precision**2 * power
        image = np.empty_like(search)
        for _ in range(_CONJUGATE_STEPS):
            if power <= goal:
                break
            self.hessian_product(search, probabilities, self.single, image)
            curvature = inner(search, image)
            if curvature <= 0:
                break
            flat = (array.ravel() for array in (search, image, diagonal, step, residual))
            after = kernels.cg_step(power / curvature, *flat)
            kernels.cg_direction(
                after / power, residual.ravel(), diagonal.ravel(), search.ravel()
            )
            power = after
        return step

    def minimise(
        self, theta: FloatArray, tolerance: float, rounds: int
    ) -> tuple[Array, list[float], bool]:
        """Find the mode, the objective of each round, and whether it converged."""
        scores = self.base + self.moves(theta)
        trace = [self.objective(theta, scores)]
        converged = False
        first = self.first_slope()
        for _ in range(rounds):
            probabilities = self.probabilities(scores)
            gradient = self.gradient(theta, probabilities)
            size = math.sqrt(inner(gradient, gradient))
            converged = size <= tolerance * first
            if converged:
                break
            step = self.direction(
                gradient,
                probabilities,
                min(_LOOSEST_DIRECTION, (size / max(first, 1e-300)) ** 0.5),
            )
            share, scores, objective = self._search(
                theta, scores, step, inner(gradient, step), trace[-1]
            )
            theta = theta + share * step
            trace.append(objective)
            if share == 0.0:
                break
        return theta, trace, converged

    def _search(
        self, theta: FloatArray, scores: FloatArray, step: FloatArray, slope: float, now: float
    ) -> tuple[float, Array, float]:
        """Find the step length (0 without one), and the scores and objective there."""
        moves = self.moves(step)
        last = (scores, now)

        def evaluate(_: Array, lengths: Array) -> Array:
            nonlocal last
            new = scores + lengths[0] * moves
            last = new, self.objective(theta + lengths[0] * step, new)
            return np.array([last[1]])

        found = backtrack(evaluate, lambda _, lengths: lengths * slope, np.array([now]))
        return (float(found.lengths[0]), *last) if found.accepted[0] else (0.0, scores, now)


def normal_model(problem: LinearProblem) -> NormalModel:
    """Return the posterior under a normal prior."""
    n_classes = problem.members.shape[0]
    n_terms = problem.n_terms
    centre = np.zeros((n_classes, n_terms))
    for c in range(n_classes):
        terms = problem.terms_of(c)
        centre[c, terms] = row_of(problem.prior.mode, c, n_terms)[terms]
    return NormalModel(
        problem, problem.rows, centre, _spreads(problem, np.zeros((n_classes, n_terms)))
    )


def solve_softmax_by_newton(
    problem: LinearProblem, starts: list[Solution | None]
) -> list[Solution]:
    """Find the mode under a normal prior, one `Solution` per class.

    Their objective is that of all together.
    """
    model = normal_model(problem)
    theta = model.theta_of(*start_of(problem, starts))
    theta, trace, converged = model.minimise(theta, problem.tolerance, problem.max_iter)
    return solutions_of(*model.weights_of(theta), np.array(trace), converged=converged)


def solutions_of(
    weights: FloatArray, intercepts: FloatArray, objectives: FloatArray, *, converged: bool
) -> list[Solution]:
    """One `Solution` per class."""
    rounds = max(1, len(objectives) - 1)
    return [
        Solution(w, float(b), objectives, rounds, converged)
        for w, b in zip(weights, intercepts, strict=True)
    ]


def labels_of(problem: LinearProblem) -> Array:
    """Return the number of the class of each document."""
    labels = np.empty(problem.members.shape[1], dtype=np.int64)
    labels[problem.members.indices] = np.repeat(
        np.arange(problem.members.shape[0]), np.diff(problem.members.indptr)
    )
    return labels


def start_of(problem: LinearProblem, starts: list[Solution | None]) -> tuple[Array, Array]:
    """Return weights, classes x terms, and intercepts to start from.

    Those given, or modes of the prior and logarithms of shares.
    """
    n_classes = problem.members.shape[0]
    weights = np.zeros((n_classes, problem.n_terms))
    intercepts = _shares(problem)
    for c, start in enumerate(starts):
        terms = problem.terms_of(c)
        weights[c, terms] = (problem.mode(c) if start is None else start.coefficients)[terms]
        if start is not None:
            intercepts[c] = start.intercept
    return weights, intercepts


def _shares(problem: LinearProblem) -> Array:
    free, _, centre = problem.intercept
    if not free:
        return np.full(problem.members.shape[0], centre)
    mass = problem.members @ problem.importance
    logarithms = np.log(np.maximum(mass, _RAREST_CLASS_SHARE * mass.sum()))
    return np.asarray(logarithms - logarithms.mean())


def solve_softmax_by_lbfgs(
    problem: LinearProblem, starts: list[Solution | None]
) -> list[Solution]:
    """Find the mode under a normal prior by SciPy's L-BFGS."""
    model = normal_model(problem)
    shape = model.spread.shape
    trace = []
    first = model.first_slope()
    left = np.inf

    def value(flat: FloatArray) -> tuple[float, Array]:
        nonlocal left
        theta = flat.reshape(shape)
        scores = model.base + model.moves(theta)
        gradient = model.gradient(theta, model.probabilities(scores))
        left = math.sqrt(inner(gradient, gradient))
        return model.objective(theta, scores), gradient.ravel()

    def note(intermediate_result: OptimizeResult) -> None:
        trace.append(intermediate_result.fun)
        if left <= problem.tolerance * first:
            raise StopIteration

    found = minimize(
        value, model.theta_of(*start_of(problem, starts)).ravel(), jac=True, method="L-BFGS-B",
        callback=note,
        options={"maxiter": problem.max_iter, "maxfun": 10 * problem.max_iter, "ftol": 0.0,
        "gtol": 0.0},
    )  # fmt: skip
    objective, _ = value(found.x)
    weights = model.weights_of(found.x.reshape(shape))
    return solutions_of(
        *weights, np.array([*trace, objective]), converged=left <= problem.tolerance * first
    )


def solve_softmax_by_em(
    problem: LinearProblem, starts: list[Solution | None]
) -> list[Solution]:
    """Find the mode, or a local one, one `Solution` per class.

    The start is the mode under a normal prior of variance 1.
    """
    ridge = replace(problem, prior=prior_of(GaussianPrior()))
    known = (
        starts
        if all(start is not None for start in starts)
        else solve_softmax_by_newton(ridge, starts)
    )
    weights, intercepts = start_of(problem, list(known))
    modes = np.stack([problem.mode(c) for c in range(len(weights))])
    trace = []
    converged = False
    for _ in range(problem.max_iter):
        spread = _spreads(problem, weights - modes)
        used = np.flatnonzero(np.any(spread, axis=0))
        now = weights[:, used]
        model = NormalModel(
            problem, sparse.csr_array(problem.rows[:, used]), modes[:, used], spread[:, used]
        )
        theta, _, _ = model.minimise(model.theta_of(now, intercepts), 0.0, 1)
        new = model.weights_of(theta)
        before = intercepts
        distance = new[0] - modes[:, used]
        largest = np.abs(distance).max(initial=0.0)
        new[0][np.abs(distance) < _NEGLIGIBLE_WEIGHT_SHARE * largest] = modes[:, used][
            np.abs(distance) < _NEGLIGIBLE_WEIGHT_SHARE * largest
        ]
        weights[:, used], intercepts = new
        trace.append(_objective(problem, model, theta, weights - modes))
        change = max(np.abs(new[0] - now).max(initial=0.0), np.abs(intercepts - before).max())
        if change <= _STOPPING_SHARE * problem.tolerance * max(largest, 1.0):
            converged = True
            break
    return solutions_of(weights, intercepts, np.array(trace), converged=converged)


def _spreads(problem: LinearProblem, distances: FloatArray) -> Array:
    """Return the deviation that EM expects of each weight, classes x terms.

    0 for terms that a class may not use.
    """
    spreads = np.zeros_like(distances)
    for c, distance in enumerate(distances):
        terms = problem.terms_of(c)
        spreads[c, terms] = problem.prior.spread(distance, c)[terms]
    return spreads


def _objective(
    problem: LinearProblem, model: NormalModel, theta: FloatArray, distances: FloatArray
) -> float:
    """Minus the log posterior."""
    loss = model.objective(theta, model.base + model.moves(theta)) - 0.5 * float(
        np.sum(model.ridge * theta**2)
    )
    intercepts = 0.5 * float(model.ridge[-1, 0]) * float(np.sum(theta[-1] ** 2))
    return (
        loss
        + intercepts
        + sum(problem.prior.cost(distance, c) for c, distance in enumerate(distances))
    )
