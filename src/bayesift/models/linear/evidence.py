"""The evidence of a scale: the likelihood of the labels with the weights integrated out, by Laplace's approximation.

    log p(y | scale) ~ log p(y | mode) + log p(mode) + (k / 2) log 2 pi - 1/2 log |X'HX + P|

P holds the precisions of a Gaussian prior, H the curvatures at the mode, k the number of weights. What is left of the
determinant is that of I + B, B = H^1/2 X P^-1 X' H^1/2, times the one number that the intercept adds, its precision +
h^1/2' (I + B)^-1 h^1/2. A flat intercept has density 1.

Up to a size both come from a Cholesky factor, of terms or of documents, whichever are fewer. Beyond, by Lanczos
quadrature: log |I + B| is the mean of z' log(I + B) z over random signs z (Ubaru, Chen & Saad 2017), the same signs at
every scale, so that what is compared is not noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import linalg, sparse

from bayesift.arrays import Array
from bayesift.kernels.products import times, transposed_times
from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.path import Choice, Progress, rescaled, search_scales
from bayesift.models.linear.problem import Problem, Solution
from bayesift.models.linear.solvers import solve_all
from bayesift.state import storable
from bayesift.threads import in_threads

_LARGEST = 1500  # terms or documents of an exact determinant
_PROBES, _STEPS = 7, 30
_LITTLE = 1e-12


def log_evidence(problem: Problem, category: int, solution: Solution, *, largest: int = _LARGEST) -> float:
    """The log evidence of one model with a Gaussian prior at its mode; exact up to `largest` terms or documents.

    Examples
    --------
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows, members = sparse.csr_array(np.eye(2)), sparse.csr_array(np.array([[1, 0]]))
    >>> problem = Problem(rows, members, np.ones(2), Logit(), GaussianPrior(variance=1e-9), np.zeros(3))
    >>> round(log_evidence(problem, 0, Solution(np.zeros(2), 0.0, np.empty(0), 0, True)), 6)
    -1.386294
    """
    penalty, terms = problem.penalty(category), problem.terms_of(category)
    scores = problem.rows @ solution.coefficients + solution.intercept
    curvatures = log_likelihoods(problem.link, problem.signs(category) * scores)[2]
    roots = np.sqrt(problem.importance_of(category) * curvatures)
    deviations = np.zeros(problem.n_terms)
    deviations[terms] = 1.0 / np.sqrt(penalty[1, terms])
    exact = min(len(terms), problem.rows.shape[0]) <= largest
    determinant, form = _exact(problem, roots, deviations, terms) if exact else _by_lanczos(problem, roots, deviations)
    value = -problem.objective(category, solution.coefficients, solution.intercept) - 0.5 * determinant
    free, precision, _ = problem.intercept
    if not free:
        return float(value)
    return float(value + 0.5 * np.log(precision if precision else 2.0 * np.pi) - 0.5 * np.log(precision + form))


def _exact(problem: Problem, roots: Array, deviations: Array, terms: Array) -> tuple[float, float]:
    """Log |I + B| and h^1/2' (I + B)^-1 h^1/2; on the side of terms by Woodbury's identity."""
    used = problem.columns[:, terms] if problem.terms is not None else problem.columns
    design = sparse.csr_array(sparse.diags_array(roots) @ used @ sparse.diags_array(deviations[terms]))
    if design.shape[0] <= design.shape[1]:
        factor = linalg.cholesky(np.eye(design.shape[0]) + (design @ design.T).toarray(), lower=True)
        half = linalg.solve_triangular(factor, roots, lower=True)
        form = half @ half
    else:
        factor = linalg.cholesky(np.eye(design.shape[1]) + (design.T @ design).toarray(), lower=True)
        half = linalg.solve_triangular(factor, design.T @ roots, lower=True)
        form = roots @ roots - half @ half
    return 2.0 * float(np.sum(np.log(np.diagonal(factor)))), float(form)


def _by_lanczos(problem: Problem, roots: Array, deviations: Array) -> tuple[float, float]:
    """As `_exact`, estimated: seven columns of random signs for the determinant, and h^1/2 itself."""
    n_documents = len(roots)
    block = np.empty((n_documents, _PROBES + 1))
    block[:, :-1] = np.random.default_rng(0).choice([-1.0, 1.0], size=(n_documents, _PROBES))
    block[:, -1] = np.maximum(roots, _LITTLE)
    sizes = np.sum(block**2, axis=0)
    diagonals, sides = _lanczos(problem, roots, deviations, block / np.sqrt(sizes))
    logs, inverses = [], []
    for diagonal, side in zip(diagonals.T, sides.T, strict=True):
        values, vectors = linalg.eigh_tridiagonal(diagonal, side[:-1])
        shares, grown = vectors[0] ** 2, 1.0 + np.maximum(values, 0.0)
        logs.append(shares @ np.log(grown))
        inverses.append(shares @ (1.0 / grown))
    return float(np.mean(np.array(logs[:-1]) * sizes[:-1])), float(inverses[-1] * sizes[-1])


def _lanczos(problem: Problem, roots: Array, deviations: Array, starts: Array) -> tuple[Array, Array]:
    """Diagonals and side diagonals of B in the Krylov space of each column of unit length, which is kept orthogonal."""
    rows, (n_documents, width) = problem.rows, starts.shape
    inner, outer = np.empty((problem.n_terms, width)), np.empty((n_documents, width))
    basis = np.zeros((_STEPS, n_documents, width))
    diagonals, sides = np.zeros((2, _STEPS, width))
    vector = starts
    for k in range(_STEPS):
        basis[k] = vector
        transposed_times(rows.indptr, rows.indices, rows.data, roots[:, np.newaxis] * vector, inner)
        inner *= (deviations**2)[:, np.newaxis]
        times(rows.indptr, rows.indices, rows.data, inner, outer)
        image = roots[:, np.newaxis] * outer
        diagonals[k] = np.sum(image * vector, axis=0)
        for earlier in basis[: k + 1]:
            image -= np.sum(image * earlier, axis=0) * earlier
        sides[k] = np.sqrt(np.sum(image**2, axis=0))
        vector = np.where(sides[k] > _LITTLE, image / np.maximum(sides[k], _LITTLE), 0.0)
        sides[k] = np.where(sides[k] > _LITTLE, sides[k], 0.0)
    return diagonals, sides


@storable("evidence-scale")
@dataclass(frozen=True)
class Evidence:
    """The scale of a Gaussian prior with the highest evidence, by Laplace's approximation; no document is held out.

    `shared` models have the same scale, that with the highest total.
    """

    shared: bool = False
    kind: ClassVar[str] = "evidence"

    def choose(self, problem: Problem, solver: str, n_jobs: int | None, progress: Progress | None) -> Choice:
        """The scales of all models."""
        self.check(problem)
        return search_scales(
            problem, EvidenceLosses(problem, solver, n_jobs, shared=self.shared), progress, shared=self.shared
        )

    @staticmethod
    def check(problem: Problem) -> None:
        """Refuse a problem whose evidence is not known."""
        if not problem.prior.smooth:
            raise ValueError(f"the evidence needs a Gaussian prior, not a {problem.prior.kind} one")
        if problem.coupled:
            raise ValueError("the evidence of a softmax model is not known; use multiclass='one-vs-rest'")


class EvidenceLosses:
    """Minus the log evidence at any scale; each model starts from its mode of the last call."""

    def __init__(self, problem: Problem, solver: str, n_jobs: int | None, *, shared: bool) -> None:
        self.problem, self.solver, self.n_jobs, self.shared = problem, solver, n_jobs, shared
        self.last: list[Solution | None] = [None] * problem.members.shape[0]
        _ = problem.columns, problem.norms, problem.start_intercepts

    def __call__(self, scales: Array, models: list[int], factors: Array | None = None) -> tuple[Array, Array]:
        """The losses of models, one scale each, and no standard errors; their total where models share a scale."""
        everyone, last = list(range(len(self.last))), self.last
        named = everyone if self.shared else models
        every = np.ones(len(everyone))
        every[named] = scales
        at_scale = self.problem.varied(prior=rescaled(self.problem.prior, every, factors))
        found = solve_all(at_scale, self.solver, [last[c] for c in named], self.n_jobs, categories=named)
        for c, solution in zip(named, found, strict=True):
            last[c] = solution
        pairs = list(zip(named, found, strict=True))
        values = in_threads(lambda pair: -log_evidence(at_scale, *pair), pairs, self.n_jobs)
        losses = np.fromiter(values, dtype=float)
        losses = np.array([losses.sum()]) if self.shared else losses
        return losses, np.full(len(losses), np.nan)
