"""What a part of the documents adds to the counts of all: rows that are summed by name, whoever sums them.

Counts are whole numbers, so that their sums do not depend on how documents are dealt out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayesift.arrays import Array
from bayesift.models.naive_bayes.language_models import CategoryCounts
from bayesift.spark.texts import indicator_of_labels, read_labels, read_texts
from bayesift.text import TermVectorizer

TERM, CATEGORY, TOTAL = "term", "category", "total"
DOCUMENTS, UNLIKE_ONE, UNREADABLE = "documents", "documents without exactly one category", "unreadable"
EVERY = -1  # stands for all categories, or for all terms
_MOST_TERMS = 1 << 20  # that a process counts before it hands them on
_ROWS = 1 << 16  # of a batch that is handed on


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

    def read(self, batch: pa.RecordBatch) -> tuple[pa.LargeStringArray, pa.LargeListArray | None, pa.StringArray]:
        """The texts that can be read with their categories, and the errors of all rows."""
        readable = read_texts(batch.column(self.text))
        if self.label is None:
            return readable.texts, None, readable.errors
        labels = read_labels(batch.column(self.label).take(pa.array(readable.rows)), self.separator)
        return readable.texts, labels, readable.errors


@dataclass(frozen=True)
class Survey:
    """Counts terms (as the vectorizer defines them), categories and documents: kind, name, documents, occurrences."""

    columns: DocumentColumns
    vectorizer: TermVectorizer

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The counts of all batches; more than a million terms are handed on before the end."""
        counter, categories, totals = self._counter(), pa.array([], pa.large_string()), np.zeros(3, dtype=np.int64)
        for batch in batches:
            texts, labels, errors = self.columns.read(batch)
            totals += [len(texts), 0, len(errors) - errors.null_count]
            if len(texts):
                counter.partial_fit(texts)
            if labels is not None:
                totals[1] += int(np.count_nonzero(np.asarray(pc.list_value_length(labels)) != 1))
                categories = pa.concat_arrays([categories, labels.flatten()])
            if hasattr(counter, "vocabulary_") and len(counter.vocabulary_) > _MOST_TERMS:
                yield from _in_batches(_term_rows(counter))
                counter = self._counter()
            if len(categories) > _MOST_TERMS:
                yield from _in_batches(_category_rows(categories))
                categories = categories[:0]
        yield from _in_batches(_term_rows(counter), _category_rows(categories), _total_rows(totals))

    def _counter(self) -> TermVectorizer:
        """Counts all terms, of which some may be left out when the counts of all documents are there."""
        every = {"min_df": 1, "max_df": 1.0, "drop_frequent": 0, "drop_rare": 0, "n_jobs": 1, "progress": None}
        return TermVectorizer(**{**self.vectorizer.get_params(), **every})


SURVEY_SCHEMA = "kind string, name string, documents long, occurrences long"


def _term_rows(counter: TermVectorizer) -> pa.Table:
    if not hasattr(counter, "vocabulary_"):
        return _survey_rows(TERM, pa.array([], pa.large_string()), np.zeros(0), np.zeros(0))
    names = counter.vocabulary_.words.to_arrow()
    return _survey_rows(TERM, names, counter.document_frequencies_, counter.collection_frequencies_)


def _category_rows(names: pa.LargeStringArray) -> pa.Table:
    counted = names.value_counts()
    numbers = np.asarray(counted.field("counts"))
    return _survey_rows(CATEGORY, counted.field("values"), numbers, numbers)


def _total_rows(totals: Array) -> pa.Table:
    return _survey_rows(TOTAL, pa.array([DOCUMENTS, UNLIKE_ONE, UNREADABLE]), totals, totals)


def _survey_rows(kind: str, names: pa.Array, documents: Array, occurrences: Array) -> pa.Table:
    numbers = [pa.array(np.asarray(column, dtype=np.int64)) for column in (documents, occurrences)]
    kinds = pa.repeat(pa.scalar(kind), len(names))
    return pa.table([kinds, names.cast(pa.string()), *numbers], ["kind", "name", "documents", "occurrences"])


@dataclass(frozen=True)
class PairCounter:
    """Counts every (category, term): rows of category, term, documents, weight and squares of weights.

    The number -1 stands for all categories, or for all terms: the counts of a term in all documents, the documents of a
    category, the documents in all. The vectorizer is requested when the first batch is there.
    """

    columns: DocumentColumns
    categories: tuple[str, ...]
    vectorizer: Callable[[], TermVectorizer]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The counts of all batches."""
        names, counted, squares = pa.array(self.categories, pa.string()), None, np.zeros(0)
        for batch in batches:
            vectorizer = self.vectorizer()
            n_terms = len(vectorizer.vocabulary_)
            if counted is None:
                counted, squares = CategoryCounts.empty(len(names), n_terms), np.zeros(n_terms)
            texts, labels, _ = self.columns.read(batch)
            X = vectorizer.transform(texts)
            members = indicator_of_labels(labels, names).T.tocsr()
            counted = counted.add(X, members, np.ones(len(texts)))
            squares += np.bincount(X.indices, weights=X.data**2, minlength=n_terms)
        if counted is not None:
            yield from _in_batches(_pair_rows(counted, squares))


PAIR_SCHEMA = "category int, term int, documents double, weight double, squares double"


def _pair_rows(counted: CategoryCounts, squares: Array) -> pa.Table:
    seen = np.flatnonzero(counted.term_documents)
    owners = np.repeat(np.arange(counted.counts.shape[0]), np.diff(counted.counts.indptr))
    sizes, nothing = counted.category_documents, np.zeros(len(counted.category_documents))
    every = np.full(len(seen), EVERY)
    parts = [
        (owners, counted.counts.indices, counted.documents, counted.counts.data, np.zeros(len(owners))),
        (every, seen, counted.term_documents[seen], counted.term_counts[seen], squares[seen]),
        (np.arange(len(sizes)), np.full(len(sizes), EVERY), sizes, nothing, nothing),
        ([EVERY], [EVERY], [counted.n_documents], [0.0], [0.0]),
    ]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    kinds = (np.int32, np.int32, np.float64, np.float64, np.float64)
    arrays = [pa.array(column.astype(kind)) for column, kind in zip(columns, kinds, strict=True)]
    return pa.table(arrays, ["category", "term", "documents", "weight", "squares"])


def _in_batches(*tables: pa.Table) -> Iterator[pa.RecordBatch]:
    yield from pa.concat_tables(tables).combine_chunks().to_batches(max_chunksize=_ROWS)
