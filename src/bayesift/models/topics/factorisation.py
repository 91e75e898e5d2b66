"""Sparse non-negative matrix factorisation: objective, starts, updates, and the loop over them.

    sum_ij w_j (V_ij log(V_ij / (HW')_ij) - V_ij + (HW')_ij) + alpha sum_ia S(H_ia),
    H, W >= 0,  sum_j W_ja = 1

V is documents x terms, H (codes) documents x topics, W (basis) terms x topics. S(x) is x^2 (the
paper's choice, a ridge, which spreads a code over more topics and makes topics more local), x
(which shrinks codes: with w = 1 it divides them all by 1 + alpha, since the sums of topics are
fixed, and sets none to 0), or one of the others that the paper names after its eq. 7, log(1 + x^2 /
delta^2) and -exp(-x^2 / delta^2), which favour few large parts.

The latter two are concave in x^2: at the present codes they lie below a square with the factor
S'(x^2) of each entry, 1 / (delta^2 + x^2) or exp(-x^2 / delta^2) / delta^2, which the updates
minimise in their place.

No update raises the objective. Codes are updated with the basis fixed, then the basis *and the
scales of the codes* with the codes fixed: a topic's scale may move between W and H without changing
the divergence. With free column sums S_a = sum_j W_ja, h_a = sum_i H_ia and q_a = sum_i H_ia^2, the
objective in W has the penalty alpha q_a S_a^2 (or alpha h_a S_a for S(x) = x); afterwards W_a is
divided by S_a and H_a multiplied by it, which changes nothing.

Coordinate updates change one entry at a time by the steps of `bayesift.kernels.topics`. Entries
become exactly 0 and can leave 0 again.

Multiplicative updates minimise the bound of `bayesift.kernels.topics` (eq. 9 of the paper). In W it
is

    - sum_j C_ja log W_ja + h_a sum_j w_j W_ja + alpha q_a S_a^2,
    C_ja = W_ja sum_i w_j V_ij H_ia / (HW')_ij,

with the minimum W_ja = C_ja / (w_j h_a + p_a), p_a = 2 alpha q_a S_a (or alpha h_a), S_a the unique
root of S = sum_j C_ja / (w_j h_a + 2 alpha q_a S). Rules 10 and 11 of the paper renormalise W
alone, which may raise the objective; "printed" are these. For w = 1 and alpha = 0 the two steps are
those of Lee & Seung.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.special import xlogy
from sklearn.utils.extmath import randomized_svd

from bayesift.arrays import Array, FloatArray, SparseRows
from bayesift.kernels.topics import (
    descend_basis,
    descend_codes,
    divide_shares,
    gather_shares,
    log_likelihood,
    sum_quotients,
    update_codes,
)
from bayesift.threads import computed_once

Importance = Literal["variance", "uniform"]
Penalty = Literal["squared", "absolute", "log", "exponential"]
Solver = Literal["coordinate", "multiplicative", "printed"]
Start = Callable[[SparseRows, int, np.random.RandomState], tuple[Array, Array]]

_ROUNDING = 1e-12
_ROOT_TOLERANCE = 1e-10
_ROOT_STEPS = 60
_FLOOR = 0.1
_LEAST = 1e-6


@dataclass(frozen=True, eq=False)
class Objective:
    """The objective for one matrix; `rows` hold the values w_j V_ij."""

    rows: SparseRows
    importance: FloatArray
    alpha: float = 0.0
    penalty: Penalty = "squared"
    delta: float = 1.0

    @classmethod
    def of(
        cls,
        X: SparseRows,
        importance: FloatArray,
        alpha: float,
        penalty: Penalty,
        delta: float = 1.0,
    ) -> Objective:
        """Return the objective of documents x terms."""
        values = X.data * importance[X.indices]
        return cls(
            sparse.csr_array((values, X.indices, X.indptr), shape=X.shape),
            importance,
            alpha,
            penalty,
            delta,
        )

    @computed_once
    def columns(self) -> SparseRows:
        """Terms x documents."""
        return sparse.csr_array(self.rows.T)

    @computed_once
    def constant(self) -> float:
        """Return the part that depends on V alone: sum w (V log V - V)."""
        weights = self.importance[self.rows.indices]
        values = np.divide(
            self.rows.data, weights, out=np.zeros(self.rows.nnz), where=weights > 0
        )
        return float(np.sum(xlogy(self.rows.data, values)) - np.sum(self.rows.data))

    @property
    def concave(self) -> bool:
        """Whether S is concave in x^2: every code has a curvature of its own."""
        return self.penalty in ("log", "exponential")

    def curvatures(self, codes: FloatArray) -> Array:
        """Return the second derivative of the penalty, or of the square above it at these codes.

        A number or one per code.
        """
        if self.penalty == "log":
            return np.asarray(2.0 * self.alpha / (self.delta**2 + codes**2))
        if self.penalty == "exponential":
            return np.asarray(
                2.0 * self.alpha * np.exp(-((codes / self.delta) ** 2)) / self.delta**2
            )
        return np.asarray(2.0 * self.alpha if self.penalty == "squared" else 0.0)

    def slopes(self, basis: FloatArray) -> Array:
        """Return the constant part of the bound's derivative in a code."""
        masses: FloatArray = self.importance @ basis
        return masses + self.alpha if self.penalty == "absolute" else masses

    def divergence(self, codes: FloatArray, basis: FloatArray) -> float:
        """Return the first sum, over terms that have a weight in some topic."""
        rows = self.rows
        likelihood = log_likelihood(rows.indptr, rows.indices, rows.data, codes, basis)
        return float(self.constant - likelihood + codes.sum(axis=0) @ (self.importance @ basis))

    def value(self, codes: FloatArray, basis: FloatArray) -> float:
        """Return the objective."""
        return self.divergence(codes, basis) + self.alpha * float(np.sum(self._activity(codes)))

    def _activity(self, codes: FloatArray) -> Array:
        """S of each code."""
        if self.penalty == "absolute":
            return codes
        squares: FloatArray = (codes / self.delta) ** 2 if self.concave else codes**2
        if self.penalty == "log":
            return np.asarray(np.log1p(squares))
        return -np.exp(-squares) if self.penalty == "exponential" else squares


def importance_of(X: SparseRows, kind: Importance) -> FloatArray:
    """w_j: the variance of each term, scaled to mean 1 over the terms that vary, or 1.

    0 for terms that never occur.

    The paper scales the variances to sum 1, which is the same with `alpha` divided by the number of
    terms. Where no term varies, all count the same.
    """
    occurs = (np.bincount(X.indices, minlength=X.shape[1]) > 0).astype(np.float64)
    if kind == "uniform":
        return occurs
    means = np.bincount(X.indices, X.data, X.shape[1]) / X.shape[0]
    squares = np.bincount(X.indices, X.data**2, X.shape[1]) / X.shape[0]
    variances = np.maximum(squares - means**2, 0.0)
    variances[variances <= _ROUNDING * squares] = 0.0
    varies = np.count_nonzero(variances)
    return variances * (varies / variances.sum()) if varies else occurs


def random_start(
    X: SparseRows, n_topics: int, random: np.random.RandomState
) -> tuple[Array, Array]:
    """Codes and basis drawn at random.

    Positive everywhere, since a multiplicative update keeps zeros.
    """
    codes = _FLOOR + random.uniform(size=(X.shape[0], n_topics))
    basis = _FLOOR + random.uniform(size=(X.shape[1], n_topics))
    return _scaled(X, codes, basis)


def nndsvd_start(
    X: SparseRows, n_topics: int, random: np.random.RandomState
) -> tuple[Array, Array]:
    """Start from positive parts of the singular vectors (Boutsidis & Gallopoulos 2008).

    They are raised by a tenth of their mean.

    Of each pair of singular vectors the heavier sign is taken. Topics beyond the rank of X are
    drawn at random.
    """
    codes, basis = random_start(X, n_topics, random)
    n_vectors = min(n_topics, *X.shape)
    left, values, right = randomized_svd(sparse.csr_matrix(X), n_vectors, random_state=random)
    for a in range(n_vectors):
        if values[a] > 0:
            documents, terms = _heavier_part(left[:, a], right[a])
            codes[:, a] = documents + _FLOOR * documents.mean()
            basis[:, a] = terms + _FLOOR * terms.mean()
    return _scaled(X, codes, basis)


def nndsvda_start(
    X: SparseRows, n_topics: int, random: np.random.RandomState
) -> tuple[Array, Array]:
    """Start as `nndsvd_start`, scaled, with zeros raised to the mean of X.

    This is as in scikit-learn.
    """
    n_vectors = min(n_topics, *X.shape)
    mean = max(float(X.mean()), _LEAST)
    left, values, right = randomized_svd(sparse.csr_matrix(X), n_vectors, random_state=random)
    codes, basis = random_start(X, n_topics, random)
    for a in range(n_vectors):
        if values[a] > 0:
            documents, terms = _heavier_part(left[:, a], right[a])
            lengths = float(np.linalg.norm(documents)), float(np.linalg.norm(terms))
            scale = np.sqrt(values[a] * lengths[0] * lengths[1])
            codes[:, a] = scale * documents / lengths[0]
            basis[:, a] = scale * terms / lengths[1]
    codes[codes < _LEAST] = mean
    basis[basis < _LEAST] = mean
    sums = basis.sum(axis=0)
    return codes * sums, basis / sums


STARTS: dict[str, Start] = {
    "nndsvd": nndsvd_start,
    "nndsvda": nndsvda_start,
    "random": random_start,
}


def _heavier_part(left: Array, right: Array) -> tuple[Array, Array]:
    """Return the positive or the negative parts of two vectors, whichever are longer."""
    pairs = [
        (np.maximum(sign * left, 0.0), np.maximum(sign * right, 0.0)) for sign in (1.0, -1.0)
    ]
    return max(pairs, key=lambda pair: float(np.linalg.norm(pair[0]) * np.linalg.norm(pair[1])))


def _scaled(X: SparseRows, codes: FloatArray, basis: FloatArray) -> tuple[Array, Array]:
    """Topics of sum one; each document's code has the sum of its row."""
    totals = codes.sum(axis=1, keepdims=True)
    sums = np.asarray(X.sum(axis=1)).reshape(-1, 1)
    return codes / totals * sums, basis / basis.sum(axis=0)


def coordinate_codes(
    objective: Objective,
    codes: FloatArray,
    basis: FloatArray,
    *,
    repeats: int = 1,
    tolerance: float = 0.0,
) -> int:
    """Update the codes in place, up to `repeats` times.

    The result is the largest number of updates of a document.

    Under a penalty that is concave in x^2 updates are multiplicative.
    """
    if objective.concave:
        return _repeated_codes(objective, codes, basis, repeats, tolerance)
    rows = objective.rows
    slopes = objective.slopes(basis)
    curvature = float(objective.curvatures(codes))
    return int(
        descend_codes(
            rows.indptr,
            rows.indices,
            rows.data,
            basis,
            slopes,
            curvature,
            codes,
            repeats,
            tolerance,
        )
    )


def _repeated_codes(
    objective: Objective, codes: FloatArray, basis: FloatArray, repeats: int, tolerance: float
) -> int:
    for repeat in range(repeats):
        before = codes.copy()
        multiplicative_codes(objective, codes, basis)
        moved = np.abs(codes - before).max(axis=1, initial=0.0)
        if np.all(moved <= tolerance * codes.max(axis=1, initial=0.0)):
            return repeat + 1
    return repeats


def coordinate_basis(objective: Objective, codes: FloatArray, basis: FloatArray) -> None:
    """Update the basis and the scales of the codes in place.

    A topic without terms starts again with all terms.
    """
    columns = objective.columns
    importance = objective.importance
    masses = codes.sum(axis=0)
    slopes = (
        objective.alpha * masses if objective.penalty == "absolute" else np.zeros(len(masses))
    )
    curvatures = np.sum(objective.curvatures(codes) * codes**2, axis=0)
    sums = basis.sum(axis=0)
    descend_basis(
        columns.indptr,
        columns.indices,
        columns.data,
        codes,
        importance,
        masses,
        slopes,
        curvatures,
        sums,
        basis,
    )
    sums = basis.sum(axis=0)
    codes *= sums
    basis[:, sums == 0] = (importance > 0)[:, np.newaxis]
    basis /= np.maximum(basis.sum(axis=0), np.finfo(float).tiny)


def multiplicative_codes(objective: Objective, codes: FloatArray, basis: FloatArray) -> None:
    """Update the codes in place."""
    rows = objective.rows
    slopes = objective.slopes(basis)
    curvatures = objective.curvatures(codes)
    if objective.concave:
        shares = np.empty_like(codes)
        gather_shares(rows.indptr, rows.indices, rows.data, codes, basis, shares)
        roots = slopes + np.sqrt(slopes**2 + 4.0 * curvatures * shares)
        codes[:] = np.divide(2.0 * shares, roots, out=np.zeros_like(codes), where=roots > 0)
    else:
        update_codes(
            rows.indptr, rows.indices, rows.data, basis, slopes, float(curvatures), codes
        )


def multiplicative_basis(objective: Objective, codes: FloatArray, basis: FloatArray) -> None:
    """Update the basis and the scales of the codes in place."""
    columns = objective.columns
    shares = np.empty_like(basis)
    gather_shares(columns.indptr, columns.indices, columns.data, basis, codes, shares)
    masses = codes.sum(axis=0)
    if objective.penalty == "absolute" or objective.alpha == 0.0:
        slopes = objective.alpha * masses
        scales = _sums(objective, shares, masses, slopes)[0]
    else:
        slopes, scales = _balanced(
            objective, shares, masses, np.sum(objective.curvatures(codes) * codes**2, axis=0)
        )
    divide_shares(shares, objective.importance, masses, slopes, scales, basis)
    codes *= np.where(scales > 0, scales, 1.0)


def _balanced(
    objective: Objective, shares: FloatArray, masses: FloatArray, strengths: Array
) -> tuple[Array, Array]:
    """Find the roots S of S = sum_j C_ja / (w_j h_a + k_a S), and the slopes k_a S.

    S minus the sum is concave and increasing: after at most one step the iterates increase to the
    root.
    """
    scales = np.ones(len(masses))
    for _ in range(_ROOT_STEPS):
        totals, squares = _sums(objective, shares, masses, strengths * scales)
        moved = (scales - totals) / (1.0 + strengths * squares)
        scales = np.maximum(scales - moved, 0.0)
        if np.all(np.abs(moved) <= _ROOT_TOLERANCE * np.maximum(scales, 1e-300)):
            break
    slopes = strengths * scales
    return slopes, _sums(objective, shares, masses, slopes)[0]


def _sums(
    objective: Objective, shares: FloatArray, masses: FloatArray, slopes: FloatArray
) -> tuple[Array, Array]:
    totals = np.empty(len(masses))
    squares = np.empty(len(masses))
    sum_quotients(shares, objective.importance, masses, slopes, totals, squares)
    return totals, squares


def coordinate_update(objective: Objective, codes: FloatArray, basis: FloatArray) -> None:
    """Update codes, then basis and scales of the codes, in place, one entry at a time."""
    coordinate_codes(objective, codes, basis)
    coordinate_basis(objective, codes, basis)


def multiplicative_update(objective: Objective, codes: FloatArray, basis: FloatArray) -> None:
    """Update codes, then basis and scales of the codes, in place, by the bound."""
    multiplicative_codes(objective, codes, basis)
    multiplicative_basis(objective, codes, basis)


def printed_update(objective: Objective, codes: FloatArray, basis: FloatArray) -> None:
    """Apply rules 9, 10 and 11 of the paper in place; the objective may rise.

    W is renormalised without its codes.
    """
    multiplicative_codes(objective, codes, basis)
    columns = objective.columns
    shares = np.empty_like(basis)
    gather_shares(columns.indptr, columns.indices, columns.data, basis, codes, shares)
    bottoms = objective.importance[:, np.newaxis] * codes.sum(axis=0)
    np.divide(shares, bottoms, out=basis, where=bottoms > 0)
    basis /= np.maximum(basis.sum(axis=0), np.finfo(float).tiny)


UPDATES: dict[str, Callable[[Objective, Array, Array], None]] = {
    "coordinate": coordinate_update,
    "multiplicative": multiplicative_update,
    "printed": printed_update,
}


@dataclass(frozen=True, eq=False)
class Factorisation:
    """The result of `factorise`; `objectives` are those at the start and at every check."""

    codes: FloatArray
    basis: FloatArray
    objectives: FloatArray
    iterations: int
    converged: bool


def factorise(
    objective: Objective,
    codes: FloatArray,
    basis: FloatArray,
    *,
    max_iter: int,
    tol: float,
    solver: Solver,
    check_every: int = 10,
    progress: Callable[[int], None] | None = None,
) -> Factorisation:
    """Minimise the objective from a start; terms of importance 0 get no weight.

    It stops when the objective changes by at most the share `tol` of its first value in
    `check_every` iterations.
    """
    codes = codes.copy()
    basis = basis * (objective.importance > 0)[:, np.newaxis]
    basis /= np.maximum(basis.sum(axis=0), np.finfo(float).tiny)
    objectives = [objective.value(codes, basis)]
    update = UPDATES[solver]
    iteration = 0
    converged = False
    while iteration < max_iter and not converged:
        for _ in range(min(check_every, max_iter - iteration)):
            update(objective, codes, basis)
            iteration += 1
        objectives.append(objective.value(codes, basis))
        converged = abs(objectives[-2] - objectives[-1]) <= tol * abs(objectives[0])
        if progress is not None:
            progress(iteration)
    return Factorisation(codes, basis, np.array(objectives), iteration, converged)
