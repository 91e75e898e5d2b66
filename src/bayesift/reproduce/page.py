"""Findings as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence

from bayesift.report.content import Fact
from bayesift.report.curves import plot_figure
from bayesift.report.html import Markup, element, join
from bayesift.report.page import Section, page
from bayesift.reproduce.findings import Finding, flag_counts
from bayesift.reproduce.layout import Layout, Shown, lay_out, others_table
from bayesift.reproduce.printed import paper
from bayesift.reproduce.run import Reproduction

_LEGEND = (
    "Large: ours. Below it the paper's value, the difference, and the 95% bootstrap interval of ours over test "
    "documents. ≠: the printed value is outside the interval; °: not comparable; –: missing; the number leads to the "
    "note below the table."
)
_CLASSES = {"≠": "numeric differs", "–": "numeric soft"}


def findings_page(made: Reproduction, *, command: str, date: str) -> str:
    """One HTML document of all findings."""
    facts = [Fact("measured on", date), Fact("by", command)]
    if made.extent.quick:
        facts.append(Fact("quick", "on a sample of the documents: nothing here can be compared with the papers"))
    facts += [Fact(f"cells: {kind}", f"{count:,}") for kind, count in flag_counts(made.findings).items() if count]
    sections = [_section(finding) for finding in made.findings]
    return page("Tables and figures, paper beside ours", facts, sections)


def _section(finding: Finding) -> Section:
    printed, layout = finding.printed, lay_out(finding)
    said = " ".join(filter(None, [printed.caption, f"Ours: {printed.corpus}." if printed.corpus else ""]))
    parts = [
        element("p", paper(finding.name.partition(":")[0]).reference, class_="soft"),
        element("h3", printed.title),
        element("p", said) if said else None,
        element("ul", (element("li", choice) for choice in printed.choices)) if printed.choices else None,
        _table(finding, layout) if layout.rows else None,
        element("ol", (element("li", note) for note in layout.notes), class_="soft") if layout.notes else None,
        _others(finding) if finding.others else None,
        element("div", (plot_figure(plot) for plot in finding.plots), class_="charts") if finding.plots else None,
        [element("p", f"The picture is missing: {reason}.") for reason in finding.missing_plots],
    ]
    return Section(finding.name.replace(":", "-"), finding.name, join(parts))


def _table(finding: Finding, layout: Layout) -> Markup:
    extra = ["training time"] if finding.ratios else []
    head = element("tr", (element("th", name, scope="col", class_="numeric") for name in ("", *layout.columns, *extra)))
    body = []
    for row, cells in layout.rows:
        times = (
            [element("td", f"{finding.ratios[row]:.2g}x" if row in finding.ratios else "", class_="numeric")]
            if extra
            else []
        )
        body.append(element("tr", element("th", row, scope="row"), (_cell(cell) for cell in cells), times))
    table = element("table", element("thead", head), element("tbody", body), class_="systems")
    return join(element("p", _LEGEND, class_="soft"), _scrolling(table, finding.printed.measure or "values"))


def _cell(shown: Shown | None) -> Markup:
    if shown is None:
        return element("td")
    mark = element("sup", f"{shown.mark}{shown.note or ''}") if shown.mark else None
    under = " ".join(filter(None, [shown.paper, shown.difference, shown.interval and f"[{shown.interval}]"]))
    small = element("div", under, class_="soft") if under else None
    return element("td", shown.ours, mark, small, class_=_CLASSES.get(shown.mark, "numeric"))


def _others(finding: Finding) -> Markup:
    heading, *rows = others_table(finding.others)
    head = element("tr", (element("th", name, scope="col") for name in heading))
    body = (
        element("tr", _labels(row[:2]), (element("td", cell, class_="numeric") for cell in row[2:])) for row in rows
    )
    table = element("table", element("thead", head), element("tbody", body), class_="systems")
    return element("details", element("summary", "What other readings give"), _scrolling(table, "other readings"))


def _labels(names: Sequence[str]) -> list[Markup]:
    return [element("th", name, scope="row") for name in names]


def _scrolling(table: Markup, name: str) -> Markup:
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=name)
