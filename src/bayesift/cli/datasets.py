"""`bayesift datasets`: list, show and fetch corpora."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table
from typer import Argument

from bayesift.cli.console import busy, stderr, stdout, table
from bayesift.cli.options import (
    AsJson,
    CorpusName,
    CorpusOptions,
    DataDir,
    add_command,
    command_group,
    usage_errors,
)

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from bayesift.corpora import CorpusSummary
    from bayesift.corpora.fetch import FetchedFile, RemoteFile

app = command_group("datasets", "List, show and fetch corpora.")


def list_corpora(data_dir: DataDir = None) -> None:
    """List the corpora that bayesift knows, and which are present."""
    from bayesift.corpora import CATALOGUE, data_directory

    rows = table("name", "what", "present", numbers=False)
    for entry in CATALOGUE.values():
        rows.add_row(
            entry.name, entry.description, "yes" if entry.is_present(data_dir) else "no"
        )
    stdout().print(rows)
    print(f"\nData directory: {data_directory(data_dir)}")


def show_corpus(
    corpus: CorpusName, as_json: AsJson = False, *, source: CorpusOptions = CorpusOptions()
) -> CorpusSummary:
    """Show the documents, splits and categories of a corpus."""
    from bayesift.corpora import summarise

    loaded = source.read(corpus)
    with busy(f"counting {corpus}"):
        summary = summarise(loaded)
    if as_json:
        print(json.dumps(summary.as_dict(), indent=2))
    else:
        _print_summary(summary)
    return summary


def fetch_corpus(
    name: Annotated[
        str, Argument(metavar="NAME", help="A name from `bayesift datasets list`.")
    ],
    data_dir: DataDir = None,
) -> list[FetchedFile]:
    """Download a public corpus into the data directory.

    An interrupted download is resumed.
    """
    from bayesift.corpora import data_directory, fetch, find_entry

    with usage_errors():
        entry = find_entry(name)
    if not entry.files:
        reason = (
            "is not published, so it cannot be fetched" if entry.paths else "needs no download"
        )
        raise typer.BadParameter(f"{name} {reason}")
    with _download_bars() as progress:
        fetched = fetch(entry.files, data_directory(data_dir), progress)
    for file in fetched:
        print(_describe_fetched(file))
    print(f"terms of use: {entry.terms}")
    return fetched


add_command(app, list_corpora, name="list")
add_command(app, show_corpus, "datasets show reviews.csv", "datasets show reuters", name="show")
add_command(app, fetch_corpus, "datasets fetch 20newsgroups", name="fetch")


@contextmanager
def _download_bars() -> Iterator[_Bars]:
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    console = stderr()
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        yield _Bars(progress)


class _Bars:
    """One progress bar per file, added with its first bytes."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, file: RemoteFile, done: int, total: int | None) -> None:
        if file.path not in self._tasks:
            self._tasks[file.path] = self._progress.add_task(Path(file.path).name, total=total)
        self._progress.update(self._tasks[file.path], completed=done, total=total)


def _describe_fetched(file: FetchedFile) -> str:
    checked = {
        True: "SHA-256 as published",
        False: f"SHA-256 {file.sha256} is not the published one",
        None: f"no published checksum; SHA-256 is {file.sha256}",
    }[file.verified]
    return f"{file.path}: {'fetched' if file.downloaded else 'already there'}; {checked}"


def _print_summary(summary: CorpusSummary) -> None:
    console = stdout()
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


def _split_table(summary: CorpusSummary) -> Table:
    rows = table("split", "documents", "labelled", "labels", "title only", "empty")
    for split in summary.splits:
        numbers = (
            split.documents,
            split.labelled,
            split.assignments,
            split.title_only,
            split.empty,
        )
        name = "(none)" if split.name is None else escape(split.name)
        rows.add_row(name, *(f"{number:,}" for number in numbers))
    return rows


def _category_table(summary: CorpusSummary) -> Table:
    splits = [split.name for split in summary.splits if split.name is not None]
    rows = table("largest categories", "documents", *map(escape, splits))
    for category in summary.largest:
        numbers = (category.documents, *(category.by_split[split] for split in splits))
        rows.add_row(escape(category.name), *(f"{number:,}" for number in numbers))
    return rows
