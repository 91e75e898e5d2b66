"""Proximal Newton on working sets for all classes of a softmax model.

It takes every log-concave prior.

A round computes the gradient of every weight of every class in one pass over the matrix, which also
certifies the optimality conditions; improves each class, the others fixed, by Newton steps of its
binary problem on its working set; and takes one Newton step on all weights off their modes
together, whose Hessian couples the classes. The joint step comes from conjugate gradients,
preconditioned by the diagonal and not very precise: along nearly flat directions an exact step
would only run into the kinks of other weights.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesift.arrays import Array, FloatArray, IntArray, inner
from bayesift.kernels import softmax as kernels
from bayesift.kernels.documents import Model, evaluate, separate_documents
from bayesift.kernels.entries import entries_of
from bayesift.kernels.likelihoods import LOGIT
from bayesift.kernels.linear import L1, L2, LOWER, MODE, UPPER
from bayesift.models.linear.problem import LinearProblem, Solution, matrix_of
from bayesift.models.linear.solvers.line_search import backtrack
from bayesift.models.linear.solvers.proximal_newton import CAUTIOUS, Descent, select_terms
from bayesift.models.linear.solvers.softmax import labels_of, start_of

# Share of weights off their modes: no joint step while more are about to leave theirs.
_LEAVING_SHARE = 0.1
_CONJUGATE_STEPS = 60
_RESIDUAL_SHARE = 0.1
_SHORTEST_STEP = 2.0**-9
_Matrix = tuple[Array, Array, Array, Array, Array]


class SoftmaxSearch:
    """The state of the search: weights, scores and probabilities of every class."""

    def __init__(self, problem: LinearProblem, starts: list[Solution | None]) -> None:
        self.problem = problem
        self.columns = problem.columns
        self.matrix = matrix_of(problem)
        n_classes, (n_documents, n_terms) = problem.members.shape[0], problem.rows.shape
        self.penalties = _penalties(problem)
        self.weights, self.biases = start_of(problem, starts)
        self.labels = labels_of(problem)
        self.importance = problem.importance
        self.scores = np.ascontiguousarray((problem.rows @ self.weights.T + self.biases).T)
        self.exponentials = np.empty_like(self.scores)
        self.probabilities = np.empty_like(self.scores)
        self.reference = np.empty(n_documents)
        self.scratch = np.empty(n_documents)
        self.residuals = np.zeros((n_documents, -(-n_classes // 4) * 4))
        self.allowed = np.zeros((0, 0), dtype=bool)
        if problem.terms is not None:
            self.allowed = np.zeros((n_classes, n_terms), dtype=bool)
            for c in range(n_classes):
                self.allowed[c, problem.terms_of(c)] = True
        self.terms = self._terms_that_matter()
        self.places = np.empty((n_classes, len(self.terms)), dtype=np.int32)
        self.violations = np.empty((n_classes, len(self.terms)))
        self.counts = np.zeros(n_classes, dtype=np.int64)
        self.normalise()

    @property
    def scale(self) -> float:
        """The smallest factor of |beta - mode|, of which the tolerance is a share.

        Without one it is 1.
        """
        least = float(self.penalties[:, L1].min(initial=np.inf))
        return least if 0.0 < least < np.inf else 1.0

    def _terms_that_matter(self) -> Array:
        """Select the terms that may leave their modes.

        No gradient exceeds the sum of w |x|: with steeper kinks a term stays.
        """
        largest = np.abs(self.columns).T @ self.importance
        moved = np.any(self.weights != self.penalties[:, MODE], axis=0)
        return np.flatnonzero((largest > self.penalties[:, L1].min(axis=0)) | moved).astype(
            np.int32
        )

    def normalise(self) -> None:
        """Bring probabilities and the loss up to date with the scores."""
        kernels.exponentiate(self.scores, self.reference, self.exponentials)
        self.loss = kernels.normalise(
            self.scores, self.reference, self.exponentials, self.labels, self.importance,
            self.probabilities, self.scratch,
        )  # fmt: skip

    def penalty(self, c: int) -> FloatArray:
        """Return the penalty of a class."""
        layer: Array = self.penalties[c if len(self.penalties) > 1 else 0]
        return layer

    def objective(self) -> float:
        """Minus the log posterior."""
        _, precision, centre = self.problem.intercept
        cost = 0.5 * precision * float(np.sum((self.biases - centre) ** 2))
        for c, weights in enumerate(self.weights):
            penalty = self.penalty(c)
            used = self.places[c, : self.counts[c]]
            distance = weights[used] - penalty[MODE, used]
            cost += inner(penalty[L1, used], np.abs(distance)) + 0.5 * inner(
                penalty[L2, used], distance**2
            )
        return float(self.loss + cost)

    def find_violations(self) -> float:
        """List the weights that are or should be off their modes.

        Returns the largest violation of all conditions.
        """
        kernels.residuals_of(self.probabilities, self.labels, self.importance, self.residuals)
        worst = kernels.find_violations(
            entries_of(self.columns), self.terms, self.residuals, self.penalties, self.allowed,
            self.weights, np.empty(self.residuals.shape[1]), self.places, self.violations,
            self.counts,
        )  # fmt: skip
        free, precision, centre = self.problem.intercept
        gradient = self.residuals.sum(axis=0)[: len(self.biases)] - precision * (
            self.biases - centre
        )
        return max(float(worst), float(np.abs(gradient).max()) if free else 0.0)

    def improve_class(self, c: int, tolerance: float, *, cautious: bool) -> None:
        """Newton steps for one class on its working set, the others held."""
        offsets, margins = np.empty((2, len(self.labels)))
        kernels.to_binary(self.scores, self.reference, self.exponentials, c, offsets, margins)
        model = self._binary_model(c)
        documents = separate_documents(model, margins)
        found = self.places[c, : self.counts[c]]
        violations = self.violations[c, : self.counts[c]]
        weights = self.weights[c]
        bias = self.biases[c : c + 1]
        descent = Descent(self.matrix, model, documents, weights, bias)
        descent.loss = evaluate(model, documents, cautious)
        moved = int(np.count_nonzero(weights[found] != model.penalty[MODE, found]))
        chosen = select_terms(
            found,
            violations / np.maximum(self.problem.norms[found], 1e-12),
            model.penalty,
            weights,
            moved,
        )
        worst = max(
            float(violations.max(initial=0.0)), abs(float(documents.residuals[2:].sum()))
        )
        descent.improve(chosen, worst, tolerance, cautious=cautious)
        kernels.from_binary(
            self.scores, self.reference, self.exponentials, c, offsets, documents.scores[2:]
        )

    def _binary_model(self, c: int) -> Model:
        """Return the problem of one class, the others fixed; its scores have offsets."""
        nothing = np.empty(0)
        members = np.flatnonzero(self.labels == c).astype(np.int32)
        penalty = self.penalty(c)
        intercept = self.problem.intercept
        return Model(
            members,
            self.importance,
            nothing,
            self.terms,
            LOGIT,
            np.zeros(3),
            penalty,
            intercept,
        )

    def used(self) -> tuple[Array, Array]:
        """Return where each class starts, and its terms off their modes and within bounds."""
        used = []
        for c, weights in enumerate(self.weights):
            positions = self.places[c, : self.counts[c]]
            penalty = self.penalty(c)[:, positions]
            now = weights[positions]
            kink = (now == penalty[MODE]) & (penalty[L1] > 0)
            used.append(positions[(now > penalty[LOWER]) & (now < penalty[UPPER]) & ~kink])
        return np.append(0, np.cumsum([len(positions) for positions in used])), np.concatenate(
            used
        )


def solve_softmax_by_working_sets(
    problem: LinearProblem, starts: list[Solution | None]
) -> list[Solution]:
    """Find the mode, one `Solution` per class; the objective is that of all together."""
    search = SoftmaxSearch(problem, starts)
    tolerance = problem.tolerance * search.scale
    trace = []
    converged = False
    for k in range(problem.max_iter):
        worst = search.find_violations()
        trace.append(search.objective())
        if worst <= tolerance:
            converged = True
            break
        for c in range(len(search.biases)):
            search.improve_class(c, tolerance, cautious=k < CAUTIOUS)
        search.normalise()
        begins, terms = search.used()
        if search.counts.sum() <= (1.0 + _LEAVING_SHARE) * len(terms):
            improve_jointly(search, begins, terms)
    objectives = np.array(trace)
    return [
        Solution(weights, float(bias), objectives, len(trace), converged)
        for weights, bias in zip(search.weights, search.biases, strict=True)
    ]


def _penalties(problem: LinearProblem) -> Array:
    """One layer per class, or one for all."""
    layers = [problem.penalty(0)]
    for c in range(1, problem.members.shape[0]):
        if problem.penalty(c) is not layers[0]:
            layers.append(problem.penalty(c))
    return np.stack(layers)


def improve_jointly(search: SoftmaxSearch, starts: IntArray, terms: IntArray) -> None:
    """One Newton step on these weights, those of class c from starts[c] to starts[c + 1].

    Kept if it descends.
    """
    classes = np.repeat(np.arange(len(search.biases)), np.diff(starts))
    layers = classes if len(search.penalties) > 1 else np.zeros_like(classes)
    penalty = search.penalties[layers, :, terms].T
    now = np.append(search.weights[classes, terms], search.biases)
    free, precision, _ = search.problem.intercept
    matrix = (search.columns.indptr, search.columns.indices, search.columns.data, starts, terms)
    changes = np.empty_like(search.scores)
    ridge = np.append(penalty[L2], np.full(len(search.biases), precision))

    def hessian(vector: FloatArray) -> Array:
        out = np.empty(len(vector))
        kernels.step_scores(*matrix, vector, changes)
        kernels.hessian_product(
            search.probabilities, search.importance, search.scratch, changes
        )
        kernels.transposed_product(*matrix, changes, out)
        return _free(out + ridge * vector, len(terms), free)

    gradient = _gradient(search, matrix, penalty, now)
    step = _conjugate_gradients(hessian, _diagonal(search, matrix, ridge), -gradient)
    loss = search.loss
    scores = search.scores
    before = loss + _cost(penalty, search.problem.intercept, now)
    new = now

    def objective(_: Array, lengths: Array) -> Array:
        nonlocal new
        new = now + lengths[0] * step
        new[: len(terms)] = _within_orthant(penalty, now[: len(terms)], new[: len(terms)])
        kernels.step_scores(*matrix, new - now, changes)
        search.scores = scores + changes
        search.normalise()
        return np.array([search.loss + _cost(penalty, search.problem.intercept, new)])

    below = np.array([np.nextafter(before, -np.inf)])  # any decrease is enough
    found = backtrack(
        objective,
        lambda _, lengths: 0.0 * lengths,
        below,
        shortest=_SHORTEST_STEP,
        rounding=0.0,
    )
    if found.accepted[0]:
        search.weights[classes, terms] = new[: len(terms)]
        search.biases[:] = new[len(terms) :]
    else:
        search.scores = scores
        search.normalise()


def _free(vector: FloatArray, size: int, free: float) -> Array:
    """Set the part of intercepts that are not free to 0."""
    if not free:
        vector[size:] = 0.0
    return vector


def _gradient(search: SoftmaxSearch, matrix: _Matrix, penalty: FloatArray, now: Array) -> Array:
    """Return the gradient of the objective."""
    size, (free, precision, centre) = penalty.shape[1], search.problem.intercept
    residuals = -search.importance * search.probabilities
    residuals[search.labels, np.arange(len(search.labels))] += search.importance
    neg_gradient = np.empty(len(now))
    kernels.transposed_product(*matrix, residuals, neg_gradient)
    distance = now[:size] - penalty[MODE]
    kinks = np.sign(distance) * penalty[L1] + penalty[L2] * distance
    return _free(np.append(kinks, precision * (now[size:] - centre)) - neg_gradient, size, free)


def _cost(penalty: FloatArray, intercept: FloatArray, point: Array) -> float:
    size, (_, precision, centre) = penalty.shape[1], intercept
    distance = point[:size] - penalty[MODE]
    cost = inner(penalty[L1], np.abs(distance)) + 0.5 * inner(penalty[L2], distance**2)
    return float(cost + 0.5 * precision * np.sum((point[size:] - centre) ** 2))


def _within_orthant(penalty: FloatArray, now: Array, new: Array) -> Array:
    """Return new weights, none of which passes its mode, if it has a kink, or its bounds."""
    crossed = ((now - penalty[MODE]) * (new - penalty[MODE]) < 0) & (penalty[L1] > 0)
    return np.clip(np.where(crossed, penalty[MODE], new), penalty[LOWER], penalty[UPPER])


def _diagonal(search: SoftmaxSearch, matrix: _Matrix, ridge: Array) -> Array:
    """Return the diagonal of the Hessian; 1 where it is flat."""
    curvatures = search.importance * search.probabilities * (1.0 - search.probabilities)
    diagonal = np.empty(len(ridge))
    indptr, indices, data, starts, terms = matrix
    kernels.transposed_product(indptr, indices, data**2, starts, terms, curvatures, diagonal)
    diagonal += ridge
    return np.where(diagonal > 0, diagonal, 1.0)


def _conjugate_gradients(
    apply: Callable[[Array], Array], diagonal: FloatArray, target: Array
) -> Array:
    """Solve approximately; the target has no part along flat directions."""
    step = np.zeros_like(target)
    residual = target.copy()
    scaled = residual / diagonal
    search = scaled.copy()
    power = inner(residual, scaled)
    goal = _RESIDUAL_SHARE**2 * power
    for _ in range(_CONJUGATE_STEPS):
        if power <= max(goal, 0.0):
            break
        image = apply(search)
        curvature = inner(search, image)
        if curvature <= 0.0:
            break
        step += power / curvature * search
        residual -= power / curvature * image
        scaled = residual / diagonal
        after = inner(residual, scaled)
        search = scaled + after / power * search
        power = after
    return step
