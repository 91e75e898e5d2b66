"""Texts without labels in batches, in constant memory."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias

from bayesift.datasets.columns import Columns, read_name, read_text
from bayesift.datasets.loading import STDIN, ProblemLog, bare_suffix, check_encoding, read_lines
from bayesift.datasets.references import holds_references, read_references
from bayesift.datasets.rows import MAX_CHARACTERS, Row, RowChecks, read_json_lines
from bayesift.datasets.tables import TABLE_SUFFIXES, TableFormat, TableReader, read_records
from bayesift.records import Note

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_TEXTS = 1 << 14
BLOCK_BYTES = 1 << 22


class TextBatch(NamedTuple):
    """Texts and their ids, as Arrow arrays of strings."""

    ids: pa.Array
    texts: pa.Array


_Record: TypeAlias = tuple[str, str]  # id and text


@dataclass
class TextReader:
    r"""Reads texts from a table, from a file of references, or from a file or stream of one text per line.

    JSON lines are parsed by Arrow in blocks. A block with a problem (a bad line, a changing type, an empty text) is
    read again line by line, so that each problem is reported with its line. Columns that are not named are
    guessed; ids are line numbers by default. `notes` says what was guessed.
    """

    source: Path | BinaryIO
    columns: Columns = field(default_factory=Columns)
    format: TableFormat = field(default_factory=TableFormat)
    log: ProblemLog = field(default_factory=ProblemLog)
    batch: int | None = None
    notes: list[Note] = field(default_factory=list)

    def __iter__(self) -> Iterator[TextBatch]:
        if isinstance(self.source, Path) and self._is_reference_file(self.source):
            yield from self._read_references(self.source)
            return
        reader = TableReader(self.source, self.log, self.format, live=self.batch == 1)
        self.notes = reader.notes
        size = self.batch or BATCH_TEXTS
        if reader.kind == "json-lines" and self.batch is None and check_encoding(reader.checks.encoding) == "utf-8-sig":
            with reader.open() as stream:
                yield from _BlockParser(self.columns, reader.checks).batches(stream)
        elif reader.is_text and not self._is_table(reader):
            yield from _to_arrow(_plain(reader.lines(), reader.checks), size)
        else:
            columns, rows = reader.resolve(self.columns, labels=False)
            records = read_records(rows, columns, _read_record, reader.checks)
            yield from _to_arrow((record for _, record in records), size)

    @staticmethod
    def _is_reference_file(path: Path) -> bool:
        suffix = bare_suffix(path)
        return (suffix not in TABLE_SUFFIXES or suffix == ".txt") and holds_references(path)

    def _read_references(self, path: Path) -> Iterator[TextBatch]:
        found = read_references(path)
        self.notes = [note for file in found.files for note in file.notes]
        for problem in found.refused:
            self.log.report(problem.message, file=problem.file, line=problem.line)
        texts = ((reference.id, reference.text) for reference in found if reference.text)
        yield from _to_arrow(texts, self.batch or BATCH_TEXTS)

    def _is_table(self, reader: TableReader) -> bool:
        """Whether text without a suffix that tells is a table: its columns were named, or are known by their names."""
        if reader.kind not in (None, "delimited"):
            return True
        given = self.columns != Columns() or self.format.delimiter is not None or self.format.header is not None
        return reader.kind is not None and (given or reader.has_known_names)


@dataclass(frozen=True)
class _BlockParser:
    """Parses JSON lines with Arrow, in blocks of whole lines."""

    columns: Columns
    checks: RowChecks

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
        first = RowChecks(self.checks.path, ProblemLog(skip=True))
        row = next(read_json_lines(_decoded(block), first, first=line), None)
        if row is None:
            return None, None
        found = self.columns.resolve(
            row.values, file=str(self.checks.path), line=row.line, rows=[row.values], labels=False
        )
        return found, type(row.values[found.id]).__name__ if found.id else None

    def _line_by_line(self, block: bytes, found: Columns | None, line: int) -> Iterator[TextBatch]:
        rows = read_json_lines(_decoded(block), self.checks, first=line)
        records = read_records(rows, found or self.columns, _read_record, self.checks)
        return _to_arrow((record for _, record in records), BATCH_TEXTS)


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """The stream in blocks of whole lines."""
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
    """A block of JSON lines parsed by Arrow; None if it must be read line by line."""
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


def _to_arrow(records: Iterator[_Record], size: int) -> Iterator[TextBatch]:
    import pyarrow as pa

    while batch := list(islice(records, size)):
        yield TextBatch(*map(pa.array, zip(*batch, strict=True)))


def _read_record(row: Row, columns: Columns) -> _Record:
    text, title = read_text(row.values, columns.text, required=True), read_text(row.values, columns.title)
    text = f"{title}\n{text}" if title else text
    if not text.strip():
        raise ValueError("empty document")
    name = row.values.get(columns.id) if columns.id else None
    return str(row.line) if name is None else read_name(name), text


def _plain(lines: Iterable[str], checks: RowChecks) -> Iterator[_Record]:
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        if text.strip() and checks.accept(Row(number, {"text": text})):
            yield str(number), text
