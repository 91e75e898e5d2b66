"""Tables of records with the columns of databases, reference managers and screening programs."""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import IO, Any

from bayesift.errors import DataError, require
from bayesift.references.arrow import OWN_COLUMNS, from_values
from bayesift.references.databases import WEB_OF_SCIENCE
from bayesift.references.layout import (
    Layout,
    Pairs,
    Parts,
    Values,
    all_of,
    find_pmid,
    first,
    is_missing,
    parse_date,
    read_type,
    read_verdict,
    split_names,
    squeeze,
    write_judgements,
)
from bayesift.references.lines import Entry, Input
from bayesift.references.reference import Decision, Reference, Verdict, normalise_doi, tidy
from bayesift.tables.loading import ProblemLog, Source
from bayesift.tables.reader import TableReader

OWN_PREFIX = "bayesift_"

# Without case, accents, spaces and signs, the preferred name first.
_NAMES = {
    "id": """
        key recordid refid itemid lensid eid utuniquewosid centralid covidence internalid
        accessionnumber embaseaccessionid pui publicationid storeid paperid corpusid workid
        nctnumber trialid citationid bibcode uniqueidentifier ui pmid id an identifier""",
    "title": """
        title articletitle documenttitle itemtitle primarytitle papertitle studytitle
        citationtitle publictitle scientifictitle displayname ti t1 titel titre titulo titolo
        name""",
    "abstract": """
        abstract abstractnote abstracttext notesabstract citationabstract abstractinvertedindex
        description briefsummary ab summary n2 zusammenfassung kurzfassung resume resumen resumo
        riassunto samenvatting abstrakt text body""",
    "authors": """
        authors author authornames authorfullnames citationauthors authorships authorlist
        creators creator authorshipsauthordisplayname authorshipsrawauthorname
        authorsdisplayname contributors au a1 autor autoren auteurs auteur autores autori""",
    "year": """
        year publicationyear publishedyear pubyear yearpublished publicationdateyear
        yearofpublication py y1 yr jahr erscheinungsjahr annee ano anno jaar""",
    "date": """
        date publicationdate datepublished dateofpublication pubdate issued onlinedate coverdate
        published issueddateparts da dp pubdatefreefrom datum fecha""",
    "journal": """
        journal journaltitle sourcetitle publicationtitle journalbook publication journalname
        secondarytitle containertitle pubtitle publicationname periodical venue hostvenuedisplayname
        primarylocationsourcedisplayname source so t2 jf jo booktitle parenttitle anthologytitle
        abbreviatedsourcetitle zeitschrift periodikum revue revista rivista tijdschrift""",
    "volume": "volume journalvolume volumenumber bibliovolume vol vl vo volumen band",
    "issue": "issue issuenumber journalissue number biblioissue is ip heft numero",
    "pages": """
        pages page pagination pageinfo pagerange journalpages startpage firstpage pagestart
        bibliofirstpage endpage lastpage otherpages pageend bibliolastpage artno articlenumber sp
        ep pg seiten paginas pagine""",
    "doi": """
        doi itemdoi digitalobjectidentifier doinumber doilink doiurl idsdoi externalidsdoi bookdoi
        do di""",
    "pmid": "pmid pubmedid medlinepmid idspmid externalidspubmed pubmed pubmedpmid",
    "keywords": """
        keywords authorkeywords indexkeywords keywordsplus keyword subjects subject meshterms
        mesh descriptors descriptor ieeeterms subjectheadings keywordheading manualtags
        automatictags keywordsdisplayname
        subjectterms identifierkeywords emtreedrugindextermsmajorfocus emtreedrugindexterms
        emtreemedicalindextermsmajorfocus emtreemedicalindexterms fieldsofstudy kw de mh
        schlagworter motscles palabrasclave palavraschave parolechiave trefwoorden""",
    "url": """
        url link urls articleurl externalurl sourceurls documenturl fulltextlink embaselink
        fulltexturl plink pdflink sourcelinkout studyurl permalink ur""",
    "language": """
        language languageoforiginaldocument articlelanguage languages lang la sprache langue
        idioma lingua taal""",
    "type": """
        itemtype documenttype publicationtype referencetype type doctype contenttype articletype
        typeofreference rt ty""",
    "notes": """
        notes note decisions extra comments generalnotes usernotes personalnotes asreviewnote
        n1""",
    "labels": "labels tags usertags studytags",
    "decisions": """
        labelincluded finalincluded included asreviewlabel include decision screeningdecision
        finaldecision inclusiondecision fulltextscreeningstatus fulltextdecision fulltextscreening
        screeningstatus citationscreeningstatus abstractdecision titleabstractdecision
        titleabstractscreening abstractscreening consensus label relevant relevance inclusion
        isincluded iedsflag""",
}
_PART_OF = {name: part for part, names in _NAMES.items() for name in names.split()}
# A name with other words beside it is looked up without them, after the names above.
_QUALIFYING_WORDS = """
    primary full main original translated vernacular english en article document paper study
    record citation item reference publication manuscript bibliographic bib dc dcterms prism the
    of text all s name names field
"""
_QUALIFIERS = frozenset(_QUALIFYING_WORDS.split())
_QUALIFIED = "~"
TAGS = {part: (*names.split(), _QUALIFIED + part) for part, names in _NAMES.items()}
_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


@lru_cache(maxsize=10_000)
def column_key(name: str) -> str:
    """Find the name by which a column is looked up; annotations of bayesift keep theirs.

    Examples
    --------
    >>> column_key("Publication Year"), column_key("Authors, Primary"), column_key("Short Title")
    ('publicationyear', '~authors', 'shorttitle')
    """
    if name.startswith(OWN_PREFIX):
        return name.lower()
    squeezed = squeeze(name)
    if squeezed in _PART_OF:
        return squeezed
    words = list(filter(None, map(squeeze, _WORDS.split(name))))
    without_first = words[1:] if words[0:1] and words[0] in _QUALIFIERS else []
    telling = [word for word in words if word not in _QUALIFIERS]
    for order in (without_first, telling, telling[::-1]):
        part = _PART_OF.get("".join(order))
        if part is not None:
            return _QUALIFIED + part
    return squeezed


def part_of(name: str) -> str | None:
    """Find the part of a record that a column holds, by its name."""
    key = column_key(name)
    return key[1:] if key.startswith(_QUALIFIED) else _PART_OF.get(key)


def is_reference_table(columns: Iterable[str]) -> bool:
    """Whether the columns name a title or an abstract, and one more part of a record."""
    parts = {part_of(name) for name in columns} - {None}
    return not parts.isdisjoint({"title", "abstract"}) and len(parts) > 1


_REASONS = (
    "exclusionreason",
    "exclusionreasons",
    "fulltextexcludereasons",
    "citationexcludereasons",
    "reasonforexclusion",
    "reasonsforexclusion",
    "reason",
    "reasons",
)
_ZOTERO_ASIDES = ("attachment", "note", "annotation")
_REVIEWERS = ("reviewer", "reviewername", "user", "username", "screener", "asreviewusername")
# In names of columns that hold decisions, such as "Include (Y/N)", and in those of others.
_DECIDING = re.compile("inclu|eligib|decision|screening|verdict|status\\Z")
_NOT_DECIDING = re.compile("exclu|criteri|reason|date|time|note|comment|count|number")
_OF_A_REVIEWER = re.compile(r"(?:reviewer|screener|rater|assessor|decision)\w{1,20}\Z")
_LAST_STAGE = re.compile("fulltext|final|consensus")
_STARTS = ("startpage", "firstpage", "pagestart", "bibliofirstpage", "sp")
_ENDS = ("endpage", "lastpage", "pageend", "bibliolastpage", "otherpages", "ep")

_EXCEL = re.compile(r'\s*="(.*)"\s*\Z', re.DOTALL)
_LISTED = re.compile(r"""\s*\[(?:'[^'\n]{0,1000}'|"[^"\n]{0,1000}"|,|[ ]){1,2000}\]\s*\Z""")
_CITATION = re.compile(r";(\d+)(?:\(([^)]{1,20})\))?:([\w-]+)\.")
_INITIALS = re.compile(r"(?:[A-Z][.\s-]*){1,4}\Z")
_MAX_CELL_CHARACTERS = 32_767
_MAX_DEPTH = 20  # of objects that are taken apart
_FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f]")


def decode_cell(column: str, value: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Return columns and texts of a cell; JSON objects are taken apart, lists become lines."""
    if isinstance(value, str):
        match = _EXCEL.match(value)
        yield column, match[1] if match else _unlisted(value)
    elif isinstance(value, dict) and column == "abstract_inverted_index":
        # OpenAlex gives the positions of each word.
        placed = []
        for word, positions in value.items():
            placed += [(position, word) for position in positions or ()]
        yield column, " ".join(word for _, word in sorted(placed))
    elif isinstance(value, dict) and depth < _MAX_DEPTH:
        for name, part in value.items():
            yield from decode_cell(f"{column}.{name}", part, depth + 1)
    elif isinstance(value, list | tuple):
        if value and all(isinstance(part, list) for part in value):  # date-parts of CSL
            yield (
                column,
                "-".join(
                    f"{part:02d}" if isinstance(part, int) else str(part) for part in value[0]
                ),
            )
        else:
            yield column, "\n".join(text for part in value if (text := _named(part)))
    elif value is not None and value == value:
        if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
            number = int(value)
        else:
            number = value
        yield column, str(number)


def _unlisted(text: str) -> str:
    """Return the items of a list that was written as in Python or JSON, one per line."""
    if not _LISTED.match(text):
        return text
    try:
        items = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return "\n".join(map(str, items))


def _named(value: Any) -> str:
    """Return the text of an item of a list; for a person, the name."""
    if isinstance(value, dict):
        if value.get("family"):
            return ", ".join(
                str(part) for part in (value["family"], value.get("given")) if part
            )
        names = (
            value.get(name)
            for name in ("name", "display_name", "literal", "full_name", "value")
        )
        found = next((name for name in names if isinstance(name, str)), None)
        return found or (
            _named(value["author"])
            if "author" in value
            else json.dumps(value, ensure_ascii=False)
        )
    if value is None:
        return ""
    return str(value)


def refine_table(parts: Parts, values: Values) -> None:
    """Split names and keywords in one cell, join pages in two, and read columns of decisions."""
    people = next((text for tag in TAGS["authors"] for text in values.get(tag, ())), "")
    parts["authors"] = () if not people or is_missing(people) else split_people(people)
    parts["keywords"] = tuple(
        dict.fromkeys(
            word for text in all_of(values, TAGS["keywords"]) for word in split_keywords(text)
        )
    )
    limits = [first(values, _STARTS), first(values, _ENDS)]
    if limits[0] and not first(values, TAGS["pages"][:6]):
        parts["pages"] = "-".join(dict.fromkeys(filter(None, limits)))
    if match := _CITATION.search(
        first(values, ("citation",))
    ):  # PubMed's CSV has volume, issue and pages in it
        for part, text in zip(("volume", "issue", "pages"), match.groups(), strict=True):
            parts[part] = parts[part] or text or ""
    month = first(values, ("publishedmonth", "month"))
    day = first(values, ("day",))
    if month and parts["year"] and len(parts["date"]) <= 4:
        if month.isdecimal():
            date = "-".join(filter(None, (str(parts["year"]), month, day)))
        else:
            date = f"{month} {day}"
        parts["date"] = parse_date(date, parts["year"])
    parts["type"] = read_type(parts["type"])
    parts["pmid"] = parts["pmid"].removeprefix("0") or find_pmid(
        (*parts["notes"], parts["url"], parts["id"])
    )
    if not parts["doi"] and "doi.org/" in parts["url"]:
        parts["doi"] = normalise_doi(parts["url"])
    parts["annotations"] = (*parts["annotations"], *_annotations(values))
    if not parts["decisions"]:
        parts["decisions"] = _decisions(values)


def _annotations(values: Values) -> tuple[tuple[str, str], ...]:
    names = (name for name in values if name.startswith(OWN_PREFIX))
    return tuple((name.removeprefix(OWN_PREFIX), values[name][0]) for name in names)


def _decisions(values: Values) -> tuple[Decision, ...]:
    if (
        "internalid" in values and "consensus" in values
    ):  # Abstrackr: 1, 0 and -1, by the consensus or by reviewers
        return _abstrackr(values)
    person = first(values, _REVIEWERS)
    for column in TAGS["decisions"]:
        for text in values.get(column, ()):
            if verdict := read_verdict(text):
                return (_decision(verdict, person, values),)
    return _decisions_in_other_columns(values, person)


def _decision(verdict: Verdict, person: str, values: Values) -> Decision:
    reasons: tuple[str, ...] = ()
    if verdict == "excluded":
        reasons = split_names(all_of(values, _REASONS))
    return Decision(verdict, person, reasons)


def _decisions_in_other_columns(values: Values, person: str) -> tuple[Decision, ...]:
    """Read columns whose names hold a word such as "include", or name a reviewer.

    Their cells must be verdicts and nothing else, since the names alone do not say so.
    """
    found: dict[str, Verdict] = {}
    for column, texts in values.items():
        named = _DECIDING.search(column) or _OF_A_REVIEWER.match(column)
        verdict = read_verdict(texts[0], whole=True)
        if column.endswith("status") and "clude" not in texts[0].lower():
            continue  # of a publication, which may be accepted
        if named and verdict and not _NOT_DECIDING.search(column):
            found[column] = verdict
    last = [column for column in found if _LAST_STAGE.search(column)]
    people = {column: _OF_A_REVIEWER.match(column) for column in found}
    if not last and any(people.values()):
        return tuple(
            _decision(found[column], column.removeprefix("decision"), values)
            for column, named in people.items()
            if named
        )
    columns = [*last, *found]
    if not columns:
        return ()
    return (_decision(found[columns[0]], person, values),)


def _abstrackr(values: Values) -> tuple[Decision, ...]:
    verdicts: dict[str, Verdict] = {"1": "included", "-1": "excluded", "0": "maybe"}
    agreed = verdicts.get(first(values, ("consensus",)))
    if agreed:
        return (Decision(agreed),)
    named = {"sourceid", *(tag for tags in TAGS.values() for tag in tags)}
    return tuple(
        Decision(verdicts[texts[0]], name)
        for name, texts in values.items()
        if name not in named and not name.startswith("labeledat") and texts[0] in verdicts
    )


def split_people(text: str) -> tuple[str, ...]:
    """Split the names in one cell at the separator that is used in it.

    Examples
    --------
    >>> cells = "Griffin DK, Larkin DM", "Ash, A.; Bee, B.", "Ash, A. and Bee, B."
    >>> tuple(map(split_people, cells))
    (('Griffin DK', 'Larkin DM'), ('Ash, A.', 'Bee, B.'), ('Ash, A.', 'Bee, B.'))
    """
    for separator in (";", r"\|", "//", r"(?<!\s)\s+and\s+|\n", r"(?<!\s)\s+&\s+"):
        if re.search(separator, text.strip(" ;|\n")):
            return split_names([text], separator)
    parts = [tidy(part) for part in text.split(",") if part.strip()]
    if len(parts) > 1 and all(" " in part for part in parts):
        return tuple(
            part.removesuffix(".") if part is parts[-1] and part[-2:-1].isupper() else part
            for part in parts
        )
    if len(parts) > 2 and len(parts) % 2 == 0 and all(map(_INITIALS.match, parts[1::2])):
        return tuple(
            f"{last}, {initials}"
            for last, initials in zip(parts[::2], parts[1::2], strict=True)
        )
    return (tidy(text).strip("; "),)


def split_keywords(text: str) -> tuple[str, ...]:
    """Split the keywords in one cell at the separator that is used in it."""
    separator = next(
        (sign for sign in (";", "|", "\n", ",") if sign in text.strip(" ;|\n,")), ";"
    )
    return tuple(
        word for word in split_names([text], re.escape(separator)) if word.strip(",;| ")
    )


def express_table(reference: Reference) -> dict[str, Pairs]:
    """Convert the parts of a record to columns."""
    included = {True: "1", False: "0", None: ""}[reference.included]
    judged = write_judgements(replace(reference, labels=(), annotations=()))
    return {
        "id": [("id", reference.id)],
        "title": [("title", reference.title)],
        "abstract": [("abstract", reference.abstract)],
        "authors": [("authors", "; ".join(reference.authors))],
        "year": [("year", str(reference.year or ""))],
        "date": [("date", reference.date)],
        "journal": [("journal", reference.journal)],
        "volume": [("volume", reference.volume)],
        "issue": [("issue", reference.issue)],
        "pages": [("pages", reference.pages)],
        "doi": [("doi", reference.doi)],
        "pmid": [("pmid", reference.pmid)],
        "keywords": [("keywords", "; ".join(reference.keywords))],
        "url": [("url", reference.url)],
        "language": [("language", reference.language)],
        "type": [("type", reference.type)],
        "notes": [("notes", "\n".join(reference.notes))],
        "labels": [("labels", "; ".join(reference.labels))],
        "decisions": [("label_included", included), ("decisions", " | ".join(judged))],
        "annotations": [
            (f"{OWN_PREFIX}{name}", value) for name, value in reference.annotations
        ],
    }


TABLE = Layout("table", TAGS, express_table, refine_table, key=column_key, decode=decode_cell)


def reference_table(source: Source, log: ProblemLog) -> TableReader:
    """Open a table of records; what stands above the names of its columns is left out."""
    return TableReader(source, log, pad=True, names_columns=is_reference_table)


def read_table(source: Input) -> Iterator[Reference]:
    """Read references of a table: columns of bayesift, tags of Web of Science, or usual columns."""
    log = ProblemLog(skip=True)
    reader = reference_table(source.source, log)
    for row in reader:
        is_tagged = {"PT", "AU", "TI", "SO"} <= row.values.keys()
        if row.values.keys() >= OWN_COLUMNS:
            try:
                yield from_values(row.values)
            except DataError as error:
                source.report(row.line, error.message, lost=1)
            continue
        filled = {name: value for name, value in row.values.items() if not _is_blank(value)}
        if row.values.get("Item Type") in _ZOTERO_ASIDES:
            source.report(row.line, "a file or a note of Zotero and not a record, left out")
            continue
        if all(name == value for name, value in filled.items()):
            if filled:
                source.report(row.line, "names the columns again, left out")
        elif is_tagged or any(part_of(name) for name in filled):
            layout = WEB_OF_SCIENCE if is_tagged else TABLE
            yield layout.reference(Entry(row.line, tuple(row.values.items())), source.path)
        else:
            source.report(row.line, "a row without any part of a record, left out")
    for line in reader.text_lines:
        source.report(line, "a line of text and not a row of the table, left out")
    for line in reader.short_rows:
        source.report(line, "has fewer fields than the header")
    for problem in log.problems:
        source.report(problem.line or 0, f"{problem.message}; not read", lost=1)
    source.notes += reader.notes


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def table_rows(references: Iterable[Reference]) -> tuple[list[str], list[dict[str, str]]]:
    """Return columns and rows of references.

    Columns are as found if all records are from tables, else the same for all.
    """
    rows = [dict(TABLE.fields(reference)) for reference in references]
    columns = dict.fromkeys(name for row in rows for name in row)
    return list(columns), [{name: _cell(value) for name, value in row.items()} for row in rows]


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, default=str)


def write_delimited(
    references: Iterable[Reference], stream: IO[str], delimiter: str = ","
) -> None:
    """Write references as CSV or TSV."""
    columns, rows = table_rows(references)
    writer = csv.DictWriter(
        stream, columns, restval="", delimiter=delimiter, lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(rows)


def write_excel(references: Iterable[Reference], stream: IO[bytes]) -> None:
    """Write references as the first sheet of an Excel file."""
    openpyxl = require("openpyxl", extra="excel")
    columns, rows = table_rows(references)
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("references")
    sheet.append(columns)
    for number, row in enumerate(rows, 2):
        cells = [_FORBIDDEN.sub(" ", row.get(name, "")) for name in columns]
        longest = max(range(len(cells)), key=lambda position: len(cells[position]))
        if len(cells[longest]) > _MAX_CELL_CHARACTERS:
            message = (
                f"row {number}: column {columns[longest]!r} has {len(cells[longest]):,} "
                "characters"
            )
            raise DataError(
                f"{message}, and a cell of Excel holds {_MAX_CELL_CHARACTERS:,}; write CSV instead"
            )
        sheet.append(
            [_text_cell(sheet, cell) if cell.startswith("=") else cell for cell in cells]
        )
    book.save(stream)


def _text_cell(sheet: Any, text: str) -> Any:
    """Make a cell of text that Excel would take for a formula."""
    cell = require("openpyxl.cell", extra="excel").WriteOnlyCell(sheet, value=text)
    cell.data_type = "s"
    return cell
