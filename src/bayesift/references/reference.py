"""Define a bibliographic record, its decisions, and a list of records with facts by file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, overload

from bayesift.records import Document, Note, ReadingProblem

Verdict = Literal["included", "excluded", "maybe"]
Fields: TypeAlias = tuple[tuple[str, Any], ...]

# What a format may hold of a record; `fields` holds the rest.
STANDARD = (
    "id",
    "title",
    "abstract",
    "authors",
    "year",
    "date",
    "journal",
    "volume",
    "issue",
    "pages",
    "doi",
    "pmid",
    "keywords",
    "url",
    "language",
    "type",
    "notes",
    "labels",
    "decisions",
    "annotations",
)
LISTS = frozenset({"authors", "keywords", "notes", "labels", "decisions", "annotations"})

# Numbers are of bounded length, so that a search takes time in proportion to the text.
_DOI = re.compile(
    r"10\.\d{4,9}(?:\.\d{1,9}){0,9}/[^\s\"<>|]+(?:<[^\s<>]*>[^\s\"<>|]*)*", re.IGNORECASE
)
_OPENING = {")": "(", "]": "[", "}": "{"}
_BY_ROWS = (".xlsx", ".xls", ".parquet", ".pq", ".asreview")  # files that have no lines
_PMID = re.compile(r"(?<!\d)\d{1,8}(?!\d)")


@dataclass(frozen=True, slots=True)
class Decision:
    """What one reviewer decided on a record.

    Parameters
    ----------
    verdict : "included", "excluded" or "maybe"
    reviewer : name, "" if the file does not say
    reasons : of an exclusion
    """

    verdict: Verdict
    reviewer: str = ""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    r"""A bibliographic record.

    Runs of white space in texts are single spaces; `fields` has them as found.

    Parameters
    ----------
    id : accession number or key, unique within its list; by default the name of the file and the
        line
    title, abstract : texts
    authors : names as the file has them, in order
    year : of publication
    date : of publication, as far as known: "2024", "2024-05" or "2024-05-28"
    journal : or book, or conference
    volume, issue : of the journal
    pages : first and last, or the number of the article
    doi : in lower case, without "https://doi.org/"
    pmid : number in PubMed
    keywords : of authors and of indexers
    url : the first that is given
    language : as the file names it
    type : by the codes of RIS: "JOUR", "CHAP", "CONF", "BOOK", "THES", "RPRT", ...; "GEN" if
        unknown
    notes : remarks, without the decisions and labels found in them
    labels : tags that people gave
    decisions : of reviewers
    annotations : names and values that bayesift added, such as a rank
    format : name of the format the record was read from, "" if it was made in Python
    file, line : where the record starts; not compared
    fields : every field of the record in the file, as found, in order: pairs of tag and value

    Examples
    --------
    >>> keywords = ("migraine",)
    >>> reference = Reference(title="Triptans in migraine", abstract="A trial.", keywords=keywords)
    >>> reference.text
    'Triptans in migraine\nA trial.\nmigraine'
    """

    id: str = ""
    title: str = ""
    abstract: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    date: str = ""
    journal: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    doi: str = ""
    pmid: str = ""
    keywords: tuple[str, ...] = ()
    url: str = ""
    language: str = ""
    type: str = ""
    notes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    format: str = ""
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)
    fields: Fields = ()

    @property
    def text(self) -> str:
        """Title, abstract and keywords: the input of classifiers."""
        return "\n".join(
            part for part in (self.title, self.abstract, "; ".join(self.keywords)) if part
        )

    @property
    def origin(self) -> str:
        """Where the record is from: the name of its file, and the line or the row in it.

        Examples
        --------
        >>> Reference(file="exports/scopus.csv", line=12).origin
        'scopus.csv, line 12'
        """
        name = self.file.replace("\\", "/").rpartition("/")[2]
        if not self.line:
            return name
        unit = "row" if name.lower().endswith(_BY_ROWS) else "line"
        return f"{name or 'file'}, {unit} {self.line:,}"

    @property
    def included(self) -> bool | None:
        """The decision if all reviewers agree on inclusion or exclusion, else None."""
        verdicts = {decision.verdict for decision in self.decisions}
        if len(verdicts) == 1 and "maybe" not in verdicts:
            return verdicts == {"included"}
        return None

    def document(self) -> Document:
        """Convert the record to a document; its categories are the decision, else the labels."""
        decided = (
            None if self.included is None else ("included" if self.included else "excluded",)
        )
        body = "\n".join(part for part in (self.abstract, "; ".join(self.keywords)) if part)
        return Document(self.id, body, title=self.title, categories=decided or self.labels)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """What was found in one file.

    Parameters
    ----------
    file : path
    format : "ris", "medline", "csv", ...
    encoding : of the text; "" for tables, whose notes say it if it is not UTF-8
    records : number of records that were read
    refused : number of records that could not be read; each is among the problems
    notes : what was guessed, such as the delimiter of a table
    """

    file: str
    format: str
    encoding: str
    records: int
    refused: int = 0
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        refused = f", {self.refused:,} not read" if self.refused else ""
        details = "; ".join(
            part for part in (self.format, self.encoding, *map(str, self.notes)) if part
        )
        return f"{self.file}: {self.records:,} records{refused} ({details})"


@dataclass(frozen=True)
class ReferenceList(Sequence[Reference]):
    """Records in the order of their files.

    Parameters
    ----------
    references : with unique ids
    files : what was found in each file
    problems : file, line and message of everything that was not understood
    refused : those of them for which a record is not in the list
    """

    references: tuple[Reference, ...]
    files: tuple[SourceFile, ...] = ()
    problems: tuple[ReadingProblem, ...] = ()
    refused: tuple[ReadingProblem, ...] = ()

    def __len__(self) -> int:
        return len(self.references)

    def __iter__(self) -> Iterator[Reference]:
        return iter(self.references)

    @overload
    def __getitem__(self, index: int) -> Reference: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Reference, ...]: ...
    def __getitem__(self, index: int | slice) -> Reference | tuple[Reference, ...]:
        return self.references[index]

    def __repr__(self) -> str:
        return (
            f"ReferenceList({len(self):,} references of {len(self.files)} files, "
            f"{len(self.problems):,} problems)"
        )


def normalise_doi(text: str) -> str:
    """Find the DOI in a text: lower case, without address, label or final punctuation.

    The result is "" if the text holds no DOI.

    Examples
    --------
    >>> normalise_doi("https://doi.org/10.1002/AR.25520.")
    '10.1002/ar.25520'
    """
    match = _DOI.search(text.replace("%2F", "/").replace("%2f", "/"))
    if match is None:
        return ""
    doi = match[0].lower()
    # Brackets that were opened before belong to the DOI.
    excess = {
        closing: doi.count(closing) - doi.count(opening)
        for closing, opening in _OPENING.items()
    }
    end = len(doi)
    while doi[end - 1] in ".,;:'&" or excess.get(doi[end - 1], 0) > 0:
        end -= 1
        if doi[end] in excess:
            excess[doi[end]] -= 1
    return doi[:end]


def normalise_pmid(text: str) -> str:
    """Read the number of a record in PubMed without leading zeros; "" if it is missing.

    Examples
    --------
    >>> normalise_pmid("PMID: 38773066")
    '38773066'
    """
    match = _PMID.search(text)
    if match:
        return match[0].lstrip("0")
    return ""


def tidy(text: str) -> str:
    """Replace runs of white space by single spaces.

    A text without such runs is returned itself, to save memory.
    """
    tidied = " ".join(text.split())
    if tidied == text:
        return text
    return tidied
