"""PubMed XML, as its programming interface gives it: a `PubmedArticle` per record, for reading only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from bayesift.datasets.references.endnote_xml import flatten, xml_records
from bayesift.datasets.references.layout import Layout, Parts, Values, first, parse_date, parse_year
from bayesift.datasets.references.lines import Entry, Report
from bayesift.datasets.references.reference import tidy

_ARTICLE = "MEDLINECITATION/ARTICLE"

TAGS = {
    "id": ("MEDLINECITATION/PMID",),
    "title": (f"{_ARTICLE}/ARTICLETITLE", f"{_ARTICLE}/VERNACULARTITLE"),
    "abstract": ("ABSTRACT",),
    "authors": ("AUTHOR",),
    "journal": (f"{_ARTICLE}/JOURNAL/TITLE", f"{_ARTICLE}/JOURNAL/ISOABBREVIATION"),
    "volume": (f"{_ARTICLE}/JOURNAL/JOURNALISSUE/VOLUME",),
    "issue": (f"{_ARTICLE}/JOURNAL/JOURNALISSUE/ISSUE",),
    "pages": (f"{_ARTICLE}/PAGINATION/MEDLINEPGN", f"{_ARTICLE}/PAGINATION/STARTPAGE"),
    "doi": ("DOI",),
    "pmid": ("MEDLINECITATION/PMID",),
    "keywords": (
        "MEDLINECITATION/MESHHEADINGLIST/MESHHEADING/DESCRIPTORNAME",
        "MEDLINECITATION/KEYWORDLIST/KEYWORD",
    ),
    "language": (f"{_ARTICLE}/LANGUAGE",),
}


def is_pubmed_xml(head: str) -> bool:
    """Whether the beginning of a file is PubMed XML."""
    return "<PubmedArticle>" in head or "<PubmedArticle " in head


def read_pubmed_xml(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Records of PubMed XML; names and parts of the abstract are put together, all else is kept by its path."""
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
    """The date of publication has its parts in elements of their own."""
    place = f"{_ARTICLE}/JOURNAL/JOURNALISSUE/PUBDATE/"
    names = ("YEAR", "MEDLINEDATE", "MONTH", "DAY")
    texts = [first(values, (place + name,)) for name in names]
    parts["year"] = parse_year(" ".join(texts))
    if texts[2].isdecimal():
        parts["date"] = parse_date("-".join(filter(None, (texts[0], *texts[2:]))))
    else:
        parts["date"] = parse_date(" ".join(texts), parts["year"])
    parts["authors"] = tuple(values.get("AUTHOR", ()))
    parts["type"] = "JOUR"


PUBMED_XML = Layout("pubmed-xml", TAGS, lambda reference: {}, refine_pubmed_xml)
