"""Every local solver by name, all for the same posterior; threads share one matrix.

`tol` of `SparseBayesClassifier` is the `tolerance` of a `LinearProblem`. A `Solution` is converged
where this holds:

    prior, solver                      converged when
    ---------------------------------  -----------------------------------------------------------
    Gaussian: dual, newton, lbfgs      the gradient leaves at most tol^2 of the objective to gain
    Gaussian, softmax: newton, lbfgs,  the gradient is at most tol of its size at the prior's mode
    variational-mode
    Laplace, or sign constraints:      the largest violation of the optimality conditions is at
    coordinate (softmax too)           most tol of the prior's smallest rate (of 1 if Gaussian)
    em, ecm (softmax too)              the last change is at most tol / 100 of the largest weight
    ard                                the same of the prior's standard deviations
    variational (softmax too),         the last relative change of the bound's parameters is at
    variational-mode                   most tol / 10

A solver that stops for another reason (max_iter, no step length that decreases the objective) says
so, and the classifier warns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from bayesift.arrays import Array
from bayesift.models.linear.problem import LinearProblem, Solution
from bayesift.models.linear.solvers.dual import solve_by_dual
from bayesift.models.linear.solvers.em import solve_by_em
from bayesift.models.linear.solvers.newton import BLOCK, solve_by_lbfgs, solve_by_newton
from bayesift.models.linear.solvers.proximal_newton import solve_along, solve_by_coordinates
from bayesift.models.linear.solvers.relevance import solve_by_relevance
from bayesift.models.linear.solvers.softmax import (
    solve_softmax_by_em,
    solve_softmax_by_lbfgs,
    solve_softmax_by_newton,
)
from bayesift.models.linear.solvers.softmax_bounds import (
    solve_softmax_by_bound,
    solve_softmax_by_quadratic_bound,
)
from bayesift.models.linear.solvers.variational import solve_by_bound
from bayesift.models.linear.solvers.working_sets import solve_softmax_by_working_sets
from bayesift.threads import in_threads

Starts = list[Solution | None]
BlockSolver = Callable[[LinearProblem, list[int], Starts], list[Solution]]

_SUB_VECTOR = 100


class Workers(Protocol):
    """A solver in other processes instead of the threads of this one."""

    def solve(
        self, problem: LinearProblem, solver: str, tasks: list[tuple[list[int], Starts]]
    ) -> Iterable[list[Solution]]:
        """Solve each task, categories and their starts, in order.

        A task is `solve_some`.
        """


def _one_by_one(
    solve: Callable[[LinearProblem, int, Solution | None], Solution],
) -> BlockSolver:
    def solve_block(
        problem: LinearProblem, categories: list[int], starts: Starts
    ) -> list[Solution]:
        return [
            solve(problem, category, start)
            for category, start in zip(categories, starts, strict=True)
        ]

    return solve_block


SOLVERS: dict[str, BlockSolver] = {
    "coordinate": _one_by_one(solve_by_coordinates),
    "dual": solve_by_dual,
    "newton": solve_by_newton,
    "lbfgs": _one_by_one(solve_by_lbfgs),
    "variational": _one_by_one(solve_by_bound),
    "variational-mode": _one_by_one(partial(solve_by_bound, to_mode=True)),
    "em": _one_by_one(solve_by_em),
    "ecm": _one_by_one(partial(solve_by_em, block=_SUB_VECTOR)),
    "ard": _one_by_one(solve_by_relevance),
}
_SOFTMAX_SOLVERS = {
    "newton": solve_softmax_by_newton,
    "coordinate": solve_softmax_by_working_sets,
    "lbfgs": solve_softmax_by_lbfgs,
    "variational": solve_softmax_by_bound,
    "variational-mode": solve_softmax_by_quadratic_bound,
    "em": solve_softmax_by_em,
}
_SMOOTH = ("dual", "newton", "lbfgs", "variational", "variational-mode")
_BLOCKS = ("dual", "newton")


def choose_solver(name: str, problem: LinearProblem) -> str:
    """Check the name of the solver; "auto" is the quickest that can solve the problem."""
    prior = problem.prior
    constrained = bool(np.any(prior.sign))
    if problem.coupled:
        return _choose_softmax_solver(name, problem)
    if name == "auto":
        if not prior.convex:
            return "ard" if prior.kind == "gamma" else "em"
        return "dual" if prior.smooth and not constrained else "coordinate"
    if name not in SOLVERS:
        raise ValueError(f"no solver {name!r}; there are: auto, {', '.join(SOLVERS)}")
    if name == "ard" and prior.kind != "gamma":
        raise ValueError(f"solver 'ard' needs a gamma prior, not a {prior.kind} one")
    if name in _SMOOTH and not prior.smooth:
        raise ValueError(f"solver {name!r} needs a smooth prior, not a {prior.kind} one")
    if name == "coordinate" and not prior.convex:
        raise ValueError(f"solver {name!r} needs a log-concave prior, not a {prior.kind} one")
    return name


def _choose_softmax_solver(name: str, problem: LinearProblem) -> str:
    prior = problem.prior
    if np.any(prior.sign):
        able = ["coordinate"]
    elif prior.smooth:
        able = list(_SOFTMAX_SOLVERS)
    else:
        able = ["coordinate", "em"] if prior.convex else ["em"]
    if name == "auto":
        return able[0]
    if name not in able:
        solvers = ", ".join(["auto", *able])
        raise ValueError(
            f"softmax with this prior has the solvers {solvers}, not {name!r}; one-vs-rest has all"
        )
    return name


def _chunks(order: Array, size: int) -> list[Array]:
    """Deal categories into blocks of eight and four, which solvers fill up.

    There are few, and an even number for two threads.

    They do not depend on the number of threads, nor does the result. The first, which take longest,
    are in fours. Four are a block of their own, fewer go alone.
    """
    n = len(order)
    if size == 1 or n < 4:
        return np.array_split(order, n) if n else []
    quarters = -(-n // 4)
    eights = quarters // 2 - (quarters // 2 - quarters) % 2 if quarters > 1 else 0
    sizes = np.repeat([4, 8], [quarters - 2 * eights, eights])
    for _ in range(4 * quarters - n):
        sizes[len(sizes) - 1 - np.argmax(sizes[::-1])] -= 1
    return np.split(order, np.cumsum(sizes)[:-1])


def solve_some(
    problem: LinearProblem, solver: str, categories: list[int], starts: Starts
) -> list[Solution]:
    """Solve a few categories by the solver that `choose_solver` named."""
    return [solution.compacted() for solution in SOLVERS[solver](problem, categories, starts)]


def solve_softmax(problem: LinearProblem, solver: str, starts: Starts) -> list[Solution]:
    """Find the mode of all classes together, one `Solution` per class.

    Their objective is that of all.
    """
    solutions = _SOFTMAX_SOLVERS[choose_solver(solver, problem)](problem, starts)
    free, precision, _ = problem.intercept
    if free and not precision:
        mean = float(np.mean([solution.intercept for solution in solutions]))
    else:
        mean = 0.0
    return [
        replace(solution, intercept=solution.intercept - mean).compacted()
        for solution in solutions
    ]


def solve_all(
    problem: LinearProblem,
    solver: str,
    starts: Starts,
    n_jobs: int | Workers | None,
    *,
    categories: Sequence[int] | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[Solution]:
    """Solve all categories, or those named, by threads or by other workers.

    `starts` has a start per category, or None; `progress` is called with the number of categories
    that are done.
    """
    if problem.coupled:
        return solve_softmax(problem, solver, starts)
    name = choose_solver(solver, problem)
    size = BLOCK if name in _BLOCKS else 1
    named = np.arange(len(starts)) if categories is None else np.asarray(categories)
    sizes = np.diff(problem.members.indptr)[named]  # categories of a block are of similar size
    order = np.argsort(-sizes, kind="stable") if size > 1 else np.arange(len(named))
    chunks = _chunks(order, size)
    tasks = [(named[chunk].tolist(), [starts[index] for index in chunk]) for chunk in chunks]
    parts: Iterable[list[Solution]]
    if n_jobs is None or isinstance(n_jobs, int):
        parts = in_threads(lambda task: solve_some(problem, name, *task), tasks, n_jobs)
    else:
        parts = n_jobs.solve(problem, name, tasks)
    solutions: list[Solution | None] = [None] * len(named)
    done = 0
    for chunk, part in zip(chunks, parts, strict=True):
        for index, solution in zip(chunk, part, strict=True):
            solutions[index] = solution
        done += len(part)
        if progress is not None:
            progress(done)
    return [solution for solution in solutions if solution is not None]


def solve_path(
    problems: Sequence[LinearProblem],
    solver: str,
    starts: Starts,
    n_jobs: int | Workers | None,
    *,
    categories: Sequence[int] | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[list[Solution]]:
    """Solve as `solve_all` under several priors, from the strongest on.

    There is one list of solutions per prior.

    Coordinate descent takes one category along all of them, so that what it knows of its documents
    stays in memory.
    """

    def report(done: int) -> None:
        if progress is not None:
            progress(len(found) * len(starts) + done)

    alone = not problems[0].coupled and choose_solver(solver, problems[0]) == "coordinate"
    if alone and (n_jobs is None or isinstance(n_jobs, int)):
        tasks = list(
            zip(range(len(starts)) if categories is None else categories, starts, strict=True)
        )
        paths = []
        for path in in_threads(
            lambda task: [s.compacted() for s in solve_along(problems, *task)], tasks, n_jobs
        ):
            paths.append(path)
            if progress is not None:
                progress(len(paths) * len(problems))
        return [list(step) for step in zip(*paths, strict=True)]
    found: list[list[Solution]] = []
    for problem in problems:
        found.append(
            solve_all(problem, solver, starts, n_jobs, categories=categories, progress=report)
        )
        starts = list(found[-1])
    return found
