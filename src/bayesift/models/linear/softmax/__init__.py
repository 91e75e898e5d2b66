"""Softmax (polytomous logistic) regression: one model of all classes.

    beta, b = argmin  sum_i w_i (log sum_c exp f_ic - f_i,y_i) - sum_cj log p(beta_cj),    f_ic = x_i beta_c + b_c

Every class has weights of its own, which the prior identifies; flat intercepts have a mean of 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayesift.models.linear.links import Link
from bayesift.models.linear.problem import Problem, Solution
from bayesift.models.linear.softmax.jeffreys import solve_by_reweighting
from bayesift.models.linear.softmax.smooth import solve_by_newton
from bayesift.models.linear.softmax.working_sets import solve_by_working_sets

__all__ = ["is_softmax", "solve_softmax"]

_SOLVERS = {"coordinate": solve_by_working_sets, "newton": solve_by_newton, "em": solve_by_reweighting}


def is_softmax(multiclass: str, link: Link, n_models: int, *, multilabel: bool) -> bool:
    """Whether the classes share one softmax model.

    Examples
    --------
    >>> from bayesift.models.linear import Logit
    >>> is_softmax("softmax", Logit(), 3, multilabel=False), is_softmax("softmax", Logit(), 3, multilabel=True)
    (True, False)
    """
    if multiclass not in ("softmax", "one-vs-rest"):
        raise ValueError(f"multiclass must be 'softmax' or 'one-vs-rest', got {multiclass!r}")
    if multilabel or n_models == 1 or multiclass == "one-vs-rest":
        return False
    if link.kind != "logit":
        raise ValueError(f"multiclass='softmax' needs the logit link, not {link.kind!r}")
    return True


def solve_softmax(problem: Problem, solver: str, starts: list[Solution | None]) -> list[Solution]:
    """The mode of all classes together, one `Solution` a class; their objective is that of all.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows, members = sparse.csr_array(np.eye(3)), sparse.csr_array(np.eye(3, dtype=np.int8))
    >>> problem = Problem(rows, members, np.ones(3), Logit(), GaussianPrior(), np.array([1.0, 0.0, 0.0]))
    >>> len(solve_softmax(problem, "auto", [None] * 3))
    3
    """
    solutions = _SOLVERS[_choose(solver, problem)](problem, starts)
    free, precision, _ = problem.intercept
    if not free or precision:
        return solutions
    mean = float(np.mean([solution.intercept for solution in solutions]))
    return [replace(solution, intercept=solution.intercept - mean) for solution in solutions]


def _choose(name: str, problem: Problem) -> str:
    prior = problem.prior
    able = ["em"] if not prior.convex else ["coordinate"]
    if prior.smooth and not np.any(prior.sign):
        able = ["newton", "coordinate"]
    if name == "auto":
        return able[0]
    if name not in able:
        solvers = ", ".join(["auto", *able])
        raise ValueError(f"softmax with this prior has the solvers {solvers}, not {name!r}; one-vs-rest has all")
    return name
