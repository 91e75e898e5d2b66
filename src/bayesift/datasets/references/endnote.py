"""EndNote: tagged text (.enw, as Google Scholar gives it) with % and a letter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO

from bayesift.datasets.references.decisions import write_judgements
from bayesift.datasets.references.layout import Layout, Pairs, Parts, Values, all_of, first
from bayesift.datasets.references.lines import Block, Entry, Report
from bayesift.datasets.references.reference import Fields, Reference, normalise_pmid

_TAG = re.compile(r"%([A-Z0-9@!#$&()*+^<=>?\[~])(?:[ \t](.*)|)$")
_LIKELY = re.compile(r"\A\s*%[0-9A-Z@~] \S|^%0 [A-Z]", re.MULTILINE)

TYPES = {
    "journal article": "JOUR",
    "electronic article": "EJOUR",
    "magazine article": "MGZN",
    "newspaper article": "NEWS",
    "book": "BOOK",
    "edited book": "EDBOOK",
    "electronic book": "EBOOK",
    "book section": "CHAP",
    "conference proceedings": "CONF",
    "conference paper": "CPAPER",
    "thesis": "THES",
    "report": "RPRT",
    "government document": "GOVDOC",
    "patent": "PAT",
    "web page": "ELEC",
    "dataset": "DATA",
    "unpublished work": "UNPB",
    "generic": "GEN",
}
NAMES = {code: name.title() for name, code in TYPES.items()}

TAGS = {
    "id": ("M", "F", "L"),
    "title": ("T",),
    "abstract": ("X",),
    "authors": ("A",),
    "year": ("D",),
    "date": ("8", "D"),
    "journal": ("J", "B", "S"),
    "volume": ("V",),
    "issue": ("N",),
    "pages": ("P",),
    "doi": ("R",),
    "pmid": ("2",),
    "keywords": ("K",),
    "url": ("U", ">"),
    "language": ("G",),
    "type": ("0",),
    "notes": ("Z",),
}


def is_enw(head: str) -> bool:
    """Whether the beginning of a file is EndNote's tagged text."""
    return _LIKELY.search(head) is not None and "%T" in head


def read_enw(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Records of tagged text; one that lacks %0 is reported and read."""
    block = Block()
    for number, line in lines:
        match = _TAG.match(line)
        if match is not None:
            tag = match[1]
            if block and (tag == "0" or (tag == "T" and "T" in block.tags)):
                yield block.take()
            if not block and tag != "0":
                report(number, "record without %0")
            block.add(number, tag, match[2] or "")
        else:
            block.extend_or_report(number, line, report)
    if block:
        yield block.take()


def write_enw(records: Iterable[Fields], stream: IO[str]) -> None:
    """Write records as tagged text."""
    for fields in records:
        stream.writelines(f"%{tag} {value}\n" for tag, value in fields)
        stream.write("\n")


def refine_enw(parts: Parts, values: Values) -> None:
    """The accession number is PubMed's if the database says so."""
    parts["type"] = TYPES.get(parts["type"].lower(), "GEN" if parts["type"] else "")
    number = first(values, ("M",))
    database = " ".join(all_of(values, ("~", "W"))).lower()
    parts["pmid"] = normalise_pmid(first(values, ("2",))) if first(values, ("2",)).isdecimal() else ""
    if number.isdecimal() and re.search("nlm|pubmed|medline", database):
        parts["pmid"] = normalise_pmid(number)


def express_enw(reference: Reference) -> dict[str, Pairs]:
    """The parts of a record as fields of tagged text."""
    known = {
        "type": [("0", NAMES.get(reference.type, "Generic" if reference.type else "Journal Article"))],
        "title": [("T", reference.title)],
        "authors": [("A", name) for name in reference.authors],
        "journal": [("B" if reference.type in ("CHAP", "CONF") else "J", reference.journal)],
        "volume": [("V", reference.volume)],
        "issue": [("N", reference.issue)],
        "pages": [("P", reference.pages)],
        "year": [("D", str(reference.year or ""))],
        "date": [("8", reference.date if len(reference.date) > 4 else "")],
        "doi": [("R", reference.doi)],
        "pmid": [("2", reference.pmid)],
        "keywords": [("K", word) for word in reference.keywords],
        "abstract": [("X", reference.abstract)],
        "url": [("U", reference.url)],
        "language": [("G", reference.language)],
        "id": [("F", reference.id)],
        "notes": [("Z", note) for note in (*reference.notes, *write_judgements(reference))],
    }
    return {part: [(tag, value) for tag, value in pairs if value] for part, pairs in known.items()}


ENW = Layout("enw", TAGS, express_enw, refine_enw)
