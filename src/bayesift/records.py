"""Documents and corpora."""

from __future__ import annotations

import datetime
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
from scipy import sparse

from bayesift.errors import DataError


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

    documents: tuple[Document, ...]
    categories: tuple[str, ...]
    name: str = ""
    parents: Mapping[str, str] = field(default_factory=dict)
    vectors: sparse.csr_array | None = None
    problems: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "documents", tuple(self.documents))
        object.__setattr__(self, "categories", tuple(self.categories))
        object.__setattr__(self, "parents", MappingProxyType(dict(self.parents)))
        _refuse_duplicates("category", self.categories)
        _refuse_duplicates("document id", (document.id for document in self.documents))
        known = set(self.categories)
        for document in self.documents:
            if not known.issuperset(document.categories):
                unknown = ", ".join(sorted(set(document.categories) - known))
                raise DataError(f"document {document.id!r} has categories the corpus does not list: {unknown}")
        if self.vectors is not None and self.vectors.shape[0] != len(self.documents):
            raise DataError(f"{self.vectors.shape[0]} vectors for {len(self.documents)} documents")

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
        return [document.full_text for document in self.documents]

    @property
    def ids(self) -> list[str]:
        """The document ids, in order."""
        return [document.id for document in self.documents]

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits, in order of first appearance."""
        return tuple(dict.fromkeys(d.split for d in self.documents if d.split is not None))

    @property
    def is_single_label(self) -> bool:
        """Whether every document has exactly one category."""
        return all(len(document.categories) == 1 for document in self.documents)

    @property
    def is_multilabel(self) -> bool:
        """Whether documents without a category belong to none: some have several, or there is but one to belong to.

        Otherwise every document has one category, and those without are not labelled.
        """
        if any(len(document.categories) > 1 for document in self.documents):
            return True
        return (
            not self.is_single_label and len({name for document in self.documents for name in document.categories}) < 2
        )

    @property
    def labels(self) -> list[str]:
        """The category of each document; an error if a document has none or several."""
        if not self.is_single_label:
            raise DataError("documents have none or several categories; use `indicator`")
        return [document.categories[0] for document in self.documents]

    @property
    def indicator(self) -> sparse.csr_array:
        """Documents x categories, 1 where the document belongs to the category."""
        return indicator_of((document.categories for document in self.documents), self.categories)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of ids, texts, categories, splits and vectors."""
        digest = hashlib.sha256()
        for d in self.documents:
            parts = [part.encode("utf-8", "surrogatepass") for part in (d.id, d.title, d.text, *d.categories)]
            parts.append((d.split or "").encode("utf-8", "surrogatepass"))
            digest.update(b"".join([piece for part in parts for piece in (len(part).to_bytes(8, "little"), part)]))
        if self.vectors is not None:
            for array in (self.vectors.indptr, self.vectors.indices, self.vectors.data):
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def select(self, rows: Sequence[int] | np.ndarray[tuple[int], np.dtype[np.int64]]) -> Corpus:
        """The corpus of the documents in these rows, with all categories."""
        vectors = None if self.vectors is None else self.vectors[np.asarray(rows, dtype=np.int64)]
        return replace(self, documents=tuple(self.documents[i] for i in rows), vectors=vectors)

    def split(self, name: str) -> Corpus:
        """The corpus of the documents of one split."""
        rows = [i for i, document in enumerate(self.documents) if document.split == name]
        if not rows:
            raise DataError(f"no split {name!r}; there are: {', '.join(self.splits) or 'none'}")
        return self.select(rows)

    def with_categories(self, categories: Iterable[str]) -> Corpus:
        """The corpus with only these categories."""
        kept = tuple(categories)
        keep = set(kept)
        documents = tuple(replace(d, categories=tuple(c for c in d.categories if c in keep)) for d in self.documents)
        return replace(self, documents=documents, categories=kept)

    def labelled(self) -> Corpus:
        """The corpus of the documents with at least one category."""
        return self.select([i for i, document in enumerate(self.documents) if document.categories])

    def category_counts(self) -> Counter[str]:
        """Number of documents of each category."""
        counts: Counter[str] = Counter(dict.fromkeys(self.categories, 0))
        counts.update(c for document in self.documents for c in document.categories)
        return counts


def indicator_of(
    labels: Iterable[Iterable[object]], categories: Sequence[str], *, skip_unknown: bool = False
) -> sparse.csr_array:
    """Documents x categories, 1 where the document has the category; unknown ones are refused or skipped."""
    column = {name: j for j, name in enumerate(categories)}
    try:
        rows = [{column[str(name)] for name in label if not skip_unknown or str(name) in column} for label in labels]
    except KeyError as error:
        raise DataError(f"unknown category {error.args[0]!r}") from None
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    indices = np.array([j for row in rows for j in sorted(row)], dtype=np.int32)
    return sparse.csr_array((np.ones(len(indices), dtype=np.int8), indices, indptr), shape=(len(rows), len(categories)))


def _refuse_duplicates(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f"duplicate {what} {name!r}")
        seen.add(name)
