"""Multiplicative updates of codes and basis; no update raises the objective.

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

from typing import Any

import numpy as np

from bayesift.kernels.topics import divide_shares, gather_shares, sum_quotients, update_codes
from bayesift.models.topics.objective import Objective

Array = np.ndarray[Any, Any]

_ROOT_TOLERANCE = 1e-10
_ROOT_STEPS = 60


def update(objective: Objective, codes: Array, basis: Array) -> None:
    """Update codes, then basis and scales of the codes, in place."""
    step_codes(objective, codes, basis)
    step_basis(objective, codes, basis)


def step_codes(objective: Objective, codes: Array, basis: Array) -> None:
    """Update the codes in place."""
    rows, slopes = objective.rows, objective.slopes(basis)
    update_codes(rows.indptr, rows.indices, rows.data, basis, slopes, objective.curvature, codes)


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
