"""Findings as a page of Markdown, for `docs/results.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bayesift.files import whole_file
from bayesift.report.curves import Plot
from bayesift.reproduce.findings import Finding, flag_counts
from bayesift.reproduce.layout import lay_out, others_table
from bayesift.reproduce.pictures import standalone_svg
from bayesift.reproduce.printed import paper
from bayesift.reproduce.run import Reproduction

LEGEND = (
    "A cell is *paper → ours (difference) [95% bootstrap interval of ours over test documents]*; a cell with one "
    "number is ours alone. ≠: the printed value is outside the interval; °: not comparable; –: missing; the "
    "number leads to the note below the table."
)


def write_markdown(made: Reproduction, path: Path, *, command: str, date: str) -> None:
    """Write a page and, in a folder of the same name beside it, its pictures."""
    pictures: dict[str, Plot] = {}
    lines = list(_page(made, path, command, date, pictures))
    for name, plot in pictures.items():
        with whole_file(path.with_suffix("") / name, "w") as stream:
            stream.write(standalone_svg(plot))
    with whole_file(path, "w") as stream:
        stream.write("\n".join(lines).rstrip() + "\n")


def _page(made: Reproduction, path: Path, command: str, date: str, pictures: dict[str, Plot]) -> Iterator[str]:
    extent = " on a **sample of the documents** (`--quick`)" if made.extent.quick else ""
    yield f"# Results\n\nEvery table and figure of the papers, paper beside ours{extent}. Measured on {date} by\n"
    yield f"```\n{command}\n```\n"
    counts = ", ".join(f"{count:,} {kind}" for kind, count in flag_counts(made.findings).items() if count)
    yield f"{LEGEND}\n\nCells: {counts}.\n"
    said = ""
    for finding in made.findings:
        name = finding.name.partition(":")[0]
        if name != said:
            yield f"## {paper(name).reference}\n"
            said = name
        yield from _finding(finding, path, pictures)


def _finding(finding: Finding, path: Path, pictures: dict[str, Plot]) -> Iterator[str]:
    printed, layout = finding.printed, lay_out(finding)
    yield f"### {finding.name}: {printed.title}\n"
    facts = [printed.caption, f"Ours: {printed.corpus}." if printed.corpus else ""]
    facts += [f"{printed.measure.capitalize()}." if printed.measure else ""]
    yield " ".join(fact for fact in facts if fact) + "\n"
    yield from (f"- {choice}" for choice in printed.choices)
    yield ""
    if layout.rows:
        ratios = [("training time", finding.ratios)] if finding.ratios else []
        yield from _table([["", *layout.columns, *(name for name, _ in ratios)]])
        for row, cells in layout.rows:
            lines = [cell.line if cell else "" for cell in cells]
            lines += [f"{values[row]:.2g}x" if row in values else "" for _, values in ratios]
            yield _row([row, *lines])
        yield ""
    yield from (f"{number}. {note}" for number, note in enumerate(layout.notes, 1))
    yield ""
    if finding.others:
        yield "What other readings give:\n"
        heading, *rows = others_table(finding.others)
        yield from _table([heading, *rows])
        yield ""
    for place, plot in enumerate(finding.plots, 1):
        name = f"{finding.name.replace(':', '-')}{f'-{place}' if len(finding.plots) > 1 else ''}.svg"
        pictures[name] = plot
        yield f"![{plot.title}]({path.stem}/{name})\n"
    yield from (f"The picture is missing: {reason}.\n" for reason in finding.missing_plots)


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _row(rows[0])
    yield "|" + "---|" * len(rows[0])
    yield from (_row(row) for row in rows[1:])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
