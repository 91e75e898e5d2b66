"""Solvers by name, all for the same posterior; threads share one matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from bayesift.models.linear.problem import Problem, Solution
from bayesift.models.linear.softmax import solve_softmax
from bayesift.models.linear.solvers.coordinate import solve_by_coordinates
from bayesift.models.linear.solvers.dual import solve_by_dual
from bayesift.models.linear.solvers.expectation_maximisation import solve_by_em
from bayesift.models.linear.solvers.lbfgs import solve_by_lbfgs
from bayesift.models.linear.solvers.newton import BLOCK, solve_by_newton
from bayesift.models.linear.solvers.variational import solve_by_bound
from bayesift.models.threads import in_threads

Array = np.ndarray[Any, Any]
Starts = list[Solution | None]
BlockSolver = Callable[[Problem, list[int], Starts], list[Solution]]

_SUB_VECTOR = 100


class Workers(Protocol):
    """Others who solve in place of threads of this process."""

    def solve(self, problem: Problem, solver: str, tasks: list[tuple[list[int], Starts]]) -> Iterable[list[Solution]]:
        """The solutions of each task, categories and their starts, in order; a task is `solve_some`."""
        ...


def _one_by_one(solve: Callable[[Problem, int, Solution | None], Solution]) -> BlockSolver:
    def solve_all(problem: Problem, categories: list[int], starts: Starts) -> list[Solution]:
        return [solve(problem, category, start) for category, start in zip(categories, starts, strict=True)]

    return solve_all


SOLVERS: dict[str, BlockSolver] = {
    "coordinate": _one_by_one(solve_by_coordinates),
    "dual": solve_by_dual,
    "newton": solve_by_newton,
    "lbfgs": _one_by_one(solve_by_lbfgs),
    "variational": _one_by_one(solve_by_bound),
    "variational-mode": _one_by_one(partial(solve_by_bound, to_mode=True)),
    "em": _one_by_one(solve_by_em),
    "ecm": _one_by_one(partial(solve_by_em, block=_SUB_VECTOR)),
}
_SMOOTH = ("dual", "newton", "lbfgs", "variational", "variational-mode")
_BLOCKS = ("dual", "newton")


def choose_solver(name: str, problem: Problem) -> str:
    """The solver of that name; "auto" takes the quickest that can.

    Examples
    --------
    >>> list(SOLVERS)
    ['coordinate', 'dual', 'newton', 'lbfgs', 'variational', 'variational-mode', 'em', 'ecm']
    """
    prior = problem.prior
    constrained = bool(np.any(prior.sign))
    if name == "auto":
        if not prior.convex:
            return "em"
        return "dual" if prior.smooth and not constrained else "coordinate"
    if name not in SOLVERS:
        raise ValueError(f"no solver {name!r}; there are: auto, {', '.join(SOLVERS)}")
    if name in _SMOOTH and not prior.smooth:
        raise ValueError(f"solver {name!r} needs a smooth prior, not a {prior.kind} one")
    if name == "coordinate" and not prior.convex:
        raise ValueError(f"solver {name!r} needs a log-concave prior, not a {prior.kind} one")
    return name


def solve_some(problem: Problem, solver: str, categories: list[int], starts: Starts) -> list[Solution]:
    """The solutions of a few categories, by the solver that `choose_solver` named.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows, members = sparse.csr_array(np.eye(2)), sparse.csr_array(np.eye(2, dtype=np.int8))
    >>> problem = Problem(rows, members, np.ones(2), Logit(), GaussianPrior(), np.array([1.0, 0.0, 0.0]))
    >>> len(solve_some(problem, "dual", [1], [None]))
    1
    """
    return SOLVERS[solver](problem, categories, starts)


def solve_all(
    problem: Problem,
    solver: str,
    starts: Starts,
    n_jobs: int | Workers | None,
    *,
    categories: Sequence[int] | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[Solution]:
    """The solutions of all categories, or of those named; `progress` is called with how many are done.

    `n_jobs` is how many threads do it, or who does it instead.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> members = sparse.csr_array(np.eye(3, dtype=np.int8))
    >>> rows, flat = sparse.csr_array(np.eye(3)), np.array([1.0, 0.0, 0.0])
    >>> problem = Problem(rows, members, np.ones(3), Logit(), GaussianPrior(), flat)
    >>> len(solve_all(problem, "auto", [None] * 3, None))
    3
    """
    if problem.coupled:
        return solve_softmax(problem, solver, starts)
    name = choose_solver(solver, problem)
    size = BLOCK if name in _BLOCKS else 1
    _ = problem.columns, problem.norms, problem.start_intercepts  # made before threads share them
    named = np.arange(len(starts)) if categories is None else np.asarray(categories)
    sizes = np.diff(problem.members.indptr)[named]  # categories of a block are of like size
    order = np.argsort(sizes, kind="stable") if size > 1 else np.arange(len(named))
    chunks = [order[k : k + size] for k in range(0, len(named), size)]
    tasks = [(named[chunk].tolist(), [starts[place] for place in chunk]) for chunk in chunks]
    parts: Iterable[list[Solution]]
    if n_jobs is None or isinstance(n_jobs, int):
        parts = in_threads(lambda task: solve_some(problem, name, *task), tasks, n_jobs)
    else:
        parts = n_jobs.solve(problem, name, tasks)
    solutions: list[Solution | None] = [None] * len(named)
    done = 0
    for chunk, part in zip(chunks, parts, strict=True):
        for place, solution in zip(chunk, part, strict=True):
            solutions[place] = solution
        done += len(part)
        if progress is not None:
            progress(done)
    return [solution for solution in solutions if solution is not None]
