"""Softmax regression under priors with kinks or bounds: classes in turn on working sets, then all at once.

A round looks at every weight of every class in one pass over the matrix, which also certifies the optimality
conditions; improves each class, the others held, by Newton steps of its binary problem on its working set
(`bayesift.kernels.working_set`); and takes one Newton step, by conjugate gradients, on all weights off their modes
together. Classes in turn find which weights are used; alone they would converge slowly, since what one class gains
another has to give.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels import softmax as kernels
from bayesift.kernels.documents import Model, evaluate, stand_alone
from bayesift.kernels.likelihoods import LOGIT
from bayesift.kernels.linear import L1, L2, LOWER, MODE, UPPER
from bayesift.kernels.working_set import improve, pick
from bayesift.models.linear.problem import Problem, Solution, matrix_of
from bayesift.models.linear.softmax.joint import improve_together
from bayesift.models.linear.softmax.start import labels_of, start_of

Array = np.ndarray[Any, Any]

_CAUTIOUS = 3  # rounds, as of the binary solver
_FEW = 0.1  # of the weights that are off their modes: when no more are still to leave theirs, all move together


class Search:
    """Where the search is: weights, and what follows from them for every class and document."""

    def __init__(self, problem: Problem, starts: list[Solution | None]) -> None:
        self.problem, self.columns, self.matrix = problem, problem.columns, matrix_of(problem)
        n_classes, (n_documents, n_terms) = problem.members.shape[0], problem.rows.shape
        self.penalties = _penalties(problem)
        self.weights, self.biases = start_of(problem, starts)
        self.labels, self.importance = labels_of(problem), problem.importance
        self.scores = np.ascontiguousarray((problem.rows @ self.weights.T + self.biases).T)
        self.exponentials, self.probabilities = np.empty_like(self.scores), np.empty_like(self.scores)
        self.reference, self.scratch = np.empty(n_documents), np.empty(n_documents)
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
        """The smallest factor of |beta - mode|, of which the tolerance is a share; 1 if there is none."""
        least = float(self.penalties[:, L1].min(initial=np.inf))
        return least if 0.0 < least < np.inf else 1.0

    def _terms_that_matter(self) -> Array:
        """No pull exceeds the sum of w |x|: terms for which the kink of every class holds that stay at their modes."""
        largest = np.abs(self.columns).T @ self.importance
        moved = np.any(self.weights != self.penalties[:, MODE], axis=0)
        return np.flatnonzero((largest > self.penalties[:, L1].min(axis=0)) | moved).astype(np.int32)

    def normalise(self) -> None:
        """Bring probabilities and the loss up to date with the scores."""
        kernels.exponentiate(self.scores, self.reference, self.exponentials)
        self.loss = kernels.normalise(
            self.scores, self.reference, self.exponentials, self.labels, self.importance, self.probabilities,
            self.scratch,
        )  # fmt: skip

    def penalty(self, c: int) -> Array:
        """The penalty of a class."""
        layer: Array = self.penalties[c if len(self.penalties) > 1 else 0]
        return layer

    def objective(self) -> float:
        """Minus the log posterior."""
        _, precision, centre = self.problem.intercept
        cost = 0.5 * precision * float(np.sum((self.biases - centre) ** 2))
        for c, weights in enumerate(self.weights):
            penalty, used = self.penalty(c), self.places[c, : self.counts[c]]
            distance = weights[used] - penalty[MODE, used]
            cost += float(penalty[L1, used] @ np.abs(distance) + 0.5 * penalty[L2, used] @ distance**2)
        return float(self.loss + cost)

    def look(self) -> float:
        """List the weights that are or should be off their modes; gives the largest violation of all conditions."""
        kernels.residuals_of(self.probabilities, self.labels, self.importance, self.residuals)
        columns = self.columns
        worst = kernels.find_violations(
            columns.indptr, columns.indices, columns.data, self.terms, self.residuals, self.penalties, self.allowed,
            self.weights, np.empty(self.residuals.shape[1]), self.places, self.violations, self.counts,
        )  # fmt: skip
        free, precision, centre = self.problem.intercept
        pulls = self.residuals.sum(axis=0)[: len(self.biases)] - precision * (self.biases - centre)
        common = float(np.abs(pulls).max()) if free else 0.0
        return max(float(worst), common)

    def improve_class(self, c: int, tolerance: float, *, cautious: bool) -> None:
        """Newton steps for one class on its working set, the others held."""
        offsets, margins = np.empty((2, len(self.labels)))
        kernels.detach(self.scores, self.reference, self.exponentials, c, offsets, margins)
        model = self._binary_model(c)
        documents = stand_alone(model, margins)
        loss = evaluate(model, documents, cautious)
        found, violations = self.places[c, : self.counts[c]], self.violations[c, : self.counts[c]]
        weights, bias = self.weights[c], self.biases[c : c + 1]
        moved = int(np.count_nonzero(weights[found] != model.penalty[MODE, found]))
        chosen = pick(found, violations / np.maximum(self.problem.norms[found], 1e-12), model.penalty, weights, moved)
        worst = max(float(violations.max(initial=0.0)), abs(float(documents.pulls[2:].sum())))
        improve(self.matrix, model, documents, chosen, weights, bias, loss, worst, tolerance, cautious)
        kernels.attach(self.scores, self.reference, self.exponentials, c, offsets, documents.scores[2:])

    def _binary_model(self, c: int) -> Model:
        """The problem of one class while the scores of the others stay; its documents' scores have offsets."""
        nothing = np.empty(0)
        members = np.flatnonzero(self.labels == c).astype(np.int32)
        penalty, intercept = self.penalty(c), self.problem.intercept
        return Model(members, self.importance, nothing, self.terms, LOGIT, np.zeros(3), penalty, intercept)

    def used(self) -> tuple[Array, Array]:
        """Where each class starts, and the terms whose weights are off their modes and within bounds."""
        used = []
        for c, weights in enumerate(self.weights):
            places = self.places[c, : self.counts[c]]
            penalty, now = self.penalty(c)[:, places], weights[places]
            kink = (now == penalty[MODE]) & (penalty[L1] > 0)
            used.append(places[(now > penalty[LOWER]) & (now < penalty[UPPER]) & ~kink])
        return np.append(0, np.cumsum([len(places) for places in used])), np.concatenate(used)


def solve_by_working_sets(problem: Problem, starts: list[Solution | None]) -> list[Solution]:
    """The mode, one `Solution` a class; their objective is that of all together.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import LaplacePrior, Logit
    >>> rows, members = sparse.csr_array(np.eye(3)), sparse.csr_array(np.eye(3, dtype=np.int8))
    >>> problem = Problem(rows, members, np.ones(3), Logit(), LaplacePrior(gamma=0.01), np.zeros(3))
    >>> [solution.coefficients.round(2).tolist() for solution in solve_by_working_sets(problem, [None] * 3)]
    [[2.89, 0.0, 0.0], [0.0, 2.89, 0.0], [0.0, 0.0, 2.89]]
    """
    search = Search(problem, starts)
    tolerance, trace, converged = problem.tolerance * search.scale, [], False
    for k in range(problem.max_iter):
        worst = search.look()
        trace.append(search.objective())
        if worst <= tolerance:
            converged = True
            break
        for c in range(len(search.biases)):
            search.improve_class(c, tolerance, cautious=k < _CAUTIOUS)
        search.normalise()
        begins, terms = search.used()
        if search.counts.sum() <= (1.0 + _FEW) * len(terms):
            improve_together(search, begins, terms)
    objectives = np.array(trace)
    return [
        Solution(weights, float(bias), objectives, len(trace), converged)
        for weights, bias in zip(search.weights, search.biases, strict=True)
    ]


def _penalties(problem: Problem) -> Array:
    """A layer a class, or one for all."""
    layers = [problem.penalty(0)]
    for c in range(1, problem.members.shape[0]):
        if problem.penalty(c) is not layers[0]:
            layers.append(problem.penalty(c))
    return np.stack(layers)
