"""Documents as rows of numbers, and named blocks of their columns.

    words       one column per word
    pairs       n-grams of several words, beside the words
    characters  n-grams of characters within words
    vectors     the mean of word vectors; dense
    columns     numbers and categories of the user's table

A model that knows the blocks can treat them differently: use one only where it lowers the loss,
or give each a prior scale of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy import sparse

from bayesift.arrays import BoolArray, FloatArray, IntArray, SparseRows

BlockKind = Literal["words", "pairs", "vectors", "characters", "columns"]

# A vectorizer gives the terms of these kinds one length per document; the others stay as they are.
_NORMALISED: tuple[BlockKind, ...] = ("words", "pairs", "characters")


@dataclass(frozen=True, eq=False)
class FeatureBlock:
    """A named block of columns of one kind.

    Parameters
    ----------
    name : such as "words" or "vectors"; distinct within a design
    kind : one of `BlockKind`
    columns : the positions of the columns in the matrix, sorted

    Examples
    --------
    >>> FeatureBlock("words", "words", np.arange(3)).size
    3
    """

    name: str
    kind: BlockKind
    columns: IntArray

    def __post_init__(self) -> None:
        if self.kind not in get_args(BlockKind):
            kinds = ", ".join(get_args(BlockKind))
            raise ValueError(f"the kind of a block must be one of {kinds}, got {self.kind!r}")

    @property
    def size(self) -> int:
        """The number of columns."""
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Design:
    """Documents x columns, and the blocks that the columns form.

    Parameters
    ----------
    rows : documents x columns
    blocks : every column is in exactly one of them

    Examples
    --------
    >>> words = sparse.csr_array([[1.0, 0.0], [0.0, 1.0]])
    >>> vectors = sparse.csr_array([[0.5], [-0.5]])
    >>> design = Design.of_words(words).beside("vectors", "vectors", vectors)
    >>> design.kinds
    ('words', 'vectors')
    >>> design.columns_of({"vectors"}).tolist()
    [2]
    """

    rows: SparseRows
    blocks: tuple[FeatureBlock, ...]

    @classmethod
    def of_words(cls, rows: SparseRows, lengths: IntArray | None = None) -> Design:
        """Make the design of term vectors.

        `lengths` is the number of words in the term of each column; those of several words are a
        block of pairs. Without it, all columns are words.
        """
        is_word = np.ones(rows.shape[1], dtype=bool)
        if lengths is not None:
            is_word = np.asarray(lengths) == 1
        blocks = [FeatureBlock("words", "words", np.flatnonzero(is_word))]
        if not is_word.all():
            blocks.append(FeatureBlock("pairs", "pairs", np.flatnonzero(~is_word)))
        return cls(rows, tuple(blocks))

    @classmethod
    def checked(cls, rows: SparseRows, blocks: Iterable[FeatureBlock] | None) -> Design:
        """Make a design of blocks that a user gave.

        Without a block of words, all columns are words.
        """
        given = tuple(blocks or ())
        if not any(block.kind == "words" and block.size for block in given):
            return cls.of_words(rows)
        columns = np.concatenate([block.columns for block in given])
        if not np.array_equal(np.sort(columns), np.arange(rows.shape[1])):
            raise ValueError(
                f"blocks must hold each of the {rows.shape[1]} columns exactly once"
            )
        return cls(rows, tuple(block for block in given if block.size))

    def beside(self, name: str, kind: BlockKind, rows: SparseRows) -> Design:
        """Return this design with one more block behind the others."""
        first = self.rows.shape[1]
        block = FeatureBlock(name, kind, np.arange(first, first + rows.shape[1]))
        return Design(sparse.csr_array(sparse.hstack([self.rows, rows])), (*self.blocks, block))

    @property
    def kinds(self) -> tuple[BlockKind, ...]:
        """The kinds of blocks that there are."""
        return tuple(dict.fromkeys(block.kind for block in self.blocks))

    def columns_of(self, kinds: Collection[str]) -> IntArray:
        """Return the positions of the columns of these kinds, sorted."""
        held = [block.columns for block in self.blocks if block.kind in kinds]
        return np.sort(np.concatenate([np.zeros(0, dtype=np.intp), *held]))

    def only(self, kinds: Collection[str]) -> Design:
        """Return the blocks of these kinds as a design of their own."""
        kept = self.columns_of(kinds)
        if len(kept) == self.rows.shape[1]:
            return self
        blocks = []
        for block in self.blocks:
            if block.kind in kinds:
                columns = np.searchsorted(kept, block.columns)
                blocks.append(FeatureBlock(block.name, block.kind, columns))
        return Design(self.rows[:, kept], tuple(blocks))

    def take(self, documents: IntArray) -> Design:
        """Return some of the documents."""
        return Design(self.rows[documents], self.blocks)

    def as_new_to(self, training: SparseRows) -> SparseRows:
        """Return the rows as they would be if only the training documents were known.

        Terms that those lack are left out; of pairs, also those in a single training document.
        Documents whose words, pairs or characters have one length keep it, as a vectorizer would
        give it to what is left of them. Vectors and columns of a table stay.
        """
        frequencies = np.bincount(training.indices, minlength=training.shape[1])
        known = np.ones(self.rows.shape[1], dtype=bool)
        for block in self.blocks:
            if block.kind in _NORMALISED:
                # A vectorizer keeps a pair only if at least two documents have it.
                fewest = 2 if block.kind == "pairs" else 1
                known[block.columns] = frequencies[block.columns] >= fewest
        rows = self.rows
        owners = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        data = np.where(known[rows.indices], rows.data, 0.0)
        for kind in set(_NORMALISED).intersection(self.kinds):
            in_kind = np.zeros(rows.shape[1], dtype=bool)
            in_kind[self.columns_of({kind})] = True
            _restore_lengths(data, rows.data, owners, in_kind[rows.indices])
        return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


def _restore_lengths(
    data: FloatArray, original: FloatArray, owners: IntArray, entries: BoolArray
) -> None:
    """Scale what is left of documents to the length they had, if all had the same."""
    documents = owners[entries]
    before = np.sqrt(np.bincount(documents, original[entries] ** 2))
    after = np.sqrt(np.bincount(documents, data[entries] ** 2))
    lengths = before[before > 0]
    if len(lengths) and np.ptp(lengths) <= 1e-6 * lengths.max():
        factors = np.divide(before, after, out=np.ones(len(before)), where=after > 0)
        data[entries] *= factors[documents]
