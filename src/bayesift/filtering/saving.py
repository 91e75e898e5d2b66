"""A filter in a folder: the start of its profiles, a checkpoint, and the log of events.

    FOLDER/start             profiles as they were added, and the words known then; written once
    FOLDER/checkpoint.zip    profiles and words after a number of events; one file, so that it is
                             replaced atomically
    FOLDER/events.jsonl      all events, a journal

Start and events determine the filter; the checkpoint only saves time. `open_filter` reads the
checkpoint and applies the events after it or, when the same input will be read again, removes them.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from bayesift.errors import DataError
from bayesift.filtering.engine import Filter, FilterEngine, Replay
from bayesift.filtering.events import (
    Event,
    EventLog,
    ProfileState,
    event_record,
    recorded_event,
)
from bayesift.filtering.vectors import VectorSpace
from bayesift.journal import Journal, JournalEnd
from bayesift.model_file import ModelContent, load_model, save_model
from bayesift.state import decode_fitted, encode, storable

START = "start"
CHECKPOINT = "checkpoint.zip"
EVENTS = "events.jsonl"
KIND = "filter"


@storable("output-mark")
@dataclass(frozen=True, slots=True)
class OutputMark:
    """The end of a file of output at some moment, so that what is written later can be removed."""

    device: int
    inode: int
    size: int

    @classmethod
    def of(cls, stream: IO[str]) -> Self | None:
        """Return the mark of a stream; None if it is not a regular file."""
        stream.flush()
        found = _file_behind(stream)
        if found is None:
            return None
        return cls(found.st_dev, found.st_ino, found.st_size)

    def cut(self, stream: IO[str]) -> bool:
        """Remove what was written after the mark.

        False if this is another file, a shorter one, or not appended to.
        """
        found = _file_behind(stream)
        if (
            found is None
            or (found.st_dev, found.st_ino) != (self.device, self.inode)
            or found.st_size < self.size
        ):
            return False
        if not fcntl.fcntl(stream.fileno(), fcntl.F_GETFL) & os.O_APPEND:
            return False
        os.ftruncate(stream.fileno(), self.size)
        return True

    def _post_load(self) -> None:
        if min(self.device, self.inode, self.size) < 0:
            raise DataError("output is not a file and its length")


def _file_behind(stream: IO[str]) -> os.stat_result | None:
    """Return the status of the regular file behind a stream, if there is one."""
    try:
        found = os.fstat(stream.fileno())
    except OSError:  # a stream in memory has no number
        return None
    if stat.S_ISREG(found.st_mode):
        return found
    return None


class FileLog(EventLog):
    """Events in a journal; nothing is held in memory.

    Vectors are written as words and weights, so that the file does not depend on columns. All
    events after the first `keep` are removed. `position` is the number of input lines read, written
    with every event.
    """

    def __init__(
        self,
        path: str | Path,
        space: VectorSpace,
        *,
        expected: JournalEnd | None = None,
        keep: int | None = None,
    ) -> None:
        self.path = Path(path)
        self._space = space
        self.position = 0
        # Events wait for the disk at checkpoints only: input that was lost can be read again.
        self._journal = Journal(
            self.path, writing=True, durable=False, keep=keep, expected=expected
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._journal.end.n_entries

    @property
    def end(self) -> JournalEnd:
        """The number of events and the digest of the last one."""
        return self._journal.end

    @property
    def note(self) -> str:
        """What was repaired when the log was opened; empty if nothing was."""
        return self._journal.note

    def extend(self, events: Iterable[Event]) -> None:
        """Append events, each with the number of input lines read (`position`)."""
        contents = []
        for event in events:
            record = {**event_record(event, self._space), "position": self.position}
            contents.append(json.dumps(record, ensure_ascii=False, allow_nan=False).encode())
        self._journal.append(contents)

    def of_profile(self, profile: str) -> Iterator[Event]:
        """Read the events of one profile, in order."""
        # Lines of other profiles are not parsed; another program may have escaped the name.
        name = json.dumps(profile, ensure_ascii=False).encode()
        for line, content in self._journal.entries():
            if name in content or b"\\u" in content:
                event, _ = _read_event(content, self._space, self.path, line)
                if event.profile == profile:
                    yield event

    def events(self, start: int = 0) -> Iterator[tuple[Event, int]]:
        """Read events after the first `start`, each with the number of input lines read by then."""
        for line, content in islice(self._journal.entries(), start, None):
            yield _read_event(content, self._space, self.path, line)

    def sync(self) -> None:
        """Wait until all events are on the disk."""
        self._journal.sync()

    def close(self) -> None:
        """Close the file."""
        self._journal.close()


def _read_event(content: bytes, space: VectorSpace, path: Path, line: int) -> tuple[Event, int]:
    try:
        record = json.loads(content)
        return recorded_event(record, space), int(record["position"])
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise DataError(f"not an event of a filter ({error})", file=path, line=line) from error


@dataclass
class OpenFilter(Filter):
    """A filter in a folder.

    `position` is the number of input lines it has read, `output` the end of what it wrote.
    """

    log: FileLog
    position: int = 0
    output: OutputMark | None = None


def create_filter(folder: str | Path, engine: FilterEngine) -> OpenFilter:
    """Create the folder of a filter: its profiles are written, its events go to the log there."""
    path = Path(folder)
    if (path / START).exists():
        raise DataError("there is already a filter in this folder", file=path)
    save_model(filter_content(engine.space, list(engine.starts.values()), 0, 0), path / START)
    return OpenFilter(engine, FileLog(path / EVENTS, engine.space))


def save_checkpoint(
    folder: str | Path, engine: FilterEngine, log: FileLog, output: OutputMark | None = None
) -> None:
    """Write the state after all events so far, and the position in the output."""
    # A checkpoint must never know of events that a power failure can still take from the log.
    log.sync()
    states = [ProfileState.of(profile) for profile in engine.profiles.values()]
    content = filter_content(engine.space, states, len(log), log.position, output)
    content.header["log_digest"] = log.end.digest
    save_model(content, Path(folder) / CHECKPOINT, compressed=False)


def open_filter(folder: str | Path, *, roll_back: bool = False) -> OpenFilter:
    """Open the filter of a folder from its checkpoint, if there is one, and the events after it.

    `roll_back` removes the events after the checkpoint, because the input after it will be read
    again.
    """
    path = Path(folder)
    for unfinished in path.glob(f".{CHECKPOINT}.*"):
        unfinished.unlink()
    start = read_content(path / START)
    latest = read_content(path / CHECKPOINT) if (path / CHECKPOINT).exists() else start
    engine = FilterEngine(space=latest.space)
    for state in start.states:
        engine.starts[state.name] = state
    for state in latest.states:
        profile = state.profile()
        if profile.name not in engine.starts:
            raise DataError(
                f"the checkpoint has a profile {profile.name!r} that never started", file=path
            )
        engine.profiles[profile.name] = profile
    expected = JournalEnd(latest.n_events, latest.log_digest)
    keep = latest.n_events if roll_back else None
    log = FileLog(path / EVENTS, engine.space, expected=expected, keep=keep)
    try:
        log.position = _catch_up(engine, log, latest)
    except BaseException:
        log.close()
        raise
    return OpenFilter(engine, log, log.position, latest.output)


class FilterContent(NamedTuple):
    """Profiles and words after so many events and input lines, the ends of output and log."""

    space: VectorSpace
    states: list[ProfileState]
    n_events: int
    position: int
    output: OutputMark | None
    log_digest: str


def _catch_up(engine: FilterEngine, log: FileLog, latest: FilterContent) -> int:
    """Apply the events after the checkpoint; returns the number of input lines read."""
    position = latest.position
    replay = Replay(engine)
    for event, read in log.events(latest.n_events):
        position = max(position, read)
        if event.profile not in engine.profiles:
            raise DataError(
                f"the log has a profile {event.profile!r} that never started", file=log.path
            )
        replay.apply(event)
    replay.finish(log.of_profile)
    return position


def filter_content(
    space: VectorSpace,
    states: list[ProfileState],
    n_events: int = 0,
    position: int = 0,
    output: OutputMark | None = None,
) -> ModelContent:
    """Lay out profiles and the words of their space as a model file holds them."""
    parameters, arrays, words = space.get_state()
    header: dict[str, Any] = {
        "kind": KIND,
        "space": parameters,
        "n_events": n_events,
        "position": position,
        "output": encode(output),
        "profiles": [state.header for state in states],
    }
    numbers = {f"space.{name}": array for name, array in arrays.items()}
    for number, state in enumerate(states):
        numbers |= {f"{number}.{name}": array for name, array in state.arrays.items()}
    return ModelContent(header, numbers, {"words": words})


def read_content(path: Path) -> FilterContent:
    """Read what `filter_content` laid out; raises `DataError` for an invalid file."""
    content = load_model(path)
    header = content.header
    try:
        if header["kind"] != KIND:
            raise DataError(f"not a filter but a {header['kind']!r:.40}", file=path)
        space_arrays = {"frequencies": content.arrays["space.frequencies"]}
        space = VectorSpace.from_state(header["space"], space_arrays, content.lists["words"])
        profiles = enumerate(header["profiles"])
        states = [
            ProfileState(profile, _part(content.arrays, number)) for number, profile in profiles
        ]
        names = [state.name for state in states]
        if len(set(names)) != len(names):
            raise DataError("two profiles have one name", file=path)
        if header.get("output") is None:
            output = None
        else:
            output = decode_fitted(header["output"], {}, OutputMark)
        return FilterContent(
            space,
            states,
            int(header["n_events"]),
            int(header["position"]),
            output,
            str(header.get("log_digest", "")),
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"not a filter ({error})", file=path) from error


def _part(arrays: dict[str, Any], number: int) -> dict[str, Any]:
    prefix = f"{number}."
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
