"""Stems by the Snowball algorithms."""

from __future__ import annotations

from collections.abc import Callable


def stemmer(algorithm: str) -> Callable[[list[str]], list[str]]:
    """A function that stems a list of words.

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
    # The vocabulary holds every word once, so a cache of stems would only cost time.
    stem: Callable[[list[str]], list[str]] = Stemmer.Stemmer(algorithm, 0).stemWords
    return stem
