"""`bayesift datasets`: list, show and fetch corpora."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bayesift.cli.corpora import CorpusName, CorpusOptions, DataDir, bad_use, busy, stderr
from bayesift.cli.groups import grouped

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from bayesift.datasets import CorpusSummary, FetchedFile, RemoteFile

app = typer.Typer(help="List, show and fetch corpora.", no_args_is_help=True)


@app.command("list")
def list_corpora(data_dir: DataDir = None) -> None:
    """List the corpora bayesift knows, and whether they are there."""
    from bayesift.datasets import CATALOGUE, data_directory

    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("name", "what", "there"):
        table.add_column(heading)
    for entry in CATALOGUE.values():
        there = "yes" if entry.is_present(data_dir) else "no"
        table.add_row(entry.name, entry.description, there)
    Console().print(table)
    print(f"\nData directory: {data_directory(data_dir)}")


@app.command("show")
@grouped
def show_corpus(
    corpus: CorpusName,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    *,
    source: CorpusOptions,
) -> None:
    """Show what a corpus holds: documents, splits, categories."""
    from bayesift.datasets import summarise

    loaded = source.read(corpus)
    with busy(f"counting {corpus}"):
        summary = summarise(loaded)
    if as_json:
        print(json.dumps(summary.as_dict(), indent=2))
    else:
        _print_summary(summary)


@app.command("fetch")
def fetch_corpus(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name of the list.")],
    data_dir: DataDir = None,
) -> None:
    """Download a public corpus into the data directory; goes on where it was interrupted."""
    from bayesift.datasets import data_directory, fetch, find_entry

    with bad_use():
        entry = find_entry(name)
    if not entry.files:
        reason = "is not published, so it cannot be fetched" if entry.paths else "needs no download"
        raise typer.BadParameter(f"{name} {reason}")
    with _download_bars() as progress:
        fetched = fetch(entry.files, data_directory(data_dir), progress)
    for file in fetched:
        print(_describe_fetched(file))
    print(f"terms of use: {entry.terms}")


@contextmanager
def _download_bars() -> Iterator[_Bars]:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    console = stderr()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield _Bars(progress)


class _Bars:
    """A bar for each file, made when its first bytes come."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, file: RemoteFile, done: int, total: int | None) -> None:
        if file.path not in self._tasks:
            self._tasks[file.path] = self._progress.add_task(Path(file.path).name, total=total)
        self._progress.update(self._tasks[file.path], completed=done, total=total)


def _describe_fetched(file: FetchedFile) -> str:
    verdict = {
        True: "SHA-256 as published",
        False: f"SHA-256 {file.sha256} is not the published one",
        None: f"no published checksum; SHA-256 is {file.sha256}",
    }[file.verified]
    return f"{file.path}: {'fetched' if file.downloaded else 'already there'}; {verdict}"


def _print_summary(summary: CorpusSummary) -> None:
    console = Console(highlight=False)
    name = f"[bold]{escape(summary.name)}[/bold]"
    console.print(f"{name}: {summary.documents:,} documents, {_categories(summary)}")
    if summary.terms is not None:
        console.print(f"vectors: {summary.terms:,} terms, {summary.nonzeros:,} non-zeros")
    if summary.without_date is not None:
        console.print(f"documents without date: {summary.without_date:,}")
    if summary.skipped:
        console.print(f"records skipped: {summary.skipped:,}")
    console.print()
    console.print(_split_table(summary))
    if summary.largest:
        console.print()
        console.print(_category_table(summary))
    print(f"\nfingerprint {summary.fingerprint}")


def _categories(summary: CorpusSummary) -> str:
    count = f"{summary.categories:,} categor{'y' if summary.categories == 1 else 'ies'}"
    if summary.shared_categories is None:
        return count
    return f"{count} ({summary.shared_categories:,} in both train and test)"


def _number_table(first: str, headings: list[str]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(first, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def _split_table(summary: CorpusSummary) -> Table:
    table = _number_table("split", ["documents", "labelled", "labels", "title only", "empty"])
    for split in summary.splits:
        numbers = (split.documents, split.labelled, split.assignments, split.title_only, split.empty)
        name = "(none)" if split.name is None else escape(split.name)
        table.add_row(name, *(f"{number:,}" for number in numbers))
    return table


def _category_table(summary: CorpusSummary) -> Table:
    splits = [split.name for split in summary.splits if split.name is not None]
    table = _number_table("largest categories", ["documents", *map(escape, splits)])
    for category in summary.largest:
        numbers = (category.documents, *(category.by_split[split] for split in splits))
        table.add_row(escape(category.name), *(f"{number:,}" for number in numbers))
    return table
