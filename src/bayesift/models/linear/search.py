"""The best scale without a grid: minima of functions of one variable, for all models in step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesift.models.linear.path import WIDTH, Progress, strongest_scales
from bayesift.models.linear.problem import Problem
from bayesift.models.linear.scale import Choice, Validation

Array = np.ndarray[Any, Any]
Losses = Callable[[Array, list[int]], tuple[Array, Array]]

_GOLDEN = (3.0 - np.sqrt(5.0)) / 2.0
_MOST = 20  # scales
_TOLERANCE = 0.1  # of the logarithm of the scale


class MinimumSearch:
    """Says where to look next for a minimum and is told the value there.

    Steps lead downhill until the minimum lies between two neighbours; parabolas through the three, or golden sections
    where those say little, then close in on it.

    Parameters
    ----------
    start, step : the first place, and how far it is to the second
    bounds : the lowest and the highest place
    tolerance : how far the best place may lie from its neighbours in the end

    Examples
    --------
    >>> search = MinimumSearch(0.0, 1.0, (-9.0, 9.0), 0.01)
    >>> while (place := search.next_place()) is not None:
    ...     search.tell(place, (place - 3.3) ** 2)
    >>> round(search.best, 2)
    3.3
    """

    def __init__(self, start: float, step: float, bounds: tuple[float, float], tolerance: float) -> None:
        self.start, self.step, self.bounds, self.tolerance = start, step, bounds, tolerance
        self.seen: list[tuple[float, float]] = []

    @property
    def best(self) -> float:
        """The best place so far."""
        return min(self.seen, key=lambda pair: pair[1])[0]

    def tell(self, place: float, value: float) -> None:
        """Take in a value."""
        self.seen = sorted([*self.seen, (place, value)])

    def next_place(self) -> float | None:
        """Where to look next; None at the end."""
        if not self.seen:
            return self.start
        if len(self.seen) >= _MOST:
            return None
        best = min(range(len(self.seen)), key=lambda k: self.seen[k][1])
        if 0 < best < len(self.seen) - 1:
            return self._between(self.seen[best - 1 : best + 2])
        return self._beyond(1.0 if best or len(self.seen) == 1 else -1.0)

    def _beyond(self, direction: float) -> float | None:
        """The next step downhill; at the bound, between it and its neighbour while they are far apart."""
        last, *others = self.seen[::-1] if direction > 0 else self.seen
        place = float(np.clip(last[0] + direction * self.step, *self.bounds))
        if place != last[0]:
            return place
        gap = abs(last[0] - others[0][0]) if others else 0.0
        return last[0] - direction * _GOLDEN * gap if gap > 0.5 * self.step else None

    def _between(self, three: list[tuple[float, float]]) -> float | None:
        (a, fa), (b, fb), (c, fc) = three
        if max(b - a, c - b) <= self.tolerance:
            return None
        below, above = (b - a) * (fb - fc), (b - c) * (fb - fa)
        place = b - 0.5 * ((b - a) * below - (b - c) * above) / (below - above) if below != above else b
        if abs(place - b) < 0.5 * self.tolerance or not a < place < c:
            place = b + _GOLDEN * (c - b) if c - b > b - a else b - _GOLDEN * (b - a)
        return place


def search_scales(
    problem: Problem, losses: Losses, progress: Progress | None, *, shared: bool, most: int = _MOST
) -> Choice:
    """The scales with the least loss, one a model or one for all.

    Parameters
    ----------
    problem : what is fitted
    losses : takes a scale for each of the models named and those models; gives losses (one a model) and errors
    progress : called with how many scales were looked at, of how many at most
    shared : whether `losses` are totals over all models, which have one scale
    most : how many scales there are at most
    """
    first = np.log(strongest_scales(problem))
    first = np.array([first.min()]) if shared else first
    middle, step = 0.5 * np.log(WIDTH), np.log(WIDTH) / 8
    searches = [MinimumSearch(x + middle, step, (x, x + 2.0 * middle), _TOLERANCE) for x in first]
    rows: list[tuple[Array, Array, Array]] = []
    while True:
        places = [search.next_place() for search in searches]
        going = [k for k, place in enumerate(places) if place is not None]
        if not going:
            break
        logs = np.array([places[k] for k in going], dtype=float)
        found, errors = losses(np.exp(logs), going)
        for k, place, loss in zip(going, logs, found, strict=True):
            searches[k].tell(float(place), float(loss))
        rows.append(_spread(len(searches), going, np.exp(logs), found, errors))
        if progress is not None:
            progress(len(rows), max(most, len(rows)))
    chosen = np.exp([search.best for search in searches])
    scales, values, spreads = (np.array(column) for column in zip(*rows, strict=True))
    scale_of_each = np.full(problem.members.shape[0], chosen[0]) if shared else chosen
    return Choice(scale_of_each, Validation(scales, values, spreads, chosen))


def _spread(n: int, places: list[int], *columns: Array) -> tuple[Array, Array, Array]:
    """Each column at its places, NaN elsewhere."""
    out = np.full((3, n), np.nan)
    out[:, places] = columns
    return out[0], out[1], out[2]
