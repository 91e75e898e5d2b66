"""Words as bytes in one buffer, and the table that numbers them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from bayesift.kernels import words as kernels

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Words:
    """A list of words without a Python object for each.

    Parameters
    ----------
    pool : the UTF-8 bytes of all words, with padding at the end
    starts : where each word begins in the pool, and where the last one ends

    Examples
    --------
    >>> words = Words.of(["grain", "blé"])
    >>> len(words), words.to_strings()
    (2, ['grain', 'blé'])
    """

    pool: Array
    starts: Array

    @classmethod
    def of(cls, strings: Iterable[str] | pa.LargeStringArray) -> Words:
        """The words of these strings."""
        given = strings if isinstance(strings, pa.LargeStringArray) else pa.array(list(strings), pa.large_string())
        text, starts = utf8_buffers(given)
        text = text[starts[0] : starts[-1]]
        return cls(np.concatenate([text, np.zeros(kernels.PADDING, dtype=np.uint8)]), starts - starts[0])

    @classmethod
    def concatenate(cls, lists: Sequence[Words]) -> Words:
        """The words of several lists, one after the other."""
        ends = np.cumsum([0, *(words.starts[-1] for words in lists)])
        starts = [words.starts[1:] + end for words, end in zip(lists, ends, strict=False)]
        pools = [words.pool[: words.starts[-1]] for words in lists]
        padding = np.zeros(kernels.PADDING, dtype=np.uint8)
        return cls(np.concatenate([*pools, padding]), np.concatenate([np.zeros(1, dtype=np.int64), *starts]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def to_strings(self) -> list[str]:
        """The words as Python strings."""
        strings: list[str] = self.to_arrow().to_pylist()
        return strings

    def to_arrow(self) -> pa.LargeStringArray:
        """The words as an Arrow array that shares their bytes."""
        buffers = [None, pa.py_buffer(self.starts), pa.py_buffer(self.pool)]
        return pa.Array.from_buffers(pa.large_string(), len(self), buffers)

    def take(self, rows: Array) -> Words:
        """The words at these places."""
        begins = self.starts[:-1][rows]
        lengths = self.starts[1:][rows] - begins
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=starts[1:])
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        pool = np.zeros(starts[-1] + kernels.PADDING, dtype=np.uint8)
        pool[: starts[-1]] = self.pool[np.repeat(begins, lengths) + within]
        return Words(pool, starts)

    def sorted_order(self) -> Array:
        """The order that sorts the words by code point, as Python sorts strings."""
        head, following = kernels.word_keys(self.pool, self.starts)
        order = np.argsort(head)
        _order_ties(order, head, lambda tied, run: np.lexsort((following[tied], run)))
        _order_ties(order, np.stack([head, following], axis=1), self._order_by_bytes)
        return order

    def _order_by_bytes(self, tied: Array, run: Array) -> list[int]:
        names = [self.pool[self.starts[i] : self.starts[i + 1]].tobytes() for i in tied]
        return sorted(range(len(tied)), key=lambda i: (run[i], names[i]))


def _order_ties(order: Array, keys: Array, order_within: Callable[[Array, Array], Array | list[int]]) -> None:
    """Reorder in place the runs of equal keys; `order_within` gets the tied places and the run each belongs to."""
    same = keys[order[1:]] == keys[order[:-1]]
    same = same if same.ndim == 1 else same.all(axis=1)
    tied = np.flatnonzero(np.concatenate([same, [False]]) | np.concatenate([[False], same]))
    run = np.cumsum(~np.concatenate([[False], same]))[tied]
    order[tied] = order[tied][order_within(order[tied], run)]


def utf8_buffers(texts: pa.LargeStringArray) -> tuple[Array, Array]:
    """The UTF-8 bytes of all texts and where each begins, without a copy."""
    _, offsets, data = texts.buffers()
    if offsets is None:
        return np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    begins = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(data, dtype=np.uint8) if data else np.zeros(0, dtype=np.uint8), begins


class WordTable:
    """Numbers words by first appearance; a number never changes.

    Examples
    --------
    >>> table = WordTable()
    >>> table.add(Words.of(["corn", "wheat", "corn"])).tolist()
    [0, 1, 0]
    >>> table.find(Words.of(["wheat", "oil"])).tolist()
    [1, -1]
    """

    def __init__(self, words: Words | None = None) -> None:
        self._table = empty_table(0 if words is None else len(words))
        self._pool = np.zeros(kernels.PADDING, dtype=np.uint8)
        self._starts = np.zeros(len(self._table) // 2 + 2, dtype=np.int64)
        self._n_words = 0
        if words is not None:
            self.add(words)

    def __len__(self) -> int:
        return self._n_words

    @property
    def words(self) -> Words:
        """The words in the order of their numbers."""
        starts = self._starts[: self._n_words + 1]
        return Words(self._pool[: starts[-1] + kernels.PADDING], starts)

    def add(self, words: Words) -> Array:
        """Numbers of the words; new ones get the next numbers."""
        self._table, self._pool, self._starts, self._n_words, ids = kernels.add_words(
            self._table, self._pool, self._starts, self._n_words, words.pool, words.starts
        )
        added: Array = ids
        return added

    def find(self, words: Words) -> Array:
        """Numbers of the words, -1 for those that are not here."""
        found: Array = kernels.find_words(self._table, self._pool, self._starts, words.pool, words.starts)
        return found


def empty_table(n_words: int) -> Array:
    """A table that takes this many words before it grows."""
    return np.zeros((1 << max(6, (2 * n_words + 1).bit_length()), 4), dtype=np.uint64)
