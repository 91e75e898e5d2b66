"""What depends on the language: stop words and stems."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import AnyStr


def _read_stop_words() -> frozenset[str]:
    """Read the list beside this module; lines that begin with # are comments."""
    content = resources.files(__package__).joinpath("english_stop_words.txt").read_text("utf-8")
    lines = [line for line in content.splitlines() if not line.startswith("#")]
    return frozenset(" ".join(lines).split())


ENGLISH_STOP_WORDS = _read_stop_words()


def stop_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language.

    The English list is our own, the others are those of the package `stop-words`.

    Examples
    --------
    >>> sorted(stop_words_of("english"))[:4]
    ['a', 'about', 'above', 'across']
    >>> "und" in stop_words_of("german")
    True
    """
    if language == "english":
        return ENGLISH_STOP_WORDS
    import stop_words

    if language not in stop_words.LANGUAGE_MAPPING.values():
        known = ", ".join(sorted(stop_words.LANGUAGE_MAPPING.values()))
        raise ValueError(f"no stop words for {language!r}; there are: {known}")
    return frozenset(stop_words.get_stop_words(language))


def stemmer(algorithm: str) -> Callable[[list[AnyStr]], list[AnyStr]]:
    """Return a function that stems a list of words, strings or their UTF-8 bytes.

    Parameters
    ----------
    algorithm : "porter" (the one of 1980), or a Snowball language such as "english" or "german"

    Examples
    --------
    >>> stemmer("porter")(["categories", "categorical", "filtering"])
    ['categori', 'categor', 'filter']
    """
    import Stemmer

    if algorithm not in Stemmer.algorithms():
        known = ", ".join(Stemmer.algorithms())
        raise ValueError(f"no stemmer {algorithm!r}; there are: {known}")
    # Every word is stemmed once, so that a cache of stems would only cost time.
    stem: Callable[[list[AnyStr]], list[AnyStr]] = Stemmer.Stemmer(algorithm, 0).stemWords
    return stem
