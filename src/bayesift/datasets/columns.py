"""Which column of a table holds what, named or guessed, and how its values are read."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from bayesift.datasets.lines import describe_damage
from bayesift.errors import DataError

GUESSES = {
    "text": (
        "text",
        "body",
        "content",
        "abstract",
        "message",
        "document",
        "article",
        "review",
        "description",
    ),
    "label": (
        "label",
        "labels",
        "category",
        "categories",
        "class",
        "topic",
        "topics",
        "tag",
        "tags",
        "target",
    ),
    "id": ("id", "doc_id", "document_id", "record_id"),
    "title": ("title", "headline", "subject"),
    "split": ("split",),
}


@dataclass(frozen=True)
class Columns:
    """Names of the columns; one that is None is guessed from the table's header (a date never is).

    Parameters
    ----------
    text : the body; the only one a table must have
    label : the category, or the categories
    id : the document's name; without it, its line number
    title : the headline
    date : ISO 8601, or a year
    split : the part of the corpus, such as "train"

    Examples
    --------
    >>> Columns(label="desk").resolve(["Headline", "Body", "desk"], file="news.csv")
    Columns(text='Body', label='desk', id=None, title='Headline', date=None, split=None)
    """

    text: str | None = None
    label: str | None = None
    id: str | None = None
    title: str | None = None
    date: str | None = None
    split: str | None = None

    def resolve(self, names: Collection[str], *, file: str, line: int | None = None) -> Columns:
        """Find each column among those there are; a named one that is missing is an error."""
        found = {field.name: self._find(field.name, names) for field in fields(self)}
        missing = [
            getattr(self, role) or role
            for role, column in found.items()
            if column is None and (role == "text" or getattr(self, role) is not None)
        ]
        if missing:
            there = ", ".join(map(repr, names)) or "none"
            raise DataError(f"no column {missing[0]!r}; there are: {there}", file=file, line=line)
        return Columns(**found)

    def _find(self, role: str, names: Collection[str]) -> str | None:
        named = getattr(self, role)
        if named is not None:
            return named if named in names else None
        by_lower = {name.strip().lower(): name for name in reversed(list(names))}
        return next((by_lower[guess] for guess in GUESSES.get(role, ()) if guess in by_lower), None)


def read_text(values: Mapping[str, Any], column: str | None) -> str:
    """Return the text in a column, "" when there is none.

    Examples
    --------
    >>> read_text({"text": 7}, "text")
    Traceback (most recent call last):
    ValueError: column 'text' holds int, not text
    """
    value = None if column is None else values.get(column)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"column {column!r} holds {type(value).__name__}, not text")
    return value


def read_name(value: Any) -> str:
    """Return a category, id or split as text; numbers and truth values are spelled out.

    Examples
    --------
    >>> read_name(3.0), read_name(True), read_name(" grain ")
    ('3', 'true', 'grain')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        name = str(value).strip()
        if damage := describe_damage(name, "utf-8"):
            raise ValueError(damage)
        return name
    raise ValueError(f"holds {type(value).__name__}, where a name is expected")


def read_categories(value: Any, separator: str | None = None) -> tuple[str, ...]:
    """Return the categories of a label: a list, a text to split at the separator, or one name.

    Examples
    --------
    >>> read_categories("grain; wheat;", ";"), read_categories(["grain", "grain"]), read_categories(None)
    (('grain', 'wheat'), ('grain',), ())
    """
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        parts = list(value)
    else:
        parts = value.split(separator) if separator and isinstance(value, str) else [value]
    names = (read_name(part) for part in parts if part is not None)
    return tuple(dict.fromkeys(name for name in names if name))


def read_date(value: Any) -> datetime.datetime | None:
    """Return a date from ISO 8601 text, a year, or a date as Parquet holds it.

    Examples
    --------
    >>> read_date("1987-02-26").isoformat(), read_date(2006.0).year, read_date("")
    ('1987-02-26T00:00:00', 2006, None)
    """
    if value is None or isinstance(value, datetime.datetime):
        return value
    if isinstance(value, datetime.date):
        return datetime.datetime.combine(value, datetime.time())
    text = read_name(value)
    try:
        if text.removesuffix(".0").isdecimal() and len(text.removesuffix(".0")) <= 4:
            return datetime.datetime(int(float(text)), 1, 1)
        return datetime.datetime.fromisoformat(text) if text else None
    except ValueError:
        raise ValueError(f"date {text[:40]!r} is neither ISO 8601 nor a year") from None
