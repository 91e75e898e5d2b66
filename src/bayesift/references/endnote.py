"""Read and write EndNote: tagged text (.enw, as Google Scholar gives it) and XML.

A damaged record of XML costs no other record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from bayesift.references.layout import (
    Layout,
    Pairs,
    Parts,
    Values,
    all_of,
    express,
    first,
    pair_table,
    tag_table,
)
from bayesift.references.lines import Entry, RecordLines, Report
from bayesift.references.reference import Fields, Reference, normalise_pmid

_TAG = re.compile(r"%([A-Z0-9@!#$&()*+^<=>?\[~])(?:[ \t](.*)|)$")
_ENDNOTE_LIKELY = re.compile(r"\A\s*%[0-9A-Z@~] \S|^%0 [A-Z]", re.MULTILINE)

TYPES = pair_table(
    """
    journal article = JOUR
    electronic article = EJOUR
    magazine article = MGZN
    newspaper article = NEWS
    book = BOOK
    edited book = EDBOOK
    electronic book = EBOOK
    book section = CHAP
    conference proceedings = CONF
    conference paper = CPAPER
    thesis = THES
    report = RPRT
    government document = GOVDOC
    patent = PAT
    web page = ELEC
    dataset = DATA
    unpublished work = UNPB
    generic = GEN
    """
)
NAMES = {code: name.title() for name, code in TYPES.items()}

ENDNOTE_TAGS = tag_table(
    """
    id       M F L
    title    T
    abstract X
    authors  A
    year     D
    date     8 D
    journal  J B S
    volume   V
    issue    N
    pages    P
    doi      R
    pmid     2
    keywords K
    url      U >
    language G
    type     0
    notes    Z
    """
)


def is_enw(head: str) -> bool:
    """Whether the beginning of a file is EndNote's tagged text."""
    return _ENDNOTE_LIKELY.search(head) is not None and "%T" in head


def read_enw(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Read records of tagged text; one that lacks %0 is reported and read."""
    block = RecordLines()
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
    """Take the accession number for PubMed's if the database says so."""
    parts["type"] = TYPES.get(parts["type"].lower(), "GEN" if parts["type"] else "")
    number = first(values, ("M",))
    database = " ".join(all_of(values, ("~", "W"))).lower()
    parts["pmid"] = (
        normalise_pmid(first(values, ("2",))) if first(values, ("2",)).isdecimal() else ""
    )
    if number.isdecimal() and re.search("nlm|pubmed|medline", database):
        parts["pmid"] = normalise_pmid(number)


_WRITTEN = pair_table(
    """
    type = 0
    title = T
    authors = A
    journal = J
    volume = V
    issue = N
    pages = P
    year = D
    date = 8
    doi = R
    pmid = 2
    keywords = K
    abstract = X
    url = U
    language = G
    id = F
    notes = Z
    """
)


def express_enw(reference: Reference) -> dict[str, Pairs]:
    """Convert the parts of a record to fields of tagged text."""
    name = NAMES.get(reference.type, "Generic" if reference.type else "Journal Article")
    others = {"type": [("0", name)]}
    if reference.type in ("CHAP", "CONF"):
        others["journal"] = [("B", reference.journal)]
    return express(reference, _WRITTEN, others)


ENW = Layout("enw", ENDNOTE_TAGS, express_enw, refine_enw)


_MAX_DEPTH = 20  # of elements that are taken apart
_INLINE = frozenset({"style", "i", "b", "u", "sub", "sup"})
_ENDNOTE_XML_LIKELY = re.compile(r"<record(?:\s[^<>]*)?>")
_FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_NUMBERS = pair_table(
    """
    JOUR = 17
    BOOK = 6
    CHAP = 5
    CONF = 10
    THES = 32
    RPRT = 27
    ELEC = 12
    GEN = 13
    """
)

ENDNOTE_XML_TAGS = tag_table(
    """
    id       accession-num label rec-number
    title    titles/title
    abstract abstract
    authors  contributors/authors/author
    year     dates/year
    date     dates/pub-dates/date dates/year
    journal  periodical/full-title titles/secondary-title
    journal  periodical/abbr-1 alt-periodical/full-title
    volume   volume
    issue    number issue
    pages    pages electronic-pages
    doi      electronic-resource-num
    pmid     custom2
    keywords keywords/keyword
    url      urls/related-urls/url urls/web-urls/url urls/pdf-urls/url
    language language
    type     ref-type@name
    notes    notes research-notes
    labels
    """
)


def is_endnote_xml(head: str) -> bool:
    """Whether the beginning of a file is EndNote XML."""
    return (
        head.lstrip("\ufeff \n").startswith("<")
        and _ENDNOTE_XML_LIKELY.search(head) is not None
    )


def read_endnote_xml(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Read records of EndNote XML; a record that is not well-formed is reported."""
    for number, element in xml_records(lines, report, "record"):
        yield Entry(number, tuple(flatten(element)))


def xml_records(
    lines: Iterable[tuple[int, str]], report: Report, tag: str
) -> Iterator[tuple[int, ElementTree.Element]]:
    """Read the line and element of each record; one that is not well-formed is reported."""
    for number, text in _texts(lines, report, tag):
        try:
            element = ElementTree.fromstring(text)  # noqa: S314  # expat limits the growth of entities
        except ElementTree.ParseError as error:
            report(number, f"record that is not well-formed XML ({error}), not read", lost=1)
        else:
            yield number, element


def _texts(
    lines: Iterable[tuple[int, str]], report: Report, tag: str
) -> Iterator[tuple[int, str]]:
    """Read the line and text of each record."""
    start = re.compile(rf"<{tag}(?:\s[^<>]*)?>")
    end = f"</{tag}>"
    text = ""
    first_line = 1
    for number, line in lines:
        if not text:
            first_line = number
        text += _FORBIDDEN.sub(" ", line) + "\n"
        if end not in line:
            continue
        *complete, text = text.split(end)
        for part in complete:
            yield from _records_in(part + end, start, first_line, report)
            first_line += part.count("\n")
    if (cut := start.search(text)) is not None:
        report(
            first_line + text.count("\n", 0, cut.start()),
            "record that is cut off, not read",
            lost=1,
        )


def _records_in(
    text: str, pattern: re.Pattern[str], line: int, report: Report
) -> Iterator[tuple[int, str]]:
    starts = [match.start() for match in pattern.finditer(text)]
    if not starts:
        report(line, "record without its first tag, not read", lost=1)
    before = 0
    for start in starts:
        line += text.count("\n", before, start)
        before = start
        if start == starts[-1]:
            yield line, text[start:]
        else:
            report(line, "record without its last tag, not read", lost=1)


def flatten(element: ElementTree.Element, prefix: str = "") -> Iterator[tuple[str, str]]:
    """List paths and texts of the elements without children, and their attributes."""
    for child in element:
        path = f"{prefix}{child.tag}"
        is_nested = any(part.tag not in _INLINE for part in child)
        if is_nested and prefix.count("/") < _MAX_DEPTH:
            yield from flatten(child, f"{path}/")
        else:
            yield path, "".join(child.itertext())
            yield from ((f"{path}@{name}", value) for name, value in child.attrib.items())


def write_endnote_xml(records: Iterable[Fields], stream: IO[str]) -> None:
    """Write records as EndNote XML."""
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n<xml><records>\n')
    for fields in records:
        stream.write("<record>" + "".join(_nested(fields)) + "</record>\n")
    stream.write("</records></xml>\n")


def _nested(fields: Fields) -> Iterator[str]:
    """Build the elements of a record; consecutive fields under the same path share parents."""
    opened: list[str] = []
    attributes: dict[int, str] = {}
    elements: list[tuple[str, str]] = []
    for path, value in fields:
        if "@" in path:
            attributes[len(elements) - 1] = (
                attributes.get(len(elements) - 1, "")
                + f" {path.partition('@')[2]}={quoteattr(_allowed(value))}"
            )
        else:
            elements.append((path, value))
    for index, (path, value) in enumerate(elements):
        *parents, name = path.split("/")
        shared = next(
            (i for i, (a, b) in enumerate(zip(opened, parents, strict=False)) if a != b), None
        )
        shared = min(len(opened), len(parents)) if shared is None else shared
        yield from (f"</{parent}>" for parent in reversed(opened[shared:]))
        yield from (f"<{parent}>" for parent in parents[shared:])
        opened = parents
        yield f"<{name}{attributes.get(index, '')}>{escape(_allowed(value))}</{name}>"
    yield from (f"</{parent}>" for parent in reversed(opened))


def _allowed(text: str) -> str:
    return _FORBIDDEN.sub(" ", text).replace("\r", "\n")


def refine_endnote_xml(parts: Parts, values: Values) -> None:
    """Read the name of the type; the accession number is PubMed's if the database says so."""
    name = first(values, ("ref-type@name",)).lower()
    parts["type"] = TYPES.get(name, "GEN" if name else "")
    number = first(values, ("accession-num",))
    database = " ".join(
        all_of(values, ("remote-database-name", "remote-database-provider"))
    ).lower()
    if number.isdecimal() and re.search("nlm|pubmed|medline", database):
        parts["pmid"] = normalise_pmid(number)
    elif not first(values, ("custom2",)).isdecimal():
        parts["pmid"] = ""


_WRITTEN_XML = pair_table(
    """
    type = ref-type
    authors = contributors/authors/author
    title = titles/title
    journal = titles/secondary-title
    pages = pages
    volume = volume
    issue = number
    keywords = keywords/keyword
    year = dates/year
    date = dates/pub-dates/date
    id = label
    abstract = abstract
    notes = notes
    url = urls/related-urls/url
    doi = electronic-resource-num
    language = language
    pmid = custom2
    """
)


def express_endnote_xml(reference: Reference) -> dict[str, Pairs]:
    """Convert the parts of a record to elements of EndNote XML."""
    types = [
        ("ref-type", _NUMBERS.get(reference.type, "13")),
        ("ref-type@name", NAMES.get(reference.type, "Generic")),
    ]
    return express(reference, _WRITTEN_XML, {"type": types})


ENDNOTE_XML = Layout(
    "endnote-xml", ENDNOTE_XML_TAGS, express_endnote_xml, refine_endnote_xml, key=str
)
