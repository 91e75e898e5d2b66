"""Read PubMed: MEDLINE (also of Ovid and ERIC), the XML of its interface, and plain text.

MEDLINE is what PubMed saves as "PubMed" (.nbib, .txt), Ovid as "Reprint/Medlars" and ERIC as .nbib:
tags of up to four letters, a hyphen in the fifth column, wrapped lines indented; a record starts
with PMID. XML and plain text ("Abstract" and "Summary") are only read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO
from xml.etree.ElementTree import Element

from bayesift.references.endnote import flatten, xml_records
from bayesift.references.layout import (
    MONTHS,
    Layout,
    Pairs,
    Parts,
    Values,
    all_of,
    express,
    first,
    pair_table,
    parse_date,
    parse_year,
    split_names,
    tag_table,
)
from bayesift.references.lines import Entry, RecordLines, Report
from bayesift.references.reference import (
    Fields,
    Reference,
    normalise_doi,
    normalise_pmid,
    tidy,
)
from bayesift.references.tables import split_people

_TAG = re.compile(r"([A-Z][A-Z0-9]{1,3}) {0,2}(?<=....)-(?: (.*)|)$")
_HEAD = re.compile(r"^PMID- ?\d*[ \r]*$", re.MULTILINE)
_OTHERS = re.compile(r"^(?:VN  - Ovid|UI  - \d+\s*$|OWN - \w+\s*$)", re.MULTILINE)
_DOI = "[doi]"  # stands after a DOI
# Of these a record has one; after a blank line a second one begins the next record.
_SINGLE = frozenset({"OWN", "STAT", "TI", "DP", "UI", "VN", "SO"})

_FIRST = frozenset({"PMID", "UI", "VN", "DB", "OWN"})

_TYPES = pair_table(
    """
    journal article = JOUR
    book = BOOK
    book chapter = CHAP
    preprint = UNPB
    dataset = DATA
    """
)
_NAMES = {code: name.title() for name, code in _TYPES.items()}

MEDLINE_TAGS = tag_table(
    """
    id       PMID UI OID
    title    TI BTI TT
    abstract AB OAB
    authors  FAU AU CN
    year     DP YR
    date     DP DEP
    journal  JT TA JN CTI
    volume   VI VO
    issue    IP
    pages    PG
    doi      AID LID DO DI
    pmid     PMID PM
    keywords MH OT KW
    url      UR URL
    language LA LG
    type     PT
    notes    GN
    """
)


def is_medline(head: str) -> bool:
    """Whether the beginning of a file is MEDLINE."""
    return _HEAD.search(head) is not None or _OTHERS.search(head) is not None


def read_medline(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Read records of MEDLINE; one that lacks PMID is reported and read."""
    block = RecordLines(" ")
    after_blank = True
    for number, line in lines:
        match = _TAG.match(line)
        if match is not None:
            tag = match[1]
            value = match[2] or ""
            if block and _begins(tag, block.tags, after_blank):
                yield block.take()
            if not block and (tag not in _FIRST or (tag == "OWN" and value.strip() == "NLM")):
                report(number, "record without PMID")
            if tag == "TI" and tag in block.tags:
                report(
                    number,
                    "a second title in one record; are they two, and the line between them lost?",
                )
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
    """Wrap a text at single spaces, so that it is read back to the letter."""
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
    """Prefer full names of authors, put groups last, and find the DOI by its mark."""
    full = values.get("FAU", [])
    short = values.get("AU", [])
    names = full if len(full) >= len(short) else short
    parts["authors"] = split_names((*names, *values.get("CN", ())), r"\n\b\B")
    marked = (
        before.split()[-1]
        for text in all_of(values, ("LID", "AID", "SO"))
        for before in text.split(_DOI)[:-1]
        if before.strip()
    )
    parts["doi"] = next(
        (doi for text in marked if (doi := normalise_doi(text))), ""
    ) or normalise_doi(first(values, ("DO", "DI")) or first(values, ("SO",)))
    parts["keywords"] = tuple(dict.fromkeys(map(tidy, all_of(values, ("MH", "OT", "KW")))))
    types = [_TYPES[text.lower()] for text in all_of(values, ("PT",)) if text.lower() in _TYPES]
    parts["type"] = types[0] if types else "JOUR" if values.get("PT") else ""
    if "PMID" not in values and not any(
        "MEDLINE" in text.upper() for text in all_of(values, ("DB",))
    ):
        parts["pmid"] = normalise_pmid(first(values, ("PM",)))
    elif not parts["pmid"]:
        parts["pmid"] = normalise_pmid(first(values, ("UI",)))


def _spelled_date(reference: Reference) -> str:
    year, month, day = (*reference.date.split("-"), "", "")[:3]
    return " ".join(
        filter(
            None,
            (
                year or str(reference.year or ""),
                month and MONTHS[int(month) - 1],
                day.lstrip("0"),
            ),
        )
    )


_WRITTEN = pair_table(
    """
    pmid = PMID
    title = TI
    doi = LID
    abstract = AB
    authors = FAU
    language = LA
    type = PT
    year = DP
    volume = VI
    issue = IP
    pages = PG
    journal = JT
    keywords = OT
    url = URL
    notes = GN
    """
)


def express_medline(reference: Reference) -> dict[str, Pairs]:
    """Convert the parts of a record to fields of MEDLINE."""
    others = {
        "doi": [("LID", f"{reference.doi} [doi]" if reference.doi else "")],
        "type": [("PT", _NAMES.get(reference.type, "Journal Article"))],
        "year": [("DP", _spelled_date(reference))],
    }
    return express(reference, _WRITTEN, others)


MEDLINE = Layout("medline", MEDLINE_TAGS, express_medline, refine_medline)


_ARTICLE = "MEDLINECITATION/ARTICLE"

PUBMED_XML_TAGS = tag_table(
    """
    id       MEDLINECITATION/PMID
    title    MEDLINECITATION/ARTICLE/ARTICLETITLE MEDLINECITATION/ARTICLE/VERNACULARTITLE
    abstract ABSTRACT
    authors  AUTHOR
    journal  MEDLINECITATION/ARTICLE/JOURNAL/TITLE MEDLINECITATION/ARTICLE/JOURNAL/ISOABBREVIATION
    volume   MEDLINECITATION/ARTICLE/JOURNAL/JOURNALISSUE/VOLUME
    issue    MEDLINECITATION/ARTICLE/JOURNAL/JOURNALISSUE/ISSUE
    pages    MEDLINECITATION/ARTICLE/PAGINATION/MEDLINEPGN
    pages    MEDLINECITATION/ARTICLE/PAGINATION/STARTPAGE
    doi      DOI
    pmid     MEDLINECITATION/PMID
    keywords MEDLINECITATION/MESHHEADINGLIST/MESHHEADING/DESCRIPTORNAME
    keywords MEDLINECITATION/KEYWORDLIST/KEYWORD
    language MEDLINECITATION/ARTICLE/LANGUAGE
    """
)


def is_pubmed_xml(head: str) -> bool:
    """Whether the beginning of a file is PubMed XML."""
    return "<PubmedArticle>" in head or "<PubmedArticle " in head


def read_pubmed_xml(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Read records of PubMed XML.

    Names and parts of the abstract are put together, all else is kept by its path.
    """
    for number, element in xml_records(lines, report, "PubmedArticle"):
        yield Entry(number, (*_joined(element), *flatten(element)))


def _joined(element: Element) -> Iterator[tuple[str, str]]:
    for part in element.iterfind("MedlineCitation/Article/Abstract/AbstractText"):
        label = part.get("Label")
        yield "abstract", (f"{label}: " if label else "") + tidy("".join(part.itertext()))
    for author in element.iterfind("MedlineCitation/Article/AuthorList/Author"):
        given = author.findtext("ForeName") or author.findtext("Initials")
        names = (author.findtext("LastName") or author.findtext("CollectiveName"), given)
        yield "author", ", ".join(name for name in names if name)
    identifiers = [
        *element.iterfind("PubmedData/ArticleIdList/ArticleId[@IdType='doi']"),
        *element.iterfind("MedlineCitation/Article/ELocationID[@EIdType='doi']"),
    ]
    yield from (("doi", identifier.text or "") for identifier in identifiers)


def refine_pubmed_xml(parts: Parts, values: Values) -> None:
    """Join the date of publication, whose parts are separate elements."""
    path = f"{_ARTICLE}/JOURNAL/JOURNALISSUE/PUBDATE/"
    names = ("YEAR", "MEDLINEDATE", "MONTH", "DAY")
    texts = [first(values, (path + name,)) for name in names]
    parts["year"] = parse_year(" ".join(texts))
    if texts[2].isdecimal():
        parts["date"] = parse_date("-".join(filter(None, (texts[0], *texts[2:]))))
    else:
        parts["date"] = parse_date(" ".join(texts), parts["year"])
    parts["authors"] = tuple(values.get("AUTHOR", ()))
    parts["type"] = "JOUR"


PUBMED_XML = Layout("pubmed-xml", PUBMED_XML_TAGS, lambda reference: {}, refine_pubmed_xml)


_START = re.compile(r"(\d{1,9})(?:\. |: )(?=\S)")
_NUMBER = re.compile(r"^PMID: ?(\d+)|\bPMID: ?(\d+)\b", re.MULTILINE)
_IDENTIFIER = re.compile(r"^(DOI|PMID|PMCID): ?(.*)$")
_CITATION = re.compile(
    r"^(?P<journal>[^.]+)\.\s*(?P<date>[^;:]*);?(?P<volume>[^(:;.]*)(?:\((?P<issue>[^)]*)\))?(?::(?P<pages>[^.;]*))?"
)
_ASIDE = re.compile(
    r"(?:Author information|Collaborators|Comment (?:in|on)|Erratum (?:in|for)|Update "
    r"(?:in|of)|Republished in"
    r"|Copyright|Conflict of interest|Publisher|Dataset described in|Summary for patients "
    r"in)\b|©|\(c\)",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"(?P<authors>[^.]+)\.\s+(?P<title>.+?[.?!])\s+(?P<citation>[A-Z][^.]{0,300}\.\s.*)",
    re.DOTALL,
)

PUBMED_TEXT_TAGS = tag_table(
    """
    id       PMID
    title    TITLE
    abstract ABSTRACT
    authors  AUTHORS
    doi      DOI CITATION
    pmid     PMID
    """
)


def is_pubmed_text(head: str) -> bool:
    """Whether the beginning of a file is a numbered list of PubMed."""
    return (
        _START.match(head.lstrip("\ufeff\n ")) is not None and _NUMBER.search(head) is not None
    )


def read_pubmed_text(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Read records of a numbered list; a record without PMID is reported and read."""
    start = 0
    block = [""]
    expected = 1
    for number, line in lines:
        match = _START.match(line)
        if match and int(match[1]) == expected and (not any(block) or not block[-1].strip()):
            if start:
                yield _entry(start, block, report)
            start = number
            block = [line[match.end() :]]
            expected = expected + 1
        else:
            block.append(line)
    if start:
        yield _entry(start, block, report)


def _entry(number: int, block: list[str], report: Report) -> Entry:
    paragraphs = [part for part in re.split(r"\n\s*\n", "\n".join(block)) if part.strip()]
    if not _NUMBER.search("\n".join(block)):
        report(number, "record without PMID")
    if len(paragraphs) == 1:
        return Entry(number, tuple(_summary(tidy(paragraphs[0]))))
    fields = [("citation", tidy(paragraphs[0])), ("title", tidy(paragraphs[1]))]
    for number, paragraph in enumerate(paragraphs[2:]):
        identifiers = [
            match
            for line in paragraph.split("\n")
            if (match := _IDENTIFIER.match(line.strip()))
        ]
        if identifiers:
            fields += [(match[1], match[2].split(" ")[0]) for match in identifiers]
        elif number == 0 and not _ASIDE.match(paragraph) and len(paragraphs) > 3:
            fields.append(("authors", tidy(paragraph)))
        else:
            fields.append(("aside" if _ASIDE.match(paragraph) else "abstract", tidy(paragraph)))
    return Entry(number, tuple(fields))


def _summary(text: str) -> Iterator[tuple[str, str]]:
    match = _SUMMARY.match(text)
    yield from match.groupdict().items() if match else [("title", text)]
    if number := _NUMBER.search(text):
        yield "PMID", number[1] or number[2]


def refine_pubmed_text(parts: Parts, values: Values) -> None:
    """Read journal, date, volume, issue and pages from the citation."""
    match = _CITATION.match(first(values, ("CITATION",)))
    for part in ("journal", "volume", "issue", "pages") if match else ():
        parts[part] = (match[part] or "").strip() if match else ""
    parts["year"] = parse_year(match["date"] if match else "")
    parts["date"] = parse_date(match["date"] if match else "")
    names = re.sub(r"\(\d+\)", "", first(values, ("AUTHORS",))).rstrip(".")
    parts["authors"] = split_people(names) if names else ()
    parts["doi"] = parts["doi"] or normalise_doi(first(values, ("CITATION",)))
    parts["type"] = "JOUR"


PUBMED_TEXT = Layout("pubmed-text", PUBMED_TEXT_TAGS, lambda reference: {}, refine_pubmed_text)
