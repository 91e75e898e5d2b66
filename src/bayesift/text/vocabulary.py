"""The vocabulary: terms by name and by column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from bayesift.text.words import Words, WordTable


class Vocabulary(Mapping[str, int]):
    """Terms with their columns, a mapping to read that makes no Python object per term until asked for names.

    Parameters
    ----------
    words : the terms in the order of their columns

    Examples
    --------
    >>> vocabulary = Vocabulary(Words.of(["corn", "wheat"]))
    >>> vocabulary["wheat"], "oil" in vocabulary, list(vocabulary)
    (1, False, ['corn', 'wheat'])
    """

    def __init__(self, words: Words) -> None:
        self._words = words
        self._names: list[str] = []

    @cached_property
    def table(self) -> WordTable:
        """The table that finds terms, made when it is first needed; where it grows, the vocabulary grows with it."""
        return WordTable(self._words)

    @property
    def words(self) -> Words:
        """The terms in the order of their columns, as bytes."""
        return self.table.words if "table" in self.__dict__ else self._words

    @property
    def names(self) -> list[str]:
        """The terms in the order of their columns."""
        if len(self._names) < len(self):
            self._names = self.words.to_strings()
        return self._names

    def columns(self, terms: Iterable[str]) -> list[int]:
        """The columns of terms, -1 for unknown ones."""
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
