"""Which column of a table holds what, by its name or else by its content, and what a cell says."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from bayesift.errors import DataError
from bayesift.records import Note
from bayesift.tables.loading import describe_damage

# Names by which a column is recognised, the first that is present.
_NAMES = {
    "text": "text body content abstract message document article review description comment "
    "comments sentence question tweet post utterance sentence_text review_text full_text texte "
    "inhalt nachricht texto testo",
    "label": "label labels category categories class topic topics tag tags target sentiment "
    "intent emotion genre "
    "label_text class_label kategorie klasse categoria categorie étiquette etiqueta",
    "id": "id doc_id document_id record_id",
    "title": "title headline subject",
    "split": "split",
}
GUESSES = {role: names.split() for role, names in _NAMES.items()}
KNOWN_NAMES = frozenset(name for names in GUESSES.values() for name in names)

LONGEST_LABEL = 60  # characters
SAMPLE_ROWS = 500
_MIN_ROWS_TO_RECUR = 20
_NUMBER = re.compile(r"[-+]?\d[\d.,:/\s-]*")  # also dates and times


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a table; a name that is not given is guessed (except a date).

    Parameters
    ----------
    text : the body, the only column that is required
    label : the category or categories
    id : the name of the document; by default its line number
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

    def resolve(
        self,
        names: Collection[str],
        *,
        file: str,
        line: int | None = None,
        rows: Sequence[Mapping[str, Any]] = (),
        labels: bool = True,
    ) -> Columns:
        """Find each column among `names`.

        A text or label that no name tells is looked for in the cells of `rows`.

        A missing column is an error if it was named or is the text. Without `labels` that column is
        not looked for.
        """
        found = {field.name: self._find(field.name, names) for field in fields(self)}
        if rows and found["text"] is None and self.text is None:
            found["text"] = _longest(
                names, rows, taken=[column for role, column in found.items() if role != "title"]
            )
            if found["title"] == found["text"]:
                found["title"] = None
        if rows and labels and found["label"] is None and self.label is None:
            found["label"] = next(
                iter(label_candidates(names, rows, taken=found.values())), None
            )
        missing = [
            getattr(self, role) or role
            for role, column in found.items()
            if column is None and (role == "text" or getattr(self, role) is not None)
        ]
        if missing:
            raise DataError(
                f"no column {missing[0]!r}; there are: {listed(names)}", file=file, line=line
            )
        return Columns(**found)

    def are_told_by(self, names: Collection[str], *, labels: bool = True) -> bool:
        """Whether names are enough to find the text and the labels."""
        return all(
            self._find(role, names) for role in (("text", "label") if labels else ("text",))
        )

    @property
    def present(self) -> list[str]:
        """The columns that are named."""
        return [
            column
            for field in fields(self)
            if (column := getattr(self, field.name)) is not None
        ]

    def _find(self, role: str, names: Collection[str]) -> str | None:
        named: str | None = getattr(self, role)
        by_lower = {name.strip().lower(): name for name in reversed(list(names))}
        if named is not None:
            if named in names:
                return named
            return by_lower.get(named.strip().lower())
        return next(
            (by_lower[guess] for guess in GUESSES.get(role, ()) if guess in by_lower), None
        )

    def notes(
        self, wanted: Columns, names: Collection[str], rows: Sequence[Mapping[str, Any]]
    ) -> list[Note]:
        """List what was guessed beyond `wanted`, and why.

        A column that is named after its role is not listed.
        """
        notes = []
        for role, known in GUESSES.items():
            column = getattr(self, role)
            if (
                column is None
                or getattr(wanted, role) is not None
                or column.strip().lower() in (role, f"{role}s")
            ):
                continue
            reason = "by its name"
            if column.strip().lower() not in known:
                if role == "text":
                    reason = "the longest texts"
                else:
                    reason = self._describe(column, names, rows)
            notes.append(
                Note(
                    role,
                    repr(column),
                    reason,
                    f"--{'split-column' if role == 'split' else role}",
                )
            )
        return notes

    def _describe(
        self, label: str, names: Iterable[str], rows: Sequence[Mapping[str, Any]]
    ) -> str:
        n_values = len(set(_cells(label, rows)))
        values = f"{n_values:,} value{'s' * (n_values != 1)} in {len(rows):,} rows"
        others = label_candidates(names, rows, taken=self.present)
        if others:
            return f"{values}; also possible: {listed(others[:3])}"
        return values


def _longest(
    names: Iterable[str], rows: Sequence[Mapping[str, Any]], taken: Collection[str | None]
) -> str | None:
    """Find the column of text with the longest cells."""
    lengths = {
        name: sum(len(cell) for cell in _cells(name, rows) if not _NUMBER.fullmatch(cell))
        for name in names
        if name not in taken
    }
    longest = max(lengths, key=lengths.__getitem__, default=None)
    if longest is not None and lengths[longest]:
        return longest
    return None


def label_candidates(
    names: Iterable[str], rows: Sequence[Mapping[str, Any]], taken: Collection[str | None] = ()
) -> list[str]:
    """Find columns whose cells are short and recur: words before numbers, few values before many.

    In a few rows nothing may recur: then the only column beside the text is taken, if it holds
    words.
    """
    ranks = {}
    free = [name for name in names if name not in taken]
    is_only = len(free) == 1 and len(rows) < _MIN_ROWS_TO_RECUR
    # A file sorted by label has one value in its first rows.
    fewest = 1 if len(rows) >= SAMPLE_ROWS else 2
    for name in free:
        cells = _cells(name, rows)
        distinct = set(cells)
        is_number = all(_NUMBER.fullmatch(cell) for cell in distinct)
        most = len(cells) if is_only and not is_number else len(cells) // 2
        if not fewest <= len(distinct) <= most or max(map(len, distinct)) > LONGEST_LABEL:
            continue
        ranks[name] = (len(distinct) == 1, is_number, -len(cells), len(distinct))
    return sorted(ranks, key=ranks.__getitem__)


def _cells(name: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Collect the cells of a column that are not blank; a list counts as several."""
    values = (row.get(name) for row in rows)
    parts = (
        part
        for value in values
        for part in (value if isinstance(value, list | tuple) else [value])
    )
    return [str(part).strip() for part in parts if part is not None and str(part).strip()]


def listed(names: Iterable[str]) -> str:
    """Put names in quotes, separated by commas."""
    return ", ".join(map(repr, names)) or "none"


def read_text(values: Mapping[str, Any], column: str | None, *, required: bool = False) -> str:
    """Read the text in a column, "" if it is missing; a `required` column must be there."""
    if required and column not in values:
        raise ValueError(f"no column {column!r}; there are: {listed(values)}")
    value = None if column is None else values.get(column)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"column {column!r} holds {type(value).__name__}, not text")
    return value


def read_name(value: Any) -> str:
    """Read a category, id or split as text; numbers and booleans are spelled out."""
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
    """Read the categories of a label: a list, a text to split at the separator, or one name."""
    if value is None:
        return ()
    if isinstance(value, str):
        return _categories_of_text(value, separator)
    return _named(value if isinstance(value, list | tuple) else [value])


@lru_cache(maxsize=4096)  # the same few labels stand in most rows
def _categories_of_text(value: str, separator: str | None) -> tuple[str, ...]:
    return _named(value.split(separator) if separator else [value])


def _named(parts: Iterable[Any]) -> tuple[str, ...]:
    names = (read_name(part) for part in parts if part is not None)
    return tuple(dict.fromkeys(name for name in names if name))


def read_date(value: Any) -> datetime.datetime | None:
    """Read a date from ISO 8601 text, a year, or a date as Parquet holds it."""
    if value is None or isinstance(value, datetime.datetime):
        return value
    if isinstance(value, datetime.date):
        return datetime.datetime.combine(value, datetime.time())
    text = read_name(value)
    try:
        if text.removesuffix(".0").isdecimal() and len(text.removesuffix(".0")) <= 4:
            return datetime.datetime(int(float(text)), 1, 1)
        if text:
            return datetime.datetime.fromisoformat(text)
        return None
    except ValueError:
        raise ValueError(f"date {text[:40]!r} is neither ISO 8601 nor a year") from None
