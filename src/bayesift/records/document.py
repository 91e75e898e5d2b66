"""Define a document, a problem of a skipped record, and a note on a guess in reading."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from bayesift.errors import DataError


@dataclass(frozen=True, slots=True)
class Document:
    r"""A text with its title, categories, date and split.

    Parameters
    ----------
    id : name, unique within its corpus
    text : the body
    title : the headline
    categories : none, one or several
    date : when it was written
    split : part of the corpus, such as "train" or "test"

    Examples
    --------
    >>> Document("1", "Shares rose.", title="Markets", categories=("earn",)).full_text
    'Markets\nShares rose.'
    """

    id: str
    text: str
    title: str = ""
    categories: tuple[str, ...] = ()
    date: datetime.datetime | None = None
    split: str | None = None

    @property
    def full_text(self) -> str:
        """Title and body: the input of classifiers."""
        if not self.title:
            return self.text
        if self.text:
            return f"{self.title}\n{self.text}"
        return self.title


@dataclass(frozen=True, slots=True)
class ReadingProblem:
    """A skipped record: its file and line, and what is wrong with it."""

    file: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return str(DataError(self.message, file=self.file, line=self.line))


RECORDS = "bibliographic records"  # what a note says of a file of references


@dataclass(frozen=True, slots=True)
class Note:
    """What was guessed in reading a source: the value, the reason, and the option that sets it.

    Examples
    --------
    >>> str(Note("delimiter", "semicolon", "4 fields in every row", "--delimiter"))
    'delimiter: semicolon (4 fields in every row; --delimiter)'
    """

    what: str
    value: str
    reason: str = ""
    option: str | None = None

    def __str__(self) -> str:
        reason = "; ".join(part for part in (self.reason, self.option) if part)
        return f"{self.what}: {self.value}" + (f" ({reason})" if reason else "")
