"""Records with a line for the name of each field: rows of Embase, and citations of Ovid.

A row of Embase is the name of a field, then its values. A citation of Ovid is a number such as
"<1>", then names of fields in lines of their own, each with its text below, set in.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from bayesift.references.layout import Parts, Values, first, parse_year
from bayesift.references.lines import Entry, RecordLines, Report
from bayesift.references.tables import (
    TABLE,
    is_reference_table,
    part_of,
    refine_table,
)

_NUMBER = re.compile(r"<\d{1,9}>\s*$")
_OVID_LIKELY = re.compile(
    r"^<\d{1,9}>[ \t]*\n(?:.*\n){0,60}?Title[ \t]*\n[ \t]+\S", re.MULTILINE
)
_JOURNAL_END = re.compile(r"\.(?:\s+\d.*)?$")  # of Ovid's source: volume, pages and date follow
_DELIMITERS = (",", "\t", ";")
_MIN_PARTS = 4  # of a record, to tell names of fields from the first cells of a usual table

# "3(2):12-19, 2019 Mar." after the journal
_SOURCE = re.compile(r"(\d+)(?:\s*\(([^)]{1,20})\))?:\s*([\w-]+)")

BY_ROWS = replace(TABLE, name="fields-by-row", express=lambda reference: {})


def refine_ovid(parts: Parts, values: Values) -> None:
    """Take the journal, volume, issue and pages from the source."""
    refine_table(parts, values)
    source = first(values, ("source",))
    journal = _JOURNAL_END.split(source)[0]
    if match := _SOURCE.search(source[len(journal) :]):
        for part, text in zip(("volume", "issue", "pages"), match.groups(), strict=True):
            parts[part] = parts[part] or text or ""
    parts["journal"] = journal
    parts["year"] = parts["year"] or parse_year(source)


OVID_TEXT = replace(
    TABLE, name="ovid-text", express=lambda reference: {}, refine=refine_ovid, decode=None
)


def is_ovid_text(head: str) -> bool:
    """Whether the beginning of a file is the plain text of citations of Ovid."""
    return _OVID_LIKELY.search(head) is not None


def read_ovid_text(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Read citations, each of which begins with its number."""
    block = RecordLines()
    for number, line in lines:
        if _NUMBER.match(line):
            if block:
                yield block.take()
            block.add(number, "", "")
        elif block and line[:1].strip():
            block.add(number, line.strip(), "")
        elif block:
            block.extend(line.strip())
        elif line.strip():
            report(number, "text outside of a record, left out")
    if block:
        yield block.take()


def is_by_rows(head: str) -> bool:
    r"""Whether the first cells of rows are the names of fields.

    Examples
    --------
    >>> is_by_rows('"TITLE","Erosion"\n"AUTHOR NAMES","Ash A.","Bee B."\nDOI,x\nABSTRACT,y\n')
    True
    """
    return _delimiter(head.splitlines(keepends=True)) is not None


def _delimiter(lines: list[str]) -> str | None:
    for delimiter in _DELIMITERS:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if len(row) > 1]
        if any(map(is_reference_table, rows)):
            return None
        parts = {part_of(row[0]) for row in rows} - {None}
        if "title" in parts and len(parts) >= _MIN_PARTS:
            return delimiter
    return None


def read_by_rows(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Read records; each begins with the field that the first one begins with."""
    numbered = list(lines)
    texts = [f"{line}\n" for _, line in numbered]
    delimiter = _delimiter(texts) or ","
    block = RecordLines()
    first = ""
    reader = csv.reader(texts, delimiter=delimiter)
    number = 1
    for row in reader:
        name, *values = row or [""]
        if not first and values and part_of(name):
            first = name
        if name == first and block:
            yield block.take()
        if first and values:
            block.add(number, name, "; ".join(value for value in values if value.strip()))
        elif first and name.strip():
            report(number, "a line of text and not a field, left out")
        number = reader.line_num + 1
    if block:
        yield block.take()
