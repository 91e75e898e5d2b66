"""Quadratic bounds of the softmax likelihood under Gaussian priors.

A variational posterior, and a way to the mode.

Bouchard (2007): for every a, log sum_c exp f_c <= a + sum_c log(1 + exp(f_c - a)), and each
logarithm has the bound of Jaakkola & Jordan (`bayesift.models.linear.solvers.variational`), so that

    f_y - log sum_c exp f_c
        >= f_y - a
           - sum_c [(f_c - a - xi_c) / 2 + l(xi_c) ((f_c - a)^2 - xi_c^2) + log(1 + exp xi_c)]

Under it classes are independent and normal, with precision S_c^-1 = P_c + 2 sum_i w_i l(xi_ic) x_i
x_i' and mean m_c = S_c (P_c mode_c + sum_i w_i (y_ic - 1/2 + 2 a_i l(xi_ic)) x_i). "variational"
repeats this and

    a_i = (C/2 - 1 + 2 sum_c l(xi_ic) x_i'm_c) / (2 sum_c l(xi_ic)),
    xi_ic^2 = (x_i'm_c - a_i)^2 + x_i' S_c x_i

none of which lowers the bound of the evidence. The result is the mean, not the mode.

Boehning (1992): the Hessian of log sum exp is at most (I - 11'/C) / 2. "variational-mode" minimises
that bound at the present weights, with matrices that are factorised once: no step ascends, and the
limit is the mode. With G = X'WX / 2 and A_c = G + P_c, the steps d_c of the classes solve A_c d_c =
G s / C - gradient_c, s their sum.

Matrices are dense: for at most 2000 terms.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse
from scipy.special import log_softmax

from bayesift.arrays import Array, FloatArray
from bayesift.models.linear.problem import LinearProblem, Solution
from bayesift.models.linear.solvers.softmax import labels_of, solutions_of, start_of
from bayesift.models.linear.solvers.variational import bound_curvature

_MOST_TERMS = 2000  # terms
_STOPPING_SHARE = 1e-1  # change of xi at which to stop, as a share of the tolerance


class _Classes:
    """The documents with the intercept as a last column, and the prior of each class.

    Weights are classes x columns.
    """

    def __init__(self, problem: LinearProblem) -> None:
        n_classes = problem.members.shape[0]
        n_terms = problem.n_terms
        if n_terms > _MOST_TERMS:
            raise ValueError(
                f"the bounds of softmax are for at most {_MOST_TERMS} terms, got {n_terms}; "
                "select some first"
            )
        free, precision, centre = problem.intercept
        last = np.full((problem.rows.shape[0], 1), 1.0)
        self.rows = sparse.csr_array(sparse.hstack([problem.rows, last]))
        self.importance = problem.importance
        self.n_classes = n_classes
        self.members = np.zeros((problem.rows.shape[0], n_classes))
        self.members[np.arange(len(self.members)), labels_of(problem)] = 1.0
        self.precision, self.mode = np.zeros((2, n_classes, n_terms + 1))
        self.used = np.zeros((n_classes, n_terms + 1), dtype=bool)
        for c in range(n_classes):
            penalty = problem.penalty(c)
            self.precision[c] = np.append(penalty[1], precision)
            self.mode[c] = np.append(penalty[2], centre)
            self.used[c, problem.terms_of(c)] = True
        self.used[:, -1] = bool(free)
        self.mode[:, :-1][~self.used[:, :-1]] = 0.0

    def scores(self, weights: FloatArray) -> FloatArray:
        """Documents x classes."""
        return np.asarray(self.rows @ weights.T)

    def objective(self, weights: FloatArray) -> float:
        """Minus the log posterior."""
        logarithms = log_softmax(self.scores(weights), axis=1)[self.members > 0]
        return float(
            0.5 * np.sum(self.precision * (weights - self.mode) ** 2)
            - self.importance @ logarithms
        )

    def gram(self, curvatures: FloatArray, used: Array) -> Array:
        """X' diag(curvatures) X of the columns of a class."""
        columns = self.rows[:, np.flatnonzero(used)]
        return np.asarray(
            (columns.T @ sparse.csr_array(columns * curvatures[:, np.newaxis])).toarray()
        )

    def solutions(
        self, weights: FloatArray, trace: list[float], *, converged: bool
    ) -> list[Solution]:
        """One `Solution` per class."""
        return solutions_of(
            weights[:, :-1].copy(), weights[:, -1], np.array(trace), converged=converged
        )


def solve_softmax_by_bound(
    problem: LinearProblem, starts: list[Solution | None]
) -> list[Solution]:
    """Find the mean of the weights under Bouchard's bound.

    The objectives are minus the bound of the log evidence.
    """
    classes = _Classes(problem)
    weights = np.column_stack(start_of(problem, starts))
    scores = classes.scores(weights)
    log_sum = scores.mean(axis=1)
    xi = np.abs(scores - log_sum[:, np.newaxis]) + 1.0
    trace: list[float] = []
    converged = False
    for _ in range(problem.max_iter):
        means, variances, bound = _normals(classes, xi, log_sum)
        trace.append(-bound)
        curvatures = bound_curvature(xi)
        pull = classes.n_classes / 2 - 1 + 2 * np.sum(curvatures * means[1], axis=1)
        before = xi
        log_sum = pull / (2 * curvatures.sum(axis=1))
        xi = np.sqrt((means[1] - log_sum[:, np.newaxis]) ** 2 + variances)
        weights = means[0]
        if (
            np.max(np.abs(xi - before) / (1.0 + before), initial=0.0)
            <= _STOPPING_SHARE * problem.tolerance
        ):
            converged = True
            break
    return classes.solutions(weights, trace, converged=converged)


def _normals(
    classes: _Classes, xi: FloatArray, log_sum: Array
) -> tuple[tuple[Array, Array], Array, float]:
    """Means of weights and of scores, variances of scores, and the bound of the log evidence."""
    weights = classes.mode.copy()
    scores = np.empty_like(xi)
    variances = np.empty_like(xi)
    curvatures = bound_curvature(xi)
    importance = classes.importance
    slopes = classes.members - 0.5 + 2.0 * curvatures * log_sum[:, np.newaxis]
    heights = (
        0.5 * (log_sum[:, np.newaxis] + xi)
        - curvatures * (log_sum[:, np.newaxis] ** 2 - xi**2)
        - np.logaddexp(0, xi)
    )
    bound = float(importance @ (heights.sum(axis=1) - log_sum))
    for c, used in enumerate(classes.used):
        held = classes.rows @ np.where(
            used, 0.0, classes.mode[c]
        )  # an intercept that is not free
        columns = classes.rows[:, np.flatnonzero(used)]
        precision = classes.precision[c, used]
        inverse = classes.gram(2.0 * importance * curvatures[:, c], used) + np.diag(precision)
        target = precision * classes.mode[c, used]
        target = target + columns.T @ (
            importance * (slopes[:, c] - 2.0 * curvatures[:, c] * held)
        )
        factor = linalg.cho_factor(inverse, lower=True)
        mean = linalg.cho_solve(factor, target)
        weights[c, used] = mean
        scores[:, c] = columns @ mean + held
        variances[:, c] = np.asarray(
            columns.multiply(columns @ linalg.cho_solve(factor, np.eye(len(mean)))).sum(axis=1)
        ).ravel()
        proper = precision > 0
        log_ratio = np.log(precision[proper]).sum() - 2.0 * np.log(np.diag(factor[0])).sum()
        bound += 0.5 * float(mean @ target - precision @ classes.mode[c, used] ** 2 + log_ratio)
        bound += float(importance @ (slopes[:, c] * held - curvatures[:, c] * held**2))
    return (weights, scores), variances, bound


def solve_softmax_by_quadratic_bound(
    problem: LinearProblem, starts: list[Solution | None]
) -> list[Solution]:
    """Find the mode by Boehning's bound of the curvature."""
    classes = _Classes(problem)
    weights = np.column_stack(start_of(problem, starts))
    bound = _QuadraticBound(classes)
    trace = [classes.objective(weights)]
    converged = False
    first = np.linalg.norm(_gradient(classes, classes.mode))
    for _ in range(problem.max_iter):
        gradient = _gradient(classes, weights)
        converged = bool(np.linalg.norm(gradient) <= problem.tolerance * first)
        if converged:
            break
        weights = weights - bound.solve(gradient)
        trace.append(classes.objective(weights))
    return classes.solutions(weights, trace, converged=converged)


class _QuadraticBound:
    """The matrix of Boehning's bound and of the prior, factorised."""

    def __init__(self, classes: _Classes) -> None:
        self.used = classes.used
        n_columns = classes.used.shape[1]
        self.gram = classes.gram(0.5 * classes.importance, np.ones(n_columns, dtype=bool))
        self.factors = [
            linalg.cho_factor(
                self.gram[np.ix_(used, used)] + np.diag(classes.precision[c, used])
            )
            for c, used in enumerate(self.used)
        ]
        shared = sum(
            (self._class_solve(c, self.gram) for c in range(len(self.used))),
            np.zeros_like(self.gram),
        )
        # Singular where flat intercepts move together, which changes nothing: the gradient has no
        # part there.
        self.inverse = linalg.pinv(np.eye(n_columns) - shared / len(self.used))

    def _class_solve(self, c: int, target: Array) -> Array:
        """A_c^-1 target, in all columns."""
        out = np.zeros_like(target)
        used = self.used[c]
        out[used] = linalg.cho_solve(self.factors[c], target[used])
        return out

    def solve(self, gradient: FloatArray) -> Array:
        """Multiply the gradient by the inverse of the matrix, classes x columns."""
        alone = np.stack([self._class_solve(c, row) for c, row in enumerate(gradient)])
        pull = self.gram @ (self.inverse @ alone.sum(axis=0)) / len(alone)
        return np.asarray(
            alone + np.stack([self._class_solve(c, pull) for c in range(len(alone))])
        )


def _gradient(classes: _Classes, weights: FloatArray) -> Array:
    residuals = np.exp(log_softmax(classes.scores(weights), axis=1)) - classes.members
    whole = (classes.rows.T @ (classes.importance[:, np.newaxis] * residuals)).T
    return np.where(classes.used, whole + classes.precision * (weights - classes.mode), 0.0)
