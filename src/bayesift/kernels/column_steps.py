"""Newton steps on a working set of terms without a Gram matrix.

The quadratic model of the likelihood is minimised, with the exact penalty, by coordinate descent along the columns of
the set (Friedman et al.; Yuan, Ho & Lin's newGLMNET): beside the step d stands Z d over the documents, where
Z = H^(1/2) X_W, and a derivative is z_j' Z d. The intercept c follows the weights at its best,

    c = (pull - s' d) / total,     s = X_W' h,     total = sum_i h_i + its precision,

which costs one number a change. A pass costs the entries of the set twice, whatever the number of terms: the choice for
thousands of them, where a Gram matrix is quadratic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.documents import Documents, Model
from bayesift.kernels.linear import FREE, L2, MODE, PRECISION, best_weight, column_dot, intercept_pull
from bayesift.kernels.newton_steps import FLAT, WorkingSet, take_step

Array = np.ndarray[Any, Any]

_PASSES, _SHORT_PASSES = 3, 6  # over all weights, and after each over those off their mode


@kernel
def weigh_columns(
    starts: Array,
    places: Array,
    values: Array,
    curvatures: Array,
    roots: Array,
    out: Array,
    squares: Array,
    sums: Array,
) -> None:
    """Write Z, the squares of its columns' norms, and X_W' h; `roots` is scratch."""
    for i in range(len(roots)):
        roots[i] = np.sqrt(curvatures[i])
    for column in range(len(sums)):
        square, total = 0.0, 0.0
        for k in range(starts[column], starts[column + 1]):
            root = roots[np.uint32(places[k])]
            scaled = values[k] * root
            out[k] = scaled
            square += scaled * scaled
            total += scaled * root
        squares[column], sums[column] = square, total


@inlined
def _improve_weight(
    column: int,
    starts: Array,
    places: Array,
    scaled: Array,
    squares: Array,
    shares: Array,
    pulls: Array,
    sums: Array,
    penalty: Array,
    j: int,
    weight: float,
    step: Array,
    moved: Array,
    common: Array,
) -> float:
    """Minimise the model over one weight; gives the size of the change of its derivative."""
    first, last = starts[column], starts[column + 1]
    slack = pulls[column] - column_dot(first, last, places, scaled, moved) - sums[column] * common[0]
    curvature = squares[column] - shares[column] * sums[column] + FLAT
    now = weight + step[column]
    change = best_weight(penalty, j, now, slack, curvature) - now
    if change == 0.0:
        return 0.0
    step[column] += change
    common[0] -= change * shares[column]
    for k in range(first, last):
        moved[np.uint32(places[k])] += change * scaled[k]
    size: float = abs(change) * (curvature + penalty[L2, j])
    return size


@kernel
def minimise_by_columns(
    chosen: Array,
    starts: Array,
    places: Array,
    scaled: Array,
    squares: Array,
    shares: Array,
    pulls: Array,
    sums: Array,
    penalty: Array,
    weights: Array,
    step: Array,
    moved: Array,
    common: Array,
    goal: float,
) -> None:
    """Coordinate descent, with more passes over the weights off their mode than over all; writes step and Z step."""
    for _ in range(_PASSES):
        for short in range(1 + _SHORT_PASSES):
            largest = 0.0
            for column in range(len(chosen)):
                j = chosen[column]
                if short == 0 or weights[j] + step[column] != penalty[MODE, j]:
                    size = _improve_weight(
                        column, starts, places, scaled, squares, shares, pulls, sums, penalty, j, weights[j], step,
                        moved, common,
                    )  # fmt: skip
                    largest = max(largest, size)
            if largest <= goal:
                break
        if short == 0:
            return


@kernel
def column_step(
    model: Model,
    documents: Documents,
    terms: WorkingSet,
    scaled: Array,
    weights: Array,
    bias: Array,
    loss: float,
    goal: float,
    cautious: bool,
) -> float:
    """One step on the working set along its columns; gives the new loss (the likelihood part).

    `scaled` has room for Z.
    """
    n, size, intercept = documents.filled[0], len(terms.chosen), model.intercept
    squares, moved = np.empty(size), np.zeros(n)
    weigh_columns(
        terms.starts, terms.places, terms.values, documents.curvatures, documents.direction[:n], scaled, squares,
        terms.sums,
    )  # fmt: skip
    total = documents.curvatures[:n].sum() + intercept[PRECISION]
    free = intercept[FREE] != 0.0 and total > 0.0
    shares = terms.sums / total if free else np.zeros(size)
    pull = intercept_pull(intercept, bias[0], documents.pulls[:n])
    common = np.array([pull / total if free else 0.0])
    terms.step[:] = 0.0
    minimise_by_columns(
        terms.chosen, terms.starts, terms.places, scaled, squares, shares, terms.pulls, terms.sums if free else shares,
        model.penalty, weights, terms.step, moved, common, goal,
    )  # fmt: skip
    return take_step(model, documents, terms, total, weights, bias, loss, pull, cautious)
