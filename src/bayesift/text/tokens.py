"""Texts to tokens: what a word is, and how a batch of texts becomes numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayesift.kernels import words as kernels
from bayesift.text.words import Words, empty_table, utf8_buffers

Array = np.ndarray[Any, Any]
Characters = Literal["words", "letters"]

N_CODE_POINTS = 0x110000


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a batch of texts.

    Parameters
    ----------
    tokens : place in `words` of every token of every text
    ends : where the tokens of each text end
    words : the distinct words, by first appearance
    """

    tokens: Array
    ends: Array
    words: Words


@dataclass(frozen=True, slots=True)
class Tokeniser:
    """Says what a word is and finds the words of texts.

    Parameters
    ----------
    lowercase : whether "Grain" and "grain" are one word
    characters : "words" takes letters, digits and underscores, as scikit-learn's default pattern does;
        "letters" takes letters only
    min_length : the fewest characters of a word

    Examples
    --------
    >>> found = Tokeniser()(["The corn, THE 2 oats", "naïve 🌽"])
    >>> found.words.to_strings(), found.tokens.tolist(), found.ends.tolist()
    (['the', 'corn', 'oats', 'naïve'], [0, 1, 0, 2, 3], [4, 5])
    """

    lowercase: bool = True
    characters: Characters = "words"
    min_length: int = 2

    def __call__(self, texts: list[str] | pa.LargeStringArray) -> Tokens:
        """Find the words of a batch of texts."""
        return self.split(self.encode(texts))

    def encode(self, texts: list[str] | pa.LargeStringArray) -> pa.LargeStringArray:
        """The texts as UTF-8, with what only Python's own rules get right: capitals beyond ASCII, lone surrogates."""
        if isinstance(texts, pa.LargeStringArray):
            wide = pc.invert(pc.string_is_ascii(texts))
            exact = [self._exact(text) for text in texts.filter(wide).to_pylist()]
            return pc.replace_with_mask(texts, wide, pa.array(exact, pa.large_string())) if exact else texts
        return pa.array([text if text.isascii() else self._exact(text) for text in texts], pa.large_string())

    def split(self, encoded: pa.LargeStringArray) -> Tokens:
        """Find the words of encoded texts; runs without the GIL."""
        text, offsets = utf8_buffers(encoded)
        n_bytes = int(offsets[-1] - offsets[0])
        ends = offsets[1:] - offsets[0] + np.arange(len(offsets) - 1)
        folded = np.empty(n_bytes + len(offsets) - 1 + kernels.PADDING, dtype=np.uint8)
        digits = self.characters == "words"
        beyond_ascii = kernels.fold_text(text, offsets, self.lowercase, digits, folded)
        wide = np.flatnonzero(beyond_ascii)
        if len(wide):
            kernels.fold_wide(text, offsets, wide, word_characters(self.characters), self.min_length, folded)
        tokens, token_ends, pool, starts = kernels.tokenise(
            folded, ends, self.min_length, empty_table(min(n_bytes // 100, 1 << 15))
        )
        return Tokens(tokens, token_ends, Words(pool, starts))

    def _exact(self, text: str) -> str:
        lowered = text.lower() if self.lowercase else text
        return _LONE_SURROGATE.sub(" ", lowered)


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@cache
def word_characters(characters: Characters) -> Array:
    r"""For every code point, whether Python's `re` takes it as part of a word: `\w`, or `[^\W\d_]` for letters."""
    points = np.arange(N_CODE_POINTS, dtype=np.uint32).view("<U1")
    letters = np.strings.isalnum(points)
    if characters == "letters":
        return letters & ~np.strings.isdecimal(points)
    letters[ord("_")] = True
    return letters
