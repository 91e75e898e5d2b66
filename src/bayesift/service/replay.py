"""From the log to the filter: what happened after a snapshot, or from the beginning, applied in order.

Nothing is decided again: the log has what was retrieved. Words get their columns in the order of the log, so that the
filter is the same, bit for bit, as the one that wrote it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.errors import DataError
from bayesift.filtering import DocumentVector, FilterEngine, TakenBack, Taught
from bayesift.filtering.definitions import add_described
from bayesift.filtering.engine import apply
from bayesift.filtering.events import Event
from bayesift.service import kinds
from bayesift.service.ledger import StoreLog, recorded, recorded_vector, retrieved
from bayesift.service.recalling import RecallingEngine
from bayesift.service.transfer import install_profile
from bayesift.stores import EventRow, Reading


def replay(engine: RecallingEngine, read: Reading, after: int = 0) -> int:
    """Bring an engine up to date with the log; gives the number of the last event."""
    log = StoreLog(engine.space)
    log.read = read
    engine.log = log
    replaying = _Replay(engine)
    last = after
    for row in read.events(after):
        if row.seq != last + 1:
            raise DataError(f"the log has no event {last + 1}")
        replaying.apply(row)
        last = row.seq
    for name in replaying.anew:
        engine.profiles[name] = engine.replayed(name)
    log.read = None
    return last


class _Replay:
    """Rows of the log applied to an engine; profiles of which something was taken back are made anew at the end."""

    def __init__(self, engine: RecallingEngine) -> None:
        self.engine = engine
        self.anew: set[str] = set()
        self._seen: dict[str, dict[str, DocumentVector]] = {}
        self._arrived: dict[str, DocumentVector] = {}

    def apply(self, row: EventRow) -> None:
        """Do what an event says."""
        name = row.profile
        if row.kind == kinds.COUNTED:
            self._count(row.payload)
        elif row.kind == kinds.SEEN:
            self._arrive(row)
        elif row.kind == kinds.CREATED:
            add_described(self.engine, row.payload["definition"])
        elif row.kind == kinds.IMPORTED:
            assert name is not None
            install_profile(self.engine, name, row.payload["model"])
        elif row.kind == kinds.DELETED:
            self._delete(str(name))
        elif row.kind == kinds.RETRIEVED:
            self._change(retrieved(row, self._arrived[str(row.document)]))
        else:
            for event in recorded(row, self.engine.space):
                self._change(event)

    def _count(self, payload: dict[str, Any]) -> None:
        self._arrived = {}
        count_documents(self.engine, payload)

    def _arrive(self, row: EventRow) -> None:
        if "words" in row.payload:
            assert row.document is not None
            self._arrived[row.document] = recorded_vector(row.document, row.payload, self.engine.space)

    def _delete(self, name: str) -> None:
        self.engine.forget(name)
        self.anew.discard(name)
        self._seen.pop(name, None)

    def _change(self, event: Event) -> None:
        profile = self.engine.profiles[event.profile]
        if isinstance(event, TakenBack) or (isinstance(event, Taught) and event.word in profile.taught):
            self.anew.add(profile.name)
        elif profile.name not in self.anew:
            apply(profile, event, self._seen.setdefault(profile.name, {}))


def counted(engine: FilterEngine, n_before: int, frequencies_before: Any) -> dict[str, Any]:
    """What a batch added to the running frequencies."""
    space = engine.space
    more = space.frequencies[: len(frequencies_before)] - frequencies_before
    columns = np.flatnonzero(more)
    return {"n": space.n_documents - n_before, "columns": columns.tolist(), "counts": more[columns].tolist()}


def count_documents(engine: FilterEngine, payload: dict[str, Any]) -> None:
    """The inverse of `counted`."""
    space = engine.space
    space.n_documents += int(payload["n"])
    np.add.at(space.frequencies, np.array(payload["columns"], dtype=np.int64), payload["counts"])
