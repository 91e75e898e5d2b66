"""Drawings of measured series as SVG: lines, boxes, and diagrams of nodes; colours are those of `page.css`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bayesift.report.axes import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    Axis,
    across,
    flat_axis,
    up,
    upright_axis,
)
from bayesift.report.html import Markup, element, join, name_of

Points = Sequence[tuple[float, float]]
_NODE = 18


@dataclass(frozen=True)
class LinePlot:
    """Series of points joined by lines, at most six.

    Parameters
    ----------
    title : what is seen
    x_name, y_name : of the axes
    series : points by name
    x_log, y_log : axes on which equal distances are equal ratios
    marked : whether points are marked too

    Examples
    --------
    >>> plot = LinePlot("Growth", "documents", "words", {"plain": [(0, 1.0), (10, 5.0)]})
    >>> "words" in plot.svg, plot.names
    (True, ('plain',))
    """

    title: str
    x_name: str
    y_name: str
    series: Mapping[str, Points]
    x_log: bool = False
    y_log: bool = False
    marked: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Of the series, in the order of their colours."""
        return tuple(self.series)

    @property
    def svg(self) -> Markup:
        """The drawing."""
        points = [point for series in self.series.values() for point in series]
        x = Axis.over(self.x_name, [p[0] for p in points], log=self.x_log)
        y = Axis.over(self.y_name, [p[1] for p in points], log=self.y_log)
        # The first series is drawn last, on top of the others.
        lines = [_line(series, x, y, place, self.marked) for place, series in enumerate(self.series.values(), 1)]
        return _svg(self.title, flat_axis(x), upright_axis(y), lines[::-1])


@dataclass(frozen=True)
class BoxPlot:
    """Smallest, quarter, median, three quarters and largest of each group, side by side within a name.

    Examples
    --------
    >>> plot = BoxPlot("F1", "F1", {"SVM": {"paper": [1.0, 2.0, 3.0], "ours": [2.0, 2.5, 4.0]}})
    >>> plot.names, plot.svg.count("<rect")
    (('paper', 'ours'), 2)
    """

    title: str
    y_name: str
    groups: Mapping[str, Mapping[str, Sequence[float]]]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the groups, in the order of their colours."""
        return tuple(dict.fromkeys(name for group in self.groups.values() for name in group))

    @property
    def svg(self) -> Markup:
        """The drawing."""
        values = [v for group in self.groups.values() for part in group.values() for v in part]
        y = Axis.over(self.y_name, values)
        step = (RIGHT - LEFT) / max(len(self.groups), 1)
        boxes, labels = [], []
        for place, (name, group) in enumerate(self.groups.items()):
            middle = LEFT + (place + 0.5) * step
            labels.append(element("text", name, class_="small", x=middle, y=BOTTOM + 17, text_anchor="middle"))
            width = 0.7 * step / len(self.names)
            for part, numbers in group.items():
                colour = self.names.index(part)
                left = middle + (colour - len(self.names) / 2) * width + 0.1 * width
                boxes.append(_box(sorted(numbers), y, left, 0.8 * width, colour + 1))
        return _svg(self.title, upright_axis(y), boxes, labels)


@dataclass(frozen=True)
class Diagram:
    """Nodes, arrows between them, and plates around them that say how often they are repeated.

    Parameters
    ----------
    title : what is seen
    nodes : centre of each by name; names that end in "*" are observed, and drawn filled
    arrows : pairs of names
    plates : left, top, width, height by their text

    Examples
    --------
    >>> Diagram("Chain", {"a": (40, 40), "b*": (40, 120)}, [("a", "b*")], {}).svg.count("<circle")
    2
    """

    title: str
    nodes: Mapping[str, tuple[float, float]]
    arrows: Sequence[tuple[str, str]]
    plates: Mapping[str, tuple[float, float, float, float]]

    @property
    def names(self) -> tuple[str, ...]:
        """No colours to explain."""
        return ()

    @property
    def svg(self) -> Markup:
        """The drawing."""
        plates = [_plate(text, *frame) for text, frame in self.plates.items()]
        arrows = [_arrow(self.nodes[a], self.nodes[b]) for a, b in self.arrows]
        nodes = [_node(name, *centre) for name, centre in self.nodes.items()]
        return _svg(self.title, plates, arrows, nodes)


Plot = LinePlot | BoxPlot | Diagram


def plot_figure(plot: Plot) -> Markup:
    """A drawing with its legend, whose names stand in HTML.

    Examples
    --------
    >>> '<ul class="legend">' in plot_figure(LinePlot("Growth", "x", "y", {"plain": [(0, 1.0), (1, 2.0)]}))
    True
    """
    keys = (_key(place, name) for place, name in enumerate(plot.names, 1))
    legend = element("ul", keys, class_="legend") if plot.names else None
    return element("figure", plot.svg, legend, element("figcaption", plot.title))


def _svg(title: str, *children: Markup | Iterable[Markup]) -> Markup:
    box = f"0 0 {WIDTH} {HEIGHT}"
    return element("svg", element("title", title), *children, viewBox=box, role="img", class_="chart")


def _key(place: int, name: str) -> Markup:
    line = element("line", class_=f"series-{place}", x1=0, y1=6, x2=36, y2=6)
    return element("li", element("svg", line, viewBox="0 0 36 12", aria_hidden="true"), name_of(name))


def _line(points: Points, x: Axis, y: Axis, place: int, marked: bool) -> Markup:
    path = "M" + "L".join(f"{across(x, a):g} {up(y, b):g}" for a, b in points)
    dots = [element("circle", class_=f"ring series-{place}", cx=across(x, a), cy=up(y, b), r=2.5) for a, b in points]
    return join(element("path", class_=f"series series-{place}", d=path), dots if marked else None)


def _box(numbers: Sequence[float], y: Axis, left: float, width: float, place: int) -> Markup:
    low, quarter, median, three, high = (up(y, _quantile(numbers, q)) for q in (0, 0.25, 0.5, 0.75, 1))
    middle, colour = round(left + width / 2, 1), f"series series-{place}"
    whiskers = [
        element("line", class_=colour, x1=middle, y1=a, x2=middle, y2=b) for a, b in ((low, quarter), (three, high))
    ]
    body = element(
        "rect", class_=colour, x=f"{left:.1f}", y=three, width=f"{width:.1f}", height=f"{quarter - three:.1f}"
    )
    line = element("line", class_=colour, x1=f"{left:.1f}", y1=median, x2=f"{left + width:.1f}", y2=median)
    return join(whiskers, body, line)


def _quantile(numbers: Sequence[float], share: float) -> float:
    place = share * (len(numbers) - 1)
    below = int(place)
    above = min(below + 1, len(numbers) - 1)
    return numbers[below] + (place - below) * (numbers[above] - numbers[below])


def _plate(text: str, left: float, top: float, width: float, height: float) -> Markup:
    frame = element("rect", class_="series series-6", x=left, y=top, width=width, height=height, rx=8)
    name = element("text", text, class_="faint", x=left + width - 8, y=top + height - 8, text_anchor="end")
    return join(frame, name)


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> Markup:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = (dx * dx + dy * dy) ** 0.5
    ux, uy = dx / length, dy / length
    first = (start[0] + _NODE * ux, start[1] + _NODE * uy)
    tip = (end[0] - _NODE * ux, end[1] - _NODE * uy)
    wings = [(tip[0] - 8 * ux + s * 4 * uy, tip[1] - 8 * uy - s * 4 * ux) for s in (1, -1)]
    shaft = f"M{first[0]:.1f} {first[1]:.1f}L{tip[0]:.1f} {tip[1]:.1f}"
    head = f"M{wings[0][0]:.1f} {wings[0][1]:.1f}L{tip[0]:.1f} {tip[1]:.1f}L{wings[1][0]:.1f} {wings[1][1]:.1f}"
    return element("path", class_="series series-1", d=shaft + head)


def _node(name: str, x: float, y: float) -> Markup:
    observed = name.endswith("*")
    circle = element("circle", class_="bar" if observed else "ring series-1", cx=x, cy=y, r=_NODE)
    text = element(
        "text", name.rstrip("*"), class_="on-bar" if observed else None, x=x, y=y + 4.5, text_anchor="middle"
    )
    return join(circle, text)
