"""Categories dealt out to executors, for matrices that fit each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bayesift.model_file import ModelContent
from bayesift.models.linear.links import Link
from bayesift.models.linear.priors import Prior
from bayesift.models.linear.problem import Problem, Solution
from bayesift.models.linear.solvers import Starts, solve_some
from bayesift.spark.models import fetched, share

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class _Rest:
    """What of a problem changes from one question to the next."""

    importance: Array
    link: Link
    prior: Prior
    intercept: Array
    terms: list[Array] | None
    tolerance: float
    max_iter: int


class SparkWorkers:
    """Solves categories on executors; takes the place of `n_jobs`.

    The matrix goes to each executor once, as a file that its processes map; what changes along a path or from fold to
    fold goes with the tasks.

    Parameters
    ----------
    spark : the session
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._sent: tuple[Any, str] | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> SparkWorkers:
        # Estimators are cloned with their parameters; there is one session.
        return self

    def solve(self, problem: Problem, solver: str, tasks: list[tuple[list[int], Starts]]) -> Iterable[list[Solution]]:
        """The solutions of each task, in order."""
        rest = _Rest(
            problem.importance, problem.link, problem.prior, problem.intercept, problem.terms, problem.tolerance,
            problem.max_iter,
        )  # fmt: skip
        work = _Task(self._send(problem), rest, solver)
        found: list[list[Solution]] = self._spark.sparkContext.parallelize(tasks, len(tasks)).map(work).collect()
        return found

    def _send(self, problem: Problem) -> str:
        if self._sent is None or self._sent[0] is not problem.rows:
            self._sent = problem.rows, share(self._spark, matrix_content(problem))
        return self._sent[1]


@dataclass(frozen=True, eq=False)
class _Task:
    """What runs on an executor."""

    name: str
    rest: _Rest
    solver: str

    def __call__(self, task: tuple[list[int], Starts]) -> list[Solution]:
        problem = _matrix(self.name).varied(**vars(self.rest))
        return solve_some(problem, self.solver, *task)


@lru_cache(maxsize=1)
def _matrix(name: str) -> Problem:
    return problem_of(fetched(name))


def matrix_content(problem: Problem) -> ModelContent:
    """The documents and categories of a problem as the content of a file, by rows and by columns."""
    parts = {"rows": problem.rows, "columns": problem.columns, "members": problem.members}
    arrays = {
        f"{name}.{field}": getattr(matrix, field)
        for name, matrix in parts.items()
        for field in ("data", "indices", "indptr")
    }
    return ModelContent({"shape": [*problem.rows.shape, problem.members.shape[0]]}, arrays)


def problem_of(content: ModelContent) -> Problem:
    """The inverse of `matrix_content`; all else is to be filled in by `varied`.

    Examples
    --------
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows, members = sparse.csr_array([[2.0, 1.0]]), sparse.csr_array(np.array([[1]], dtype=np.int8))
    >>> problem = Problem(rows, members, np.ones(1), Logit(), GaussianPrior(), np.zeros(3))
    >>> problem_of(matrix_content(problem)).columns.toarray().tolist()
    [[2.0, 1.0]]
    """
    n_documents, n_terms, n_categories = content.header["shape"]

    def parts(name: str) -> tuple[Array, ...]:
        return tuple(content.arrays[f"{name}.{field}"] for field in ("data", "indices", "indptr"))

    rows = sparse.csr_array(parts("rows"), shape=(n_documents, n_terms))
    members = sparse.csr_array(parts("members"), shape=(n_categories, n_documents))
    nothing: Any = None
    problem = Problem(rows, members, np.ones(n_documents), nothing, nothing, np.zeros(3))
    problem.__dict__["columns"] = sparse.csc_array(parts("columns"), shape=(n_documents, n_terms))
    return problem
