"""The posterior of all categories over one shared matrix, and what a solver gives back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows
from bayesift.kernels.documents import Matrix
from bayesift.kernels.entries import entries_of
from bayesift.kernels.linear import squared_lengths
from bayesift.models.base import Row, SparseRow, compact_row
from bayesift.models.linear.links import Link, log_likelihoods
from bayesift.models.linear.mixed_matrix import MixedMatrix, dense_columns
from bayesift.models.linear.priors import Prior, is_shared, penalty_rows, row_of
from bayesift.threads import computed_once
from bayesift.validation import Targets

_LEAST_OBJECTIVE = 1e-6


@dataclass(frozen=True, eq=False)
class Solution:
    """Where a solver stopped for one category; converged as `bayesift.models.linear.solvers` says.

    `objective` is minus the log posterior after each round, without constants.
    """

    weights: Row
    intercept: float
    objective: FloatArray
    iterations: int
    converged: bool

    @property
    def coefficients(self) -> Array:
        """The weights of all terms, dense."""
        return self.weights.dense() if isinstance(self.weights, SparseRow) else self.weights

    def compacted(self) -> Solution:
        """Return the solution with sparse weights, if most are 0."""
        if isinstance(self.weights, SparseRow):
            return self
        return replace(self, weights=compact_row(self.weights))


@dataclass(frozen=True, eq=False)
class LinearProblem:
    """One binary problem per category, all over the same documents.

    Or one softmax model of all classes.

    Parameters
    ----------
    rows : documents x terms
    members : categories x documents, the documents of each category
    importance : the weight of each document
    link, prior : the model
    intercept : (1 if there is one, precision of its prior or 0, mode of its prior)
    terms : the terms each category may use, as columns; None for all
    tolerance : when a solution is converged, see `bayesift.models.linear.solvers`
    max_iter : the largest number of rounds
    coupled : whether the categories are classes that share one softmax model
    balance : 2 x categories, factors of the importance of documents inside and outside of each
        category; None for 1
    groups : the group of each document, whose documents are held out together; None for none
    """

    rows: SparseRows
    members: SparseRows
    importance: FloatArray
    link: Link
    prior: Prior
    intercept: FloatArray
    terms: list[Array] | None = None
    tolerance: float = 1e-3
    max_iter: int = 1000
    coupled: bool = False
    balance: Array | None = None
    groups: IntArray | None = None

    def varied(self, **changes: Any) -> LinearProblem:
        """Return the problem with other fields, sharing what was computed of those that stay."""
        new = replace(self, **changes)
        for name, needs in _COMPUTED_FROM.items():
            if name in self.__dict__ and needs.isdisjoint(changes):
                new.__dict__[name] = self.__dict__[name]
        return new

    def small_gradient(self, objective: FloatArray) -> FloatArray:
        """Return the squared gradient that leaves tol^2 of the objective to gain."""
        return np.asarray(2.0 * self.tolerance**2 * np.maximum(objective, _LEAST_OBJECTIVE))

    @property
    def n_terms(self) -> int:
        """How many columns there are."""
        return int(self.rows.shape[1])

    @computed_once
    def columns(self) -> sparse.csc_array:
        """Return the matrix by columns."""
        return sparse.csc_array(self.rows)

    @computed_once
    def design(self) -> MixedMatrix:
        """Return the matrix as solvers multiply it: dense columns apart, if there are any."""
        return MixedMatrix(self.rows, dense_columns(self.rows))

    @computed_once
    def norms(self) -> FloatArray:
        """Euclidean norms of the columns."""
        return np.sqrt(squared_lengths(self.columns.indptr, self.columns.data))

    @computed_once
    def sums(self) -> FloatArray:
        """Return sums of columns, documents counted by importance; only without `balance`."""
        return np.asarray(self.rows.T @ self.importance)

    @computed_once
    def _shared_penalty(self) -> Array | None:
        return penalty_rows(self.prior, 0, self.n_terms) if is_shared(self.prior) else None

    @computed_once
    def lengths(self) -> FloatArray:
        """Return the squared lengths of the documents."""
        return squared_lengths(self.rows.indptr, self.rows.data)

    @computed_once
    def scaled(self) -> tuple[SparseRows, Array]:
        """`scaled_rows`, where categories share all terms and the variances of a Gaussian prior."""
        return scaled_rows(self.rows, self.penalty(0)[1])

    @computed_once
    def start_intercepts(self) -> FloatArray:
        """Return the best intercept of each category for documents without terms."""
        if self.balance is None:
            inside = self.members @ self.importance
            total = self.importance.sum()
        else:
            inside = _inside(self.members, self.importance, self.balance[0])
            total = np.array(
                [self.importance_of(c).sum() for c in range(self.members.shape[0])]
            )
        return best_constants(self.link, self.intercept, inside, total - inside)

    def penalty(self, category: int) -> FloatArray:
        """Return the penalty of a category's weights (see `bayesift.kernels.linear`)."""
        shared = self._shared_penalty
        return penalty_rows(self.prior, category, self.n_terms) if shared is None else shared

    def mode(self, category: int) -> FloatArray:
        """Return the modes of the prior, within its bounds."""
        mode = row_of(self.prior.mode, category, self.n_terms)
        sign = row_of(self.prior.sign, category, self.n_terms)
        return np.where(sign * mode < 0, 0.0, mode)

    def positives(self, category: int) -> Array:
        """Return the documents of a category."""
        documents: Array = self.members.indices[
            self.members.indptr[category] : self.members.indptr[category + 1]
        ]
        return documents

    def signs(self, category: int) -> FloatArray:
        """+1 for the documents of a category, -1 for all others."""
        signs = np.full(self.rows.shape[0], -1.0)
        signs[self.positives(category)] = 1.0
        return signs

    def importance_of(self, category: int) -> FloatArray:
        """Return the weight of each document in a category's problem."""
        if self.balance is None:
            return self.importance
        factors = np.full(len(self.importance), self.balance[1, category])
        factors[self.positives(category)] = self.balance[0, category]
        weights: FloatArray = self.importance * factors
        return weights

    def mean_importance(self) -> FloatArray:
        """Return the weight of each document, averaged over the categories."""
        if self.balance is None:
            return self.importance
        total = np.zeros(len(self.importance))
        n_models = self.members.shape[0]
        for c in range(n_models):
            total += self.importance_of(c)
        mean: FloatArray = total / n_models
        return mean

    def terms_of(self, category: int) -> Array:
        """Return the columns a category may use."""
        if self.terms is None:
            return np.arange(self.n_terms, dtype=np.int32)
        return self.terms[category]

    def objective(self, category: int, coefficients: FloatArray, intercept: float) -> float:
        """Minus the log posterior, without constants."""
        scores = self.rows @ coefficients + intercept
        likelihood = log_likelihoods(self.link, self.signs(category) * scores)[0]
        cost = self.prior.cost(
            coefficients - row_of(self.prior.mode, category, self.n_terms), category
        )
        _, precision, centre = self.intercept
        return float(
            cost
            - self.importance_of(category) @ likelihood
            + 0.5 * precision * (intercept - centre) ** 2
        )


_COMPUTED_FROM = {
    "columns": {"rows"},
    "design": {"rows"},
    "norms": {"rows"},
    "lengths": {"rows"},
    "scaled": {"rows", "prior"},
    "sums": {"rows", "importance", "balance"},
    "_shared_penalty": {"rows", "prior"},
    "start_intercepts": {"members", "importance", "balance", "link", "intercept"},
}


def best_constants(link: Link, intercept: FloatArray, inside: Array, outside: Array) -> Array:
    """Find the best intercepts for documents without terms by bisection."""
    free, precision, centre = intercept
    low = np.full(len(inside), -30.0)
    high = np.full(len(inside), 30.0)
    for _ in range(50 if free else 0):
        middle = (low + high) / 2
        gradient = (
            inside * log_likelihoods(link, middle)[1]
            - outside * log_likelihoods(link, -middle)[1]
        )
        rising = gradient > precision * (middle - centre)
        low = np.where(rising, middle, low)
        high = np.where(rising, high, middle)
    return low if free else np.full(len(inside), centre)


def _inside(members: SparseRows, importance: FloatArray, factors: FloatArray) -> Array:
    """Return the total importance of each category's documents, times its factor."""
    owners = np.repeat(np.arange(len(factors)), np.diff(members.indptr))
    values = importance[members.indices] * factors[owners]
    return np.asarray(
        sparse.coo_array((values, (owners, members.indices)), shape=members.shape).sum(axis=1)
    ).ravel()


def matrix_of(problem: LinearProblem) -> Matrix:
    """Return the documents as kernels take them."""
    return Matrix(entries_of(problem.columns), entries_of(problem.rows), problem.norms)


def scaled_rows(rows: SparseRows, precisions: FloatArray) -> tuple[SparseRows, Array]:
    """Rows with columns in units of the prior's deviations, and the squares of their lengths."""
    values = (1.0 / np.sqrt(precisions))[rows.indices]
    values *= rows.data
    scaled = sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
    return scaled, squared_lengths(rows.indptr, values)


def document_weights(
    class_weight: Any, targets: Targets, members: SparseRows | None, weights: FloatArray
) -> tuple[Array, Array | None]:
    """Return the importance of documents and the `balance` of a `LinearProblem` for class weights.

    "balanced" gives both sides of each model the same total weight, or all classes where one model
    holds them (members is None).
    """
    if class_weight is None:
        return weights, None
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(
                f"class_weight must be None, 'balanced' or a dictionary, got {class_weight!r}"
            )
        if members is None:
            masses = targets.members @ weights
            share = weights.sum() / np.count_nonzero(masses) / np.maximum(masses, 1e-300)
            return np.asarray(weights * (share @ targets.members)), None
        inside = members @ weights
        total = weights.sum()
        return weights, (total / 2) / np.maximum(np.stack([inside, total - inside]), 1e-300)
    if targets.multilabel:
        raise ValueError("with an indicator matrix class_weight is None or 'balanced'")
    scaled = weights.copy()
    for index, label in enumerate(targets.classes):
        documents = targets.members.indices[
            targets.members.indptr[index] : targets.members.indptr[index + 1]
        ]
        scaled[documents] *= class_weight.get(label, 1.0)
    return scaled, None
