"""Texts in batches, and the tokens of a batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice, pairwise
from threading import local
from typing import Any, Literal, cast, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayesift.arrays import BoolArray, IntArray
from bayesift.errors import DataError
from bayesift.kernels import ngrams
from bayesift.kernels import words as kernels
from bayesift.kernels.words import COMPLEX, IDEOGRAPH, MARK, WORD
from bayesift.text.markup import strip_html
from bayesift.text.scripts import (
    Characters,
    Unspaced,
    character_class,
    character_kinds,
    white_space,
)
from bayesift.text.words import HashTable, Words, WordTable, utf8_buffers

BATCH_CHARACTERS = 1 << 22
BATCH_TEXTS = 1 << 15
_SMALL = (
    1 << 20
)  # bytes of a batch up to which Python finds its words, unless the kernels are compiled
_TINY = 1 << 12  # bytes up to which Python is as quick as they are


def batches_of(texts: Iterable[str] | pa.Array) -> Iterator[list[str] | pa.LargeStringArray]:
    """Split texts into batches of a few million characters.

    An iterator is read only as far as needed.
    """
    if isinstance(texts, str | bytes):
        raise TypeError(
            f"texts must be a sequence or iterator of strings, not one {type(texts).__name__}"
        )
    texts = _one_column(texts)
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        yield from _arrow_batches(texts)
        return
    start = 0
    source = iter(texts)
    while batch := _next_batch(source, start):
        yield batch
        start += len(batch)


def _one_column(texts: Any) -> Any:
    """Return the texts of a table or an array with one column.

    Iterating over a table would give the names of its columns.
    """
    if isinstance(texts, pa.Table | pa.RecordBatch):
        n_columns = texts.num_columns
    elif getattr(texts, "ndim", 1) == 2 or hasattr(
        texts, "iter_columns"
    ):  # arrays, pandas, polars
        n_columns = texts.shape[1]
    else:
        return texts
    if n_columns != 1:
        raise DataError(
            f"texts must be one column, not a table of {n_columns}; name the column, or give the "
            "table to a TextClassifier"
        )
    if hasattr(texts, "iloc"):
        return texts.iloc[:, 0]
    if isinstance(texts, np.ndarray):
        return texts[:, 0]
    return texts.to_arrow().column(0) if hasattr(texts, "to_arrow") else texts.column(0)


def _next_batch(source: Iterator[Any], start: int) -> list[str]:
    batch: list[str] = []
    characters = 0
    while characters < BATCH_CHARACTERS and len(batch) < BATCH_TEXTS:
        part = _strings(list(islice(source, 256)), start + len(batch))
        if not part:
            break
        batch += part
        characters += sum(map(len, part))
    return batch


def _strings(part: list[Any], start: int) -> list[str]:
    if set(map(type, part)) <= {str}:
        return part
    for index, text in enumerate(part, start):
        if not isinstance(text, str):
            raise DataError(f"text {index} is {_kind(text)}, not a string")
    return [str(text) for text in part]


def _kind(text: Any) -> str:
    return "missing" if text is None or text != text else f"of type {type(text).__name__}"


def _arrow_batches(texts: pa.Array | pa.ChunkedArray) -> Iterator[pa.LargeStringArray]:
    for chunk in texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]:
        if chunk.null_count:
            raise DataError(f"{chunk.null_count:,} texts are missing")
        for begin in range(0, len(chunk), BATCH_TEXTS):
            yield chunk.slice(begin, BATCH_TEXTS).cast(pa.large_string())


Analyzer = Literal["word", "char", "char_wb"]
ANALYZERS: tuple[str, ...] = get_args(Analyzer)

_SPANS = 1 << 15  # that are numbered at a time, so that they stay in the cache
_LONGEST = {IDEOGRAPH: 2, COMPLEX: 3}  # n-grams of scripts without spaces


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a batch of texts.

    They are the index of each token into the distinct `words`, and the end of each text.

    With a `table` that numbers the words of several batches, tokens are its numbers, and words
    those new to it.
    """

    tokens: IntArray
    ends: IntArray
    words: Words
    table: WordTable | None = None


@dataclass(frozen=True, slots=True)
class Tokeniser:
    """Finds the tokens of texts.

    Parameters
    ----------
    lowercase : whether "Grain" and "grain" are one word
    characters : "words" are made of letters, digits and underscores, as in scikit-learn's default
        pattern; "letters" of letters only
    min_length : minimum number of characters of a word
    unspaced : scripts without spaces are split into "ngrams" of characters, or only at punctuation
        ("words")
    analyzer : "word", or n-grams of characters: "char", or "char_wb" within words and the blanks
        around them
    ngram_range : shortest and longest n-gram of characters
    tokenizer : finds the words of a text instead of the rules above
    strip_html : whether texts are HTML
    """

    lowercase: bool = True
    characters: Characters = "words"
    min_length: int = 2
    unspaced: Unspaced = "ngrams"
    analyzer: Analyzer = "word"
    ngram_range: tuple[int, int] = (1, 1)
    tokenizer: Callable[[str], Iterable[str]] | None = None
    strip_html: bool = False

    def __call__(self, texts: list[str] | pa.LargeStringArray) -> Tokens:
        """Find the tokens of a batch of texts."""
        return self.split(self.encode(texts))

    def encode(self, texts: list[str] | pa.LargeStringArray) -> Any:
        """Prepare texts for `split`: as UTF-8, after what Python has to do, or as their tokens."""
        if self.strip_html:
            texts = _stripped(texts)
        if self.tokenizer is not None:
            given = texts.to_pylist() if isinstance(texts, pa.LargeStringArray) else texts
            return _tokens_of([self._tokenise(text) for text in given])
        if isinstance(texts, pa.LargeStringArray):
            wide = pc.invert(pc.string_is_ascii(texts))
            exact = [self._exact(text) for text in texts.filter(wide).to_pylist()]
            if not exact:
                return texts
            return pc.replace_with_mask(texts, wide, pa.array(exact, pa.large_string()))
        others = [
            index for index, is_ascii in enumerate(map(str.isascii, texts)) if not is_ascii
        ]
        if others:
            texts = texts.copy()
            for index in others:
                texts[index] = self._exact(texts[index])
        return pa.array(texts, pa.large_string())

    def split(self, encoded: Any, shared: WordTable | None = None) -> Tokens:
        """Find the tokens of encoded texts, without the GIL.

        A shared table may number the words of a large batch.
        """
        if isinstance(encoded, Tokens):
            return encoded
        text, offsets = utf8_buffers(encoded)
        if self.analyzer == "word" and offsets[-1] - offsets[0] <= _few_bytes():
            texts = encoded.to_pylist()
            if self.unspaced == "words" or not any(
                not text.isascii() and _unspaced().search(text) for text in texts
            ):
                return self._few_words(texts)
        find = self._words if self.analyzer == "word" else self._characters
        if shared is not None:
            n_known, table = len(shared), shared.use_hashes()
            return Tokens(*find(text, offsets, table), table.words.after(n_known), shared)
        table = HashTable(room=min(int(offsets[-1] - offsets[0]) // 100, 1 << 15))
        return Tokens(*find(text, offsets, table), table.words)

    def are_ngrams(self, words: Words) -> BoolArray:
        """Which words are n-grams of scripts without spaces."""
        if (
            self.unspaced == "words"
            or self.tokenizer is not None
            or words.pool.max(initial=0) < 128
        ):
            return np.zeros(len(words), dtype=np.bool_)
        kinds = character_kinds(self.characters, self.unspaced)
        firsts = pc.utf8_slice_codeunits(words.to_arrow(), 0, 1).dictionary_encode()
        are_unspaced = np.array(
            [
                bool(first) and kinds[ord(first)] > WORD
                for first in firsts.dictionary.to_pylist()
            ]
        )
        return (
            are_unspaced[firsts.indices.to_numpy()]
            if len(words)
            else np.zeros(0, dtype=np.bool_)
        )

    def _few_words(self, texts: list[str]) -> Tokens:
        """Split a small batch by Python's own expressions, which the kernels follow."""
        letters = r"\w" if self.characters == "words" else r"[^\W\d_]"
        find = re.compile(f"{letters}{{{self.min_length},}}").findall
        numbers: dict[str, int] = {}
        tokens: list[int] = []
        ends = np.empty(len(texts), dtype=np.int64)
        for index, text in enumerate(texts):
            lowered = text.lower() if self.lowercase and text.isascii() else text
            tokens += [numbers.setdefault(word, len(numbers)) for word in find(lowered)]
            ends[index] = len(tokens)
        return Tokens(np.array(tokens, dtype=np.int32), ends, Words.of(numbers))

    def _words(
        self, text: IntArray, offsets: IntArray, table: HashTable
    ) -> tuple[IntArray, IntArray]:
        ends = offsets[1:] - offsets[0] + np.arange(len(offsets) - 1)
        folded = _buffer.of_length(int(offsets[-1] - offsets[0]) + len(ends) + kernels.PADDING)
        wide = np.flatnonzero(
            kernels.fold_text(text, offsets, self.lowercase, self.characters == "words", folded)
        )
        if len(wide):
            kinds = character_kinds(self.characters, self.unspaced)
            unspaced = wide[
                kernels.fold_wide(text, offsets, wide, kinds, self.min_length, folded)
            ]
            if len(unspaced):
                return self._words_and_ngrams(folded, ends, kinds, unspaced, table)
        return table.add_text(folded, ends, 0, self.min_length)

    def _words_and_ngrams(
        self,
        folded: IntArray,
        ends: IntArray,
        kinds: IntArray,
        unspaced: IntArray,
        table: HashTable,
    ) -> tuple[IntArray, IntArray]:
        """Words of most documents, words and n-grams of the unspaced ones.

        Numbered in the order of documents.
        """
        has_ngrams = np.zeros(len(ends), dtype=np.bool_)
        has_ngrams[unspaced] = True
        longest = np.ones(COMPLEX + 1, dtype=np.int64)
        longest[list(_LONGEST)] = list(_LONGEST.values())
        tokens: list[IntArray] = []
        token_ends = np.empty(len(ends), dtype=np.int64)
        n_tokens = 0
        for first, last in pairwise(
            [0, *(np.flatnonzero(np.diff(has_ngrams)) + 1).tolist(), len(ends)]
        ):
            begin = int(ends[first - 1]) + 1 if first else 0
            if has_ngrams[first]:
                spans = partial(ngrams.unspaced_spans, folded, ends[first:last], kinds, longest)
                part, part_ends = _number(
                    spans, folded, last - first, begin, int(longest.max()), table
                )
            else:
                part, part_ends = table.add_text(
                    folded, ends[first:last], begin, self.min_length
                )
            tokens.append(part)
            token_ends[first:last] = part_ends + n_tokens
            n_tokens += len(part)
        return np.concatenate(tokens), token_ends

    def _characters(
        self, text: IntArray, offsets: IntArray, table: HashTable
    ) -> tuple[IntArray, IntArray]:
        ends = np.empty(len(offsets) - 1, dtype=np.int64)
        folded = np.zeros(
            int(offsets[-1] - offsets[0]) + 2 * len(ends) + kernels.PADDING, dtype=np.uint8
        )
        by_word = self.analyzer == "char_wb"
        ngrams.fold_characters(
            text, offsets, white_space(), self.lowercase, by_word, folded, ends
        )
        lengths = np.array(self.ngram_range, dtype=np.int64)
        spans = partial(ngrams.character_spans, folded, ends, by_word, lengths)
        return _number(spans, folded, len(ends), 0, int(lengths[1]), table)

    def _exact(self, text: str) -> str:
        lowered = text.lower() if self.lowercase else text
        # UTF-8 has no lone surrogates: no part of a word, and an unknown character.
        return _LONE_SURROGATE.sub(" " if self.analyzer == "word" else "\ufffd", lowered)

    def _tokenise(self, text: str) -> list[str]:
        assert self.tokenizer is not None
        found = self.tokenizer(text.lower() if self.lowercase else text)
        words = (
            list(found)
            if isinstance(found, Iterable) and not isinstance(found, str)
            else [None]
        )
        if not all(isinstance(word, str) for word in words):
            raise TypeError(f"the tokenizer must return a list of strings, got {found!r:.60}")
        return cast(list[str], words)


class _Buffer(local):
    """Bytes that a thread uses again for each batch: fresh memory is slow."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, dtype=np.uint8)

    def of_length(self, length: int) -> IntArray:
        """Return a buffer for one batch; a large one is not kept."""
        if length > 2 * BATCH_CHARACTERS:
            return np.empty(length, dtype=np.uint8)
        if length > len(self._bytes):
            self._bytes = np.empty(2 * BATCH_CHARACTERS, dtype=np.uint8)
        return self._bytes[:length]


_buffer = _Buffer()


def _few_bytes() -> int:
    return min(_TINY, _SMALL) if kernels.tokenise_until_full.is_ready else _SMALL  # type: ignore[attr-defined]


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@cache
def _unspaced() -> re.Pattern[str]:
    """Match a character or mark of a script without spaces.

    Only after those does a joiner differ from a separator.
    """
    return re.compile(f"[{character_class(WORD + 1, MARK)}]")


def _stripped(texts: list[str] | pa.LargeStringArray) -> list[str] | pa.LargeStringArray:
    if not isinstance(texts, pa.LargeStringArray):
        return [strip_html(text) for text in texts]
    marked = pc.match_substring_regex(texts, "[<&]")
    stripped = [strip_html(text) for text in texts.filter(marked).to_pylist()]
    if not stripped:
        return texts
    return pc.replace_with_mask(texts, marked, pa.array(stripped, pa.large_string()))


def _tokens_of(lists: list[list[str]]) -> Tokens:
    """Return the tokens of texts that are split already."""
    table = WordTable()
    joined = [_LONE_SURROGATE.sub("\ufffd", word) for words in lists for word in words]
    tokens = table.add(Words.of(joined))
    return Tokens(
        tokens, np.cumsum([len(words) for words in lists], dtype=np.int64), table.words
    )


def _number(
    spans: Callable[..., int],
    text: IntArray,
    n_texts: int,
    begin: int,
    longest: int,
    table: HashTable,
) -> tuple[IntArray, IntArray]:
    """Return numbers of the n-grams of texts, and where those of each end.

    `spans` finds a part of them at a time.
    """
    begins, stops = (np.empty(_SPANS + longest, dtype=np.int64) for _ in range(2))
    ends, recent = np.empty(n_texts, dtype=np.int64), np.zeros(longest, dtype=np.int64)
    state = np.array([0, begin, 0, 0, 0], dtype=np.int64)
    numbers: list[IntArray] = [np.empty(0, dtype=np.int32)]
    while state[ngrams.DOCUMENT] < n_texts:
        n = spans(begins, stops, ends, state, recent)
        numbers.append(table.add_spans(text, begins[:n], stops[:n]))
    return np.concatenate(numbers), ends
