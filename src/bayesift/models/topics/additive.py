"""Forward stage-wise additive logistic regression on differences of topics.

    F(x) = sum_m a_m f_m(x_m),    f_m(x) = log N(x; 0, v+_m) - log N(x; 0, v-_m)

A stage estimates the variances of same-category (+) and different-category (-) differences under weights e^{-yF} (y is
+1 or -1), then the factor a_m that minimises sum e^{-y(F + a f_m)} by Newton's method. F estimates half the log odds:
P(same) = 1/(1 + e^{-2F}) (Friedman, Hastie & Tibshirani 2000; the paper's eq. 23 lacks the 2, its eq. 26 a minus).

The paper has one stage a topic, so that the first topics never hear of the later ones. More rounds let each topic
correct its part in the light of all others.

Each stage adds a constant and a multiple of x_m^2. Where the multiples of a topic would sum to more than 0, documents
would look more alike the more they differ; such a stage is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_TOLERANCE = 1e-10
_NEWTON_STEPS = 50
_LEAST_VARIANCE = 1e-9  # relative to the topic's variance in all pairs
_FARTHEST = 30.0  # of F: weights e^30 apart decide nothing any more


@dataclass(frozen=True, eq=False)
class AdditiveModel:
    """F(x) = offset - sum_m weights_m x_m^2.

    Parameters
    ----------
    offset : F of two equal documents
    weights : of the squared difference on each topic, none negative
    factors : a_m of each topic's first stage; 0 where it was left out
    variances : of same- and different-category differences, 2 x topics, as the first stage saw them
    """

    offset: float
    weights: Array
    factors: Array
    variances: Array


def fit_additive(codes: Array, left: Array, right: Array, same: Array, *, rounds: int = 1) -> AdditiveModel:
    """So many stages a topic, round by round in the order of columns, on pairs of rows of `codes`.

    Examples
    --------
    >>> codes = np.array([[0.0], [0.1], [2.0], [2.1]])
    >>> model = fit_additive(codes, np.array([0, 2, 0, 1]), np.array([1, 3, 2, 3]), np.array([1, 1, 0, 0]) > 0)
    >>> bool(model.weights[0] > 0)
    True
    """
    signs, columns = np.where(same, 1.0, -1.0), np.ascontiguousarray(codes.T)
    scores, offset = np.zeros(len(left)), 0.0
    weights, factors, variances = np.zeros(len(columns)), np.zeros(len(columns)), np.zeros((2, len(columns)))
    for turn in range(rounds):
        for m, column in enumerate(columns):
            squares = np.square(column[left] - column[right])
            importance = np.exp(-signs * np.clip(scores, -_FARTHEST, _FARTHEST))
            intra, extra = _variances(squares, importance, same)
            if intra == extra:  # they are where a topic is the same in all documents
                continue
            constant, slope = 0.5 * np.log(extra / intra), 0.5 * (1 / intra - 1 / extra)
            ratios = constant - slope * squares
            factor = best_factor(signs * ratios, importance)
            if turn == 0:
                variances[:, m] = intra, extra
            if weights[m] + factor * slope < 0:
                continue
            scores += factor * ratios
            offset += factor * constant
            weights[m] += factor * slope
            if turn == 0:
                factors[m] = factor
    return AdditiveModel(float(offset), weights, factors, variances)


def best_factor(margins: Array, importance: Array) -> float:
    """The a that minimises sum importance e^{-a margins}, by Newton's method from 0 with halved steps.

    Examples
    --------
    >>> round(best_factor(np.array([1.0, -1.0]), np.array([3.0, 1.0])), 6)  # half the log of 3
    0.549306
    """
    factor, losses = 0.0, importance
    total = float(losses.sum())
    for _ in range(_NEWTON_STEPS):
        gain, curvature = float(losses @ margins), float(losses @ margins**2)
        if curvature <= 0.0:
            break
        step = gain / curvature
        while True:
            with np.errstate(over="ignore"):
                losses_then = importance * np.exp(-(factor + step) * margins)
            total_then = float(losses_then.sum())
            if total_then <= total or abs(step) <= _TOLERANCE:
                break
            step *= 0.5
        factor, losses, total = factor + step, losses_then, total_then
        if abs(step) <= _TOLERANCE * max(1.0, abs(factor)):
            break
    return factor


def _variances(squares: Array, importance: Array, same: Array) -> tuple[float, float]:
    least = _LEAST_VARIANCE * float(squares.mean())
    intra, extra = (float(np.average(squares[part], weights=importance[part])) for part in (same, ~same))
    return max(intra, least), max(extra, least)
