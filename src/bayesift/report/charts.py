"""Curves as SVG, drawn for a width of 360 pixels so that their letters are legible on a phone.

Colours come from the classes of `page.css`; every text inside is a number or ours, names stand in HTML beside.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from bayesift.report.content import Curve, ReliabilityBin
from bayesift.report.html import Markup, element, join, shortened
from bayesift.report.numbers import compact, percent, score

_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 318.0, 10.0, 282.0
_WIDTH, _HEIGHT = 360, 326
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_COUNTS_TOP, _COUNTS_BOTTOM = 348.0, 410.0
N_SERIES = 6


def precision_recall_chart(curves: Sequence[Curve]) -> Markup:
    """Precision against recall over contours of equal F1, at most six curves; a ring marks the decisions.

    Examples
    --------
    >>> chart = precision_recall_chart([Curve("corn", (0.5, 1.0), (1.0, 0.67), 0.83, decided=(0.5, 1.0))])
    >>> "average precision 0.830" in chart, chart.count("<path")
    (True, 5)
    """
    shown = curves[:N_SERIES]
    told = "; ".join(f"{shortened(curve.name)}: average precision {score(curve.average_precision)}" for curve in shown)
    # The first curve is drawn last, on top of the others.
    series = [_steps(curve, i) for i, curve in enumerate(shown, 1)][::-1]
    rings = [_ring(curve, i) for i, curve in enumerate(shown, 1)][::-1]
    return _svg("Precision against recall", told, _HEIGHT, _frame("recall", "precision"), _contours(), series, rings)


def reliability_chart(bins: Sequence[ReliabilityBin], *, n_slots: int = 10) -> Markup:
    """Share that came true against probability with intervals, above the number of forecasts (log scale).

    Parameters
    ----------
    bins : in the order of their probability
    n_slots : into how many bins of equal width the probabilities were parted

    Examples
    --------
    >>> chart = reliability_chart([ReliabilityBin(0.15, 0.2, 0.1, 0.3, 40), ReliabilityBin(0.8, 0.7, 0.6, 0.8, 1500)])
    >>> ">1.5k<" in chart, chart.count("<circle")
    (True, 2)
    """
    told = "; ".join(
        f"of {bin_.forecasts:,} forecasts of about {percent(bin_.probability)}, {percent(bin_.share)} came true"
        for bin_ in bins
    )
    diagonal = element("line", class_="ideal", x1=_x(0), y1=_y(0), x2=_x(1), y2=_y(1))
    line = element("path", class_="series series-1", d=_path((_x(b.probability), _y(b.share)) for b in bins))
    return _svg(
        "Share that came true against probability",
        told,
        452,
        _frame("", "share that came true"),
        diagonal,
        [_interval(bin_) for bin_ in bins],
        line,
        [element("circle", class_="point", cx=_x(b.probability), cy=_y(b.share), r=4) for b in bins],
        _histogram(bins, n_slots),
    )


def _svg(title: str, description: str, height: int, *children: Markup | Iterable[Markup | None] | None) -> Markup:
    return element(
        "svg",
        element("title", title),
        element("desc", description),
        *children,
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        class_="chart",
    )


def _x(value: float) -> float:
    return round(_LEFT + (_RIGHT - _LEFT) * value, 1)


def _y(value: float) -> float:
    return round(_BOTTOM - (_BOTTOM - _TOP) * value, 1)


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _frame(x_name: str, y_name: str) -> Markup:
    """Grid, numbers and names of the unit square."""
    grid, numbers = [], []
    for tick in _TICKS:
        grid.append(element("line", class_="grid", x1=_x(tick), y1=_y(0), x2=_x(tick), y2=_y(1)))
        grid.append(element("line", class_="grid", x1=_x(0), y1=_y(tick), x2=_x(1), y2=_y(tick)))
        numbers.append(element("text", f"{tick:.1f}", x=_x(tick), y=_BOTTOM + 17, text_anchor="middle"))
        numbers.append(element("text", f"{tick:.1f}", x=_LEFT - 7, y=_y(tick) + 4, text_anchor="end"))
    middle = (_TOP + _BOTTOM) / 2
    upright = element(
        "text", y_name, class_="axis", x=13, y=middle, text_anchor="middle", transform=f"rotate(-90 13 {middle})"
    )
    flat = element("text", x_name, class_="axis", x=_x(0.5), y=_BOTTOM + 37, text_anchor="middle") if x_name else None
    return join(grid, numbers, upright, flat)


def _contours() -> Markup:
    """Lines of equal F1: P = F R / (2 R - F)."""
    lines = []
    for f1 in (0.2, 0.4, 0.6, 0.8):
        lowest = f1 / (2 - f1)
        recalls = [lowest + (1 - lowest) * i / 40 for i in range(41)]
        points = ((_x(recall), _y(min(1.0, f1 * recall / (2 * recall - f1)))) for recall in recalls)
        lines.append(element("path", class_="contour", d=_path(points)))
        lines.append(element("text", f"F1 {f1:.1f}", class_="faint", x=_RIGHT + 5, y=_y(lowest) + 4))
    return join(lines)


def _steps(curve: Curve, number: int) -> Markup | None:
    """A curve as steps: the precision of a cut holds back to the recall of the cut before."""
    points: list[tuple[float, float]] = []
    reached = 0.0
    for recall, precision in zip(curve.recall, curve.precision, strict=True):
        points += [(_x(reached), _y(precision)), (_x(recall), _y(precision))]
        reached = recall
    return element("path", class_=f"series series-{number}", d=_path(points)) if points else None


def _ring(curve: Curve, number: int) -> Markup | None:
    if curve.decided is None:
        return None
    recall, precision = curve.decided
    return element("circle", class_=f"ring series-{number}", cx=_x(recall), cy=_y(precision), r=5)


def _interval(bin_: ReliabilityBin) -> Markup:
    x = _x(bin_.probability)
    return join(
        element("line", class_="interval", x1=x, y1=_y(bin_.lower), x2=x, y2=_y(bin_.upper)),
        (
            element("line", class_="interval", x1=x - 4, y1=_y(end), x2=x + 4, y2=_y(end))
            for end in (bin_.lower, bin_.upper)
        ),
    )


def _histogram(bins: Sequence[ReliabilityBin], n_slots: int) -> Markup:
    """How many forecasts each bin holds, as bars on a log scale with their numbers."""
    highest = math.log10(1 + max((1, *(bin_.forecasts for bin_ in bins))))
    step = (_RIGHT - _LEFT) / n_slots
    bars = []
    for bin_ in bins:
        slot = min(int(bin_.probability * n_slots), n_slots - 1)
        height = (_COUNTS_BOTTOM - _COUNTS_TOP) * math.log10(1 + bin_.forecasts) / highest
        left, top = _LEFT + slot * step, _COUNTS_BOTTOM - height
        bars.append(
            element("rect", class_="bar", x=f"{left + 2:.1f}", y=f"{top:.1f}", width=step - 4, height=f"{height:.1f}")
        )
        number = compact(bin_.forecasts)
        bars.append(
            element(
                "text", number, class_="small", x=f"{left + step / 2:.1f}", y=f"{top - 4:.1f}", text_anchor="middle"
            )
        )
    base = element("line", class_="grid", x1=_LEFT, y1=_COUNTS_BOTTOM, x2=_RIGHT, y2=_COUNTS_BOTTOM)
    name = element(
        "text", "probability, and number of forecasts", class_="axis", x=_x(0.5), y=434, text_anchor="middle"
    )
    return join(base, bars, name)
