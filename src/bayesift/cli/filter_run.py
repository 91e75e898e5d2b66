"""`bayesift filter run`: filter JSON lines in a pipe; the state is in a folder, and a run resumes where it stopped."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Self

from typer import Argument, Option

from bayesift.cli.console import counting
from bayesift.cli.options import Quiet, SkipBad
from bayesift.errors import DataError

if TYPE_CHECKING:
    from bayesift.filtering import OpenFilter


def run(
    profiles: Annotated[Path, Argument(metavar="PROFILES", help="YAML file of profiles.")],
    state: Annotated[
        Path | None, Option(help="Folder of the filter's state; PROFILES with the suffix .filter by default.")
    ] = None,
    save_every: Annotated[int, Option(help="Lines between two checkpoints.", min=1)] = 100_000,
    from_start: Annotated[
        bool,
        Option(
            "--from-start",
            help="The input starts from its beginning: skip the lines read before, and write no answer twice.",
        ),
    ] = False,
    stream: Annotated[bool, Option("--stream", help="Answer each document at once instead of in batches.")] = False,
    skip_bad: SkipBad = False,
    quiet: Quiet = False,
) -> None:
    """Filter JSON lines from stdin to stdout.

    Documents and judgements come in one stream. The state is kept, so that a run resumes where the last one stopped.
    """
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
        print(
            f"resumes after line {opened.position:,}; answers that an earlier run wrote after it are repeated",
            file=sys.stderr,
        )
    return opened


class _Reading:
    """Lines of stdin, until its end or a signal; a signal takes effect after the current line."""

    def __init__(self) -> None:
        self.stopped = False
        self._waiting = False
        self._earlier: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._earlier = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *error: object) -> None:
        for number, earlier in self._earlier.items():
            signal.signal(number, earlier)

    def lines(self, progress: Any) -> Iterator[str]:
        """The lines; progress is reported every thousand."""
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
