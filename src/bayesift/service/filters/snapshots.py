"""Snapshots of the filters in a folder: a cache that makes a start fast.

Without a snapshot the whole log is replayed.

    FOLDER/snapshots/STORE/SEQ/start    the filters as they started
    FOLDER/snapshots/STORE/SEQ/latest   the filters and words after event SEQ

STORE is the name that the store gave itself, so that a snapshot of another store is never read. A
snapshot that is damaged, or newer than the log, is skipped.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from bayesift.errors import DataError
from bayesift.filtering import FilterEngine, ProfileState
from bayesift.filtering.saving import filter_content, read_content
from bayesift.model_file import ModelContent, save_model
from bayesift.service.filters.event_log import Checkpoint, Checkpoints

_KEPT_SNAPSHOTS = 2


@dataclass(frozen=True)
class Snapshot:
    """The filters after event `seq`; later events do not change it."""

    seq: int
    start: ModelContent
    latest: ModelContent

    @classmethod
    def of(cls, engine: FilterEngine, seq: int) -> Snapshot:
        """Take a snapshot of an engine."""
        states = [ProfileState.of(profile) for profile in engine.profiles.values()]
        start = filter_content(engine.space, [engine.starts[name] for name in engine.profiles])
        return cls(seq, start, filter_content(engine.space, states, n_events=seq))


class SnapshotFolder:
    """The snapshots of one store in the folder of a service."""

    def __init__(self, folder: Path, store: str) -> None:
        self._folder = folder / "snapshots" / store

    def save(self, snapshot: Snapshot) -> None:
        """Write a snapshot, and delete all but the newest two."""
        folder = self._folder / f"{snapshot.seq:016d}"
        save_model(snapshot.start, folder / "start")
        save_model(snapshot.latest, folder / "latest")
        for file in folder.rglob("*"):
            file.chmod(0o700 if file.is_dir() else 0o600)
        for old in self._found()[_KEPT_SNAPSHOTS:]:
            shutil.rmtree(old, ignore_errors=True)

    def load(self, last_seq: int, checkpoints: Checkpoints) -> tuple[FilterEngine, int]:
        """Return the engine of the newest valid snapshot up to an event, with its number.

        Without a snapshot it is a new engine and 0.
        """
        for folder in self._found():
            if int(folder.name) <= last_seq:
                try:
                    return _read(folder, checkpoints), int(folder.name)
                except DataError:
                    continue
        return FilterEngine(), 0

    def _found(self) -> list[Path]:
        if not self._folder.is_dir():
            return []
        folders = [folder for folder in self._folder.iterdir() if folder.name.isdigit()]
        return sorted(folders, reverse=True)


def _read(folder: Path, checkpoints: Checkpoints) -> FilterEngine:
    start = read_content(folder / "start")
    latest = read_content(folder / "latest")
    engine = FilterEngine(latest.space)
    engine.starts = {state.name: state for state in start.states}
    engine.profiles = {state.name: state.profile() for state in latest.states}
    if engine.starts.keys() != engine.profiles.keys() or latest.n_events != int(folder.name):
        raise DataError("the parts of the snapshot do not belong together", file=folder)
    for state in latest.states:
        checkpoints.keep(state.name, Checkpoint.of(state, latest.n_events))
    return engine
