"""The report of a simulated filter: the tables of strategies, and their curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bayesift.filtering.simulation import Simulation
from bayesift.filtering.tables import recall_curve, table_five, table_four, terms_curve
from bayesift.report.content import Fact
from bayesift.report.html import Markup, element, join
from bayesift.report.page import Section, page

_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 348.0, 10.0, 282.0
_TICKS = 5


def filter_report(simulation: Simulation) -> str:
    """One self-contained HTML page of a simulation.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from bayesift.filtering import TopicRun
    >>> run = TopicRun("grain", 2, np.array([1]), np.array([0]), np.array([True]), np.array([9]), 8)
    >>> truth = sparse.csr_array([[0], [1], [1]])
    >>> text = filter_report(Simulation("small", truth, ("grain",), 5, runs={"plain": [run]}))
    >>> "Mean T9P" in text, text.count('class="chart"')
    (True, 2)
    """
    facts = [
        Fact("documents of the batch phase", f"{simulation.n_batch:,}"),
        Fact("documents of the stream", f"{simulation.n_stream:,}"),
        Fact("topics", f"{len(simulation.topics):,}"),
        Fact("target of T9P", f"{simulation.target:,}"),
    ]
    recalls = {name: [float(y) for y in recall_curve(simulation, name)[1]] for name in simulation.runs}
    terms = {name: terms_curve(runs).tolist() for name, runs in simulation.runs.items()}
    longest = float(max(len(curve) for curve in terms.values()) - 1)
    sections = [
        Section("strategies", "Strategies", _table(table_four(simulation))),
        Section("why", "Why documents were retrieved", _table(table_five(simulation), labels=2)),
        Section("recall", "Recall as the stream goes by", _chart("share of the stream", "mean recall", recalls, 1.0)),
        Section("words", "Words over relevant documents", _chart("relevant documents", "words", terms, longest)),
    ]
    return page(f"Filtering {simulation.name}", facts, sections)


def _table(rows: Sequence[Sequence[str]], labels: int = 1) -> Markup:
    head = element(
        "tr",
        (element("th", name, scope="col") for name in rows[0][:labels]),
        (element("th", name, scope="col", class_="numeric") for name in rows[0][labels:]),
    )
    body = (
        element(
            "tr",
            (element("th", cell, scope="row") for cell in row[:labels]),
            (element("td", cell, class_="numeric") for cell in row[labels:]),
        )
        for row in rows[1:]
    )
    table = element("table", element("thead", head), element("tbody", body), class_="systems")
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label="numbers")


def _chart(x_name: str, y_name: str, curves: Mapping[str, Sequence[float]], x_end: float) -> Markup:
    """Curves over equally spaced points from 0 on, with a legend in HTML."""
    top, right = _round_end(max((max(curve) for curve in curves.values()), default=1.0)), _round_end(x_end)
    step = x_end / max(max(len(curve) for curve in curves.values()) - 1, 1)
    lines = [
        element("path", class_=f"series series-{place}", d=_path(curve, step / right, top))
        for place, curve in enumerate(curves.values(), 1)
    ]
    svg = element(
        "svg",
        element("title", f"{y_name} against {x_name}"),
        _frame(x_name, y_name, right, top),
        lines,
        viewBox="0 0 370 326",
        role="img",
        class_="chart",
    )
    return join(svg, element("ul", (_key(place, name) for place, name in enumerate(curves, 1)), class_="legend"))


def _key(place: int, name: str) -> Markup:
    line = element("line", class_=f"series-{place}", x1=0, y1=6, x2=36, y2=6)
    return element("li", element("svg", line, viewBox="0 0 36 12", aria_hidden="true"), name)


def _round_end(value: float) -> float:
    """Where an axis ends whose ticks are round numbers."""
    if value <= 0:
        return 1.0
    scale = 10.0 ** math.floor(math.log10(value / _TICKS))
    return next(_TICKS * scale * step for step in (1, 2, 5, 10) if _TICKS * scale * step >= value * (1 - 1e-9))


def _path(curve: Sequence[float], step: float, highest: float) -> str:
    width, height = (_RIGHT - _LEFT) * step, (_BOTTOM - _TOP) / highest
    return "M" + "L".join(f"{_LEFT + i * width:.1f} {_BOTTOM - y * height:.1f}" for i, y in enumerate(curve))


def _frame(x_name: str, y_name: str, x_end: float, y_end: float) -> Markup:
    parts = []
    for tick in range(_TICKS + 1):
        share = tick / _TICKS
        x, y = _LEFT + (_RIGHT - _LEFT) * share, _BOTTOM - (_BOTTOM - _TOP) * share
        parts += [
            element("line", class_="grid", x1=x, y1=_BOTTOM, x2=x, y2=_TOP),
            element("line", class_="grid", x1=_LEFT, y1=y, x2=_RIGHT, y2=y),
            element("text", f"{share * x_end:.3g}", x=x, y=_BOTTOM + 17, text_anchor="middle"),
            element("text", f"{share * y_end:.3g}", x=_LEFT - 7, y=y + 4, text_anchor="end"),
        ]
    middle = (_TOP + _BOTTOM) / 2
    turned = f"rotate(-90 13 {middle})"
    upright = element("text", y_name, class_="axis", x=13, y=middle, text_anchor="middle", transform=turned)
    flat = element("text", x_name, class_="axis", x=(_LEFT + _RIGHT) / 2, y=_BOTTOM + 37, text_anchor="middle")
    return join(parts, upright, flat)
