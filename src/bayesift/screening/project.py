"""A review on disk: a folder with its records, its settings and the log of what people decided.

    project.json      settings and what was found in each file; written last, so that a folder without it is no project
    records.parquet   every reference as it was read, and the number of the record it belongs to
    decisions.jsonl   one event per line, in order; only ever appended to
    snapshot/         vectors of the records; may be deleted at any time

The log is the truth: all else that people did follows from it. An event is on disk before `append` returns. A last line
that was cut off by a crash was never acknowledged; it is removed when the project is opened for writing. One process
at a time may write.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import IO, Any, Literal, Self

import pyarrow as pa
import pyarrow.parquet as pq

from bayesift.datasets.references import Decision as GivenDecision
from bayesift.datasets.references import (
    Reference,
    ReferenceList,
    SourceFile,
    references_from_table,
    references_to_table,
)
from bayesift.errors import DataError
from bayesift.files import whole_file
from bayesift.screening.duplicates import Duplicates, find_duplicates, merge

EventType = Literal["decide", "undo", "note", "words", "split", "join"]
Verdict = Literal["included", "excluded", "maybe"]

KIND, VERSION = "bayesift-review", 1
_PROJECT, _RECORDS, _LOG, _LOCK = "project.json", "records.parquet", "decisions.jsonl", "lock"
_RECORD = "record"
_ROWS_AT_ONCE = 5_000


@dataclass(frozen=True)
class Event:
    """One line of the log.

    Parameters
    ----------
    type : "decide", "undo", "note", "words", "split" or "join"
    at : time in UTC, ISO 8601
    by : name of the reviewer
    record : number of the record as text; "" for words
    data : what else the type needs, such as the verdict of a decision
    """

    type: EventType
    at: str
    by: str
    record: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    def to_line(self, number: int) -> str:
        """The event as a line of JSON."""
        values = {"n": number, "type": self.type, "at": self.at, "by": self.by, "record": self.record, **self.data}
        return json.dumps(values, ensure_ascii=False) + "\n"

    @classmethod
    def from_line(cls, line: str, number: int) -> Event:
        """The event of a line; ValueError if it is none, or not the one that is expected."""
        values = json.loads(line)
        if not isinstance(values, dict) or values.pop("n", None) != number:
            raise ValueError(f"event {number} is expected")
        parts = {name: values.pop(name, "") for name in ("type", "at", "by", "record")}
        if parts["type"] not in ("decide", "undo", "note", "words", "split", "join"):
            raise ValueError(f"no event of type {parts['type']!r:.40}")
        return cls(**parts, data=values)


@dataclass(frozen=True)
class Record:
    """What is screened: one publication, with all references to it.

    Parameters
    ----------
    id : number within the project, as text
    reference : the parts of all sources together
    sources : the references as they were read
    """

    id: str
    reference: Reference
    sources: tuple[Reference, ...]


@dataclass(frozen=True)
class Judgement:
    """The decision of one reviewer on a record, as it holds now; rank, score and seconds are those of the moment."""

    verdict: Verdict
    at: str
    reasons: tuple[str, ...] = ()
    rank: int | None = None
    score: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class ProjectSettings:
    """What a review was begun with.

    Parameters
    ----------
    query : the search, or a description of what is wanted
    criteria : inclusion criteria, as text
    reasons : of exclusion, to choose from
    reviewers_per_record : 1, or 2 for double screening
    """

    query: str = ""
    criteria: str = ""
    reasons: tuple[str, ...] = ()
    reviewers_per_record: int = 1


class Project:
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
    >>> from bayesift.datasets.references import Reference, ReferenceList
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
        self.settings = ProjectSettings(**{**described["settings"], "reasons": tuple(described["settings"]["reasons"])})
        self.files = tuple(SourceFile(**file) for file in described["files"])
        self.n_problems = int(described["problems"])
        self._lock = _lock(self.folder / _LOCK) if writing else None
        self._log: IO[bytes] | None = None
        try:
            self.references, self._groups = _records or _read_records(self.folder / _RECORDS)
            self.events = list(_read_log(self.folder / _LOG, repair=writing))
            if writing:
                self._log = (self.folder / _LOG).open("ab", buffering=0)
        except BaseException:
            self.close()
            raise
        self.records: dict[str, Record] = {}
        self.decisions: dict[str, dict[str, Judgement]] = {}
        self.notes: dict[str, list[str]] = {}
        self.words: dict[str, float] = {}
        self._collect_records()
        for event in self.events:
            self._apply(event)

    @classmethod
    def create(
        cls,
        folder: str | Path,
        references: ReferenceList,
        *,
        settings: ProjectSettings | None = None,
        duplicates: Duplicates | None = None,
    ) -> Self:
        """Make the folder of a new review and open it for writing; duplicates are searched unless they are given."""
        folder = Path(folder)
        if (folder / _PROJECT).exists():
            raise DataError("there is a project already; open it, or choose another folder", file=folder)
        if (folder.exists() and not folder.is_dir()) or (folder.is_dir() and _is_foreign(folder)):
            raise DataError("is there already and is no project; choose another name", file=folder)
        if not len(references):
            raise DataError("there are no records to screen")
        found = find_duplicates(references.references) if duplicates is None else duplicates
        _make_folder(folder)
        groups = [0] * len(references)
        for number, members in enumerate(found.groups, 1):
            for place in members:
                groups[place] = number
        with whole_file(folder / _RECORDS) as stream:
            _write_records(references.references, groups, stream)
        with whole_file(folder / _LOG):
            pass
        description = {
            "kind": KIND,
            "version": VERSION,
            "created": _now(),
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
        """Add several events of one type, written together; each gives `by`, `record` and its data."""
        if self._log is None:
            raise DataError("this project is open for reading only", file=self.folder)
        added: list[Event] = []
        for given in events:
            by, record = str(given["by"]), str(given.get("record", ""))
            if record and record not in self.records:
                raise DataError(f"no record {record!r:.40} in this project")
            data = {name: v for name, v in given.items() if name not in ("by", "record") and v is not None}
            event = Event(type, _now(), by, record, data)
            self._check(event)
            added.append(event)
        lines = [event.to_line(number) for number, event in enumerate(added, len(self.events))]
        self._write("".join(lines).encode())
        for event in added:
            self.events.append(event)
            self._apply(event)
        return added

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
            raise DataError(f"cannot be written ({error.strerror or error})", file=self.folder / _LOG) from error

    def verdict(self, record: str) -> Verdict | None:
        """The verdict on a record: that of all reviewers, "maybe" where they disagree, None before any."""
        verdicts = {decision.verdict for decision in self.decisions.get(record, {}).values()}
        return verdicts.pop() if len(verdicts) == 1 else "maybe" if verdicts else None

    def last_decision(self, by: str) -> str | None:
        """The record that a reviewer decided on last, among the decisions that were not taken back."""
        held: list[str] = []
        for event in self.events:
            if event.by == by and event.type == "decide":
                held.append(event.record)
            elif event.by == by and event.type == "undo" and held:
                held.pop()
        return held[-1] if held else None

    @property
    def snapshot_folder(self) -> Path:
        """Where to keep what makes opening fast."""
        return self.folder / "snapshot"

    def _check(self, event: Event) -> None:
        if event.type == "decide" and event.data.get("verdict") not in ("included", "excluded", "maybe"):
            raise DataError(f"no verdict {event.data.get('verdict')!r:.40}")
        if event.type == "undo" and self.last_decision(event.by) != event.record:
            raise DataError("there is no decision to take back")
        if event.type == "join" and not all(
            str(other) in self.records and str(other) != event.record for other in event.data["records"]
        ):
            raise DataError("records can be joined with other records of this project only")
        if event.type == "split" and len(self.records[event.record].sources) < 2:
            raise DataError(f"record {event.record} has one source only")

    def _apply(self, event: Event) -> None:
        match event.type:
            case "decide":
                known = {each.name for each in fields(Judgement)} - {"at", "reasons"}
                values = {name: value for name, value in event.data.items() if name in known}
                decision = Judgement(at=event.at, reasons=tuple(event.data.get("reasons", ())), **values)
                self.decisions.setdefault(event.record, {})[event.by] = decision
            case "undo":
                self._take_back(event)
            case "note":
                self.notes.setdefault(event.record, []).append(str(event.data["text"]))
            case "words":
                self.words = dict(event.data["words"])
            case "split" | "join":
                self._regroup(event)

    def _take_back(self, event: Event) -> None:
        """Restore the decision before the last one, if the reviewer had decided on the record twice."""
        del self.decisions[event.record][event.by]
        held: list[Event] = []
        for earlier in self.events:
            if earlier is event:
                break
            if earlier.by == event.by and earlier.record == event.record:
                if earlier.type == "decide":
                    held.append(earlier)
                elif earlier.type == "undo":
                    held.pop()
        if len(held) > 1:
            self._apply(held[-2])
        if not self.decisions.get(event.record):
            self.decisions.pop(event.record, None)

    def _regroup(self, event: Event) -> None:
        record = int(event.record)
        if event.type == "join":
            others = [str(other) for other in event.data["records"]]
            self._groups = [record if str(group) in others else group for group in self._groups]
            for other in others:
                for by, decision in self.decisions.pop(other, {}).items():
                    self.decisions.setdefault(event.record, {}).setdefault(by, decision)
        else:
            members = [place for place, group in enumerate(self._groups) if group == record]
            for number, place in enumerate(members[1:], max(self._groups) + 1):
                self._groups[place] = number
        self._collect_records()

    def _collect_records(self) -> None:
        members: dict[int, list[Reference]] = {}
        for group, reference in zip(self._groups, self.references, strict=True):
            members.setdefault(group, []).append(reference)
        before = self.records
        self.records = {}
        for group, sources in members.items():
            old = before.get(str(group))
            kept = old is not None and len(old.sources) == len(sources)
            self.records[str(group)] = old if old and kept else Record(str(group), merge(sources), tuple(sources))


def is_project(folder: str | Path) -> bool:
    """Whether a folder holds a review."""
    return (Path(folder) / _PROJECT).is_file()


def with_decisions(record: Record, project: Project, annotations: Mapping[str, str]) -> Reference:
    """The record as a reference that carries its decisions, reasons and notes, to be written to a file."""
    held = project.decisions.get(record.id, {})
    given = tuple(GivenDecision(decision.verdict, by, decision.reasons) for by, decision in held.items())
    notes = tuple(project.notes.get(record.id, ()))
    added = tuple((name, value) for name, value in annotations.items() if value)
    if notes:
        added = (*added, ("note", " / ".join(notes)))
    kept = tuple(pair for pair in record.reference.annotations if pair[0] not in dict(added))
    return replace(record.reference, decisions=given, annotations=(*kept, *added))


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_foreign(folder: Path) -> bool:
    """Whether a folder holds files that are not what is left of a project whose making was interrupted."""
    return any(path.name not in (_RECORDS, _LOG, _LOCK) and not path.name.startswith(".") for path in folder.iterdir())


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
        raise DataError(f"version {described.get('version')!r:.20}; this bayesift reads version {VERSION}", file=path)
    return described


def _write_records(references: Sequence[Reference], groups: Sequence[int], stream: IO[bytes]) -> None:
    """Write a part of the records at a time, so that few are in memory twice."""
    writer: Any = None
    for first in range(0, len(references), _ROWS_AT_ONCE):
        part = slice(first, first + _ROWS_AT_ONCE)
        table = references_to_table(references[part]).append_column(_RECORD, pa.array(groups[part], pa.int32()))
        writer = writer or pq.ParquetWriter(stream, table.schema, compression="zstd")
        writer.write_table(table)
    writer.close()


def _read_records(path: Path) -> tuple[Sequence[Reference], list[int]]:
    try:
        table = pq.read_table(path)
        return references_from_table(table), table.column(_RECORD).to_pylist()
    except (OSError, KeyError, pa.ArrowException) as error:
        raise DataError(f"cannot be read ({error})", file=path) from error


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
        raise DataError("another program is screening this project; close it first", file=path.parent) from error
    return stream
