"""Read references from files of any format, recognised by content, and write them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from bayesift.errors import DataError, RequestError
from bayesift.files import whole_file
from bayesift.records import Corpus, Note, ReadingProblem
from bayesift.records.document import RECORDS
from bayesift.references.arrow import write_json_lines, write_parquet
from bayesift.references.asreview import is_asreview, read_asreview
from bayesift.references.bibtex import BIBTEX, is_bibtex, read_bibtex, write_bibtex
from bayesift.references.by_rows import (
    BY_ROWS,
    OVID_TEXT,
    is_by_rows,
    is_ovid_text,
    read_by_rows,
    read_ovid_text,
)
from bayesift.references.databases import (
    COCHRANE,
    REFWORKS,
    WEB_OF_SCIENCE,
    is_cochrane,
    is_refworks,
    is_web_of_science,
    read_cochrane,
    read_refworks,
    read_web_of_science,
    write_web_of_science,
)
from bayesift.references.endnote import (
    ENDNOTE_XML,
    ENW,
    is_endnote_xml,
    is_enw,
    read_endnote_xml,
    read_enw,
    write_endnote_xml,
    write_enw,
)
from bayesift.references.layout import Layout, read_verdict
from bayesift.references.lines import Entry, Input, Report
from bayesift.references.pubmed import (
    MEDLINE,
    PUBMED_TEXT,
    PUBMED_XML,
    is_medline,
    is_pubmed_text,
    is_pubmed_xml,
    read_medline,
    read_pubmed_text,
    read_pubmed_xml,
    write_medline,
)
from bayesift.references.reference import (
    Decision,
    Fields,
    Reference,
    ReferenceList,
    SourceFile,
)
from bayesift.references.ris import RIS, is_ris, read_ris, write_ris
from bayesift.references.tables import (
    is_reference_table,
    read_table,
    reference_table,
    write_delimited,
    write_excel,
)
from bayesift.tables.loading import (
    ProblemLog,
    Source,
    categories_of,
    check_encoding,
)
from bayesift.tables.rows import MAX_CHARACTERS


@dataclass(frozen=True)
class Format:
    """A format: how to recognise, read and write it.

    Parameters
    ----------
    name : of the format
    suffixes : of file names, for writing
    recognises : whether the beginning of a text is of this format; None for tables, which have a
        reader of their own
    read : the records of a file
    write : records to a stream; None if the format is only read
    binary : whether the stream is one of bytes
    """

    name: str
    suffixes: tuple[str, ...]
    recognises: Callable[[str], bool] | None
    read: Callable[[Input], Iterator[Reference]]
    write: Callable[[Iterable[Reference], IO[Any]], None] | None
    binary: bool = False


def _text(
    suffixes: tuple[str, ...],
    layout: Layout,
    recognises: Callable[[str], bool],
    read: Callable[[Iterable[tuple[int, str]], Report], Iterator[Entry]],
    write: Callable[[Iterable[Fields], IO[str]], None] | None,
) -> Format:
    """Describe a format of text whose fields are interpreted by a layout."""
    return Format(
        layout.name,
        suffixes,
        recognises,
        lambda source: (
            layout.reference(entry, source.path)
            for entry in read(source.lines(), source.report)
            if _is_of_usual_length(entry, source.report)
        ),
        write and (lambda references, stream: write(map(layout.fields, references), stream)),
    )


def _is_of_usual_length(entry: Entry, report: Report) -> bool:
    """Whether no field of a record is longer than a field of a table may be; else report it."""
    longest = max((len(value) for _, value in entry.fields), default=0)
    if longest <= MAX_CHARACTERS:
        return True
    message = f"a field has {longest:,} characters, more than the {MAX_CHARACTERS:,} allowed"
    report(entry.line, f"{message}; not read", lost=1)
    return False


_FORMATS = (
    _text((), PUBMED_XML, is_pubmed_xml, read_pubmed_xml, None),
    _text((".xml",), ENDNOTE_XML, is_endnote_xml, read_endnote_xml, write_endnote_xml),
    _text((".ris",), RIS, is_ris, read_ris, write_ris),
    _text((".nbib", ".medline"), MEDLINE, is_medline, read_medline, write_medline),
    _text(
        (".ciw", ".isi"),
        WEB_OF_SCIENCE,
        is_web_of_science,
        read_web_of_science,
        write_web_of_science,
    ),
    _text((".enw",), ENW, is_enw, read_enw, write_enw),
    _text((".bib", ".bibtex"), BIBTEX, is_bibtex, read_bibtex, write_bibtex),
    _text((), COCHRANE, is_cochrane, read_cochrane, None),
    _text((), PUBMED_TEXT, is_pubmed_text, read_pubmed_text, None),
    _text((), REFWORKS, is_refworks, read_refworks, None),
    _text((), OVID_TEXT, is_ovid_text, read_ovid_text, None),
    _text((), BY_ROWS, is_by_rows, read_by_rows, None),
    Format(
        "asreview",
        (),
        None,
        lambda source: read_asreview(source, read_references),
        None,
    ),
    Format("csv", (".csv",), None, read_table, write_delimited),
    Format("tsv", (".tsv", ".tab"), None, read_table, partial(write_delimited, delimiter="\t")),
    Format("xlsx", (".xlsx",), None, read_table, write_excel, binary=True),
    Format("jsonl", (".jsonl", ".ndjson"), None, read_table, write_json_lines),
    Format("parquet", (".parquet", ".pq"), None, read_table, write_parquet, binary=True),
)
FORMATS = {form.name: form for form in _FORMATS}


def read_references(paths: str | Path | Source | Iterable[str | Path]) -> ReferenceList:
    r"""Read the bibliographic records of one or several files.

    The format is recognised by content: RIS, MEDLINE (PubMed), EndNote XML and .enw, BibTeX, Web of
    Science, CSV, TSV, Excel, JSON lines and Parquet. What is not understood is kept in the record
    and listed in `problems`.

    Parameters
    ----------
    paths : a file, or several

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "export.txt"
    ...     lines = "TY  - JOUR", "TI  - Triptans in migraine", "DO  - 10.1000/ABC.1", "ER  - "
    ...     _ = file.write_text("\n".join(lines))
    ...     found = read_references(file)
    >>> found[0].title, found[0].doi, found.files[0].format
    ('Triptans in migraine', '10.1000/abc.1', 'ris')
    """
    given = [paths] if isinstance(paths, str | Path | Source) else paths
    references: list[Reference] = []
    problems: list[ReadingProblem] = []
    refused: list[ReadingProblem] = []
    files = []
    for path in given:
        source = path if isinstance(path, Source) else Source.of(Path(path))
        files.append(_read_file(source, references, problems, refused))
    return ReferenceList(
        tuple(_with_unique_ids(references)), tuple(files), tuple(problems), tuple(refused)
    )


def load_references(path: str | Path | Source, *, skip_bad: bool = False) -> Corpus:
    """Load a file of bibliographic records as a corpus with decisions, else labels, as categories.

    Parameters
    ----------
    path : the file
    skip_bad : list records that cannot be read in `problems`, instead of refusing the file
    """
    found = read_references(path)
    if found.refused and not skip_bad:
        first = found.refused[0]
        raise DataError(first.message, file=first.file, line=first.line)
    documents = tuple(reference.document() for reference in found)
    notes = tuple(
        note for file in found.files for note in (Note(RECORDS, file.format), *file.notes)
    )
    name = path.path.name if isinstance(path, Source) else Path(path).name
    return Corpus(
        documents, categories_of(documents), name=name, problems=found.refused, notes=notes
    )


def holds_references(source: Source) -> bool:
    """Whether a file is text in a format of bibliographic records; tables do not count."""
    return _recognise_text(source) is not None


def recognise(source: Source) -> str | None:
    """Find the name of the format of a file; None if it holds no bibliographic records."""
    if not source.head.strip():
        raise DataError("is empty", file=source.path)
    if is_asreview(source):
        return "asreview"
    if source.suffix == ".zip" and source.is_binary:
        raise DataError(
            "is an archive of several files; unpack it and name the files", file=source.path
        )
    name = _recognise_text(source)
    if name is not None:
        return name
    reader = reference_table(source, ProblemLog(skip=True))
    if reader.kind is None or not is_reference_table(next((row.values for row in reader), {})):
        return None
    names = {"delimited": "csv", "spreadsheet": "xlsx", "parquet": "parquet"}
    return names.get(reader.kind, "jsonl")


def _recognise_text(source: Source) -> str | None:
    if source.is_binary:
        return None
    head = source.head.decode(check_encoding(source.encoding), "replace")
    head = head.replace("\r\n", "\n").replace("\r", "\n")
    for form in FORMATS.values():
        if form.recognises is not None and form.recognises(head):
            return form.name
    return None


def _read_file(
    source: Source,
    references: list[Reference],
    problems: list[ReadingProblem],
    refused: list[ReadingProblem],
) -> SourceFile:
    """Add what a file holds to the lists."""
    path = source.path
    name = recognise(source)
    if name is None:
        raise DataError("holds no bibliographic records in a format that is known", file=path)
    counts = [len(references), len(refused)]

    def report(line: int, message: str, *, lost: int = 0) -> None:
        problems.append(ReadingProblem(str(path), line or None, message))
        refused.extend(problems[-1:] * lost)

    # Tables have a reader of their own, which notes the encoding itself.
    encoding = "" if FORMATS[name].recognises is None else source.encoding
    given = Input(source, report)
    if encoding not in ("", "utf-8"):
        given.notes.append(Note("encoding", encoding, "it is not UTF-8"))
    found = list(FORMATS[name].read(given))
    references += decided_by_name(found, path.name)
    read = len(references) - counts[0]
    lost = len(refused) - counts[1]
    if not read:
        raise DataError(f"holds no records that can be read (format: {name})", file=path)
    return SourceFile(str(path), name, encoding, read, lost, tuple(given.notes))


_BY_DECISION = re.compile(r"review_\d+_(included|excluded|irrelevant)_", re.IGNORECASE)


def decided_by_name(references: Sequence[Reference], name: str) -> Sequence[Reference]:
    """Add the decision that the name of a file of Covidence tells of all its records.

    Examples
    --------
    >>> found = decided_by_name([Reference(title="A")], "review_7_irrelevant_csv_2024.csv")
    >>> found[0].included
    False
    """
    match = _BY_DECISION.match(name)
    if match is None or any(reference.decisions for reference in references):
        return references
    verdict = read_verdict(match[1])
    assert verdict is not None
    return [replace(reference, decisions=(Decision(verdict),)) for reference in references]


def _with_unique_ids(references: list[Reference]) -> Iterator[Reference]:
    """Give references without an id one by file and line, and number ids that repeat."""
    seen: Counter[str] = Counter()
    for reference in references:
        name = base = reference.id or f"{Path(reference.file).name}:{reference.line}"
        while name in seen:
            seen[base] += 1
            name = f"{base}-{seen[base]}"
        seen[name] += 1
        yield reference if name == reference.id else replace(reference, id=name)


def write_references(
    references: Iterable[Reference],
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
) -> None:
    """Write references to a file, completely or not at all.

    A record that was read from the same format is written with all its fields as found, except for
    those that were changed since. A record of another format is written with the parts that the
    format can hold.

    Parameters
    ----------
    references : records
    path : the file; its suffix names the format
    format : name of the format, if the suffix does not say it
    """
    path = Path(path)
    form = FORMATS.get(format or "") or _by_suffix(path, format)
    if form.write is None:
        raise RequestError(f"{form.name} is only read; write .nbib, .ris or .csv")
    with whole_file(path, "wb" if form.binary else "w") as stream:
        form.write(references, stream)


def _by_suffix(path: Path, format: str | None) -> Format:  # noqa: A002
    found = [
        form
        for form in FORMATS.values()
        if path.suffix.lower() in form.suffixes and format is None
    ]
    if not found:
        if format:
            what = f"no format {format!r}"
        else:
            what = f"{path.name}: its suffix names no format of records"
        known = ", ".join(suffix for form in FORMATS.values() for suffix in form.suffixes)
        raise RequestError(f"{what}; there are: {', '.join(FORMATS) if format else known}")
    return found[0]
