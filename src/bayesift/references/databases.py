"""Plain text of Web of Science (.ciw, .txt), the Cochrane Library and RefWorks.

Tables may have the tags of Web of Science as columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO

from bayesift.references.layout import (
    Layout,
    Pairs,
    Parts,
    Values,
    all_of,
    express,
    first,
    pair_table,
    parse_date,
    read_type,
    split_names,
    tag_table,
)
from bayesift.references.lines import BoundedRecords, Entry, RecordLines, Report
from bayesift.references.reference import Fields, Reference

_WEB_OF_SCIENCE_TAG = re.compile(r"([A-Z][A-Z0-9])(?: (.*)|)$")
_WEB_OF_SCIENCE_LIKELY = re.compile(
    r"\AFN .*\nVR |^PT [A-Z]\n(?:AU|AF|BA|CA|ED|TI|SO|GP) ", re.MULTILINE
)
_AROUND = frozenset({"FN", "VR", "EF"})
_TYPES = {"J": "JOUR", "B": "BOOK", "S": "SER", "P": "PAT"}
_CODES = {code: letter for letter, code in _TYPES.items()}

WEB_OF_SCIENCE_TAGS = tag_table(
    """
    id       UT GA
    title    TI
    abstract AB
    authors  AF AU BF BA CA
    year     PY EY
    date     PD PY EA
    journal  SO JI J9 SE
    volume   VL
    issue    IS
    pages    BP EP AR
    doi      DI D2
    pmid     PM
    keywords DE ID MQ
    url      UR
    language LA
    type     PT
    notes    N1
    """
)


def is_web_of_science(head: str) -> bool:
    """Whether the beginning of a file is plain text of Web of Science."""
    return _WEB_OF_SCIENCE_LIKELY.search(head.lstrip("\ufeff \n")) is not None


def read_web_of_science(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Read records; the lines of a field stay separate, since each may be an author."""

    def parse(line: str) -> tuple[str, str] | None:
        match = _WEB_OF_SCIENCE_TAG.match(line)
        if match and match[1] not in _AROUND:
            return (match[1], match[2] or "")
        return None

    records = BoundedRecords(report, parse, start="PT", end="ER")
    for entry in records.read(_within(lines)):
        yield Entry(
            entry.line,
            tuple((tag, re.sub(r"\n[ \t]+", "\n", value)) for tag, value in entry.fields),
        )


def _within(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Leave out the lines that frame the file."""
    return (
        (number, line)
        for number, line in lines
        if line[:2] not in _AROUND or not _WEB_OF_SCIENCE_TAG.match(line)
    )


def write_web_of_science(records: Iterable[Fields], stream: IO[str]) -> None:
    """Write records as plain text of Web of Science."""
    stream.write("FN Clarivate Analytics Web of Science\nVR 1.0\n")
    for fields in records:
        for tag, value in fields:
            if tag:
                stream.write(f"{tag} {value}".rstrip(" ").replace("\n", "\n   ") + "\n")
        stream.write("ER\n\n")
    stream.write("EF\n")


def refine_web_of_science(parts: Parts, values: Values) -> None:
    """Join a page range in two tags, a date without its year and wrapped keywords.

    A type is a letter.
    """
    start = first(values, ("BP",))
    end = first(values, ("EP",))
    parts["pages"] = (
        f"{start}-{end}"
        if start and end and start != end
        else start or end or first(values, ("AR",))
    )
    parts["type"] = _TYPES.get(parts["type"].upper(), "GEN" if parts["type"] else "")
    parts["date"] = parse_date(first(values, ("PD",)), parts["year"]) or parts["date"]
    wrapped = [text.replace("\n", " ") for text in all_of(values, ("DE", "ID", "MQ"))]
    parts["keywords"] = tuple(dict.fromkeys(split_names(wrapped, ";")))


_WRITTEN = pair_table(
    """
    type = PT
    authors = AU
    title = TI
    journal = SO
    language = LA
    keywords = DE
    abstract = AB
    year = PY
    date = PD
    volume = VL
    issue = IS
    pages = AR
    doi = DI
    pmid = PM
    url = UR
    id = UT
    notes = N1
    """
)


def express_web_of_science(reference: Reference) -> dict[str, Pairs]:
    """Convert the parts of a record to fields of Web of Science."""
    start, dash, end = reference.pages.partition("-")
    others = {
        "type": [("PT", _CODES.get(reference.type, "J"))],
        "authors": [("AU", "\n".join(reference.authors))],
        "keywords": [("DE", "; ".join(reference.keywords))],
    }
    if dash and end:
        others["pages"] = [("BP", start), ("EP", end)]
    return express(reference, _WRITTEN, others)


WEB_OF_SCIENCE = Layout(
    "web-of-science", WEB_OF_SCIENCE_TAGS, express_web_of_science, refine_web_of_science
)


_START = re.compile(r"Record #\d+ of \d+\s*$")
_COCHRANE_TAG = re.compile(
    r"(ID|AU|TI|SO|YR|VL|NO|PG|XR|PM|PT|KY|DOI|AB|US|CC|LA|EM|CT): ?(.*)$"
)
_COCHRANE_LIKELY = re.compile(
    r"^Record #\d+ of \d+\s*\n(?:.*\n){0,3}?(?:ID|AU|TI): ", re.MULTILINE
)

COCHRANE_TAGS = tag_table(
    """
    id       ID
    title    TI
    abstract AB
    authors  AU
    year     YR
    date     YR
    journal  SO
    volume   VL
    issue    NO
    pages    PG
    doi      DOI
    pmid     PM
    keywords KY
    url      US
    language LA
    """
)


def is_cochrane(head: str) -> bool:
    """Whether the beginning of a file is plain text of the Cochrane Library."""
    return _COCHRANE_LIKELY.search(head) is not None


def read_cochrane(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Read records; one that lacks its first line is reported and read."""
    block = RecordLines()
    started = False
    for number, line in lines:
        match = _COCHRANE_TAG.match(line)
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


COCHRANE = Layout("cochrane-text", COCHRANE_TAGS, lambda reference: {})


# CNKI writes the tag of the volume in small letters.
_REFWORKS_TAG = re.compile(r"([A-Z][A-Z0-9]|vo)(?: (.*)|)$")
_REFWORKS_LIKELY = re.compile(r"^RT [A-Z][\w /()]*\n(?:SR|ID|A1|T1|JF|YR) ", re.MULTILINE)

REFWORKS_TAGS = tag_table(
    """
    id       ID AN
    title    T1
    abstract AB
    authors  A1
    year     YR
    date     FD YR
    journal  JF JO T2
    volume   VO
    issue    IS
    pages    SP OP
    doi      DO
    pmid     PM
    keywords K1
    url      UL LK
    language LA
    type     RT
    notes    NO
    """
)


def is_refworks(head: str) -> bool:
    """Whether the beginning of a file is tagged text of RefWorks."""
    return _REFWORKS_LIKELY.search(head) is not None


def read_refworks(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Read records, each of which begins with RT."""
    block = RecordLines(" ")
    for number, line in lines:
        match = _REFWORKS_TAG.match(line)
        if match is None:
            block.extend_or_report(number, line, report)
            continue
        if match[1] == "RT" and block:
            yield block.take()
        if not block and match[1] != "RT":
            report(number, "record without RT")
        block.add(number, match[1], match[2] or "")
    if block:
        yield block.take()


def refine_refworks(parts: Parts, values: Values) -> None:
    """Join a page range in two tags; a type is in words."""
    limits = [first(values, ("SP",)), first(values, ("OP",))]
    parts["pages"] = "-".join(dict.fromkeys(filter(None, limits)))
    parts["type"] = read_type(parts["type"])


REFWORKS = Layout("refworks", REFWORKS_TAGS, lambda reference: {}, refine_refworks)
