"""Texts without labels in batches, in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from bayesift.arrays import BoolArray
from bayesift.records import Corpus, Note
from bayesift.references import holds_references, read_references
from bayesift.tables.archives import is_folder, read_folder
from bayesift.tables.arrow import ColumnBlock, read_parts
from bayesift.tables.columns import Columns, TableLayout, read_name, read_text
from bayesift.tables.loading import ProblemLog, Source
from bayesift.tables.reader import (
    TABLES_ONLY,
    TableFormat,
    TableReader,
    cell_texts,
    cell_values,
    read_records,
)
from bayesift.tables.rows import Row
from bayesift.tables.svmlight import holds_vectors, load_svmlight

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_TEXTS = 1 << 14


class TextBatch(NamedTuple):
    """Texts of a source, as Arrow arrays.

    Parameters
    ----------
    ids, texts : strings
    others : the cells, as strings, of the columns that a model uses beside the text
    columns : all columns of the source; with the ids before them, if it has no column of ids
    """

    ids: pa.Array
    texts: pa.Array
    others: Mapping[str, pa.Array]
    columns: Mapping[str, pa.Array]

    @property
    def are_blank(self) -> BoolArray:
        """Whether each text is empty or white space."""
        import pyarrow.compute as pc

        sizes = pc.binary_length(pc.utf8_trim_whitespace(self.texts))
        blank: BoolArray = sizes.to_numpy(zero_copy_only=False) == 0
        return blank


class VectorRows(NamedTuple):
    """Documents of a vector file and their ids, which are all its columns."""

    ids: pa.Array
    texts: Corpus
    columns: Mapping[str, pa.Array]

    @property
    def are_blank(self) -> BoolArray:
        """Whether each document has no term."""
        assert self.texts.vectors is not None
        blank: BoolArray = np.diff(self.texts.vectors.indptr) == 0
        return blank


class _Record(NamedTuple):
    id: str
    text: str
    values: Mapping[str, Any]


@dataclass
class TextReader:
    r"""Reader of texts from a table, references, vectors, a folder, or lines of a file or stream.

    CSV, JSON lines and Parquet are read by Arrow in blocks (see `read_parts`). Columns that are not
    named are those of the layout, else they are guessed; ids are line numbers by default. `notes`
    says what was guessed. `whole` batches have all columns of the source. A row of a table without
    text is a text too, which is blank.
    """

    source: Path | BinaryIO
    columns: Columns = field(default_factory=Columns)
    format: TableFormat = field(default_factory=TableFormat)
    log: ProblemLog = field(default_factory=ProblemLog)
    batch: int | None = None
    layout: TableLayout | None = None
    whole: bool = False
    notes: list[Note] = field(default_factory=list)
    delimiter: str | None = None

    def __iter__(self) -> Iterator[TextBatch | VectorRows]:
        live = self.batch == 1
        if isinstance(self.source, Path) and is_folder(self.source):
            yield from self._read_folder(self.source)
            return
        source = Source.of(self.source, self.format.encoding, live=live)
        if source.suffix not in TABLES_ONLY and holds_vectors(source):
            yield from self._read_vectors(source)
            return
        may_be_references = source.stream is None and source.suffix not in TABLES_ONLY
        if may_be_references and holds_references(source):
            yield from self._read_references(source)
            return
        reader = TableReader(source, self.log, self.format, live=live, layout=self.layout)
        self.notes = reader.notes
        size = self.batch or BATCH_TEXTS
        if reader.is_text and reader.kind != "json-lines" and not self._is_table(reader):
            yield from _plain_batches(read_plain(reader), size)
            return
        if reader.kind == "delimited":
            self.delimiter = reader.dialect[0].delimiter
        parts: Iterable[tuple[Columns, ColumnBlock | Iterator[Row]]]
        if self.batch is not None:
            parts = [reader.resolve(self.columns, labels=False)]
        else:
            parts = read_parts(reader, self.columns, labels=False, whole=self.whole)
        for columns, part in parts:
            if isinstance(part, ColumnBlock):
                yield self._of_block(part, columns, reader)
                continue
            records = (r for _, r in read_records(part, columns, _read_record, reader.checks))
            while batch := list(islice(records, size)):
                yield self._of_rows(batch, columns, reader)

    def _of_block(self, block: ColumnBlock, columns: Columns, reader: TableReader) -> TextBatch:
        table = block.unlabelled_documents(columns)
        others = {name: cells.combine_chunks() for name, cells in table.others.items()}
        ids = table.ids.combine_chunks()
        held = {}
        if self.whole:
            held = {name: block.columns[name] for name in reader.names}
        return TextBatch(
            ids, table.full_texts.combine_chunks(), others, _with_ids(held, ids, columns)
        )

    def _of_rows(
        self, records: Sequence[_Record], columns: Columns, reader: TableReader
    ) -> TextBatch:
        import pyarrow as pa

        rows = [record.values for record in records]
        ids = pa.array([record.id for record in records])
        texts = pa.array([record.text for record in records], pa.large_string())
        others = {name: cell_texts(rows, name).combine_chunks() for name in columns.others}
        held = {}
        if self.whole:
            held = {name: cell_values(rows, name) for name in reader.names}
        return TextBatch(ids, texts, others, _with_ids(held, ids, columns))

    def _read_references(self, source: Source) -> Iterator[TextBatch]:
        found = read_references(source)
        self.notes = [note for file in found.files for note in file.notes]
        for problem in found.refused:
            self.log.report(problem.message, file=problem.file, line=problem.line)
        texts = ((reference.id, reference.text) for reference in found if reference.text)
        yield from _plain_batches(texts, self.batch or BATCH_TEXTS)

    def _read_folder(self, path: Path) -> Iterator[TextBatch]:
        texts = (
            (name.as_posix(), f"{read.title}\n{read.text}" if read.title else read.text)
            for name, read in read_folder(path, self.log, self.format.encoding)
        )
        yield from _plain_batches(texts, self.batch or BATCH_TEXTS)

    def _read_vectors(self, source: Source) -> Iterator[VectorRows]:
        import pyarrow as pa

        corpus = load_svmlight(source, zero_based=True, skip_bad=self.log.skip)
        self.log.problems += corpus.problems
        size = self.batch or BATCH_TEXTS
        for start in range(0, len(corpus), size):
            part = corpus.select(np.arange(start, min(start + size, len(corpus))))
            ids = pa.array(part.ids)
            yield VectorRows(ids, part, {"id": ids})

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


def _with_ids(
    held: Mapping[str, pa.Array], ids: pa.Array, columns: Columns
) -> dict[str, pa.Array]:
    """Put the ids before the columns of the source, or instead of its own column of ids."""
    if columns.id is not None and held:
        return {**held, columns.id: ids}
    if "id" in held:
        return dict(held)
    return {"id": ids, **held}


def _plain_batches(texts: Iterator[tuple[str, str]], size: int) -> Iterator[TextBatch]:
    """Make batches of pairs of an id and a text."""
    import pyarrow as pa

    while batch := list(islice(texts, size)):
        names, held = zip(*batch, strict=True)
        ids = pa.array(names)
        found = pa.array(held, pa.large_string())
        yield TextBatch(ids, found, {}, {"id": ids, "text": found})


def _read_record(row: Row, columns: Columns) -> _Record:
    text = read_text(row.values, columns.text, required=True)
    title = read_text(row.values, columns.title)
    if title:
        text = f"{title}\n{text}" if text else title
    name = row.values.get(columns.id) if columns.id else None
    return _Record(str(row.line) if name is None else read_name(name), text, row.values)


def read_plain(reader: TableReader) -> Iterator[tuple[str, str]]:
    """Yield the number and the text of each line that is not blank."""
    for number, line in enumerate(reader.lines(), 1):
        text = line.rstrip("\r\n")
        if text.strip() and reader.checks.accept(Row(number, {"text": text})):
            yield str(number), text
