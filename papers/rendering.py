"""Findings as rows of text, the one layout of terminal, Markdown and HTML.

And as a page of Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bayesift.evaluation import Estimate
from bayesift.files import whole_file
from papers.experiment import Plot, experiments
from papers.findings import Cell, Finding, OtherReading, flag_counts
from papers.printed import paper
from papers.running import Reproduction

MARKS = {
    "agrees": "",
    "explained": "≈",
    "partly explained": "◐",
    "not explained": "≠",
    "not comparable": "°",
    "ours alone": "",
    "missing": "–",
}
MEANINGS = (
    "≠: the printed value is outside the interval, and no other reading explains it; "
    "≈: with another reading of what the paper leaves open, named below the table, it is inside; "
    "◐: that reading moves our value at least half of the way; °: not comparable; –: missing; the "
    "number leads to the note below the table."
)
LEGEND = (
    "A cell is *paper → ours (difference) [95% bootstrap interval of ours over test documents]*; "
    f"a cell with one number is ours alone. {MEANINGS}\n\n"
    "All cells of a system are judged by one other reading, the one that explains most of them. It "
    "was chosen by the printed values: it shows what the paper may have done, not what it did."
)
_COUNTED = ("agrees", "explained", "partly explained", "not explained")


@dataclass(frozen=True)
class CellText:
    """A cell as text.

    Parameters
    ----------
    paper, ours, difference, interval : empty where there is none
    mark : shows its flag
    note : number of its note, 0 for none
    """

    paper: str = ""
    ours: str = ""
    difference: str = ""
    interval: str = ""
    mark: str = ""
    note: int = 0

    @property
    def line(self) -> str:
        """The cell in one line."""
        change = f" ({self.difference})" if self.difference else ""
        interval = f" [{self.interval}]" if self.interval else ""
        mark = f" {self.mark}{self.note or ''}" if self.mark else ""
        return (
            f"{self.paper} → {self.ours}{change}{interval}{mark}"
            if self.paper
            else f"{self.ours}{interval}{mark}"
        )


@dataclass(frozen=True)
class Layout:
    """Column headings, rows of labels and cells (or None), and notes numbered from 1."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[CellText | None, ...]], ...]
    notes: tuple[str, ...]


def lay_out(finding: Finding) -> Layout:
    """Rows and columns in the order of the cells, with numbered notes."""
    columns = tuple(dict.fromkeys(cell.column for cell in finding.cells))
    rows = tuple(dict.fromkeys(cell.row for cell in finding.cells))
    notes = list(dict.fromkeys(cell.note for cell in finding.cells if cell.note))
    texts = {
        (c.row, c.column): _text(c, finding.printed.decimals(c.row, c.column), notes)
        for c in finding.cells
    }
    lines = tuple((row, tuple(texts.get((row, column)) for column in columns)) for row in rows)
    return Layout(columns, lines, tuple(notes))


def _text(cell: Cell, decimals: int, notes: list[str]) -> CellText:
    difference = cell.difference
    interval = (
        ""
        if cell.lower is None
        else f"{_number(cell.lower, decimals)} to {_number(cell.upper, decimals)}"
    )
    return CellText(
        _number(cell.paper, decimals),
        _number(cell.ours, decimals),
        "" if difference is None else f"{difference:+,.{decimals}f}",
        interval,
        MARKS[cell.flag],
        notes.index(cell.note) + 1 if cell.note else 0,
    )


def _number(value: float | str | None, decimals: int) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,.{decimals}f}"


def others_table(others: Sequence[OtherReading]) -> list[list[str]]:
    """Other readings as a heading and rows of text."""
    measures = list(dict.fromkeys(name for other in others for name in other.values))
    if all(name.isdigit() for name in measures):
        measures.sort(key=int)
    rows = [["", "what is done", *measures]]
    for other in others:
        values = [
            _measured(other.values[name]) if name in other.values else "" for name in measures
        ]
        rows.append([other.subject, other.choice, *values])
    return rows


def _measured(value: Estimate | str) -> str:
    if isinstance(value, str):
        return value
    return (
        f"{value.value:,}"
        if float(value.value).is_integer() and value.lower is None
        else f"{value.value:.2f}"
    )


def readings_used(finding: Finding) -> list[str]:
    """Return which reading explains which cells, one sentence per reading."""
    cells: dict[str, dict[str, list[str]]] = {}
    for cell in finding.cells:
        if cell.reading:
            of_reading = cells.setdefault(cell.reading, {})
            of_reading.setdefault(cell.column, []).append(f"{cell.row} {MARKS[cell.flag]}")
    return [
        f"{reading}: "
        + "; ".join(f"{column} ({', '.join(rows)})" for column, rows in columns.items())
        for reading, columns in cells.items()
    ]


def times_column(finding: Finding) -> dict[str, str]:
    """Relative training times by row; empty where none are measured."""
    return {row: f"{ratio:.2g}x" for row, ratio in finding.ratios.items()}


def write_markdown(made: Reproduction, path: Path, *, command: str, date: str) -> None:
    """Write a page of Markdown, and its pictures in a folder of the same name beside it.

    Of a page that is there the experiments that were not run keep their sections, each with its own
    date and command.
    """
    pictures: dict[str, Plot] = {}
    sections = kept_sections(path.read_text("utf-8")) if path.exists() else {}
    for finding in made.findings:
        sections[finding.name] = "\n".join(
            _finding(finding, path, pictures, f"Measured on {date} by `{command}`.")
        )
    for name, plot in pictures.items():
        plot.save(path.with_suffix("") / name)
    with whole_file(path, "w") as stream:
        stream.write("\n".join(_page(sections, quick=made.extent.quick)).rstrip() + "\n")


def kept_sections(page: str) -> dict[str, str]:
    r"""Return the sections of a page by the name of their experiment.

    Examples
    --------
    >>> page = "# Results\n\n## A paper\n\n### online:table-2: Ten systems\n\n| a |\n\n## Another\n"
    >>> kept_sections(page)
    {'online:table-2': '### online:table-2: Ten systems\n\n| a |\n'}
    """
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in page.splitlines():
        if line.startswith("### "):
            lines = sections.setdefault(":".join(line.removeprefix("### ").split(":")[:2]), [])
        elif line.startswith("## "):
            lines = []
        lines.append(line)
    return {name: "\n".join(found) for name, found in sections.items()}


def _page(sections: dict[str, str], *, quick: bool) -> Iterator[str]:
    extent = " on a **sample of the documents** (`--quick`)" if quick else ""
    yield (
        f"# Results\n\nEvery table and figure of the papers, paper beside ours{extent}.\n\n"
        f"{LEGEND}\n"
    )
    yield from _summary(sections)
    last = ""
    for name in experiments():
        group = name.partition(":")[0]
        if name in sections and group != last:
            yield f"## {paper(group).reference}\n"
            last = group
        if name in sections:
            yield sections[name]


def _summary(sections: dict[str, str]) -> Iterator[str]:
    """Yield how many cells of each table agree, those with most unexplained ones first."""
    counts = {}
    for name, section in sections.items():
        found = dict.fromkeys(_COUNTED, 0)
        for number, flag in re.findall(r"([\d,]+) ([a-z ]+)", section.partition("Cells: ")[2]):
            if flag in found:
                found[flag] = int(number.replace(",", ""))
        if any(found.values()):
            counts[name] = found
    if not counts:
        return
    totals = {flag: sum(found[flag] for found in counts.values()) for flag in _COUNTED}
    yield (
        f"{sum(totals.values()):,} cells can be compared: {totals['agrees']:,} agree, "
        f"{totals['explained']:,} are explained by another reading, {totals['partly explained']:,} "
        f"in part, and {totals['not explained']:,} are not explained.\n"
    )
    rows = sorted(counts.items(), key=lambda item: -item[1]["not explained"])
    yield from _table(
        [
            ["", *reversed(_COUNTED)],
            *(
                [name, *(f"{found[flag]:,}" for flag in reversed(_COUNTED))]
                for name, found in rows
            ),
        ]
    )
    yield ""


def _finding(
    finding: Finding, path: Path, pictures: dict[str, Plot], source: str
) -> Iterator[str]:
    printed, layout = finding.printed, lay_out(finding)
    counts = ", ".join(
        f"{count:,} {kind}" for kind, count in flag_counts([finding]).items() if count
    )
    yield f"### {finding.name}: {printed.title}\n"
    facts = [printed.caption, f"Ours: {printed.corpus}." if printed.corpus else ""]
    facts += [f"{printed.measure.capitalize()}." if printed.measure else ""]
    facts += [source, f"Cells: {counts}." if counts else ""]
    yield " ".join(fact for fact in facts if fact) + "\n"
    yield from (f"- {choice}" for choice in printed.choices)
    yield ""
    if layout.rows:
        times = times_column(finding)
        yield from _table([["", *layout.columns, *(["training time"] if times else [])]])
        for row, cells in layout.rows:
            yield _row(
                [
                    row,
                    *(cell.line if cell else "" for cell in cells),
                    *([times.get(row, "")] if times else []),
                ]
            )
        yield ""
    yield from (f"{number}. {note}" for number, note in enumerate(layout.notes, 1))
    yield ""
    used = readings_used(finding)
    if used:
        yield "Explained by another reading (≈), or in part (◐):\n"
        yield from (f"- {sentence}" for sentence in used)
        yield ""
    if finding.others:
        yield "What other readings give:\n"
        yield from _table(others_table(finding.others))
        yield ""
    for place, plot in enumerate(finding.plots, 1):
        name = (
            ""
            f"{finding.name.replace(':', '-')}{f'-{place}' if len(finding.plots) > 1 else ''}.svg"
        )
        pictures[name] = plot
        yield f"![{plot.title}]({path.stem}/{name})\n"
    yield from (f"The picture is missing: {reason}.\n" for reason in finding.missing_plots)


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _row(rows[0])
    yield "|" + "---|" * len(rows[0])
    yield from (_row(row) for row in rows[1:])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
