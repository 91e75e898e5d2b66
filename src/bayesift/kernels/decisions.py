"""The best place to cut a ranking.

A criterion is a linear-fractional function of t (true positives above the cut), s (documents above the cut) and
r (positives in all), with a linear constraint; its rows hold the coefficients of 1, t, s and r:

    maximise   (a0 + a1 t + a2 s + a3 r) / (b0 + b1 t + b2 s + b3 r)    subject to   c0 + c1 t + c2 s + c3 r >= 0

F1 = 2t / (s + r), errors s + r - 2t, any linear utility, precision t/s and recall t/r all have this form.
Cost: one pass over the ranking, whatever the criterion.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.compile import inlined, kernel

Array = np.ndarray[Any, Any]

# A share such as 0.07 of 100 documents is 7.000000000000001: constraints forgive that much.
_SLACK = 1e-9


@inlined
def _worth(criterion: Array, t: float, s: float, r: float) -> float:
    """The criterion of one cut; -inf where the constraint fails, 0 for 0 / 0."""
    if criterion[2, 0] + criterion[2, 1] * t + criterion[2, 2] * s + criterion[2, 3] * r < -_SLACK:
        return -np.inf
    below: float = criterion[1, 0] + criterion[1, 1] * t + criterion[1, 2] * s + criterion[1, 3] * r
    if below == 0.0:
        return 0.0
    above: float = criterion[0, 0] + criterion[0, 1] * t + criterion[0, 2] * s + criterion[0, 3] * r
    return above / below


@inlined
def _between(low: float, high: float) -> float:
    """A threshold t with low <= t < high."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


@kernel
def best_cuts(
    scores: Array, rows: Array, positive: Array, weights: Array, criterion: Array, thresholds: Array, worths: Array
) -> None:
    """The best threshold of each ranking and its worth; what lies strictly above a threshold is assigned.

    scores, rows, positive: a ranking a row: its scores falling, the document of each, whether it is a positive;
    weights: how often each document counts (0: left out). Writes into thresholds and worths.

    Of equally good cuts that with the widest gap between its neighbours wins, then the higher one. To assign nothing
    the threshold is the highest score, to assign everything just below the lowest; without positives it is +inf.
    """
    for category in range(len(thresholds)):
        thresholds[category], worths[category] = _best_cut(
            scores[category], rows[category], positive[category], weights, criterion
        )


@kernel
def _best_cut(scores: Array, rows: Array, positive: Array, weights: Array, criterion: Array) -> tuple[float, float]:
    positives = 0.0
    for i in range(len(scores)):
        if positive[i]:
            positives += weights[rows[i]]
    best = _worth(criterion, 0.0, 0.0, positives)
    if positives == 0.0:
        return np.inf, best
    threshold, widest = np.inf, 0.0
    true, above, last = 0.0, 0.0, np.inf
    for i in range(len(scores)):
        weight = weights[rows[i]]
        if weight == 0:
            continue
        score = scores[i]
        if above == 0.0:
            threshold = score
        elif score < last:
            worth = _worth(criterion, true, above, positives)
            if worth > best or (worth == best and last - score > widest):
                threshold, best, widest = _between(score, last), worth, last - score
        if positive[i]:
            true += weight
        above += weight
        last = score
    worth = _worth(criterion, true, above, positives)
    if worth > best:
        return np.nextafter(last, -np.inf), worth
    return threshold, best


@kernel
def highest(scores: Array, places: Array) -> None:
    """The columns of the highest scores of each row, falling, into places (rows x k); of equals the earlier one."""
    k = places.shape[1]
    for row in range(len(scores)):
        found = 0
        for column in range(scores.shape[1]):
            score = scores[row, column]
            if found == k and not score > scores[row, places[row, k - 1]]:
                continue
            place = min(found, k - 1)
            while place > 0 and score > scores[row, places[row, place - 1]]:
                places[row, place] = places[row, place - 1]
                place -= 1
            places[row, place] = column
            found = min(found + 1, k)
