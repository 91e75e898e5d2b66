"""Texts without labels in batches: nothing is kept, so that any number can be read."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from bayesift.datasets.columns import Columns, read_name, read_text
from bayesift.datasets.lines import bare_suffix, check_encoding, describe_damage, open_bytes, read_lines
from bayesift.datasets.problems import ProblemLog
from bayesift.datasets.rows import JSON_LINES, MAX_CHARACTERS, Row, TableReader

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_TEXTS = 1 << 14
BLOCK_BYTES = 1 << 22
STDIN = Path("<stdin>")


class TextBatch(NamedTuple):
    """Texts and their ids, as Arrow arrays of strings."""

    ids: pa.Array
    texts: pa.Array


class _Record(NamedTuple):
    id: str
    text: str


@dataclass(frozen=True)
class TextReader:
    r"""Reads texts from a table, or from a stream that holds JSON lines or a text a line.

    JSON lines are parsed by Arrow a block at a time. A block it cannot take as it is (a bad line, a changing type, an
    empty text) is read again line by line, so that every problem is told with its line.

    Parameters
    ----------
    source : CSV, TSV, JSON lines or Parquet; or an open stream of bytes
    columns : where text, id and title stand; what is not named is guessed. Ids are line numbers without a column
    encoding : of text
    log : where records that cannot be read are reported
    batch : how many texts at a time; None takes what is efficient

    Examples
    --------
    >>> for batch in TextReader(io.BytesIO(b'{"id": 7, "text": "corn"}\n{"id": 8, "text": "oil"}\n')):
    ...     print(batch.ids.to_pylist(), batch.texts.to_pylist())
    ['7', '8'] ['corn', 'oil']
    >>> for batch in TextReader(io.BytesIO(b"corn\noil\n")):
    ...     print(batch.ids.to_pylist(), batch.texts.to_pylist())
    ['1', '2'] ['corn', 'oil']
    """

    source: Path | BinaryIO
    columns: Columns = field(default_factory=Columns)
    encoding: str = "utf-8"
    log: ProblemLog = field(default_factory=ProblemLog)
    batch: int | None = None

    def __iter__(self) -> Iterator[TextBatch]:
        in_blocks = self.batch is None and check_encoding(self.encoding) == "utf-8-sig"
        if isinstance(self.source, Path):
            if in_blocks and bare_suffix(self.source) in JSON_LINES:
                with open_bytes(self.source) as stream:
                    yield from _BlockParser(self.source, self.columns, self.log).batches(stream)
            else:
                reader = TableReader(self.source, self.log, self.encoding)
                yield from self._gather(_records(reader, self.columns, self.source, self.log))
            return
        stream, is_json = _peek(self.source)
        if is_json and in_blocks:
            yield from _BlockParser(STDIN, self.columns, self.log).batches(stream)
            return
        lines = read_lines(STDIN, self.encoding, stream=stream)
        if is_json:
            rows = TableReader(STDIN, self.log, self.encoding).parse_json(lines)
            yield from self._gather(_records(rows, self.columns, STDIN, self.log))
        else:
            yield from self._gather(_plain(lines, self.encoding, self.log))

    def _gather(self, records: Iterator[_Record]) -> Iterator[TextBatch]:
        while batch := list(islice(records, self.batch or BATCH_TEXTS)):
            yield _to_arrow(batch)


def _peek(stream: BinaryIO) -> tuple[BinaryIO, bool]:
    """The stream from its first line on, and whether that begins a JSON object."""
    first = b"\n"
    while first and not first.strip():
        first = stream.readline()
    whole = cast(BinaryIO, io.BufferedReader(_Rejoined(first, stream)))
    return whole, first.lstrip().startswith(b"{")


class _Rejoined(io.RawIOBase):
    """A stream with a line put back in front."""

    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        self._first = first
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        data = self._first[: len(buffer)] or (
            self._rest.read1(len(buffer)) if hasattr(self._rest, "read1") else self._rest.read(len(buffer))
        )
        self._first = self._first[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


@dataclass(frozen=True)
class _BlockParser:
    """JSON lines by Arrow, a block of whole lines at a time."""

    path: Path
    columns: Columns
    log: ProblemLog

    def batches(self, stream: BinaryIO) -> Iterator[TextBatch]:
        found: Columns | None = None
        kind: str | None = None
        line = 1
        for block in _blocks(stream):
            if found is None:
                found, kind = self._look(block, line)
            batch = None if found is None else _parse(block, found, kind)
            if batch is not None:
                yield batch
            else:
                yield from self._line_by_line(block, found, line)
            line += block.count(b"\n")

    def _look(self, block: bytes, line: int) -> tuple[Columns | None, str | None]:
        """The columns of the first record, and the type of its id."""
        rows = TableReader(self.path, ProblemLog(skip=True)).parse_json(_decoded(block))
        row = next(iter(rows), None)
        if row is None:
            return None, None
        found = self.columns.resolve(row.values, file=str(self.path), line=line + row.line - 1)
        return found, type(row.values[found.id]).__name__ if found.id else None

    def _line_by_line(self, block: bytes, found: Columns | None, line: int) -> Iterator[TextBatch]:
        rows = TableReader(self.path, self.log).parse_json(_decoded(block), first=line)
        records = _records(rows, found or self.columns, self.path, self.log)
        while batch := list(islice(records, BATCH_TEXTS)):
            yield _to_arrow(batch)


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """The stream in pieces of whole lines."""
    rest = b""
    while piece := stream.read(BLOCK_BYTES):
        end = piece.rfind(b"\n") + 1
        if end == 0:
            rest += piece
            continue
        yield rest + piece[:end]
        rest = piece[end:]
    if rest:
        yield rest


def _decoded(block: bytes) -> Iterator[str]:
    return read_lines(STDIN, stream=io.BytesIO(block))


def _parse(block: bytes, columns: Columns, kind: str | None) -> TextBatch | None:
    """A block of JSON lines as Arrow reads it; None where it has to be looked at line by line."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import json

    if columns.id is None or columns.title is not None or kind not in ("str", "int"):
        return None
    schema = pa.schema([(columns.text, pa.string()), (columns.id, pa.string() if kind == "str" else pa.int64())])
    options = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        table = json.read_json(io.BytesIO(block), json.ReadOptions(block_size=len(block) + 1), options)
    except pa.ArrowInvalid:
        return None
    texts, ids = table[columns.text].combine_chunks(), table[columns.id].combine_chunks()
    if not len(texts) or texts.null_count or ids.null_count or b"\\u0000" in block or b"\0" in block:
        return None
    lengths = pc.binary_length(pc.utf8_trim_whitespace(texts))
    if pc.min(lengths).as_py() == 0 or pc.max(lengths).as_py() > MAX_CHARACTERS:
        return None
    return TextBatch(pc.utf8_trim_whitespace(ids) if kind == "str" else ids.cast(pa.string()), texts)


def _to_arrow(batch: list[_Record]) -> TextBatch:
    import pyarrow as pa

    return TextBatch(pa.array([record.id for record in batch]), pa.array([record.text for record in batch]))


def _records(rows: Iterable[Row], wanted: Columns, path: Path, log: ProblemLog) -> Iterator[_Record]:
    found: Columns | None = None
    for row in rows:
        if found is None:
            found = wanted.resolve(row.values, file=str(path), line=row.line)
        try:
            record = _record(row, found)
        except ValueError as error:
            log.report(str(error), file=path, line=row.line)
        else:
            yield record


def _record(row: Row, columns: Columns) -> _Record:
    values = row.values
    if columns.text not in values:
        there = ", ".join(map(repr, values)) or "none"
        raise ValueError(f"no column {columns.text!r}; there are: {there}")
    text, title = read_text(values, columns.text), read_text(values, columns.title)
    text = f"{title}\n{text}" if title else text
    if not text.strip():
        raise ValueError("empty document")
    name = values.get(columns.id) if columns.id else None
    return _Record(str(row.line) if name is None else read_name(name), text)


def _plain(lines: Iterable[str], encoding: str, log: ProblemLog) -> Iterator[_Record]:
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        if not text.strip():
            continue
        if damage := describe_damage(text, encoding):
            log.report(damage, file=STDIN, line=number)
        else:
            yield _Record(str(number), text)
