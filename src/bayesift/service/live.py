"""The filter as it runs: the engine, and the log it writes. Here the engine and the store meet.

A turn is one thing one person does. It changes the engine and notes events; both become true together when the writer
commits. If that fails, or a turn breaks off after it changed something, the engine is thrown away and made anew from
the log, so that it never holds what the log does not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from bayesift.errors import BayesiftError
from bayesift.filtering import Profile
from bayesift.service.errors import NotFoundError
from bayesift.service.kinds import JUDGED
from bayesift.service.ledger import StoreLog, records_of
from bayesift.service.recalling import RecallingEngine
from bayesift.service.replay import replay
from bayesift.service.snapshots import Snapshot, SnapshotFolder
from bayesift.stores import EventRow, ProfileRow, Store, StoreFailure, Writing

Operation = Callable[["Turn"], Any]


def now() -> str:
    """The time as it is written everywhere: UTC, ISO 8601.

    Examples
    --------
    >>> len(now()), now()[-6:]
    (32, '+00:00')
    """
    return datetime.now(UTC).isoformat(timespec="microseconds")


class SpoiledError(Exception):
    """A turn broke off after it changed the engine."""


@dataclass
class Turn:
    """One thing a person does: what it reads and changes, and the events it notes.

    Parameters
    ----------
    live : the filter
    tx : the transaction
    user : who
    at : when
    """

    live: LiveFilter
    tx: Writing
    user: str
    at: str = field(default_factory=now)
    rows: list[EventRow] = field(default_factory=list)

    @property
    def engine(self) -> RecallingEngine:
        """The engine."""
        return self.live.engine

    @property
    def next_seq(self) -> int:
        """The number the next event gets."""
        return self.live.seq + len(self.rows) + 1

    def profile_row(self, name: str) -> ProfileRow:
        """A profile that is there, as it is stored."""
        row = self.tx.profile(name)
        if row is None:
            raise NotFoundError(f"no profile {name!r}")
        return row

    def profile(self, name: str) -> Profile:
        """A profile that is there, as it runs."""
        self.profile_row(name)
        return self.engine.profiles[name]

    def note(
        self,
        kind: str,
        *,
        profile: str | None = None,
        document: str | None = None,
        payload: dict[str, Any] | None = None,
    ) -> int:
        """Note an event; gives its number."""
        seq = self.next_seq
        batch = self.rows[0].batch if self.rows else seq
        self.rows.append(EventRow(seq, batch, self.at, self.user, kind, profile, document, payload or {}))
        return seq

    def note_change(self, kind: str, profile: str, document: str | None = None, **payload: Any) -> int:
        """Note what a person said to a profile, with what the engine made of it."""
        made = records_of(self.live.log.take(), self.engine.space)
        return self.note(kind, profile=profile, document=document, payload={**payload, "engine": made})


class LiveFilter:
    """The engine with its log.

    Parameters
    ----------
    store : the log
    snapshots : where to start from

    Attributes
    ----------
    engine : the filter; read and change it with `lock` held
    seq : the number of the last event
    n_documents : that ever arrived
    """

    engine: RecallingEngine
    log: StoreLog

    def __init__(self, store: Store, snapshots: SnapshotFolder) -> None:
        self.lock = threading.RLock()
        self._store = store
        self._snapshots = snapshots
        self.saved_seq = 0
        self._whole = False
        self.ensure_whole()

    def discard(self) -> None:
        """The engine holds what the log does not; it must not be used any more."""
        self._whole = False

    def ensure_whole(self) -> None:
        """Make the engine anew from the newest snapshot and the log, if it was discarded."""
        if self._whole:
            return
        with self.lock, self._store.reading() as read:
            found = self._snapshots.load(read.last_seq())
            self.engine, self.saved_seq = (RecallingEngine(), 0) if found is None else found
            self.seq = replay(self.engine, read, self.saved_seq)
            self.n_documents = read.n_documents()
            self.log = StoreLog(self.engine.space)
            self.engine.log = self.log
            self._whole = True

    def perform(self, tx: Writing, user: str, operation: Operation) -> Any:
        """Let a person do something inside a transaction."""
        with self.lock:
            self.log.read = tx
            turn = Turn(self, tx, user)
            before = self._mark()
            try:
                result = operation(turn)
            except StoreFailure:
                raise
            except Exception as error:
                if not isinstance(error, BayesiftError) or self._mark() != before or self.log.take():
                    raise SpoiledError from error
                raise
            finally:
                self.log.read = None
            tx.append(turn.rows)
            self.seq += len(turn.rows)
            for row in turn.rows:
                if row.kind == JUDGED and row.profile is not None:
                    self.engine.note_judgement(row.profile, self.seq)
            return result

    def snapshot(self) -> Snapshot:
        """The filter as it is now."""
        with self.lock:
            return Snapshot.of(self.engine, self.seq)

    def _mark(self) -> tuple[int, int, int]:
        """Numbers that change when the engine does."""
        space = self.engine.space
        return len(space), space.n_documents, len(self.engine.profiles)
