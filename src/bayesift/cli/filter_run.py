"""`bayesift filter run`: a filter in a pipe, that lives in a folder and goes on where it stopped."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from bayesift.cli.corpora import SkipBad
from bayesift.cli.options import Quiet, counting
from bayesift.errors import DataError

if TYPE_CHECKING:
    from bayesift.filtering import OpenFilter


def run(
    profiles: Annotated[Path, typer.Argument(metavar="PROFILES", help="YAML file of profiles; see docs/filtering.md.")],
    state: Annotated[
        Path | None,
        typer.Option(help="Folder the filter lives in; PROFILES with .filter unless named.", show_default=False),
    ] = None,
    save_every: Annotated[int, typer.Option(help="Save after so many lines, besides at the end.", min=1)] = 100_000,
    from_start: Annotated[
        bool,
        typer.Option(
            "--from-start",
            help="The stream is given from its beginning: pass over what was read; nothing is lost or said twice.",
        ),
    ] = False,
    stream: Annotated[
        bool, typer.Option("--stream", help="Answer each document at once, instead of in batches.")
    ] = False,
    skip_bad: SkipBad = False,
    quiet: Quiet = False,
) -> None:
    """Filter JSON lines from stdin to stdout; documents and judgements come on the same stream."""
    from bayesift.filtering import FilterRun

    folder = profiles.with_suffix(".filter") if state is None else state
    opened = _open(folder, profiles, from_start=from_start, quiet=quiet)
    problems: list[DataError] = []
    runner = FilterRun(
        folder,
        opened,
        batch=1 if stream else 256,
        save_every=save_every,
        report=problems.append if skip_bad else None,
        output=sys.stdout,
    )
    with opened.log, _Reading() as reading, counting("lines", None, quiet=quiet) as progress:
        for answer in runner.feed(reading.lines(progress), skip=opened.position if from_start else 0):
            print(answer, flush=stream)
    _tell(problems, runner.n_lines, runner.n_retrieved, quiet=quiet)
    if reading.stopped:
        raise KeyboardInterrupt


def _open(folder: Path, profiles: Path, *, from_start: bool, quiet: bool) -> OpenFilter:
    from bayesift.filtering import create_filter, engine_of, open_filter
    from bayesift.filtering.saving import START

    if not (folder / START).exists():
        return create_filter(folder, engine_of(profiles))
    opened = open_filter(folder, roll_back=from_start)
    if from_start and not (opened.output is not None and opened.output.cut(sys.stdout)) and not quiet:
        print(f"goes on after line {opened.position:,}; later answers of an earlier run come again", file=sys.stderr)
    return opened


class _Reading:
    """Lines of stdin until it ends or the process is told to stop, which waits until the line at hand is done."""

    def __init__(self) -> None:
        self.stopped = False
        self._waiting = False
        self._earlier: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._earlier = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, earlier in self._earlier.items():
            signal.signal(number, earlier)

    def lines(self, progress: Any) -> Iterator[str]:
        """The lines; their number is told now and then."""
        number = 0
        while line := self._next():
            yield line.decode("utf-8", "replace")
            number += 1
            if number % 1000 == 0:
                progress(number)

    def _next(self) -> bytes:
        """The next line; empty at the end."""
        self._waiting = True
        try:
            return b"" if self.stopped else sys.stdin.buffer.readline()
        except KeyboardInterrupt:
            return b""
        finally:
            self._waiting = False

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopped = True
        if self._waiting:
            raise KeyboardInterrupt


def _tell(problems: list[DataError], n_lines: int, n_retrieved: int, *, quiet: bool) -> None:
    if problems:
        print(f"lines skipped: {len(problems):,}; the first: {problems[0]}", file=sys.stderr)
    if not quiet:
        print(f"{n_lines:,} lines read, {n_retrieved:,} retrieved", file=sys.stderr)
