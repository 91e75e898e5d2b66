"""One entry of codes or basis at a time, by the steps of `bayesift.kernels.topic_coordinates`.

Entries that are to be 0 become 0, and come back if they should. As in `multiplicative`, sums of topics are free while
the basis moves: with S_a = sum_j W_ja, the derivative in W_ja of all but the logarithms is w_j h_a + 2 alpha q_a S_a
(or + alpha h_a for S(x) = x). Afterwards W_a is divided by S_a and H_a multiplied by it, which changes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.topic_coordinates import descend_basis, descend_codes
from bayesift.models.topics.objective import Objective

Array = np.ndarray[Any, Any]


def update(objective: Objective, codes: Array, basis: Array) -> None:
    """Update codes, then basis and scales of the codes, in place."""
    step_codes(objective, codes, basis)
    step_basis(objective, codes, basis)


def step_codes(objective: Objective, codes: Array, basis: Array, *, repeats: int = 1, tolerance: float = 0.0) -> int:
    """Update the codes in place, up to `repeats` times; gives the most updates a document took."""
    rows, slopes, curvature = objective.rows, objective.slopes(basis), objective.curvature
    return int(descend_codes(rows.indptr, rows.indices, rows.data, basis, slopes, curvature, codes, repeats, tolerance))


def step_basis(objective: Objective, codes: Array, basis: Array) -> None:
    """Update the basis and the scales of the codes in place; a topic left without terms starts anew as all terms."""
    columns, importance, masses = objective.columns, objective.importance, codes.sum(axis=0)
    pulls = np.zeros(len(masses)) if objective.penalty == "squared" else objective.alpha * masses
    curvatures, sums = objective.curvature * np.sum(codes**2, axis=0), basis.sum(axis=0)
    descend_basis(
        columns.indptr, columns.indices, columns.data, codes, importance, masses, pulls, curvatures, sums, basis
    )
    sums = basis.sum(axis=0)
    codes *= sums
    basis[:, sums == 0] = (importance > 0)[:, np.newaxis]
    basis /= np.maximum(basis.sum(axis=0), np.finfo(float).tiny)
