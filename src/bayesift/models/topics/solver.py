"""Alternate updates of codes and basis from a start; no update raises the objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bayesift.models.topics import coordinates, multiplicative
from bayesift.models.topics.objective import Objective

Array = np.ndarray[Any, Any]
Solver = Literal["coordinate", "multiplicative"]

UPDATES: dict[str, Callable[[Objective, Array, Array], None]] = {
    "coordinate": coordinates.update,
    "multiplicative": multiplicative.update,
}


@dataclass(frozen=True, eq=False)
class Factorisation:
    """Where the updates led.

    Parameters
    ----------
    codes, basis : documents x topics and terms x topics
    objectives : the objective at the start and at every look since
    iterations : how many updates of both
    converged : whether the objective stood still
    """

    codes: Array
    basis: Array
    objectives: Array
    iterations: int
    converged: bool


def factorise(
    objective: Objective,
    codes: Array,
    basis: Array,
    *,
    max_iter: int,
    tol: float,
    solver: Solver,
    look_every: int = 10,
    progress: Callable[[int], None] | None = None,
) -> Factorisation:
    """Minimise the objective from a start.

    Parameters
    ----------
    objective : what to minimise
    codes, basis : the start; terms of importance 0 get no weight
    max_iter : the most iterations
    tol : stop when the objective falls by at most this share of its first value between two looks; 0 when it stands
        still
    solver : "multiplicative" or "coordinate", see the modules of these names
    look_every : iterations between two looks at the objective
    progress : called with the number of iterations done
    """
    codes, basis = codes.copy(), basis * (objective.importance > 0)[:, np.newaxis]
    basis /= np.maximum(basis.sum(axis=0), np.finfo(float).tiny)
    objectives = [objective.value(codes, basis)]
    update, iteration, converged = UPDATES[solver], 0, False
    while iteration < max_iter and not converged:
        for _ in range(min(look_every, max_iter - iteration)):
            update(objective, codes, basis)
            iteration += 1
        objectives.append(objective.value(codes, basis))
        converged = objectives[-2] - objectives[-1] <= tol * abs(objectives[0])
        if progress is not None:
            progress(iteration)
    return Factorisation(codes, basis, np.array(objectives), iteration, converged)
