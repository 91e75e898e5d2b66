"""What PubMed saves as "Abstract (text)" and "Summary (text)": numbered records without tags, for reading only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bayesift.datasets.references.layout import Layout, Parts, Values, first, parse_date, parse_year
from bayesift.datasets.references.lines import Entry, Report
from bayesift.datasets.references.reference import normalise_doi, tidy
from bayesift.datasets.references.tables import split_people

_START = re.compile(r"(\d+)(?:\. |: )(?=\S)")
_NUMBER = re.compile(r"^PMID: ?(\d+)|\bPMID: ?(\d+)\b", re.MULTILINE)
_IDENTIFIER = re.compile(r"^(DOI|PMID|PMCID): ?(.*)$")
_CITATION = re.compile(
    r"^(?P<journal>[^.]+)\.\s*(?P<date>[^;:]*);?(?P<volume>[^(:;.]*)(?:\((?P<issue>[^)]*)\))?(?::(?P<pages>[^.;]*))?"
)
_ASIDE = re.compile(
    r"(?:Author information|Collaborators|Comment (?:in|on)|Erratum (?:in|for)|Update (?:in|of)|Republished in"
    r"|Copyright|Conflict of interest|Publisher|Dataset described in|Summary for patients in)\b|©|\(c\)",
    re.IGNORECASE,
)
_SUMMARY = re.compile(r"(?P<authors>[^.]+)\.\s+(?P<title>.+?[.?!])\s+(?P<citation>[A-Z][^.]*\.\s.*)", re.DOTALL)

TAGS = {
    "id": ("PMID",),
    "title": ("TITLE",),
    "abstract": ("ABSTRACT",),
    "authors": ("AUTHORS",),
    "doi": ("DOI", "CITATION"),
    "pmid": ("PMID",),
}


def is_pubmed_text(head: str) -> bool:
    """Whether the beginning of a file is a numbered list of PubMed."""
    return _START.match(head.lstrip("\ufeff\n ")) is not None and _NUMBER.search(head) is not None


def read_pubmed_text(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Records of a numbered list; a record without PMID is reported and read."""
    start, block, expected = 0, [""], 1
    for number, line in lines:
        match = _START.match(line)
        if match and int(match[1]) == expected and (not any(block) or not block[-1].strip()):
            if start:
                yield _entry(start, block, report)
            start, block, expected = number, [line[match.end() :]], expected + 1
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
    for place, paragraph in enumerate(paragraphs[2:]):
        identifiers = [match for line in paragraph.split("\n") if (match := _IDENTIFIER.match(line.strip()))]
        if identifiers:
            fields += [(match[1], match[2].split(" ")[0]) for match in identifiers]
        elif place == 0 and not _ASIDE.match(paragraph) and len(paragraphs) > 3:
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
    """The citation has journal, date, volume, issue and pages."""
    match = _CITATION.match(first(values, ("CITATION",)))
    for part in ("journal", "volume", "issue", "pages") if match else ():
        parts[part] = (match[part] or "").strip() if match else ""
    parts["year"] = parse_year(match["date"] if match else "")
    parts["date"] = parse_date(match["date"] if match else "")
    names = re.sub(r"\(\d+\)", "", first(values, ("AUTHORS",))).rstrip(".")
    parts["authors"] = split_people(names) if names else ()
    parts["doi"] = parts["doi"] or normalise_doi(first(values, ("CITATION",)))
    parts["type"] = "JOUR"


PUBMED_TEXT = Layout("pubmed-text", TAGS, lambda reference: {}, refine_pubmed_text)
