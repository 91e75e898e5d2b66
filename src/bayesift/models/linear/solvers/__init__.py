"""Solvers by name, all for the same posterior; threads share one matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from bayesift.models.linear.problem import Problem, Solution
from bayesift.models.linear.solvers.coordinate import solve_by_coordinates
from bayesift.models.linear.solvers.expectation_maximisation import solve_by_em
from bayesift.models.linear.solvers.lbfgs import solve_by_lbfgs
from bayesift.models.linear.solvers.newton import BLOCK, solve_by_newton
from bayesift.models.linear.threads import in_threads

Starts = list[Solution | None]
BlockSolver = Callable[[Problem, list[int], Starts], list[Solution]]

_SUB_VECTOR = 100


def _one_by_one(solve: Callable[[Problem, int, Solution | None], Solution]) -> BlockSolver:
    def solve_all(problem: Problem, categories: list[int], starts: Starts) -> list[Solution]:
        return [solve(problem, category, start) for category, start in zip(categories, starts, strict=True)]

    return solve_all


SOLVERS: dict[str, BlockSolver] = {
    "coordinate": _one_by_one(solve_by_coordinates),
    "newton": solve_by_newton,
    "lbfgs": _one_by_one(solve_by_lbfgs),
    "em": _one_by_one(solve_by_em),
    "ecm": _one_by_one(partial(solve_by_em, block=_SUB_VECTOR)),
}
_SMOOTH = ("newton", "lbfgs")


def choose_solver(name: str, problem: Problem) -> str:
    """The solver of that name; "auto" takes the quickest that can.

    Examples
    --------
    >>> list(SOLVERS)
    ['coordinate', 'newton', 'lbfgs', 'em', 'ecm']
    """
    prior = problem.prior
    constrained = bool(np.any(prior.sign))
    if name == "auto":
        if not prior.convex:
            return "em"
        return "newton" if prior.smooth and not constrained else "coordinate"
    if name not in SOLVERS:
        raise ValueError(f"no solver {name!r}; there are: auto, {', '.join(SOLVERS)}")
    if name in _SMOOTH and not prior.smooth:
        raise ValueError(f"solver {name!r} needs a smooth prior, not a {prior.kind} one")
    if name == "coordinate" and not prior.convex:
        raise ValueError(f"solver {name!r} needs a log-concave prior, not a {prior.kind} one")
    return name


def solve_all(
    problem: Problem,
    solver: str,
    starts: Starts,
    n_jobs: int | None,
    *,
    categories: Sequence[int] | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[Solution]:
    """The solutions of all categories, or of those named; `progress` is called with how many are done.

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
    name = choose_solver(solver, problem)
    solve, size = SOLVERS[name], BLOCK if name == "newton" else 1
    _ = problem.columns, problem.norms, problem.start_intercepts, problem.inside  # made before threads share them
    named = list(range(len(starts)) if categories is None else categories)
    chunks = [slice(k, k + size) for k in range(0, len(named), size)]

    def work(chunk: slice) -> list[Solution]:
        return solve(problem, named[chunk], starts[chunk])

    solutions: list[Solution] = []
    for part in in_threads(work, chunks, n_jobs):
        solutions += part
        if progress is not None:
            progress(len(solutions))
    return solutions
