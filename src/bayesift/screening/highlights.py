"""Find the words that the people of a review want to see highlighted in its records.

They are for the eye only. The words that change the ranking are others (`ReviewQueue.set_words`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from bayesift.text.scripts import is_unspaced

_MAX_PIECES = 2_000  # of terms in one pattern


class Highlight(NamedTuple):
    """Where a word or phrase stands in a text, and whether it speaks for inclusion."""

    start: int
    end: int
    include: bool


def find_highlights(
    text: str, include: Iterable[str], exclude: Iterable[str]
) -> list[Highlight]:
    """Find words and phrases in a text, from left to right, without overlaps.

    A term is one or several whole words in any case; a star stands for the rest of a word. Of two
    terms that begin at the same place the longer one is found, and of equal ones that to include.

    Examples
    --------
    >>> text = "Randomised trial in mice, not a trial in humans"
    >>> found = find_highlights(text, ["random*", "humans"], ["in mice"])
    >>> [(text[one.start : one.end], one.include) for one in found]
    [('Randomised', True), ('in mice', False), ('humans', True)]
    """
    wanted = [(term, True) for term in include] + [(term, False) for term in exclude]
    pattern, sides = _pattern(tuple(wanted))
    if pattern is None:
        return []
    found = []
    for match in pattern.finditer(text):
        assert match.lastindex is not None  # every term is a group
        found.append(Highlight(match.start(), match.end(), sides[match.lastindex - 1]))
    return found


@lru_cache(maxsize=20)
def _pattern(
    wanted: tuple[tuple[str, bool], ...],
) -> tuple[re.Pattern[str] | None, tuple[bool, ...]]:
    """Return a pattern with a group for each term, and the side of each group."""
    known = [(term, side) for term, side in wanted if re.search(r"\w", term)][:_MAX_PIECES]
    known.sort(key=lambda one: -len(one[0]))
    groups = [f"({_expression(term)})" for term, _ in known]
    if not groups:
        return None, ()
    return re.compile("|".join(groups), re.IGNORECASE), tuple(side for _, side in known)


def _expression(term: str) -> str:
    words = [re.escape(word).replace(r"\*", r"\w*") for word in term.split()]
    phrase = r"\s+".join(words)
    if is_unspaced(term.strip()):  # words of Chinese, for example, have no limits to see
        return phrase
    return rf"(?<!\w){phrase}(?!\w)"


def terms_of(text: str) -> list[str]:
    r"""Read words and phrases that are separated by commas or lines.

    Examples
    --------
    >>> terms_of("random*, double blind\n mice ,")
    ['random*', 'double blind', 'mice']
    """
    terms = (" ".join(part.split()) for part in re.split(r"[,;\n]", text))
    return list(dict.fromkeys(filter(None, terms)))
