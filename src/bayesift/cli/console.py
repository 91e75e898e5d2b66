"""What commands print besides their result: progress, problems and tables."""

from __future__ import annotations

import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from bayesift.errors import DataWarning
from bayesift.files import whole_file

if TYPE_CHECKING:
    from bayesift.records import Note, ReadingProblem

_SHOWN_PROBLEMS = 5
_COMPILATION_SECONDS = (
    1.5  # seconds for which a compilation is shown after its end; most kernels take less
)


def stdout() -> Console:
    """Return the console for results."""
    _started()
    return Console(highlight=False)


def stderr() -> Console:
    """Return the console for everything that is not the result."""
    return Console(stderr=True, highlight=False)


class _Compilation:
    """Whether Numba compiles kernels, which it does once per machine: they are cached on disk."""

    def __init__(self) -> None:
        self._running = 0
        self._last = -_COMPILATION_SECONDS
        self._listens = False

    def is_recent(self) -> bool:
        """Whether a kernel is being compiled, or was a moment ago."""
        if not self._listens:
            self._listen()
        return self._running > 0 or time.monotonic() < self._last + _COMPILATION_SECONDS

    def _listen(self) -> None:
        # Numba is imported late, and not here.
        event = sys.modules.get("numba.core.event")
        if (
            event is None
            or not hasattr(event, "register")
            or "numba.core.dispatcher" not in sys.modules
        ):
            return
        compilation = self

        class Listener(event.Listener):  # type: ignore[name-defined]
            def on_start(self, event: Any) -> None:
                compilation._running += 1

            def on_end(self, event: Any) -> None:
                compilation._running -= 1
                compilation._last = time.monotonic()

        event.register("numba:compile", Listener())
        self._listens = True


_compilation = _Compilation()


class _Count(ProgressColumn):
    """The number of items done, of how many, or the time left; and whether kernels are compiled."""

    def render(self, task: Task) -> Text:
        if task.fields.get("timed"):
            return Text(_time_left(task))
        count = f"{int(task.completed):,}" if task.fields["counted"] else ""
        if count and task.total is not None:
            count += f" of {int(task.total):,}"
        note = "preparing kernels, once per machine" if _compilation.is_recent() else ""
        return Text(", ".join(filter(None, (count, note))))


def _time_left(task: Task) -> str:
    """Return the time left of a task that counts milliseconds, and what is being done."""
    if not task.total:
        return ""
    minutes, seconds = divmod(max(0, round((task.total - task.completed) / 1000)), 60)
    return f"about {minutes}:{seconds:02} left"


def _display(*, quiet: bool) -> Progress:
    """Show a line of progress on stderr, on a terminal only, that disappears at the end."""
    _started()
    console = stderr()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        _Count(),
        TimeElapsedColumn(),
    )
    return Progress(
        *columns, console=console, transient=True, disable=quiet or not console.is_terminal
    )


class _Start:
    """The line that a command shows before any other."""

    line: Progress | None = None


@contextmanager
def starting(*, quiet: bool = False) -> Iterator[None]:
    """Show that a command has started, until it shows something else."""
    with _display(quiet=quiet) as _Start.line:
        _Start.line.add_task("starting", total=None, counted=False)
        try:
            yield
        finally:
            _started()


def _started() -> None:
    if _Start.line is not None:
        _Start.line.stop()
        _Start.line = None


@contextmanager
def busy(message: str, *, quiet: bool = False) -> Iterator[None]:
    """Show what is being done, where nothing can be counted; on a terminal only."""
    with _display(quiet=quiet) as progress:
        progress.add_task(escape(message), total=None, counted=False)
        yield


class ProgressSteps:
    """A progress bar over several steps of work.

    Its methods return plain functions, because estimators keep them as parameters and are cloned.
    """

    def __init__(self, progress: Progress, message: str, total: int | None) -> None:
        self._progress = progress
        self._message = message
        self._task = progress.add_task(escape(message), total=total, counted=True)

    def first(self, after: str | None = None) -> Callable[[int], None]:
        """Return a function of the number of items done in the first step.

        `after` is shown when all are done.
        """
        total = self._progress.tasks[0].total

        def update(done: int) -> None:
            self._progress.update(self._task, completed=done)
            if after is not None and total is not None and done >= total:
                self._begin(after, None, counted=False)

        return update

    def then(self, message: str, *, timed: bool = False) -> Callable[[int, int], None]:
        """Return a function of the number of items done in the next step, and of their total.

        Of a `timed` step the items are milliseconds.
        """

        def update(done: int, total: int) -> None:
            if self._message != message:
                self._begin(message, total, counted=True)
            self._progress.update(
                self._task, completed=done, total=total, counted=True, timed=timed
            )

        return update

    def tell(self, message: str) -> Callable[[str], None]:
        """Return a function that shows what is done now in a step."""

        def told(what: str) -> None:
            self._progress.update(self._task, description=escape(f"{message}: {what}"))

        return told

    def _begin(self, message: str, total: int | None, *, counted: bool) -> None:
        """Show another step instead of the last one."""
        self._progress.remove_task(self._task)
        self._message, self._task = (
            message,
            self._progress.add_task(escape(message), total=total, counted=counted),
        )


@contextmanager
def working(message: str, total: int | None, *, quiet: bool) -> Iterator[ProgressSteps]:
    """Show a progress bar on stderr, on a terminal only."""
    with _display(quiet=quiet) as progress:
        yield ProgressSteps(progress, message, total)


@contextmanager
def counting(
    message: str, total: int | None, *, quiet: bool
) -> Iterator[Callable[[int], None]]:
    """Show a progress bar over one step; yields the function of the number of items done."""
    with working(message, total, quiet=quiet) as steps:
        yield steps.first()


def print_problems(problems: Sequence[ReadingProblem]) -> None:
    """Print the number of skipped records to stderr, and the first of them."""
    from bayesift.tables.loading import EMPTY_DOCUMENT

    empty = [problem for problem in problems if problem.message == EMPTY_DOCUMENT]
    bad = [problem for problem in problems if problem.message != EMPTY_DOCUMENT]
    _print_problems("documents without text, left out", empty)
    _print_problems("records skipped", bad)


def print_remarks(problems: Sequence[ReadingProblem]) -> None:
    """Print what was unusual about records that were read, to stderr."""
    _print_problems("remarks on the files", problems)


def _print_problems(what: str, problems: Sequence[ReadingProblem]) -> None:
    if not problems:
        return
    print_note(f"{what}: {len(problems):,}")
    for problem in problems[:_SHOWN_PROBLEMS]:
        print_note(f"  {problem}")
    if len(problems) > _SHOWN_PROBLEMS:
        print_note(f"  and {len(problems) - _SHOWN_PROBLEMS:,} more")


def print_note(note: str) -> None:
    """Print a line to stderr, beside the result; nothing if it is empty."""
    if note:
        print(note, file=sys.stderr)


def print_guesses(name: str, notes: Sequence[Note]) -> None:
    """Print what was guessed in reading a source to stderr, with the options that change it."""
    guessed = [note for note in notes if note.option]
    parts = [", ".join(f"{note.what}: {note.value}" for note in guessed)] if guessed else []
    if guessed:
        parts[0] += (
            f" (guessed; {', '.join(dict.fromkeys(str(note.option) for note in guessed))})"
        )
    parts += [f"{note.what}: {note.value}" for note in notes if not note.option]
    if parts:
        print_note(f"{'stdin' if name == '-' else name}: {'; '.join(parts)}")


@contextmanager
def one_line_warnings(name: str) -> Iterator[None]:
    """Print each warning once, as a line to stderr, and name options instead of parameters."""
    printed = set()

    def show(message: Warning | str, *position: Any, **more: Any) -> None:
        line = re.sub(r"\b(\w+)=True\b( \(--\1\))?", r"--\1", " ".join(str(message).split()))
        if line not in printed:
            printed.add(line)
            print_note(f"{name}: {line}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        warnings.simplefilter("always", DataWarning)
        yield


def table(first: str, *headings: str, numbers: bool = True) -> Table:
    """Make an empty table; the columns after the first hold numbers, or text."""
    made = Table(box=None, header_style="bold", pad_edge=False)
    made.add_column(first, overflow="fold")
    for heading in headings:
        made.add_column(heading, justify="right" if numbers else "left", overflow="fold")
    return made


def write_report(page: str, path: Path) -> None:
    """Write a page of HTML and print its path to stderr."""
    with whole_file(path, "w") as stream:
        stream.write(page)
    print_note(f"report: {path}")
