"""Axes of drawings: where values fall, and which numbers stand beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bayesift.report.html import Markup, element, join
from bayesift.report.numbers import compact

LEFT, RIGHT, TOP, BOTTOM = 52.0, 348.0, 10.0, 282.0
WIDTH, HEIGHT = 372, 326
_WANTED_TICKS = 5


@dataclass(frozen=True)
class Axis:
    """One axis from its first to its last tick.

    Parameters
    ----------
    name : what it shows
    ticks : values with a number beside them, rising
    log : whether equal distances are equal ratios

    Examples
    --------
    >>> axis = Axis.over("words", [0, 93])
    >>> axis.ticks, axis.share(50)
    ((0.0, 20.0, 40.0, 60.0, 80.0, 100.0), 0.5)
    >>> Axis.over("rank", [3, 800], log=True).ticks
    (1.0, 10.0, 100.0, 1000.0)
    """

    name: str
    ticks: tuple[float, ...]
    log: bool = False

    @classmethod
    def over(cls, name: str, values: Sequence[float], *, log: bool = False) -> Axis:
        """An axis with round ticks that holds all values."""
        low, high = min(values, default=0.0), max(values, default=1.0)
        return cls(name, _decades(low, high) if log else _round_steps(low, high), log)

    def share(self, value: float) -> float:
        """How far along the axis a value lies, from 0 to 1."""
        first, last, at = ((math.log10(v) if self.log else v) for v in (self.ticks[0], self.ticks[-1], value))
        return (at - first) / (last - first)


def across(axis: Axis, value: float) -> float:
    """The place of a value on the flat axis."""
    return round(LEFT + (RIGHT - LEFT) * axis.share(value), 1)


def up(axis: Axis, value: float) -> float:
    """The place of a value on the upright axis."""
    return round(BOTTOM - (BOTTOM - TOP) * axis.share(value), 1)


def upright_axis(axis: Axis) -> Markup:
    """Grid lines, numbers and name of the upright axis."""
    lines = [element("line", class_="grid", x1=LEFT, y1=up(axis, t), x2=RIGHT, y2=up(axis, t)) for t in axis.ticks]
    numbers = [element("text", _told(t), x=LEFT - 7, y=up(axis, t) + 4, text_anchor="end") for t in axis.ticks]
    middle = (TOP + BOTTOM) / 2
    turned = f"rotate(-90 13 {middle})"
    name = element("text", axis.name, class_="axis", x=13, y=middle, text_anchor="middle", transform=turned)
    return join(lines, numbers, name)


def flat_axis(axis: Axis) -> Markup:
    """Grid lines, numbers and name of the flat axis."""
    places = [across(axis, t) for t in axis.ticks]
    lines = [element("line", class_="grid", x1=x, y1=BOTTOM, x2=x, y2=TOP) for x in places]
    numbers = [
        element("text", _told(t), x=x, y=BOTTOM + 17, text_anchor="middle")
        for t, x in zip(axis.ticks, places, strict=True)
    ]
    name = element("text", axis.name, class_="axis", x=(LEFT + RIGHT) / 2, y=BOTTOM + 37, text_anchor="middle")
    return join(lines, numbers, name)


def _told(tick: float) -> str:
    return compact(int(tick)) if abs(tick) >= 10_000 else f"{tick:g}"


def _round_steps(low: float, high: float) -> tuple[float, ...]:
    """Multiples of 1, 2 or 5 times a power of ten that hold both ends."""
    extent = (high - low) or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(extent / _WANTED_TICKS))
    step = next(power * factor for factor in (1, 2, 5, 10) if extent / (power * factor) <= _WANTED_TICKS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(round(i * step, 12) for i in range(first, max(last, first + 1) + 1))


def _decades(low: float, high: float) -> tuple[float, ...]:
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    return tuple(10.0**i for i in range(first, max(last, first + 1) + 1))
