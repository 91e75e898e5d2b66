"""Files of a review: its records, everything that was done to it, and packed projects."""

from __future__ import annotations

import csv
import io
import json
import lzma
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pyarrow as pa

from bayesift.errors import DataError
from bayesift.journal import digest_of
from bayesift.references import Reference
from bayesift.screening import Event, Project, ReviewReading
from bayesift.screening.export import export_references
from bayesift.screening.full_texts import FULL_TEXTS, check_pdf
from bayesift.screening.project import MARK, RECORDS
from bayesift.service.errors import TooLargeError
from bayesift.service.files import check_unpacked
from bayesift.service.reviews.operations import checked_records
from bayesift.tables.cells import guarded_cell

MEDIA_TYPES = {
    "ris": "application/x-research-info-systems",
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "bib": "application/x-bibtex",
    "nbib": "text/plain; charset=utf-8",
    "xml": "application/xml",
    "jsonl": "application/x-ndjson",
}
_PROJECT_FILES = ("project.json", RECORDS, "decisions.jsonl")
_NOT_A_PROJECT = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    pa.ArrowException,
    ArithmeticError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    RuntimeError,
    OSError,
)


def audit_csv(log: ReviewReading) -> str:
    """Return what people did to a review, in order."""
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow(["number", "at", "by", "what", "record", "details"])
    for number, event in enumerate(log.events, 1):
        details = json.dumps(_shown_details(event), ensure_ascii=False)
        row = [number, event.at, guarded_cell(event.by), event.type, event.record]
        writer.writerow([*row, guarded_cell(details)])
    return lines.getvalue()


def _shown_details(event: Event) -> dict[str, Any]:
    """Return the values of an event; of the lists in it, which may be long, their lengths."""
    if event.type not in ("prior", "merge"):
        return dict(event.data)
    found = {}
    for name, value in event.data.items():
        found[name] = len(value) if isinstance(value, list) else value
    return found


def records_file(references: Sequence[Reference], kind: str) -> bytes:
    """Return records as a file of a kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"records.{kind}"
        export_references(references, path)
        return path.read_bytes()


def packed_project(folder: Path, full_texts: Mapping[str, bytes]) -> bytes:
    """Pack the project in a folder into an archive, with files by their digests."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in (*_PROJECT_FILES, MARK):
            if (folder / file).exists():  # the first event makes the mark
                archive.write(folder / file, file)
        for digest, content in full_texts.items():
            archive.writestr(f"{FULL_TEXTS}/{digest}.pdf", content, zipfile.ZIP_STORED)
    return stream.getvalue()


class UnpackedProject(NamedTuple):
    """A project that a person sent, its records as they are stored, and its full texts."""

    project: Project
    records: bytes
    full_texts: tuple[bytes, ...]


def unpacked_project(content: bytes) -> UnpackedProject:
    """Return the project of an archive.

    Its files may be in one folder of the archive. Everything in it is checked.
    """
    check_unpacked(content)
    with tempfile.TemporaryDirectory() as folder:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                found = {
                    Path(entry.filename).name: entry
                    for entry in archive.infolist()
                    if not entry.is_dir()
                }
                if any(name not in found for name in _PROJECT_FILES):
                    raise DataError("this archive does not hold the project of a review")
                for name in found.keys() & {*_PROJECT_FILES, MARK}:
                    (Path(folder) / name).write_bytes(archive.read(found[name]))
            project = Project(folder)
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                full_texts = tuple(_full_texts(archive, project))
            return UnpackedProject(project, checked_records(project), full_texts)
        except TooLargeError:
            raise
        except DataError as error:
            raise _named(error) from error
        except _NOT_A_PROJECT as error:
            raise DataError(
                "this file is not the project of a review, or it is damaged"
            ) from error


def _full_texts(archive: zipfile.ZipFile, project: Project) -> Iterator[bytes]:
    """Read the files that are attached to records; refuse one that is not what its name says."""
    held = {file.digest for file in project.full_text_files.values()}
    for entry in archive.infolist():
        path = PurePosixPath(entry.filename)
        if path.parent.name == FULL_TEXTS and path.stem in held:
            content = archive.read(entry)
            if digest_of(content) != path.stem:
                raise DataError(f"{path.name} is damaged: its digest is not that of its name")
            check_pdf(content)
            yield content


def _named(error: DataError) -> DataError:
    """Name the file of the archive, not where it was unpacked."""
    file = None if error.file is None else Path(error.file).name
    return DataError(error.message, file=file, line=error.line)
