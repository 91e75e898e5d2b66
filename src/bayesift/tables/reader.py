"""Read tables with one document per row: CSV, TSV, JSON, Parquet, spreadsheets, fastText lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeVar

import numpy as np

from bayesift.arrays import IntArray
from bayesift.errors import DataError
from bayesift.records import Corpus, Document, DocumentTable, Note
from bayesift.tables.columns import (
    KNOWN_NAMES,
    SAMPLE_ROWS,
    Columns,
    TableLayout,
    listed,
    read_categories,
    read_name,
    read_text,
    text_candidates,
)
from bayesift.tables.dates import read_dates
from bayesift.tables.loading import (
    EMPTY_DOCUMENT,
    OLE,
    PARQUET,
    ZIPPED,
    ProblemLog,
    Source,
    check_encoding,
    describe_damage,
    is_new_id,
    read_lines,
    refuse_empty,
    report_read,
)
from bayesift.tables.rows import (
    DELIMITERS,
    FASTTEXT,
    MAX_CHARACTERS,
    Dialect,
    NamesColumns,
    RecordReader,
    Row,
    RowChecks,
    find_header,
    guess_dialect,
    guess_header,
    holds_json_lines,
    name_columns,
    read_fasttext,
    read_json,
    read_json_lines,
    read_parquet,
    read_separator_line,
    refuse_wide,
)
from bayesift.tables.sheets import SPREADSHEETS, read_sheet
from bayesift.threads import computed_once

if TYPE_CHECKING:
    import pyarrow as pa

DELIMITED = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
TABLES_ONLY = (*DELIMITED, *JSON_LINES, ".json", *PARQUET, *SPREADSHEETS)
TABLE_SUFFIXES = (*TABLES_ONLY, ".txt")

Kind = Literal["delimited", "json-lines", "json", "parquet", "spreadsheet", "fasttext"]

_SAMPLE_LINES = 500
_DOCUMENTS_PER_BATCH = 1 << 14  # documents that are held as Python objects at a time

Record = TypeVar("Record")


@dataclass(frozen=True)
class TableFormat:
    r"""How a table is written; what is None is guessed.

    Parameters
    ----------
    encoding : of the text
    delimiter : between the fields of a row: a character, or its name (comma, semicolon, tab, pipe)
    header : whether the first row names the columns; without names they are numbered from 1
    sheet : of a spreadsheet: its name, or its number from 1

    Examples
    --------
    >>> TableFormat(delimiter="tab").delimiter
    '\t'
    """

    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        spelled = {name: sign for sign, name in DELIMITERS.items()} | {r"\t": "\t"}
        delimiter = spelled.get(self.delimiter or "", self.delimiter)
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
            raise ValueError(
                f"delimiter must be one character or one of {', '.join(spelled)}, not {delimiter!r}"
            )
        object.__setattr__(self, "delimiter", delimiter)


class TableReader:
    r"""Reads the rows of one table, once; records that cannot be read are reported to the log.

    Parameters
    ----------
    source : a file, a stream of bytes, or either of them after a look at it
    log : where problems are reported
    format : what is known of the way the table is written
    max_characters : maximum length of a field
    live : whether the source is a stream whose rows are wanted as they come
    pad : whether a row with too few fields is read, and listed in `short_rows`, instead of reported
    layout : how the table was read that a model was fitted to: columns that are not named are those
    names_columns : whether the cells of a record are names of columns; what stands above the first
        such record is left out

    Attributes
    ----------
    kind : of the table, by its first bytes and its suffix; None if it is not a table
    notes : what was guessed; complete when all rows are read
    header_line : the line that names the columns, if there is one
    short_rows : lines of the rows that were filled up
    text_lines : lines of text among the rows, which were left out, with `pad`
    names : of all columns, once they are resolved
    columns : those that were found, once they are resolved

    Examples
    --------
    >>> reader = TableReader(io.BytesIO(b"Body;desk\noil, gas;crude\ncorn, rye;grain\n"))
    >>> [dict(row.values) for row in reader]
    [{'Body': 'oil, gas', 'desk': 'crude'}, {'Body': 'corn, rye', 'desk': 'grain'}]
    >>> print(*reader.notes)
    delimiter: semicolon (the same number in each row; --delimiter)
    """

    def __init__(
        self,
        source: Path | BinaryIO | Source,
        log: ProblemLog | None = None,
        format: TableFormat | None = None,  # noqa: A002 - the word for it
        *,
        max_characters: int = MAX_CHARACTERS,
        live: bool = False,
        pad: bool = False,
        layout: TableLayout | None = None,
        names_columns: NamesColumns | None = None,
    ) -> None:
        # The limit is process-wide and only raised, so that no other reader is affected.
        csv.field_size_limit(max(csv.field_size_limit(), max_characters))
        self.format = format or TableFormat()
        if layout is not None and self.format.header is None:
            self.format = replace(self.format, header=layout.header)
        self._layout = layout
        self._names_columns = names_columns
        self.live = live
        self.pad = pad
        self.short_rows: list[int] = []
        self.text_lines: list[int] = []
        self.notes: list[Note] = []
        self.header_line: int | None = None
        self.names: list[str] = []
        self.columns: Columns | None = None
        self._unused_texts: tuple[str, ...] = ()
        if not isinstance(source, Source):
            source = Source.of(source, self.format.encoding, live=live)
        self._source = source
        self._repeated: set[str] = set()
        self._wanted: Columns | None = None  # tells the sheet of a spreadsheet
        encoding = self.format.encoding or source.encoding
        self._head = source.head.decode(check_encoding(encoding), "replace")
        if self.format.encoding is None and encoding != "utf-8":
            reason = "by its mark" if encoding in ("utf-16", "utf-32") else "it is not UTF-8"
            self.notes.append(Note("encoding", encoding, reason, "--encoding"))
        # What a file holds counts for more than its name: programs export anything as .csv or .xls.
        self.kind = self._find_kind()
        self.checks = RowChecks(
            self._source.path, log or ProblemLog(), encoding, max_characters
        )

    @property
    def path(self) -> Path:
        """The file, or the name of the stream."""
        return self._source.path

    def _find_kind(self) -> Kind | None:
        suffix = self._source.suffix
        start = self._head.lstrip()
        if self._source.is_binary:
            if self._source.head.startswith((ZIPPED, OLE)):
                return "spreadsheet"
            return "parquet"
        if suffix in JSON_LINES:
            return "json-lines"
        if (
            suffix == ".json"
            or start.startswith("{")
            or (start.startswith("[") and start[1:].lstrip()[:1] == "{")
        ):
            if start.startswith("{") and holds_json_lines(start):
                return "json-lines"
            return "json"
        if start.startswith(FASTTEXT):
            return "fasttext"
        if suffix in DELIMITED or self.format.delimiter is not None:
            return "delimited"
        if self._looks_delimited():
            return "delimited"
        return None

    def _looks_delimited(self) -> bool:
        if "\0" in self._head or self._head.lstrip()[:1] in ("", "<"):
            return False
        dialect, lines, _ = self._guess
        first = next(dialect.reader(lines, strict=False), [])
        return (dialect.width or len(first)) > 1 or (
            len(first) == 1 and first[0].strip().lower() in KNOWN_NAMES
        )

    def _sample(self) -> list[str]:
        return list(islice(io.StringIO(self._head, newline=""), _SAMPLE_LINES))

    def __iter__(self) -> Iterator[Row]:
        if self.kind == "delimited":
            return self._read_delimited()
        if self.kind == "spreadsheet":
            return self._read_spreadsheet()
        if self.kind == "parquet":
            return self._read_parquet()
        if self.kind is None:
            raise DataError(self._describe_unknown(), file=self.path)
        read = {"json-lines": read_json_lines, "json": read_json, "fasttext": read_fasttext}[
            self.kind
        ]
        return read(self.lines(), self.checks)

    def _describe_unknown(self) -> str:
        start = self._head.lstrip()[:200].lower()
        if not start:
            return "is empty"
        if start.startswith(("<!doctype html", "<html", "<table", "<meta")):
            return "is a web page; open it in a spreadsheet and save it as CSV or XLSX"
        if self._source.suffix in SPREADSHEETS:
            return "is not a spreadsheet, whatever its name says"
        return f"unknown kind of file; tables end in one of: {', '.join(TABLE_SUFFIXES)}"

    @property
    def is_text(self) -> bool:
        """Whether the suffix says no more than that it is text, as in a stream."""
        return not self._source.is_binary and self._source.suffix not in TABLES_ONLY

    @property
    def has_known_names(self) -> bool:
        """Whether the first line of a delimited text names a column of text.

        It is a usual name, or that of the layout.
        """
        dialect, sample, _ = self._guess
        names = next(dialect.reader(sample, strict=False), [])
        known = Columns()
        if self._layout is not None:
            known = replace(known, text=self._layout.columns.text)
        return any(wanted.are_told_by(names, labels=False) for wanted in (known, Columns()))

    def column_names(self) -> Iterable[str]:
        """Find the columns of the first row that can be read, in the head of a text if possible."""
        quiet = replace(self.checks, log=ProblemLog(skip=True))
        if self.kind == "delimited":
            dialect, first_line = self.dialect
            lines = iter(self._sample()[first_line - 1 :])
            return next((names for _, names in RecordReader(lines, dialect, quiet.report)), [])
        if self.kind is None:
            return []
        if self.kind == "json-lines":
            rows = read_json_lines(self._sample(), quiet)
        else:
            rows = iter(TableReader(self._source, quiet.log, self.format))
        return next((row.values for row in rows), [])

    def open(self) -> AbstractContextManager[BinaryIO]:
        """Open the bytes of the table."""
        return self._source.open()

    def lines(self, newline: str = "\n") -> Iterator[str]:
        """Read the lines of a text, with their ends."""
        with self.open() as stream:
            yield from read_lines(
                self.path, self.checks.encoding, newline=newline, stream=stream
            )

    @computed_once
    def _guess(self) -> tuple[Dialect, list[str], list[Note]]:
        """Guess how delimited text is written; return its first lines too, and notes."""
        sample = self._sample()
        told = read_separator_line(sample[0]) if sample else None
        if told is not None:
            del sample[0]
        default = DELIMITED.get(self._source.suffix, ",")
        delimiter = self.format.delimiter or told
        notes = []
        header = self.format.header
        if self._names_columns is not None:
            found = find_header(sample, self._names_columns, delimiter or default)
            if found is not None:
                above, delimiter = found
                header = True
                del sample[:above]
                if above:
                    reason = "the lines above it are no rows of the table"
                    notes.append(Note("header", f"line {above + 1}", reason))
        dialect, more = guess_dialect(sample, delimiter, header, default)
        return dialect, sample, [*notes, *more]

    @computed_once
    def dialect(self) -> tuple[Dialect, int]:
        """Find the dialect of delimited text and its first line: 2 after a line "sep=;"."""
        dialect, lines, notes = self._guess
        self.notes += notes
        return dialect, 1 + len(self._sample()) - len(lines)

    def _read_delimited(self) -> Iterator[Row]:
        reader = self.records(self.lines(newline=""))
        yield from self.tabulate(reader)
        self.note_records([reader])

    def records(
        self,
        lines: Iterator[str],
        checks: RowChecks | None = None,
        *,
        dialect: Dialect | None = None,
        line: int = 1,
    ) -> RecordReader:
        """Read the records of delimited text.

        Lines from the middle of it have a dialect without a header.
        """
        if dialect is None:
            dialect, line = self.dialect
            lines = islice(lines, line - 1, None)
        report = (checks or self.checks).report
        return RecordReader(
            *(lines, dialect, report, line, self.pad),
            short_rows=self.short_rows,
            text_lines=self.text_lines,
        )

    def note_records(self, readers: Sequence[RecordReader]) -> None:
        """Note what was unusual about records, when all are read."""
        blank: list[int] = []
        lone: list[int] = []
        for reader in readers:
            blank += reader.blank_rows
            lone += reader.lone_quotes
        self._note_rows("blank rows", blank, "left out")
        self._note_rows("lone quotes", lone, "read as they stand")

    def _read_spreadsheet(self) -> Iterator[Row]:
        with self.open() as stream:
            records, notes = read_sheet(
                stream,
                self.format.sheet,
                file=self.path,
                wanted=self._wanted,
                names_columns=self._names_columns,
            )
        sample = [record for _, record in records[:_SAMPLE_LINES]]
        header, above, more = guess_header(sample, self.format.header, self._names_columns)
        self.notes += [*notes, *more]
        yield from self._tabulate(iter(records[above:]), header, self.checks)

    def _read_parquet(self) -> Iterator[Row]:
        with self.parquet_source() as source:
            yield from read_parquet(source, self.checks)

    def parquet_source(self) -> AbstractContextManager[Path | BinaryIO]:
        """Return the file of Parquet to read piece by piece, or the bytes that are at hand."""
        if self._source.stream is None and not self._source.is_whole:
            return nullcontext(self.path)
        return self.open()

    def tabulate(
        self,
        reader: RecordReader,
        names: list[str] | None = None,
        checks: RowChecks | None = None,
    ) -> Iterator[Row]:
        """Read rows of delimited text; the columns of lines from the middle of it are named."""
        if names is None:
            return self._tabulate(iter(reader), reader.dialect.header, checks or self.checks)
        return self._checked(iter(reader), names, checks or self.checks)

    def _tabulate(
        self, records: Iterator[tuple[int, list[str]]], header: bool, checks: RowChecks
    ) -> Iterator[Row]:
        """Read rows of records, the first of which names the columns if there is a header."""
        start, first = next(records, (0, []))
        if not any(map(str.strip, first)):
            raise DataError("is empty: there is not even a header line", file=self.path)
        refuse_wide(len(first), self.path)
        if header:
            self.header_line = start
            if damage := describe_damage("".join(first), self.checks.encoding):
                raise DataError(damage, file=self.path, line=start)
            names, self._repeated = name_columns(first)
        else:
            names = [str(number) for number in range(1, len(first) + 1)]
            records = chain([(start, first)], records)
        yield from self._checked(records, names, checks)

    def _checked(
        self, records: Iterator[tuple[int, list[str]]], names: list[str], checks: RowChecks
    ) -> Iterator[Row]:
        longest = checks.max_characters
        accept = checks.accept
        for line, record in records:
            row = Row(line, dict(zip(names, record, strict=True)))
            whole = "".join(record)  # one look at all fields is enough for most rows
            if (whole.isascii() and "\0" not in whole and len(whole) <= longest) or accept(row):
                yield row

    def _note_rows(self, what: str, lines: Sequence[int], value: str) -> None:
        if lines:
            shown = ", ".join(map(str, lines[:3])) + (", ..." if len(lines) > 3 else "")
            self.notes.append(Note(what, f"{len(lines):,} {value}", f"line {shown}"))

    def resolve(self, wanted: Columns, *, labels: bool = True) -> tuple[Columns, Iterator[Row]]:
        """Find the columns, by name or by the first rows, and return them with all rows."""
        self._wanted = wanted
        if wanted.text is None and self._layout is not None:
            self._wanted = replace(wanted, text=self._layout.columns.text)
        return self.resolve_rows(iter(self), wanted, labels=labels)

    def resolve_rows(
        self, rows: Iterator[Row], wanted: Columns, *, labels: bool = True
    ) -> tuple[Columns, Iterator[Row]]:
        """Find the columns of rows from the start of the table, and return them with these rows."""
        sample = list(islice(rows, 1))
        if not sample:
            return wanted, iter(())
        self.names = list(sample[0].values)
        is_json = self.kind in ("json-lines", "json")
        # Names are enough to classify; who learns wants to know of dates and other texts too.
        if labels or is_json or not wanted.are_told_by(self.names, labels=False):
            sample += islice(rows, 0 if self.live else SAMPLE_ROWS - 1)
        values = [row.values for row in sample]
        if is_json:  # an object may lack what others have
            self.names = list(dict.fromkeys(chain.from_iterable(values)))
        line = sample[0].line if self.kind == "json-lines" else self.header_line
        place: dict[str, Any] = {"file": str(self.path), "line": line, "labels": labels}
        if self._layout is not None:
            if self.live and is_json:  # later objects may have what the first lacks
                known = (self._layout.columns.title, *self._layout.columns.others)
                self.names += [name for name in known if name and name not in self.names]
            filled = self._layout.fill(wanted, self.names, **place)
            self._note_other_text(wanted, filled)
        else:
            filled = wanted
        columns = filled.resolve(self.names, rows=values, **place)
        twice = [name for name in columns.present if name in self._repeated]
        if twice:
            raise DataError(
                f"the header names a column twice: {twice[0]!r}", file=self.path, line=line
            )
        self.notes += columns.notes(filled, self.names, values)
        if labels and self._layout is None:
            self._note_unused_texts(columns, values)
        # A layout keeps that there are no ids and splits where an option says so.
        absent: dict[str, Any] = {
            role: "" for role in ("id", "split") if getattr(filled, role) == ""
        }
        self.columns = replace(columns, **absent)
        return columns, chain(sample, rows)

    def _note_other_text(self, wanted: Columns, filled: Columns) -> None:
        assert self._layout is not None
        known = self._layout.columns.text or ""
        taken = filled.text or ""
        # Lines of JSON are what pipes carry: there "text" is the usual name.
        is_usual = taken.strip().lower() == known.strip().lower() or self.kind == "json-lines"
        if wanted.text is None and not is_usual:
            told = f"{taken!r} (the model was fitted to {known!r})"
            self.notes.append(Note("text", told, option="--text"))

    def _note_unused_texts(self, columns: Columns, rows: Sequence[Mapping[str, Any]]) -> None:
        self._unused_texts = tuple(text_candidates(self.names, rows, taken=columns.present))
        if not self._unused_texts:
            return
        cure = "--title adds it" if columns.title is None else "not used"
        what = "another text column"
        if len(self._unused_texts) > 1:
            what = "other text columns"
            cure = cure.replace("it", "one")
        self.notes.append(Note(what, f"{listed(self._unused_texts)} ({cure})"))

    def layout(self, separator: str | None = None) -> TableLayout | None:
        """Return the columns that the table was read by; None before they are resolved."""
        if self.columns is None:
            return None
        is_numbered = self.kind in ("delimited", "spreadsheet") and self.header_line is None
        return TableLayout(
            self.columns, separator, False if is_numbered else None, self._unused_texts
        )

    def separator_of(self, separator: str | None) -> str | None:
        """Return the separator of categories: the one given, else that of the layout."""
        if separator is None and self._layout is not None:
            return self._layout.separator
        return separator


def read_records(
    rows: Iterable[Row],
    columns: Columns,
    read: Callable[[Row, Columns], Record],
    checks: RowChecks,
) -> Iterator[tuple[int, Record]]:
    """Yield (line, record) of each row; a ValueError of `read` is reported."""
    for row in rows:
        try:
            record = read(row, columns)
        except ValueError as error:
            checks.report(str(error), row.line)
        else:
            yield row.line, record


def load_table(
    path: str | Path | BinaryIO,
    *,
    columns: Columns | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    max_characters: int = MAX_CHARACTERS,
    skip_bad: bool = False,
    layout: TableLayout | None = None,
) -> Corpus:
    """Load a CSV, TSV, JSON, Parquet, Excel or ODS file, or lines of fastText.

    .gz, .zst and .zip are unpacked.

    What is not given is guessed; `notes` of the corpus says how.

    Parameters
    ----------
    path : the file, or a stream of bytes
    columns : the columns to read; those that are not named are guessed
    separator : separator of several categories in one field
    encoding, delimiter, header, sheet : how the table is written; see `TableFormat`
    max_characters : maximum length of a field
    skip_bad : skip rows that cannot be read and list them in `problems`, instead of refusing the
        file
    layout : how another table was read, such as that of a model (`layout_`): columns that are not
        named are those

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "news.jsonl"
    ...     _ = file.write_text('{"text": "wheat rose", "label": ["grain", "wheat"]}')
    ...     load_table(file).documents[0].categories
    ('grain', 'wheat')
    """
    source = Path(path) if isinstance(path, str) else path
    written = TableFormat(encoding, delimiter, header, sheet)
    log = ProblemLog(skip=skip_bad)
    reader = TableReader(source, log, written, max_characters=max_characters, layout=layout)
    return read_corpus(reader, columns or Columns(), separator)


def read_corpus(reader: TableReader, wanted: Columns, separator: str | None = None) -> Corpus:
    """Load the table of a reader; see `load_table`."""
    log = reader.checks.log
    separator = reader.separator_of(separator)
    parts = list(read_tables(reader, wanted, separator))
    refuse_empty(len(parts), log, reader.path)
    lines, tables = zip(*parts, strict=True)
    table = DocumentTable.joined(tables)
    table = _with_unique_ids(table, np.concatenate(lines), log, reader.path)
    if table.dates is not None:
        table = _with_dates(table, reader, is_asked_for=wanted.date is not None)
    return Corpus(
        table,
        table.categories,
        name=reader.path.name,
        problems=tuple(log.problems),
        notes=tuple(reader.notes),
        layout=reader.layout(separator),
    )


def _with_dates(
    table: DocumentTable, reader: TableReader, *, is_asked_for: bool
) -> DocumentTable:
    """Read the dates of all documents; other cells are missing times, and counted."""
    import pyarrow as pa

    assert table.dates is not None
    assert reader.columns is not None
    cells = table.dates.to_pylist()
    dates = read_dates(cells)
    unread = [
        cell for cell, date in zip(cells, dates, strict=True) if cell is not None and not date
    ]
    if is_asked_for and not any(dates):
        shown = f"{unread[0][:40]!r} is" if unread else "its cells are"
        raise DataError(
            f"the column {reader.columns.date!r} holds no dates: {shown} neither ISO 8601 nor a "
            "year, nor as in 31.12.2024 or 12/31/2024; name another with --time",
            file=reader.path,
        )
    if unread:
        n_unread = f"{len(unread):,} of {len(cells):,} cells are no dates"
        reader.notes.append(Note(f"column {reader.columns.date!r}", n_unread))
    return replace(table, dates=pa.chunked_array([pa.array(dates, pa.timestamp("us"))]))


def load_chunks(
    path: str | Path | BinaryIO,
    *,
    columns: Columns | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    max_characters: int = MAX_CHARACTERS,
    skip_bad: bool = False,
    layout: TableLayout | None = None,
) -> Iterator[Corpus]:
    r"""Load a table in chunks of a few megabytes, for files and streams larger than memory.

    Parameters are those of `load_table`. Dates are not read, and ids are unique only within a
    chunk. `categories`, `notes` and `problems` of each corpus are those of its chunk.

    Examples
    --------
    >>> stream = io.BytesIO(b"text,label\nwheat rose,grain\noil fell,crude\n")
    >>> [chunk.labels for chunk in load_chunks(stream)]
    [['grain', 'crude']]
    """
    source = Path(path) if isinstance(path, str) else path
    log = ProblemLog(skip=skip_bad)
    reader = TableReader(
        source,
        log,
        TableFormat(encoding, delimiter, header, sheet),
        max_characters=max_characters,
        layout=layout,
    )
    separator = reader.separator_of(separator)
    n_documents = 0
    wanted = replace(columns or Columns(), date="", group="")
    for lines, part in read_tables(reader, wanted, separator):
        n_documents += len(part)
        table = _with_unique_ids(part, lines, log, reader.path)
        notes = tuple(reader.notes)
        problems = tuple(log.problems)
        reader.notes.clear()
        log.problems.clear()
        yield Corpus(
            table,
            table.categories,
            name=reader.path.name,
            problems=problems,
            notes=notes,
            layout=reader.layout(separator),
        )
    refuse_empty(n_documents, log, reader.path)


def read_tables(
    reader: TableReader, wanted: Columns, separator: str | None = None
) -> Iterator[tuple[IntArray, DocumentTable]]:
    """Read a table in parts: the documents, and the line of each.

    Ids may repeat. Dates are text as it stands in the cells.
    """
    from bayesift.tables.arrow import ColumnBlock, read_parts

    done = 0
    for columns, part in read_parts(reader, wanted):
        if isinstance(part, ColumnBlock):
            yield part.lines, part.documents(columns, separator)
            done += len(part)
            report_read(done, 1)
            continue
        records = read_records(
            part, columns, partial(_read_row, separator=separator), reader.checks
        )
        while batch := list(islice(records, _DOCUMENTS_PER_BATCH)):
            table = DocumentTable.of([document for _, (document, _) in batch])
            cells = [values for _, (_, values) in batch]
            yield (
                np.array([line for line, _ in batch]),
                _with_cells(table, cells, columns),
            )
            done += len(batch)
            report_read(done, 1)


def _with_unique_ids(
    table: DocumentTable, lines: IntArray, log: ProblemLog, path: Path
) -> DocumentTable:
    """Remove documents whose id is empty or a duplicate, and report them."""
    if len(table.ids.unique()) == len(table) and not table.has_empty_id:
        return table
    first: dict[str, int] = {}
    kept = [
        row
        for row, (name, line) in enumerate(
            zip(table.ids.to_pylist(), lines.tolist(), strict=True)
        )
        if is_new_id(first, name, line, log, path)
    ]
    refuse_empty(len(kept), log, path)
    unique = table.select(np.array(kept))
    return unique.with_categories(
        [name for name, n in zip(unique.categories, unique.n_documents, strict=True) if n]
    )


def _read_row(
    row: Row, columns: Columns, separator: str | None
) -> tuple[Document, Mapping[str, Any]]:
    """Read a document, and return it with the cells that it does not hold."""
    values = row.values
    document = Document(
        id=read_name(values[columns.id])
        if columns.id and values.get(columns.id) is not None
        else str(row.line),
        text=read_text(values, columns.text, required=True),
        title=read_text(values, columns.title),
        categories=read_categories(values.get(columns.label or ""), separator),
        split=(read_name(values.get(columns.split) or "") or None) if columns.split else None,
    )
    if not document.full_text.strip():
        raise ValueError(EMPTY_DOCUMENT)
    return document, values


def _with_cells(
    table: DocumentTable, rows: Sequence[Mapping[str, Any]], columns: Columns
) -> DocumentTable:
    """Add the dates, the groups and the other columns of rows to their documents."""
    return replace(
        table,
        dates=None if columns.date is None else cell_texts(rows, columns.date),
        groups=None if columns.group is None else cell_texts(rows, columns.group),
        others={name: cell_texts(rows, name) for name in columns.others},
    )


def cell_texts(rows: Sequence[Mapping[str, Any]], name: str) -> pa.ChunkedArray:
    """Return the cells of a column as text; blank ones are missing."""
    import pyarrow as pa

    cells = [_cell_text(row.get(name)) or None for row in rows]
    return pa.chunked_array([pa.array(cells, pa.string())])


def cell_values(rows: Sequence[Mapping[str, Any]], name: str) -> pa.Array:
    """Return the cells of a column with their type; values of several types as text."""
    import pyarrow as pa

    values = [row.get(name) for row in rows]
    if all(value is None or isinstance(value, str) for value in values):
        return pa.array(values, pa.large_string())
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if value is None else str(value) for value in values])


def _cell_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str | int | float):
        return read_name(value)
    return str(value)  # such as a date of Parquet
