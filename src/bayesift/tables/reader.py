"""Read tables with one document per row: CSV, TSV, JSON, Parquet, spreadsheets, fastText lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar

import numpy as np

from bayesift.arrays import IntArray
from bayesift.errors import DataError
from bayesift.records import Corpus, Document, DocumentTable, Note
from bayesift.tables.columns import (
    KNOWN_NAMES,
    SAMPLE_ROWS,
    Columns,
    read_categories,
    read_date,
    read_name,
    read_text,
)
from bayesift.tables.loading import (
    EMPTY_DOCUMENT,
    OLE,
    PARQUET,
    ZIPPED,
    DocumentList,
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
    RecordReader,
    Row,
    RowChecks,
    guess_dialect,
    guess_header,
    holds_json_lines,
    name_columns,
    read_fasttext,
    read_json,
    read_json_lines,
    read_parquet,
    read_separator_line,
)
from bayesift.tables.sheets import SPREADSHEETS, read_sheet
from bayesift.threads import computed_once

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

    Attributes
    ----------
    kind : of the table, by its first bytes and its suffix; None if it is not a table
    notes : what was guessed; complete when all rows are read
    header_line : the line that names the columns, if there is one
    short_rows : lines of the rows that were filled up

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
    ) -> None:
        # The limit is process-wide and only raised, so that no other reader is affected.
        csv.field_size_limit(max(csv.field_size_limit(), max_characters))
        self.format = format or TableFormat()
        self.live = live
        self.pad = pad
        self.short_rows: list[int] = []
        self.notes: list[Note] = []
        self.header_line: int | None = None
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
        """Whether the first line of a delimited text holds a usual name of a text column."""
        dialect, sample, _ = self._guess
        return Columns().are_told_by(
            next(dialect.reader(sample, strict=False), []), labels=False
        )

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
        dialect, notes = guess_dialect(sample, delimiter, self.format.header, default)
        return dialect, sample, notes

    @computed_once
    def dialect(self) -> tuple[Dialect, int]:
        """Find the dialect of delimited text and its first line: 2 after a line "sep=;"."""
        dialect, lines, notes = self._guess
        self.notes += notes
        return dialect, 1 if len(lines) == len(self._sample()) else 2

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
        return RecordReader(lines, dialect, report, line, self.pad, short_rows=self.short_rows)

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
                stream, self.format.sheet, file=self.path, wanted=self._wanted
            )
        header, above, more = guess_header(
            [record for _, record in records[:_SAMPLE_LINES]], self.format.header
        )
        self.notes += [*notes, *more]
        yield from self._tabulate(iter(records[above:]), header, self.checks)

    def _read_parquet(self) -> Iterator[Row]:
        if self._source.stream is None and not self._source.is_whole:
            yield from read_parquet(self.path, self.checks)
        else:
            with self.open() as stream:
                yield from read_parquet(stream, self.checks)

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
        return self.resolve_rows(iter(self), wanted, labels=labels)

    def resolve_rows(
        self, rows: Iterator[Row], wanted: Columns, *, labels: bool = True
    ) -> tuple[Columns, Iterator[Row]]:
        """Find the columns of rows from the start of the table, and return them with these rows."""
        # Names are mostly enough; only without them are the first rows read and looked at.
        sample = list(islice(rows, 1))
        if not sample:
            return wanted, iter(())
        names = list(sample[0].values)
        if not wanted.are_told_by(names, labels=labels):
            sample += islice(rows, 0 if self.live else SAMPLE_ROWS - 1)
        values = [row.values for row in sample]
        line = sample[0].line if self.kind == "json-lines" else self.header_line
        columns = wanted.resolve(
            names, file=str(self.path), line=line, rows=values, labels=labels
        )
        twice = [name for name in columns.present if name in self._repeated]
        if twice:
            raise DataError(
                f"the header names a column twice: {twice[0]!r}", file=self.path, line=line
            )
        self.notes += columns.notes(wanted, names, values)
        return columns, chain(sample, rows)


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
    reader = TableReader(source, log, written, max_characters=max_characters)
    return read_corpus(reader, columns or Columns(), separator)


def read_corpus(reader: TableReader, wanted: Columns, separator: str | None = None) -> Corpus:
    """Load the table of a reader; see `load_table`."""
    log = reader.checks.log
    if wanted.date is not None:
        found, rows = reader.resolve(wanted)
        documents = DocumentList(reader.path, log)
        for line, document in read_records(
            rows, found, partial(_read_document, separator=separator), reader.checks
        ):
            documents.add(document, line)
        return documents.corpus(name=reader.path.name, notes=reader.notes)
    parts = list(read_tables(reader, wanted, separator))
    refuse_empty(len(parts), log, reader.path)
    lines, tables = zip(*parts, strict=True)
    table = DocumentTable.joined(tables)
    table = _with_unique_ids(table, np.concatenate(lines), log, reader.path)
    problems = tuple(log.problems)
    notes = tuple(reader.notes)
    return Corpus(
        table, table.categories, name=reader.path.name, problems=problems, notes=notes
    )


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
    )
    n_documents = 0
    wanted = replace(columns or Columns(), date=None)
    for lines, part in read_tables(reader, wanted, separator):
        n_documents += len(part)
        table = _with_unique_ids(part, lines, log, reader.path)
        notes = tuple(reader.notes)
        problems = tuple(log.problems)
        reader.notes.clear()
        log.problems.clear()
        yield Corpus(
            table, table.categories, name=reader.path.name, problems=problems, notes=notes
        )
    refuse_empty(n_documents, log, reader.path)


def read_tables(
    reader: TableReader, wanted: Columns, separator: str | None = None
) -> Iterator[tuple[IntArray, DocumentTable]]:
    """Read a table without dates in parts: the documents, and the line of each.

    Ids may repeat.
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
            part, columns, partial(_read_document, separator=separator), reader.checks
        )
        while batch := list(islice(records, _DOCUMENTS_PER_BATCH)):
            yield (
                np.array([line for line, _ in batch]),
                DocumentTable.of([document for _, document in batch]),
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


def _read_document(row: Row, columns: Columns, separator: str | None) -> Document:
    values = row.values
    document = Document(
        id=read_name(values[columns.id])
        if columns.id and values.get(columns.id) is not None
        else str(row.line),
        text=read_text(values, columns.text, required=True),
        title=read_text(values, columns.title),
        categories=read_categories(values.get(columns.label or ""), separator),
        date=read_date(values.get(columns.date)) if columns.date else None,
        split=(read_name(values.get(columns.split) or "") or None) if columns.split else None,
    )
    if not document.full_text.strip():
        raise ValueError(EMPTY_DOCUMENT)
    return document
