"""What commands that read a corpus share: their options, the reading, and how they speak on the way."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

if TYPE_CHECKING:
    from bayesift.datasets import Columns
    from bayesift.records import Corpus, Problem

_SHOWN_PROBLEMS = 5


def _option(meaning: str) -> object:
    return typer.Option(help=meaning, show_default=False)


CorpusName = Annotated[
    str, typer.Argument(metavar="CORPUS", help="A name of `bayesift datasets list`, or the path of your own.")
]
DataDir = Annotated[
    Path | None, _option("Where corpora lie; else the variable BAYESIFT_DATA, else your cache directory.")
]
TextColumn = Annotated[str | None, _option("Column of the text.")]
LabelColumn = Annotated[str | None, _option("Column of the categories.")]
IdColumn = Annotated[str | None, typer.Option("--id", help="Column of the id.", show_default=False)]
TitleColumn = Annotated[str | None, _option("Column of the title.")]
DateColumn = Annotated[str | None, _option("Column of the date.")]
SplitColumn = Annotated[str | None, _option("Column of the split (train, test).")]
Separator = Annotated[str | None, _option("What stands between several categories.")]
Encoding = Annotated[str | None, _option("Encoding of the text; UTF-8 unless named.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out and count records that cannot be read.")]


def read_corpus(
    name: str,
    data_dir: Path | None,
    columns: Columns,
    separator: str | None,
    encoding: str | None,
    *,
    skip_bad: bool,
    quiet: bool = False,
) -> Corpus:
    """Load a corpus by name or path; skipped records are told on stderr."""
    with busy(f"reading {name}", quiet=quiet):
        from bayesift.datasets import Columns, load

        with bad_use():
            corpus = load(
                name,
                data_dir=data_dir,
                columns=None if columns == Columns() else columns,
                separator=separator,
                encoding=encoding,
                skip_bad=skip_bad,
            )
    print_problems(corpus.problems)
    return corpus


@contextmanager
def bad_use() -> Iterator[None]:
    """Tell a request that cannot be met from data that cannot be read."""
    from bayesift.datasets import RequestError

    try:
        yield
    except RequestError as error:
        raise typer.BadParameter(str(error)) from error


def stderr() -> Console:
    """The console for everything that is not the result."""
    return Console(stderr=True, highlight=False)


@contextmanager
def busy(message: str, *, quiet: bool = False) -> Iterator[None]:
    """Show a spinner, on a terminal only."""
    if quiet:
        yield
        return
    with stderr().status(escape(message)):
        yield


def print_problems(problems: Sequence[Problem]) -> None:
    """Tell the skipped records on stderr, the first few in full."""
    if not problems:
        return
    print(f"records skipped: {len(problems):,}", file=sys.stderr)
    for problem in problems[:_SHOWN_PROBLEMS]:
        print(f"  {problem}", file=sys.stderr)
    if len(problems) > _SHOWN_PROBLEMS:
        print(f"  and {len(problems) - _SHOWN_PROBLEMS:,} more", file=sys.stderr)
