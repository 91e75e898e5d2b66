"""MEDLINE: what PubMed saves as "PubMed" (.nbib, .txt), Ovid as "Reprint/Medlars" and ERIC as .nbib.

Tags of up to four letters, a hyphen in the fifth column, wrapped lines indented; a record starts with PMID.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO

from bayesift.datasets.references.decisions import write_judgements
from bayesift.datasets.references.layout import MONTHS, Layout, Pairs, Parts, Values, all_of, first, split_names
from bayesift.datasets.references.lines import Block, Entry, Report
from bayesift.datasets.references.reference import Fields, Reference, normalise_doi, normalise_pmid, tidy

_TAG = re.compile(r"([A-Z][A-Z0-9]{1,3}) {0,2}(?<=....)-(?: (.*)|)$")
_HEAD = re.compile(r"^PMID- ?\d*[ \r]*$", re.MULTILINE)
_OTHERS = re.compile(r"^(?:VN  - Ovid|UI  - \d+\s*$|OWN - \w+\s*$)", re.MULTILINE)
_DOI = re.compile(r"(\S+)\s*\[doi\]")
# Of these a record has one; after a blank line a second one begins the next record.
_SINGLE = frozenset({"OWN", "STAT", "TI", "DP", "UI", "VN", "SO"})

_FIRST = frozenset({"PMID", "UI", "VN", "DB", "OWN"})

_TYPES = {"journal article": "JOUR", "book": "BOOK", "book chapter": "CHAP", "preprint": "UNPB", "dataset": "DATA"}
_NAMES = {code: name.title() for name, code in _TYPES.items()}

TAGS = {
    "id": ("PMID", "UI", "OID"),
    "title": ("TI", "BTI", "TT"),
    "abstract": ("AB", "OAB"),
    "authors": ("FAU", "AU", "CN"),
    "year": ("DP", "YR"),
    "date": ("DP", "DEP"),
    "journal": ("JT", "TA", "JN", "CTI"),
    "volume": ("VI", "VO"),
    "issue": ("IP",),
    "pages": ("PG",),
    "doi": ("AID", "LID", "DO", "DI"),
    "pmid": ("PMID", "PM"),
    "keywords": ("MH", "OT", "KW"),
    "url": ("UR", "URL"),
    "language": ("LA", "LG"),
    "type": ("PT",),
    "notes": ("GN",),
}


def is_medline(head: str) -> bool:
    """Whether the beginning of a file is MEDLINE."""
    return _HEAD.search(head) is not None or _OTHERS.search(head) is not None


def read_medline(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Records of MEDLINE; one that lacks PMID is reported and read."""
    block = Block(" ")
    after_blank = True
    for number, line in lines:
        match = _TAG.match(line)
        if match is not None:
            tag, value = match[1], match[2] or ""
            if block and _begins(tag, block.tags, after_blank):
                yield block.take()
            if not block and (tag not in _FIRST or (tag == "OWN" and value.strip() == "NLM")):
                report(number, "record without PMID")
            if tag == "TI" and tag in block.tags:
                report(number, "a second title in one record; are they two, and the line between them lost?")
            block.add(number, tag, value)
            after_blank = False
        elif not line.strip():
            after_blank = True
        elif block and (line[0] in " \t" or not after_blank):
            block.extend(line)
            after_blank = False
        elif not re.fullmatch(r"\s*<?\d+>?\.?\s*", line):  # Ovid numbers its records
            report(number, "text outside of a record, left out")
    if block:
        yield block.take()


def _begins(tag: str, seen: set[str], after_blank: bool) -> bool:
    if tag == "PMID":
        return after_blank or "PMID" in seen or len(seen) > 3
    return tag in seen and ((after_blank and tag in _SINGLE) or tag == "OWN")


def write_medline(records: Iterable[Fields], stream: IO[str]) -> None:
    """Write records as MEDLINE."""
    for fields in records:
        if not any(tag in _FIRST for tag, _ in fields):
            stream.write("PMID- \n")
        for tag, value in fields:
            stream.write(_wrapped(f"{tag:<4}- {value}") + "\n")
        stream.write("\n")


def _wrapped(text: str, width: int = 88) -> str:
    """The text wrapped at single spaces, so that it is read back to the letter."""
    lines = [""]
    for word in re.split(r"(?<=\S) (?=\S)", text.replace("\n", " ")):
        if not lines[-1]:
            lines[-1] = word
        elif len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(f"      {word}")
    return "\n".join(lines)


def refine_medline(parts: Parts, values: Values) -> None:
    """Full names of authors where there are some, groups last; the DOI is marked as such."""
    full, short = values.get("FAU", []), values.get("AU", [])
    names = full if len(full) >= len(short) else short
    parts["authors"] = split_names((*names, *values.get("CN", ())), r"\n\b\B")
    marked = (match[1] for text in all_of(values, ("LID", "AID", "SO")) if (match := _DOI.search(text)))
    parts["doi"] = next((doi for text in marked if (doi := normalise_doi(text))), "") or normalise_doi(
        first(values, ("DO", "DI")) or first(values, ("SO",))
    )
    parts["keywords"] = tuple(dict.fromkeys(map(tidy, all_of(values, ("MH", "OT", "KW")))))
    types = [_TYPES[text.lower()] for text in all_of(values, ("PT",)) if text.lower() in _TYPES]
    parts["type"] = types[0] if types else "JOUR" if values.get("PT") else ""
    if "PMID" not in values and not any("MEDLINE" in text.upper() for text in all_of(values, ("DB",))):
        parts["pmid"] = normalise_pmid(first(values, ("PM",)))
    elif not parts["pmid"]:
        parts["pmid"] = normalise_pmid(first(values, ("UI",)))


def _spelled_date(reference: Reference) -> str:
    year, month, day = (*reference.date.split("-"), "", "")[:3]
    return " ".join(
        filter(None, (year or str(reference.year or ""), month and MONTHS[int(month) - 1], day.lstrip("0")))
    )


def express_medline(reference: Reference) -> dict[str, Pairs]:
    """The parts of a record as fields of MEDLINE."""
    known = {
        "pmid": [("PMID", reference.pmid)],
        "title": [("TI", reference.title)],
        "doi": [("LID", f"{reference.doi} [doi]" if reference.doi else "")],
        "abstract": [("AB", reference.abstract)],
        "authors": [("FAU", name) for name in reference.authors],
        "language": [("LA", reference.language)],
        "type": [("PT", _NAMES.get(reference.type, "Journal Article"))],
        "year": [("DP", _spelled_date(reference))],
        "volume": [("VI", reference.volume)],
        "issue": [("IP", reference.issue)],
        "pages": [("PG", reference.pages)],
        "journal": [("JT", reference.journal)],
        "keywords": [("OT", word) for word in reference.keywords],
        "url": [("URL", reference.url)],
        "notes": [("GN", note) for note in (*reference.notes, *write_judgements(reference))],
    }
    return {part: [(tag, value) for tag, value in pairs if value] for part, pairs in known.items()}


MEDLINE = Layout("medline", TAGS, express_medline, refine_medline)
