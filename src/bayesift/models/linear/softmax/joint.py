"""A Newton step on all weights off their modes and the intercepts, which the Hessian of the softmax couples.

There the penalty is smooth. Conjugate gradients solve for the step, preconditioned by the diagonal and not very
precisely: along nearly flat directions an exact step would only run into the kinks of other weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesift.kernels import softmax as kernels
from bayesift.kernels.linear import L1, L2, LOWER, MODE, UPPER

if TYPE_CHECKING:
    from bayesift.models.linear.softmax.working_sets import Search

Array = np.ndarray[Any, Any]
Operator = Callable[[Array], Array]

_CONJUGATE_STEPS, _PRECISION = 60, 0.1
_HALVINGS = 10


def improve_together(search: Search, starts: Array, terms: Array) -> None:
    """Step on these weights, those of class c from starts[c] to starts[c + 1]; kept if it descends."""
    classes = np.repeat(np.arange(len(search.biases)), np.diff(starts))
    layers = classes if len(search.penalties) > 1 else np.zeros_like(classes)
    penalty = search.penalties[layers, :, terms].T
    now = np.append(search.weights[classes, terms], search.biases)
    free, precision, _ = search.problem.intercept
    matrix = (search.columns.indptr, search.columns.indices, search.columns.data, starts, terms)
    spread, ridge = np.empty_like(search.scores), np.append(penalty[L2], np.full(len(search.biases), precision))

    def hessian(vector: Array) -> Array:
        out = np.empty(len(vector))
        kernels.spread_out(*matrix, vector, spread)
        kernels.curve(search.probabilities, search.importance, search.scratch, spread)
        kernels.gather(*matrix, spread, out)
        return _free(out + ridge * vector, len(terms), free)

    slopes = _slopes(search, matrix, penalty, now)
    step = _conjugate_gradients(hessian, _diagonal(search, matrix, ridge), -slopes)
    loss, scores = search.loss, search.scores
    before = loss + _cost(penalty, search.problem.intercept, now)
    for halvings in range(_HALVINGS):
        new = now + 0.5**halvings * step
        new[: len(terms)] = _up_to_the_kink(penalty, now[: len(terms)], new[: len(terms)])
        kernels.spread_out(*matrix, new - now, spread)
        search.scores = scores + spread
        search.normalise()
        if search.loss + _cost(penalty, search.problem.intercept, new) < before:
            search.weights[classes, terms], search.biases[:] = new[: len(terms)], new[len(terms) :]
            return
    search.scores = scores
    search.normalise()


def _free(vector: Array, size: int, free: float) -> Array:
    """Intercepts that are not free do not move."""
    if not free:
        vector[size:] = 0.0
    return vector


def _slopes(search: Search, matrix: tuple[Array, Array, Array, Array, Array], penalty: Array, now: Array) -> Array:
    """The gradient of the objective."""
    size, (free, precision, centre) = penalty.shape[1], search.problem.intercept
    residuals = -search.importance * search.probabilities
    residuals[search.labels, np.arange(len(search.labels))] += search.importance
    pulls = np.empty(len(now))
    kernels.gather(*matrix, residuals, pulls)
    distance = now[:size] - penalty[MODE]
    kinks = np.sign(distance) * penalty[L1] + penalty[L2] * distance
    return _free(np.append(kinks, precision * (now[size:] - centre)) - pulls, size, free)


def _cost(penalty: Array, intercept: Array, point: Array) -> float:
    size, (_, precision, centre) = penalty.shape[1], intercept
    distance = point[:size] - penalty[MODE]
    cost = penalty[L1] @ np.abs(distance) + 0.5 * penalty[L2] @ distance**2
    return float(cost + 0.5 * precision * np.sum((point[size:] - centre) ** 2))


def _up_to_the_kink(penalty: Array, now: Array, new: Array) -> Array:
    """No weight passes its mode, if there is a kink, or its bounds."""
    crossed = ((now - penalty[MODE]) * (new - penalty[MODE]) < 0) & (penalty[L1] > 0)
    return np.clip(np.where(crossed, penalty[MODE], new), penalty[LOWER], penalty[UPPER])


def _diagonal(search: Search, matrix: tuple[Array, Array, Array, Array, Array], ridge: Array) -> Array:
    """Of the Hessian; 1 where it is flat."""
    bends, diagonal = search.importance * search.probabilities * (1.0 - search.probabilities), np.empty(len(ridge))
    indptr, indices, data, starts, terms = matrix
    kernels.gather(indptr, indices, data**2, starts, terms, bends, diagonal)
    diagonal += ridge
    return np.where(diagonal > 0, diagonal, 1.0)


def _conjugate_gradients(apply: Operator, diagonal: Array, target: Array) -> Array:
    """An approximate solution; the target has no part along flat directions."""
    step, residual = np.zeros_like(target), target.copy()
    scaled = residual / diagonal
    search, power = scaled.copy(), float(residual @ scaled)
    goal = _PRECISION**2 * power
    for _ in range(_CONJUGATE_STEPS):
        if power <= max(goal, 0.0):
            break
        image = apply(search)
        bend = float(search @ image)
        if bend <= 0.0:
            break
        step += power / bend * search
        residual -= power / bend * image
        scaled = residual / diagonal
        after = float(residual @ scaled)
        search = scaled + after / power * search
        power = after
    return step
