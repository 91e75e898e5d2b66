"""A text in pieces, each with the weight of its terms: what a reader is shown of an explanation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from bayesift.kernels.words import JOINER, MARK, WORD
from bayesift.text.scripts import character_class, character_kinds
from bayesift.text.vectorizer import TermVectorizer

_LONGEST = 3
_SPACE = re.compile(r"\s\s+")


def weighted_pieces(
    vectorizer: TermVectorizer, text: str, weights: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    """Pieces that make up a text, and the weight of the terms of each; 0 between words.

    A piece is a word or, where terms are n-grams of characters, a character: the weight of an
    n-gram is shared evenly by its characters.

    Examples
    --------
    >>> list(weighted_pieces(TermVectorizer(), "Corn 中文!", {"corn": 1.0, "中文": 2.0}))
    [('Corn', 1.0), (' ', 0.0), ('中', 1.0), ('文', 1.0), ('!', 0.0)]
    """
    if vectorizer.analyzer == "char":
        yield from _shared(_SPACE.sub(" ", text), vectorizer.ngram_range, weights)
        return
    by_character = vectorizer.analyzer == "char_wb"
    has_ngrams = vectorizer.unspaced == "ngrams" and vectorizer.tokenizer is None
    if by_character:
        pattern = re.compile(r"()\S+")
    elif has_ngrams:
        pattern = _words_and_runs()
    else:
        pattern = re.compile(r"()\w+")
    end = 0
    for found in pattern.finditer(text):
        if found.start() > end:
            yield text[end : found.start()], 0.0
        end = found.end()
        if by_character:
            yield from _shared([" ", *found.group(), " "], vectorizer.ngram_range, weights)[
                1:-1
            ]
        elif found[1]:
            yield from _shared(_units().findall(found[1]), (1, _LONGEST), weights)
        else:
            yield (
                found.group(),
                sum(weights.get(term, 0.0) for term in vectorizer.term_counts(found.group())),
            )
    if end < len(text):
        yield text[end:], 0.0


def _shared(
    units: Sequence[str], lengths: tuple[int, int], weights: Mapping[str, float]
) -> list[tuple[str, float]]:
    """Each unit with its shares of the n-grams it is in."""
    shares = [0.0] * len(units)
    for length in range(lengths[0], min(lengths[1], len(units)) + 1):
        for first in range(len(units) - length + 1):
            term = "".join(units[first : first + length])
            weight = (
                weights.get(term)
                or weights.get(term.lower())
                or weights.get(_without_joiners(term), 0.0)
            )
            for index in range(first, first + length) if weight else ():
                shares[index] += weight / length
    return list(zip(units, shares, strict=True))


def _without_joiners(term: str) -> str:
    kinds = character_kinds("words", "ngrams")
    return "".join(character for character in term if kinds[ord(character)] != JOINER)


@cache
def _words_and_runs() -> re.Pattern[str]:
    """Match runs of scripts without spaces (group 1), or words of others."""
    runs = character_class(WORD + 1, JOINER)
    return re.compile(rf"([{runs}]+)|[^\W{runs}]+")


@cache
def _units() -> re.Pattern[str]:
    """Match a character with the marks and joiners after it."""
    return re.compile(rf".[{character_class(MARK, JOINER)}]*", re.DOTALL)
