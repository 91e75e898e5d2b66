"""Split words into the pieces of a vocabulary, by the rules of a `tokenizer.json` file.

Texts are split into words by our own tokeniser before; of the file's rules only those that concern
a word are followed.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bayesift.arrays import IntArray
from bayesift.errors import DataError
from bayesift.kernels import subwords as kernels
from bayesift.text.words import Words, WordTable

_LONGEST = 100  # characters of a word; longer ones are no words
_BLANK = "▁"


class Splitter(Protocol):
    """Splits words into the rows of a table of vectors."""

    def split(self, words: Words) -> tuple[IntArray, IntArray]:
        """Return the rows of all words, one after the other, and where those of each word end."""


class WholeWords:
    """Every word is a row, or has none.

    Examples
    --------
    >>> splitter = WholeWords(Words.of(["corn", "oil"]))
    >>> [part.tolist() for part in splitter.split(Words.of(["oil", "tin", "corn"]))]
    [[1, 0], [1, 1, 2]]
    """

    def __init__(self, words: Words) -> None:
        self.table = WordTable(words)
        if len(self.table) != len(words):
            raise DataError("a word has two vectors")

    def split(self, words: Words) -> tuple[IntArray, IntArray]:
        """Return the row of each word that has one."""
        rows = self.table.find(words)
        return rows[rows >= 0], np.cumsum(rows >= 0)


class BytePairs:
    """Byte-pair encoding: characters, merged in the order of the merges.

    `blank` stands for the space before a word.
    """

    def __init__(
        self,
        pieces: Mapping[str, int],
        merges: list[tuple[str, str]],
        *,
        blank: str = _BLANK,
        characters: Mapping[str, str] | None = None,
    ) -> None:
        self._pieces, self._blank = pieces, blank
        self._alphabet = characters  # of bytes, where all text is written in them
        self._rows = np.full(0x110000, -1, dtype=np.int32)
        for piece, row in pieces.items():
            if len(piece) == 1:
                self._rows[ord(piece)] = row
        self._bytes = np.array(
            [pieces.get(f"<0x{value:02X}>", -1) for value in range(256)], dtype=np.int32
        )
        known = [(a, b) for a, b in merges if a in pieces and b in pieces and a + b in pieces]
        left = np.array([pieces[a] for a, _ in known], dtype=np.int32)
        right = np.array([pieces[b] for _, b in known], dtype=np.int32)
        whole = np.array([pieces[a + b] for a, b in known], dtype=np.int32)
        size = 1 << (2 * len(left) + 1).bit_length()
        self._table = (
            np.zeros(size, np.uint64),
            np.zeros(size, np.int32),
            np.zeros(size, np.int32),
        )
        kernels.fill_merges(*self._table, left, right, whole)

    def split(self, words: Words) -> tuple[IntArray, IntArray]:
        """Return the pieces of each word."""
        texts = [
            self._blank + self._written(word) if len(word) <= _LONGEST else ""
            for word in words.to_strings()
        ]
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        points = np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32).astype(
            np.int64
        )
        rows = self._rows[points]
        symbols = np.where(rows >= 0, rows, -1 - points).astype(np.int32)
        out, out_ends = (
            np.empty(4 * len(symbols), dtype=np.int32),
            np.empty(len(ends), dtype=np.int64),
        )
        total = kernels.encode_words(*self._table, symbols, ends, self._bytes, out, out_ends)
        return out[:total].copy(), out_ends

    def _written(self, word: str) -> str:
        if self._alphabet is None:
            return word
        return "".join(self._alphabet[chr(byte)] for byte in word.encode())


class WordPieces:
    """Takes the longest piece that begins a word, then the longest that continues it, and so on.

    Pieces that continue a word begin with `prefix`.
    """

    def __init__(self, pieces: Mapping[str, int], *, prefix: str = "##") -> None:
        self._pieces, self._prefix = pieces, prefix
        self._longest = max(map(len, pieces), default=0)

    def split(self, words: Words) -> tuple[IntArray, IntArray]:
        """Return the pieces of each word; a word with a part that is not a piece has none."""
        return _one_by_one(self._of_word, words)

    def _of_word(self, word: str) -> list[int]:
        found: list[int] = []
        begin = 0
        while begin < len(word):
            prefix = self._prefix if begin else ""
            for end in range(min(len(word), begin + self._longest), begin, -1):
                row = self._pieces.get(prefix + word[begin:end])
                if row is not None:
                    break
            else:
                return []
            found.append(row)
            begin = end
        return found


class Unigrams:
    """The pieces with the largest sum of log probabilities that make up a word."""

    def __init__(self, scores: list[tuple[str, float]], *, blank: str = _BLANK) -> None:
        self._scores = {piece: (score, row) for row, (piece, score) in enumerate(scores)}
        self._longest, self._blank = max(map(len, self._scores), default=0), blank
        self._unknown = min((score for _, score in scores), default=0.0) - 10.0

    def split(self, words: Words) -> tuple[IntArray, IntArray]:
        """Return the pieces of each word; characters that are not pieces have none."""
        return _one_by_one(self._of_word, words)

    def _of_word(self, word: str) -> list[int]:
        text = self._blank + word
        best, last = [0.0] + [-math.inf] * len(text), [(0, -1)] * (len(text) + 1)
        for end in range(1, len(text) + 1):
            for begin in range(max(0, end - self._longest), end):
                score, row = self._scores.get(
                    text[begin:end], (self._unknown if end == begin + 1 else -math.inf, -1)
                )
                if best[begin] + score > best[end]:
                    best[end], last[end] = best[begin] + score, (begin, row)
        found: list[int] = []
        end = len(text)
        while end:
            end, row = last[end]
            if row >= 0:
                found.append(row)
        return found[::-1]


class Normalised:
    """Splits words after they were lower-cased or lost their accents."""

    def __init__(self, splitter: Splitter, *, lowercase: bool, strip_accents: bool) -> None:
        self._splitter, self._lowercase, self._strip_accents = (
            splitter,
            lowercase,
            strip_accents,
        )

    def split(self, words: Words) -> tuple[IntArray, IntArray]:
        """Return the pieces of each word."""
        return self._splitter.split(Words.of(map(self._normal, words.to_strings())))

    def _normal(self, word: str) -> str:
        word = word.lower() if self._lowercase else word
        if not self._strip_accents or word.isascii():
            return word
        return "".join(
            c for c in unicodedata.normalize("NFD", word) if unicodedata.category(c) != "Mn"
        )


def _one_by_one(of_word: Any, words: Words) -> tuple[IntArray, IntArray]:
    rows = [of_word(word) if len(word) <= _LONGEST else [] for word in words.to_strings()]
    return np.array([row for found in rows for row in found], dtype=np.int32), np.cumsum(
        [len(r) for r in rows]
    )


def splitter_of(content: dict[str, Any], path: Path | None = None) -> tuple[Splitter, int]:
    """Make the splitter that a `tokenizer.json` file describes, and count its pieces."""
    try:
        splitter, n_pieces = _splitter_of(content)
        normalizers = list(_parts(content.get("normalizer"), "normalizers"))
        kinds = {part.get("type") for part in normalizers}
        bert = next((part for part in normalizers if part.get("type") == "BertNormalizer"), {})
        lowercase = "Lowercase" in kinds or bool(bert.get("lowercase"))
        accents = "StripAccents" in kinds or bool(
            bert.get("strip_accents") or (lowercase and bert)
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"not a tokenizer that is known here ({error})", file=path) from error
    if lowercase or accents:
        splitter = Normalised(splitter, lowercase=lowercase, strip_accents=accents)
    return splitter, n_pieces


def _splitter_of(content: dict[str, Any]) -> tuple[Splitter, int]:
    model = content["model"]
    kind = model.get("type", "BPE" if "merges" in model else "WordLevel")
    if kind == "Unigram":
        scores = [(str(piece), float(score)) for piece, score in model["vocab"]]
        return Unigrams(scores), len(scores)
    rows: dict[str, int] = {str(piece): int(row) for piece, row in model["vocab"].items()}
    n_pieces = max(rows.values(), default=-1) + 1
    if kind == "WordPiece":
        return WordPieces(rows, prefix=model.get("continuing_subword_prefix") or "##"), n_pieces
    if kind == "WordLevel":
        return WholeWords(Words.of(sorted(rows, key=rows.__getitem__))), n_pieces
    if kind != "BPE":
        raise ValueError(f"the model is of type {kind!r}")
    merges: list[tuple[str, str]] = []
    for pair in model["merges"]:
        left, right = pair.split(" ") if isinstance(pair, str) else pair
        merges.append((left, right))
    if any(
        part.get("type") == "ByteLevel"
        for part in _parts(content.get("pre_tokenizer"), "pretokenizers")
    ):
        alphabet = _byte_alphabet()
        return BytePairs(rows, merges, blank=alphabet[" "], characters=alphabet), n_pieces
    blank = _BLANK if any(piece.startswith(_BLANK) for piece in rows) else ""
    return BytePairs(rows, merges, blank=blank), n_pieces


def _parts(given: Any, of_sequence: str) -> Iterator[dict[str, Any]]:
    """Return the steps of a normalizer or pre-tokenizer."""
    if given:
        yield given
        for part in given.get(of_sequence, ()):
            yield from _parts(part, of_sequence)


def _byte_alphabet() -> dict[str, str]:
    """Return the character that byte-level tokenizers write for each byte.

    It is the byte itself if it can be seen, else a character from 256 on.
    """
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in set(seen)]
    written = {byte: chr(byte) for byte in seen} | {
        byte: chr(256 + index) for index, byte in enumerate(hidden)
    }
    return {chr(byte): character for byte, character in written.items()}
