"""Documents as Arrow columns, so that a file of many rows makes no Python object per row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from scipy import sparse

from bayesift.arrays import IntArray, SparseRows
from bayesift.records.document import Document

if TYPE_CHECKING:
    import pyarrow as pa

_DOCUMENTS_PER_BATCH = 1 << 14  # documents that are made, or hashed, at a time


@dataclass(frozen=True, eq=False)
class DocumentTable(Sequence[Document]):
    """Documents as Arrow columns; a `Document` is made when it is asked for.

    Parameters
    ----------
    ids, texts : Arrow arrays of strings
    labels : documents x categories; the categories of a document are in the order of its entries
    categories : the columns of `labels`
    titles, splits : Arrow arrays of strings, or None where no document has any
    dates : Arrow array of timestamps, or None where no document has any
    groups : Arrow array of strings: documents of one group are held out together
    others : further columns of the source by name, Arrow arrays of strings
    """

    ids: pa.ChunkedArray
    texts: pa.ChunkedArray
    labels: SparseRows
    categories: tuple[str, ...]
    titles: pa.ChunkedArray | None = None
    splits: pa.ChunkedArray | None = None
    dates: pa.ChunkedArray | None = None
    groups: pa.ChunkedArray | None = None
    others: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)

    @classmethod
    def joined(cls, tables: Sequence[DocumentTable]) -> DocumentTable:
        """Join the documents of several tables, with all categories in the order of their names."""
        if len(tables) == 1:  # its categories are sorted
            return tables[0]
        names = tuple(sorted({name for table in tables for name in table.categories}))
        labels = [table.with_categories(names).labels for table in tables]
        return cls(
            _chained([table.ids for table in tables]),
            _chained([table.texts for table in tables]),
            _stacked(labels),
            names,
            _chained([table._titles for table in tables])
            if any(table.titles is not None for table in tables)
            else None,
            _chained([table._splits for table in tables])
            if any(table.splits is not None for table in tables)
            else None,
            _chained_if_held([table.dates for table in tables]),
            _chained_if_held([table.groups for table in tables]),
            {
                name: _chained([table.others[name] for table in tables])
                for name in tables[0].others
            },
        )

    @classmethod
    def of(cls, documents: Iterable[Document]) -> DocumentTable:
        """Make the table of documents, without their dates."""
        import pyarrow as pa

        made = list(documents)
        names = tuple(sorted({name for document in made for name in document.categories}))
        column_of = {name: j for j, name in enumerate(names)}
        codes = [column_of[name] for document in made for name in document.categories]
        return cls(
            pa.chunked_array([pa.array([document.id for document in made], pa.string())]),
            pa.chunked_array(
                [pa.array([document.text for document in made], pa.large_string())]
            ),
            csr_of(
                np.array(codes, dtype=np.int32),
                [len(document.categories) for document in made],
                len(names),
            ),
            names,
            pa.chunked_array(
                [pa.array([document.title for document in made], pa.large_string())]
            ),
            pa.chunked_array([pa.array([document.split for document in made], pa.string())]),
        )

    @property
    def _titles(self) -> pa.ChunkedArray:
        import pyarrow as pa

        empty = pa.repeat(pa.scalar("", pa.large_string()), len(self))
        if self.titles is None:
            return pa.chunked_array([empty])
        return self.titles

    @property
    def _splits(self) -> pa.ChunkedArray:
        import pyarrow as pa

        if self.splits is None:
            return pa.chunked_array([pa.nulls(len(self), pa.string())])
        return self.splits

    @property
    def full_texts(self) -> pa.ChunkedArray:
        """Title and body of every document."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.titles is None:
            return self.texts
        line_break = pa.scalar("\n", pa.large_string())
        both = pc.binary_join_element_wise(self.titles, self.texts, line_break)
        body_only = pc.if_else(pc.equal(self.titles, ""), self.texts, both)
        return pc.if_else(pc.equal(self.texts, ""), self.titles, body_only)

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[Document]:
        for start in range(0, len(self), _DOCUMENTS_PER_BATCH):
            yield from self._made(slice(start, start + _DOCUMENTS_PER_BATCH))

    @overload
    def __getitem__(self, index: int) -> Document: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Document, ...]: ...
    def __getitem__(self, index: int | slice) -> Document | tuple[Document, ...]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:  # a slice of Arrow columns copies nothing
                return self._made(slice(start, stop))
            return self.select(np.arange(start, stop, step))._made(slice(None))
        row = range(len(self))[index]  # refuses what is out of range
        return self._made(slice(row, row + 1))[0]

    def _made(self, rows: slice) -> tuple[Document, ...]:
        start, stop, _ = rows.indices(len(self))
        n = max(0, stop - start)
        ends = self.labels.indptr
        columns: list[list[Any]] = [
            [None] * n if column is None else column.slice(start, n).to_pylist()
            for column in (self.ids, self.texts, self.titles, self.splits, self.dates)
        ]
        ids, texts, titles, splits, dates = columns
        return tuple(
            Document(
                ids[k],
                texts[k],
                titles[k] or "",
                tuple(
                    self.categories[j]
                    for j in self.labels.indices[ends[start + k] : ends[start + k + 1]]
                ),
                dates[k],
                splits[k],
            )
            for k in range(n)
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence)
            and len(self) == len(other)
            and tuple(self) == tuple(other)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if len(self) <= 10:
            return repr(tuple(self))
        return f"DocumentTable({len(self):,} documents)"

    def select(self, rows: IntArray) -> DocumentTable:
        """Return the table of these rows."""
        taken: dict[str, Any] = {}
        for name in ("ids", "texts", "titles", "splits", "dates", "groups"):
            column = getattr(self, name)
            taken[name] = None if column is None else _taken(column, rows)
        others = {name: _taken(column, rows) for name, column in self.others.items()}
        return replace(self, labels=rows_of(self.labels, rows), others=others, **taken)

    @property
    def has_empty_id(self) -> bool:
        """Whether a document has no name."""
        import pyarrow.compute as pc

        return bool(pc.any(pc.equal(self.ids, "")).as_py())

    @property
    def n_documents(self) -> IntArray:
        """The number of documents of each category."""
        return np.bincount(self.labels.indices, minlength=len(self.categories))

    def with_categories(self, categories: Sequence[str]) -> DocumentTable:
        """Return the table with these categories only, in this order."""
        if tuple(categories) == self.categories:
            return self
        column_of = {name: j for j, name in enumerate(categories)}
        columns = np.array(
            [column_of.get(name, -1) for name in self.categories], dtype=np.int32
        )
        codes = columns[self.labels.indices]
        kept = np.concatenate([[0], np.cumsum(codes >= 0)])[self.labels.indptr]
        labels = csr_of(codes[codes >= 0], np.diff(kept), len(column_of))
        return replace(self, labels=labels, categories=tuple(categories))

    def hashed_parts(self) -> Iterator[Any]:
        """Yield the bytes of `hashed_bytes` for batches of documents."""
        import pyarrow as pa
        import pyarrow.compute as pc

        titles = self._titles
        splits = self._splits.fill_null("")
        ends = self.labels.indptr
        names = pa.array(
            [b"".join(_sized([name])) for name in self.categories], pa.large_binary()
        )
        for start in range(0, len(self), _DOCUMENTS_PER_BATCH):
            stop = min(len(self), start + _DOCUMENTS_PER_BATCH)
            held = names.take(pa.array(self.labels.indices[ends[start] : ends[stop]]))
            offsets = pa.array(ends[start : stop + 1] - ends[start], pa.int64())
            labels = pc.binary_join(
                pa.LargeListArray.from_arrays(offsets, held), pa.scalar(b"", pa.large_binary())
            )
            columns = [
                column.slice(start, stop - start)
                for column in (self.ids, titles, self.texts, splits)
            ]
            one, two, three, last = (
                [*_with_sizes(column.combine_chunks())] for column in columns
            )
            nothing = pa.scalar(b"", pa.large_binary())
            whole = pc.binary_join_element_wise(*one, *two, *three, labels, *last, nothing)
            _, bounds, content = whole.buffers()
            first, *_, end = np.frombuffer(bounds, np.int64)[
                whole.offset : whole.offset + len(whole) + 1
            ]
            yield memoryview(content)[first:end] if content is not None else b""


def hashed_bytes(document: Document) -> bytes:
    """Return what the fingerprint of a corpus takes of a document: its parts with their lengths."""
    return b"".join(
        _sized(
            [
                document.id,
                document.title,
                document.text,
                *document.categories,
                document.split or "",
            ]
        )
    )


def _sized(parts: Iterable[str]) -> Iterator[bytes]:
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        yield len(content).to_bytes(8, "little") + content


def _with_sizes(column: Any) -> tuple[Any, Any]:
    """Return the length of each text as eight bytes, and the text, as Arrow arrays."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column).cast(
        pa.large_binary()
    )
    sizes = pc.binary_length(text).to_numpy(zero_copy_only=False).astype("<i8")
    eight = pa.Array.from_buffers(pa.binary(8), len(sizes), [None, pa.py_buffer(sizes)])
    return eight.cast(pa.large_binary()), text


def csr_of(codes: IntArray, sizes: Any, n_columns: int) -> SparseRows:
    """Make the indicator of rows with `sizes` entries each, in the columns `codes`."""
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    ones = np.ones(len(codes), dtype=np.int8)
    return sparse.csr_array(
        (ones, codes.astype(np.int32, copy=False), indptr), shape=(len(indptr) - 1, n_columns)
    )


def rows_of(labels: SparseRows, rows: IntArray) -> SparseRows:
    """Take rows of an indicator, with their entries in their order."""
    sizes = np.diff(labels.indptr)[rows]
    entries = np.repeat(labels.indptr[rows] - np.cumsum(sizes) + sizes, sizes) + np.arange(
        sizes.sum()
    )
    return csr_of(labels.indices[entries], sizes, labels.shape[1])


def _stacked(labels: Sequence[SparseRows]) -> SparseRows:
    sizes = np.concatenate([np.diff(part.indptr) for part in labels])
    return csr_of(np.concatenate([part.indices for part in labels]), sizes, labels[0].shape[1])


def _chained(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    import pyarrow as pa

    return pa.chunked_array(
        [chunk for column in columns for chunk in column.chunks], columns[0].type
    )


def _chained_if_held(columns: Sequence[pa.ChunkedArray | None]) -> pa.ChunkedArray | None:
    """Chain columns that all tables have, or none."""
    held = [column for column in columns if column is not None]
    if not held:
        return None
    return _chained(held)


def _taken(column: pa.ChunkedArray, rows: IntArray) -> pa.ChunkedArray:
    import pyarrow as pa

    if (
        len(rows) and (np.diff(rows) > 0).all()
    ):  # a mask leaves chunks apart, where take joins them first
        mask = np.zeros(len(column), dtype=np.bool_)
        mask[rows] = True
        return column.filter(pa.array(mask))
    return column.take(pa.array(rows, pa.int64()))
