"""Documents and corpora."""

from __future__ import annotations

import datetime
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from scipy import sparse

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.threads import computed_once

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Document:
    r"""A text with its title, categories, date and split.

    Parameters
    ----------
    id : name, unique within its corpus
    text : the body
    title : the headline
    categories : none, one or several
    date : when it was written
    split : part of the corpus, such as "train" or "test"

    Examples
    --------
    >>> Document("1", "Shares rose.", title="Markets", categories=("earn",)).full_text
    'Markets\nShares rose.'
    """

    id: str
    text: str
    title: str = ""
    categories: tuple[str, ...] = ()
    date: datetime.datetime | None = None
    split: str | None = None

    @property
    def full_text(self) -> str:
        """Title and body: the input of classifiers."""
        if not self.title:
            return self.text
        return f"{self.title}\n{self.text}" if self.text else self.title


@dataclass(frozen=True, slots=True)
class Problem:
    """A skipped record: its place, and what is wrong with it."""

    file: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return str(DataError(self.message, file=self.file, line=self.line))


RECORDS = "bibliographic records"  # what a note says of a file of references


@dataclass(frozen=True, slots=True)
class Note:
    """What was decided in reading a source where nothing told: the value, the reason, and the option that sets it.

    Examples
    --------
    >>> str(Note("delimiter", "semicolon", "4 fields in every row", "--delimiter"))
    'delimiter: semicolon (4 fields in every row; --delimiter)'
    """

    what: str
    value: str
    reason: str = ""
    option: str | None = None

    def __str__(self) -> str:
        reason = "; ".join(part for part in (self.reason, self.option) if part)
        return f"{self.what}: {self.value}" + (f" ({reason})" if reason else "")


_BATCH = 1 << 14  # documents that are made, or hashed, at a time


@dataclass(frozen=True, eq=False)
class DocumentTable(Sequence[Document]):
    """Documents as Arrow columns; a `Document` is made when it is asked for.

    Parameters
    ----------
    ids, texts : Arrow arrays of strings
    labels : documents x categories; the categories of a document are in the order of its entries
    categories : the columns of `labels`
    titles, splits : Arrow arrays of strings, or None where no document has any
    """

    ids: pa.ChunkedArray
    texts: pa.ChunkedArray
    labels: sparse.csr_array
    categories: tuple[str, ...]
    titles: pa.ChunkedArray | None = None
    splits: pa.ChunkedArray | None = None

    @classmethod
    def joined(cls, tables: Sequence[DocumentTable]) -> DocumentTable:
        """The documents of several tables, with all categories in the order of their names."""
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
        )

    @classmethod
    def of(cls, documents: Iterable[Document]) -> DocumentTable:
        """The table of documents without dates."""
        import pyarrow as pa

        made = list(documents)
        names = tuple(sorted({name for document in made for name in document.categories}))
        place = {name: j for j, name in enumerate(names)}
        codes = [place[name] for document in made for name in document.categories]
        return cls(
            pa.chunked_array([pa.array([document.id for document in made], pa.string())]),
            pa.chunked_array([pa.array([document.text for document in made], pa.large_string())]),
            csr_of(np.array(codes, dtype=np.int32), [len(document.categories) for document in made], len(names)),
            names,
            pa.chunked_array([pa.array([document.title for document in made], pa.large_string())]),
            pa.chunked_array([pa.array([document.split for document in made], pa.string())]),
        )

    @property
    def _titles(self) -> pa.ChunkedArray:
        import pyarrow as pa

        empty = pa.repeat(pa.scalar("", pa.large_string()), len(self))
        return pa.chunked_array([empty]) if self.titles is None else self.titles

    @property
    def _splits(self) -> pa.ChunkedArray:
        import pyarrow as pa

        return pa.chunked_array([pa.nulls(len(self), pa.string())]) if self.splits is None else self.splits

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
        for start in range(0, len(self), _BATCH):
            yield from self._made(slice(start, start + _BATCH))

    @overload
    def __getitem__(self, place: int) -> Document: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Document, ...]: ...
    def __getitem__(self, place: int | slice) -> Document | tuple[Document, ...]:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step == 1:
                return self._made(slice(start, stop))
            return self.select(np.arange(start, stop, step))._made(slice(None))
        row = range(len(self))[place]  # refuses what is out of range
        return self._made(slice(row, row + 1))[0]

    def _made(self, rows: slice) -> tuple[Document, ...]:
        start, stop, _ = rows.indices(len(self))
        n, ends = max(0, stop - start), self.labels.indptr
        columns: list[list[Any]] = [
            [None] * n if column is None else column.slice(start, n).to_pylist()
            for column in (self.ids, self.texts, self.titles, self.splits)
        ]
        ids, texts, titles, splits = columns
        return tuple(
            Document(
                ids[k],
                texts[k],
                titles[k] or "",
                tuple(self.categories[j] for j in self.labels.indices[ends[start + k] : ends[start + k + 1]]),
                None,
                splits[k],
            )
            for k in range(n)
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self)) if len(self) <= 10 else f"DocumentTable({len(self):,} documents)"

    def select(self, rows: Array) -> DocumentTable:
        """The table of these rows."""
        taken = [
            None if column is None else _taken(column, rows)
            for column in (self.ids, self.texts, self.titles, self.splits)
        ]
        return DocumentTable(taken[0], taken[1], rows_of(self.labels, rows), self.categories, taken[2], taken[3])

    @property
    def has_empty_id(self) -> bool:
        """Whether a document has no name."""
        import pyarrow.compute as pc

        return bool(pc.any(pc.equal(self.ids, "")).as_py())

    @property
    def n_documents(self) -> Array:
        """The number of documents of each category."""
        return np.bincount(self.labels.indices, minlength=len(self.categories))

    def with_categories(self, categories: Sequence[str]) -> DocumentTable:
        """The table with these categories only, in this order."""
        if tuple(categories) == self.categories:
            return self
        place = {name: j for j, name in enumerate(categories)}
        columns = np.array([place.get(name, -1) for name in self.categories], dtype=np.int32)
        codes = columns[self.labels.indices]
        kept = np.concatenate([[0], np.cumsum(codes >= 0)])[self.labels.indptr]
        labels = csr_of(codes[codes >= 0], np.diff(kept), len(place))
        return replace(self, labels=labels, categories=tuple(categories))

    def hashed_parts(self) -> Iterator[Any]:
        """The bytes of `hashed_bytes` for batches of documents."""
        import pyarrow as pa
        import pyarrow.compute as pc

        titles, splits, ends = self._titles, self._splits.fill_null(""), self.labels.indptr
        names = pa.array([b"".join(_sized([name])) for name in self.categories], pa.large_binary())
        for start in range(0, len(self), _BATCH):
            stop = min(len(self), start + _BATCH)
            held = names.take(pa.array(self.labels.indices[ends[start] : ends[stop]]))
            offsets = pa.array(ends[start : stop + 1] - ends[start], pa.int64())
            labels = pc.binary_join(pa.LargeListArray.from_arrays(offsets, held), pa.scalar(b"", pa.large_binary()))
            columns = [column.slice(start, stop - start) for column in (self.ids, titles, self.texts, splits)]
            one, two, three, last = ([*_with_sizes(column.combine_chunks())] for column in columns)
            nothing = pa.scalar(b"", pa.large_binary())
            whole = pc.binary_join_element_wise(*one, *two, *three, labels, *last, nothing)
            _, bounds, content = whole.buffers()
            first, *_, end = np.frombuffer(bounds, np.int64)[whole.offset : whole.offset + len(whole) + 1]
            yield memoryview(content)[first:end] if content is not None else b""


def hashed_bytes(document: Document) -> bytes:
    """What the fingerprint of a corpus takes of a document: its parts, each after its length."""
    return b"".join(_sized([document.id, document.title, document.text, *document.categories, document.split or ""]))


def _sized(parts: Iterable[str]) -> Iterator[bytes]:
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        yield len(content).to_bytes(8, "little") + content


def _with_sizes(column: Any) -> tuple[Any, Any]:
    """The length of each text as eight bytes, and the text, as Arrow arrays."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column).cast(pa.large_binary())
    sizes = pc.binary_length(text).to_numpy(zero_copy_only=False).astype("<i8")
    eight = pa.Array.from_buffers(pa.binary(8), len(sizes), [None, pa.py_buffer(sizes)])
    return eight.cast(pa.large_binary()), text


def csr_of(codes: Array, sizes: Any, n_columns: int) -> sparse.csr_array:
    """The indicator of rows with `sizes` entries each, in the columns `codes`."""
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    ones = np.ones(len(codes), dtype=np.int8)
    return sparse.csr_array((ones, codes.astype(np.int32, copy=False), indptr), shape=(len(indptr) - 1, n_columns))


def rows_of(labels: sparse.csr_array, rows: Array) -> sparse.csr_array:
    """These rows of an indicator, with their entries in their order."""
    sizes = np.diff(labels.indptr)[rows]
    entries = np.repeat(labels.indptr[rows] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    return csr_of(labels.indices[entries], sizes, labels.shape[1])


def _stacked(labels: Sequence[sparse.csr_array]) -> sparse.csr_array:
    sizes = np.concatenate([np.diff(part.indptr) for part in labels])
    return csr_of(np.concatenate([part.indices for part in labels]), sizes, labels[0].shape[1])


def _chained(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    import pyarrow as pa

    return pa.chunked_array([chunk for column in columns for chunk in column.chunks], columns[0].type)


def _taken(column: pa.ChunkedArray, rows: Array) -> pa.ChunkedArray:
    import pyarrow as pa

    if len(rows) and (np.diff(rows) > 0).all():  # a mask leaves chunks apart, where take joins them first
        mask = np.zeros(len(column), dtype=np.bool_)
        mask[rows] = True
        return column.filter(pa.array(mask))
    return column.take(pa.array(rows, pa.int64()))


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents and the categories they may belong to.

    Parameters
    ----------
    documents : in the order of their source, with unique ids
    categories : the columns of the label indicator
    name : of the corpus
    parents : parent of each category, for categories that form a tree
    vectors : term weights, documents x terms, for corpora without text
    problems : records of the source that were skipped
    notes : what was guessed in reading the source

    Examples
    --------
    >>> corpus = Corpus(
    ...     (
    ...         Document("1", "wheat and corn", categories=("grain",), split="train"),
    ...         Document("2", "oil tankers", categories=("crude", "ship"), split="test"),
    ...     ),
    ...     categories=("crude", "grain", "ship"),
    ... )
    >>> corpus.splits
    ('train', 'test')
    >>> corpus.split("test").indicator.toarray()
    array([[1, 0, 1]], dtype=int8)
    """

    documents: Sequence[Document]
    categories: tuple[str, ...]
    name: str = ""
    parents: Mapping[str, str] = field(default_factory=dict)
    vectors: sparse.csr_array | None = None
    problems: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", tuple(self.categories))
        object.__setattr__(self, "parents", MappingProxyType(dict(self.parents)))
        _refuse_duplicates("category", self.categories)
        if isinstance(self.documents, DocumentTable):
            object.__setattr__(self, "documents", self.documents.with_categories(self.categories))
        else:
            object.__setattr__(self, "documents", tuple(self.documents))
            self._check_documents()
        if self.vectors is not None and self.vectors.shape[0] != len(self.documents):
            raise DataError(f"{self.vectors.shape[0]} vectors for {len(self.documents)} documents")

    def _check_documents(self) -> None:
        _refuse_duplicates("document id", (document.id for document in self.documents))
        known = set(self.categories)
        for document in self.documents:
            if not known.issuperset(document.categories):
                unknown = ", ".join(sorted(set(document.categories) - known))
                raise DataError(f"document {document.id!r} has categories the corpus does not list: {unknown}")

    def __reduce__(self) -> tuple[type[Corpus], tuple[object, ...]]:
        # A read-only mapping cannot be pickled.
        parents = dict(self.parents)
        return Corpus, (self.documents, self.categories, self.name, parents, self.vectors, self.problems, self.notes)

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def __repr__(self) -> str:
        return (
            f"Corpus({self.name!r}, {len(self.documents):,} documents, {len(self.categories):,} categories, "
            f"splits={self.splits})"
        )

    @property
    def texts(self) -> list[str]:
        """Title and body of every document."""
        texts: Any = self.text_column
        return texts if isinstance(texts, list) else texts.to_pylist()

    @property
    def text_column(self) -> list[str] | pa.ChunkedArray:
        """Title and body of every document, as an Arrow array where the documents are held as one."""
        if isinstance(self.documents, DocumentTable):
            return self.documents.full_texts
        return [document.full_text for document in self.documents]

    @property
    def text_lengths(self) -> Array:
        """The number of characters of each body."""
        if isinstance(self.documents, DocumentTable):
            import pyarrow.compute as pc

            lengths: Array = pc.utf8_length(self.documents.texts).to_numpy()
            return lengths
        return np.array([len(document.text) for document in self.documents])

    @property
    def ids(self) -> list[str]:
        """The document ids, in order."""
        if isinstance(self.documents, DocumentTable):
            names: list[str] = self.documents.ids.to_pylist()
            return names
        return [document.id for document in self.documents]

    @property
    def _splits(self) -> list[str | None]:
        """The split of each document."""
        if isinstance(self.documents, DocumentTable):
            column = self.documents.splits
            return [None] * len(self) if column is None else column.to_pylist()
        return [document.split for document in self.documents]

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits, in order of first appearance."""
        if isinstance(self.documents, DocumentTable) and self.documents.splits is None:
            return ()
        return tuple(name for name in dict.fromkeys(self._splits) if name is not None)

    @property
    def is_single_label(self) -> bool:
        """Whether every document has exactly one category."""
        return bool((self.n_labels == 1).all())

    @property
    def is_multilabel(self) -> bool:
        """Whether documents without a category belong to none: some have several, or there is but one to belong to.

        Otherwise every document has one category, and those without are not labelled.
        """
        if self.n_labels.max(initial=0) > 1:
            return True
        return not self.is_single_label and len(np.unique(self.indicator.indices)) < 2

    @property
    def labels(self) -> list[str]:
        """The category of each document; an error if a document has none or several."""
        if not self.is_single_label:
            raise DataError("documents have none or several categories; use `indicator`")
        return [self.categories[j] for j in self.indicator.indices.tolist()]

    @property
    def n_labels(self) -> Array:
        """The number of categories of each document."""
        return np.diff(self.indicator.indptr)

    @computed_once
    def indicator(self) -> sparse.csr_array:
        """Documents x categories, 1 where the document belongs to the category."""
        if isinstance(self.documents, DocumentTable):
            return self.documents.labels.sorted_indices()
        return indicator_of((document.categories for document in self.documents), self.categories)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of ids, texts, categories, splits and vectors."""
        digest = hashlib.sha256()
        held = self.documents
        for part in held.hashed_parts() if isinstance(held, DocumentTable) else map(hashed_bytes, held):
            digest.update(part)
        if self.vectors is not None:
            for array in (self.vectors.indptr, self.vectors.indices, self.vectors.data):
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def select(self, rows: Sequence[int] | np.ndarray[tuple[int], np.dtype[np.int64]]) -> Corpus:
        """The corpus of the documents in these rows, with all categories."""
        places = np.asarray(rows, dtype=np.int64)
        vectors = None if self.vectors is None else self.vectors[places]
        if isinstance(self.documents, DocumentTable):
            return replace(self, documents=self.documents.select(places), vectors=vectors)
        return replace(self, documents=tuple(self.documents[i] for i in places.tolist()), vectors=vectors)

    def split(self, name: str) -> Corpus:
        """The corpus of the documents of one split."""
        rows = [i for i, split in enumerate(self._splits) if split == name]
        if not rows:
            raise DataError(f"no split {name!r}; there are: {', '.join(self.splits) or 'none'}")
        return self.select(rows)

    def with_categories(self, categories: Iterable[str]) -> Corpus:
        """The corpus with only these categories."""
        kept = tuple(categories)
        if isinstance(self.documents, DocumentTable):
            return replace(self, documents=self.documents.with_categories(kept), categories=kept)
        keep = set(kept)
        documents = tuple(replace(d, categories=tuple(c for c in d.categories if c in keep)) for d in self.documents)
        return replace(self, documents=documents, categories=kept)

    def labelled(self) -> Corpus:
        """The corpus of the documents with at least one category."""
        return self.select(np.flatnonzero(self.n_labels))

    def category_counts(self) -> Counter[str]:
        """Number of documents of each category."""
        counts = np.bincount(self.indicator.indices, minlength=len(self.categories))
        return Counter(dict(zip(self.categories, counts.tolist(), strict=True)))


def indicator_of(
    labels: Iterable[Iterable[object]], categories: Sequence[str], *, skip_unknown: bool = False
) -> sparse.csr_array:
    """Documents x categories, 1 where the document has the category; unknown ones are refused or skipped."""
    column = {name: j for j, name in enumerate(categories)}
    try:
        rows = [{column[str(name)] for name in label if not skip_unknown or str(name) in column} for label in labels]
    except KeyError as error:
        raise DataError(f"unknown category {error.args[0]!r}") from None
    codes = np.array([j for row in rows for j in sorted(row)], dtype=np.int32)
    return csr_of(codes, list(map(len, rows)), len(categories))


def _refuse_duplicates(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f"duplicate {what} {name!r}")
        seen.add(name)
