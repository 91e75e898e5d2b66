"""The terminal of `bayesift screen`: a full screen with keys, or plain lines for scripts."""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.control import Control
from rich.text import Text

from bayesift.errors import DataError
from bayesift.screening.highlights import Highlight, find_highlights, terms_of

if TYPE_CHECKING:
    from bayesift.screening import Record, Review
    from bayesift.screening.review_log import Verdict

KEYS = (
    ("i", "include"),
    ("e", "exclude"),
    ("m", "maybe"),
    ("r", "exclude with a reason"),
    ("n", "note"),
    ("a", "attach a PDF"),
    ("u", "undo"),
    ("s", "skip"),
    ("/", "search"),
    ("?", "help"),
    ("q", "quit"),
)
_VERDICTS: dict[str, Verdict] = {"include": "included", "exclude": "excluded", "maybe": "maybe"}
_LINE_HELP = """include | exclude [REASON] | maybe   decide (i, e, m)
note TEXT                            keep a note (n)
attach [--replace] PATH              attach the PDF of the full text (a)
undo                                 take back the last decision (u)
skip                                 show this record again after all others (s)
search WORDS                         list records that hold all words (/)
open NUMBER                          show this record
words WORD=STRENGTH ...              words for relevance, or (below 0) against it
highlight include|exclude WORDS, ...  highlight these in records; the ranking stays as it is
split                                the sources of this record are different publications
status                               progress, and how many relevant records may be left
help | quit                          (? q)"""
_SHORT = {
    "i": "include",
    "e": "exclude",
    "m": "maybe",
    "n": "note",
    "a": "attach",
    "u": "undo",
    "s": "skip",
    "/": "search",
}
_SHORT |= {"?": "help", "h": "help", "q": "quit", "r": "exclude", "o": "open", "w": "words"}
_PROMPTS = {"n": "Note: ", "/": "Search: ", "a": "PDF file: "}
_FOR = "bold green"
_AGAINST = "dim red"
_INCLUDE = "bold black on bright_cyan"  # words that people highlight
_EXCLUDE = "underline white on red"
_MAX_LISTED = 15


@dataclass
class ScreeningSession:
    """What one reviewer is looking at, and what a command does to it."""

    review: Review
    record: Record | None = None
    message: str = ""
    shown_at: float = field(default_factory=time.monotonic)

    def show(self, record: Record | None) -> None:
        """Look at a record."""
        self.record, self.shown_at = record, time.monotonic()

    def run(self, command: str, argument: str = "") -> None:
        """Run a command by its name; what it says is in `message`."""
        self.message = ""
        try:
            if command in _VERDICTS:
                self._decide(_VERDICTS[command], argument)
            else:
                actions: dict[str, Callable[[str], None]] = {
                    "note": self._note,
                    "attach": self._attach,
                    "undo": self._undo,
                    "skip": self._skip,
                    "search": self._search,
                    "open": self._open,
                    "words": self._words,
                    "highlight": self._highlight,
                    "split": self._split,
                    "status": lambda _: self._say(status_line(self.review)),
                    "help": lambda _: self._say(_LINE_HELP),
                }
                action = actions.get(command)
                if action is None:
                    raise DataError(f"no command {command!r:.30}; help lists them")
                action(argument)
        except DataError as error:
            self.message = str(error)

    def _say(self, message: str) -> None:
        self.message = message

    def _current(self) -> Record:
        if self.record is None:
            raise DataError("all records are decided")
        return self.record

    def _decide(self, verdict: Verdict, reason: str) -> None:
        record = self._current()
        reasons = [reason] if reason else []
        self.review.decide(
            record.id, verdict, reasons=reasons, seconds=time.monotonic() - self.shown_at
        )
        self.message = f"{record.id}: {verdict}{f' ({reason})' if reason else ''}"
        self.show(self.review.next())

    def _note(self, text: str) -> None:
        if not text:
            raise DataError("a note needs a text")
        self.review.note(self._current().id, text)
        self.message = "noted"

    def _attach(self, text: str) -> None:
        replace = text.startswith("--replace ")
        # Terminals quote the path of a file that is dropped on them.
        path = text.removeprefix("--replace").strip().strip("'\"")
        if not path:
            raise DataError("name the file, as in: attach trial.pdf")
        record = self._current().id
        held = self.review.project.full_text_files.get(record)
        if held and held.by != self.review.reviewer and not replace:
            raise DataError(
                f"record {record} has {held.name}, attached by {held.by}; attach --replace PATH "
                "replaces it"
            )
        attached = self.review.attach(record, path, replace=replace)
        self.message = f"attached {attached.name} ({attached.size:,} bytes)"

    def _undo(self, _: str) -> None:
        record = self.review.undo()
        self.message = f"{record.id}: taken back"
        self.show(record)

    def _skip(self, _: str) -> None:
        self.review.skip(self._current().id)
        self.show(self.review.next())

    def _search(self, words: str) -> None:
        found = self.review.search(words)
        lines = [
            f"{record.id}: {record.reference.title or '(no title)'}"
            for record in found[:_MAX_LISTED]
        ]
        self.message = "\n".join([f"{len(found):,} records hold {words!r}", *lines])

    def _open(self, number: str) -> None:
        if number not in self.review.project.records:
            raise DataError(f"no record {number!r:.30}")
        self.show(self.review.project.records[number])

    def _words(self, text: str) -> None:
        try:
            words = {
                name: float(value or 1)
                for name, _, value in (part.partition("=") for part in text.split())
            }
        except ValueError:
            raise DataError(
                "words are given as WORD=STRENGTH, such as placebo=1 animal=-1"
            ) from None
        coverage = self.review.set_words({**self.review.project.words, **words})
        missing = {word for of_category in coverage.missing.values() for word in of_category}
        unknown = [word for word in words if word in missing]
        if unknown:
            self.message = f"no record holds {', '.join(unknown)}"
        else:
            self.message = "the ranking follows these words"
        self.show(self.review.next())

    def _highlight(self, text: str) -> None:
        settings = self.review.project.settings
        lists = {
            "include": list(settings.highlight_include),
            "exclude": list(settings.highlight_exclude),
        }
        side, _, words = text.partition(" ")
        if text and side not in lists:
            raise DataError("highlight include WORDS, ..., or highlight exclude WORDS, ...")
        if text:
            lists[side] = terms_of(words)
            self.review.set_highlights(**lists)
        told = [f"{side}: {', '.join(terms) or '(none)'}" for side, terms in lists.items()]
        self.message = "highlighted, without a change of the ranking:\n" + "\n".join(told)

    def _split(self, _: str) -> None:
        self.review.split(self._current().id)
        self.message = "split; each source is a record now"


def status_line(review: Review) -> str:
    """Return the counts, and the estimate of what is left."""
    progress = review.progress()
    counts = [f"{progress.n_included:,} included"]
    if progress.n_maybe:
        counts.append(f"{progress.n_maybe:,} maybe")
    counts.append(f"{progress.n_excluded:,} excluded")
    if progress.n_waiting:
        counts.append(f"{progress.n_waiting:,} waiting for a second reviewer")
    if progress.n_conflict:
        counts.append(f"{progress.n_conflict:,} in conflict")
    return (
        f"{progress.n_decided:,} of {progress.n_records:,} decided: {', '.join(counts)}; "
        f"{progress.stopping_line()}"
    )


def screen_line_by_line(review: Review, source: TextIO, target: TextIO) -> None:
    """Read commands from lines and write plain text: for scripts, pipes and screen readers."""
    session = ScreeningSession(review)
    session.show(review.next())
    _print_record(session, target)
    for line in source:
        command, _, argument = line.strip().partition(" ")
        command = _SHORT.get(command, command)
        if not command:
            continue
        if command == "quit":
            break
        before = session.record
        session.run(command, argument.strip())
        if session.message:
            print(session.message, file=target)
        if session.record is not before:
            _print_record(session, target)
        target.flush()
    print(status_line(review), file=target)


def _print_record(session: ScreeningSession, target: TextIO) -> None:
    record = session.record
    if record is None:
        print(f"\n{session.review.progress().end_line()}", file=target)
        return
    reference = record.reference
    width = max(40, min(shutil.get_terminal_size().columns, 120))
    verdict = session.review.seen.verdict(record.id)
    told = ", ".join(
        part for part in (_byline(record), _place(session, record), verdict or "") if part
    )
    title = _with_signs(session, reference.title or "(no title)")
    abstract = _with_signs(session, reference.abstract or "(no abstract)")
    attached = _attached(session, record)
    for text in ("", f"[{record.id}] {title}", told, *attached, abstract):
        print(*_wrapped(text, width), sep="\n", file=target)
    target.flush()


def _attached(session: ScreeningSession, record: Record) -> list[str]:
    """Name the file that is attached to a record, if there is one, with its path."""
    project = session.review.project
    held = project.full_text_files.get(record.id)
    if held is None:
        return []
    return [f"full text: {held.name} ({project.full_texts.path(held.digest)})"]


def _with_signs(session: ScreeningSession, text: str) -> str:
    """Mark the words to highlight by signs, as [+trial] and [-mice]."""
    parts = []
    end = 0
    for start, stop, include in _highlights(session, text):
        parts += [text[end:start], f"[{'+' if include else '-'}{text[start:stop]}]"]
        end = stop
    return "".join([*parts, text[end:]])


def _highlights(session: ScreeningSession, text: str) -> list[Highlight]:
    settings = session.review.project.settings
    return find_highlights(text, settings.highlight_include, settings.highlight_exclude)


def _place(session: ScreeningSession, record: Record) -> str:
    """Say how probable it is that a record is relevant."""
    if not record.has_text:
        return "no title, abstract or keywords: not ranked"
    return f"probability {session.review.probability(record.id):.2f}"


def _byline(record: Record) -> str:
    reference = record.reference
    authors = "; ".join(reference.authors[:3]) + (
        " et al." if len(reference.authors) > 3 else ""
    )
    origins = f"from {'; '.join(record.origins)}" if record.origins else ""
    return ", ".join(
        part
        for part in (authors, reference.journal, str(reference.year or ""), origins)
        if part
    )


def _wrapped(text: str, width: int) -> list[str]:
    """Wrap a text to lines of so many columns; wide characters take two."""
    lines = []
    line = ""
    used = 0
    for word in re.split(r"(?<=\s)|(?<=[\u3000-\u9fff])", text):
        size = cell_len(word.rstrip())
        if used and used + size > width:
            lines.append(line.rstrip())
            line = ""
            used = 0
        line = line + word
        used = used + cell_len(word)
    return [*lines, line.rstrip()]


def highlighted(text: str, words: dict[str, float], style: str = "") -> Text:
    """Highlight words: bold green if they speak for relevance, dim red if against."""
    shown = Text(text, style=style)
    for match in re.finditer(r"\w+", text):
        weight = words.get(match[0].lower())
        if weight:
            shown.stylize(_FOR if weight > 0 else _AGAINST, match.start(), match.end())
    return shown


def _marked(session: ScreeningSession, text: Text) -> Text:
    """Mark the words that people highlight: filled in, and underlined if to exclude."""
    for start, stop, include in _highlights(session, text.plain):
        text.stylize(_INCLUDE if include else _EXCLUDE, start, stop)
    return text


def page(session: ScreeningSession, width: int, height: int, scroll: int = 0) -> list[Text]:
    """Return the lines of the screen: record, message, status, keys."""
    record = session.record
    review = session.review
    console = Console(width=width, color_system=None)
    body: list[Text] = []
    if record is None:
        line = review.progress().end_line()
        body.append(Text(f"{line[:1].upper()}{line[1:]}. Press q to leave.", style="bold"))
    else:
        words = review.informative_words(record.id, 15)
        reference = record.reference
        rank = f"record {record.id}, {_place(session, record)}"
        verdict = review.seen.verdict(record.id)
        parts = [
            _marked(session, highlighted(reference.title or "(no title)", words, "bold")),
            Text(_byline(record), style="cyan"),
            Text(f"{rank}{f', {verdict}' if verdict else ''}", style="dim"),
            *(Text(line, style="cyan") for line in _attached(session, record)),
            Text(""),
            _marked(session, highlighted(reference.abstract or "(no abstract)", words)),
        ]
        if reference.keywords:
            parts += [Text(""), Text("; ".join(reference.keywords), style="dim")]
        parts += [
            Text(f"Note: {note}", style="yellow") for note in review.seen.notes_on(record.id)
        ]
        body = [line for part in parts for line in part.wrap(console, width)]
    foot = [
        line
        for text in session.message.splitlines()
        for line in Text(text, style="yellow").wrap(console, width)
    ]
    foot += Text(status_line(review), style="reverse").wrap(console, width)
    foot += Text("  ".join(f"{key} {name}" for key, name in KEYS), style="dim").wrap(
        console, width
    )
    room = max(1, height - len(foot))
    first = min(scroll, max(0, len(body) - room))
    seen = body[first : first + room]
    if first + room < len(body):
        seen[-1] = Text("… space shows more", style="dim")
    return [*seen, *[Text("")] * (room - len(seen)), *foot[-(height - 1) :]]


def screen_in_terminal(review: Review) -> None:
    """Show records on a full screen and act on keys until q."""
    console = Console(highlight=False)
    session = ScreeningSession(review)
    session.show(review.next())
    scroll = 0
    with (
        console.screen(hide_cursor=True),
        _keys(lambda: _draw(console, session, scroll)) as read_key,
    ):
        while True:
            _draw(console, session, scroll)
            key = read_key()
            if key in ("q", "\x03", "\x04", ""):
                break
            before = session.record
            if key == " ":
                scroll += max(1, console.size.height // 2)
            elif key == "b":
                scroll = max(0, scroll - max(1, console.size.height // 2))
            else:
                _act(console, session, key, read_key)
            if session.record is not before:
                scroll = 0
    print(status_line(review))


def _draw(console: Console, session: ScreeningSession, scroll: int) -> None:
    width, height = console.size
    console.control(Control.home())
    lines = page(session, width, height, scroll)
    for number, line in enumerate(lines):
        line.truncate(width, pad=True)
        console.print(
            line, end="" if number == len(lines) - 1 else "\n", no_wrap=True, crop=True
        )


def _act(
    console: Console, session: ScreeningSession, key: str, read_key: Callable[[], str]
) -> None:
    """Do what a key says; some keys need a line of text or a choice."""
    if key == "r":
        reasons = session.review.project.settings.reasons
        choices = "".join(
            f"\n{number} {reason}" for number, reason in enumerate(reasons[:9], 1)
        )
        reason = _ask(console, session, f"Reason{choices}\n> ", read_key)
        if reason.isdigit() and 1 <= int(reason) <= len(reasons):
            reason = reasons[int(reason) - 1]
        if reason:
            session.run("exclude", reason)
    elif key in _PROMPTS:
        text = _ask(console, session, _PROMPTS[key], read_key)
        if text:
            session.run(_SHORT[key], text)
            if key == "/" and "\n" in session.message:
                number = _ask(console, session, f"{session.message}\nOpen number: ", read_key)
                session.message = ""
                if number:
                    session.run("open", number)
    elif key == "?":
        session.message = "\n".join(
            f"{name}: {text}" for name, text in (*KEYS, ("space, b", "scroll"))
        )
    elif key in _SHORT:
        session.run(_SHORT[key])


def _ask(
    console: Console, session: ScreeningSession, prompt: str, read_key: Callable[[], str]
) -> str:
    """Ask for a line of text below the record; Escape gives up."""
    typed = ""
    while True:
        session.message = prompt + typed + "▏"
        _draw(console, session, 0)
        key = read_key()
        if key in ("\x1b", "\x03", ""):
            typed = ""
        if key in ("\r", "\n", "\x1b", "\x03", ""):
            session.message = ""
            return typed.strip()
        if key in ("\x7f", "\b"):
            typed = typed[:-1]
        elif key.isprintable():
            typed += key


@contextmanager
def _keys(redraw: Callable[[], None]) -> Iterator[Callable[[], str]]:
    """Yield keys as they are pressed; the screen is drawn again when its size changes."""
    import os
    import signal
    import termios
    import tty

    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)
    old = signal.signal(signal.SIGWINCH, lambda *_: redraw())
    tty.setcbreak(handle)
    # Ctrl-C is a key too: an interrupt would end the process and leave the terminal as it is here.
    mode = termios.tcgetattr(handle)
    mode[3] &= ~termios.ISIG
    termios.tcsetattr(handle, termios.TCSADRAIN, mode)

    def read_key() -> str:
        data = os.read(handle, 1)
        while data and not _whole_character(data):
            data += os.read(handle, 1)
        return data.decode(errors="replace")

    try:
        yield read_key
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)
        signal.signal(signal.SIGWINCH, old)


def _whole_character(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return len(data) >= 4
    return True
