"""Pages: one self-contained HTML file each, made by templates that escape whatever they show.

A page loads nothing, and its policy forbids it to; only its own script, named by its digest, may
run.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from bayesift.charts import Chart
from bayesift.charts.svg import chart_css, clean, shortened
from bayesift.evaluation import precision_recall_plot, reliability_diagram
from bayesift.filtering import (
    Simulation,
    Strategy,
    reading_figure,
    recall_figure,
    table_five,
    table_four,
    terms_figure,
    theta_figure,
)
from bayesift.report.content import ComparisonContent, EvaluationContent, Fact

_BREAKS = re.compile(r"(?<=[._/@:-])(?=\w)")
_READING_ORDER = (
    "WSS@95 and ATD follow the order of reading: first the retrieved documents as they came, "
    "then the others, the most "
    "probable first by the profile at the end of the stream."
)


@dataclass(frozen=True)
class Section:
    """A part of a page that the list of contents names.

    The template, one of the report by its name or of `section_template`, shows `section.content`,
    charts, or a table of rows whose first `labels` columns are names.
    """

    id: str
    heading: str
    template: str | Template
    content: Any = None
    charts: Sequence[Chart] = ()
    rows: Sequence[Sequence[str]] = ()
    labels: int = 1
    note: str = ""


def evaluation_report(content: EvaluationContent) -> str:
    """Write the report of one evaluated model; empty sections are left out.

    Examples
    --------
    >>> from bayesift.report import EvaluationContent, Measure
    >>> text = evaluation_report(EvaluationContent("Spam", (),
    ...     (Measure("accuracy", 0.98, "Correct."),), ()))
    >>> "<h1><bdi>Spam</bdi></h1>" in text, "Confusion" in text
    (True, False)
    """
    charts: list[Chart] = []
    if content.curves:
        charts.append(precision_recall_plot(content.curves, decided=content.decided))
    if content.reliability:
        charts.append(reliability_diagram(content.reliability))
    sections = [
        (content.measures, Section("scores", "Scores", "scores.html")),
        (content.categories, Section("categories", "Categories", "categories.html")),
        (charts, Section("curves", "Curves", "charts.html", charts=charts)),
        (content.confusion, Section("confusion", "Confusion matrix", "confusion.html")),
        (content.words, Section("words", "Most informative words", "words.html")),
        (content.mistakes, Section("mistakes", "Worst mistakes", "mistakes.html")),
    ]
    return render_page(
        content.title, content.facts, [section for shown, section in sections if shown], content
    )


def comparison_report(content: ComparisonContent) -> str:
    """Write the report of several systems: scores, bars and significant differences."""
    sections = [
        Section("scores", "Scores", "systems.html"),
        Section("bars", "Side by side", "bars.html"),
    ]
    if content.symbols:
        sections.append(
            Section("significance", "Significance of the differences", "significance.html")
        )
    return render_page(content.title, content.facts, sections, content)


def filter_report(simulation: Simulation) -> str:
    """Write the report of a simulated filter: tables of strategies, and their curves.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from bayesift.filtering import TopicRun
    >>> places = np.array([1, 3])
    >>> run = TopicRun("grain", 2, np.array([1]), np.array([0]), np.array([True]), np.array([9]),
    ...     8, places)
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
    theta = theta_figure(Strategy(query="gain", target=simulation.target))
    figures = [
        recall_figure(simulation),
        reading_figure(simulation),
        terms_figure(simulation),
        theta,
    ]
    sections = [
        Section(
            "strategies",
            "Strategies",
            "table.html",
            rows=table_four(simulation),
            note=_READING_ORDER,
        ),
        Section(
            "why",
            "Why documents were retrieved",
            "table.html",
            rows=table_five(simulation),
            labels=2,
        ),
        Section("curves", "Curves", "charts.html", charts=figures),
    ]
    return render_page(f"Filtering {simulation.name}", facts, sections)


def render_page(
    title: str, facts: Sequence[Fact], sections: Sequence[Section], content: Any = None
) -> str:
    """Render a whole HTML document; sections see `content` and their `section`."""
    return (
        _environment()
        .get_template("page.html")
        .render(title=title, facts=facts, sections=sections, content=content)
    )


def section_template(source: str) -> Template:
    """Return the template of a section that may import the macros of the report."""
    return _environment().from_string(source)


def score(value: float | None, digits: int = 3) -> str:
    """Return a measure, or a dash without one."""
    return "\N{EN DASH}" if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


def signed(value: float) -> str:
    """Return a contribution with its sign."""
    return f"{value:+.1f}".replace("-", "\N{MINUS SIGN}")


def certainty(probability: float) -> str:
    """Format the probability of a decision; rounding makes none certain."""
    if probability > 0.9999:
        return "over 99.99%"
    return f"{probability:.2%}" if probability > 0.999 else f"{probability:.1%}"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bayesift.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: clean(value) if type(value) is str else value,
    )
    environment.filters |= {
        "score": score,
        "signed": signed,
        "certainty": certainty,
        "short": shortened,
    }
    environment.filters["parts"] = lambda name: _BREAKS.split(shortened(name))
    page_css, script = (_own_file(environment, name) for name in ("page.css", "page.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    environment.globals |= {
        "style": Markup(chart_css() + page_css),  # noqa: S704  files of this package
        "script": script,
        "policy": f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'",
    }
    return environment


def _own_file(environment: Environment, name: str) -> Markup:
    assert environment.loader is not None
    return Markup(environment.loader.get_source(environment, name)[0])  # noqa: S704  a file of this package
