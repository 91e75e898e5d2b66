"""The line search of all solvers: backtracking until Armijo's condition holds.

It works for many models at once.

    f(w + t d) <= f(w) + 1e-4 t f'(w; d)

StepLengths start at t = 1. (Compiled solvers have the same search inside, in
`bayesift.kernels.newton_steps`.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array

SHORTEST = 2.0**-39
_SUFFICIENT_SHARE = 1e-4  # of the decrease to first order
_ROUNDING_SHARE = 1e-14  # of the objective
_MOST_SHORTENED = 0.1
_LEAST_SHORTENED = 0.5

Places = Array


class StepLengths(NamedTuple):
    """The step length of each model, 0 where none was accepted, and whether one was."""

    lengths: Array
    accepted: Array


def backtrack(
    evaluate: Callable[[Places, Array], Array],
    expected: Callable[[Places, Array], Array],
    start: Array,
    *,
    accept: Callable[[Places, Array], None] | None = None,
    interpolate: bool = False,
    shortest: float = SHORTEST,
    rounding: float = _ROUNDING_SHARE,
) -> StepLengths:
    """Step lengths of several models, each the first that lowers its objective enough.

    Parameters
    ----------
    evaluate : the objectives of some models (their places) at these step lengths
    expected : the changes of these objectives to first order, at most 0; called after `evaluate`,
        with its arguments
    start : the objectives of all models at step length 0
    accept : called after each evaluation with the places that were evaluated and which of them were
        accepted
    interpolate : shorten a step to the minimum of a parabola, to between a tenth and a half,
        instead of halving it
    shortest : a model for which no step of this length or more will do gets none
    rounding : the share of the objective by which it may rise
    """
    lengths = np.ones(len(start))
    accepted = np.zeros(len(start), dtype=bool)
    indices = np.arange(len(start))
    while len(indices):
        here = lengths[indices]
        values = evaluate(indices, here)
        change = expected(indices, here)
        good = values <= start[indices] + _SUFFICIENT_SHARE * change + rounding * np.abs(
            start[indices]
        )
        accepted[indices] = good
        if accept is not None:
            accept(indices, good)
        factors = np.full(len(indices), 0.5)
        if interpolate:
            excess = np.maximum(values - start[indices] - change, 1e-300)
            factors = np.clip(-0.5 * change / excess, _MOST_SHORTENED, _LEAST_SHORTENED)
        lengths[indices] *= np.where(good, 1.0, factors)
        indices = indices[~good & (lengths[indices] >= shortest)]
    return StepLengths(np.where(accepted, lengths, 0.0), accepted)
