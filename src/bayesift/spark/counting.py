"""Texts and labels out of Arrow batches, each bad row named.

And what they add to the counts of all documents.

Counts are whole numbers, so that their sums do not depend on how documents are dealt out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows
from bayesift.models.naive_bayes.language_models import CategoryCounts
from bayesift.tables.loading import describe_damage
from bayesift.tables.rows import MAX_CHARACTERS
from bayesift.text import TermVectorizer


@dataclass(frozen=True, slots=True)
class Readable:
    """The texts of a column that can be read, their rows, and the errors of all rows."""

    texts: pa.LargeStringArray
    rows: Array
    errors: pa.StringArray

    def spread(self, answers: pa.Array) -> pa.Array:
        """Answers to the texts as answers to all rows, null for those that cannot be read."""
        if len(self.rows) == len(self.errors):
            return answers
        indices = np.full(len(self.errors), -1)
        indices[self.rows] = np.arange(len(self.rows))
        return answers.take(pa.array(indices, mask=indices < 0))


def read_texts(column: pa.Array) -> Readable:
    """Read the texts of a column of strings or UTF-8 bytes.

    Missing, empty, too long and damaged ones are errors.
    """
    raw = column.cast(pa.large_binary())
    texts = _if_all_is_well(raw)
    if texts is not None:
        return Readable(texts, np.arange(len(texts)), pa.nulls(len(texts), pa.string()))
    errors = [_what_is_wrong(value) for value in raw.to_pylist()]
    rows = np.flatnonzero([error is None for error in errors])
    return Readable(
        raw.take(pa.array(rows)).cast(pa.large_string()), rows, pa.array(errors, pa.string())
    )


def _if_all_is_well(raw: pa.LargeBinaryArray) -> pa.LargeStringArray | None:
    if raw.null_count:
        return None
    try:
        texts = raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        return None
    if not len(texts):
        return texts
    shortest = pc.min(pc.binary_length(pc.utf8_trim_whitespace(texts))).as_py()
    longest = pc.max(pc.binary_length(texts)).as_py()
    offsets = np.frombuffer(raw.buffers()[1], dtype=np.int64)[
        raw.offset : raw.offset + len(raw) + 1
    ]
    data = (
        np.frombuffer(raw.buffers()[2], dtype=np.uint8)[offsets[0] : offsets[-1]]
        if shortest
        else np.zeros(1)
    )
    return texts if shortest and longest <= MAX_CHARACTERS and data.min() else None


def _what_is_wrong(value: bytes | None) -> str | None:
    if value is None:
        return "the text is missing"
    text = value.decode("utf-8", "surrogateescape")
    if len(text) > MAX_CHARACTERS:
        return f"the text has more than the {MAX_CHARACTERS:,} characters allowed"
    if not text.strip():
        return "empty document"
    return describe_damage(text, "utf-8")


def read_labels(column: pa.Array, separator: str | None = None) -> pa.LargeListArray:
    """Read the categories of each row: a list, a string to split, or one name."""
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        lists = column.cast(pa.large_list(pa.large_string()))
    else:
        names = column.cast(pa.large_string())
        single = pa.LargeListArray.from_arrays(pa.array(np.arange(len(names) + 1)), names)
        lists = pc.split_pattern(names, separator).cast(single.type) if separator else single
    return _tidied(lists)


def _tidied(lists: pa.LargeListArray) -> pa.LargeListArray:
    """Remove white space around names, empty names and repetitions."""
    owners = pc.list_parent_indices(lists)
    names = pc.utf8_trim_whitespace(lists.flatten())
    pairs = pa.table({"owner": owners, "name": names}).filter(
        pc.greater(pc.binary_length(names), 0)
    )
    distinct = (
        pairs.group_by(["owner", "name"], use_threads=False).aggregate([])
        if pairs.num_rows
        else pairs
    )
    owner = np.asarray(distinct["owner"].combine_chunks())
    order = np.argsort(owner, kind="stable")
    ends = np.searchsorted(owner[order], np.arange(len(lists) + 1))
    return pa.LargeListArray.from_arrays(
        pa.array(ends), distinct["name"].combine_chunks().take(pa.array(order))
    )


def indicator_of_labels(labels: pa.LargeListArray, categories: pa.Array) -> SparseRows:
    """Documents x categories, 1 where the document has the category.

    Names that are not listed are left out.
    """
    columns = pc.index_in(labels.flatten(), categories.cast(pa.large_string()))
    owners = np.asarray(pc.list_parent_indices(labels))
    known = np.asarray(columns.is_valid())
    indices = owners[known], np.asarray(columns.drop_null())
    ones = np.ones(len(indices[0]), dtype=np.int8)
    return sparse.csr_array((ones, indices), shape=(len(labels), len(categories)))


TERM = "term"
CATEGORY = "category"
TOTAL = "total"
DOCUMENTS = "documents"
UNLIKE_ONE = "documents without exactly one category"
UNREADABLE = "unreadable"
EVERY = -1  # stands for all categories, or for all terms
_MOST_TERMS = 1 << 20  # that a process counts before it hands them on
_BATCH_ROWS = 1 << 16  # of a batch that is handed on


@dataclass(frozen=True)
class DocumentColumns:
    """The columns of texts and labels, and the separator of several categories in a string."""

    text: str
    label: str | None = None
    separator: str | None = None

    @property
    def names(self) -> list[str]:
        """The columns that are read."""
        return [self.text] if self.label is None else [self.text, self.label]

    def read(
        self, batch: pa.RecordBatch
    ) -> tuple[pa.LargeStringArray, pa.LargeListArray | None, pa.StringArray]:
        """Read the texts that can be read with their categories, and the errors of all rows."""
        readable = read_texts(batch.column(self.text))
        if self.label is None:
            return readable.texts, None, readable.errors
        labels = read_labels(
            batch.column(self.label).take(pa.array(readable.rows)), self.separator
        )
        return readable.texts, labels, readable.errors


@dataclass(frozen=True)
class Survey:
    """A counter of terms, categories and documents: kind, name, documents, occurrences."""

    columns: DocumentColumns
    vectorizer: TermVectorizer

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count all batches; more than a million terms are handed on before the end."""
        counter = self._counter()
        categories = pa.array([], pa.large_string())
        totals = np.zeros(3, dtype=np.int64)
        for batch in batches:
            texts, labels, errors = self.columns.read(batch)
            totals += [len(texts), 0, len(errors) - errors.null_count]
            if len(texts):
                counter.partial_fit(texts)
            if labels is not None:
                totals[1] += int(
                    np.count_nonzero(np.asarray(pc.list_value_length(labels)) != 1)
                )
                categories = pa.concat_arrays([categories, labels.flatten()])
            if hasattr(counter, "vocabulary_") and len(counter.vocabulary_) > _MOST_TERMS:
                yield from _in_batches(_term_rows(counter))
                counter = self._counter()
            if len(categories) > _MOST_TERMS:
                yield from _in_batches(_category_rows(categories))
                categories = categories[:0]
        yield from _in_batches(
            _term_rows(counter), _category_rows(categories), _total_rows(totals)
        )

    def _counter(self) -> TermVectorizer:
        """Count all terms; some may be left out when all documents are counted."""
        every = {
            "min_df": 1,
            "max_df": 1.0,
            "drop_frequent": 0,
            "drop_rare": 0,
            "n_jobs": 1,
            "progress": None,
        }
        return TermVectorizer(**{**self.vectorizer.get_params(), **every})


SURVEY_SCHEMA = "kind string, name string, documents long, occurrences long"


def _term_rows(counter: TermVectorizer) -> pa.Table:
    if not hasattr(counter, "vocabulary_"):
        return _survey_rows(TERM, pa.array([], pa.large_string()), np.zeros(0), np.zeros(0))
    names = counter.vocabulary_.words.to_arrow()
    return _survey_rows(
        TERM, names, counter.document_frequencies_, counter.collection_frequencies_
    )


def _category_rows(names: pa.LargeStringArray) -> pa.Table:
    counted = names.value_counts()
    numbers = np.asarray(counted.field("counts"))
    return _survey_rows(CATEGORY, counted.field("values"), numbers, numbers)


def _total_rows(totals: IntArray) -> pa.Table:
    return _survey_rows(TOTAL, pa.array([DOCUMENTS, UNLIKE_ONE, UNREADABLE]), totals, totals)


def _survey_rows(kind: str, names: pa.Array, documents: Array, occurrences: Array) -> pa.Table:
    numbers = [
        pa.array(np.asarray(column, dtype=np.int64)) for column in (documents, occurrences)
    ]
    kinds = pa.repeat(pa.scalar(kind), len(names))
    return pa.table(
        [kinds, names.cast(pa.string()), *numbers], ["kind", "name", "documents", "occurrences"]
    )


@dataclass(frozen=True)
class PairCounter:
    """A counter of (category, term): documents, weight and squares of weights.

    The number -1 stands for all categories, or for all terms: the counts of a term in all
    documents, the documents of a category, the documents in all. The vectorizer is requested when
    the first batch is there.
    """

    columns: DocumentColumns
    categories: tuple[str, ...]
    vectorizer: Callable[[], TermVectorizer]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count all batches."""
        names = pa.array(self.categories, pa.string())
        counted = None
        squares = np.zeros(0)
        for batch in batches:
            vectorizer = self.vectorizer()
            n_terms = len(vectorizer.vocabulary_)
            if counted is None:
                counted = CategoryCounts.empty(len(names), n_terms)
                squares = np.zeros(n_terms)
            texts, labels, _ = self.columns.read(batch)
            X = vectorizer.transform(texts)
            members = indicator_of_labels(labels, names).T.tocsr()
            counted = counted.add(X, members, np.ones(len(texts)))
            squares += np.bincount(X.indices, weights=X.data**2, minlength=n_terms)
        if counted is not None:
            yield from _in_batches(_pair_rows(counted, squares))


PAIR_SCHEMA = "category int, term int, documents double, weight double, squares double"


def _pair_rows(counted: CategoryCounts, squares: FloatArray) -> pa.Table:
    seen = np.flatnonzero(counted.term_documents)
    owners = np.repeat(np.arange(counted.counts.shape[0]), np.diff(counted.counts.indptr))
    sizes = counted.category_documents
    nothing = np.zeros(len(counted.category_documents))
    every = np.full(len(seen), EVERY)
    parts = [
        (
            owners,
            counted.counts.indices,
            counted.documents,
            counted.counts.data,
            np.zeros(len(owners)),
        ),
        (every, seen, counted.term_documents[seen], counted.term_counts[seen], squares[seen]),
        (np.arange(len(sizes)), np.full(len(sizes), EVERY), sizes, nothing, nothing),
        ([EVERY], [EVERY], [counted.n_documents], [0.0], [0.0]),
    ]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    kinds = (np.int32, np.int32, np.float64, np.float64, np.float64)
    arrays = [
        pa.array(column.astype(kind)) for column, kind in zip(columns, kinds, strict=True)
    ]
    return pa.table(arrays, ["category", "term", "documents", "weight", "squares"])


def _in_batches(*tables: pa.Table) -> Iterator[pa.RecordBatch]:
    yield from pa.concat_tables(tables).combine_chunks().to_batches(max_chunksize=_BATCH_ROWS)
