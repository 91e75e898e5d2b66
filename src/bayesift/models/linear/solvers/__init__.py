"""Solvers by name, all for the same posterior; threads share one matrix."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from bayesift.models.linear.problem import Problem, Solution
from bayesift.models.linear.solvers.coordinate import solve_by_coordinates
from bayesift.models.linear.solvers.dual import solve_by_dual
from bayesift.models.linear.solvers.expectation_maximisation import solve_by_em
from bayesift.models.linear.solvers.lbfgs import solve_by_lbfgs
from bayesift.models.linear.solvers.newton import BLOCK, solve_by_newton
from bayesift.models.linear.solvers.variational import solve_by_bound

Starts = list[Solution | None]
BlockSolver = Callable[[Problem, list[int], Starts], list[Solution]]

_SUB_VECTOR = 100


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


def solve_all(problem: Problem, solver: str, starts: Starts, n_jobs: int | None) -> list[Solution]:
    """The solutions of all categories.

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
    solve, size = SOLVERS[name], BLOCK if name in _BLOCKS else 1
    _ = problem.columns, problem.norms, problem.start_intercepts  # made once, before threads share them
    order = (
        np.argsort(np.diff(problem.members.indptr), kind="stable").tolist() if size > 1 else list(range(len(starts)))
    )
    chunks = [order[k : k + size] for k in range(0, len(starts), size)]  # categories of a block are of like size

    def work(chunk: list[int]) -> list[Solution]:
        return solve(problem, chunk, [starts[c] for c in chunk])

    threads = min(len(chunks), (os.cpu_count() or 1) if n_jobs == -1 else n_jobs or 1)
    if threads <= 1:
        solved = [solution for chunk in chunks for solution in work(chunk)]
    else:
        with ThreadPoolExecutor(threads) as pool:
            solved = [solution for solutions in pool.map(work, chunks) for solution in solutions]
    return [solved[place] for place in np.argsort(order)]
