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
# One of these at least is in every record; fields without them only add to one.
_SUBSTANCE = _TITLES | {"CT", "BT", "ST", "AB", "N2", "AU", "A1", "AF"}
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


class BoundedRecords:
    """Reads records between a line tagged `start` and one tagged `end`.

    A record that lacks either is reported and read. Programs also write fields that stand between
    two records. Those that follow `end` at once belong to the record before, others to the one
    after; they are not a record of their own unless there is a title, a text or an author among
    them.

    Lines before a record, such as "Record #3 of 18", are kept in a field without a tag.
    """

    def __init__(
        self,
        report: Report,
        parse: Callable[[str], tuple[str, str] | None],
        *,
        start: str,
        end: str,
    ) -> None:
        self._report = report
        self._parse = parse
        self._start = start
        self._end = end
        self._block = RecordLines()
        self._heading = RecordLines()
        self._last: Entry | None = None  # ended, but fields may follow
        self._is_apart = False  # a line without a field came after the end

    def read(self, lines: Iterable[tuple[int, str]]) -> Iterator[Entry]:
        """Read the records of lines."""
        for number, line in lines:
            tag, value = self._parse(line) or ("", "")
            name = tag.upper()
            if name == self._end:
                yield from self._finish(number)
            elif tag:
                if name == self._start:
                    yield from self._begin()
                self._add(number, tag, value)
            elif self._block and not self._is_aside(line):
                self._block.extend(line)
            else:
                self._add_outside(number, line)
        yield from self._close()

    def _add(self, number: int, tag: str, value: str) -> None:
        block = self._block
        if not block:
            for _, text in self._heading.take().fields:
                block.add(number, "", text)
        elif tag.upper() in _TITLES and tag in block.tags:
            self._report(
                number,
                "a second title in one record; are they two, and the line between them lost?",
            )
        block.add(number, tag, value)

    def _add_outside(self, number: int, line: str) -> None:
        """Add a line between two records; what came before it is complete."""
        self._join_last()
        self._is_apart = True
        if self._heading:
            self._heading.extend(line)
        elif line.strip():
            self._heading.add(number, "", line)

    def _is_aside(self, line: str) -> bool:
        """Whether a line ends fields that follow the end of a record."""
        return not line.strip() and self._last is not None and self._is_rest()

    def _is_rest(self) -> bool:
        """Whether the fields at hand are no record of their own."""
        tags = {tag.upper() for tag in self._block.tags}
        return self._start not in tags and tags.isdisjoint(_SUBSTANCE)

    def _join_last(self) -> None:
        """Add the fields at hand to the record that has ended."""
        if self._block and self._last is not None:
            rest = self._block.take()
            self._last = Entry(self._last.line, (*self._last.fields, *rest.fields))

    def _begin(self) -> Iterator[Entry]:
        """Complete the record before a new one."""
        if self._block and not self._is_rest():
            yield from self._complete(ended=False)
        elif not self._is_apart:
            self._join_last()
        yield from self._give_last()

    def _finish(self, number: int) -> Iterator[Entry]:
        if not self._block:
            self._report(number, f"{self._end} without a record before it")
        elif self._is_rest() and self._last is not None:
            self._join_last()
        else:
            yield from self._complete(ended=True)

    def _complete(self, *, ended: bool) -> Iterator[Entry]:
        """Hold the record at hand, and yield the one that was held."""
        yield from self._give_last()
        entry = self._block.take()
        self._is_apart = False
        tags = {tag.upper() for tag, value in entry.fields if value.strip()}
        if tags <= {"", self._start}:
            self._report(entry.line, "record without any field, left out", lost=1)
            return
        if self._start not in {tag.upper() for tag, _ in entry.fields}:
            self._report(entry.line, f"record without {self._start}")
        if not ended:
            self._report(entry.line, f"record without {self._end}")
        self._last = entry

    def _give_last(self) -> Iterator[Entry]:
        if self._last is not None:
            yield self._last
        self._last = None

    def _close(self) -> Iterator[Entry]:
        if self._block and self._is_rest() and self._last is not None:
            self._join_last()
        elif self._block:
            yield from self._complete(ended=False)
        yield from self._give_last()
        if self._heading:
            self._report(self._heading.line, "text after the last record, left out")
