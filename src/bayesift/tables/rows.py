"""Read the rows of delimited text, JSON, fastText lines and Parquet.

The delimiter, the quotes and the header line of delimited text are guessed from a sample.
A quote that is not closed, or that stands inside of a quoted field, would swallow the lines after
it. Such a line is read as it stands, if that gives the right number of fields, and counted;
otherwise it alone is reported.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from bayesift.errors import DataError
from bayesift.records import Note
from bayesift.tables.columns import KNOWN_NAMES, LONGEST_LABEL
from bayesift.tables.loading import ProblemLog, describe_damage

if TYPE_CHECKING:
    import pyarrow as pa

NamesColumns: TypeAlias = Callable[[Sequence[str]], bool]
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}

_MAX_HEADER_LINE = 100  # where names of columns are known
_MAX_HEADER_RECORD = 20  # records; lines of a title or a search may stand above the header
_MAX_DEPTH = 20  # of JSON around the array of objects
_LONGEST_NAME = 30  # characters of the name of a column
_MIN_CONSISTENT_SHARE = 0.8
_MAX_READINGS = 20  # of a line, on average, where quotes are not closed
_ROWS_PER_RECURRENCE = 20  # a cell in every twentieth row is not the name of its column


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
        """Read the records of some lines."""
        if not self.quoted:
            return csv.reader(
                lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE, strict=strict
            )
        return csv.reader(lines, delimiter=self.delimiter, strict=strict)


def read_separator_line(line: str) -> str | None:
    """Read the delimiter that Excel names in a first line such as "sep=;"."""
    text = line.rstrip("\r\n")
    if len(text) == 5 and text.lower().startswith("sep="):
        return text[4]
    return None


def find_header(
    lines: Sequence[str], names_columns: NamesColumns, default: str = ","
) -> tuple[int, str] | None:
    """Find the first line that names columns: the number of lines above it, and its delimiter.

    Lines above it with as many cells are rows of the table: then it is not the header.

    Examples
    --------
    >>> lines = ["SEARCH QUERY;soil", "-----", "", "Title;Year", "Erosion;2019"]
    >>> find_header(lines, lambda cells: "Title" in cells)
    (3, ';')
    """
    for above, line in enumerate(lines[:_MAX_HEADER_LINE]):
        widths = {}
        for delimiter in dict.fromkeys((default, *DELIMITERS)):
            cells = next(Dialect(delimiter).reader([line], strict=False), [])
            if names_columns(cells):
                widths[delimiter] = len(cells)
        if widths:
            delimiter = max(widths, key=widths.__getitem__)
            before = Dialect(delimiter).reader(lines[:above], strict=False)
            has_rows = widths[delimiter] > 2 and widths[delimiter] in map(len, before)
            return None if has_rows else (above, delimiter)
    return None


def guess_dialect(
    lines: Sequence[str],
    delimiter: str | None = None,
    header: bool | None = None,
    default: str = ",",
) -> tuple[Dialect, list[Note]]:
    """Guess the dialect of some first lines, with notes on what is unusual.

    Usual are the default delimiter, quotes around fields and a header line. The last record is not
    counted, since it may go on after these lines; unless there are only two.

    Examples
    --------
    >>> guess_dialect(["body;desk", "oil, gas;crude", "wheat, corn;grain"])[0].delimiter
    ';'
    """
    notes = []
    if delimiter is None:
        delimiter = _guess_delimiter(lines, default)
        if delimiter != default:
            notes.append(
                Note(
                    "delimiter",
                    DELIMITERS[delimiter],
                    "the same number in each row",
                    "--delimiter",
                )
            )
    quoted = _are_quotes_used(lines, delimiter)
    if not quoted:
        notes.append(Note("quotes", "part of the text", "they do not enclose fields"))
    records = _sample(lines, Dialect(delimiter, quoted))
    header, above, more = guess_header(records, header)
    width = None if header else _usual_width(records) or None
    return Dialect(delimiter, quoted, header, above, width), [*notes, *more]


def guess_header(
    records: Sequence[Sequence[str]],
    header: bool | None = None,
    names_columns: NamesColumns | None = None,
) -> tuple[bool, int, list[Note]]:
    """Whether there is a header, the number of records above it, and notes on what is unusual."""
    above = 0 if header is False else _count_above(records)
    if names_columns is not None:
        named = enumerate(records[:_MAX_HEADER_LINE])
        above = next((place for place, cells in named if names_columns(cells)), above)
    if above:
        return (
            True,
            above,
            [
                Note(
                    "header",
                    f"record {above + 1}",
                    "the records above it are no rows of the table",
                )
            ],
        )
    if header is None and _is_data(records):
        reason = "cells of the first line recur below it; columns are numbered"
        return False, 0, [Note("header", "none", reason, "--header")]
    return header is not False, 0, []


def name_columns(header: Sequence[str]) -> tuple[list[str], set[str]]:
    """Return names that differ, and those that the header repeats.

    A column without a name gets its number.

    Examples
    --------
    >>> name_columns(["text", "", "text"])
    (['text', 'column 2', 'text (2)'], {'text'})
    """
    names: list[str] = []
    times = Counter[str]()
    for position, cell in enumerate(header, 1):
        if not cell.strip():
            names.append(f"column {position}")
            continue
        times[cell] += 1
        names.append(cell if times[cell] == 1 else f"{cell} ({times[cell]})")
    return names, {name for name, count in times.items() if count > 1}


def _sample(lines: Sequence[str], dialect: Dialect) -> list[list[str]]:
    records = list(filter(any, dialect.reader(lines, strict=False)))
    if len(records) > 2:
        return records[:-1]
    return records


def _guess_delimiter(lines: Sequence[str], default: str) -> str:
    """Choose the default delimiter if it fits every record, else the one that fits best.

    Of those that fit as many records, the one with the most columns is best.
    """
    fits = {}
    for delimiter in dict.fromkeys((default, *DELIMITERS)):
        share, width = max(
            _fit(lines, Dialect(delimiter)), _fit(lines, Dialect(delimiter, quoted=False))
        )
        if delimiter == default and share == 1:
            return default
        if share >= _MIN_CONSISTENT_SHARE:
            fits[delimiter] = (share, width)
    return max(fits, key=fits.__getitem__, default=_by_header(lines, default))


def _by_header(lines: Sequence[str], default: str) -> str:
    """Find the delimiter that splits the first line into names, at least one of them usual."""
    for delimiter in (default, *DELIMITERS):
        header = next(Dialect(delimiter).reader(lines[:1], strict=False), [])
        names = {cell.strip().lower() for cell in header}
        if len(names) > 1 and names & KNOWN_NAMES:
            return delimiter
    return default


def _fit(lines: Sequence[str], dialect: Dialect) -> tuple[float, int]:
    """Return the share of records with as many fields as the header, and that number.

    The share is 0 if there is one column.
    """
    records = _sample(lines, dialect)
    if not records:
        return 0, 0
    width = _usual_width(records)
    header = records[_count_above(records)]
    share = list(map(len, records)).count(width) / len(records)
    if len(header) == width or (share > 0.9 and not _has_usual_name(header)):
        return share if width > 1 else 0, width
    return 0, width


def _are_quotes_used(lines: Sequence[str], delimiter: str) -> bool:
    """Whether quotes enclose fields; not if most fields with quotes hold them in another way."""
    n_quoted = 0
    enclosed = 0
    opened = 0
    for cell in chain.from_iterable(Dialect(delimiter, quoted=False).reader(lines)):
        if '"' in cell:
            n_quoted += 1
            enclosed += len(cell) > 1 and cell[0] == cell[-1] == '"'
            opened += cell.startswith('"')
    if 2 * enclosed >= n_quoted or opened == 0:
        return True
    return _fit(lines, Dialect(delimiter)) >= _fit(lines, Dialect(delimiter, quoted=False))


def _count_above(records: Sequence[Sequence[str]]) -> int:
    """Count the records above the header: mostly blank ones, or one title above a wide table."""
    if not records:
        return 0
    width = _usual_width(records)
    for number, record in enumerate(records[:_MAX_HEADER_RECORD]):
        n_filled = len(list(filter(str.strip, record)))
        if len(record) == width and n_filled > 0.8 * width:
            is_header = (
                width > 3 or _has_usual_name(record) or _names_columns(record, records[number:])
            )
            if number and is_header and _is_title(records[0], width):
                return number
            return 0
    return 0


def _is_title(record: Sequence[str], width: int) -> bool:
    """Whether a record is not the header of a table: most of its cells are blank."""
    n_filled = len(list(filter(str.strip, record)))
    is_lone = n_filled == 1 and width > 1 and not _has_usual_name(record)
    return is_lone or len(record) - n_filled > len(record) // 2


def _names_columns(record: Sequence[str], records: Sequence[Sequence[str]]) -> bool:
    """Whether a record looks like names: short cells, none of which is in its column twice."""
    for position, cell in enumerate(record):
        cells = [row[position] for row in records if len(row) > position]
        if len(cell) > _LONGEST_NAME or cell[:1].isdecimal() or cells.count(cell) > 1:
            return False
    return len(record) > 1 and len(records) > 2


def _usual_width(records: Sequence[Sequence[str]]) -> int:
    widths = Counter(map(len, records))
    _, width = max(zip(widths.values(), widths, strict=True), default=(0, 0))
    return width


def _has_usual_name(record: Sequence[str]) -> bool:
    return not KNOWN_NAMES.isdisjoint(map(str.lower, map(str.strip, record)))


def _is_data(records: Sequence[Sequence[str]]) -> bool:
    """Whether the first record is not a header.

    None of its cells is a usual name, and a short one recurs below it.
    """
    width = _usual_width(records)
    first = next((record for record in records if len(record) == width), [])
    if (
        len(first) < 2
        or not all(map(str.strip, first))
        or any(map(_has_usual_name, (records[0], first)))
    ):
        return False
    rest = [record for record in records if record is not first]
    enough = max(2, len(rest) // _ROWS_PER_RECURRENCE)
    return any(
        len(cell) <= LONGEST_LABEL
        and sum(row[position : position + 1] == [cell] for row in rest) >= enough
        for position, cell in enumerate(first)
    )


@dataclass
class RecordReader:
    """Reads the records of lines in a dialect.

    `report` takes a message about a record that cannot be read, and its line.

    With `pad`, a record with too few fields is filled up with empty ones, and its line listed; one
    of a single field is a line of text, and listed too.
    """

    lines: Iterator[str]
    dialect: Dialect
    report: Callable[[str, int], None]
    first_line: int = 1
    pad: bool = False
    lone_quotes: list[int] = field(default_factory=list)
    short_rows: list[int] = field(default_factory=list)
    text_lines: list[int] = field(default_factory=list)
    blank_rows: list[int] = field(default_factory=list)

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (line, record) from the header on.

        Blank lines are skipped, records of another width reported.
        """
        above = self.dialect.above
        width = self.dialect.width
        held: list[str] = []
        pushed: deque[str] = deque()
        line = self.first_line
        n_pushed = 0
        reader = self.dialect.reader(self._remember(pushed, held))
        while True:
            error = None
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as caught:
                error = caught
                record = []
            if error is None and not any(record):
                if record:
                    self.blank_rows.append(line)
            elif error is not None or (width is not None and len(record) != width):
                record, used = self._read_again(held, record, error, line, width or 0)
                if used < len(held):
                    n_pushed += len(held) - used
                    if n_pushed > _MAX_READINGS * (line + len(held) + len(pushed)):
                        self.dialect = replace(self.dialect, quoted=False)
                    pushed.extendleft(reversed(held[used:]))
                    del held[used:]
                    reader = self.dialect.reader(self._remember(pushed, held))
            start = line
            line = line + len(held)
            held.clear()
            if any(record) and (above := above - 1) < 0:
                width = width or len(record)
                yield start, record

    def _remember(self, pushed: deque[str], held: list[str]) -> Iterator[str]:
        """Yield the lines, each remembered until its record is complete.

        Lines that were pushed back come first.
        """
        while pushed:
            held.append(pushed[0])
            yield pushed.popleft()
        for text in self.lines:
            held.append(text)
            yield text

    def _read_again(
        self,
        held: Sequence[str],
        record: list[str],
        error: csv.Error | None,
        line: int,
        width: int,
    ) -> tuple[list[str], int]:
        """Read a record that does not fit in another way; return it and its number of lines.

        A record that cannot be read is reported, and empty.
        """
        if "field limit" in str(error):
            self.report(
                f"a field has more than the {csv.field_size_limit():,} characters allowed", line
            )
            return [], len(held)
        if error is None and len(record) > width and not any(record[width:]):
            return record[:width], len(held)
        if self.pad and error is None and 1 < len(record) < width:
            self.short_rows.append(line)
            return record + [""] * (width - len(record)), len(held)
        if self.pad and error is None and len(record) == 1:
            self.text_lines.append(line)
            return [], len(held)
        if error is not None or len(held) > 1:
            plain = next(
                Dialect(self.dialect.delimiter, quoted=False).reader([held[0].rstrip("\r\n")]),
                [],
            )
            if len(plain) == width:
                self.lone_quotes.append(line)
                return [_unquoted(cell) for cell in plain], 1
        if error is not None:
            self.report(f"not a delimited record ({error})", line)
            return [], 1
        where = "the header" if self.dialect.header else "other rows"
        self.report(f"number of fields is {len(record)}; in {where} it is {width}", line)
        return [], len(held)


def _unquoted(cell: str) -> str:
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1]
    return cell


MAX_CHARACTERS = 5_000_000
MAX_COLUMNS = 10_000
MAX_DECODED_BYTES = 2 * 1024**3
# A larger file is read without a first look at its dictionaries.
_LARGE_FILE_BYTES = 64 * 1024**2
FASTTEXT = "__label__"
_FASTTEXT_LABEL = re.compile(rf"{FASTTEXT}([^ ]*)")
_FASTTEXT_LABELS = re.compile(rf"(?:{FASTTEXT}[^ ]*+\s*+)*+")


@dataclass(frozen=True, slots=True)
class Row:
    """A record of a table and its first line, or its number where there are no lines, from 1."""

    line: int
    values: Mapping[str, Any]


@dataclass(frozen=True)
class RowChecks:
    """Reports what cannot be read of a table to a log."""

    path: Path
    log: ProblemLog = field(default_factory=ProblemLog)
    encoding: str = "utf-8"
    max_characters: int = MAX_CHARACTERS

    def report(self, message: str, line: int) -> None:
        """Refuse the table, or count the row."""
        self.log.report(message, file=self.path, line=line)

    def accept(self, row: Row) -> bool:
        """Whether all text of a row can be used; what cannot is reported."""
        for name, value in row.values.items():
            if not isinstance(value, str):
                continue
            damage = describe_damage(value, self.encoding)
            if damage is not None and "decoded" in damage:
                damage += "; name the right one with --encoding"
            if damage is None and len(value) > self.max_characters:
                damage = (
                    f"{len(value):,} characters, more than the {self.max_characters:,} allowed"
                )
            if damage is not None:
                self.report(f"column {name!r}: {damage}", row.line)
                return False
        return True


def refuse_wide(n_columns: int, path: Path) -> None:
    """Refuse a table of too many columns, each of which would be looked at."""
    if n_columns > MAX_COLUMNS:
        raise DataError(_too_many_columns(n_columns), file=path)


def _too_many_columns(n_columns: int) -> str:
    return f"has {n_columns:,} columns, more than the {MAX_COLUMNS:,} allowed"


def read_json_lines(
    lines: Iterable[str], checks: RowChecks, *, first: int = 1
) -> Iterator[Row]:
    """Read rows of one JSON object per line, numbered from `first`; blank lines are skipped."""
    for line, text in enumerate(lines, first):
        if not text.strip():
            continue
        damage = describe_damage(text, checks.encoding)
        value: Any = None
        try:
            value = None if damage else json.loads(text)
        except json.JSONDecodeError as error:
            damage = f"not JSON ({error.msg} at column {error.colno})"
        except (ValueError, RecursionError) as error:
            damage = f"not JSON that can be read ({error})"
        if damage is None and not isinstance(value, dict):
            damage = 'not a JSON object; each line must be one, such as {"text": "..."}'
        elif damage is None and len(value) > MAX_COLUMNS:
            damage = _too_many_columns(len(value))
        if damage is not None:
            checks.report(damage, line)
        elif checks.accept(row := Row(line, value)):
            yield row


def holds_json_lines(start: str) -> bool:
    """Whether a text that starts with an object has one object per line."""
    first, newline, rest = start.partition("\n")
    try:
        document = json.loads(first)
    except (ValueError, RecursionError):
        return not newline  # the start of a long line, or else of an object with many lines
    return bool(rest.strip()) or find_objects(document) is None


def read_json(lines: Iterable[str], checks: RowChecks) -> Iterator[Row]:
    """Read the rows of one JSON document.

    It is an array of objects, an object that holds one, or an object with an array per column.
    """
    try:
        document = json.loads("".join(lines))
    except json.JSONDecodeError as error:
        message = f"not JSON ({error.msg} at column {error.colno})"
        raise DataError(message, file=checks.path, line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON that can be read ({error})", file=checks.path) from error
    objects = find_objects(document)
    if objects is None:
        raise DataError(
            "is JSON, but holds no array of objects, such as [{...}, {...}]", file=checks.path
        )
    for number, value in enumerate(objects, 1):
        if not isinstance(value, dict):
            checks.report("not a JSON object, as the others of the array", number)
        elif len(value) > MAX_COLUMNS:
            checks.report(_too_many_columns(len(value)), number)
        elif checks.accept(row := Row(number, value)):
            yield row


def find_objects(document: Any, depth: int = 0) -> list[Any] | None:
    """Find the objects of a JSON document.

    Examples
    --------
    >>> find_objects({"n": 1, "data": [{"text": "corn"}]})
    [{'text': 'corn'}]
    >>> find_objects({"page": 1, "response": {"data": [{"text": "corn"}]}})
    [{'text': 'corn'}]
    >>> find_objects({"text": ["corn", "oil"], "label": {"0": "grain", "1": "crude"}})
    [{'text': 'corn', 'label': 'grain'}, {'text': 'oil', 'label': 'crude'}]
    """
    if isinstance(document, list):
        if any(isinstance(value, dict) for value in document):
            return document
        return None
    if not isinstance(document, dict):
        return None
    inner = [value for value in document.values() if isinstance(value, dict)]
    plain = (name for name, value in document.items() if not isinstance(value, dict))
    if depth < _MAX_DEPTH and len(inner) == 1 and KNOWN_NAMES.isdisjoint(plain):
        found = find_objects(inner[0], depth + 1)
        if found:
            return found
    arrays = [
        value
        for value in document.values()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    ]
    # Of several, the one whose objects have a text: EPPI-Reviewer has sets of codes beside records.
    named = [each for each in arrays if not KNOWN_NAMES.isdisjoint(map(str.lower, each[0]))]
    for chosen in (arrays, named):
        if len(chosen) == 1:
            return chosen[0]
    # As pandas writes a table: every column an array, or an object with the number of the row as
    # key.
    columns = {k: list(v.values()) if isinstance(v, dict) else v for k, v in document.items()}
    if (
        columns
        and all(isinstance(v, list) for v in columns.values())
        and len({len(v) for v in columns.values()}) == 1
    ):
        return [
            dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        ]
    return None


def read_fasttext(lines: Iterable[str], checks: RowChecks) -> Iterator[Row]:
    """Read rows of lines that start with their labels, each with `__label__` before it."""
    for line, text in enumerate(lines, 1):
        match = _FASTTEXT_LABELS.match(text.strip())
        assert match is not None  # there may be no labels
        labels = _FASTTEXT_LABEL.findall(match[0])
        rest = match.string[match.end() :]
        if (rest or labels) and checks.accept(
            row := Row(line, {"text": rest, "label": labels})
        ):
            yield row


def decoded_bytes(content: Path | BinaryIO) -> int:
    """Return the bytes of the values of a Parquet file when they are decoded.

    Metadata tells the size of a dictionary, whose entries may stand in many rows. The rows are read
    as numbers of entries here, so that no more is held than the file has.
    """
    import pyarrow.compute as pc
    from pyarrow import parquet

    metadata = parquet.read_metadata(content)
    size = 0
    texts = set()
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        size += group.total_byte_size
        for chunk in map(group.column, range(group.num_columns)):
            if chunk.has_dictionary_page and chunk.physical_type == "BYTE_ARRAY":
                texts.add(chunk.path_in_schema)
    if not isinstance(content, Path):
        content.seek(0)
    names = sorted(texts)
    with parquet.ParquetFile(content, read_dictionary=names) as table:
        for batch in table.iter_batches(columns=names) if names else ():
            for column in chain.from_iterable(map(_leaves, batch.columns)):
                if hasattr(column, "dictionary"):
                    lengths = pc.binary_length(column.dictionary)
                    size += pc.sum(lengths.take(column.indices).cast("int64")).as_py() or 0
    return size


def _leaves(column: pa.Array) -> Iterator[pa.Array]:
    """Yield the values in lists and objects."""
    import pyarrow as pa

    if not pa.types.is_nested(column.type):
        yield column
        return
    flat = column.flatten()
    for part in flat if isinstance(flat, list) else [flat]:
        yield from _leaves(part)


def _refuse_inflated(source: Path | BinaryIO, path: Path) -> None:
    if isinstance(source, Path) and source.stat().st_size > _LARGE_FILE_BYTES:
        return
    if decoded_bytes(source) > MAX_DECODED_BYTES:
        raise DataError(f"decodes to more than {MAX_DECODED_BYTES:,} bytes; refused", file=path)


def read_parquet(source: Path | BinaryIO, checks: RowChecks) -> Iterator[Row]:
    """Read the rows of a Parquet file."""
    for first, batch in read_batches(source, checks.path):
        yield from batch_rows(batch, first, checks)


def batch_rows(batch: pa.RecordBatch, first: int, checks: RowChecks) -> Iterator[Row]:
    """Read the rows of a batch, numbered from `first`."""
    for number, values in enumerate(batch.to_pylist(), first):
        if checks.accept(row := Row(number, values)):
            yield row


def read_batches(
    source: Path | BinaryIO, path: Path, size: int = 4096
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Read a Parquet file in batches, each with the number of its first row."""
    import pyarrow
    from pyarrow import parquet

    number = 0
    try:
        given = source if isinstance(source, Path) else io.BytesIO(source.read())
        refuse_wide(parquet.read_metadata(given).num_columns, path)
        _refuse_inflated(given, path)
        with parquet.ParquetFile(given) as table:
            for batch in table.iter_batches(batch_size=size):
                batch.validate(full=True)  # refuses what is not UTF-8
                yield number + 1, batch
                number += len(batch)
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(
            f"cannot be read as Parquet ({reason})", file=path, line=number or None
        ) from error
