"""Which column of a table holds what, by its name or else by its content, and what a cell says."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from bayesift.errors import DataError
from bayesift.records import Note
from bayesift.tables.dates import read_dates, read_iso
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

# Words in the name of a column of dates.
_DATE_WORDS = (
    "date datum day fecha data datetime time timestamp created published posted sent received "
    "updated year jahr année"
)
_DATE_ENDINGS = ("date", "datum")
_YEARS = range(1800, 2101)

LONGEST_LABEL = 60  # characters
SAMPLE_ROWS = 500
_MIN_ROWS_TO_RECUR = 20
_MIN_ROWS_OF_DATES = 20  # in fewer rows a date tells nothing of later texts
_MIN_ROWS_OF_TEXTS = 10
_MIN_SHARE_OF_DATES = 0.8
_MIN_WORDS_OF_TEXT = 2  # a cell, on average
_NUMBER = re.compile(r"[-+]?\d[\d.,:/\s-]*")  # also dates and times


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a table.

    A name that is not given (None) is guessed, except a group; "" stands for no such column.

    Parameters
    ----------
    text : the body, the only column that is required
    label : the category or categories
    id : the name of the document; by default its line number
    title : the headline
    date : when it was written, in any form of `read_dates`
    split : the part of the corpus, such as "train"
    group : documents of one group, such as an author, are held out together
    others : numbers or categories to use beside the text

    Examples
    --------
    >>> found = Columns(label="desk").resolve(["Headline", "Body", "desk"], file="news.csv")
    >>> found.text, found.title, found.label, found.date
    ('Body', 'Headline', 'desk', None)
    """

    text: str | None = None
    label: str | None = None
    id: str | None = None
    title: str | None = None
    date: str | None = None
    split: str | None = None
    group: str | None = None
    others: tuple[str, ...] = ()

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

        A text, label or date that no name tells is looked for in the cells of `rows`.

        A missing column is an error if it was named or is the text. Without `labels`, labels and
        dates are not looked for.
        """
        found = {role: self._find(role, names) for role in ROLES}
        others = {name: _matching(name, names) for name in self.others}
        if rows and found["text"] is None and self.text is None:
            found["text"] = _longest(
                names, rows, taken=[column for role, column in found.items() if role != "title"]
            )
            if found["title"] == found["text"]:
                found["title"] = None
        if rows and labels and found["label"] is None and self.label is None:
            free = [name for name in names if name not in others.values()]
            found["label"] = next(
                iter(label_candidates(free, rows, taken=found.values())), None
            )
        missing = [
            getattr(self, role) or role
            for role, column in found.items()
            if column is None and (role == "text" or getattr(self, role))
        ]
        missing += [name for name, column in others.items() if column is None]
        if missing:
            raise DataError(
                f"no column {missing[0]!r}; there are: {listed(names)}", file=file, line=line
            )
        if labels and found["date"] is None and self.date is None:
            taken = [*found.values(), *others.values()]
            found["date"] = _find_dates(names, rows, taken)
        used = tuple(name for name in others.values() if name is not None)
        columns = Columns(others=used, **found)
        columns._refuse_two_roles(file, line)
        return columns

    def _refuse_two_roles(self, file: str, line: int | None) -> None:
        """Refuse a text that is the label too, or a label that the model would see."""
        if self.label is not None and self.label in (self.text, self.title, *self.others):
            raise DataError(
                f"the column {self.label!r} cannot be both the label and the text beside it; name "
                "another with --label or --text",
                file=file,
                line=line,
            )

    def are_told_by(self, names: Collection[str], *, labels: bool = True) -> bool:
        """Whether names are enough to find the text and the labels."""
        return all(
            self._find(role, names) for role in (("text", "label") if labels else ("text",))
        )

    @property
    def present(self) -> list[str]:
        """The columns that are named."""
        named = [column for role in ROLES if (column := getattr(self, role))]
        return [*named, *self.others]

    def _find(self, role: str, names: Collection[str]) -> str | None:
        named: str | None = getattr(self, role)
        if named is not None:
            return _matching(named, names) if named else None
        by_lower = _by_lower_case(names)
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
        if self.date is not None and wanted.date is None:
            reason = "tells later texts from earlier ones"
            notes.append(Note("date", repr(self.date), reason, "--time"))
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


ROLES = tuple(field.name for field in fields(Columns) if field.name != "others")


@dataclass(frozen=True)
class TableLayout:
    """The columns that a table was read by, for a model to read the next table in the same way.

    Parameters
    ----------
    columns : those that were found
    separator : of several categories in one field
    header : False if the columns have numbers instead of names
    unused_texts : columns of text that are not among `columns`

    Examples
    --------
    >>> layout = TableLayout(Columns(text="Body", title="Subject", label="desk"))
    >>> layout.fill(Columns(text="Text"), ["Text", "Subject"], file="a.csv", labels=False).title
    'Subject'
    """

    columns: Columns
    separator: str | None = None
    header: bool | None = None
    unused_texts: tuple[str, ...] = ()

    def fill(
        self,
        wanted: Columns,
        names: Collection[str],
        *,
        file: str,
        line: int | None = None,
        labels: bool = True,
    ) -> Columns:
        """Name the columns of a table like this one; those that are `wanted` count first.

        A column that is needed and not among `names` is refused. An id and a split are optional;
        the date and the group of a text matter only to those who learn from it.
        """
        needed = ["text", "title", "label"] if labels else ["text", "title"]
        filled: dict[str, Any] = {"date": wanted.date or "", "group": wanted.group or ""}
        for role in needed:
            filled[role] = getattr(wanted, role)
            if filled[role] is None:
                name = getattr(self.columns, role)
                if _matching(name or "", names) is None and self._is_plain(role, names):
                    name = role
                self._refuse_missing(name, role, names, file, line)
                filled[role] = name or ""
        for role in ("id", "split"):
            filled[role] = getattr(wanted, role)
            known = getattr(self.columns, role)
            if filled[role] is None and known is not None:
                filled[role] = _matching(known, names)
        for name in self.columns.others:
            self._refuse_missing(name, "columns", names, file, line)
        return replace(wanted, others=self.columns.others, **filled)

    def _is_plain(self, role: str, names: Collection[str]) -> bool:
        """Whether a column called "text" or "label" can stand for another.

        A model of one column of text takes what commands and the service call the text.
        """
        return role in ("text", "label") and not self.columns.title and role in names

    def _refuse_missing(
        self,
        name: str | None,
        role: str,
        names: Collection[str],
        file: str,
        line: int | None,
    ) -> None:
        if not name or _matching(name, names) is not None:
            return
        cure = {
            "text": "; --text names another",
            "label": "; --label names another",
            "title": "; --title names another, or none",
        }.get(role, "")
        what = "" if role == "columns" else f" as {role}"
        raise DataError(
            f"no column {name!r}, which the model was fitted to{what}; there are: "
            f"{listed(names)}{cure}",
            file=file,
            line=line,
        )


def _by_lower_case(names: Iterable[str]) -> dict[str, str]:
    return {name.strip().lower(): name for name in reversed(list(names))}


def _matching(wanted: str, names: Collection[str]) -> str | None:
    """Find a name, or else one that differs in case and white space around it."""
    if wanted in names:
        return wanted
    return _by_lower_case(names).get(wanted.strip().lower())


def _find_dates(
    names: Iterable[str], rows: Sequence[Mapping[str, Any]], taken: Collection[str | None]
) -> str | None:
    """Find the column of dates: one whose name and cells tell, else one whose cells do."""
    if len(rows) < _MIN_ROWS_OF_DATES:
        return None
    free = [name for name in names if name not in taken]
    for name in sorted(free, key=lambda name: not _is_named_after_dates(name)):
        cells = _cells(name, rows)
        if not _is_named_after_dates(name):
            # A number may be anything: only whole dates tell without a name.
            cells = [cell for cell in cells if not cell.isdecimal()]
        dates = [date for date in read_dates(cells) if date is not None and date.year in _YEARS]
        if len(dates) >= _MIN_SHARE_OF_DATES * len(rows) and len(set(dates)) > 1:
            return name
    return None


def _is_named_after_dates(name: str) -> bool:
    lower = name.strip().lower()
    words = re.split(r"[\W_]+", lower)
    return not set(_DATE_WORDS.split()).isdisjoint(words) or lower.endswith(_DATE_ENDINGS)


def text_candidates(
    names: Iterable[str], rows: Sequence[Mapping[str, Any]], taken: Collection[str | None]
) -> list[str]:
    """Find columns of text, most of whose cells have several words and differ, longest first."""
    if len(rows) < _MIN_ROWS_OF_TEXTS:
        return []
    sizes = {}
    for name in names:
        cells = [] if name in taken else _cells(name, rows)
        n_words = sum(len(cell.split()) for cell in cells if not _NUMBER.fullmatch(cell))
        is_text = n_words >= _MIN_WORDS_OF_TEXT * len(cells)
        if is_text and len(set(cells)) > len(rows) / 2:
            sizes[name] = n_words
    return sorted(sizes, key=sizes.__getitem__, reverse=True)


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
    if not text:
        return None
    try:
        return read_iso(text)
    except ValueError:
        raise ValueError(f"date {text[:40]!r} is neither ISO 8601 nor a year") from None
