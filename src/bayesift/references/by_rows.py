"""Tables with a row for each field, as Embase writes them: its name, then its values."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import replace

from bayesift.references.lines import Entry, RecordLines, Report
from bayesift.references.tables import TABLE, is_reference_table, part_of

_DELIMITERS = (",", "\t", ";")
_MIN_PARTS = 4  # of a record, to tell names of fields from the first cells of a usual table

BY_ROWS = replace(TABLE, name="fields-by-row", express=lambda reference: {})


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
