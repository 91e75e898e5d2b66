"""From the fields of a file to the parts of a record and back, by a table of tags for each format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from bayesift.datasets.references.decisions import read_judgements
from bayesift.datasets.references.lines import Entry
from bayesift.datasets.references.reference import (
    LISTS,
    STANDARD,
    Fields,
    Reference,
    normalise_doi,
    normalise_pmid,
    tidy,
)

Values: TypeAlias = dict[str, list[str]]
Parts: TypeAlias = dict[str, Any]
Pairs: TypeAlias = list[tuple[str, Any]]

_SINGLE = tuple(part for part in STANDARD if part not in LISTS | {"abstract", "date"})
# Parts of a record that share tags: when one was changed, all of them are written anew.
_GROUPS = ({"year", "date"}, {"notes", "labels", "decisions", "annotations"})

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_YEAR = re.compile(r"(?<!\d)(1[4-9]\d\d|20\d\d|2100)(?!\d)")
_NUMERIC = re.compile(r"(?<!\d)(1[4-9]\d\d|20\d\d)(?:[-/.](\d{1,2})(?!\d))?(?:[-/.](\d{1,2})(?!\d))?(?!\d)")
_COMPACT = re.compile(r"(1[4-9]\d\d|20\d\d)(\d\d)(\d\d)(?!\d)")
_MONTH = re.compile(r"(?<![a-z])(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?(?![a-z])", re.IGNORECASE)
_DASHES = re.compile("[\u2010-\u2015\u2212]+")
_DAY = re.compile(r"(?<!\d)\d{1,2}(?!\d)")


def parse_year(text: str) -> int | None:
    """The first year in a text."""
    match = _YEAR.search(text) or _COMPACT.match(text.strip())
    return int(match[1]) if match else None


def parse_date(text: str, year: int | None = None) -> str:
    """A date as far as it is known: year, month and day.

    Examples
    --------
    >>> parse_date("2024/05/28/"), parse_date("2020 Nov-Dec"), parse_date("Mar 1", 2018), parse_date("2024///")
    ('2024-05-28', '2020-11', '2018-03-01', '2024')
    """
    text = text.strip()
    match = _COMPACT.match(text) or _NUMERIC.match(text)
    named = _MONTH.search(text)
    if match is not None and not (named and match[2] is None):
        numbers = [int(part) for part in match.groups() if part]
    else:
        found = parse_year(text) or year
        if found is None:
            return ""
        numbers = [found]
        if named:
            day = _DAY.search(text)
            numbers += [MONTHS.index(named[1].title()) + 1, *([int(day[0])] if day else [])]
    if len(numbers) > 1 and not 1 <= numbers[1] <= 12:
        del numbers[1:]
    if len(numbers) > 2 and not 1 <= numbers[2] <= 31:
        del numbers[2:]
    return "-".join(f"{number:02d}" for number in numbers)


def first(values: Values, tags: Iterable[str]) -> str:
    """The first text in the first of some tags that has one."""
    for tag in tags:
        for value in values.get(tag, ()):
            if text := tidy(value):
                return text
    return ""


def all_of(values: Values, tags: Iterable[str]) -> list[str]:
    """All texts of some tags."""
    return [text for tag in tags if tag in values for value in values[tag] if (text := value.strip())]


def split_names(texts: Iterable[str], separators: str = r"\n|;") -> tuple[str, ...]:
    """Names or keywords, several of which may be in one text."""
    pattern = re.compile(separators)
    return tuple(name for text in texts for part in pattern.split(text) if (name := tidy(part)))


@dataclass(frozen=True)
class Layout:
    """How one format holds the parts of a record.

    Parameters
    ----------
    name : of the format
    tags : for each part of a record the tags that hold it, the preferred one first
    express : fields for each part of a record, in the order of writing
    refine : corrects the parts for the habits of the programs that write the format
    key : the form of a tag in which it is looked up
    decode : tags and texts of a field, for formats whose values are not plain text
    """

    name: str
    tags: Mapping[str, tuple[str, ...]]
    express: Callable[[Reference], dict[str, Pairs]]
    refine: Callable[[Parts, Values], None] = lambda parts, values: None
    key: Callable[[str], str] = str.upper
    decode: Callable[[str, Any], Iterable[tuple[str, str]]] | None = None

    def interpret(self, fields: Iterable[tuple[str, Any]]) -> Parts:
        """The parts of a record that its fields say."""
        values: Values = {}
        key, decode = self.key, self.decode
        for tag, text in fields if decode is None else (pair for field in fields for pair in decode(*field)):
            if text:
                values.setdefault(key(tag), []).append(text)
        tags = self.tags
        parts: Parts = {part: first(values, tags.get(part, ())) for part in _SINGLE}
        parts["abstract"] = _abstract(values, tags["abstract"])
        parts["authors"] = _authors(values, tags["authors"])
        parts["keywords"] = tuple(dict.fromkeys(split_names(all_of(values, tags.get("keywords", ())))))
        parts["doi"] = normalise_doi(parts["doi"])
        parts["pmid"] = normalise_pmid(parts["pmid"])
        parts["url"] = parts["url"].split(" ")[0]
        date = first(values, tags.get("date", ()))
        parts["year"] = parse_year(parts["year"]) or parse_year(date)
        parts["date"] = parse_date(date, parts["year"]) or (str(parts["year"]) if parts["year"] else "")
        said = read_judgements(all_of(values, tags.get("notes", ())))
        parts["notes"], parts["decisions"], parts["annotations"] = said.notes, said.decisions, said.annotations
        parts["labels"] = tuple(dict.fromkeys((*split_names(all_of(values, tags.get("labels", ()))), *said.labels)))
        self.refine(parts, values)
        parts["pages"] = _DASHES.sub("-", parts["pages"])
        return parts

    def reference(self, entry: Entry, path: Path) -> Reference:
        """The record of an entry of a file."""
        parts = self.interpret(entry.fields)
        return Reference(**parts, format=self.name, file=str(path), line=entry.line, fields=entry.fields)

    def fields(self, reference: Reference) -> Fields:
        """The fields to write: as they were read, except for the parts of the record that were changed since."""
        if reference.format != self.name:
            return tuple(pair for pairs in self.express(reference).values() for pair in pairs)
        found = self.interpret(reference.fields)
        changed = {part for part in STANDARD if part != "id" and found[part] != getattr(reference, part)}
        for group in _GROUPS:
            if changed & group:
                changed |= group
        if not changed:
            return reference.fields
        dropped = {tag for part in changed for tag in self.tags.get(part, ())}
        kept = [pair for pair in reference.fields if self.key(pair[0]) not in dropped]
        added = [pair for part, pairs in self.express(reference).items() if part in changed for pair in pairs]
        return (*kept, *added)


def _abstract(values: Values, tags: Iterable[str]) -> str:
    for tag in tags:
        texts = [tidy(text) for text in values.get(tag, ())]
        # EBSCO repeats the tag for a copyright notice.
        if body := " ".join(text for text in texts if text and not text.startswith("Copyright of ")):
            return body
    return ""


def _authors(values: Values, tags: Iterable[str]) -> tuple[str, ...]:
    for tag in tags:
        if texts := all_of(values, (tag,)):
            return tuple(name for name in split_names(texts) if name.strip(",. "))
    return ()
