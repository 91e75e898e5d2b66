"""The log of a filter as a file: JSON lines, append-only, read again only when they are needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Self

from bayesift.errors import DataError
from bayesift.filtering.events import Event, document_in, event_record, recorded_event
from bayesift.filtering.vectors import DocumentVector, VectorSpace


class FileLog:
    """Events in a file of JSON lines, read again only when they are needed; nothing is held in memory.

    Vectors are written as words and weights, so that the file stands on its own. A last line that was not written
    whole (the machine stopped) is cut off when the file is opened.

    Parameters
    ----------
    path : the file; made if it is not there
    space : gives words their columns
    keep : events after the first so many are cut off

    Examples
    --------
    >>> import tempfile
    >>> from bayesift.filtering import Judged
    >>> with tempfile.TemporaryDirectory() as folder, FileLog(Path(folder) / "events.jsonl", VectorSpace()) as log:
    ...     log.append(Judged("grain", "7", True))
    ...     list(log.of_profile("grain"))
    [Judged(profile='grain', id='7', relevant=True, document=None)]
    """

    def __init__(self, path: str | Path, space: VectorSpace, *, keep: int | None = None) -> None:
        self.path = Path(path)
        self._space = space
        self.position = 0
        self._length = _repair(self.path, keep)
        self._stream: IO[str] = self.path.open("a", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._length

    def append(self, event: Event) -> None:
        """Add an event at the end; `position` (lines of input read) goes with it."""
        record = {**event_record(event, self._space), "position": self.position}
        self._stream.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
        self._stream.flush()
        self._length += 1

    def of_profile(self, profile: str) -> Iterator[Event]:
        """The events of one profile, in order."""
        # Lines of other profiles are not parsed; a name may be written with escapes by another hand than ours.
        name = json.dumps(profile, ensure_ascii=False)
        lines = (line for line in self._lines() if name in line[1] or "\\u" in line[1])
        found = (_read_event(text, self._space, self.path, number)[0] for number, text in lines)
        return (event for event in found if event.profile == profile)

    def find(self, profile: str, document: str) -> DocumentVector | None:
        """The document by its id, if it was retrieved or judged for the profile."""
        return document_in(self.of_profile(profile), document)

    def events(self, start: int = 0) -> Iterator[tuple[Event, int]]:
        """Events from the start-th on, each with the lines of input read until then."""
        for number, text in self._lines():
            if number > start:
                yield _read_event(text, self._space, self.path, number)

    def _lines(self) -> Iterator[tuple[int, str]]:
        with self.path.open(encoding="utf-8") as stream:
            yield from enumerate(stream, 1)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def _read_event(text: str, space: VectorSpace, path: Path, line: int) -> tuple[Event, int]:
    try:
        record = json.loads(text)
        return recorded_event(record, space), int(record["position"])
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise DataError(f"not an event of a filter ({error})", file=path, line=line) from error


def _repair(path: Path, keep: int | None) -> int:
    """Cut off a last line without an end, and lines after the first so many; gives the number of lines."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as stream:
            stream.seek(0)
            lines = end = 0
            for line in islice(stream, keep):
                if line.endswith(b"\n"):
                    lines, end = lines + 1, end + len(line)
            stream.truncate(end)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror})", file=path) from error
    return lines
