"""Kinds of characters: parts of words, and scripts that are written without spaces.

    SEPARATOR    not part of a word
    WORD         letters and digits of scripts that separate words by spaces
    IDEOGRAPH    Han, Hiragana: split into one and two characters
    COMPLEX      Katakana, and letters of the scripts of Unicode's line-breaking class SA, whose
                 words need a dictionary to be found: Thai, Lao, Myanmar, Khmer, Tai Le,
                 New Tai Lue, Tai Tham, Tai Viet, Ahom; split into one to three characters
    MARK         vowel signs, tone marks and the like of those; they belong to the letter before
                 them
    JOINER       invisible between characters of such scripts: zero-width spaces and joiners,
                 variation selectors

Digits of these scripts are WORD. Hangul is written with spaces.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Literal, get_args

import numpy as np

from bayesift.arrays import BoolArray, IntArray
from bayesift.kernels.words import COMPLEX, IDEOGRAPH, JOINER, MARK, WORD

Characters = Literal["words", "letters"]
Unspaced = Literal["ngrams", "words"]
UNSPACED: tuple[str, ...] = get_args(Unspaced)

N_CODE_POINTS = 0x110000

# Han and Hiragana; the two planes of rare Han characters are filled by new versions of Unicode.
_IDEOGRAPHS = (
    (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x3035), (0x3038, 0x303C), (0x3041, 0x3096),
    (0x309D, 0x309F), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x1AFF0, 0x1AFFF),
    (0x1B000, 0x1B16F), (0x20000, 0x3FFFD),
)  # fmt: skip
_VOICED_SOUND_MARKS = (0x3099, 0x309A)
_COMPLEX = (
    (0x0E00, 0x0E7F), (0x0E80, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x197F),
    (0x1980, 0x19DF), (0x1A20, 0x1AAF), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F), (0xAA80, 0xAADF),
    (0x116D0, 0x116FF), (0x11700, 0x1174F),
    (0x30A1, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F),
)  # fmt: skip
_JOINERS = ((0x200B, 0x200D), (0x2060, 0x2060), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))


@cache
def character_kinds(characters: Characters, unspaced: Unspaced) -> IntArray:
    """Return the kind of every code point.

    With unspaced="words" no script is written without spaces.
    """
    letters = word_characters(characters)
    kinds = letters.astype(np.uint8) * np.uint8(WORD)
    if unspaced == "words":
        return kinds
    for first, last in _IDEOGRAPHS:
        kinds[first : last + 1][letters[first : last + 1]] = IDEOGRAPH
    for first, last in _COMPLEX:
        for point in range(first, last + 1):
            category = unicodedata.category(chr(point))
            if category[0] in "LM":
                kinds[point] = MARK if category[0] == "M" else COMPLEX
    kinds[_VOICED_SOUND_MARKS[0] : _VOICED_SOUND_MARKS[1] + 1] = MARK
    for first, last in _JOINERS:
        kinds[first : last + 1] = JOINER
    return kinds


def character_class(first: int, last: int) -> str:
    """Write the characters of the kinds `first` to `last` as in a regular expression."""
    kinds = character_kinds("words", "ngrams")
    chosen = np.concatenate([[False], (kinds >= first) & (kinds <= last), [False]])
    edges = np.flatnonzero(np.diff(chosen)).tolist()
    return "".join(
        f"{chr(begin)}-{chr(end - 1)}"
        for begin, end in zip(edges[::2], edges[1::2], strict=True)
    )


def is_unspaced(term: str) -> bool:
    """Whether a term is an n-gram of characters of a script without spaces."""
    return bool(term) and bool(character_kinds("words", "ngrams")[ord(term[0])] > WORD)


@cache
def word_characters(characters: Characters) -> BoolArray:
    r"""Whether each code point is part of a word: `\w`, or `[^\W\d_]` for letters."""
    points = np.arange(N_CODE_POINTS, dtype=np.uint32).view("<U1")
    letters = np.strings.isalnum(points)
    if characters == "letters":
        return letters & ~np.strings.isdecimal(points)
    letters[ord("_")] = True
    return letters


@cache
def white_space() -> BoolArray:
    r"""For every code point, whether it is white space for Python's `str.split` and `\s`."""
    return np.strings.isspace(np.arange(N_CODE_POINTS, dtype=np.uint32).view("<U1"))
