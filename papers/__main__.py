"""`python -m papers`: the tables and figures of the papers, the paper's values beside ours."""

from __future__ import annotations

import datetime
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bayesift.cli.console import stderr
from bayesift.cli.options import AsJson, DataDir, Quiet, ReportPath, usage_errors
from bayesift.cli.process import run
from bayesift.files import whole_file
from papers.experiment import Extent, experiment_names
from papers.findings import Finding, flag_counts
from papers.page import findings_page
from papers.printed import printed_table
from papers.rendering import CellText, Layout, lay_out, times_column, write_markdown
from papers.running import Reproduction, reproduce

_LONGEST = 24

app = typer.Typer(name="papers", add_completion=False, pretty_exceptions_enable=False)


@app.command()
def papers(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAMES]...",
            help="Experiments, papers, leaderboard, or all.",
            show_default=False,
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Use a sample of the documents; takes minutes.")
    ] = False,
    long: Annotated[
        bool, typer.Option("--long", help="Also the cells that take many minutes each.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = -1,
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    stored: Annotated[
        bool,
        typer.Option(
            "--stored", help="Run nothing: only experiments whose results are all stored."
        ),
    ] = False,
    out: Annotated[
        Path, typer.Option(help="Folder of results; a stopped run continues there.")
    ] = Path("out/papers"),
    data_dir: DataDir = None,
    as_json: AsJson = False,
    report: ReportPath = None,
    markdown: Annotated[
        Path | None,
        typer.Option(help="Write a page of Markdown.", show_default=False, dir_okay=False),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Measure what the papers print, on the same corpora, and show both side by side."""
    if listed:
        _print_list()
        return
    if not names:
        raise typer.BadParameter(
            "name experiments, or all; --list shows them", param_hint="NAMES"
        )
    if data_dir is not None:
        os.environ["BAYESIFT_DATA"] = str(data_dir)  # for the processes too
    with usage_errors():
        chosen = experiment_names(names)
    with _counting(quiet=quiet) as progress:
        made = reproduce(
            chosen,
            folder=out,
            extent=Extent(quick, seed, long),
            jobs=(os.cpu_count() or 1) if jobs == -1 else max(jobs, 1),
            stored=stored,
            progress=progress,
        )
    flags = [flag for flag, given in (("--quick", quick), ("--long", long)) if given]
    _write(made, report, markdown, " ".join(["python -m papers", *names, *flags]))
    if as_json:
        print(made.json, end="")
    else:
        _print_findings(made)
    if made.failures:
        raise typer.Exit(1)


def _write(
    made: Reproduction, report: Path | None, markdown: Path | None, command: str
) -> None:
    heading = {"command": command, "date": datetime.date.today().isoformat()}
    if report is not None:
        with whole_file(report, "w") as stream:
            stream.write(findings_page(made, **heading))
        print(f"report: {report}", file=sys.stderr)
    if markdown is not None:
        write_markdown(made, markdown, **heading)
        print(f"page: {markdown}", file=sys.stderr)


def _print_list() -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("name", "what", "corpus"):
        table.add_column(heading, overflow="fold")
    for name in experiment_names(["all"]):
        printed = printed_table(name)
        table.add_row(name, printed.title, printed.corpus)
    Console(highlight=False).print(table)


def _print_findings(made: Reproduction) -> None:
    """Print every finding as a table, then the number of cells by flag."""
    console = Console(highlight=False)
    for finding in made.findings:
        _print_finding(console, finding)
    counts = ", ".join(
        f"{count:,} {kind}" for kind, count in flag_counts(made.findings).items() if count
    )
    console.print(f"cells: {counts}")
    for label, reason in made.failures.items():
        print(f"failed: {label}: {reason}", file=sys.stderr)
    stderr().print(f"{made.tasks:,} tasks, {made.reused:,} of them done before", style="dim")


def _print_finding(console: Console, finding: Finding) -> None:
    layout = lay_out(finding)
    sample = " (quick: a sample of the documents)" if finding.quick else ""
    console.print(f"\n[bold]{finding.name}[/bold] {escape(finding.printed.title)}{sample}")
    console.print(escape(finding.printed.caption), style="dim")
    if layout.rows:
        for table in _terminal_tables(finding, layout, console.width):
            console.print(table)
    for plot in finding.plots:
        console.print(f"[dim]picture in the report: {escape(plot.title)}[/dim]")


def _terminal_tables(finding: Finding, layout: Layout, width: int) -> Iterator[Table]:
    """Paper and ours, in as many tables as the width needs.

    Columns of long texts are left to the report.
    """
    columns = {
        heading: [_brief(cells[j]) for _, cells in layout.rows]
        for j, heading in enumerate(layout.columns)
        if all(len(_brief(cells[j])) <= _LONGEST for _, cells in layout.rows)
    }
    if times := times_column(finding):
        columns["training time"] = [times.get(row, "") for row, _ in layout.rows]
    names = [row for row, _ in layout.rows]
    room = width - max(map(len, names), default=0)
    shown: dict[str, list[str]] = {}
    for heading, cells in columns.items():
        if shown and sum(map(_width, (*shown.items(), (heading, cells)))) > room:
            yield _terminal_table(names, shown)
            shown = {}
        shown[heading] = cells
    yield _terminal_table(names, shown)


def _width(column: tuple[str, list[str]]) -> int:
    heading, cells = column
    return 2 + max(*map(len, heading.split()), *map(len, cells))


def _terminal_table(names: list[str], columns: dict[str, list[str]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("", no_wrap=True)
    for heading in columns:
        table.add_column(escape(heading), justify="right")
    for place, name in enumerate(names):
        table.add_row(escape(name), *(escape(cells[place]) for cells in columns.values()))
    return table


def _brief(cell: CellText | None) -> str:
    if cell is None:
        return ""
    return (
        f"{cell.paper} → {cell.ours} {cell.mark}" if cell.paper else f"{cell.ours} {cell.mark}"
    )


@contextmanager
def _counting(*, quiet: bool) -> Iterator[Callable[[Any, int, int], None] | None]:
    """Show a progress bar over the tasks, with the label of the last finished task."""
    if quiet:
        yield None
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=stderr(), transient=True) as bar:
        shown = bar.add_task("starting", total=None)
        yield lambda task, done, total: bar.update(
            shown, completed=done, total=total, description=escape(task.label if task else "")
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; errors of use and data end in one line."""
    run(app, arguments)


if __name__ == "__main__":
    main()
