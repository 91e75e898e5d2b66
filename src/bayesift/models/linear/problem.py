"""The posterior of all categories over one shared matrix, and what a solver gives back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.kernels.documents import Matrix
from bayesift.models.linear.links import Link, log_likelihoods
from bayesift.models.linear.priors import Prior, is_shared, penalty_rows, row_of

Array = np.ndarray[Any, Any]

_NOTHING = 1e-6


@dataclass(frozen=True, eq=False)
class Solution:
    """Where a solver stopped for one category.

    Parameters
    ----------
    coefficients, intercept : the weights
    objective : minus the log posterior after each round, without constants
    iterations : how many rounds
    converged : whether the tolerance was met
    """

    coefficients: Array
    intercept: float
    objective: Array
    iterations: int
    converged: bool


@dataclass(frozen=True, eq=False)
class Problem:
    """One binary problem a category, all over the same documents; or one softmax model of all classes.

    Parameters
    ----------
    rows : documents x terms
    members : categories x documents, the documents of each category
    importance : the weight of each document, or one row a category (class weights)
    link, prior : the model
    intercept : (1 if there is one, precision of its prior or 0, mode of its prior)
    terms : the terms each category may use, as columns; None for all
    tolerance : of the largest violation of the optimality conditions, relative to the scale of the prior
    max_iter : rounds
    coupled : whether the categories are classes that share one softmax model
    """

    rows: sparse.csr_array
    members: sparse.csr_array
    importance: Array
    link: Link
    prior: Prior
    intercept: Array
    terms: list[Array] | None = None
    tolerance: float = 1e-3
    max_iter: int = 1000
    coupled: bool = False

    def varied(self, **changes: Any) -> Problem:
        """The problem with other fields, sharing what was computed of those that stay."""
        new = replace(self, **changes)
        for name, needs in _COMPUTED_FROM.items():
            if name in self.__dict__ and needs.isdisjoint(changes):
                new.__dict__[name] = self.__dict__[name]
        return new

    def small_gradient(self, objective: Array) -> Array:
        """The square of a gradient, in units of the prior, at which no more than tol^2 of the objective is to gain.

        An objective that falls to nothing (a category without documents and a flat intercept) counts as 1e-6 nats.
        """
        return np.asarray(2.0 * self.tolerance**2 * np.maximum(objective, _NOTHING))

    @property
    def n_terms(self) -> int:
        """How many columns there are."""
        return int(self.rows.shape[1])

    @cached_property
    def columns(self) -> sparse.csc_array:
        """The matrix by columns."""
        return sparse.csc_array(self.rows)

    @cached_property
    def norms(self) -> Array:
        """Of the columns."""
        squares = np.bincount(self.rows.indices, weights=self.rows.data**2, minlength=self.n_terms)
        return np.sqrt(squares)

    @cached_property
    def sums(self) -> Array:
        """Of the columns, each document counted by its importance; only where categories share it."""
        weights = np.repeat(self.importance, np.diff(self.rows.indptr))
        return np.bincount(self.rows.indices, weights=self.rows.data * weights, minlength=self.n_terms)

    @cached_property
    def _shared_penalty(self) -> Array | None:
        return penalty_rows(self.prior, 0, self.n_terms) if is_shared(self.prior) else None

    @cached_property
    def scaled(self) -> tuple[sparse.csr_array, Array]:
        """Where categories share all terms and the variances of a Gaussian prior: see `scaled_rows`."""
        return scaled_rows(self.rows, self.penalty(0)[1])

    @cached_property
    def start_intercepts(self) -> Array:
        """The best intercept of each category for documents without terms."""
        inside = self.members @ self.importance if self.importance.ndim == 1 else _within(self.members, self.importance)
        outside = self.importance.sum(axis=-1) - inside
        return best_constants(self.link, self.intercept, inside, outside)

    def penalty(self, category: int) -> Array:
        """The penalty of a category's weights, in the layout of `bayesift.kernels.linear`."""
        shared = self._shared_penalty
        return penalty_rows(self.prior, category, self.n_terms) if shared is None else shared

    def mode(self, category: int) -> Array:
        """The modes of the prior, within its bounds."""
        mode, sign = row_of(self.prior.mode, category, self.n_terms), row_of(self.prior.sign, category, self.n_terms)
        return np.where(sign * mode < 0, 0.0, mode)

    def positives(self, category: int) -> Array:
        """The documents of a category."""
        documents: Array = self.members.indices[self.members.indptr[category] : self.members.indptr[category + 1]]
        return documents

    def signs(self, category: int) -> Array:
        """+1 for the documents of a category, -1 for all others."""
        signs = np.full(self.rows.shape[0], -1.0)
        signs[self.positives(category)] = 1.0
        return signs

    def importance_of(self, category: int) -> Array:
        """The weight of each document in a category's problem."""
        return self.importance if self.importance.ndim == 1 else np.ascontiguousarray(self.importance[category])

    def terms_of(self, category: int) -> Array:
        """The columns a category may use."""
        return np.arange(self.n_terms, dtype=np.int32) if self.terms is None else self.terms[category]

    def objective(self, category: int, coefficients: Array, intercept: float) -> float:
        """Minus the log posterior, without constants."""
        scores = self.rows @ coefficients + intercept
        likelihood = log_likelihoods(self.link, self.signs(category) * scores)[0]
        cost = self.prior.cost(coefficients - row_of(self.prior.mode, category, self.n_terms), category)
        _, precision, centre = self.intercept
        return float(cost - self.importance_of(category) @ likelihood + 0.5 * precision * (intercept - centre) ** 2)


_COMPUTED_FROM = {
    "columns": {"rows"},
    "norms": {"rows"},
    "sums": {"rows", "importance"},
    "_shared_penalty": {"rows", "prior"},
    "start_intercepts": {"members", "importance", "link", "intercept"},
}


def best_constants(link: Link, intercept: Array, inside: Array, outside: Array) -> Array:
    """The best intercepts of documents without terms, so many inside of each category and outside.

    The derivative falls: halve an interval.

    Examples
    --------
    >>> from bayesift.models.linear import Logit
    >>> best_constants(Logit(), np.array([1.0, 0.0, 0.0]), np.array([3.0]), np.array([1.0])).round(6).tolist()
    [1.098612]
    """
    free, precision, centre = intercept
    low, high = np.full(len(inside), -30.0), np.full(len(inside), 30.0)
    for _ in range(50 if free else 0):
        middle = (low + high) / 2
        pull = inside * log_likelihoods(link, middle)[1] - outside * log_likelihoods(link, -middle)[1]
        rising = pull > precision * (middle - centre)
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return low if free else np.full(len(inside), centre)


def _within(members: sparse.csr_array, importance: Array) -> Array:
    """The importance of each category's documents, of a row of it a category."""
    return np.asarray(members.multiply(importance).sum(axis=1)).ravel()


def matrix_of(problem: Problem) -> Matrix:
    """The documents as kernels take them.

    Examples
    --------
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows, members = sparse.csr_array([[2.0, 1.0]]), sparse.csr_array(np.array([[1]]))
    >>> matrix_of(Problem(rows, members, np.ones(1), Logit(), GaussianPrior(), np.zeros(3))).norms.tolist()
    [2.0, 1.0]
    """
    rows, columns = problem.rows, problem.columns
    return Matrix(columns.indptr, columns.indices, columns.data, rows.indptr, rows.indices, rows.data, problem.norms)


def scaled_rows(rows: sparse.csr_array, precisions: Array) -> tuple[sparse.csr_array, Array]:
    """Rows with columns in units of the prior's deviations, and the squares of their lengths.

    Examples
    --------
    >>> scaled_rows(sparse.csr_array([[3.0, 1.0]]), np.array([4.0, 1.0]))[1].tolist()
    [3.25]
    """
    values = rows.data / np.sqrt(precisions)[rows.indices]
    scaled = sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
    return scaled, np.asarray(sparse.csr_array((values**2, rows.indices, rows.indptr), shape=rows.shape).sum(axis=1))
