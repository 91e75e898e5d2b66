"""Pictures of papers: line plots, box plots, and diagrams of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bayesift.charts import Axis, Chart, Frame, Key, Line, Panel
from bayesift.charts.panels import HEIGHT, WIDTH, Pairs
from bayesift.charts.svg import drawing, join, series, tag

_NODE = 18


@dataclass(frozen=True)
class LinePlot(Chart):
    """Series of points joined by lines.

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
    >>> "words" in plot.svg, plot.legend[0].name
    (True, 'plain')
    """

    title: str
    x_name: str
    y_name: str
    series: Mapping[str, Pairs]
    x_log: bool = False
    y_log: bool = False
    marked: bool = False

    @property
    def legend(self) -> tuple[Key, ...]:
        """One entry per series."""
        return tuple(Key(series(place), name) for place, name in enumerate(self.series))

    @property
    def svg(self) -> Markup:
        """The drawing for a page that has the colours and the legend."""
        points = [point for each in self.series.values() for point in each]
        x = Axis.over(self.x_name, [x for x, _ in points], log=self.x_log)
        y = Axis.over(self.y_name, [y for _, y in points], log=self.y_log)
        lines = [
            Line(each, series(place), marked=self.marked)
            for place, each in enumerate(self.series.values())
        ]
        return drawing(self.title, WIDTH, HEIGHT, Panel(x, y, lines).draw())


@dataclass(frozen=True)
class BoxPlot(Chart):
    """Box plots: minimum, quartiles and maximum of each group, side by side within a name.

    Examples
    --------
    >>> plot = BoxPlot("F1", "F1", {"SVM": {"paper": [1.0, 2.0, 3.0], "ours": [2.0, 2.5, 4.0]}})
    >>> [key.name for key in plot.legend], plot.svg.count("<rect")
    (['paper', 'ours'], 2)
    """

    title: str
    y_name: str
    groups: Mapping[str, Mapping[str, Sequence[float]]]

    @property
    def legend(self) -> tuple[Key, ...]:
        """One entry per kind of group."""
        return tuple(Key(series(place), name) for place, name in enumerate(self._names))

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys(name for group in self.groups.values() for name in group))

    @property
    def svg(self) -> Markup:
        """The drawing for a page that has the colours and the legend."""
        values = [v for group in self.groups.values() for part in group.values() for v in part]
        frame = Frame()
        panel = Panel(Axis.unit(""), Axis.over(self.y_name, values), [], frame, x_shown=False)
        step = (frame.right - frame.left) / max(len(self.groups), 1)
        width = 0.7 * step / max(len(self._names), 1)
        boxes, labels = [], []
        for place, (name, group) in enumerate(self.groups.items()):
            middle = frame.left + (place + 0.5) * step
            labels.append(
                tag(
                    "text",
                    name,
                    class_="small",
                    x=middle,
                    y=frame.bottom + 17,
                    text_anchor="middle",
                )
            )
            for part, numbers in group.items():
                number = self._names.index(part)
                left = middle + (number - len(self._names) / 2) * width + 0.1 * width
                boxes.append(
                    _box(numbers, panel, left, 0.8 * width, f"series {series(number)}")
                )
        return drawing(self.title, WIDTH, HEIGHT, panel.draw(), boxes, labels)


@dataclass(frozen=True)
class Diagram(Chart):
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
    def svg(self) -> Markup:
        """The drawing for a page that has the colours."""
        plates = [_plate(text, *frame) for text, frame in self.plates.items()]
        arrows = [_arrow(self.nodes[a], self.nodes[b]) for a, b in self.arrows]
        nodes = [_node(name, *centre) for name, centre in self.nodes.items()]
        return drawing(self.title, WIDTH, HEIGHT, plates, arrows, nodes)


def _box(
    numbers: Sequence[float], panel: Panel, left: float, width: float, style: str
) -> Markup:
    low, bottom, line, top, high = (
        panel.at_y(_quantile(sorted(numbers), share)) for share in (0, 0.25, 0.5, 0.75, 1)
    )
    start, end, middle = f"{left:.1f}", f"{left + width:.1f}", round(left + width / 2, 1)
    return join(
        (
            tag("line", class_=style, x1=middle, y1=a, x2=middle, y2=b)
            for a, b in ((low, bottom), (top, high))
        ),
        tag(
            "rect",
            class_=style,
            x=start,
            y=top,
            width=f"{width:.1f}",
            height=f"{bottom - top:.1f}",
        ),
        tag("line", class_=style, x1=start, y1=line, x2=end, y2=line),
    )


def _quantile(numbers: Sequence[float], share: float) -> float:
    place = share * (len(numbers) - 1)
    below = int(place)
    above = min(below + 1, len(numbers) - 1)
    return numbers[below] + (place - below) * (numbers[above] - numbers[below])


def _plate(text: str, left: float, top: float, width: float, height: float) -> Markup:
    frame = tag(
        "rect", class_="series series-6", x=left, y=top, width=width, height=height, rx=8
    )
    return join(
        frame,
        tag(
            "text",
            text,
            class_="faint",
            x=left + width - 8,
            y=top + height - 8,
            text_anchor="end",
        ),
    )


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> Markup:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = (dx * dx + dy * dy) ** 0.5
    ux, uy = dx / length, dy / length
    first = (start[0] + _NODE * ux, start[1] + _NODE * uy)
    tip = (end[0] - _NODE * ux, end[1] - _NODE * uy)
    wings = [(tip[0] - 8 * ux + s * 4 * uy, tip[1] - 8 * uy - s * 4 * ux) for s in (1, -1)]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in (first, tip))
    head = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in (wings[0], tip, wings[1]))
    return tag("path", class_="series series-1", d=path + head)


def _node(name: str, x: float, y: float) -> Markup:
    observed = name.endswith("*")
    circle = tag("circle", class_="bar" if observed else "ring series-1", cx=x, cy=y, r=_NODE)
    style = "on-bar" if observed else None
    return join(
        circle,
        tag("text", name.rstrip("*"), class_=style, x=x, y=y + 4.5, text_anchor="middle"),
    )
