"""The report of a simulated filter: the tables of strategies, and their curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bayesift.filtering.simulation import Simulation
from bayesift.filtering.tables import reading_curve, recall_curve, table_five, table_four, terms_curve, theta_curve
from bayesift.report.content import Fact
from bayesift.report.curves import LinePlot, plot_figure
from bayesift.report.html import Markup, element, join
from bayesift.report.page import Section, page

_READING = (
    "WSS@95 and ATD are of the order of reading: retrieved documents as they came, then those that were passed over, "
    "the most probable first by the profile as it is at the end of the stream."
)


def filter_report(simulation: Simulation) -> str:
    """One self-contained HTML page of a simulation.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from bayesift.filtering import TopicRun
    >>> places = np.array([1, 3])
    >>> run = TopicRun("grain", 2, np.array([1]), np.array([0]), np.array([True]), np.array([9]), 8, places)
    >>> truth = sparse.csr_array([[0], [1], [1]])
    >>> text = filter_report(Simulation("small", truth, ("grain",), 5, runs={"plain": [run]}))
    >>> "Mean T9P" in text, text.count('class="chart"')
    (True, 4)
    """
    facts = [
        Fact("documents of the batch phase", f"{simulation.n_batch:,}"),
        Fact("documents of the stream", f"{simulation.n_stream:,}"),
        Fact("topics", f"{len(simulation.topics):,}"),
        Fact("target of T9P", f"{simulation.target:,}"),
    ]
    sections = [
        Section("strategies", "Strategies", join(_table(table_four(simulation)), _note(_READING))),
        Section("why", "Why documents were retrieved", _table(table_five(simulation), labels=2)),
        *_curves(simulation),
    ]
    return page(f"Filtering {simulation.name}", facts, sections)


def _curves(simulation: Simulation) -> Iterator[Section]:
    """Recall by time and by reading, and the paper's figures 2 and 1."""
    recalls = {name: recall_curve(simulation, name)[1].tolist() for name in simulation.runs}
    yield Section("recall", "Recall as the stream goes by", _chart("share of the stream", "mean recall", recalls, 1.0))
    read = {name: reading_curve(simulation, name)[1].tolist() for name in simulation.runs}
    chart = _chart("share of documents read", "mean recall", read, 1.0)
    yield Section("reading", "Recall as documents are read", join(chart, _note(_READING)))
    terms = {name: terms_curve(runs).tolist() for name, runs in simulation.runs.items()}
    longest = float(max(len(curve) for curve in terms.values()) - 1)
    yield Section("words", "Words over relevant documents", _chart("relevant documents", "words", terms, longest))
    theta = {"theta": theta_curve(simulation).tolist()}
    chart = _chart("documents retrieved", "theta (bits)", theta, 2.0 * simulation.target)
    yield Section("theta", "Information gain from which +ig asks", chart)


def _note(text: str) -> Markup:
    return element("p", text, class_="soft")


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
    """Curves over equally spaced points from 0 on."""
    longest = max(len(curve) for curve in curves.values())
    step = (x_end or 1.0) / max(longest - 1, 1)
    series = {name: [(i * step, value) for i, value in enumerate(curve)] for name, curve in curves.items()}
    return plot_figure(LinePlot(f"{y_name} against {x_name}", x_name, y_name, series))
