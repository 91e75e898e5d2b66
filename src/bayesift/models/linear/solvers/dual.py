"""Dual coordinate ascent for Gaussian priors, eight or four categories to a visit of a document.

Documents are visited in random order (`bayesift.kernels.dual`), all of them in full rounds, and
between those only the few whose dual variables still move. Weights are kept at v X'(y a)
throughout, v the prior variance; where terms differ in it, columns are scaled to unit variance
instead. Categories of a block whose terms differ each in their own way have a v for each weight.

The intercept takes part like a weight of small variance about an anchor, to which each full round
adds a step of the method of multipliers; before the result is judged it moves to its best value.
With its own variance, as large as that of a whole document, it would follow the last few documents
visited: errors would then mix slowly unless consecutive documents were far apart in memory, which
takes twice as long. With a small one chunks of 64 converge as fast.

The objective is strongly convex in the scaled weights, so that a gradient g bounds how far it is
from its minimum by |g|^2 / 2: a category is done when that is at most tol^2 of the objective. What
still moves after many rounds (badly conditioned problems) is handed to Newton's method.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from bayesift.arrays import Array, FloatArray
from bayesift.kernels.dual import DualArrays, DualDocuments, best_intercepts, visit
from bayesift.kernels.entries import entries_of
from bayesift.kernels.products import times, transposed_times
from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.priors import shares_scale
from bayesift.models.linear.problem import LinearProblem, Solution, scaled_rows
from bayesift.models.linear.solvers.newton import solve_by_newton

BLOCK = 8
_WIDTHS = {
    3: 4,
    4: 4,
    5: 8,
    6: 8,
    7: 8,
    8: 8,
}  # as many categories are filled up to a block; fewer go one by one
_FULL_ROUNDS = 40  # at most; then Newton
_SHORT_ROUNDS = 6  # after each full one, at most
# Times the mean change: documents of short rounds, whose rows lie apart and take twice as long.
_MOVING_FACTOR = 2.0
_CHUNK_DOCUMENTS, _FEWEST_CHUNKS = (
    64,
    1024,
)  # documents that stay together in a random order, at most; chunks, at least
_ANCHORED_VARIANCE = (
    1 / 32
)  # the variance of the intercept about its anchor, in that of the score of a document
# Share of the mean squared change of dual variables: what changes less waits for later.
_NEGLIGIBLE_SHARE = 0.01
_GRADIENT_RATIO = (
    2.0  # an estimate of the ratio of the gradient and the change of the dual variables
)
_LOSS_LEFT_SHARE = (
    0.2  # an estimate of the share of the loss without terms that is left at the mode
)


def solve_by_dual(
    problem: LinearProblem, categories: list[int], starts: list[Solution | None]
) -> list[Solution]:
    """Find the modes of a block of categories."""
    if np.any(problem.prior.sign):
        raise ValueError(
            "dual coordinate ascent takes no sign constraints; use solver='coordinate'"
        )
    if len(categories) in _WIDTHS and problem.terms is None:
        return _solve_block(problem, categories, starts)
    return [
        _solve_block(problem, [c], [start])[0]
        for c, start in zip(categories, starts, strict=True)
    ]


def _solve_block(
    problem: LinearProblem, categories: list[int], starts: list[Solution | None]
) -> list[Solution]:
    """Find the modes of categories that share terms and precisions."""
    block = _DualBlock(problem, categories)
    if any(start is not None for start in starts):
        block.start_from(starts)
    while not block.done.all() and block.rounds < problem.max_iter and not block.is_slow():
        block.go_round()
        if block.seems_done():
            block.judge()
    if not block.done.all():
        block.judge()
    return _finish(problem, categories, block)


def _finish(problem: LinearProblem, categories: list[int], block: _DualBlock) -> list[Solution]:
    """Return the modes found, and find the others by Newton's method from there."""
    found = [block.solution(index) for index in range(len(categories))]
    late = [index for index, solution in enumerate(found) if not solution.converged]
    left = problem.max_iter - block.rounds
    if late and left > 0:
        rest = replace(problem, max_iter=left)
        again = solve_by_newton(
            rest, [categories[index] for index in late], [found[index] for index in late]
        )
        for index, solution in zip(late, again, strict=True):
            trace = np.concatenate([found[index].objective, solution.objective])
            found[index] = replace(
                solution, objective=trace, iterations=block.rounds + solution.iterations
            )
    return found


class _DualBlock:
    """Weights about their modes, dual variables and margins of a block of categories.

    The categories (columns) share terms. Weights are in units of `scale`, and there have the prior
    variances `variances`, terms x categories or a single one.
    """

    def __init__(self, problem: LinearProblem, categories: list[int]) -> None:
        self.problem = problem
        self.terms = problem.terms_of(categories[0])
        penalty = problem.penalty(categories[0])
        precisions = penalty[1, self.terms]
        width = _WIDTHS[len(categories)] if len(categories) > 1 else 1
        shared = problem.terms is None and shares_scale(problem.prior)
        self.scale = np.ones(len(precisions))
        self.variances = np.ones((1, 1))
        self.rows = problem.rows
        if shared and len(precisions) and np.all(precisions == precisions[0]):
            self.variances /= precisions[0]
            squares = (problem.lengths / precisions[0])[:, np.newaxis]
        elif shared:
            self.scale = 1.0 / np.sqrt(precisions)
            self.rows, lengths = problem.scaled
            squares = lengths[:, np.newaxis]
        elif len(categories) == 1:
            self.scale = 1.0 / np.sqrt(precisions)
            own = problem.rows
            if problem.terms is not None:
                own = sparse.csr_array(problem.columns[:, self.terms])
            self.rows, lengths = scaled_rows(own, precisions)
            squares = lengths[:, np.newaxis]
        else:
            self.variances = np.ones((len(self.terms), width))
            for index, c in enumerate(categories):
                self.variances[:, index] /= problem.penalty(c)[1]
            squares = self._squares_times(self.variances)
        self.free, self.precision, self.centre = problem.intercept
        self.size = np.broadcast_to(squares.mean(axis=0), width)
        self.loose = _ANCHORED_VARIANCE * np.maximum(self.size, 1e-3)
        self.spread = self.free / (self.precision + 1.0 / self.loose)
        self.reach = squares + self.spread
        self.signs = np.ones((len(squares), width))
        self.importance = np.zeros((len(squares), width))
        for index, c in enumerate(categories):
            self.signs[:, index] = problem.signs(c)
            self.importance[:, index] = problem.importance_of(c)
        self.counts = self.signs * self.importance
        self.modes = np.zeros((len(self.terms), width))
        self.offsets = np.zeros(self.signs.shape)
        for index, c in enumerate(categories):
            self.modes[:, index] = problem.mode(c)[self.terms]
        if self.modes.any():
            self.offsets[:] = self.rows @ (self.modes / self.scale[:, np.newaxis])
        self.weights = np.zeros((len(self.terms), width))
        self.duals = np.zeros(self.signs.shape)
        self.moves = np.zeros(self.signs.shape)
        cold = np.append(
            problem.start_intercepts[categories], np.zeros(width - len(categories))
        )
        self.intercepts = cold.copy() if self.free else np.full(width, self.centre)
        self.anchors = self._anchors()
        self.loss = -_LOSS_LEFT_SHARE * np.sum(
            self.importance * self._likelihoods(self.offsets, cold)[0], axis=0
        )
        self.ratio = np.full(width, _GRADIENT_RATIO**2)
        self.least = np.zeros(width)
        self.done = np.arange(width) >= len(categories)
        self.rounds = 0
        self.generator = np.random.default_rng(0)
        self.found: list[tuple[Array, float] | None] = [None] * width
        self.progress: list[float] = []
        self.trace: list[Array] = []

    def start_from(self, starts: list[Solution | None]) -> None:
        """Judge given weights.

        Where they are not converged take their residuals as dual variables.
        """
        warm = np.array(
            [start is not None for start in starts]
            + [False] * (self.signs.shape[1] - len(starts))
        )
        cold = self.intercepts.copy()
        for index, start in enumerate(starts):
            if start is not None:
                self.weights[:, index] = (
                    start.coefficients[self.terms] - self.modes[:, index]
                ) / self.scale
                self.intercepts[index] = start.intercept
        self.judge()
        scores = self._scores()
        derivatives = self._likelihoods(scores, self.intercepts)[1]
        self.duals = np.where(warm, self.importance * derivatives, 0.0)
        self.weights = self.variances * self._back(self.signs * self.duals)
        self.intercepts = np.where(warm, self.intercepts, cold)
        self.anchors = self._anchors()

    def _anchors(self) -> Array:
        """Return the anchors at which the intercepts are best for the dual variables."""
        sums = np.sum(self.signs * self.duals, axis=0) + self.precision * self.centre
        anchors: Array = self.loose * (
            (self.precision + 1.0 / self.loose) * self.intercepts - sums
        )
        return anchors

    def go_round(self) -> None:
        """Visit all documents, then those that move most until they move as the rest."""
        self._visit(np.arange(len(self.signs), dtype=np.int32))
        self.least = _NEGLIGIBLE_SHARE * self.moves.mean(axis=0)
        moved = self.spread / self.loose * (self.intercepts - self.anchors)
        self.anchors = self.intercepts
        self.intercepts = self.intercepts + moved
        totals = np.where(self.done, np.inf, self.moves.sum(axis=0) + 1e-300)
        shares = np.sum(self.moves / totals, axis=1)
        few = shares > _MOVING_FACTOR * shares.mean()
        moving = np.flatnonzero(few).astype(np.int32)
        rest = shares[~few].sum()
        for _ in range(_SHORT_ROUNDS):
            self._visit(moving)
            if np.sum(self.moves[moving] / totals) <= rest:
                break
        self.least = _NEGLIGIBLE_SHARE * self.moves.mean(axis=0)
        self.rounds += 1
        goal = self.problem.small_gradient(self.loss)
        self.progress.append(float(np.max(np.where(self.done, 0.0, self._estimate() / goal))))

    def seems_done(self) -> bool:
        """Whether the estimate of the gradient is small enough to judge."""
        return self.progress[-1] <= 1.0

    def is_slow(self) -> bool:
        """Whether the rounds will not suffice at this pace."""
        if len(self.progress) < 8 or self.seems_done():
            return False
        now = self.progress[-1]
        before = self.progress[-5]
        pace = np.log(before / now) / 4.0
        return bool(len(self.progress) >= _FULL_ROUNDS or np.log(now) > pace * _FULL_ROUNDS)

    def judge(self) -> None:
        """Move intercepts to their best values, and keep weights of categories that are done."""
        problem = self.problem
        scores = self._scores()
        best = self.intercepts.copy()
        link = problem.link
        parameters = problem.link.parameters
        if self.free:
            precision = self.precision
            centre = self.centre
            best_intercepts(link.code, parameters, self.counts, scores, precision, centre, best)
        logarithms, derivatives, curvatures = self._likelihoods(scores, best)
        residuals = self.importance * self.signs * derivatives
        slopes = self.weights / self.variances - self._back(residuals)
        size = np.sum(self.variances * slopes**2, axis=0)
        if self.free:
            tilt = residuals.sum(axis=0) - self.precision * (best - self.centre)
            size += tilt**2 / (
                self.precision + np.sum(self.importance * curvatures, axis=0) + 1e-300
            )
        cost = (
            0.5 * np.sum(self.weights**2 / self.variances, axis=0)
            + 0.5 * self.precision * (best - self.centre) ** 2
        )
        self.loss = cost - np.sum(self.importance * logarithms, axis=0)
        self.trace.append(self.loss)
        guess = self._estimate()
        self.ratio = np.where(
            guess > 0,
            np.clip(self.ratio * size / np.maximum(guess, 1e-300), 1.0, 100.0),
            self.ratio,
        )
        passed = size <= problem.small_gradient(self.loss)
        for index in np.flatnonzero(~self.done):
            self.found[index] = self.weights[:, index].copy(), float(best[index])
        self.done |= passed
        if self.free:
            self.anchors += self.loose / self.spread * (best - self.intercepts)
            self.intercepts = best

    def solution(self, index: int) -> Solution:
        """Return what was found for one category when it was judged last."""
        kept = self.found[index]
        assert kept is not None
        coefficients = np.zeros(self.problem.n_terms)
        coefficients[self.terms] = self.modes[:, index] + self.scale * kept[0]
        trace = np.array([loss[index] for loss in self.trace])
        return Solution(coefficients, kept[1], trace, self.rounds, bool(self.done[index]))

    def _visit(self, documents: Array) -> None:
        """Visit documents in a random order of small chunks."""
        link = self.problem.link
        size = min(_CHUNK_DOCUMENTS, max(1, len(documents) // _FEWEST_CHUNKS))
        whole = len(documents) - len(documents) % size
        chunks = self.generator.permutation(documents[:whole].reshape(-1, size))
        order = np.concatenate([chunks.ravel(), documents[whole:]])
        given = DualDocuments(entries_of(self.rows), self.counts, self.offsets, self.reach)
        sums = np.empty(self.signs.shape[1])
        model = DualArrays(self.weights, self.intercepts, self.duals, self.moves, sums)
        variances = self.spread, self.variances
        visit(given, order, link.code, link.parameters, *variances, self.least, model)

    def _estimate(self) -> Array:
        """Estimate the squared gradient."""
        estimate: Array = self.ratio * self.size * self.moves.sum(axis=0)
        return estimate

    def _squares_times(self, values: FloatArray) -> FloatArray:
        """Multiply by the squares of all entries."""
        squares = np.empty((self.rows.shape[0], values.shape[1]))
        times(self.rows.indptr, self.rows.indices, self.rows.data**2, values, squares)
        return squares

    def _scores(self) -> FloatArray:
        """Scores without intercepts."""
        scores = np.empty(self.signs.shape)
        times(self.rows.indptr, self.rows.indices, self.rows.data, self.weights, scores)
        scores += self.offsets
        return scores

    def _back(self, values: FloatArray) -> Array:
        out = np.empty(self.weights.shape)
        transposed_times(self.rows.indptr, self.rows.indices, self.rows.data, values, out)
        return out

    def _likelihoods(
        self, scores: FloatArray, intercepts: FloatArray
    ) -> tuple[Array, Array, Array]:
        return log_likelihoods(self.problem.link, self.signs * (scores + intercepts))
