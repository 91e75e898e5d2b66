"""Words as bytes in one buffer, the table that numbers them, and the vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from bayesift.arrays import Array, IntArray
from bayesift.kernels import words as kernels
from bayesift.threads import computed_once, in_order


@dataclass(frozen=True, slots=True)
class Words:
    """A list of words in one padded buffer of UTF-8 bytes.

    `starts` are their offsets, and the end of the last.
    """

    pool: IntArray
    starts: IntArray

    @classmethod
    def of(cls, strings: Iterable[str] | Iterable[bytes] | pa.LargeStringArray) -> Words:
        """Make words of strings, or of their UTF-8 bytes."""
        given = strings
        if not isinstance(strings, pa.LargeStringArray):
            given = pa.array(list(strings), pa.large_binary())
        text, starts = utf8_buffers(given)
        text = text[starts[0] : starts[-1]]
        return cls(
            np.concatenate([text, np.zeros(kernels.PADDING, dtype=np.uint8)]),
            starts - starts[0],
        )

    @classmethod
    def concatenate(cls, lists: Sequence[Words]) -> Words:
        """Join several lists of words."""
        ends = np.cumsum([0, *(words.starts[-1] for words in lists)])
        starts = [words.starts[1:] + end for words, end in zip(lists, ends, strict=False)]
        pools = [words.pool[: words.starts[-1]] for words in lists]
        padding = np.zeros(kernels.PADDING, dtype=np.uint8)
        return cls(
            np.concatenate([*pools, padding]),
            np.concatenate([np.zeros(1, dtype=np.int64), *starts]),
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def to_strings(self) -> list[str]:
        """Return the words as Python strings."""
        strings: list[str] = self.to_arrow().to_pylist()
        return strings

    def to_bytes(self) -> list[bytes]:
        """Return the words as UTF-8."""
        encoded: list[bytes] = self.to_arrow().cast(pa.large_binary()).to_pylist()
        return encoded

    def to_arrow(self) -> pa.LargeStringArray:
        """Return the words as an Arrow array that shares their bytes."""
        buffers = [None, pa.py_buffer(self.starts), pa.py_buffer(self.pool)]
        return pa.Array.from_buffers(pa.large_string(), len(self), buffers)

    def ngram_lengths(self) -> IntArray:
        """How many words each term joins: one more than its blanks."""
        blanks = np.concatenate([[0], np.cumsum(self.pool == ord(" "))])
        lengths: IntArray = 1 + blanks[self.starts[1:]] - blanks[self.starts[:-1]]
        return lengths

    def take(self, rows: IntArray) -> Words:
        """Return the words in these rows."""
        return Words.of(self.to_arrow().take(pa.array(rows)))

    def after(self, n_words: int) -> Words:
        """Return the words after the first `n_words`."""
        starts = self.starts[n_words:]
        return Words(self.pool[starts[0] :], starts - starts[0])

    def sorted_order(self, pool: Executor | None = None, n_parts: int = 1) -> IntArray:
        """Return the order that sorts the words by code point, as Python sorts strings.

        Threads sort parts of it.
        """
        head = self._eight_bytes(0)
        sample = np.sort(head[:: max(1, len(head) >> 10)])
        pivots = [
            sample[len(sample) * part // n_parts] for part in range(1, n_parts) if len(sample)
        ]
        part_of = np.searchsorted(np.array(pivots, dtype=np.uint64), head, side="right")
        parts = [np.flatnonzero(part_of == part) for part in range(len(pivots) + 1)]
        return np.concatenate(
            list(in_order(partial(self._sorted_rows, head), parts, pool, n_parts))
        )

    def _sorted_rows(self, head: Array, rows: Array) -> Array:
        """Rows in the order of their words, of which `head` is the first eight bytes."""
        order = rows[np.argsort(head[rows])]
        positions, run = _ties(head[order])
        tied = order[positions]
        following = self._eight_bytes(8, tied)
        within = np.lexsort((following, run))
        order[positions] = tied[within]
        long_positions, long_run = _ties(run, following[within])
        long_positions = positions[long_positions]
        order[long_positions] = order[long_positions][
            self._order_by_bytes(order[long_positions], long_run)
        ]
        return order

    def _eight_bytes(self, first: int, rows: Array | slice = slice(None)) -> Array:
        """Return eight bytes of each word from the byte `first` on as one big-endian number.

        Bytes after the end of a word are zeros.
        """
        eights = np.ndarray(len(self.pool) - 7, dtype=">u8", buffer=self.pool, strides=(1,))
        begins, ends = self.starts[:-1][rows], self.starts[1:][rows]
        missing = 8 * (8 - np.clip(ends - begins - first, 0, 8)).astype(np.uint64)
        numbers: Array = eights[begins + first].astype(np.uint64) >> missing << missing
        return numbers

    def _order_by_bytes(self, tied: IntArray, run: IntArray) -> list[int]:
        names = [self.pool[self.starts[i] : self.starts[i + 1]].tobytes() for i in tied]
        return sorted(range(len(tied)), key=lambda i: (run[i], names[i]))


def _ties(*keys: IntArray) -> tuple[IntArray, IntArray]:
    """Return the positions of sorted keys that equal a neighbour, and a number for each run."""
    same = np.logical_and.reduce([key[1:] == key[:-1] for key in keys])
    after, before = np.concatenate([same, [False]]), np.concatenate([[False], same])
    positions = np.flatnonzero(after | before)
    return positions, np.cumsum(~before[positions])


def utf8_buffers(texts: pa.LargeStringArray) -> tuple[IntArray, IntArray]:
    """Return the UTF-8 bytes of all texts and the offset of each, without a copy."""
    _, offsets, data = texts.buffers()
    if offsets is None:
        return np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    begins = np.frombuffer(offsets, dtype=np.int64)[
        texts.offset : texts.offset + len(texts) + 1
    ]
    return np.frombuffer(data, dtype=np.uint8) if data else np.zeros(0, dtype=np.uint8), begins


_NO_WORDS = Words(np.zeros(kernels.PADDING, dtype=np.uint8), np.zeros(1, dtype=np.int64))
_FEW, _FEW_AT_ONCE = 1 << 16, 1 << 12  # words
# Most text has at least so many: room for every possible token would cost fresh memory per batch.
_BYTES_PER_TOKEN = 5


class WordTable:
    """Numbers words by first appearance: by a dictionary while they are few, then by a `HashTable`.

    Both give the same numbers. The dictionary needs no compiled kernel and is as quick for a few
    words at a time. It is read before the hash table is asked for, since another thread may change
    from one to the other.
    """

    def __init__(self, words: Words | None = None) -> None:
        self._numbers: dict[str, int] = {}
        self._hashed: HashTable | None = None
        self._listed = _NO_WORDS
        self._n_asked = 0
        if words is not None:
            self.add(words)

    def __len__(self) -> int:
        numbers, hashed = self._numbers, self._hashed
        return len(numbers if hashed is None else hashed)

    @property
    def words(self) -> Words:
        """The words in the order of their numbers, also while another thread adds some."""
        numbers, hashed, listed = self._numbers, self._hashed, self._listed
        if hashed is not None:
            return hashed.words
        if len(numbers) > len(listed):
            newer = list(numbers)[len(listed) :]  # a list of a dictionary is made in one step
            listed = Words.concatenate([listed, Words.of(newer)])
            self._listed = listed
        return listed

    def add(self, words: Words) -> IntArray:
        """Numbers of words; new words get the next numbers."""
        numbers, hashed = self._numbers, self._hashed_if_many(words)
        if hashed is not None:
            return hashed.add(words)
        return np.array(
            [numbers.setdefault(word, len(numbers)) for word in words.to_strings()],
            dtype=np.int32,
        )

    def find(self, words: Words) -> IntArray:
        """Numbers of words, -1 for unknown ones."""
        numbers, hashed = self._numbers, self._hashed_if_many(words)
        if hashed is not None:
            return hashed.find(words)
        return np.array([numbers.get(word, -1) for word in words.to_strings()], dtype=np.int32)

    def _hashed_if_many(self, words: Words) -> HashTable | None:
        """Return the hash table, once the dictionary or the lists asked for are large."""
        if self._hashed is None:
            self._n_asked += len(words) if len(words) > _FEW_AT_ONCE else 0
            if max(self._n_asked, len(self._numbers)) > _FEW:
                self.use_hashes()
        return self._hashed

    def use_hashes(self) -> HashTable:
        """Change to the hash table, for large batches."""
        if self._hashed is None:
            self._hashed = HashTable(self.words)
            self._numbers = {}
        return self._hashed


class HashTable:
    """A hash table that numbers words by first appearance, without a Python object per word."""

    def __init__(self, words: Words | None = None, *, room: int = 0) -> None:
        self._slots = np.zeros(64, dtype=np.int32)
        self._keys = np.zeros((len(self._slots) // 2 + 2, 2), dtype=np.uint64)
        self._pool = np.zeros(kernels.PADDING, dtype=np.uint8)
        self._starts = np.zeros(len(self._keys), dtype=np.int64)
        self._n_words = 0
        self._make_room(room if words is None else len(words), 0)
        if words is not None:
            self.add(words)

    def __len__(self) -> int:
        return self._n_words

    @property
    def words(self) -> Words:
        """The words in the order of their numbers."""
        starts = self._starts[: self._n_words + 1]
        return Words(self._pool[: starts[-1] + kernels.PADDING], starts)

    def add(self, words: Words) -> IntArray:
        """Numbers of words; new words get the next numbers."""
        return self.add_spans(words.pool, words.starts[:-1], words.starts[1:])

    def add_spans(self, text: IntArray, begins: IntArray, ends: IntArray) -> IntArray:
        """As `add`, for the words that begin and end at these bytes of a padded text."""
        ids = np.empty(len(begins), dtype=np.int32)
        done = 0
        while True:
            done, self._n_words = kernels.add_until_full(
                *self._parts(), self._n_words, text, begins, ends, ids, done
            )
            if done == len(ids):
                return ids
            self._make_room(1, int(ends[done] - begins[done]))

    def add_text(
        self, folded: IntArray, ends: IntArray, begin: int, min_length: int
    ) -> tuple[IntArray, IntArray]:
        """Tokenise folded documents from a byte on; return word numbers and ends of documents."""
        n_bytes = int(ends[-1]) - begin if len(ends) else 0
        tokens = np.empty(n_bytes // _BYTES_PER_TOKEN + kernels.ROOM, dtype=np.int32)
        token_ends = np.empty(len(ends), dtype=np.int64)
        begins, stops, missed = (np.empty(kernels.ROOM, dtype=np.int64) for _ in range(3))
        wanted = np.empty((kernels.ROOM, 2), dtype=np.uint64)
        block = kernels.WordBlock(begins, stops, wanted, missed)
        state = np.array([0, begin, self._n_words, 0, 0], dtype=np.int64)
        done = False
        while not done:
            self._make_room(kernels.ROOM, n_bytes)
            if state[3] + kernels.ROOM > len(tokens):
                tokens.resize(2 * len(tokens), refcheck=False)
            done = kernels.tokenise_until_full(
                folded, ends, min_length, self._parts(), block, tokens, token_ends, state
            )
            self._n_words = int(state[2])
        tokens.resize(state[3], refcheck=False)
        return tokens, token_ends

    def find(self, words: Words) -> IntArray:
        """Numbers of words, -1 for unknown ones."""
        found: IntArray = kernels.find_words(*self._parts(), words.pool, words.starts)
        return found

    def _parts(self) -> kernels.WordSlots:
        return kernels.WordSlots(self._slots, self._keys, self._pool, self._starts)

    def _make_room(self, n_words: int, n_bytes: int) -> None:
        """Room for this many more words, and for this many bytes of words."""
        if 2 * (self._n_words + n_words) > len(self._slots):
            self._slots = np.zeros(
                1 << (2 * (self._n_words + n_words) - 1).bit_length(), dtype=np.int32
            )
            kernels.rehash(self._slots, self._keys, self._n_words)
            self._keys = _lengthened(self._keys, len(self._slots) // 2 + 2, self._n_words + 1)
            self._starts = _lengthened(self._starts, len(self._keys), self._n_words + 1)
        used = int(self._starts[self._n_words])
        if used + n_bytes + kernels.PADDING > len(self._pool):
            self._pool = _lengthened(self._pool, 2 * used + n_bytes + kernels.PADDING, used)


def _lengthened(array: Array, length: int, used: int) -> Array:
    """Return a longer array of zeros that begins with the rows of another that are in use."""
    longer = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    longer[:used] = array[:used]
    return longer


class Vocabulary(Mapping[str, int]):
    """A read-only mapping of terms to columns, without a Python object per term."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._names: list[str] = []
        self._lengths: IntArray = np.zeros(0, dtype=np.int64)

    @computed_once
    def table(self) -> WordTable:
        """Build the hash table of the terms on first use.

        Terms added to it are added to the vocabulary.
        """
        return WordTable(self._words)

    @property
    def words(self) -> Words:
        """The terms in column order, as bytes."""
        return self.table.words if "table" in self.__dict__ else self._words

    @property
    def names(self) -> list[str]:
        """The terms in column order."""
        if len(self._names) < len(self):
            self._names = self.words.to_strings()
        return self._names

    def ngram_lengths(self) -> IntArray:
        """Return how many words each term joins."""
        if len(self._lengths) < len(self):
            self._lengths = self.words.ngram_lengths()
        return self._lengths

    def to_numpy(self) -> Array:
        """Return the terms in column order as an array of strings."""
        if len(self._names) == len(self):
            return np.array(self._names, dtype=object)
        names: Array = self.words.to_arrow().to_numpy(zero_copy_only=False)
        return names

    def columns(self, terms: Iterable[str]) -> list[int]:
        """Return the columns of terms, -1 for unknown ones."""
        columns: list[int] = self.table.find(Words.of(terms)).tolist()
        return columns

    def __getitem__(self, term: str) -> int:
        column = self.columns([term])[0] if isinstance(term, str) else -1
        if column < 0:
            raise KeyError(term)
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,} terms)"
