"""The plain text of the Cochrane Library: "Record #1 of 9", then tags with a colon, for reading only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bayesift.datasets.references.layout import Layout
from bayesift.datasets.references.lines import Block, Entry, Report

_START = re.compile(r"Record #\d+ of \d+\s*$")
_TAG = re.compile(r"(ID|AU|TI|SO|YR|VL|NO|PG|XR|PM|PT|KY|DOI|AB|US|CC|LA|EM|CT): ?(.*)$")
_LIKELY = re.compile(r"^Record #\d+ of \d+\s*\n(?:.*\n){0,3}?(?:ID|AU|TI): ", re.MULTILINE)

TAGS = {
    "id": ("ID",),
    "title": ("TI",),
    "abstract": ("AB",),
    "authors": ("AU",),
    "year": ("YR",),
    "date": ("YR",),
    "journal": ("SO",),
    "volume": ("VL",),
    "issue": ("NO",),
    "pages": ("PG",),
    "doi": ("DOI",),
    "pmid": ("PM",),
    "keywords": ("KY",),
    "url": ("US",),
    "language": ("LA",),
}


def is_cochrane(head: str) -> bool:
    """Whether the beginning of a file is plain text of the Cochrane Library."""
    return _LIKELY.search(head) is not None


def read_cochrane(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Records of plain text; one that lacks its first line is reported and read."""
    block = Block()
    started = False
    for number, line in lines:
        match = _TAG.match(line)
        if _START.match(line):
            if block:
                yield block.take()
            started = True
        elif match:
            if block and match[1] in ("ID", "TI") and match[1] in block.tags:
                yield block.take()
            if not block and not started:
                report(number, "record without its first line")
            block.add(number, match[1], match[2])
            started = False
        else:
            block.extend_or_report(number, line, report)
    if block:
        yield block.take()


COCHRANE = Layout("cochrane-text", TAGS, lambda reference: {})
