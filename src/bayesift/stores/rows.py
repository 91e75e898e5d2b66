"""What the tables hold, a record a row."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class EventRow:
    """One thing that happened; `batch` is the number of the first event of the same call."""

    seq: int
    batch: int
    at: str
    user: str
    kind: str
    profile: str | None
    document: str | None
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document; `seq` is the event of its arrival. A purged one has neither title nor text."""

    id: str
    seq: int
    at: str
    title: str
    text: str
    purged: bool


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """A profile as it was asked for; it has seen `seen` documents, and if it is awake all after the first `since`."""

    name: str
    seq: int
    at: str
    user: str
    definition: dict[str, Any]
    paused: bool
    seen: int
    since: int


@dataclass(frozen=True, slots=True)
class JudgementRow:
    """What one person says of a document, now."""

    profile: str
    document: str
    user: str
    relevant: bool
    at: str
    seq: int


@dataclass(frozen=True, slots=True)
class WordRow:
    """What was said last of a word."""

    profile: str
    word: str
    strength: float
    user: str
    at: str


@dataclass(frozen=True, slots=True)
class UserRow:
    """A person; `token` is the hash of theirs."""

    name: str
    role: str
    token: str
    at: str


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A person's open page; `key` is the hash of the cookie."""

    key: str
    user: str
    csrf: str
    until: str


def values(row: Any) -> dict[str, Any]:
    """The values of a row by the names of their columns.

    Examples
    --------
    >>> values(WordRow("grain", "tonne", 0.5, "ada", "2026-01-01"))["strength"]
    0.5
    """
    return {field.name: getattr(row, field.name) for field in fields(row)}
