"""A review on disk: a folder with its records, its settings and the log of decisions.

    project.json      settings, facts about each file, digests; written last, so that a folder
                      without it is not a project
    records.parquet   every reference as it was read, and the number of the record it belongs to
    decisions.jsonl   one event per line, in order: a journal, which is only appended to
    decisions.mark    the number of events and the digest of the last one
    full-texts/       PDF files that are attached to records, named by their digests
    snapshot/         vectors of the records; may be deleted at any time
    service/          a service of this review alone (`bayesift screen --serve`), which writes to
                      the log too

The log is the truth: everything else that people did follows from it. An event is on disk before
`append` returns. Folders of version 1, which have no digests, are read as they are and upgraded
by the first write.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from bayesift.errors import DataError
from bayesift.files import whole_file
from bayesift.journal import Journal, digest_of
from bayesift.references import (
    Reference,
    ReferenceList,
    SourceFile,
    references_from_table,
    references_to_table,
)
from bayesift.screening.duplicates import Duplicates, find_duplicates
from bayesift.screening.full_texts import FULL_TEXTS, FullTextFiles, safe_name
from bayesift.screening.review_log import (
    Event,
    EventType,
    ProjectSettings,
    ReviewLog,
    is_storable,
    now,
)

KIND = "bayesift-review"
VERSION = 2
RECORDS = "records.parquet"
_PROJECT = "project.json"
_LOG = "decisions.jsonl"
MARK = "decisions.mark"
_PARTS = (RECORDS, _LOG, MARK, "lock")  # version 1 had a file "lock"
_FACTS = {"id": str, "created": str, "settings": dict, "files": list, "problems": int}
_FILE_FACTS = {"file": str, "format": str, "encoding": str, "records": int, "refused": int}
_RECORD_COLUMN = "record"
_ROWS_PER_WRITE = 5_000


class Project(ReviewLog):
    """A review on disk; `create` makes one, `open` goes on with it.

    Parameters
    ----------
    folder : of the project
    writing : whether events may be appended; one process at a time

    Attributes
    ----------
    records : what is screened, in the order of the files
    events : the log
    decisions : by record and reviewer, those that hold now
    full_texts : the files that are attached to records

    Examples
    --------
    >>> import tempfile
    >>> from bayesift.references import Reference, ReferenceList
    >>> folder = Path(tempfile.mkdtemp()) / "review"
    >>> records = ReferenceList((Reference(title="Corn"), Reference(title="Gold")))
    >>> with Project.create(folder, records) as project:
    ...     _ = project.append("decide", by="ann", record="2", verdict="included")
    >>> with Project(folder) as project:
    ...     project.decisions["2"]["ann"].verdict
    'included'
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        writing: bool = False,
        _records: tuple[Sequence[Reference], list[int]] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.full_texts = FullTextFiles(self.folder / FULL_TEXTS)
        self._description = _read_description(self.folder)
        self.id: str = self._description["id"]
        self.n_problems: int = self._description["problems"]
        settings, self.files = _settings_and_files(self.folder, self._description)
        self._writing = writing
        self._journal = Journal(self.folder / _LOG, writing=writing, mark=self.folder / MARK)
        try:
            if self._journal.is_old and self._description["version"] == VERSION:
                raise DataError(
                    "is damaged: it has no digests", file=self.folder / _LOG, line=1
                )
            references, groups = _records or self._read_records()
            super().__init__(references, groups, settings)
            self._read_events()
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(
        cls,
        folder: str | Path,
        references: ReferenceList,
        *,
        settings: ProjectSettings | None = None,
        duplicates: Duplicates | None = None,
        id: str | None = None,  # noqa: A002
    ) -> Self:
        """Make the folder of a new review and open it for writing.

        Duplicates are searched for unless they are given.
        """
        folder = Path(folder)
        if (folder / _PROJECT).exists():
            raise DataError(
                "already holds a project; open it, or choose another folder", file=folder
            )
        if (folder.exists() and not folder.is_dir()) or (
            folder.is_dir() and _is_foreign(folder)
        ):
            raise DataError("exists, but it is not a project; choose another name", file=folder)
        if not len(references):
            raise DataError("there are no records to screen")
        found = find_duplicates(references.references) if duplicates is None else duplicates
        _make_folder(folder)
        groups = group_numbers(found, len(references))
        with whole_file(folder / RECORDS) as stream:
            write_records(references.references, groups, stream)
        with whole_file(folder / _LOG):
            pass
        (folder / MARK).unlink(missing_ok=True)  # of a project whose making was interrupted
        description = {
            "kind": KIND,
            "version": VERSION,
            "id": id or new_id(),
            "created": now(),
            "settings": asdict(settings or ProjectSettings()),
            "files": [asdict(file) for file in references.files],
            "problems": len(references.problems),
            "records": digest_of((folder / RECORDS).read_bytes()),
        }
        _write_description(folder, description)
        return cls(folder, writing=True, _records=(references.references, groups))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the log, so that another program may write to it."""
        self._journal.close()

    @property
    def note(self) -> str:
        """What was repaired when the log was opened; empty if nothing was."""
        return self._journal.note

    def append(self, type: EventType, *, by: str, record: str = "", **data: Any) -> Event:  # noqa: A002
        """Add an event, which is on disk when this returns."""
        (event,) = self.append_all(type, [{"by": by, "record": record, **data}])
        return event

    def append_all(self, type: EventType, events: Iterable[Mapping[str, Any]]) -> list[Event]:  # noqa: A002
        """Add several events of one type, each with `by`, `record` and its data."""
        added = self.prepare(type, events)
        self.extend(added)
        return added

    def attach(
        self, record: str, name: str, content: bytes, *, by: str, replaces: str = ""
    ) -> Event:
        """Attach the PDF of a full text to a record; it replaces the file with a digest."""
        return self.append(
            "attach",
            by=by,
            record=record,
            name=safe_name(name),
            digest=self.full_texts.add(content),
            bytes=len(content),
            replaces=replaces or None,
        )

    def extend(self, events: Sequence[Event]) -> None:
        """Add events that were prepared, by this log or by another one of the same review."""
        if not self._writing:
            raise DataError("this project is open for reading only", file=self.folder)
        lines = []
        for number, event in enumerate(events, self._journal.end.n_entries):
            lines.append(event.to_line(number).encode())
        if self._description["version"] < VERSION:
            self._upgrade()
        self._journal.append(lines)
        self.accept(events)

    def take_back(self, events: Sequence[Event]) -> None:
        """Remove what the last `extend` added from the disk; these were the events before it."""
        self._journal.take_back()
        self.replace_events(events)

    def _upgrade(self) -> None:
        """Add the digests that version 1 did not have."""
        self._journal.upgrade()
        self._description["records"] = digest_of((self.folder / RECORDS).read_bytes())
        self._description["version"] = VERSION
        _write_description(self.folder, self._description)

    def _read_records(self) -> tuple[Sequence[Reference], list[int]]:
        path = self.folder / RECORDS
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DataError(f"cannot be read ({error.strerror or error})", file=path) from error
        if self._description["version"] == VERSION and digest_of(
            content
        ) != self._description.get("records"):
            raise DataError(f"is damaged: its digest is not that of {_PROJECT}", file=path)
        return read_records(pa.BufferReader(content), path)

    def _read_events(self) -> None:
        """Let the events of the log take effect, each checked as when it was made."""
        for number, (line, content) in enumerate(self._journal.entries()):
            try:
                event = Event.from_line(content.decode(), number)
                self.check(event)
            except (ValueError, RecursionError) as error:
                raise DataError(
                    f"is damaged ({error})", file=self.folder / _LOG, line=line
                ) from error
            self.accept([event])

    @property
    def snapshot_folder(self) -> Path:
        """The folder for vectors, which make opening faster."""
        return self.folder / "snapshot"


def group_numbers(duplicates: Duplicates, n: int) -> list[int]:
    """Give each of n references the number of its record, from 1."""
    groups = [0] * n
    for number, members in enumerate(duplicates.groups, 1):
        for index in members:
            groups[index] = number
    return groups


def new_id() -> str:
    """Draw a random name for a review."""
    return secrets.token_hex(8)


def is_project(folder: str | Path) -> bool:
    """Whether a folder holds a review."""
    return (Path(folder) / _PROJECT).is_file()


def _is_foreign(folder: Path) -> bool:
    """Whether a folder holds files that an interrupted `Project.create` does not leave."""
    for path in folder.iterdir():
        if path.name not in _PARTS and not path.name.startswith("."):
            return True
    return False


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"cannot be written ({error.strerror or error})", file=folder
        ) from error


def _write_description(folder: Path, description: Mapping[str, Any]) -> None:
    """Write project.json with the digest of its other values."""
    values = {**description, "digest": _description_digest(description)}
    with whole_file(folder / _PROJECT, "w") as stream:
        json.dump(values, stream, ensure_ascii=False, indent=2)


def _description_digest(description: Mapping[str, Any]) -> str:
    described = {name: value for name, value in description.items() if name != "digest"}
    return digest_of(json.dumps(described, sort_keys=True).encode())


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / _PROJECT
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"is not a project of a review (no {_PROJECT})", file=folder) from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"cannot be read ({error})", file=path) from error
    if not isinstance(described, dict) or described.get("kind") != KIND:
        raise DataError("is not a project of a review", file=path)
    if described.get("version") not in (1, VERSION):
        raise DataError(
            f"version {described.get('version')!r:.20}; this bayesift reads version {VERSION}",
            file=path,
        )
    expected = None if described["version"] == 1 else _description_digest(described)
    if described.pop("digest", None) != expected:
        raise DataError("is damaged: its digest is not that of its content", file=path)
    if not is_storable(described):
        raise DataError("is damaged: it holds what is no text or number", file=path)
    described.setdefault("id", digest_of(str(described.get("created")).encode())[:16])
    _check_kinds(described, _FACTS, path)
    for file in described["files"]:
        _check_kinds(file, _FILE_FACTS, path)
    return described


def _check_kinds(values: Any, kinds: Mapping[str, type], path: Path) -> None:
    for name, kind in kinds.items():
        if not isinstance(values, dict) or not isinstance(values.get(name), kind):
            raise DataError(f"is damaged: {name!r} is missing or wrong", file=path)


def _settings_and_files(
    folder: Path, description: Mapping[str, Any]
) -> tuple[ProjectSettings, tuple[SourceFile, ...]]:
    try:
        settings = ProjectSettings.from_values(description["settings"])
        files = []
        for file in description["files"]:
            files.append(SourceFile(**file))
    except (DataError, TypeError) as error:
        raise DataError(f"is damaged ({error})", file=folder / _PROJECT) from error
    return settings, tuple(files)


def write_records(
    references: Sequence[Reference], groups: Sequence[int], stream: IO[bytes]
) -> None:
    """Write references and the numbers of their records as Parquet, a part at a time."""
    writer: Any = None
    for first in range(0, len(references), _ROWS_PER_WRITE):
        part = slice(first, first + _ROWS_PER_WRITE)
        table = references_to_table(references[part]).append_column(
            _RECORD_COLUMN, pa.array(groups[part], pa.int32())
        )
        writer = writer or pq.ParquetWriter(stream, table.schema, compression="zstd")
        writer.write_table(table)
    writer.close()


def write_renumbered(
    sources: Sequence[IO[bytes]], groups: Sequence[int], stream: IO[bytes]
) -> None:
    """Write what `write_records` wrote to several files as one, with other numbers of records.

    No reference is made of it, so that this takes little memory.
    """
    writer: Any = None
    first = 0
    for source in sources:
        for part in _parts_of(source):
            column = part.schema.get_field_index(_RECORD_COLUMN)
            numbers = pa.array(groups[first : first + len(part)], pa.int32())
            table = part.set_column(column, _RECORD_COLUMN, numbers)
            writer = writer or pq.ParquetWriter(stream, table.schema, compression="zstd")
            writer.write_table(table)
            first += len(part)
    writer.close()


def _parts_of(source: IO[bytes]) -> Iterator[pa.Table]:
    """Yield the rows of a Parquet file, some at a time."""
    for batch in pq.ParquetFile(source).iter_batches(_ROWS_PER_WRITE):
        yield pa.Table.from_batches([batch])


def read_records(
    source: IO[bytes], path: Path | None = None
) -> tuple[Sequence[Reference], list[int]]:
    """Read what `write_records` wrote: references, and the numbers of their records."""
    references: list[Reference] = []
    groups: list[int] = []
    try:
        for part in _parts_of(source):
            groups += part.column(_RECORD_COLUMN).to_pylist()
            references += references_from_table(part)
    except (OSError, KeyError, ValueError, TypeError, pa.ArrowException) as error:
        raise DataError(f"cannot be read ({error})", file=path) from error
    if not all(isinstance(group, int) and group > 0 for group in groups):
        raise DataError("is damaged: a record has no number", file=path)
    return references, groups
