"""Delimited text: the delimiter, the quotes and the header line guessed from a sample; records with their lines.

A quote that is not closed, or that stands inside of a quoted field, would swallow the lines after it. Such a line is
read as it stands, if that gives the right number of fields, and counted; otherwise it alone is reported.
"""

from __future__ import annotations

import csv
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bayesift.datasets.columns import KNOWN_NAMES, LONGEST_LABEL
from bayesift.records import Note

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}

_HEADER_WITHIN = 20  # records; lines of a title or a search may stand above the header
_CONSISTENT = 0.8
_RECURS = 20  # a cell that stands in every twentieth row is no name of its column


@dataclass(frozen=True)
class Dialect:
    """How a delimited text is written; `above` is the number of its records above the header.

    `width` is the number of fields of a record where no header tells.
    """

    delimiter: str = ","
    quoted: bool = True
    header: bool = True
    above: int = 0
    width: int | None = None

    def reader(self, lines: Iterable[str], *, strict: bool = True) -> Iterator[list[str]]:
        """The records of some lines."""
        if not self.quoted:
            return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE, strict=strict)
        return csv.reader(lines, delimiter=self.delimiter, strict=strict)


def read_separator_line(line: str) -> str | None:
    """The delimiter that Excel names in a first line such as "sep=;"."""
    text = line.rstrip("\r\n")
    return text[4] if len(text) == 5 and text.lower().startswith("sep=") else None


def guess_dialect(
    lines: Sequence[str], delimiter: str | None = None, header: bool | None = None, default: str = ","
) -> tuple[Dialect, list[Note]]:
    """The dialect of some first lines, with notes on what differs from the default delimiter, quotes and a header line.

    The last record is not counted, since it may go on after these lines; unless there are only two.

    Examples
    --------
    >>> guess_dialect(["body;desk", "oil, gas;crude", "wheat, corn;grain"])[0].delimiter
    ';'
    """
    notes = []
    if delimiter is None:
        delimiter = _guess_delimiter(lines, default)
        if delimiter != default:
            notes.append(Note("delimiter", DELIMITERS[delimiter], "the same number in each row", "--delimiter"))
    quoted = _are_quotes_used(lines, delimiter)
    if not quoted:
        notes.append(Note("quotes", "part of the text", "they do not enclose fields"))
    records = _sample(lines, Dialect(delimiter, quoted))
    header, above, more = guess_header(records, header)
    width = None if header else _usual_width(records) or None
    return Dialect(delimiter, quoted, header, above, width), [*notes, *more]


def guess_header(records: Sequence[Sequence[str]], header: bool | None = None) -> tuple[bool, int, list[Note]]:
    """Whether there is a header, the number of records above it, and notes on what is unusual."""
    above = 0 if header is False else _count_above(records)
    if above:
        return True, above, [Note("header", f"record {above + 1}", "the records above it are no rows of the table")]
    if header is None and _is_data(records):
        reason = "cells of the first line recur below it; columns are numbered"
        return False, 0, [Note("header", "none", reason, "--header")]
    return header is not False, 0, []


def name_columns(header: Sequence[str]) -> tuple[list[str], set[str]]:
    """Names that differ, and those that the header repeats; a column without a name gets its number.

    Examples
    --------
    >>> name_columns(["text", "", "text"])
    (['text', 'column 2', 'text (2)'], {'text'})
    """
    names: list[str] = []
    repeated = set()
    for place, cell in enumerate(header, 1):
        name = cell if cell.strip() else f"column {place}"
        times = 1 + sum(other == cell for other in header[: place - 1]) if cell.strip() else 1
        if times > 1:
            repeated.add(name)
        names.append(name if times == 1 else f"{name} ({times})")
    return names, repeated


def _sample(lines: Sequence[str], dialect: Dialect) -> list[list[str]]:
    records = [record for record in dialect.reader(lines, strict=False) if any(record)]
    return records[:-1] if len(records) > 2 else records


def _guess_delimiter(lines: Sequence[str], default: str) -> str:
    """The default if it fits every record, else the delimiter that fits the most, and with it the most columns."""
    fits = {}
    for delimiter in sorted(DELIMITERS, key=lambda other: other != default):
        share, width = max(_fit(lines, Dialect(delimiter)), _fit(lines, Dialect(delimiter, quoted=False)))
        if delimiter == default and share == 1:
            return default
        if share >= _CONSISTENT:
            fits[delimiter] = (share, width)
    return max(fits, key=fits.__getitem__, default=_by_header(lines, default))


def _by_header(lines: Sequence[str], default: str) -> str:
    """The delimiter that splits the first line into names, one of them usual, where the default does not."""
    for delimiter in (default, *DELIMITERS):
        header = next(Dialect(delimiter).reader(lines[:1], strict=False), [])
        names = {cell.strip().lower() for cell in header}
        if len(names) > 1 and names & KNOWN_NAMES:
            return delimiter
    return default


def _fit(lines: Sequence[str], dialect: Dialect) -> tuple[float, int]:
    """The share of records with as many fields as the header, and their number; 0 if there is one column."""
    records = _sample(lines, dialect)
    if not records:
        return 0, 0
    width, header = _usual_width(records), records[_count_above(records)]
    share = sum(len(record) == width for record in records) / len(records)
    if len(header) == width or (share > 0.9 and not _has_usual_name(header)):
        return share if width > 1 else 0, width
    return 0, width


def _are_quotes_used(lines: Sequence[str], delimiter: str) -> bool:
    """Whether quotes enclose fields; not if most fields with quotes hold them in another way."""
    cells = [cell for record in Dialect(delimiter, quoted=False).reader(lines) for cell in record if '"' in cell]
    enclosed = sum(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells)
    opened = sum(cell.startswith('"') for cell in cells)
    if 2 * enclosed >= len(cells) or opened == 0:
        return True
    return _fit(lines, Dialect(delimiter)) >= _fit(lines, Dialect(delimiter, quoted=False))


def _count_above(records: Sequence[Sequence[str]]) -> int:
    """Number of records above the header: those that are mostly blank, or one title, where the table is wide."""
    if not records:
        return 0
    width = _usual_width(records)
    for number, record in enumerate(records[:_HEADER_WITHIN]):
        filled = sum(1 for cell in record if cell.strip())
        if len(record) == width and filled > 0.8 * width:
            is_header = width > 3 or _has_usual_name(record)
            first = records[0]
            blank = sum(1 for cell in first if not cell.strip())
            is_title = blank > len(first) // 2 or (len(first) == 1 and width > 1)
            return number if number and is_header and is_title else 0
    return 0


def _usual_width(records: Sequence[Sequence[str]]) -> int:
    widths = Counter(map(len, records))
    return max(widths, key=lambda width: (widths[width], width), default=0)


def _has_usual_name(record: Sequence[str]) -> bool:
    return any(cell.strip().lower() in KNOWN_NAMES for cell in record)


def _is_data(records: Sequence[Sequence[str]]) -> bool:
    """Whether the first record is no header: none of its cells is a usual name, and a short one recurs below it."""
    width = _usual_width(records)
    first = next((record for record in records if len(record) == width), [])
    if len(first) < 2 or not all(map(str.strip, first)) or any(map(_has_usual_name, (records[0], first))):
        return False
    rest = [record for record in records if record is not first]
    enough = max(2, len(rest) // _RECURS)
    return any(
        len(cell) <= LONGEST_LABEL and sum(row[place : place + 1] == [cell] for row in rest) >= enough
        for place, cell in enumerate(first)
    )


@dataclass
class RecordReader:
    """Reads the records of lines in a dialect; `report` is told of records that cannot be read, with their line.

    With `pad`, a record with too few fields is filled up with empty ones, and its line listed.
    """

    lines: Iterator[str]
    dialect: Dialect
    report: Callable[[str, int], None]
    first_line: int = 1
    pad: bool = False
    lone_quotes: list[int] = field(default_factory=list)
    short_rows: list[int] = field(default_factory=list)
    blank_rows: list[int] = field(default_factory=list)

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (line, record) from the header on; blank lines are skipped, records of another width reported."""
        above = self.dialect.above
        width = self.dialect.width
        held: list[str] = []
        pushed: deque[str] = deque()
        line = self.first_line
        reader = self.dialect.reader(self._remember(pushed, held))
        while True:
            error = None
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as caught:
                error, record = caught, []
            if error is None and not any(record):
                if record:
                    self.blank_rows.append(line)
            elif error is not None or (width is not None and len(record) != width):
                record, used = self._read_again(held, record, error, line, width or 0)
                if used < len(held):
                    pushed.extendleft(reversed(held[used:]))
                    del held[used:]
                    reader = self.dialect.reader(self._remember(pushed, held))
            start, line = line, line + len(held)
            held.clear()
            if any(record) and (above := above - 1) < 0:
                width = width or len(record)
                yield start, record

    def _remember(self, pushed: deque[str], held: list[str]) -> Iterator[str]:
        """The lines, each remembered until its record is complete; lines that were pushed back come first."""
        while pushed:
            held.append(pushed[0])
            yield pushed.popleft()
        for text in self.lines:
            held.append(text)
            yield text

    def _read_again(
        self, held: Sequence[str], record: list[str], error: csv.Error | None, line: int, width: int
    ) -> tuple[list[str], int]:
        """A record that does not fit, read in another way or else empty, and the number of its lines."""
        if "field limit" in str(error):
            self.report(f"a field has more than the {csv.field_size_limit():,} characters allowed", line)
            return [], len(held)
        if error is None and len(record) > width and not any(record[width:]):
            return record[:width], len(held)
        if self.pad and error is None and 1 < len(record) < width:
            self.short_rows.append(line)
            return record + [""] * (width - len(record)), len(held)
        if error is not None or len(held) > 1:
            plain = next(Dialect(self.dialect.delimiter, quoted=False).reader([held[0].rstrip("\r\n")]), [])
            if len(plain) == width:
                self.lone_quotes.append(line)
                return [_unquoted(cell) for cell in plain], 1
        if error is not None:
            self.report(f"not a delimited record ({error})", line)
            return [], 1
        place = "the header" if self.dialect.header else "other rows"
        self.report(f"number of fields is {len(record)}; in {place} it is {width}", line)
        return [], len(held)


def _unquoted(cell: str) -> str:
    return cell[1:-1] if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell
