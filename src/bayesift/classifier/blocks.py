"""Blocks of columns beside those of terms: word vectors, n-grams of characters, and columns of the user's table."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from bayesift.arrays import Array
from bayesift.classifier.inputs import Column, Texts, is_missing
from bayesift.errors import DataError
from bayesift.models.ensemble.stacking import CHARACTERS, TABLE, VECTORS
from bayesift.state import storable
from bayesift.text import TermVectorizer, TextEmbedder, WordVectors

_NAMES = {VECTORS: "vectors", CHARACTERS: "characters", TABLE: "columns"}
_AROUND_WORDS = re.compile(r"^\W+|\W+$")


@storable("number-column")
@dataclass(frozen=True, slots=True)
class NumberColumn:
    """Numbers of a table: centred and scaled to a standard deviation of one.

    What is missing is 0, and said so.
    """

    name: str
    mean: float
    deviation: float
    may_miss: bool

    @property
    def names(self) -> list[str]:
        """Names of the columns that it becomes."""
        return [self.name, *[f"{self.name} is missing"] * self.may_miss]

    @classmethod
    def learn(cls, name: str, values: list[Any]) -> Self:
        """The mean and the deviation of the numbers that there are."""
        given = np.array([float(value) for value in values if not is_missing(value)])
        deviation = float(given.std()) if len(given) else 1.0
        return cls(
            name,
            float(given.mean()) if len(given) else 0.0,
            deviation or 1.0,
            len(given) < len(values),
        )

    def rows(self, values: list[Any]) -> sparse.csr_array:
        """Rows of one column, or of two if values may be missing."""
        numbers_of = np.array(
            [self.mean if is_missing(v) else _number(self.name, k, v) for k, v in enumerate(values)]
        )
        missing = np.array([is_missing(value) for value in values], dtype=np.float64)
        columns = [(numbers_of - self.mean) / self.deviation, *[missing] * self.may_miss]
        return sparse.csr_array(np.column_stack(columns))


@storable("category-column")
@dataclass(frozen=True, slots=True)
class CategoryColumn:
    """Categories of a table: a column of 0 and 1 for each value of the training rows.

    Others are rows of 0.
    """

    name: str
    values: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """Names of the columns that it becomes."""
        return [f"{self.name}={value}" for value in self.values]

    @classmethod
    def learn(cls, name: str, values: list[Any]) -> Self:
        """The distinct values, sorted."""
        return cls(name, tuple(sorted({str(value) for value in values if not is_missing(value)})))

    def rows(self, values: list[Any]) -> sparse.csr_array:
        """Rows with a 1 in the column of their value."""
        place = {value: j for j, value in enumerate(self.values)}
        columns = np.array(
            [-1 if is_missing(value) else place.get(str(value), -1) for value in values]
        )
        held = np.flatnonzero(columns >= 0)
        entries = np.ones(len(held)), (held, columns[held])
        return sparse.csr_array(entries, shape=(len(values), len(self.values)))


@storable("table-columns")
@dataclass(frozen=True, slots=True)
class TableColumns:
    """Columns of a table as a block of numbers: rows have a mean square length of about one, as term vectors have.

    Examples
    --------
    >>> table = [("price", [1.0, 3.0, None]), ("country", ["DE", "AT", "DE"])]
    >>> block = TableColumns.learn(["price", "country"], table)
    >>> block.names
    ['price', 'price is missing', 'country=AT', 'country=DE']
    >>> block.rows(table).toarray().round(2).tolist()
    [[-0.71, 0.0, 0.0, 0.71], [0.71, 0.0, 0.71, 0.0], [0.0, 0.71, 0.0, 0.71]]
    """

    columns: tuple[NumberColumn | CategoryColumn, ...]

    @classmethod
    def learn(cls, names: Sequence[str], table: Sequence[Column]) -> Self:
        """Numbers where all values are numbers, else categories."""
        return cls(
            tuple(_kind_of(values).learn(name, values) for name, values in _pick(names, table))
        )

    @property
    def names(self) -> list[str]:
        """Names of the columns that the block has."""
        return [name for column in self.columns for name in column.names]

    def rows(self, table: Sequence[Column]) -> sparse.csr_array:
        """The block of the rows of a table."""
        picked = _pick([column.name for column in self.columns], table)
        parts = [
            column.rows(values) for column, (_, values) in zip(self.columns, picked, strict=True)
        ]
        return sparse.csr_array(sparse.hstack(parts) / math.sqrt(len(parts)))


def columns_of(columns: Sequence[str] | str) -> list[str]:
    """The names of columns, or of the one that is named."""
    return [columns] if isinstance(columns, str) else list(columns)


def _pick(names: Sequence[str], table: Sequence[Column]) -> list[Column]:
    held = dict(table)
    for name in names:
        if name not in held:
            there = f"there are: {', '.join(held)}" if held else "give a table with it"
            raise DataError(f"no column {name!r}; {there}")
    return [(name, held[name]) for name in names]


def _kind_of(values: list[Any]) -> type[NumberColumn] | type[CategoryColumn]:
    given = [value for value in values if not is_missing(value)]
    return (
        NumberColumn if all(isinstance(value, numbers.Real) for value in given) else CategoryColumn
    )


def _number(name: str, place: int, value: Any) -> float:
    if not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise DataError(
            f"row {place} has {value!r:.40} in the column {name!r}, which is one of numbers"
        )
    return float(value)


@dataclass(frozen=True, eq=False)
class Blocks:
    """What stands beside the terms of a `TextClassifier`, in this order; None for what does not.

    Parameters
    ----------
    embedder : word vectors
    characters : a vectorizer of n-grams of characters
    table : columns of the user's table
    """

    embedder: TextEmbedder | None = None
    characters: TermVectorizer | None = None
    table: TableColumns | None = None

    def __bool__(self) -> bool:
        return bool(self.sizes)

    @property
    def sizes(self) -> dict[int, int]:
        """The number of columns of each block, by its kind."""
        found = {
            VECTORS: 0 if self.embedder is None else len(self.embedder.centre_),
            CHARACTERS: 0 if self.characters is None else len(self.characters.vocabulary_),
            TABLE: 0 if self.table is None else len(self.table.names),
        }
        return {kind: size for kind, size in found.items() if size}

    @property
    def named_sizes(self) -> tuple[tuple[str, int], ...]:
        """The same by the names of the blocks."""
        return tuple((_NAMES[kind], size) for kind, size in self.sizes.items())

    def rows(self, given: Texts) -> list[sparse.csr_array]:
        """The rows of texts, by block."""
        found: list[Any] = []
        if self.embedder is not None:
            found.append(sparse.csr_array(self.embedder.transform(given.values)))
        if self.characters is not None:
            found.append(self.characters.transform(given.values))
        if self.table is not None:
            found.append(self.table.rows(given.table))
        return found

    def only(self, kinds: Sequence[int]) -> Blocks:
        """Without the blocks of other kinds."""
        held = {VECTORS: "embedder", CHARACTERS: "characters", TABLE: "table"}
        return replace(self, **{name: None for kind, name in held.items() if kind not in kinds})


def beside(
    rows: Any, blocks: Sequence[Any], sizes: dict[int, int], lengths: Array | None
) -> tuple[Any, Array]:
    """Terms and, behind them, blocks; and the number of words of each column, or its kind."""
    joined = sparse.csr_array(sparse.hstack([rows, *blocks]))
    words = np.ones(rows.shape[1], dtype=np.int64) if lengths is None else lengths
    return joined, np.concatenate([words, *(np.full(size, kind) for kind, size in sizes.items())])


def fit_blocks(
    embedder: TextEmbedder | None,
    characters: TermVectorizer | None,
    columns: Sequence[str],
    given: Texts,
) -> tuple[Blocks, list[Any]]:
    """Fit the blocks to texts; also their rows."""
    rows: list[Any] = []
    if embedder is not None:
        rows.append(sparse.csr_array(embedder.fit_transform(given.values)))
    if characters is not None:
        rows.append(characters.fit_transform(given.values))
        characters = characters if len(characters.vocabulary_) else None
    table = TableColumns.learn(columns, given.table) if columns else None
    if table is not None:
        rows.append(table.rows(given.table))
    return Blocks(embedder, characters, table), rows


def embedder_for(
    embedder: TextEmbedder | str | None, model: Any, given: Texts
) -> TextEmbedder | None:
    """An unfitted copy of the embedder, or by "auto" that of the extra `embeddings` for a model that weighs vectors."""
    if isinstance(embedder, str):
        if embedder != "auto":
            raise ValueError(f"embedder must be a TextEmbedder, 'auto' or None, got {embedder!r}")
        able = (
            not given.are_vectors
            and has_fit_parameter(model, "ngram_lengths")
            and model.effort != "quick"
        )
        return TextEmbedder() if able and WordVectors.installed() is not None else None
    if embedder is not None and given.are_vectors:
        raise DataError("an embedder needs texts; the documents are vectors")
    return None if embedder is None else TextEmbedder(**embedder.get_params(deep=False))


def characters_for(characters: TermVectorizer | bool, given: Texts) -> TermVectorizer | None:
    """An unfitted vectorizer of n-grams of characters: a copy of that given, or for True of three to five in words."""
    if characters is False:
        return None
    if given.are_vectors:
        raise DataError("n-grams of characters need texts; the documents are vectors")
    if characters is True:
        return TermVectorizer(
            analyzer="char_wb", ngram_range=(3, 5), weighting="sublinear-tf-idf", min_df=2
        )
    if not isinstance(characters, TermVectorizer) or characters.analyzer == "word":
        raise ValueError(
            "characters must be True, False, or a TermVectorizer with an analyzer of characters"
        )
    made: TermVectorizer = clone(characters)
    return made if made.weighting is not None else made.set_params(weighting="sublinear-tf-idf")


@dataclass(frozen=True, slots=True)
class WordParts:
    """What the words of a text add to a block: a row for all texts alike, then one per word."""

    words: list[str]
    rows: sparse.csr_array


def meaning_parts(embedder: TextEmbedder, text: str) -> WordParts:
    """The parts of words in the row of a text by its vectors.

    The row of all texts is the centre.
    """
    words, parts = embedder.word_parts(text)
    centre = -embedder.centre_ / embedder.size_ * bool(np.any(parts))
    return WordParts(words, sparse.csr_array(np.vstack([centre, parts])))


def spelling_parts(characters: TermVectorizer, text: str) -> WordParts:
    """The parts of words in the n-grams of characters of a text, in proportion to how often each word has them.

    What n-grams across words add (of the analyzer "char") is in the row of all texts.
    """
    counter = copy(characters)  # of the same vocabulary
    counter.set_params(weighting="tf", cosine=False)
    chunks = text.split() if characters.analyzer == "char_wb" else []
    whole, counts = counter.transform([text]), counter.transform(chunks or [""])
    row = characters.transform([text]).toarray()[0]
    each = np.divide(row, whole.toarray()[0], out=np.zeros_like(row), where=whole.toarray()[0] > 0)
    parts = sparse.csr_array(counts.multiply(each[np.newaxis]))
    rest = sparse.csr_array((row - parts.sum(axis=0))[np.newaxis])
    rest.data[np.abs(rest.data) < 1e-12] = 0.0
    names = [_AROUND_WORDS.sub("", chunk.lower()) or chunk for chunk in chunks] or [""]
    return WordParts(names, sparse.csr_array(sparse.vstack([rest, parts])))
