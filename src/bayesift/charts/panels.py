"""Figures of panels: two axes, a frame they span, and layers over one another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from markupsafe import Markup

from bayesift.charts.svg import Chart, Key, drawing, join, shortened, tag

Pairs: TypeAlias = Sequence[tuple[float, float]]

WIDTH = 372
HEIGHT = 326
_WANTED_TICKS = 5
_MOST_NUMBERS = 7


@dataclass(frozen=True)
class Axis:
    """One axis from its first to its last tick.

    Parameters
    ----------
    name : what it shows
    ticks : values with a number beside them, rising
    log : whether equal distances are equal ratios
    digits : decimals of the numbers; as many as needed if None
    numbered : whether ticks have grid lines and numbers

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
    digits: int | None = None
    numbered: bool = True

    @classmethod
    def over(cls, name: str, values: Iterable[float], *, log: bool = False) -> Axis:
        """Return an axis with round ticks that holds all values."""
        found = [value for value in values if not log or value > 0]
        low = min(found, default=1.0 if log else 0.0)
        high = max(found, default=1.0)
        return cls(name, _powers(low, high) if log else _round_steps(low, high), log)

    @classmethod
    def unit(cls, name: str) -> Axis:
        """Return an axis from 0 to 1."""
        return cls(name, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), digits=1)

    def share(self, value: float) -> float:
        """How far along the axis a value lies, from 0 to 1."""
        first, last, at = (
            (math.log10(v) if self.log else v) for v in (self.ticks[0], self.ticks[-1], value)
        )
        return (at - first) / (last - first)

    @property
    def grid(self) -> tuple[float, ...]:
        """The ticks that get a line."""
        return self.ticks if self.numbered else ()

    def numbers(self) -> list[tuple[float, str]]:
        """Return the ticks that get a number, and the numbers."""
        if not self.numbered:
            return []
        step = -(-len(self.ticks) // _MOST_NUMBERS)
        return [(tick, self._written(tick)) for tick in self.ticks[::step]]

    def _written(self, tick: float) -> str:
        if self.digits is not None:
            return f"{tick:.{self.digits}f}"
        short = abs(tick) >= 10_000 or (self.log and tick >= 1000 and tick % 1000 == 0)
        return compact(int(tick)) if short else f"{tick:g}"


@dataclass(frozen=True)
class Frame:
    """The rectangle that a pair of axes spans."""

    left: float = 52.0
    right: float = 348.0
    top: float = 10.0
    bottom: float = 282.0


class Layer:
    """Something drawn in a panel; with a `name` it has an entry in the legend."""

    style: str
    name: str = ""
    value: str = ""

    def draw(self, panel: Panel) -> Markup:
        """Return the markup in the coordinates of the panel."""
        raise NotImplementedError

    @property
    def key(self) -> Key | None:
        """The entry in the legend."""
        return Key(self.style, self.name, self.value) if self.name else None


@dataclass(frozen=True)
class Panel:
    """Axes and layers in a frame; the first layer lies on top of the others."""

    x: Axis
    y: Axis
    layers: Sequence[Layer]
    frame: Frame = field(default_factory=Frame)
    title: str = ""
    x_shown: bool = True
    y_shown: bool = True

    def at_x(self, value: float) -> float:
        """Return the position of a value on the horizontal axis."""
        return round(
            self.frame.left + (self.frame.right - self.frame.left) * self.x.share(value), 1
        )

    def at_y(self, value: float) -> float:
        """Return the position of a value on the vertical axis."""
        return round(
            self.frame.bottom - (self.frame.bottom - self.frame.top) * self.y.share(value), 1
        )

    def path(self, points: Iterable[tuple[float, float]]) -> str:
        """Straight lines from point to point."""
        return "M" + "L".join(f"{self.at_x(x):g} {self.at_y(y):g}" for x, y in points)

    def draw(self) -> Markup:
        """Axes, then layers."""
        title = tag(
            "text", self.title, class_="panel-title", x=self.frame.left, y=self.frame.top - 8
        )
        return join(
            self._horizontal_axis() if self.x_shown else None,
            self._vertical_axis() if self.y_shown else None,
            title if self.title else None,
            (layer.draw(self) for layer in reversed(self.layers)),
        )

    def _vertical_axis(self) -> Markup:
        left = self.frame.left
        right = self.frame.right
        middle = (self.frame.top + self.frame.bottom) / 2
        lines = [
            tag("line", class_="grid", x1=left, y1=y, x2=right, y2=y)
            for y in map(self.at_y, self.y.grid)
        ]
        ticks = [(self.at_y(tick) + 4, number) for tick, number in self.y.numbers()]
        numbers = [
            tag("text", number, x=left - 7, y=y, text_anchor="end") for y, number in ticks
        ]
        x = max(left - 45, 13)
        turned = f"rotate(-90 {x} {middle})"
        name = tag(
            "text",
            self.y.name,
            class_="axis",
            x=x,
            y=middle,
            text_anchor="middle",
            transform=turned,
        )
        return join(lines, numbers, name if self.y.name else None)

    def _horizontal_axis(self) -> Markup:
        top = self.frame.top
        bottom = self.frame.bottom
        middle = (self.frame.left + self.frame.right) / 2
        lines = [
            tag("line", class_="grid", x1=x, y1=bottom, x2=x, y2=top)
            for x in map(self.at_x, self.x.grid)
        ]
        ticks = [(self.at_x(tick), number) for tick, number in self.x.numbers()]
        numbers = [
            tag("text", number, x=x, y=bottom + 17, text_anchor="middle") for x, number in ticks
        ]
        name = tag(
            "text", self.x.name, class_="axis", x=middle, y=bottom + 37, text_anchor="middle"
        )
        return join(lines, numbers, name if self.x.name else None)


@dataclass(frozen=True, repr=False)
class Figure(Chart):
    """One or more panels in one drawing.

    Parameters
    ----------
    title, panels, caption : what is seen, what is drawn, and how to read it
    description : the same in words, for those who cannot see it
    width, height : of the drawing

    Examples
    --------
    >>> from bayesift.charts import Axis, Line, Panel
    >>> line = Line([(0.0, 0.0), (1.0, 0.5)], name="spam")
    >>> figure = Figure("Growth", [Panel(Axis.unit("time"), Axis.unit("share"), [line])])
    >>> figure.legend[0].name, figure.to_svg()[:5]
    ('spam', '<svg ')
    """

    title: str
    panels: Sequence[Panel]
    caption: str = ""
    description: str = ""
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def legend(self) -> tuple[Key, ...]:
        """Every named layer once."""
        keys = (layer.key for panel in self.panels for layer in panel.layers)
        return tuple(dict.fromkeys(key for key in keys if key is not None))

    @property
    def svg(self) -> Markup:
        """The drawing for a page that has the colours and the legend."""
        panels = [panel.draw() for panel in self.panels]
        return drawing(
            self.title, self.width, self.height, panels, description=self.description
        )


@dataclass(frozen=True)
class Line(Layer):
    """Points joined by a line, with marks if `marked`.

    `style` is a CSS class: series-1 to series-6, ideal, contour or thin. Name and value are those
    of the legend.
    """

    points: Pairs
    style: str = "series-1"
    name: str = ""
    value: str = ""
    marked: bool = False

    def draw(self, panel: Panel) -> Markup:
        """Draw the line and its marks."""
        if not self.points:
            return Markup("")
        drawn = f"series {self.style}" if self.style.startswith("series") else self.style
        marks = [
            tag(
                "circle", class_=f"ring {self.style}", cx=panel.at_x(x), cy=panel.at_y(y), r=2.5
            )
            for x, y in (self.points if self.marked else ())
        ]
        return join(tag("path", class_=drawn, d=panel.path(self.points)), marks)


@dataclass(frozen=True)
class Band(Layer):
    """The area between two curves over the same x."""

    lower: Pairs
    upper: Pairs
    style: str = "series-1"

    def draw(self, panel: Panel) -> Markup:
        """Draw the filled area."""
        return tag(
            "path",
            class_=f"band {self.style}",
            d=panel.path([*self.upper, *reversed(self.lower)]) + "Z",
        )


@dataclass(frozen=True)
class Rule(Layer):
    """A straight line across the panel at one value of x or of y."""

    x: float | None = None
    y: float | None = None
    style: str = "ideal"
    name: str = ""

    def draw(self, panel: Panel) -> Markup:
        """Draw the line."""
        x1 = panel.frame.left
        x2 = panel.frame.right
        y1 = panel.frame.bottom
        y2 = panel.frame.top
        if self.x is not None:
            x1 = x2 = panel.at_x(self.x)
        else:
            assert self.y is not None
            y1 = y2 = panel.at_y(self.y)
        return tag("line", class_=self.style, x1=x1, y1=y1, x2=x2, y2=y2)


@dataclass(frozen=True)
class Zone(Layer):
    """A shaded range of x."""

    first: float
    last: float
    name: str = ""
    style: str = "zone"

    def draw(self, panel: Panel) -> Markup:
        """Draw the rectangle."""
        left = panel.at_x(self.first)
        right = panel.at_x(self.last)
        height = panel.frame.bottom - panel.frame.top
        return tag(
            "rect",
            class_="zone",
            x=left,
            y=panel.frame.top,
            width=round(right - left, 1),
            height=height,
        )


@dataclass(frozen=True)
class Intervals(Layer):
    """Vertical intervals with whiskers: x, lower end and upper end of each."""

    ranges: Sequence[tuple[float, float, float]]
    style: str = "series-1"

    def draw(self, panel: Panel) -> Markup:
        """One path for each interval."""
        return join(self._whisker(panel, *each) for each in self.ranges)

    def _whisker(self, panel: Panel, x: float, lower: float, upper: float) -> Markup:
        at = panel.at_x(x)
        low = panel.at_y(lower)
        high = panel.at_y(upper)
        shape = f"M{at:g} {low:g}L{at:g} {high:g}" + "".join(
            f"M{max(at - 4, 0):g} {end:g}L{at + 4:g} {end:g}" for end in (low, high)
        )
        return tag("path", class_=f"interval {self.style}", d=shape)


@dataclass(frozen=True)
class Points(Layer):
    """Marks without a line: filled dots, or rings."""

    points: Pairs
    style: str = "series-1"
    ring: bool = False

    def draw(self, panel: Panel) -> Markup:
        """Draw a circle for each point."""
        kind, radius = ("ring", 5) if self.ring else ("point", 4)
        return join(
            tag(
                "circle",
                class_=f"{kind} {self.style}",
                cx=panel.at_x(x),
                cy=panel.at_y(y),
                r=radius,
            )
            for x, y in self.points
        )


@dataclass(frozen=True)
class PointLabels(Layer):
    """Texts beside points."""

    texts: Sequence[tuple[float, float, str]]
    style: str = "label"
    offset: tuple[float, float] = (6.0, -5.0)

    def draw(self, panel: Panel) -> Markup:
        """Draw a text for each point; near the right edge it stands on the left."""
        return join(self._text(panel, *each) for each in self.texts)

    def _text(self, panel: Panel, x: float, y: float, text: str) -> Markup:
        across, up = self.offset
        at = panel.at_x(x)
        shown = shortened(text, 24)
        outside = (
            self.style == "label" and at + across + 6.5 * len(shown) > panel.frame.right + 20
        )
        left = round(at - across if outside else at + across, 1)
        top = round(max(panel.at_y(y) + up, 9), 1)
        return tag(
            "text",
            shown,
            class_=self.style,
            x=left,
            y=top,
            text_anchor="end" if outside else None,
        )


@dataclass(frozen=True)
class CountBars(Layer):
    """Upright bars with counts above them: left edge, right edge and count."""

    counts: Sequence[tuple[float, float, int]]

    def draw(self, panel: Panel) -> Markup:
        """Draw a bar and a number for each count."""
        return join(self._column(panel, *each) for each in self.counts)

    def _column(self, panel: Panel, left: float, right: float, count: int) -> Markup:
        start = panel.at_x(left) + 2
        end = panel.at_x(right) - 2
        top = panel.at_y(max(count, panel.y.ticks[0]))
        height = round(panel.frame.bottom - top, 1)
        bar = tag(
            "rect",
            class_="bar",
            x=round(start, 1),
            y=top,
            width=round(end - start, 1),
            height=height,
        )
        middle = round((start + end) / 2, 1)
        above = round(top - 4, 1)
        return join(
            bar,
            tag(
                "text", compact(count), class_="small", x=middle, y=above, text_anchor="middle"
            ),
        )


@dataclass(frozen=True)
class Bars(Layer):
    """Horizontal bars, one per row from the top: name, length and number."""

    rows: Sequence[tuple[str, float, str]]
    height: float = 18.0

    def draw(self, panel: Panel) -> Markup:
        """Names on the left of the frame, bars in it."""
        return join(self._bar(panel, index, *row) for index, row in enumerate(self.rows))

    def _bar(self, panel: Panel, index: int, name: str, length: float, number: str) -> Markup:
        left = panel.frame.left
        top = panel.frame.top + self.height * index
        width = round(panel.at_x(length) - left, 1)
        baseline = round(top + self.height / 2 + 4, 1)
        return join(
            tag(
                "text",
                shortened(name, 26),
                class_="small",
                x=left - 6,
                y=baseline,
                text_anchor="end",
            ),
            tag(
                "rect",
                class_="bar",
                x=left,
                y=round(top + 2, 1),
                width=width,
                height=self.height - 4,
                rx=1.5,
            ),
            tag("text", number, class_="small label", x=left + width + 4, y=baseline)
            if number
            else None,
        )


@dataclass(frozen=True)
class Cells(Layer):
    """A table of counts, darker where more of a row lies; those of the diagonal are right.

    The axes go from 0 to the number of rows. Columns are numbered as rows are.
    """

    names: Sequence[str]
    counts: Sequence[Sequence[int]]

    def draw(self, panel: Panel) -> Markup:
        """Draw names on the left, numbers above, and a cell for each count."""
        n = len(self.names)
        rows = []
        for i, (name, counts) in enumerate(zip(self.names, self.counts, strict=True)):
            middle = round(panel.at_y(n - i - 0.5) + 4, 1)
            at = panel.frame.left - 7
            rows.append(tag("text", name, class_="small", x=at, y=middle, text_anchor="end"))
            rows.append(self._number(panel, i, str(i + 1), panel.frame.top - 6))
            total = max(1, sum(counts))
            rows += [self._cell(panel, i, j, count, total) for j, count in enumerate(counts)]
        return join(rows)

    def _cell(self, panel: Panel, i: int, j: int, count: int, total: int) -> Markup:
        left = panel.at_x(j)
        top = panel.at_y(len(self.names) - i)
        # The square root makes a few mistakes visible beside many correct decisions.
        shade = round(0.6 * math.sqrt(count / total), 3)
        kind = "right" if i == j else "wrong"
        rect = tag(
            "rect",
            class_=f"cell {kind}",
            x=left + 1,
            y=top + 1,
            width=round(panel.at_x(j + 1) - left - 2, 1),
            height=round(panel.at_y(len(self.names) - i - 1) - top - 2, 1),
            fill_opacity=shade,
        )
        middle = round(panel.at_y(len(self.names) - i - 0.5) + 4, 1)
        return join(rect, self._number(panel, j, compact(count), middle) if count else None)

    def _number(self, panel: Panel, j: int, text: str, y: float) -> Markup:
        x = round(panel.at_x(j + 0.5), 1)
        return tag("text", text, class_="small", x=x, y=y, text_anchor="middle")


def compact(count: int) -> str:
    """Return a count in at most four characters."""
    value = float(count)
    unit = ""
    for larger in ("k", "M", "G"):
        if value < 999.5:
            break
        value = value / 1000
        unit = larger
    if unit and value < 9.95:
        return f"{value:.1f}".removesuffix(".0") + unit
    return f"{value:.0f}{unit}"


def _round_steps(low: float, high: float) -> tuple[float, ...]:
    """Multiples of 1, 2 or 5 times a power of ten that hold both ends."""
    extent = (high - low) or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(extent / _WANTED_TICKS))
    step = next(
        power * factor for factor in (1, 2, 5, 10) if extent / (power * factor) <= _WANTED_TICKS
    )
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return tuple(round(i * step, 12) for i in range(first, max(last, first + 1) + 1))


def _powers(low: float, high: float) -> tuple[float, ...]:
    """Powers of ten, or of two where the values span less than two decades."""
    base = 10.0 if high / low >= 100 else 2.0
    first = math.floor(math.log(low, base) + 1e-9)
    last = math.ceil(math.log(high, base) - 1e-9)
    return tuple(base**i for i in range(first, max(last, first + 1) + 1))
