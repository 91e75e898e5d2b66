"""Read references from files of any format, recognised by content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from bayesift.datasets.encodings import check_encoding, guess_encoding
from bayesift.datasets.loading import ProblemLog, Source, categories_of
from bayesift.datasets.references.columns import is_reference_table
from bayesift.datasets.references.formats import FORMATS
from bayesift.datasets.references.lines import Input
from bayesift.datasets.references.reference import Reference, ReferenceList, SourceFile
from bayesift.datasets.tables import TableReader
from bayesift.errors import DataError
from bayesift.records import Corpus, Note, Problem

_BINARY = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"PAR1")


def read_references(paths: str | Path | Iterable[str | Path]) -> ReferenceList:
    r"""Read the bibliographic records of one or several files.

    The format is recognised by content: RIS, MEDLINE (PubMed), EndNote XML and .enw, BibTeX, Web of Science, CSV, TSV,
    Excel, JSON lines and Parquet. What is not understood is kept in the record and listed in `problems`.

    Parameters
    ----------
    paths : a file, or several

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "export.txt"
    ...     _ = file.write_text("TY  - JOUR\nTI  - Triptans in migraine\nDO  - https://doi.org/10.1000/ABC.1\nER  - \n")
    ...     found = read_references(file)
    >>> found[0].title, found[0].doi, found.files[0].format
    ('Triptans in migraine', '10.1000/abc.1', 'ris')
    """
    if isinstance(paths, str | Path):
        paths = [paths]
    references: list[Reference] = []
    problems: list[Problem] = []
    refused: list[Problem] = []
    files = tuple(_read_file(Path(path), references, problems, refused) for path in paths)
    return ReferenceList(tuple(_with_unique_ids(references)), files, tuple(problems), tuple(refused))


def load_references(path: str | Path, *, skip_bad: bool = False) -> Corpus:
    """Load a file of bibliographic records as a corpus; decisions, else labels, are the categories.

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
    notes = tuple(note for file in found.files for note in file.notes)
    name = Path(path).name
    return Corpus(documents, categories_of(documents), name=name, problems=found.refused, notes=notes)


def holds_references(path: Path) -> bool:
    """Whether a file is text in a format of bibliographic records; tables are not meant."""
    return _recognise_text(Source.of(path))[0] is not None


def recognise(path: str | Path) -> tuple[str | None, str]:
    """The name of the format of a file, None if it holds no bibliographic records, and its encoding."""
    path = Path(path)
    source = Source.of(path)
    if not source.head.strip():
        raise DataError("is empty", file=path)
    if source.suffix == ".zip" and source.head.startswith(_BINARY):
        raise DataError("is an archive of several files; unpack it and name the files", file=path)
    name, encoding = _recognise_text(source)
    if name is not None:
        return name, encoding
    reader = TableReader(path, ProblemLog(skip=True))
    if reader.kind is None or not is_reference_table(next((row.values for row in reader), {})):
        return None, ""
    return {"delimited": "csv", "spreadsheet": "xlsx", "parquet": "parquet"}.get(reader.kind, "jsonl"), ""


def _recognise_text(source: Source) -> tuple[str | None, str]:
    if source.head.startswith(_BINARY):
        return None, ""
    encoding = guess_encoding(source.blocks())
    head = source.head.decode(check_encoding(encoding), "replace").replace("\r\n", "\n").replace("\r", "\n")
    texts = (form for form in FORMATS.values() if form.recognises is not None and form.recognises(head))
    return next((form.name for form in texts), None), encoding


def _read_file(path: Path, references: list[Reference], problems: list[Problem], refused: list[Problem]) -> SourceFile:
    """Add what a file holds to the lists."""
    name, encoding = recognise(path)
    if name is None:
        raise DataError("holds no bibliographic records in a format that is known", file=path)
    counts = [len(references), len(refused)]

    def report(line: int, message: str, *, lost: int = 0) -> None:
        problems.append(Problem(str(path), line or None, message))
        refused.extend(problems[-1:] * lost)

    source = Input(path, encoding, report)
    if encoding not in ("", "utf-8"):
        source.notes.append(Note("encoding", encoding, "it is not UTF-8"))
    references += FORMATS[name].read(source)
    read, lost = len(references) - counts[0], len(refused) - counts[1]
    if not read:
        raise DataError(f"holds no records that can be read (format: {name})", file=path)
    return SourceFile(str(path), name, encoding, read, lost, tuple(source.notes))


def _with_unique_ids(references: list[Reference]) -> Iterator[Reference]:
    """The references, with an id by file and line where there is none and a number where one repeats."""
    seen: Counter[str] = Counter()
    for reference in references:
        name = base = reference.id or f"{Path(reference.file).name}:{reference.line}"
        while name in seen:
            seen[base] += 1
            name = f"{base}-{seen[base]}"
        seen[name] += 1
        yield reference if name == reference.id else replace(reference, id=name)
