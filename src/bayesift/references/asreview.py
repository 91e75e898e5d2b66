"""Projects of ASReview: the records of the file in it, with the decisions of its database."""

from __future__ import annotations

import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from bayesift.errors import DataError
from bayesift.records import Note
from bayesift.references.lines import Entry, Input
from bayesift.references.reference import Decision, Reference
from bayesift.references.tables import TABLE
from bayesift.tables.loading import ZIPPED, Source

_DESCRIPTION = "project.json"
# Of version 3, of version 2 and of version 1.
_RESULTS = ("results.db", "reviews/*/results.db", "reviews/*/results.sql")
_STORES = ("results.db", "data_store.db")
_MAX_BYTES = 1 << 30  # of a member
_DAMAGE = (sqlite3.Error, zipfile.BadZipFile, ValueError, LookupError, OSError, RuntimeError)


class _Labelled(NamedTuple):
    """A label of ASReview, and what was noted with it."""

    label: int
    note: str


def is_asreview(source: Source) -> bool:
    """Whether a file is a project of ASReview."""
    if not source.head.startswith(ZIPPED) or source.stream is not None:
        return False
    try:
        with source.open() as stream, zipfile.ZipFile(stream) as archive:
            root = _root(archive)
            folders = (PurePosixPath(name).parent.name for name in archive.namelist())
            return root is not None and "data" in folders
    except (zipfile.BadZipFile, OSError):
        return False


def _root(archive: zipfile.ZipFile) -> str | None:
    """Find the folder of the archive that holds the project."""
    names = [name for name in archive.namelist() if name.endswith(_DESCRIPTION)]
    if not names:
        return None
    return min(names, key=len).removesuffix(_DESCRIPTION)


def read_asreview(
    source: Input, read: Callable[[Path], Sequence[Reference]]
) -> Iterator[Reference]:
    """Read the records of a project with its decisions; `read` reads the file of records in it."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            unpacked = Path(folder)
            data = _unpack(source.source, unpacked)
            references = list(read(data))
            labels, rows = _labels(unpacked, references)
            if rows is not None and len(rows) != len(references):
                references = rows
                source.notes.append(Note("records", "of ASReview", "its file has others"))
        except DataError as error:
            raise DataError(error.message, file=source.path) from error
        except _DAMAGE as error:
            message = f"is a project of ASReview that cannot be read ({error})"
            raise DataError(message, file=source.path) from error
    for place, reference in enumerate(references):
        labelled = labels.get(place)
        decided = replace(reference, file=str(source.path))
        if labelled is not None:
            verdict = Decision("included" if labelled.label else "excluded")
            notes = (*reference.notes, labelled.note) if labelled.note else reference.notes
            decided = replace(decided, decisions=(verdict,), notes=notes)
        yield decided


def _unpack(source: Source, folder: Path) -> Path:
    """Write the file of records and the databases to a folder; return the first."""
    with source.open() as stream, zipfile.ZipFile(stream) as archive:
        root = _root(archive) or ""
        described = json.loads(archive.read(f"{root}{_DESCRIPTION}"))
        listed = described.get("datasets") or [{}]
        wanted = described.get("dataset_path") or listed[0].get("name") or ""
        found = None
        for entry in archive.infolist():
            path = PurePosixPath(entry.filename.removeprefix(root))
            is_data = path.parent.name == "data" and len(path.parts) == 2
            is_database = any(path.match(pattern) for pattern in (*_RESULTS, *_STORES))
            if entry.is_dir() or not (is_data or is_database):
                continue
            if entry.file_size > _MAX_BYTES:
                raise DataError(
                    f"holds a file of {entry.file_size:,} bytes, which is too large"
                )
            target = folder / f"{len(list(folder.iterdir()))}-{path.name}"
            if is_database:
                target = folder / "-".join(path.parts)
            target.write_bytes(archive.read(entry))
            if is_data and (found is None or path.name == Path(wanted).name):
                found = target
    if found is None:
        raise DataError("is a project of ASReview without a file of records")
    return found


def _labels(
    folder: Path, references: Sequence[Reference]
) -> tuple[Mapping[int, _Labelled], list[Reference] | None]:
    """Read labels by place in the list of records, and the records of the database."""
    databases = [*folder.glob("*results.db"), *folder.glob("*results.sql")]
    if not databases:
        raise DataError(
            "is a project of ASReview 0, whose decisions cannot be read; open it in ASReview 1 or "
            "later and export it again"
        )
    labels = max((_read_labels(path) for path in databases), key=len)
    for name in _STORES:
        if (folder / name).exists() and (stored := _stored(folder / name)):
            places = {record: place for place, (record, _) in enumerate(stored)}
            rows = [reference for _, reference in stored]
            return {places[record]: labels[record] for record in labels}, rows
    numbers = [dict(reference.fields).get("record_id") for reference in references]
    if all(number is not None for number in numbers):
        by_number = {int(number): place for place, number in enumerate(map(str, numbers))}
        return {by_number[record]: labels[record] for record in labels}, None
    return labels, None


def _read_labels(path: Path) -> dict[int, _Labelled]:
    with closing(_connect(path)) as database:
        rows = [dict(row) for row in database.execute("SELECT * FROM results")]
    labels = {}
    for row in rows:
        if row["label"] in (0, 1):
            note = row.get("note") or row.get("notes") or ""
            labels[int(row["record_id"])] = _Labelled(row["label"], str(note))
    return labels


def _stored(path: Path) -> list[tuple[int, Reference]]:
    """Read the records of a database in the order of their file."""
    with closing(_connect(path)) as database:
        if not database.execute("PRAGMA table_info(record)").fetchall():
            return []
        rows = [dict(row) for row in database.execute("SELECT * FROM record")]
    rows.sort(key=lambda row: int(row["dataset_row"]))
    found = []
    for row in rows:
        shown = {name: row.get(name) for name in ("title", "abstract", "year", "doi", "url")}
        for name in ("authors", "keywords"):
            shown[name] = "; ".join(json.loads(row.get(name) or "[]"))
        fields = tuple((name, str(value)) for name, value in shown.items() if value)
        entry = Entry(int(row["dataset_row"]) + 1, fields)
        found.append((int(row["record_id"]), TABLE.reference(entry, path)))
    return found


def _connect(path: Path) -> sqlite3.Connection:
    """Open a database that is only read; functions and views in its schema are not trusted."""
    database = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    database.row_factory = sqlite3.Row
    database.execute("PRAGMA trusted_schema = OFF")
    return database
