"""Snapshots of the filters in a folder: a cache that makes a start fast.

Without a snapshot the whole log is replayed.

    FOLDER/snapshots/STORE/SEQ/start           the filters as they started
    FOLDER/snapshots/STORE/SEQ/latest          the filters and words after event SEQ
    FOLDER/snapshots/STORE/SEQ/snapshot.json   digests of both and of event SEQ; written last

STORE is the name that the store gave itself, so that a snapshot of another store is never read. A
snapshot that is damaged, or of another event SEQ than the log has, is passed over. One that is
newer than the log shows that the log lost its end: that is an error.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from bayesift.errors import DataError
from bayesift.files import whole_file
from bayesift.filtering import FilterEngine, ProfileState
from bayesift.filtering.saving import filter_content, read_content
from bayesift.journal import digest_of
from bayesift.model_file import HEADER, ModelContent, save_model
from bayesift.service.db.tables import Reading
from bayesift.service.filters.event_log import Checkpoint, Checkpoints

_KEPT_SNAPSHOTS = 2
_DESCRIPTION = "snapshot.json"


@dataclass(frozen=True)
class Snapshot:
    """The filters after event `seq`; later events do not change it."""

    seq: int
    digest: str
    start: ModelContent
    latest: ModelContent

    @classmethod
    def of(cls, engine: FilterEngine, seq: int, digest: str) -> Snapshot:
        """Take a snapshot of an engine after an event with its digest."""
        states = [ProfileState.of(profile) for profile in engine.profiles.values()]
        start = filter_content(engine.space, [engine.starts[name] for name in engine.profiles])
        return cls(seq, digest, start, filter_content(engine.space, states, n_events=seq))


class SnapshotFolder:
    """The snapshots of one store in the folder of a service."""

    def __init__(self, folder: Path, store: str) -> None:
        self._folder = folder / "snapshots" / store

    def save(self, snapshot: Snapshot) -> None:
        """Write a snapshot, and delete all but the newest two."""
        folder = self._folder / f"{snapshot.seq:016d}"
        save_model(snapshot.start, folder / "start")
        save_model(snapshot.latest, folder / "latest")
        with whole_file(folder / _DESCRIPTION, "w") as stream:
            json.dump(_description(folder, snapshot.digest), stream)
        for file in folder.rglob("*"):
            file.chmod(0o700 if file.is_dir() else 0o600)
        for old in self._found()[_KEPT_SNAPSHOTS:]:
            shutil.rmtree(old, ignore_errors=True)

    def load(self, read: Reading, checkpoints: Checkpoints) -> tuple[FilterEngine, int]:
        """Return the engine of the newest snapshot that is whole, with the number of its event.

        Without a snapshot it is a new engine and 0.
        """
        last_seq = read.last_seq()
        for folder in self._found():
            if int(folder.name) > last_seq:
                raise DataError(_newer(folder, last_seq), file=folder)
            try:
                _check_description(folder, read)
                return _read(folder, checkpoints), int(folder.name)
            except DataError:
                continue
        return FilterEngine(), 0

    def troubles(self, read: Reading) -> list[str]:
        """Say what is wrong with the snapshots."""
        last_seq = read.last_seq()
        found = []
        for folder in self._found():
            if int(folder.name) > last_seq:
                found.append(f"{folder}: {_newer(folder, last_seq)}")
                continue
            try:
                _check_description(folder, read)
                _read(folder, Checkpoints())
            except DataError as error:
                found.append(f"{error}; it is passed over")
        return found

    def drop_after(self, seq: int) -> None:
        """Delete the snapshots of events after a number."""
        for folder in self._found():
            if int(folder.name) > seq:
                shutil.rmtree(folder)

    def _found(self) -> list[Path]:
        if not self._folder.is_dir():
            return []
        folders = [folder for folder in self._folder.iterdir() if folder.name.isdigit()]
        return sorted(folders, reverse=True)


def _newer(folder: Path, last_seq: int) -> str:
    return (
        f"is newer than the log: events {last_seq + 1:,} to {int(folder.name):,} are missing; "
        "restore the newest copy of the database, or go on without them by "
        f"--accept-loss {last_seq}"
    )


def _description(folder: Path, digest: str) -> dict[str, str]:
    """Return what is written beside the parts of a snapshot, to recognise damage."""
    described = {"event": folder.name, "digest": digest}
    for part in ("start", "latest"):
        try:
            described[part] = digest_of((folder / part / HEADER).read_bytes())
        except OSError as error:
            raise DataError(f"is not whole ({error.strerror})", file=folder) from error
    return described


def _check_description(folder: Path, read: Reading) -> None:
    try:
        described = json.loads((folder / _DESCRIPTION).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"is not whole ({_DESCRIPTION})", file=folder) from error
    if described != _description(folder, read.event_digest(int(folder.name))):
        raise DataError("is damaged, or of another log", file=folder)


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
