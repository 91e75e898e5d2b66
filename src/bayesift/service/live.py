"""The running filters and reviews: they and the log become true together, or not at all.

An operation is one thing that one person does. It runs as a `UnitOfWork`: the engine or a review
changes and returns events, which become rows of the log in the writer's transaction. If the commit
fails, or an operation breaks off after a change, what was changed is rebuilt from the log at once.
The writer holds the lock of what it changes from the first change to the commit, and to the end of
a rebuild, so that readers never see what the log does not hold.

The writer is one thread that owns the transaction, with two queues before it. Operations of people
(judgements, decisions, words, filters) go first, a batch of documents goes in between. All that
waits in the first queue is committed together, with one fsync, and nothing is acknowledged before
that. Both queues are bounded; when one is full, further operations are refused with `BusyError`.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

from bayesift.errors import BayesiftError
from bayesift.filtering import FilterEngine, Profile
from bayesift.filtering.events import Event, event_record
from bayesift.service.db.database import Store, StoreFailure
from bayesift.service.db.tables import EventRow, FilterRow, Writing
from bayesift.service.errors import BusyError, NotFoundError, UnavailableError
from bayesift.service.filters.event_log import JUDGED, Checkpoints, StoreHistory, replay
from bayesift.service.filters.snapshots import Snapshot, SnapshotFolder
from bayesift.service.reviews.live import OpenReviews
from bayesift.service.reviews.mirrors import Mirrors

Operation = Callable[["UnitOfWork"], Any]
QueueName = Literal["people", "documents"]

_MAX_GROUP = 64  # operations of people in one transaction
_FAILED = "the writer has failed; the service must be started again"
_NOT_WRITTEN = "the store could not be written"
_LOG = logging.getLogger("bayesift.service")


def now() -> str:
    """Return the current time in UTC, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class SpoiledError(Exception):
    """An operation broke off after it changed something."""


@dataclass
class UnitOfWork:
    """One operation of one person: what it reads and changes, and the rows it adds to the log."""

    live: LiveState
    tx: Writing
    user: str
    at: str = field(default_factory=now)
    rows: list[EventRow] = field(default_factory=list)

    @property
    def engine(self) -> FilterEngine:
        """The engine of all filters."""
        return self.live.engine

    @property
    def history(self) -> StoreHistory:
        """The past of the filters."""
        return StoreHistory(self.tx, self.engine.space, self.live.checkpoints)

    @property
    def next_seq(self) -> int:
        """The number of the next event."""
        return self.live.pending_seq + len(self.rows) + 1

    def filter_row(self, name: str) -> FilterRow:
        """Return an existing filter as it is stored."""
        row = self.tx.filter(name)
        if row is None:
            raise NotFoundError(f"no filter {name!r}")
        return row

    def profile(self, name: str) -> Profile:
        """Return what the engine holds of an existing filter."""
        self.filter_row(name)
        return self.engine.profiles[name]

    def record(
        self,
        kind: str,
        *,
        filter_name: str | None = None,
        review: str | None = None,
        document: str | None = None,
        payload: dict[str, Any] | None = None,
    ) -> int:
        """Add a row to the log and return its number."""
        seq = self.next_seq
        batch = self.rows[0].batch if self.rows else seq
        subject = (filter_name, review, document)
        self.rows.append(
            EventRow(seq, batch, self.at, self.user, kind, *subject, payload or {})
        )
        return seq

    def record_events(
        self,
        kind: str,
        events: Sequence[Event],
        filter_name: str,
        document: str | None = None,
        **payload: Any,
    ) -> None:
        """Add a row with events that the engine returned."""
        payload["engine"] = [event_record(event, self.engine.space) for event in events]
        self.record(kind, filter_name=filter_name, document=document, payload=payload)


class LiveState:
    """The engine of all filters and the open reviews of a store, after event `seq`.

    Read and change the engine with `lock` held; each review has a lock of its own.

    Attributes
    ----------
    saved_seq : the number of the last event in a snapshot
    pending_seq : `seq` with the events of the open transaction
    n_documents, n_texts : how many ever arrived, and of these have a text
    deleted : names of filters that can be restored
    reviews : those that are in memory
    mirrors : folders of reviews that are written to as well
    valid : whether the engine is what the log says
    """

    engine: FilterEngine
    checkpoints: Checkpoints
    deleted: set[str]

    def __init__(self, store: Store, snapshots: SnapshotFolder) -> None:
        self.lock = threading.RLock()
        self._store = store
        self._snapshots = snapshots
        self.reviews = OpenReviews(store)
        self.mirrors = Mirrors()
        self.seq = self.pending_seq = self.saved_seq = 0
        self.valid = False
        self.rebuild()

    @contextmanager
    def reading(self) -> Iterator[FilterEngine]:
        """Lock the engine and yield it; refuse while it is not what the log says."""
        with self.lock:
            if not self.valid:
                raise UnavailableError("the store cannot be read; try again")
            yield self.engine

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Show the changes of a block to readers when it ends, or undo them if it raises."""
        with self.lock:
            if not self.valid:
                self.rebuild()
            try:
                yield
            except BaseException:
                self.valid = False
                pending = self.pending_seq
                self.reviews.end_transaction(committed=False)
                try:
                    self.rebuild()
                except Exception:
                    _LOG.exception(
                        "the filters could not be rebuilt; nothing is served before they are"
                    )
                # What failed after the commit, or has an unknown outcome, stays in the folder.
                if self.valid and self.seq < pending:
                    self.mirrors.take_back()
                self.mirrors.keep()
                raise
            self.mirrors.keep()
            self.seq = self.pending_seq

    def rebuild(self) -> None:
        """Build the engine from the newest snapshot and the log."""
        with self.lock, self._store.reading() as read:
            self.checkpoints = Checkpoints()
            self.engine, self.saved_seq = self._snapshots.load(read, self.checkpoints)
            self.seq = self.pending_seq = replay(
                self.engine, read, self.checkpoints, self.saved_seq
            )
            self.n_documents = read.n_documents()
            self.n_texts = read.n_texts()
            self.deleted = {row.name for row in read.filters(deleted=True)}
            self.valid = True

    def perform(self, tx: Writing, user: str, operation: Operation) -> Any:
        """Run an operation of a person inside a transaction."""
        unit = UnitOfWork(self, tx, user)
        before = self._sizes()
        try:
            result = operation(unit)
        except StoreFailure:
            raise
        except Exception as error:
            if not isinstance(error, BayesiftError) or unit.rows or self._sizes() != before:
                raise SpoiledError from error
            raise
        tx.append(unit.rows)
        self.pending_seq += len(unit.rows)
        for row in unit.rows:
            if row.kind == JUDGED:
                profile = self.engine.profiles[str(row.filter)]
                self.checkpoints.count_judgement(profile, self.pending_seq)
        return result

    def snapshot(self) -> Snapshot:
        """Take a snapshot of the filters as they are now."""
        with self.reading(), self._store.reading() as read:
            return Snapshot.of(self.engine, self.seq, read.event_digest(self.seq))

    def _sizes(self) -> tuple[int, int, int]:
        """Return numbers that differ if a refused operation has changed the engine."""
        space = self.engine.space
        return len(space.frequencies), space.n_documents, len(self.engine.profiles)


@dataclass(frozen=True)
class _Waiting:
    user: str
    operation: Operation
    answer: Future[Any] = field(default_factory=Future)

    def refuse(self, error: Exception) -> None:
        if self.answer.set_running_or_notify_cancel():
            self.answer.set_exception(error)

    def accept(self, result: Any) -> None:
        if self.answer.set_running_or_notify_cancel():
            self.answer.set_result(result)


class Writer:
    """One thread that runs operations one after the other and commits them.

    It calls `committed` after each commit with the ids of the reviews that were changed, and
    before anything is answered `access_changed` if users or members were.
    """

    def __init__(
        self,
        store: Store,
        live: LiveState,
        snapshots: SnapshotFolder,
        *,
        max_waiting: dict[QueueName, int],
        snapshot_every: int,
        committed: Callable[[list[str]], None],
        access_changed: Callable[[], None],
    ) -> None:
        self._store = store
        self._live = live
        self._snapshots = snapshots
        self._max_waiting = max_waiting
        self._snapshot_every = snapshot_every
        self._committed = committed
        self._access_changed = access_changed
        self._queues: dict[QueueName, deque[_Waiting]] = {
            "people": deque(),
            "documents": deque(),
        }
        self._change = threading.Condition()
        self._closing = self.failed = False
        self._saving: threading.Thread | None = None
        self._thread = threading.Thread(target=self._work, name="bayesift-writer", daemon=True)
        self._thread.start()

    def submit(
        self, user: str, operation: Operation, *, queue: QueueName = "people"
    ) -> Future[Any]:
        """Queue an operation; the future is done when its effect is on disk."""
        waiting = _Waiting(user, operation)
        with self._change:
            if self._closing:
                raise UnavailableError("the service is shutting down")
            if self.failed:
                raise UnavailableError(_FAILED)
            if len(self._queues[queue]) >= self._max_waiting[queue]:
                raise BusyError("too many operations are waiting; try again")
            self._queues[queue].append(waiting)
            self._change.notify()
        return waiting.answer

    def waiting(self) -> dict[QueueName, int]:
        """Return the length of each queue."""
        return {name: len(queue) for name, queue in self._queues.items()}

    def close(self) -> None:
        """Finish what is queued, take a snapshot, and end the thread."""
        with self._change:
            self._closing = True
            self._change.notify()
        self._thread.join()
        if self._saving is not None:
            self._saving.join()
        if self._live.valid and self._live.seq > self._live.saved_seq:
            self._save()

    def _work(self) -> None:
        """Work until the writer is closed; if that fails, refuse what waits and what comes."""
        try:
            self._work_until_closed()
        except BaseException:
            _LOG.exception("the writer has failed; nothing more is written")
        with self._change:
            self.failed = not self._closing
            left = [waiting for queue in self._queues.values() for waiting in queue]
            for queue in self._queues.values():
                queue.clear()
        for waiting in left:
            waiting.refuse(UnavailableError(_FAILED))

    def _work_until_closed(self) -> None:
        people = self._queues["people"]
        documents = self._queues["documents"]
        while True:
            with self._change:
                self._change.wait_for(lambda: self._closing or people or documents)
                groups = [[people.popleft() for _ in range(min(len(people), _MAX_GROUP))]]
                if documents:
                    groups.append([documents.popleft()])
            if not any(groups):
                return
            for group in groups:
                self._commit(group)
            self._snapshot_when_due()

    def _commit(self, group: list[_Waiting]) -> None:
        """Run operations in one transaction, and answer them when it is committed."""
        answers: list[Callable[[], None]] = []
        waiting = None
        try:
            with self._live.changing(), self._store.writing() as tx:
                for waiting in group:
                    answers.append(self._outcome(tx, waiting))
                self._live.mirrors.write(self._live.reviews)
            if tx.access_changed:
                self._access_changed()
        except SpoiledError as error:
            assert waiting is not None
            cause = error.__cause__
            waiting.refuse(cause if isinstance(cause, Exception) else error)
            others = [other for other in group if other is not waiting]
            if others:
                self._commit(others)
            return
        except BaseException as error:
            answers.clear()
            for each in group:
                each.refuse(UnavailableError(_NOT_WRITTEN))
            if not isinstance(error, Exception):
                raise
            _LOG.exception(
                "the transaction failed and nothing was acknowledged; "
                "the filters are rebuilt from their log"
            )
        changed = self._live.reviews.end_transaction(committed=True)
        for answer in answers:
            answer()
        self._committed(changed)

    def _outcome(self, tx: Writing, waiting: _Waiting) -> Callable[[], None]:
        """Run an operation; return what tells its caller how it went, after the commit."""
        try:
            result = self._live.perform(tx, waiting.user, waiting.operation)
        except BayesiftError as refusal:
            return partial(waiting.refuse, refusal)
        return partial(waiting.accept, result)

    def _snapshot_when_due(self) -> None:
        busy = self._saving is not None and self._saving.is_alive()
        if busy or self._live.seq - self._live.saved_seq < self._snapshot_every:
            return
        try:
            snapshot = self._live.snapshot()
        except Exception:
            _LOG.exception(
                "a snapshot could not be taken; the next start reads more of the log"
            )
            self._live.saved_seq = self._live.seq  # try again when as many events have come
            return
        self._live.saved_seq = snapshot.seq
        self._saving = threading.Thread(
            target=self._save, args=(snapshot,), name="bayesift-snapshot", daemon=True
        )
        self._saving.start()

    def _save(self, snapshot: Snapshot | None = None) -> None:
        try:
            taken = snapshot or self._live.snapshot()
            self._snapshots.save(taken)
            self._live.saved_seq = taken.seq
        except Exception:
            _LOG.exception(
                "the snapshot could not be written; the next start reads more of the log"
            )
