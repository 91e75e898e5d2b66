"""A review on disk: a folder with its records, its settings and the log of what people decided.

    project.json      settings and what was found in each file; written last, so that a folder
    without it is no project records.parquet   every reference as it was read, and the number of the
    record it belongs to decisions.jsonl   one event per line, in order; only ever appended to
    snapshot/         vectors of the records; may be deleted at any time
    service/          a service of this review alone (`bayesift screen --serve`), which writes to
    the log too

The log is the truth: all else that people did follows from it. An event is on disk before `append`
returns. A last line that was cut off by a crash was never acknowledged; it is removed when the
project is opened for writing. One process at a time may write.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from bayesift.errors import DataError
from bayesift.files import whole_file
from bayesift.references import (
    Reference,
    ReferenceList,
    SourceFile,
    references_from_table,
    references_to_table,
)
from bayesift.screening.duplicates import Duplicates, find_duplicates
from bayesift.screening.review_log import Event, EventType, ProjectSettings, ReviewLog, now

KIND, VERSION = "bayesift-review", 1
RECORDS = "records.parquet"
_PROJECT, _LOG, _LOCK = "project.json", "decisions.jsonl", "lock"
_RECORD = "record"
_ROWS_AT_ONCE = 5_000


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

    Examples
    --------
    >>> import tempfile
    >>> from bayesift.references import Reference, ReferenceList
    >>> folder = Path(tempfile.mkdtemp()) / "review"
    >>> with Project.create(folder, ReferenceList((Reference(title="Corn"), Reference(title="Gold")))) as project:
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
        described = _read_description(self.folder)
        self.id = str(described["id"])
        self.files = tuple(SourceFile(**file) for file in described["files"])
        self.n_problems = int(described["problems"])
        self._lock = _lock(self.folder / _LOCK) if writing else None
        self._log: IO[bytes] | None = None
        try:
            references, groups = _records or read_records(self.folder / RECORDS)
            settings = ProjectSettings.from_values(described["settings"])
            try:
                super().__init__(
                    references, groups, settings, _read_log(self.folder / _LOG, repair=writing)
                )
            except (KeyError, IndexError, TypeError) as error:
                raise DataError(f"is damaged ({error!r})", file=self.folder / _LOG) from error
            if writing:
                self._log = (self.folder / _LOG).open("ab", buffering=0)
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

        Duplicates are searched unless they are given.
        """
        folder = Path(folder)
        if (folder / _PROJECT).exists():
            raise DataError(
                "there is a project already; open it, or choose another folder", file=folder
            )
        if (folder.exists() and not folder.is_dir()) or (folder.is_dir() and _is_foreign(folder)):
            raise DataError("is there already and is no project; choose another name", file=folder)
        if not len(references):
            raise DataError("there are no records to screen")
        found = find_duplicates(references.references) if duplicates is None else duplicates
        _make_folder(folder)
        groups = group_numbers(found, len(references))
        with whole_file(folder / RECORDS) as stream:
            write_records(references.references, groups, stream)
        with whole_file(folder / _LOG):
            pass
        description = {
            "kind": KIND,
            "version": VERSION,
            "id": id or new_id(),
            "created": now(),
            "settings": asdict(settings or ProjectSettings()),
            "files": [asdict(file) for file in references.files],
            "problems": len(references.problems),
        }
        with whole_file(folder / _PROJECT, "w") as stream:
            json.dump(description, stream, ensure_ascii=False, indent=2)
        return cls(folder, writing=True, _records=(references.references, groups))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let others write."""
        for stream in (getattr(self, "_log", None), getattr(self, "_lock", None)):
            if stream is not None:
                stream.close()
        self._log = self._lock = None

    def append(self, type: EventType, *, by: str, record: str = "", **data: Any) -> Event:  # noqa: A002
        """Add an event; when this returns, it is on disk."""
        (event,) = self.append_all(type, [{"by": by, "record": record, **data}])
        return event

    def append_all(self, type: EventType, events: Iterable[Mapping[str, Any]]) -> list[Event]:  # noqa: A002
        """Add several events of one type, written together.

        Each gives `by`, `record` and its data.
        """
        if self._log is None:
            raise DataError("this project is open for reading only", file=self.folder)
        added = self.prepare(type, events)
        self.extend(added)
        return added

    def extend(self, events: Sequence[Event]) -> None:
        """Add events that were prepared, by this log or by another one of the same review."""
        if self._log is None:
            raise DataError("this project is open for reading only", file=self.folder)
        lines = [event.to_line(number) for number, event in enumerate(events, len(self.events))]
        self._write("".join(lines).encode())
        self.accept(events)

    def _write(self, data: bytes) -> None:
        assert self._log is not None
        end = self._log.tell()
        try:
            self._log.write(data)
            self._log.flush()
            os.fsync(self._log.fileno())
        except OSError as error:
            with suppress(OSError):  # what was written in part was not acknowledged
                os.truncate(self._log.fileno(), end)
            raise DataError(
                f"cannot be written ({error.strerror or error})", file=self.folder / _LOG
            ) from error

    @property
    def snapshot_folder(self) -> Path:
        """Where to keep what makes opening fast."""
        return self.folder / "snapshot"


def group_numbers(duplicates: Duplicates, n: int) -> list[int]:
    """The number of the record that each of n references belongs to, from 1."""
    groups = [0] * n
    for number, members in enumerate(duplicates.groups, 1):
        for place in members:
            groups[place] = number
    return groups


def new_id() -> str:
    """A name for a review that no other has."""
    return secrets.token_hex(8)


def is_project(folder: str | Path) -> bool:
    """Whether a folder holds a review."""
    return (Path(folder) / _PROJECT).is_file()


def _is_foreign(folder: Path) -> bool:
    """Whether a folder holds files that are not what is left of a project whose making was interrupted."""
    return any(
        path.name not in (RECORDS, _LOG, _LOCK) and not path.name.startswith(".")
        for path in folder.iterdir()
    )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", file=folder) from error


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / _PROJECT
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"is no project of a review (no {_PROJECT})", file=folder) from None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read ({error})", file=path) from error
    if not isinstance(described, dict) or described.get("kind") != KIND:
        raise DataError("is no project of a review", file=path)
    if described.get("version") != VERSION:
        raise DataError(
            f"version {described.get('version')!r:.20}; this bayesift reads version {VERSION}",
            file=path,
        )
    described.setdefault("id", hashlib.sha256(described["created"].encode()).hexdigest()[:16])
    return described


def write_records(
    references: Sequence[Reference], groups: Sequence[int], stream: IO[bytes]
) -> None:
    """Write a part of the records at a time, so that few are in memory twice."""
    writer: Any = None
    for first in range(0, len(references), _ROWS_AT_ONCE):
        part = slice(first, first + _ROWS_AT_ONCE)
        table = references_to_table(references[part]).append_column(
            _RECORD, pa.array(groups[part], pa.int32())
        )
        writer = writer or pq.ParquetWriter(stream, table.schema, compression="zstd")
        writer.write_table(table)
    writer.close()


def read_records(path: Path | IO[bytes]) -> tuple[Sequence[Reference], list[int]]:
    """The references that `write_records` wrote, and the numbers of their records."""
    try:
        table = pq.read_table(path)
        return references_from_table(table), table.column(_RECORD).to_pylist()
    except (OSError, KeyError, pa.ArrowException) as error:
        raise DataError(
            f"cannot be read ({error})", file=path if isinstance(path, Path) else None
        ) from error


def _read_log(path: Path, *, repair: bool) -> Iterator[Event]:
    """The events; a last line without its end was never acknowledged and is cut off."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", file=path) from error
    whole = content[: content.rfind(b"\n") + 1]
    if repair and len(whole) < len(content):
        os.truncate(path, len(whole))
    for number, line in enumerate(whole.splitlines()):
        try:
            yield Event.from_line(line.decode(), number)
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(f"is damaged ({error})", file=path, line=number + 1) from error


def _lock(path: Path) -> IO[bytes]:
    """Hold a lock that ends with the process."""
    stream = path.open("wb")
    try:
        try:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # Windows
            import msvcrt

            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
    except OSError as error:
        stream.close()
        raise DataError(
            "another program is screening this project; close it first", file=path.parent
        ) from error
    return stream
