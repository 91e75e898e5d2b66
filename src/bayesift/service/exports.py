"""Files for people to take away and bring back: downloads, cells that a spreadsheet does not run, packed projects."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bayesift.errors import DataError
from bayesift.references import Reference, write_references
from bayesift.screening import Project, ReviewLog
from bayesift.screening.project import RECORDS
from bayesift.service.uploads import check_unpacked

MEDIA_TYPES = {
    "ris": "application/x-research-info-systems",
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "bib": "application/x-bibtex",
    "nbib": "text/plain; charset=utf-8",
    "xml": "application/xml",
    "jsonl": "application/x-ndjson",
}
BYTES: dict[str, Any] = {"type": "string", "format": "binary"}
FILE_BODY = {
    "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": BYTES}}}
}
# Spreadsheets skip white space and take full-width signs for plain ones.
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r]")
_HARMLESS = re.compile(r"[+-]?[\w.:/-]+\Z", re.ASCII)  # a number or a name, such as an id
_PROJECT_FILES = ("project.json", RECORDS, "decisions.jsonl")
_NO_PROJECT = (
    zipfile.BadZipFile,
    zlib.error,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    RuntimeError,
    OSError,
)


def guarded_cell(text: str) -> str:
    """A cell with an apostrophe in front if a spreadsheet would run it as a formula.

    Numbers and ids stay as they are.

    Examples
    --------
    >>> [guarded_cell(text) for text in ("=1+1", "-2", "- a list", "plain")]
    ["'=1+1", '-2', "'- a list", 'plain']
    """
    return f"'{text}" if _FORMULA.match(text) and not _HARMLESS.match(text) else text


def attached(name: str) -> dict[str, str]:
    """The headers of a download."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


def file_answer(media_type: str) -> dict[int | str, dict[str, Any]]:
    """How OpenAPI describes a download."""
    return {200: {"content": {media_type: {"schema": BYTES}}, "description": "The file."}}


def audit_csv(log: ReviewLog) -> str:
    """Everything that people did to a review, in order."""
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow(["number", "at", "by", "what", "record", "details"])
    for number, event in enumerate(log.events, 1):
        details = json.dumps(dict(event.data), ensure_ascii=False) if event.type != "prior" else ""
        writer.writerow(
            [
                number,
                event.at,
                guarded_cell(event.by),
                event.type,
                event.record,
                guarded_cell(details),
            ]
        )
    return lines.getvalue()


def records_file(references: Sequence[Reference], kind: str) -> bytes:
    """Records as a file of a kind; no cell of a CSV file is run by a spreadsheet."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"records.{kind}"
        write_references(references, path)
        content = path.read_bytes()
    if kind != "csv":
        return content
    target = io.StringIO()
    rows = csv.reader(io.StringIO(content.decode()))
    csv.writer(target, lineterminator="\n").writerows(
        [guarded_cell(cell) for cell in row] for row in rows
    )
    return target.getvalue().encode()


def packed_project(place: Path) -> bytes:
    """The project in a folder as an archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in _PROJECT_FILES:
            archive.write(place / file, file)
    return stream.getvalue()


def unpacked_project(content: bytes) -> tuple[Project, bytes]:
    """The project of an archive, and its records as they are stored.

    Its files may be in one folder of the archive.
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
                    raise DataError("this archive holds no project of a review")
                for name in _PROJECT_FILES:
                    (Path(folder) / name).write_bytes(archive.read(found[name]))
            return Project(folder), (Path(folder) / RECORDS).read_bytes()
        except DataError as error:
            raise DataError(error.message) from error
        except _NO_PROJECT as error:
            raise DataError("this file is no project of a review, or it is damaged") from error
