"""What commands that read a corpus share: their options, the reading, and how they speak on the way."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

if TYPE_CHECKING:
    from bayesift.datasets import Columns
    from bayesift.records import Corpus, Problem

_SHOWN_PROBLEMS = 5


def _option(*names: str, meaning: str) -> object:
    return typer.Option(*names, help=meaning, show_default=False)


CorpusName = Annotated[
    str, typer.Argument(metavar="CORPUS", help="A name of `bayesift datasets list`, or the path of your own.")
]
DataDir = Annotated[
    Path | None, _option(meaning="Where corpora lie; else the variable BAYESIFT_DATA, else your cache directory.")
]
TextColumn = Annotated[str | None, _option(meaning="Column of the text.")]
IdColumn = Annotated[str | None, _option("--id", meaning="Column of the id.")]
TitleColumn = Annotated[str | None, _option(meaning="Column of the title.")]
Encoding = Annotated[str | None, _option(meaning="Encoding of the text; UTF-8 unless named.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out and count records that cannot be read.")]


@dataclass(frozen=True)
class CorpusOptions:
    """How to read a corpus."""

    data_dir: DataDir = None
    text: TextColumn = None
    label: Annotated[str | None, _option(meaning="Column of the categories.")] = None
    identity: IdColumn = None
    title: TitleColumn = None
    date: Annotated[str | None, _option(meaning="Column of the date.")] = None
    split_column: Annotated[str | None, _option(meaning="Column of the split (train, test).")] = None
    separator: Annotated[str | None, _option(meaning="What stands between several categories.")] = None
    encoding: Encoding = None
    skip_bad: SkipBad = False

    @property
    def columns(self) -> Columns:
        """The columns that were named."""
        from bayesift.datasets import Columns

        return Columns(self.text, self.label, self.identity, self.title, self.date, self.split_column)

    def read(self, name: str, *, quiet: bool = False) -> Corpus:
        """Load a corpus by name or path; skipped records are told on stderr."""
        with busy(f"reading {name}", quiet=quiet):
            from bayesift.datasets import Columns, load

            columns = self.columns
            with bad_use():
                corpus = load(
                    name,
                    data_dir=self.data_dir,
                    columns=None if columns == Columns() else columns,
                    separator=self.separator,
                    encoding=self.encoding,
                    skip_bad=self.skip_bad,
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
