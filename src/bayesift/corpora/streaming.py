"""Texts without labels in batches, in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias

import numpy as np

from bayesift.arrays import BoolArray
from bayesift.records import Corpus, Note
from bayesift.references import holds_references, read_references
from bayesift.tables.arrow import ColumnBlock, read_parts
from bayesift.tables.columns import Columns, read_name, read_text
from bayesift.tables.loading import ProblemLog, Source
from bayesift.tables.reader import TABLES_ONLY, TableFormat, TableReader, read_records
from bayesift.tables.rows import Row, RowChecks
from bayesift.tables.svmlight import holds_vectors, load_svmlight

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_TEXTS = 1 << 14


class TextBatch(NamedTuple):
    """Texts and their ids, as Arrow arrays of strings."""

    ids: pa.Array
    texts: pa.Array

    @property
    def are_blank(self) -> BoolArray:
        """Whether each text is empty or white space."""
        import pyarrow.compute as pc

        sizes = pc.binary_length(pc.utf8_trim_whitespace(self.texts))
        blank: BoolArray = sizes.to_numpy(zero_copy_only=False) == 0
        return blank


class VectorBatch(NamedTuple):
    """Documents of a vector file and their ids."""

    ids: pa.Array
    texts: Corpus

    @property
    def are_blank(self) -> BoolArray:
        """Whether each document has no term."""
        assert self.texts.vectors is not None
        blank: BoolArray = np.diff(self.texts.vectors.indptr) == 0
        return blank


_Record: TypeAlias = tuple[str, str]  # id and text


@dataclass
class TextReader:
    r"""Reader of texts from a table, a file of references or vectors, or lines of a file or stream.

    CSV and JSON lines are parsed by Arrow in blocks (see `read_parts`). Columns that are not named
    are guessed; ids are line numbers by default. `notes` says what was guessed. A row of a table
    without text is a text too, which is blank.
    """

    source: Path | BinaryIO
    columns: Columns = field(default_factory=Columns)
    format: TableFormat = field(default_factory=TableFormat)
    log: ProblemLog = field(default_factory=ProblemLog)
    batch: int | None = None
    notes: list[Note] = field(default_factory=list)

    def __iter__(self) -> Iterator[TextBatch | VectorBatch]:
        live = self.batch == 1
        source = Source.of(self.source, self.format.encoding, live=live)
        if source.suffix not in TABLES_ONLY and holds_vectors(source):
            yield from self._read_vectors(source)
            return
        may_be_references = source.stream is None and source.suffix not in TABLES_ONLY
        if may_be_references and holds_references(source):
            yield from self._read_references(source)
            return
        reader = TableReader(source, self.log, self.format, live=live)
        self.notes = reader.notes
        size = self.batch or BATCH_TEXTS
        if reader.is_text and reader.kind != "json-lines" and not self._is_table(reader):
            yield from _to_arrow(_plain(reader.lines(), reader.checks), size)
        elif self.batch is not None:
            columns, rows = reader.resolve(self.columns, labels=False)
            yield from _to_arrow(_records(rows, columns, reader.checks), size)
        else:
            for columns, part in read_parts(reader, self.columns, labels=False):
                if isinstance(part, ColumnBlock):
                    yield TextBatch(*part.ids_and_texts(columns))
                else:
                    yield from _to_arrow(_records(part, columns, reader.checks), size)

    def _read_references(self, source: Source) -> Iterator[TextBatch]:
        found = read_references(source)
        self.notes = [note for file in found.files for note in file.notes]
        for problem in found.refused:
            self.log.report(problem.message, file=problem.file, line=problem.line)
        texts = ((reference.id, reference.text) for reference in found if reference.text)
        yield from _to_arrow(texts, self.batch or BATCH_TEXTS)

    def _read_vectors(self, source: Source) -> Iterator[VectorBatch]:
        import pyarrow as pa

        corpus = load_svmlight(source, zero_based=True, skip_bad=self.log.skip)
        self.log.problems += corpus.problems
        size = self.batch or BATCH_TEXTS
        for start in range(0, len(corpus), size):
            part = corpus.select(np.arange(start, min(start + size, len(corpus))))
            yield VectorBatch(pa.array(part.ids), part)

    def _is_table(self, reader: TableReader) -> bool:
        """Whether text whose suffix does not tell is a table with given or usual columns."""
        if reader.kind not in (None, "delimited"):
            return True
        given = (
            self.columns != Columns()
            or self.format.delimiter is not None
            or self.format.header is not None
        )
        return reader.kind is not None and (given or reader.has_known_names)


def _records(rows: Iterator[Row], columns: Columns, checks: RowChecks) -> Iterator[_Record]:
    return (record for _, record in read_records(rows, columns, _read_record, checks))


def _to_arrow(records: Iterator[_Record], size: int) -> Iterator[TextBatch]:
    import pyarrow as pa

    while batch := list(islice(records, size)):
        yield TextBatch(*map(pa.array, zip(*batch, strict=True)))


def _read_record(row: Row, columns: Columns) -> _Record:
    text = read_text(row.values, columns.text, required=True)
    title = read_text(row.values, columns.title)
    text = f"{title}\n{text}" if title else text
    name = row.values.get(columns.id) if columns.id else None
    return str(row.line) if name is None else read_name(name), text


def _plain(lines: Iterable[str], checks: RowChecks) -> Iterator[_Record]:
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        if text.strip() and checks.accept(Row(number, {"text": text})):
            yield str(number), text
