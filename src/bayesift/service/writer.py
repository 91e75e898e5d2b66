"""The one writer: a thread that owns the transaction, and two lines of people before it.

What people do (judgements, words, profiles) goes first; a batch of documents goes in between. All that waits in the
first line is committed together, one fsync for all, and nobody gets an answer before that. Both lines are bounded: who
finds one full is told to come again.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Literal

from bayesift.errors import BayesiftError
from bayesift.service.errors import BusyError, UnavailableError
from bayesift.service.live import LiveFilter, Operation, SpoiledError
from bayesift.service.snapshots import Snapshot, SnapshotFolder
from bayesift.stores import Store

Line = Literal["people", "documents"]

_TOGETHER = 64  # turns of people in one transaction
_LOG = logging.getLogger("bayesift.service")


@dataclass(frozen=True)
class _Waiting:
    user: str
    operation: Operation
    answer: Future[Any] = field(default_factory=Future)


class Writer:
    """Runs operations one after the other and commits them.

    Parameters
    ----------
    store, live, snapshots : what is written
    lengths : how many may wait in each line
    snapshot_every : events after which a snapshot is taken
    committed : called after each commit, from the thread of the writer
    """

    def __init__(
        self,
        store: Store,
        live: LiveFilter,
        snapshots: SnapshotFolder,
        *,
        lengths: dict[Line, int],
        snapshot_every: int,
        committed: Callable[[], None],
    ) -> None:
        self._store, self._live, self._snapshots = store, live, snapshots
        self._lengths = lengths
        self._snapshot_every = snapshot_every
        self._committed = committed
        self._lines: dict[Line, deque[_Waiting]] = {"people": deque(), "documents": deque()}
        self._change = threading.Condition()
        self._closing = False
        self._saving: threading.Thread | None = None
        self._thread = threading.Thread(target=self._work, name="bayesift-writer", daemon=True)
        self._thread.start()

    def submit(self, user: str, operation: Operation, *, line: Line = "people") -> Future[Any]:
        """Stand in a line; the answer comes when what was done is on the disk."""
        waiting = _Waiting(user, operation)
        with self._change:
            if self._closing:
                raise UnavailableError("the service is shutting down")
            if len(self._lines[line]) >= self._lengths[line]:
                raise BusyError("more comes in than can be learned now; try again")
            self._lines[line].append(waiting)
            self._change.notify()
        return waiting.answer

    def waiting(self) -> dict[Line, int]:
        """How many wait in each line."""
        return {name: len(line) for name, line in self._lines.items()}

    def close(self) -> None:
        """Finish what waits, take a snapshot, and end."""
        with self._change:
            self._closing = True
            self._change.notify()
        self._thread.join()
        if self._saving is not None:
            self._saving.join()
        if self._live.seq > self._live.saved_seq:
            self._save(self._live.snapshot())

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._closing or any(self._lines.values()))
                people, documents = self._lines["people"], self._lines["documents"]
                groups = [[people.popleft() for _ in range(min(len(people), _TOGETHER))]]
                groups += [[documents.popleft()]] if documents else []
            if not any(groups):
                return
            for group in groups:
                self._commit(group)
            self._snapshot_when_due()

    def _commit(self, group: list[_Waiting]) -> None:
        """Run a group in one transaction; when it is committed, answer."""
        outcomes: list[tuple[_Waiting, Any, Exception | None]] = []
        waiting = None
        try:
            self._live.ensure_whole()
            with self._store.writing() as tx:
                for waiting in group:
                    outcomes.append((waiting, *self._outcome(tx, waiting)))
        except SpoiledError as error:
            assert waiting is not None
            self._live.discard()
            _answer(waiting, None, error.__cause__ if isinstance(error.__cause__, Exception) else error)
            self._commit([other for other in group if other is not waiting])
            return
        except Exception:
            _LOG.exception("nothing of this was acknowledged; the filter is made anew from its log")
            self._live.discard()
            outcomes = [(each, None, UnavailableError("the store could not be written")) for each in group]
        for outcome in outcomes:
            _answer(*outcome)
        self._committed()

    def _outcome(self, tx: Any, waiting: _Waiting) -> tuple[Any, Exception | None]:
        try:
            return self._live.perform(tx, waiting.user, waiting.operation), None
        except BayesiftError as refusal:
            return None, refusal

    def _snapshot_when_due(self) -> None:
        busy = self._saving is not None and self._saving.is_alive()
        if busy or self._live.seq - self._live.saved_seq < self._snapshot_every:
            return
        snapshot = self._live.snapshot()
        self._live.saved_seq = snapshot.seq
        self._saving = threading.Thread(target=self._save, args=(snapshot,), name="bayesift-snapshot", daemon=True)
        self._saving.start()

    def _save(self, snapshot: Snapshot) -> None:
        try:
            self._snapshots.save(snapshot)
            self._live.saved_seq = snapshot.seq
        except Exception:
            _LOG.exception("the snapshot could not be written; the next start reads more of the log")


def _answer(waiting: _Waiting, result: Any, error: Exception | None) -> None:
    if not waiting.answer.set_running_or_notify_cancel():
        return
    if error is None:
        waiting.answer.set_result(result)
    else:
        waiting.answer.set_exception(error)
