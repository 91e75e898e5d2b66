"""Snapshots of the filter: a cache that makes starting quick. The log is the truth; without one it is read whole.

    FOLDER/snapshots/STORE/SEQ/start    the profiles as they started, which undo needs
    FOLDER/snapshots/STORE/SEQ/latest   the profiles and words after event SEQ

STORE is the name the store gave itself, so that a snapshot of another store is never taken. One that is damaged, or
newer than the log, is passed over.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from bayesift.errors import DataError
from bayesift.filtering import FilterEngine, ProfileState
from bayesift.filtering.saving import filter_content, read_content
from bayesift.model_file import ModelContent, save_model
from bayesift.service.recalling import RecallingEngine

_KEPT = 2


@dataclass(frozen=True)
class Snapshot:
    """A filter after an event, which nothing changes any more."""

    seq: int
    start: ModelContent
    latest: ModelContent

    @classmethod
    def of(cls, engine: FilterEngine, seq: int) -> Snapshot:
        """Take down a filter."""
        states = [ProfileState.of(profile) for profile in engine.profiles.values()]
        start = filter_content(engine, [engine.starts[name] for name in engine.profiles])
        return cls(seq, start, filter_content(engine, states, n_events=seq))


class SnapshotFolder:
    """The snapshots of one store.

    Parameters
    ----------
    folder : of the service
    store : the name of the store
    """

    def __init__(self, folder: Path, store: str) -> None:
        self._place = folder / "snapshots" / store

    def save(self, snapshot: Snapshot) -> None:
        """Write a snapshot; older ones but the last are removed."""
        place = self._place / f"{snapshot.seq:016d}"
        save_model(snapshot.start, place / "start")
        save_model(snapshot.latest, place / "latest")
        for old in self._found()[_KEPT:]:
            shutil.rmtree(old, ignore_errors=True)

    def load(self, last_seq: int) -> tuple[RecallingEngine, int] | None:
        """The newest whole snapshot that the log reaches, with the number of its event."""
        for place in self._found():
            if int(place.name) <= last_seq:
                try:
                    return _read(place), int(place.name)
                except DataError:
                    continue
        return None

    def _found(self) -> list[Path]:
        if not self._place.is_dir():
            return []
        return sorted((place for place in self._place.iterdir() if place.name.isdigit()), reverse=True)


def _read(place: Path) -> RecallingEngine:
    start, latest = read_content(place / "start"), read_content(place / "latest")
    engine = RecallingEngine(latest.space)
    engine.starts = {state.header["name"]: state for state in start.states}
    engine.profiles = {state.header["name"]: state.profile() for state in latest.states}
    if engine.starts.keys() != engine.profiles.keys() or latest.n_events != int(place.name):
        raise DataError("the parts of the snapshot do not fit together", file=place)
    for state in latest.states:
        engine.keep(state.header["name"], latest.n_events, state)
    return engine
