"""Documents and the categories they may belong to."""

from __future__ import annotations

import datetime
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesift.arrays import IntArray, SparseRows
from bayesift.errors import DataError
from bayesift.records.document import Document, Note, ReadingProblem
from bayesift.records.table import DocumentTable, csr_of, hashed_bytes
from bayesift.threads import computed_once

if TYPE_CHECKING:
    import pyarrow as pa


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
    layout : the columns of the table that it was read from, a `bayesift.tables.TableLayout`

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
    vectors: SparseRows | None = None
    problems: tuple[ReadingProblem, ...] = ()
    notes: tuple[Note, ...] = ()
    layout: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", tuple(self.categories))
        object.__setattr__(self, "parents", MappingProxyType(dict(self.parents)))
        _refuse_duplicates("category", self.categories)
        if isinstance(self.documents, DocumentTable):
            object.__setattr__(
                self, "documents", self.documents.with_categories(self.categories)
            )
        else:
            object.__setattr__(self, "documents", tuple(self.documents))
            self._check_documents()
        if self.vectors is not None and self.vectors.shape[0] != len(self.documents):
            raise DataError(
                f"{self.vectors.shape[0]} vectors for {len(self.documents)} documents"
            )

    def _check_documents(self) -> None:
        _refuse_duplicates("document id", (document.id for document in self.documents))
        known = set(self.categories)
        for document in self.documents:
            if not known.issuperset(document.categories):
                unknown = ", ".join(sorted(set(document.categories) - known))
                raise DataError(
                    f"document {document.id!r} has categories the corpus does not list: {unknown}"
                )

    def __reduce__(self) -> tuple[type[Corpus], tuple[object, ...]]:
        # A read-only mapping cannot be pickled.
        parents = dict(self.parents)
        return Corpus, (
            self.documents,
            self.categories,
            self.name,
            parents,
            self.vectors,
            self.problems,
            self.notes,
            self.layout,
        )

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def __repr__(self) -> str:
        return (
            f"Corpus({self.name!r}, {len(self.documents):,} documents, {len(self.categories):,} "
            f"categories, splits={self.splits})"
        )

    @property
    def texts(self) -> list[str]:
        """Title and body of every document."""
        texts: Any = self.text_column
        listed: list[str] = texts if isinstance(texts, list) else texts.to_pylist()
        return listed

    @property
    def text_column(self) -> list[str] | pa.ChunkedArray:
        """Title and body of every document, as an Arrow array if documents are held as one."""
        if isinstance(self.documents, DocumentTable):
            return self.documents.full_texts
        return [document.full_text for document in self.documents]

    @property
    def text_lengths(self) -> IntArray:
        """The number of characters of each body."""
        if isinstance(self.documents, DocumentTable):
            import pyarrow.compute as pc

            lengths: IntArray = pc.utf8_length(self.documents.texts).to_numpy()
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
            splits: list[str | None] = self.documents._splits.to_pylist()
            return splits
        return [document.split for document in self.documents]

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits, in order of first appearance."""
        if isinstance(self.documents, DocumentTable) and self.documents.splits is None:
            return ()
        return tuple(name for name in dict.fromkeys(self._splits) if name is not None)

    @property
    def times(self) -> list[datetime.datetime | None] | None:
        """The date of each document; None if no document has one."""
        dates: list[datetime.datetime | None]
        if isinstance(self.documents, DocumentTable):
            held = self.documents.dates
            dates = [] if held is None else held.to_pylist()
        else:
            dates = [document.date for document in self.documents]
        if any(date is not None for date in dates):
            return dates
        return None

    @property
    def groups(self) -> list[str | None] | None:
        """The group of each document, such as its author; None if the source has no groups."""
        if isinstance(self.documents, DocumentTable) and self.documents.groups is not None:
            groups: list[str | None] = self.documents.groups.to_pylist()
            return groups
        return None

    @property
    def others(self) -> dict[str, list[str | None]]:
        """Further columns of the source, with the value of each document."""
        if not isinstance(self.documents, DocumentTable):
            return {}
        return {name: column.to_pylist() for name, column in self.documents.others.items()}

    @property
    def is_single_label(self) -> bool:
        """Whether every document has exactly one category."""
        return bool((self.n_labels == 1).all())

    @property
    def is_multilabel(self) -> bool:
        """Whether a document without a category belongs to none of them.

        That is so if some documents have several categories, or if there is only one category.
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
    def n_labels(self) -> IntArray:
        """The number of categories of each document."""
        n_labels: IntArray = np.diff(self.indicator.indptr)
        return n_labels

    @computed_once
    def indicator(self) -> SparseRows:
        """Documents x categories, 1 where the document belongs to the category."""
        if isinstance(self.documents, DocumentTable):
            return self.documents.labels.sorted_indices()
        return indicator_of(
            (document.categories for document in self.documents), self.categories
        )

    @property
    def fingerprint(self) -> str:
        """SHA-256 of ids, texts, categories, splits and vectors."""
        digest = hashlib.sha256()
        held = self.documents
        for part in (
            held.hashed_parts() if isinstance(held, DocumentTable) else map(hashed_bytes, held)
        ):
            digest.update(part)
        if self.vectors is not None:
            for array in (self.vectors.indptr, self.vectors.indices, self.vectors.data):
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def select(self, rows: Sequence[int] | IntArray) -> Corpus:
        """Return the corpus of the documents in these rows, with all categories."""
        indices = np.asarray(rows, dtype=np.int64)
        vectors = None if self.vectors is None else self.vectors[indices]
        if isinstance(self.documents, DocumentTable):
            return replace(self, documents=self.documents.select(indices), vectors=vectors)
        return replace(
            self, documents=tuple(self.documents[i] for i in indices.tolist()), vectors=vectors
        )

    def split(self, name: str) -> Corpus:
        """Return the corpus of the documents of one split."""
        rows = [i for i, split in enumerate(self._splits) if split == name]
        if not rows:
            raise DataError(f"no split {name!r}; there are: {', '.join(self.splits) or 'none'}")
        return self.select(rows)

    def with_categories(self, categories: Iterable[str]) -> Corpus:
        """Return the corpus with only these categories."""
        kept = tuple(categories)
        if isinstance(self.documents, DocumentTable):
            return replace(
                self, documents=self.documents.with_categories(kept), categories=kept
            )
        keep = set(kept)
        documents = tuple(
            replace(d, categories=tuple(c for c in d.categories if c in keep))
            for d in self.documents
        )
        return replace(self, documents=documents, categories=kept)

    def labelled(self) -> Corpus:
        """Return the corpus of the documents with at least one category."""
        return self.select(np.flatnonzero(self.n_labels))

    def category_counts(self) -> Counter[str]:
        """Count the documents of each category."""
        counts = np.bincount(self.indicator.indices, minlength=len(self.categories))
        return Counter(dict(zip(self.categories, counts.tolist(), strict=True)))


def indicator_of(
    labels: Iterable[Iterable[object]], categories: Sequence[str], *, skip_unknown: bool = False
) -> SparseRows:
    """Make the indicator, documents x categories, 1 where the document has the category.

    Unknown ones are refused or skipped.
    """
    column = {name: j for j, name in enumerate(categories)}
    try:
        rows = [
            {column[str(name)] for name in label if not skip_unknown or str(name) in column}
            for label in labels
        ]
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
