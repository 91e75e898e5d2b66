"""Proximal Newton on working sets: the mode of one category's weights under any log-concave prior.

Each round updates the gradient of all terms (`bayesift.kernels.lazy_gradient`), selects those off
their mode and those with the largest violations, and makes Newton steps on them alone
(`bayesift.kernels.newton_steps`): for a small set a few, reusing a Gram matrix for as long as that
pays; for a large one a single step, along its columns.

The loops over rounds and steps are Python, those over documents and terms are kernels that call no
other kernel: each compiles in a fraction of a second, and none is compiled again within another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels import newton_steps as steps
from bayesift.kernels.documents import (
    CURVATURE,
    Documents,
    Matrix,
    Model,
    WorkingSet,
    add_scores,
    arrange_rows,
    assign_places,
    evaluate,
    evaluate_moved,
    group_documents,
    intercept_curvature,
    intercept_neg_gradient,
    intercept_penalty,
    optimise_intercept,
    working_set,
)
from bayesift.kernels.lazy_gradient import (
    Candidates,
    LazyGradient,
    empty_candidates,
    empty_gradient,
    exact_gradient,
    find_candidates,
    update_gradient,
)
from bayesift.kernels.linear import L1, MODE, PRECISION
from bayesift.models.base import compact_row
from bayesift.models.linear.problem import LinearProblem, Solution, matrix_of

CAUTIOUS = 3  # rounds from a cold start
_SMALLEST_SET = 16
_NEGLIGIBLE_SHARE = 0.1  # of the scale of the prior, left out of the gradient of all terms
_SET_GROWTH = 1.0  # of the working set a round
_FIRST_SET_DIVISOR = 48  # of the terms that violate their conditions at the start
_GRAMS, _STEPS = 3, 8  # a round
_PASS, _SQUARE = (
    30,
    3,
)  # work of descent along columns by entry of the set, of that on a Gram matrix by entry of it
_LARGE_SET_ENTRIES = (
    1 << 19
)  # entries of a set of which no copy is made, if they are a sixteenth of the matrix
_FRESH_GRAM_SHARE = 0.1  # the share of the violation that a step by a new Gram matrix leaves
_INNER_SHARE = 0.05  # the share of the violation that the minimum of the model may leave
_COLUMN_INNER_SHARES = 0.1, 0.3  # the same along columns, and while the set grows
_ROUNDS = (
    3,
    30,
)  # of passes along columns, at least, and at most while they cost less than a pass over the matrix
_ROWS_SPEED_RATIO = (
    3  # times as many entries by columns take as long as the whole matrix by rows
)
# Of the mean curvature of a document: in Gram matrices less counts on the diagonal alone.
_LITTLE = 0.1
_DIAGONAL_SHARES = (
    0.001,
    0.01,
)  # of the curvature, which along columns counts on the diagonal alone; the same
_ENOUGH_DECREASE = 1e-4


def solve_by_coordinates(
    problem: LinearProblem, category: int, start: Solution | None = None
) -> Solution:
    """Find the mode of one category's weights."""
    return next(solve_along([problem], category, start))


def solve_along(
    problems: Sequence[LinearProblem], category: int, start: Solution | None = None
) -> Iterator[Solution]:
    """Find the modes of one category under several priors, each from the one before.

    Documents and the gradient of all terms stay as the last mode left them.
    """
    problem = problems[0]
    weights = _start(problem, category) if start is None else start.coefficients.copy()
    bias = float(problem.start_intercepts[category] if start is None else start.intercept)
    model = _model(problem, category)
    matrix = matrix_of(problem)
    documents = group_documents(model, bias)
    descent = Descent(matrix, model, documents, weights, np.array([bias]))
    cautious = CAUTIOUS if start is None else 0
    scale = _scale(model)
    descent.start(problem.tolerance * scale, cautious=cautious > 0)
    lazy = empty_gradient(matrix, model)
    candidates = empty_candidates(model)
    update_gradient(matrix, model, documents, lazy, _negligible(model, scale))
    for problem in problems:
        descent.model = model._replace(penalty=problem.penalty(category))
        yield _descend(problem, descent, lazy, candidates, cautious)
        cautious = 0


def _descend(
    problem: LinearProblem,
    descent: Descent,
    lazy: LazyGradient,
    candidates: Candidates,
    cautious: int,
) -> Solution:
    """Make rounds on working sets until the mode is found; the first are `cautious`."""
    matrix = descent.matrix
    model = descent.model
    documents = descent.documents
    weights = descent.weights
    scale = _scale(model)
    tolerance = problem.tolerance * scale
    threshold = _negligible(model, scale)
    trace = []
    worst = np.inf
    for k in range(problem.max_iter):
        found = find_candidates(matrix, model, documents, lazy, candidates, weights, tolerance)
        worst = max(found.worst, abs(descent.bias_neg_gradient()))
        trace.append(descent.loss + found.cost + intercept_penalty(model, descent.bias[0]))
        if worst <= tolerance:
            break
        chosen = select_terms(found.found, found.priority, model.penalty, weights, found.moved)
        descent.growing = len(chosen) < len(found.found)
        descent.improve(
            chosen,
            worst,
            tolerance,
            cautious=k < cautious,
            neg_gradient=found.neg_gradient[chosen],
        )
        update_gradient(matrix, model, documents, lazy, threshold)
    row = compact_row(weights.copy())
    return Solution(
        row, float(descent.bias[0]), np.array(trace), len(trace), bool(worst <= tolerance)
    )


def _negligible(model: Model, scale: float) -> float:
    """Return the change of a residual that may be left out of the gradient."""
    return _NEGLIGIBLE_SHARE * scale / math.sqrt(len(model.importance))


def _scale(model: Model) -> float:
    """Return the smallest factor of |beta - mode|, of which the tolerance is a share.

    Without one it is 1.
    """
    rates = model.penalty[L1]
    least = float(
        (rates if len(model.terms) == len(rates) else rates[model.terms]).min(initial=np.inf)
    )
    return least if 0.0 < least < np.inf else 1.0


def _start(problem: LinearProblem, category: int) -> Array:
    return problem.mode(category) if np.any(problem.prior.mode) else np.zeros(problem.n_terms)


def _model(problem: LinearProblem, category: int) -> Model:
    importance = problem.importance_of(category)
    sums = problem.sums if problem.balance is None else problem.rows.T @ importance
    return Model(
        problem.positives(category), importance, sums, problem.terms_of(category),
        problem.link.code, problem.link.parameters, problem.penalty(category), problem.intercept,
    )  # fmt: skip


def select_terms(
    found: Array, priority: FloatArray, penalty: FloatArray, weights: FloatArray, moved: int
) -> Array:
    """Select the working set: `moved` terms off their mode, others by priority."""
    wanted = max(
        _SMALLEST_SET,
        len(found) // _FIRST_SET_DIVISOR if moved == 0 else int(_SET_GROWTH * moved),
    )
    size = min(moved + wanted, len(found))
    if size == len(found):
        return found.copy()
    ranks = np.where(weights[found] != penalty[MODE, found], np.inf, priority)
    cut = np.partition(ranks, len(found) - size)[len(found) - size]
    chosen: IntArray = found[ranks >= cut]
    return chosen


class Descent:
    """Newton steps on working sets of one category.

    Weights and bias move in place, the documents with them.

    While the set is `growing`, because more terms violate their conditions than it holds, steps
    need not be precise.
    """

    def __init__(
        self,
        matrix: Matrix,
        model: Model,
        documents: Documents,
        weights: FloatArray,
        bias: FloatArray,
    ) -> None:
        self.matrix = matrix
        self.model = model
        self.documents = documents
        self.weights = weights
        self.bias = bias
        self.loss = math.nan
        self.growing = False

    def start(self, tolerance: float, *, cautious: bool) -> None:
        """Bring grouped documents to their scores, and the intercept to its best value."""
        matrix = self.matrix
        documents = self.documents
        weighted = np.flatnonzero(self.weights).astype(np.int32)
        assign_places(matrix, self.model, documents, weighted)
        columns = matrix.columns
        add_scores(*columns, weighted, self.weights, documents.places, documents.scores)
        self.loss = optimise_intercept(
            self.model, documents, self.bias, 1e-3 * tolerance, 100, cautious
        )

    def bias_neg_gradient(self) -> float:
        """Minus the derivative of the objective by the intercept."""
        return intercept_neg_gradient(self.model, self.documents, float(self.bias[0]))

    def improve(
        self,
        chosen: IntArray,
        worst: float,
        tolerance: float,
        *,
        cautious: bool,
        neg_gradient: FloatArray | None = None,
    ) -> None:
        """One round on a working set, of which the gradient may be given.

        `worst` is the largest violation.
        """
        matrix = self.matrix
        documents = self.documents
        known = int(self.documents.filled[0])
        assign_places(matrix, self.model, documents, chosen)
        if documents.filled[0] > known:
            evaluate_moved(self.model, documents, known, cautious)
        goal = max(0.1 * worst, 0.5 * tolerance)
        terms, pairs = self._copy(chosen)
        if terms is None:
            self._step_by_columns(chosen, neg_gradient, worst, tolerance, cautious=cautious)
        else:
            self._steps_by_gram(terms, pairs, worst, goal, tolerance, cautious=cautious)
        if abs(self.bias_neg_gradient()) > goal:
            self.loss = optimise_intercept(self.model, documents, self.bias, goal, 4, cautious)

    def _copy(self, chosen: IntArray) -> tuple[WorkingSet | None, float]:
        """Copy the entries of the set and the products that its Gram matrix sums.

        None where columns are quicker.
        """
        entries = int(
            np.sum(self.matrix.columns.indptr[chosen + 1] - self.matrix.columns.indptr[chosen])
        )
        square = _SQUARE * float(len(chosen)) ** 2
        columns = _PASS * float(entries)
        if (
            entries > max(_LARGE_SET_ENTRIES, len(self.matrix.columns.data) // 16)
            or square > columns
        ):
            return None, 0.0
        terms = working_set(self.matrix, self.documents, chosen)
        held = terms.row_starts[1:]
        pairs = 0.5 * float(np.dot(held, held + 1))
        return (None, pairs) if pairs + square > columns else (terms, pairs)

    def _steps_by_gram(
        self,
        terms: WorkingSet,
        pairs: float,
        worst: float,
        goal: float,
        tolerance: float,
        *,
        cautious: bool,
    ) -> None:
        """Make Newton steps by Gram matrices until the violation falls to the goal.

        Each costs `pairs`; the violation begins at `worst`.
        """
        self._violation_left(terms)
        cost = pairs / (2.0 * len(terms.row_starts) + len(terms.places))
        arrange_rows(terms)
        product = np.empty((len(terms.chosen), len(terms.chosen)))
        enough = _FRESH_GRAM_SHARE ** (1.0 / (1.0 + cost))
        left = worst
        before = 0.0
        total = 0.0
        grams = 0
        for _ in range(_STEPS):
            if left <= goal:
                break
            if left > enough * before:
                if grams == _GRAMS:
                    break
                total = self._reduced_gram(terms, product)
                grams += 1
            bias_gradient = self.bias_neg_gradient()
            gradient = (
                terms.neg_gradient
                - (bias_gradient / total if total > 0.0 else 0.0) * terms.sums
            )
            inner = max(_INNER_SHARE * left, 0.1 * tolerance)
            steps.minimise_model(
                product,
                terms.chosen,
                self.model.penalty,
                self.weights,
                terms.step,
                gradient,
                inner,
            )
            common = self._common(total, bias_gradient, terms.sums, terms.step)
            n = int(self.documents.filled[0])
            steps.move_scores(
                terms.starts, terms.places, terms.values, terms.step, common,
                self.documents.direction[:n], self.documents.scores[:n],
            )  # fmt: skip
            self._line_search(
                terms.chosen,
                terms.step,
                terms.neg_gradient,
                common,
                bias_gradient,
                cautious=cautious,
            )
            before = left
            left = self._violation_left(terms)

    def _reduced_gram(self, terms: WorkingSet, matrix: Array) -> float:
        """Write the Gram matrix with the intercept eliminated.

        Returns the curvature of the intercept, 0 if fixed.
        """
        documents = self.documents
        total = intercept_curvature(self.model, self.documents)
        matrix[:] = 0.0
        terms.sums[:] = 0.0
        least = _LITTLE * float(documents.totals[CURVATURE]) / len(self.model.importance)
        rows = terms.row_starts, terms.row_columns, terms.row_values
        steps.gram(*rows, documents.curvatures, least, matrix.reshape(matrix.size), terms.sums)
        steps.complete_gram(matrix, terms.sums, total)
        return total

    def _violation_left(self, terms: WorkingSet) -> float:
        """Return the largest violation within a set and of the intercept.

        Writes the gradient of the set.
        """
        left = steps.set_violation(
            terms.starts, terms.places, terms.values, self.documents.residuals, terms.chosen,
            self.model.penalty, self.weights, terms.neg_gradient,
        )  # fmt: skip
        return max(left, abs(self.bias_neg_gradient()))

    def _step_by_columns(
        self,
        chosen: IntArray,
        neg_gradient: FloatArray | None,
        worst: float,
        tolerance: float,
        *,
        cautious: bool,
    ) -> None:
        """Make one Newton step along the columns of a set.

        It uses the documents that hold most of the curvature.
        """
        matrix = self.matrix
        documents = self.documents
        model = self.model
        if neg_gradient is None:
            neg_gradient = exact_gradient(
                matrix, model, documents, chosen, np.empty(len(model.importance))
            )
        n = int(documents.filled[0])
        bias_gradient = self.bias_neg_gradient()
        curvatures = documents.curvatures[:n]
        numbers = documents.numbers[2:n][
            curvatures[2:] >= steps.least_curvature(curvatures, _DIAGONAL_SHARES[self.growing])
        ]
        numbers.sort()
        slots = np.full(len(model.importance), -1, dtype=np.int32)
        by_document = np.zeros(len(model.importance))
        slots[numbers] = np.arange(len(numbers))
        by_document[documents.numbers[2:n]] = curvatures[2:]
        by_document[numbers] = np.sqrt(by_document[numbers])
        entries = int(np.sum(matrix.rows.indptr[numbers + 1] - matrix.rows.indptr[numbers]))
        squares, rest, sums, step = np.zeros((4, len(chosen)))
        weighed = steps.WeighedColumns(
            starts=np.empty(len(chosen) + 1, dtype=np.int64),
            places=np.empty(entries, dtype=np.int32),
            scaled=np.empty(entries, dtype=np.float32),
            squares=squares,
            rest=rest,
            sums=sums,
        )
        steps.weigh_columns(matrix.columns, chosen, by_document, slots, weighed)
        total = intercept_curvature(model, documents)
        moved = np.zeros(len(numbers))
        full_passes = len(matrix.columns.data) // (4 * int(weighed.starts[-1]) + 1)
        rounds = min(max(_ROUNDS[0], full_passes), _ROUNDS[1])
        goal = max(_COLUMN_INNER_SHARES[self.growing] * worst, 0.1 * tolerance)
        intercept = steps.InterceptModel(total, bias_gradient)
        steps.minimise_by_columns(
            chosen, weighed, neg_gradient, intercept, model.penalty, self.weights, step, moved,
            goal, rounds,
        )  # fmt: skip
        del weighed
        common = self._common(total, bias_gradient, sums, step)
        by_term = np.zeros(len(matrix.norms))
        by_term[chosen] = step
        self._move_scores(chosen, by_term, common)
        self._line_search(chosen, step, neg_gradient, common, bias_gradient, cautious=cautious)

    def _move_scores(self, chosen: IntArray, by_term: Array, common: float) -> None:
        """Take the step of the weights `by_term` and of the intercept.

        By columns where the set is small, else by rows.
        """
        matrix = self.matrix
        documents = self.documents
        n = int(self.documents.filled[0])
        direction = documents.direction[:n]
        scores = documents.scores[:n]
        if _ROWS_SPEED_RATIO * np.sum(
            matrix.columns.indptr[chosen + 1] - matrix.columns.indptr[chosen]
        ) > len(matrix.columns.data):
            rows = matrix.rows
            steps.move_scores_by_rows(
                *rows, documents.numbers, by_term, common, direction, scores
            )
            return
        direction[:] = common
        columns = matrix.columns
        add_scores(*columns, chosen, by_term, documents.places, direction)
        scores += direction

    def _common(
        self, total: float, bias_gradient: float, sums: FloatArray, step: FloatArray
    ) -> float:
        """Return the best step of the intercept with that of the weights."""
        return (bias_gradient - float(np.dot(sums, step))) / total if total > 0.0 else 0.0

    def _line_search(
        self,
        chosen: IntArray,
        step: FloatArray,
        neg_gradient: FloatArray,
        common: float,
        bias_gradient: float,
        *,
        cautious: bool,
    ) -> None:
        """Halve a step that the scores have taken until the objective decreases enough (Armijo).

        Weights follow.
        """
        model = self.model
        documents = self.documents
        bias = float(self.bias[0])
        n = int(documents.filled[0])
        given = (chosen, model.penalty, self.weights, step)
        before = intercept_penalty(model, bias)
        share = 1.0
        loss = self.loss
        cost = steps.cost_change(*given, share)
        # minus the directional derivative, with the whole change of the penalty
        gain = bias_gradient * common + float(np.dot(neg_gradient, step)) - cost
        gain -= 0.5 * float(model.intercept[PRECISION]) * common**2
        for _ in range(60):
            loss = evaluate(model, documents, cautious)
            change = (
                loss
                - self.loss
                + cost
                + intercept_penalty(model, bias + share * common)
                - before
            )
            if change <= -_ENOUGH_DECREASE * share * max(gain, 0.0) + 1e-14 * abs(self.loss):
                break
            share *= 0.5
            cost = steps.cost_change(*given, share)
            documents.scores[:n] -= share * documents.direction[:n]
        steps.move_weights(*given, share)
        self.bias[0] += share * common
        self.loss = loss
