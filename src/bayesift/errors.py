"""The errors bayesift raises on purpose; each message fits on one line and says what to do."""

from __future__ import annotations

from pathlib import Path


class BayesiftError(Exception):
    """Anything bayesift refuses to do."""


class DataError(BayesiftError, ValueError):
    """Input that cannot be read as what it should be.

    Parameters
    ----------
    message : what is wrong
    file : the file it was found in
    line : the line there, counted from 1

    Examples
    --------
    >>> str(DataError("not a JSON object", file="news.jsonl", line=3))
    'news.jsonl:3: not a JSON object'
    """

    def __init__(self, message: str, *, file: str | Path | None = None, line: int | None = None) -> None:
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        super().__init__(message)

    def __str__(self) -> str:
        place = "" if self.file is None else self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.message}" if place else self.message


class CorpusNotFoundError(DataError):
    """A corpus whose files are not in the data directory."""


class MissingExtraError(BayesiftError, ImportError):
    """An optional part whose packages are not installed."""
