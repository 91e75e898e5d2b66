"""The lines of a text file, with its encoding guessed, and records of tagged lines."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from bayesift.records import Note
from bayesift.references.reference import Fields
from bayesift.tables.loading import Source, check_encoding


class Report(Protocol):
    """Names a line and what is wrong with it.

    `lost` is the number of records that are not read because of it.
    """

    def __call__(self, line: int, message: str, *, lost: int = 0) -> None:
        """Report."""


_TITLES = frozenset({"TI", "T1"})
_DAMAGE = re.compile("[\0\ud800-\udfff]")


class Entry(NamedTuple):
    """A record as found: the line it starts on and its fields in order."""

    line: int
    fields: Fields


def repair(line: str, encoding: str, number: int, report: Report) -> str:
    """Remove NUL, and replace bytes that could not be decoded by U+FFFD.

    Both are reported.
    """
    match = _DAMAGE.search(line)
    if match is None:
        return line
    if match[0] == "\0":
        what = "NUL bytes, left out"
    else:
        what = f"bytes that are not {encoding}, replaced by U+FFFD"
    report(number, f"holds {what}")
    return re.sub("[\ud800-\udfff]", "\ufffd", line.replace("\0", ""))


@dataclass
class Input:
    """A file that is being read.

    Readers report what they do not understand and note what they guessed.
    """

    source: Source
    report: Report
    notes: list[Note] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self.source.path

    def lines(self) -> Iterator[tuple[int, str]]:
        """Read the number and the text of each line.

        What cannot be decoded is replaced by U+FFFD and reported.
        """
        encoding = self.source.encoding
        errors = "replace"
        if encoding in ("utf-8", "latin-1") or encoding.startswith("cp"):
            errors = "surrogateescape"
        with self.source.open() as stream:
            text = io.TextIOWrapper(
                stream, check_encoding(encoding), errors=errors, newline=None
            )
            for number, line in enumerate(text, 1):
                if "\0" in line or not line.isascii():
                    line = repair(line, encoding, number, self.report)
                yield number, line.rstrip("\n")


class RecordLines:
    """Collects the fields of one record from its lines, which are joined by `separator`."""

    def __init__(self, separator: str = "\n") -> None:
        self.separator = separator
        self._clear()

    def _clear(self) -> None:
        self.line = 0
        self.tags: set[str] = set()
        self._fields: list[tuple[str, str]] = []
        self._lines: list[str] = []
        self._blanks = 0

    def __bool__(self) -> bool:
        return bool(self._fields)

    def add(self, number: int, tag: str, value: str) -> None:
        """Add a line with a tag."""
        self._join()
        if not self._fields:
            self.line = number
        self._fields.append((sys.intern(tag), value))
        self.tags.add(tag)

    def extend(self, text: str) -> None:
        """Add a line that continues the field before; blank lines count if text follows."""
        if not text.strip():
            self._blanks += 1
            return
        if self.separator == " ":
            text = text.strip(" \t")
        else:
            self._lines += [""] * self._blanks
        self._blanks = 0
        self._lines.append(text)

    def extend_or_report(self, number: int, line: str, report: Report) -> None:
        """Add a line without a tag if it continues a record; else report it."""
        if self:
            self.extend(line)
        elif line.strip():
            report(number, "text outside of a record, left out")

    def take(self) -> Entry:
        """Return the record and empty the block."""
        self._join()
        entry = Entry(self.line, tuple(self._fields))
        self._clear()
        return entry

    def _join(self) -> None:
        if self._lines and self._fields:
            tag, value = self._fields[-1]
            self._fields[-1] = (
                tag,
                self.separator.join(
                    [value.rstrip(" ") if self.separator == " " else value, *self._lines]
                ),
            )
        self._lines = []
        self._blanks = 0


def bounded_records(
    lines: Iterable[tuple[int, str]],
    report: Report,
    parse: Callable[[str], tuple[str, str] | None],
    *,
    start: str,
    end: str,
) -> Iterator[Entry]:
    """Read records between a line tagged `start` and one tagged `end`.

    One that lacks either is reported and read.

    Lines before a record, such as "Record #3 of 18", are kept in a field without a tag.
    """
    block = RecordLines()
    heading = RecordLines()
    for number, line in lines:
        tag, value = parse(line) or ("", "")
        name = tag.upper()
        if name == end:
            if block:
                yield block.take()
            else:
                report(number, f"{end} without a record before it")
        elif tag:
            if name == start and block:
                report(block.line, f"record without {end}")
                yield block.take()
            if not block:
                if name != start:
                    report(number, f"record without {start}")
                for _, text in heading.take().fields:
                    block.add(number, "", text)
            elif name in _TITLES and tag in block.tags:
                report(
                    number,
                    "a second title in one record; are they two, and the line between them lost?",
                )
            block.add(number, tag, value)
        elif block:
            block.extend(line)
        elif heading:
            heading.extend(line)
        elif line.strip():
            heading.add(number, "", line)
    if block:
        report(block.line, f"record without {end}")
        yield block.take()
    if heading:
        report(heading.line, "text after the last record, left out")
