"""The errors that bayesift raises, each message one line.

Optional packages are imported by `require` when used.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType


class BayesiftError(Exception):
    """Base class of the errors of bayesift."""


class DataError(BayesiftError, ValueError):
    """Input that cannot be used.

    Parameters
    ----------
    message : what is wrong
    file : where
    line : the line in the file, from 1

    Examples
    --------
    >>> str(DataError("not a JSON object", file="news.jsonl", line=3))
    'news.jsonl:3: not a JSON object'
    """

    def __init__(
        self, message: str, *, file: str | Path | None = None, line: int | None = None
    ) -> None:
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        super().__init__(message)

    def __str__(self) -> str:
        if self.file is None:
            return self.message
        if self.line is None:
            return f"{self.file}: {self.message}"
        return f"{self.file}:{self.line}: {self.message}"


class RequestError(DataError):
    """A corpus or an option that does not exist."""


class CorpusNotFoundError(DataError):
    """A corpus whose files are not in the data directory."""


class MissingExtraError(BayesiftError, ImportError):
    """A feature whose optional packages are not installed."""


class DataWarning(UserWarning):
    """Input that is used, but not all of it: texts without a label that are left out."""


def require(module: str, *, extra: str) -> ModuleType:
    """Import `module`; the error names the extra to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"this needs {module.partition('.')[0]}, not installed yet; run: pip install "
            f'"bayesift[{extra}]"'
        ) from error


def nearest(name: str, names: Sequence[str]) -> str:
    """Suggest the names most like a name that does not exist, or list all of them.

    Examples
    --------
    >>> nearest("naive-bays", ["naive-bayes", "svm"])
    "did you mean 'naive-bayes'?"
    >>> nearest("Naive_Bayes", ["naive-bayes", "svm"])
    "did you mean 'naive-bayes'?"
    >>> nearest("oracle", ["naive-bayes", "svm"])
    'there are: naive-bayes, svm'
    """
    from difflib import get_close_matches

    plain = {known.lower().replace("_", "-"): known for known in names}
    asked = name.lower().replace("_", "-")
    close = [asked] if asked in plain else get_close_matches(asked, plain)
    if close:
        return f"did you mean {' or '.join(repr(plain[match]) for match in close)}?"
    return f"there are: {', '.join(names)}"
