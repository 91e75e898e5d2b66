"""The report of several systems measured on the same documents."""

from __future__ import annotations

from collections.abc import Sequence

from bayesift.report.bars import score_bar
from bayesift.report.content import ComparisonContent, Measure, System
from bayesift.report.html import Markup, element, join, name_of
from bayesift.report.numbers import score
from bayesift.report.page import Section, page


def comparison_report(content: ComparisonContent) -> str:
    """One self-contained HTML page: scores, bars, and which differences are more than luck.

    Examples
    --------
    >>> from bayesift.report import Measure, System
    >>> systems = [System(name, (Measure("micro F1", f1, "Pooled."),)) for name, f1 in (("a", 0.8), ("b", 0.7))]
    >>> symbols = ((("", ""), (">>", "~")), (("<<", "~"), ("", "")))
    >>> text = comparison_report(ComparisonContent("Two", (), tuple(systems), symbols))
    >>> "&gt;&gt;" in text, text.count("score-bar") > 1
    (True, True)
    """
    sections = [_scores(content.systems), _bars(content.systems)]
    if content.symbols:
        sections.append(_significance(content))
    return page(content.title, content.facts, sections)


def _scores(systems: Sequence[System]) -> Section:
    """A row a measure, a column a system; the best of each row is bold."""
    table = element(
        "table",
        element("thead", _heads("measure", systems, "numeric")),
        element("tbody", (_score_row(systems, j) for j in range(len(systems[0].measures)))),
        class_="systems",
    )
    falling = ", ".join(measure.name for measure in systems[0].measures if not measure.rising)
    note = "The best of each row is bold." + (f" Of {falling}, less is better." if falling else "")
    body = join(element("p", note, class_="soft"), _scrolling(table, "scores"), _meanings(systems[0].measures))
    return Section("scores", "Scores", body)


def _score_row(systems: Sequence[System], j: int) -> Markup:
    measure, best = systems[0].measures[j], _best(systems, j)
    values = [system.measures[j].value for system in systems]
    cells = (element("td", score(value), class_="numeric best" if value == best else "numeric") for value in values)
    return element("tr", element("th", measure.name, scope="row", title=measure.meaning), cells)


def _best(systems: Sequence[System], j: int) -> float | None:
    values = [value for system in systems if (value := system.measures[j].value) is not None]
    if len(systems) < 2 or not values:
        return None
    return max(values) if systems[0].measures[j].rising else min(values)


def _heads(corner: str, systems: Sequence[System], kind: str) -> Markup:
    names = (element("th", name_of(system.name), scope="col", class_=kind) for system in systems)
    return element("tr", element("th", corner, scope="col"), names)


def _scrolling(table: Markup, name: str) -> Markup:
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=name)


def _meanings(measures: Sequence[Measure]) -> Markup:
    entries = (
        (element("dt", measure.name), element("dd", measure.meaning, "" if measure.rising else " Less is better."))
        for measure in measures
    )
    return element("details", element("summary", "What these numbers mean"), element("dl", entries, class_="facts"))


def _bars(systems: Sequence[System]) -> Section:
    """A group of bars for each headline measure."""
    groups = (
        element(
            "div",
            element("h3", measure.name),
            element("table", element("tbody", (_bar(system, j) for system in systems))),
        )
        for j, measure in enumerate(systems[0].measures)
        if measure.headline
    )
    return Section(
        "bars",
        "Side by side",
        join(
            element("div", groups, class_="charts"),
        ),
    )


def _bar(system: System, j: int) -> Markup:
    value = system.measures[j].value
    return element(
        "tr",
        element("th", name_of(system.name), scope="row"),
        element("td", score_bar(value) if value is not None else None, class_="bar-cell"),
        element("td", score(value), class_="numeric"),
    )


def _significance(content: ComparisonContent) -> Section:
    rows = (
        element("tr", element("th", name_of(system.name), scope="row"), (_symbols(cell) for cell in cells))
        for system, cells in zip(content.systems, content.symbols, strict=True)
    )
    note = (
        "Each cell compares the system of its row with that of its column, first over all decisions (micro sign test), "
        "then over the F1 of categories (macro sign test). “>>” is better with P at most 0.01, “>” with P at most "
        "0.05, “~” no difference beyond luck; “<” and “<<” are worse."
    )
    heads = _heads("system", content.systems, "symbol")
    table = element("table", element("thead", heads), element("tbody", rows), class_="systems")
    further = element("p", content.note, class_="soft") if content.note else None
    body = join(element("p", note, class_="soft"), _scrolling(table, "significance"), further)
    return Section("significance", "Which differences are more than luck", body)


def _symbols(cell: tuple[str, str]) -> Markup:
    return element("td", " / ".join(cell) if any(cell) else "", class_="symbol")
