"""Alternate updates of codes and basis; no update raises the objective.

With the basis fixed, codes minimise the bound of `bayesift.kernels.topics` (eq. 9 of the paper).

With the codes fixed, the basis *and the scales of the codes* minimise it. A topic's scale may move between W and H
without changing the divergence, so with free columns, S_a = sum_j W_ja, the objective in W is

    - sum_j C_ja log W_ja + h_a sum_j w_j W_ja + alpha q_a S_a^2        (or + alpha h_a S_a for S(x) = x)

with C_ja = W_ja sum_i w_j V_ij H_ia / (HW')_ij, h_a = sum_i H_ia, q_a = sum_i H_ia^2. Its minimum is

    W_ja = C_ja / (w_j h_a + p_a),    p_a = 2 alpha q_a S_a,   alpha h_a   or 0,

S_a being the root of S = sum_j C_ja / (w_j h_a + 2 alpha q_a S), which is unique; then W_a is divided by S_a and H_a
multiplied by it. Rules 10 and 11 of the paper renormalise W alone, which raises the objective; holding the codes fixed
under the constraint does not, but gains less than this step. For w = 1 and alpha = 0 the two steps are those of Lee &
Seung.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesift.kernels.topics import divide_shares, gather_shares, sum_quotients, update_codes
from bayesift.models.topics.objective import Objective

Array = np.ndarray[Any, Any]

_ROOT_TOLERANCE = 1e-10
_ROOT_STEPS = 60


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
    look_every : iterations between two looks at the objective
    progress : called with the number of iterations done
    """
    codes, basis = codes.copy(), basis * (objective.importance > 0)[:, np.newaxis]
    basis /= np.maximum(basis.sum(axis=0), np.finfo(float).tiny)
    objectives = [objective.value(codes, basis)]
    iteration, converged = 0, False
    while iteration < max_iter and not converged:
        for _ in range(min(look_every, max_iter - iteration)):
            step_codes(objective, codes, basis)
            step_basis(objective, codes, basis)
            iteration += 1
        objectives.append(objective.value(codes, basis))
        converged = objectives[-2] - objectives[-1] <= tol * abs(objectives[0])
        if progress is not None:
            progress(iteration)
    return Factorisation(codes, basis, np.array(objectives), iteration, converged)


def step_codes(objective: Objective, codes: Array, basis: Array, *, repeats: int = 1, tolerance: float = 0.0) -> int:
    """Update the codes in place; gives the most updates a document took."""
    rows, slopes = objective.rows, objective.slopes(basis)
    return int(
        update_codes(
            rows.indptr, rows.indices, rows.data, basis, slopes, objective.curvature, codes, repeats, tolerance
        )
    )


def step_basis(objective: Objective, codes: Array, basis: Array) -> None:
    """Update the basis and the scales of the codes in place."""
    columns, shares = objective.columns, np.empty_like(basis)
    gather_shares(columns.indptr, columns.indices, columns.data, basis, codes, shares)
    masses = codes.sum(axis=0)
    if objective.curvature == 0.0:
        pulls = objective.alpha * masses
        scales = _sums(objective, shares, masses, pulls)[0]
    else:
        pulls, scales = _balanced(objective, shares, masses, objective.curvature * np.sum(codes**2, axis=0))
    divide_shares(shares, objective.importance, masses, pulls, scales, basis)
    codes *= np.where(scales > 0, scales, 1.0)


def _balanced(objective: Objective, shares: Array, masses: Array, strengths: Array) -> tuple[Array, Array]:
    """The roots S of S = sum_j C_ja / (w_j h_a + k_a S) by Newton's method, and the pulls k_a S.

    S minus the sum is concave and rises: after at most one step the iterates climb to the root.
    """
    scales = np.ones(len(masses))
    for _ in range(_ROOT_STEPS):
        totals, squares = _sums(objective, shares, masses, strengths * scales)
        moved = (scales - totals) / (1.0 + strengths * squares)
        scales = np.maximum(scales - moved, 0.0)
        if np.all(np.abs(moved) <= _ROOT_TOLERANCE * np.maximum(scales, 1e-300)):
            break
    pulls = strengths * scales
    return pulls, _sums(objective, shares, masses, pulls)[0]


def _sums(objective: Objective, shares: Array, masses: Array, pulls: Array) -> tuple[Array, Array]:
    totals, squares = np.empty(len(masses)), np.empty(len(masses))
    sum_quotients(shares, objective.importance, masses, pulls, totals, squares)
    return totals, squares
