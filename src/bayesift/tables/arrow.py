"""CSV and JSON lines parsed by Arrow, a block of whole records at a time.

Arrow and Python's `csv` agree where quotes enclose whole fields. A block in which they do anything
else, or with bytes that are not text, is left to the readers of `rows`, which say what is wrong
with which line.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayesift.arrays import IntArray, SparseRows
from bayesift.records import DocumentTable
from bayesift.records.table import csr_of, rows_of
from bayesift.tables.columns import SAMPLE_ROWS, Columns, read_categories
from bayesift.tables.loading import ProblemLog, Rejoined, check_encoding, read_lines
from bayesift.tables.rows import Dialect, Row, batch_rows, read_batches, read_json_lines

if TYPE_CHECKING:
    from bayesift.tables.reader import TableReader

BLOCK_BYTES = 1 << 22
_ROWS_PER_BATCH = 1 << 14  # of Parquet
_NEWLINE, _RETURN, _QUOTE = b'\n\r"'
_ESCAPED = b"\\u"
_NUL = b"\\u0000"
_MARK = b"\xef\xbb\xbf"
_JSON_TYPES = {
    str: pa.large_string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
}
_BETWEEN = "\x1f"  # the unit separator, which joins the labels of a list


@dataclass(frozen=True)
class ColumnBlock:
    """Rows of a table as Arrow columns, and the line of each row."""

    lines: IntArray
    columns: Mapping[str, pa.Array]

    def __len__(self) -> int:
        return len(self.lines)

    def are_texts_good(self, columns: Columns, longest: int) -> bool:
        """Whether each row has a title or text that is not blank, and none is too long."""
        assert columns.text is not None
        texts = self.columns[columns.text]
        if texts.null_count or not len(texts):
            return False
        sizes = pc.binary_length(pc.utf8_trim_whitespace(texts))
        if columns.title is not None:
            titles = self.columns[columns.title].fill_null("")
            sizes = pc.add(sizes, pc.binary_length(pc.utf8_trim_whitespace(titles)))
        bounds = pc.min_max(sizes).as_py()
        return bool(bounds["min"] > 0 and max(map(_longest, self.columns.values())) <= longest)

    def unlabelled_documents(self, columns: Columns) -> DocumentTable:
        """Convert the rows to documents without labels, splits, dates and groups."""
        return self.documents(replace(columns, label=None, split=None, date=None, group=None))

    def documents(self, columns: Columns, separator: str | None = None) -> DocumentTable:
        """Convert the rows to documents."""
        assert columns.text is not None
        ids = pa.array(self.lines, pa.int64()).cast(pa.string())
        if columns.id is not None:
            ids = pc.coalesce(
                pc.utf8_trim_whitespace(self.columns[columns.id].cast(pa.string())), ids
            )
        if columns.title is None:
            titles = None
        else:
            titles = pa.chunked_array([self.columns[columns.title].fill_null("")])
        splits = None
        if columns.split is not None:
            splits = self._strings(columns.split)
        texts = pa.chunked_array([self.columns[columns.text]])
        labels, names = self._labels(columns.label, separator)
        return DocumentTable(
            pa.chunked_array([ids]),
            texts,
            labels,
            names,
            titles,
            splits,
            None if columns.date is None else self._strings(columns.date),
            None if columns.group is None else self._strings(columns.group),
            {name: self._strings(name) for name in columns.others},
        )

    def _strings(self, name: str) -> pa.ChunkedArray:
        """Return the cells of a column as text; blank ones are missing."""
        cells = pc.utf8_trim_whitespace(self.columns[name].cast(pa.string()))
        return pa.chunked_array([pc.if_else(pc.equal(cells, ""), None, cells)])

    def _labels(
        self, column: str | None, separator: str | None
    ) -> tuple[SparseRows, tuple[str, ...]]:
        """Return the indicator of the categories and their names.

        Each distinct cell is read once.
        """
        if column is None:
            return csr_of(
                np.empty(0, dtype=np.int32), np.zeros(len(self), dtype=np.int32), 0
            ), ()
        codes, cells = _distinct_cells(self.columns[column])
        # The last row, which -1 means, is that of missing cells.
        held = [*(read_categories(cell, separator) for cell in cells), ()]
        given = list(chain.from_iterable(held))
        names, columns = np.unique(np.array(given, dtype=object), return_inverse=True)
        known = csr_of(columns, list(map(len, held)), len(names))
        return rows_of(known, codes), tuple(names)


def _longest(column: pa.Array) -> int:
    is_text = pa.types.is_large_string(column.type)
    if is_text:
        return pc.max(pc.utf8_length(column)).as_py() or 0
    return 0


def _distinct_cells(column: pa.Array) -> tuple[IntArray, list[Any]]:
    """Return the number of each cell, -1 for a missing one, and the distinct cells."""
    is_list = pa.types.is_list(column.type)
    keys = pc.binary_join(column, _BETWEEN) if is_list else column
    if is_list and (
        keys.null_count > column.null_count
        or pc.any(pc.match_substring(column.flatten(), _BETWEEN)).as_py()
    ):
        cells = column.to_pylist()
        return np.arange(len(cells)), cells
    encoded = keys.dictionary_encode()
    cells = encoded.dictionary.to_pylist()
    codes = encoded.indices.fill_null(-1).to_numpy()
    if is_list:
        cells = [cell.split(_BETWEEN) for cell in cells]
    return codes, cells


class BlockStream:
    """A stream read in blocks of whole lines, or of whole records if lines stand in quotes."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._rest = stream.read(len(_MARK)).removeprefix(_MARK)
        self._ended = False

    def next_block(self, *, quoted: bool = False) -> bytes:
        """Read the next block; it is empty at the end of the stream."""
        while not self._ended:
            piece = self._stream.read(BLOCK_BYTES)
            self._ended = not piece
            self._rest += piece
            end = len(self._rest) if self._ended else _end_of_records(self._rest, quoted=quoted)
            if end:
                block = self._rest[:end]
                self._rest = self._rest[end:]
                return block
        return b""

    def remainder(self, block: bytes = b"") -> BinaryIO:
        """Return a stream of a block that was read and of all that follows it."""
        rest = block + self._rest
        self._rest = b""
        self._ended = True
        return cast(BinaryIO, io.BufferedReader(Rejoined(rest, self._stream)))


def _end_of_records(content: bytes, *, quoted: bool) -> int:
    """Find the end of the last whole record.

    It is a line break with an even number of quotes before it.
    """
    end = content.rfind(b"\n") + 1
    inside = content.count(b'"', 0, end) % 2 if quoted and end else 0
    while inside and end:
        before = content.rfind(b"\n", 0, end - 1) + 1
        inside = (inside + content.count(b'"', before, end)) % 2
        end = before
    return end


def parse_csv(
    block: bytes, dialect: Dialect, names: list[str], wanted: list[str], line: int
) -> ColumnBlock | None:
    """Parse the wanted columns of a block of delimited text that starts on a line.

    The result is None if the block must be read row by row.
    """
    from pyarrow import csv

    lines = _record_lines(block, dialect)
    if lines is None or len(dialect.delimiter.encode()) > 1:
        return None
    quote = '"' if dialect.quoted else False
    parsing = csv.ParseOptions(
        delimiter=dialect.delimiter, quote_char=quote, newlines_in_values=dialect.quoted
    )
    reading = csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names)
    types = csv.ConvertOptions(
        include_columns=wanted, column_types=dict.fromkeys(wanted, pa.large_string())
    )
    try:
        table = csv.read_csv(pa.py_buffer(block), reading, parsing, types)
    except pa.ArrowInvalid:
        return None
    if len(table) != len(lines):
        return None
    return ColumnBlock(lines + line, {name: table[name].combine_chunks() for name in wanted})


def _record_lines(block: bytes, dialect: Dialect) -> IntArray | None:
    """Find the line of each record, counted from 0.

    The result is None if quotes or line breaks are used in an unusual way.
    """
    if not is_text(block) or _has_lone_returns(block):
        return None
    content = np.frombuffer(block, dtype=np.uint8)
    starts = np.concatenate([[0], np.flatnonzero(content == _NEWLINE) + 1])
    lines = np.arange(len(starts))
    quotes = np.flatnonzero(content == _QUOTE) if dialect.quoted else np.empty(0, dtype=np.intp)
    if len(quotes):
        if not _enclose_fields(content, quotes, ord(dialect.delimiter)):
            return None
        outside = np.searchsorted(quotes, starts) % 2 == 0
        starts = starts[outside]
        lines = lines[outside]
    filled = starts < len(content)
    starts = starts[filled]
    lines = lines[filled]
    first = content[starts]
    is_blank = (first == _NEWLINE) | (first == _RETURN)
    kept: IntArray = lines[~is_blank]
    return kept


def _enclose_fields(content: IntArray, quotes: IntArray, delimiter: int) -> bool:
    """Whether quotes stand only around fields, or doubled within them."""
    if len(quotes) % 2:
        return False
    opening = quotes[::2]
    closing = quotes[1::2]
    before = content[opening - 1]
    begins = (before == delimiter) | (before == _NEWLINE) | (before == _QUOTE)
    begins[0] |= opening[0] == 0
    doubled = np.concatenate([opening[1:] == closing[:-1] + 1, [False]])
    after = content[np.minimum(closing + 1, len(content) - 1)]
    ends = (
        (after == delimiter)
        | (after == _NEWLINE)
        | (after == _RETURN)
        | (closing + 1 == len(content))
    )
    # An opening quote after a quote is the second of a pair, which the closing quote before it
    # tells.
    paired = np.concatenate([[before[0] != _QUOTE], (before[1:] != _QUOTE) | doubled[:-1]])
    return bool((begins & paired).all() and (ends | doubled).all())


def _has_lone_returns(block: bytes) -> bool:
    """Whether carriage returns end lines without a line feed."""
    return b"\r" in block and block.count(b"\r") != block.count(b"\r\n")


def is_text(block: bytes) -> bool:
    """Whether bytes are UTF-8 without NUL."""
    if b"\0" in block:
        return False
    try:
        return block.isascii() or bool(block.decode())
    except UnicodeDecodeError:
        return False


def parse_json_lines(
    block: bytes, types: Mapping[str, pa.DataType], line: int
) -> ColumnBlock | None:
    """Parse the columns of a block of JSON lines; None if it must be read line by line."""
    from pyarrow import json

    if not types or _NUL in block or not is_text(block):
        return None
    options = json.ParseOptions(
        explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"
    )
    reading = json.ReadOptions(use_threads=False, block_size=len(block) + 1)
    try:
        table = json.read_json(io.BytesIO(block), reading, options)
        if _ESCAPED in block:
            table.validate(full=True)
    except pa.ArrowInvalid:
        return None
    if len(table) != block.count(b"\n") + (not block.endswith(b"\n")):
        return None
    columns = {name: table[name].combine_chunks() for name in types}
    return ColumnBlock(np.arange(len(table)) + line, columns)


def json_types(
    rows: Sequence[Mapping[str, Any]], columns: Columns, more: Iterable[str] = ()
) -> dict[str, pa.DataType]:
    """Find the Arrow types of columns, and of `more`, by their first values that are not missing.

    The result is empty if a value has a type that Arrow should not parse here.
    """
    types: dict[str, pa.DataType] = {}
    texts = (columns.text, columns.title, columns.split)
    for name in dict.fromkeys([*columns.present, *more]):
        value = next((row[name] for row in rows if row.get(name) is not None), "")
        kind = type(value[0] if isinstance(value, list) and value else value)
        if kind is str and isinstance(value, list) and name not in texts:
            types[name] = pa.list_(pa.string())
        elif kind is str or (kind in _JSON_TYPES and name not in texts):
            types[name] = _JSON_TYPES[kind]
        else:
            return {}
    if types.get(columns.id or "") == pa.float64():  # 2.0 is written as 2
        return {}
    return types


def read_parts(
    reader: TableReader, wanted: Columns, *, labels: bool = True, whole: bool = False
) -> Iterator[tuple[Columns, ColumnBlock | Iterator[Row]]]:
    """Read a table in parts: Arrow columns where a block can be parsed at once, else rows.

    Each part comes with the columns of the table. Without `labels`, labels, splits and dates are
    not read. `whole` parts have all columns of the table.
    """
    if reader.kind == "parquet" and not labels and not reader.live:
        yield from _parquet_parts(reader, wanted)
        return
    is_utf_8 = check_encoding(reader.checks.encoding) == "utf-8-sig"
    if (
        reader.kind not in ("delimited", "json-lines")
        or reader.live
        or reader.pad
        or not is_utf_8
    ):
        columns, rows = reader.resolve(wanted, labels=labels)
        yield columns, rows
        return
    with reader.open() as stream:
        read = _delimited_parts if reader.kind == "delimited" else _json_parts
        yield from read(reader, BlockStream(stream), wanted, labels=labels, whole=whole)


def _parquet_parts(
    reader: TableReader, wanted: Columns
) -> Iterator[tuple[Columns, ColumnBlock | Iterator[Row]]]:
    """Read Parquet without labels, with the types of its columns."""
    columns = None
    with reader.parquet_source() as source:
        for first, batch in read_batches(source, reader.path, _ROWS_PER_BATCH):
            if columns is None:
                sample = batch.slice(0, SAMPLE_ROWS)
                rows = batch_rows(
                    sample, first, replace(reader.checks, log=ProblemLog(skip=True))
                )
                columns, _ = reader.resolve_rows(rows, wanted, labels=False)
            block = _block_of_batch(batch, first, columns)
            if block is not None and block.are_texts_good(
                columns, reader.checks.max_characters
            ):
                yield columns, block
            else:
                yield columns, batch_rows(batch, first, reader.checks)


def _block_of_batch(batch: pa.RecordBatch, first: int, columns: Columns) -> ColumnBlock | None:
    """Return a batch as a block; None if a column that is used must be read row by row."""
    held: dict[str, pa.Array] = dict(zip(batch.schema.names, batch.columns, strict=True))
    for name in (columns.text, columns.title):
        if name is None:
            continue
        kind = held[name].type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            return None
        held[name] = held[name].cast(pa.large_string())
        if pc.any(pc.match_substring(held[name], "\0")).as_py():
            return None
    for name in filter(None, (columns.id, *columns.others)):
        kind = held[name].type
        is_exact = pa.types.is_string(kind) or pa.types.is_integer(kind)
        is_float = pa.types.is_floating(kind) and name != columns.id
        if not (is_exact or is_float or pa.types.is_large_string(kind)):
            return None
    return ColumnBlock(np.arange(len(batch)) + first, held)


def _json_parts(
    reader: TableReader, source: BlockStream, wanted: Columns, *, labels: bool, whole: bool
) -> Iterator[tuple[Columns, ColumnBlock | Iterator[Row]]]:
    quiet = replace(reader.checks, log=ProblemLog(skip=True))
    columns = wanted
    types = {}
    line = 1
    is_known = False
    while block := source.next_block():
        if not is_known:
            first = list(islice(read_json_lines(_decoded(block, "\n"), quiet), SAMPLE_ROWS))
            is_known = bool(first)
            if is_known:
                columns, _ = reader.resolve_rows(iter(first), wanted, labels=labels)
                types = json_types(
                    [row.values for row in first],
                    _used(columns, labels=labels),
                    reader.names if whole else (),
                )
        parsed = parse_json_lines(block, types, line)
        if parsed is not None and parsed.are_texts_good(columns, reader.checks.max_characters):
            yield columns, parsed
        else:
            yield columns, read_json_lines(_decoded(block, "\n"), reader.checks, first=line)
        line += block.count(b"\n")


def _delimited_parts(
    reader: TableReader, source: BlockStream, wanted: Columns, *, labels: bool, whole: bool
) -> Iterator[tuple[Columns, ColumnBlock | Iterator[Row]]]:
    dialect, first_line = reader.dialect
    block = source.next_block(quoted=dialect.quoted)
    quiet = replace(reader.checks, log=ProblemLog(skip=True))
    columns, sample = reader.resolve_rows(
        reader.tabulate(reader.records(_decoded(block), quiet), checks=quiet),
        wanted,
        labels=labels,
    )
    first = next(sample, None)
    line = first_line if reader.header_line is None else reader.header_line + 1
    if first is None or first.line != line or _has_lone_returns(block):
        records = reader.records(
            read_lines(reader.path, newline="", stream=source.remainder(block))
        )
        yield columns, reader.tabulate(records)
        reader.note_records([records])
        return
    names = list(first.values)
    readers = []
    plain = replace(dialect, above=0, width=len(names))
    used = names if whole else list(dict.fromkeys(_used(columns, labels=labels).present))
    block = _without_lines(block, line - 1)
    while block:
        # A block with unusual quotes is read to the end of the file by Python's reader, since
        # its last record may go on in the next block.
        parsed = parse_csv(block, plain, names, used, line)
        is_good = parsed is not None and parsed.are_texts_good(
            columns, reader.checks.max_characters
        )
        if parsed is not None and is_good:
            yield columns, parsed
        else:
            if parsed is not None:
                lines = _decoded(block)
            else:
                lines = read_lines(reader.path, newline="", stream=source.remainder(block))
            readers.append(reader.records(lines, dialect=plain, line=line))
            yield columns, reader.tabulate(readers[-1], names)
        line += block.count(b"\n")
        block = source.next_block(quoted=dialect.quoted)
    reader.note_records(readers)


def _used(columns: Columns, *, labels: bool) -> Columns:
    if labels:
        return columns
    return replace(columns, label=None, split=None, date=None, group=None)


def _decoded(block: bytes, newline: str = "") -> Iterator[str]:
    return io.StringIO(block.decode("utf-8", "surrogateescape"), newline=newline)


def _without_lines(block: bytes, n_lines: int) -> bytes:
    start = 0
    for _ in range(n_lines):
        start = block.find(b"\n", start) + 1
    return block[start:]
