"""RIS: two-letter tags, two spaces, a hyphen; from TY to ER.

The tags of Reference Manager, EndNote, Zotero, Mendeley, RefWorks, Embase, Ovid, Cochrane, EBSCO
(CINAHL, PsycINFO), ProQuest, Scopus, Web of Science, Rayyan and Covidence are understood. TY and ER
are found in every spelling; how other tags are spaced and capitalised is taken from the first TY,
so that a line of text such as "IL - 6 levels" stays text.
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
    find_pmid,
    first,
    pair_table,
    read_type,
    tag_table,
)
from bayesift.references.lines import BoundedRecords, Entry, Report
from bayesift.references.reference import Fields, Reference, normalise_doi, normalise_pmid

_STRICT = re.compile(r"([A-Z][A-Z0-9])(?:  | ?\t ?)-(?:[ \t]+(.*)|)$")
_BOUNDARY = re.compile(r"(\s*)(TY|ER)([ \t]{0,4})-([ \t]*+)(\w{2,8})?\s*$", re.IGNORECASE)
_LIKELY = re.compile(
    r"^[^\S\n]*TY[ \t]{0,4}-[ \t]*[A-Za-z]{2,}\s*$", re.MULTILINE | re.IGNORECASE
)
# In the usual spelling a type may be words, such as "Journal Article", or missing.
_LIKELY_TYPED = re.compile(r"^TY  -(?: |$)", re.MULTILINE)
_TITLED = re.compile(r"^T[I1]  - ", re.MULTILINE)
_ENDED = re.compile(r"^ER  -[ \t]*$", re.MULTILINE)

# Types of RIS in a line of any spelling; a line in the file's own spelling may hold any type.
_TYPE_NAMES = """
    ABST ADVS AGGR ANCIENT ART BILL BLOG BOOK CASE CHAP CHART CLSWK COMP CONF CPAPER CTLG DATA
    DBASE DICT EBOOK ECHAP EDBOOK EJOUR ELEC ENCYC EQUA FIGURE GEN GOVDOC GRANT GRNT HEAR ICOMM
    INPR INTV JFULL JOUR LEGAL MANSCPT MAP MGZN MPCT MULTI MUSIC NEWS PAMP PAT PCOMM POD PRESS
    RPRT SER SLIDE SOUND STAND STAT STD THES UNBILL UNPB UNPD VIDEO WEB
"""
TYPES = frozenset(_TYPE_NAMES.split())

TAGS = tag_table(
    """
    id       ID AN U2 UT
    title    TI T1 CT BT ST
    abstract AB N2
    authors  AU A1
    year     PY Y1 YR
    date     DA Y1 PY PD Y2
    journal  JF T2 JO JA J2 J1 JI J9 BT T3
    volume   VL VO
    issue    IS CP
    pages    SP EP PG C7
    doi      DO DI L3
    pmid     PM
    keywords KW DE K1
    url      UR L2 LK L1
    language LA
    type     TY
    notes    N1 RN NO
    labels   LB
    """
)


def is_ris(head: str) -> bool:
    """Whether the beginning of a file is RIS."""
    head = head.lstrip("\ufeff")
    if _LIKELY.search(head) or _LIKELY_TYPED.search(head):
        return True
    return _TITLED.search(head) is not None and _ENDED.search(head) is not None


def read_ris(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Read records of RIS; a record that lacks TY or ER is reported and read."""
    pattern: re.Pattern[str] | None = None

    def parse(line: str) -> tuple[str, str] | None:
        nonlocal pattern
        match = (pattern or _STRICT).match(line)
        if match is not None:
            if match[1] == "TY":
                pattern = pattern or _STRICT
            return match[1], match[2] or ""
        boundary = _boundary(line)
        if boundary is None:
            return None
        pattern = pattern or _dialect(boundary)
        return boundary[2], boundary[5] or ""

    return BoundedRecords(report, parse, start="TY", end="ER").read(lines)


def _boundary(line: str) -> re.Match[str] | None:
    """Match a line with TY and a known type or with ER, in any spelling."""
    match = _BOUNDARY.match(line) if "-" in line[:12] else None
    if match is None or (match[5] or "").upper() not in (
        TYPES if match[2].upper() == "TY" else ("",)
    ):
        return None
    return match


def _dialect(boundary: re.Match[str]) -> re.Pattern[str]:
    """Return the pattern of all tags, spaced and capitalised as the first TY is."""
    indent, tag, gap, after, _ = boundary.groups()
    letter = "A-Z" if tag.isupper() else "A-Za-z"
    space = r"[ \t]+(.*)|" if after else r"(.*)"
    return re.compile(
        rf"{re.escape(indent)}([{letter}][{letter}0-9]){re.escape(gap)}-(?:{space})$"
    )


def write_ris(records: Iterable[Fields], stream: IO[str]) -> None:
    """Write records as RIS."""
    for fields in records:
        heading = [value for tag, value in fields if not tag]
        if heading:
            stream.write("\n".join(heading) + "\n\n")
        for tag, value in fields:
            if tag:
                stream.write(f"{tag.upper()}  - {_continued(value)}\n")
        stream.write("ER  - \n\n")


def _continued(value: str) -> str:
    """Remove line breaks before what would be taken for a tag."""
    first, *rest = value.split("\n")
    return first + "".join(
        f"{' ' if _STRICT.match(line) or _boundary(line) else chr(10)}{line}" for line in rest
    )


def refine_ris(parts: Parts, values: Values) -> None:
    """Correct for the habits of programs: pages in two tags, DOIs and PMIDs in unusual tags."""
    start = first(values, ("SP",))
    end = first(values, ("EP",))
    parts["pages"] = (
        f"{start}-{end}"
        if start and end and start != end and "-" not in start
        else start or end or first(values, ("PG", "C7"))
    )
    code = parts["type"].upper()
    parts["type"] = code if code in TYPES else read_type(parts["type"])
    if not parts["doi"]:
        links = (
            text
            for text in all_of(values, ("UR", "L1", "L2", "LK", "M3", "N1", "C6"))
            if "doi" in text.lower()
        )
        parts["doi"] = next((doi for text in links if (doi := normalise_doi(text))), "")
    parts["pmid"] = parts["pmid"] or _pmid(values)


# Tags that hold PubMed's number if the database is one of these; EndNote's own numbers in ID are
# shorter.
_NUMBERS = (
    *(("C2", "scopus", 1), ("C5", "embase", 1), ("C5", "medline", 1)),
    *(
        ("AN", "nlm", 1),
        ("AN", "pubmed", 1),
        ("AN", "medline", 1),
        ("ID", "medline", 7),
        ("ID", "pubmed", 7),
    ),
)


def _pmid(values: Values) -> str:
    database = " ".join(all_of(values, ("DB", "DP"))).lower()
    for tag, owner, shortest in _NUMBERS:
        number = first(values, (tag,))
        if owner in database and number.isdecimal() and shortest <= len(number) <= 8:
            return normalise_pmid(number)
    return find_pmid(all_of(values, ("C3", "AN", "ID", "N1", "UR", "L2", "M1")))


_WRITTEN = pair_table(
    """
    type = TY
    id = ID
    title = TI
    authors = AU
    year = PY
    date = DA
    journal = T2
    volume = VL
    issue = IS
    pages = SP
    doi = DO
    pmid = PM
    url = UR
    language = LA
    keywords = KW
    abstract = AB
    notes = N1
    """
)


def express_ris(reference: Reference) -> dict[str, Pairs]:
    """Convert the parts of a record to fields of RIS."""
    start, dash, end = reference.pages.partition("-")
    pages = [("SP", reference.pages)]
    if dash and end and "-" not in end:
        pages = [("SP", start), ("EP", end)]
    others = {"type": [("TY", reference.type or "GEN")], "pages": pages}
    if len(reference.date) > 4:
        others["date"] = [("DA", reference.date.replace("-", "/"))]
    return express(reference, _WRITTEN, others)


RIS = Layout("ris", TAGS, express_ris, refine_ris)
