"""From the fields of a file to the parts of a record and back: a table of tags for each format.

Decisions in notes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from bayesift.references.lines import Entry
from bayesift.references.reference import (
    LISTS,
    STANDARD,
    Decision,
    Fields,
    Reference,
    Verdict,
    normalise_doi,
    normalise_pmid,
    tidy,
)

_WORDS: dict[Verdict, tuple[str, ...]] = {
    "included": (
        "1",
        "1.0",
        "true",
        "yes",
        "y",
        "in",
        "include",
        "included",
        "relevant",
        "accept",
        "accepted",
        "i",
        "incl",
    ),
    "excluded": (
        "0",
        "0.0",
        "false",
        "no",
        "n",
        "out",
        "exclude",
        "excluded",
        "irrelevant",
        "reject",
        "rejected",
        "e",
        "excl",
    ),
    "maybe": (
        "maybe",
        "unclear",
        "undecided",
        "conflict",
        "unsure",
        "uncertain",
        "not sure",
        "cannot tell",
        "can't tell",
        "?",
    ),
}
_VERDICTS: dict[str, Verdict] = {
    word: verdict for verdict, words in _WORDS.items() for word in words
}

_MARKS = ("RAYYAN-", "BAYESIFT-", "USER-NOTES")
# Names are of bounded length, so that a search takes time in proportion to the text.
_MARK = re.compile(r"\b((?:RAYYAN|BAYESIFT)-[A-Z0-9_-]{1,100}|USER-NOTES)\s{0,20}:")
_BLANKS = re.compile(r"\s*")
_END_OF_VALUE = re.compile(r"[|\n]|\Z")
_PAIR = re.compile(r'"((?:[^"\\]|\\.){0,300})"\s*=>\s*"?(\w{1,20})')
# In notes of Rayyan, {"Ann"=>["one", "another"]}: a name, or a text.
_NAME_OR_TEXT = re.compile(r'"((?:[^"\\]|\\.){0,5000})"(\s*=>)?')
_REASON = "__EXR__"  # begins a label of Rayyan that is a reason for exclusion
_COVIDENCE = re.compile(r"\bExclusion reason:\s{0,20}([^;|\n]{1,300})[;\s]*", re.IGNORECASE)
_ASREVIEW = re.compile(r"\bASReview_(relevant|irrelevant|not_seen)\b;?\s*", re.IGNORECASE)


class Judgements(NamedTuple):
    """What notes say, and the notes without it."""

    notes: tuple[str, ...]
    decisions: tuple[Decision, ...] = ()
    labels: tuple[str, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()


def read_verdict(value: object, *, whole: bool = False) -> Verdict | None:
    """Read the verdict that a word or number stands for; None if it is not a verdict.

    The word may be the first of a text, unless the `whole` text must be a verdict.

    Examples
    --------
    >>> read_verdict("Excluded"), read_verdict(1), read_verdict("")
    ('excluded', 'included', None)
    """
    text = str(value).strip().lower()
    if whole:
        return _VERDICTS.get(text)
    if text:
        return _VERDICTS.get(text) or _VERDICTS.get(text.split(" ")[0].rstrip(":;,.-"))
    return None


def read_judgements(texts: Iterable[str]) -> Judgements:
    """Read decisions, labels and annotations from notes.

    Examples
    --------
    >>> note = 'RAYYAN-INCLUSION: {"Emily"=>"Excluded"} | RAYYAN-EXCLUSION-REASONS: wrong drug'
    >>> read_judgements([note]).decisions
    (Decision(verdict='excluded', reviewer='Emily', reasons=('wrong drug',)),)
    """
    notes: list[str] = []
    marks: list[tuple[str, str]] = []
    seen: list[Decision] = []
    for text in texts:
        if any(word in text for word in _MARKS):
            found, text = _take_marks(text)
            marks += found
        if "asreview_" in text.lower():
            seen += [
                Decision(verdict)
                for word in _ASREVIEW.findall(text)
                if (verdict := read_verdict(word))
            ]
            text = _ASREVIEW.sub("", text)
        if reasons := _COVIDENCE.findall(text):
            seen.append(Decision("excluded", reasons=tuple(map(str.strip, reasons))))
            text = _COVIDENCE.sub("", text)
        if text.strip():
            notes.append(text.strip())
    return _gather(tuple(notes), marks, seen)


def _take_marks(text: str) -> tuple[list[tuple[str, str]], str]:
    """Find names and values such as "RAYYAN-LABELS: a, b", and the text without them.

    A value ends at a bar, a line break or the next name; the bar before a name belongs to it.
    """
    found = []
    kept = []
    position = 0
    matches = list(_MARK.finditer(text))
    limits = [match.start() for match in matches[1:]]
    for match, limit in zip(matches, [*limits, len(text)], strict=False):
        before = text[position : match.start()].rstrip()
        kept.append(before.removesuffix("|").rstrip())
        start = _end_of_blanks(text, match.end())
        end = _END_OF_VALUE.search(text, start, limit)
        assert end is not None  # it matches at the limit
        # Notes may hold bars; nothing follows them.
        value = text[start : limit if match[1] == "USER-NOTES" else end.start()].rstrip()
        found.append((match[1], value))
        position = _end_of_blanks(text, start + len(value))
        if position not in (limit, len(text)) and text[position] != "|":
            position = text.rindex("\n", start, position)  # the next line is not of the value
    kept.append(text[position:])
    return found, "".join(kept)


def _end_of_blanks(text: str, start: int) -> int:
    blanks = _BLANKS.match(text, start)
    assert blanks is not None
    return blanks.end()


def _gather(
    notes: tuple[str, ...], marks: list[tuple[str, str]], seen: list[Decision]
) -> Judgements:
    pairs: list[tuple[str, str]] = []
    labels: list[str] = []
    reasons: list[str] = []
    annotations: list[tuple[str, str]] = []
    others: list[str] = []
    for name, value in marks:
        if name == "RAYYAN-INCLUSION":
            pairs += [(_unescape(who), _unescape(what)) for who, what in _PAIR.findall(value)]
        elif name == "RAYYAN-LABELS":
            for label in _split(value):
                is_reason = label.startswith(_REASON)
                (reasons if is_reason else labels).append(label.removeprefix(_REASON))
        elif name == "RAYYAN-EXCLUSION-REASONS":
            reasons += _split(value)
        elif name.startswith("BAYESIFT-"):
            annotations.append((name.removeprefix("BAYESIFT-").lower(), value))
        elif name == "USER-NOTES":
            others += _user_notes(value)
        else:
            others.append(f"{name}: {value}")
    decisions = [
        Decision(verdict, who) for who, word in pairs if (verdict := read_verdict(word))
    ]
    if reasons:
        # Rayyan keeps one list of reasons for all reviewers.
        decisions = [
            Decision(d.verdict, d.reviewer, tuple(reasons) if d.verdict == "excluded" else ())
            for d in decisions
        ]
    return Judgements(
        (*notes, *others),
        tuple(decisions or seen),  # those of Rayyan name the reviewers
        tuple(dict.fromkeys(labels)),
        tuple(annotations),
    )


def _user_notes(value: str) -> list[str]:
    """Read notes of Rayyan, each with the name of the person before it."""
    notes = []
    person = ""
    for text, is_name in _NAME_OR_TEXT.findall(value):
        if is_name:
            person = _unescape(text)
        else:
            notes.append(f"{person}: {_unescape(text)}")
    return notes


def write_judgements(reference: Reference) -> list[str]:
    """Write decisions, labels and annotations as notes for `read_judgements` and Rayyan."""
    parts = []
    if reference.decisions:
        pairs = (
            f'"{_escape(d.reviewer)}"=>"{d.verdict.capitalize()}"' for d in reference.decisions
        )
        parts.append(f"RAYYAN-INCLUSION: {{{', '.join(pairs)}}}")
    if reference.labels:
        parts.append("RAYYAN-LABELS: " + ",".join(map(_plain, reference.labels)))
    reasons = dict.fromkeys(
        _plain(reason) for decision in reference.decisions for reason in decision.reasons
    )
    if reasons:
        parts.append("RAYYAN-EXCLUSION-REASONS: " + ",".join(reasons))
    notes = [" | ".join(parts)] if parts else []
    return notes + [
        f"BAYESIFT-{name.upper()}: {_plain(value)}" for name, value in reference.annotations
    ]


def _asreview_marks(reference: Reference) -> list[str]:
    """Write the decision that all reviewers agree on as ASReview does."""
    if reference.included is None:
        return []
    return ["ASReview_relevant" if reference.included else "ASReview_irrelevant"]


def _split(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _plain(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def _escape(text: str) -> str:
    return _plain(text).replace("\\", "\\\\").replace('"', '\\"')


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


Values: TypeAlias = dict[str, list[str]]
Parts: TypeAlias = dict[str, Any]
Pairs: TypeAlias = list[tuple[str, Any]]

_SINGLE = tuple(part for part in STANDARD if part not in LISTS | {"abstract", "date"})
# Parts of a record that share tags: when one was changed, all of them are written anew.
_GROUPS = ({"year", "date"}, {"notes", "labels", "decisions", "annotations"})

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# What databases write where a part is missing.
_MISSING_WORDS = """
    noabstract noabstractavailable noabstractisavailable noabstractprovided noabstractfound
    abstractnotavailable abstractunavailable noauthornameavailable noauthor noauthorslisted
    notitle notitleavailable notavailable unavailable na nan none null
"""
_MISSING = frozenset(_MISSING_WORDS.split())
_LONGEST_MISSING = 60  # characters
_JATS = re.compile(r"</?jats:[^<>]{0,100}>")  # markup in abstracts of Crossref
_YEAR = re.compile(r"(?<!\d)(1[4-9]\d\d|20\d\d|2100)(?!\d)")
_NUMERIC = re.compile(
    r"(?<!\d)(1[4-9]\d\d|20\d\d)(?:[-/.](\d{1,2})(?!\d))?(?:[-/.](\d{1,2})(?!\d))?(?!\d)"
)
_COMPACT = re.compile(r"(1[4-9]\d\d|20\d\d)(\d\d)(\d\d)(?!\d)")
_MONTH = re.compile(
    r"(?<![a-z])(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?(?![a-z])",
    re.IGNORECASE,
)
_PUBMED = re.compile(
    r"(?:PMID|PUBMED(?: ?ID)?)[:\s]{1,3}(\d{1,8})\b|pubmed(?:\.ncbi\.nlm\.nih\.gov)?/(\d{1,8})\b",
    re.IGNORECASE,
)
_DASHES = re.compile("[\u2010-\u2015\u2212]+")
_SIGNS = re.compile(r"[\W_]+")
_PARTS = re.compile(r"[;|\n]")
_DAY = re.compile(r"(?<!\d)\d{1,2}(?!\d)")


def find_pmid(texts: Iterable[str]) -> str:
    """Find the first number that a text says is PubMed's."""
    for text in texts:
        if match := _PUBMED.search(text):
            return normalise_pmid(match[1] or match[2])
    return ""


def parse_year(text: str) -> int | None:
    """Find the first year in a text."""
    match = _YEAR.search(text) or _COMPACT.match(text.strip())
    if match:
        return int(match[1])
    return None


def parse_date(text: str, year: int | None = None) -> str:
    """Read a date as far as it is known: year, month and day.

    Examples
    --------
    >>> dates = parse_date("2024/05/28/"), parse_date("2020 Nov-Dec")
    >>> (*dates, parse_date("Mar 1", 2018), parse_date("2024///"))
    ('2024-05-28', '2020-11', '2018-03-01', '2024')
    """
    text = text.strip()
    match = _COMPACT.match(text) or _NUMERIC.match(text)
    named = _MONTH.search(text)
    if match is not None and not (named and match[2] is None):
        numbers = [int(part) for part in match.groups() if part]
    else:
        found = parse_year(text) or year
        if found is None:
            return ""
        numbers = [found]
        if named:
            day = _DAY.search(text)
            numbers += [MONTHS.index(named[1].title()) + 1, *([int(day[0])] if day else [])]
    if len(numbers) > 1 and not 1 <= numbers[1] <= 12:
        del numbers[1:]
    if len(numbers) > 2 and not 1 <= numbers[2] <= 31:
        del numbers[2:]
    return "-".join(f"{number:02d}" for number in numbers)


def squeeze(name: str) -> str:
    """Remove case, accents, spaces and signs from a name.

    Examples
    --------
    >>> squeeze("Título (TI)"), squeeze("Author/s")
    ('tituloti', 'authors')
    """
    letters = name if name.isascii() else unicodedata.normalize("NFKD", name)
    return _SIGNS.sub("", letters).lower()


def read_type(text: str) -> str:
    """Find the code of RIS for a type in words; "GEN" if it is not known.

    Examples
    --------
    >>> read_type("Journal Article"), read_type("CHAP"), read_type("Poster")
    ('JOUR', 'CHAP', 'GEN')
    """
    if text.isupper() and text.isalpha() and len(text) != 1:
        return text
    words = [_LETTERS.get(text) or _TYPES.get(squeeze(word)) for word in _PARTS.split(text)]
    return next(filter(None, words), "GEN" if text else "")


def tag_table(text: str) -> dict[str, tuple[str, ...]]:
    """Read lines of a part of a record and the tags that hold it, the preferred one first."""
    table: dict[str, tuple[str, ...]] = {}
    for line in text.strip().splitlines():
        part, *tags = line.split()
        table[part] = (*table.get(part, ()), *tags)
    return table


def pair_table(text: str) -> dict[str, str]:
    """Read lines of "name = value"."""
    table = {}
    for line in text.strip().splitlines():
        name, _, value = line.strip().partition(" = ")
        table[name] = value
    return table


_TYPES = pair_table(
    """
    journalarticle = JOUR
    article = JOUR
    review = JOUR
    journal = JOUR
    articlejournal = JOUR
    academicjournal = JOUR
    conferencepaper = CONF
    proceedingspaper = CONF
    conference = CONF
    paperconference = CONF
    inproceedings = CONF
    proceedingsarticle = CONF
    book = BOOK
    bookchapter = CHAP
    booksection = CHAP
    chapter = CHAP
    thesis = THES
    dissertation = THES
    report = RPRT
    preprint = UNPB
    dataset = DATA
    webpage = ELEC
    patent = PAT
    magazinearticle = MGZN
    newspaperarticle = NEWS
    conferenceproceedings = CONF
    conferenceproceeding = CONF
    conferenceabstract = CONF
    electronicarticle = EJOUR
    clinicaltrial = JOUR
    editedbook = EDBOOK
    ebook = EBOOK
    """
)
_LETTERS = {"J": "JOUR", "C": "CONF", "B": "BOOK", "S": "SER", "P": "PAT"}  # of Web of Science


def express(
    reference: Reference, tags: Mapping[str, str], others: Mapping[str, Pairs]
) -> dict[str, Pairs]:
    """Convert the parts of a record to fields: the tag of each part, in the order of writing.

    `others` are the fields of parts that a format writes in its own way.
    """
    fields: dict[str, Pairs] = {}
    for part, tag in tags.items():
        value = getattr(reference, part)
        if part in others:
            pairs = others[part]
        elif part == "notes":
            judged = (*write_judgements(reference), *_asreview_marks(reference))
            pairs = [(tag, note) for note in (*value, *judged)]
        elif part in LISTS:
            pairs = [(tag, text) for text in value]
        elif part == "date" and len(value) == 4:  # a year, which has a tag of its own
            pairs = []
        else:
            pairs = [(tag, str(value or ""))]
        fields[part] = [pair for pair in pairs if pair[1]]
    return fields


def first(values: Values, tags: Iterable[str]) -> str:
    """Return the first text in the first of some tags that has one."""
    for tag in tags:
        for value in values.get(tag, ()):
            if text := tidy(value):
                return text
    return ""


def all_of(values: Values, tags: Iterable[str]) -> list[str]:
    """Collect all texts of some tags."""
    return [
        text
        for tag in tags
        if tag in values
        for value in values[tag]
        if (text := value.strip())
    ]


def split_names(texts: Iterable[str], separators: str = r"\n|;") -> tuple[str, ...]:
    """Split names or keywords, several of which may be in one text."""
    pattern = re.compile(separators)
    return tuple(name for text in texts for part in pattern.split(text) if (name := tidy(part)))


@dataclass(frozen=True)
class Layout:
    """How one format holds the parts of a record.

    Parameters
    ----------
    name : of the format
    tags : for each part of a record the tags that hold it, the preferred one first
    express : fields for each part of a record, in the order of writing
    refine : corrects the parts for the habits of the programs that write the format
    key : the form of a tag in which it is looked up
    decode : tags and texts of a field, for formats whose values are not plain text
    """

    name: str
    tags: Mapping[str, tuple[str, ...]]
    express: Callable[[Reference], dict[str, Pairs]]
    refine: Callable[[Parts, Values], None] = lambda parts, values: None
    key: Callable[[str], str] = str.upper
    decode: Callable[[str, Any], Iterable[tuple[str, str]]] | None = None

    def interpret(self, fields: Iterable[tuple[str, Any]]) -> Parts:
        """Read the parts of a record from its fields."""
        values: Values = {}
        key = self.key
        decode = self.decode
        for tag, text in (
            fields if decode is None else (pair for field in fields for pair in decode(*field))
        ):
            if text:
                values.setdefault(key(tag), []).append(text)
        tags = self.tags
        parts: Parts = {part: first(values, tags.get(part, ())) for part in _SINGLE}
        parts["abstract"] = _abstract(values, tags["abstract"])
        if is_missing(parts["title"]):
            parts["title"] = ""
        parts["authors"] = _authors(values, tags["authors"])
        parts["keywords"] = tuple(
            dict.fromkeys(split_names(all_of(values, tags.get("keywords", ()))))
        )
        parts["doi"] = normalise_doi(parts["doi"])
        parts["pmid"] = normalise_pmid(parts["pmid"])
        parts["url"] = parts["url"].split(" ")[0]
        date = first(values, tags.get("date", ()))
        parts["year"] = parse_year(parts["year"]) or parse_year(date)
        parts["date"] = parse_date(date, parts["year"]) or (
            str(parts["year"]) if parts["year"] else ""
        )
        said = read_judgements(all_of(values, tags.get("notes", ())))
        parts["notes"], parts["decisions"], parts["annotations"] = (
            said.notes,
            said.decisions,
            said.annotations,
        )
        parts["labels"] = tuple(
            dict.fromkeys((*split_names(all_of(values, tags.get("labels", ()))), *said.labels))
        )
        self.refine(parts, values)
        parts["pages"] = _DASHES.sub("-", parts["pages"])
        return parts

    def reference(self, entry: Entry, path: Path) -> Reference:
        """Make the record of an entry of a file."""
        parts = self.interpret(entry.fields)
        return Reference(
            **parts, format=self.name, file=str(path), line=entry.line, fields=entry.fields
        )

    def fields(self, reference: Reference) -> Fields:
        """Return the fields to write: as they were read, except for parts changed since."""
        if reference.format != self.name:
            return tuple(pair for pairs in self.express(reference).values() for pair in pairs)
        found = self.interpret(reference.fields)
        changed = {
            part
            for part in STANDARD
            if part != "id" and found[part] != getattr(reference, part)
        }
        for group in _GROUPS:
            if changed & group:
                changed |= group
        if not changed:
            return reference.fields
        dropped = {tag for part in changed for tag in self.tags.get(part, ())}
        kept = [pair for pair in reference.fields if self.key(pair[0]) not in dropped]
        added = [
            pair
            for part, pairs in self.express(reference).items()
            if part in changed
            for pair in pairs
        ]
        return (*kept, *added)


def is_missing(text: str) -> bool:
    """Whether a text only says that a part is missing, such as "[No abstract available]"."""
    return len(text) < _LONGEST_MISSING and squeeze(text) in _MISSING


def _abstract(values: Values, tags: Iterable[str]) -> str:
    for tag in tags:
        texts = [tidy(_JATS.sub(" ", text)) for text in values.get(tag, ())]
        # EBSCO repeats the tag for a copyright notice.
        if body := " ".join(
            text
            for text in texts
            if text and not text.startswith("Copyright of ") and not is_missing(text)
        ):
            return body
    return ""


def _authors(values: Values, tags: Iterable[str]) -> tuple[str, ...]:
    for tag in tags:
        if texts := all_of(values, (tag,)):
            names = split_names(texts)
            return tuple(n for n in names if n.strip(",. ") and not is_missing(n))
    return ()
