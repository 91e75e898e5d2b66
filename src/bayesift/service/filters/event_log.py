"""The events of filters: what is stored, the history that the engine reads from it, and replay.

A call of `observe` is a batch: COUNTED, a SEEN for each document, a RETRIEVED for each retrieval. A
SEEN carries the vector of the document if any filter retrieved it. COUNTED and CREATED say how
texts of scripts without spaces are split. JUDGED, TAKEN_BACK, TAUGHT, PAUSED, RESUMED, PUT_AWAY and
RESTORED carry the events of the engine under "engine". Events of reviews are in the same log and
do not concern the filters: `reviews/live.py` replays them.

Replay decides nothing: the log has what was retrieved. Words get their columns in the order of the
log, so that the filters are the same, bit for bit, as those that wrote it. The engine calls a
filter a profile.
"""

from __future__ import annotations

import base64
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from bayesift.errors import DataError
from bayesift.filtering import (
    DocumentVector,
    FilterEngine,
    Profile,
    ProfileState,
    Retrieved,
    TakenBack,
    Taught,
    VectorSpace,
)
from bayesift.filtering.engine import Replay, add_described
from bayesift.filtering.events import Event, document_in, recorded_event, recorded_vector
from bayesift.filtering.vectors import stacked
from bayesift.service.db.tables import DocumentRow, EventRow, Reading
from bayesift.service.filters.transfer import install_filter

COUNTED = "counted"
SEEN = "seen"
RETRIEVED = "retrieved"
JUDGED = "judged"
TAKEN_BACK = "taken back"
TAUGHT = "taught"
CREATED = "filter created"
IMPORTED = "filter imported"
PAUSED = "filter paused"
RESUMED = "filter resumed"
DELETED = "filter deleted"
PUT_AWAY = "filter put away"
RESTORED = "filter restored"
PURGED = "texts purged"

# The events that a filter is rebuilt from.
CHANGES = (RETRIEVED, JUDGED, TAKEN_BACK, TAUGHT, PAUSED, RESUMED, PUT_AWAY, RESTORED)
_WAITING_ARRAYS = ("pending.ends", "pending.columns", "pending.weights")  # of a state
CHECKPOINT_EVERY = 50  # judgements of a filter
_CHECKPOINTS_PER_FILTER = 2
_MAX_CHECKPOINTS = 400
_PAGE_EVENTS = 1_000
_RECENT_EVENTS = 100  # among which the event that is taken back is sought


@dataclass(frozen=True)
class Checkpoint:
    """The state of a filter after event `seq`.

    The vectors of documents that wait are left out: the log has them.
    """

    seq: int
    state: ProfileState

    @classmethod
    def of(cls, state: ProfileState, seq: int) -> Checkpoint:
        """Return the checkpoint of a whole state."""
        kept = {n: array for n, array in state.arrays.items() if n not in _WAITING_ARRAYS}
        return cls(seq, ProfileState(state.header, kept))

    def whole(self, waiting: Mapping[str, DocumentVector]) -> ProfileState:
        """Return the whole state, given the documents that waited by their ids."""
        rows = stacked([waiting[name] for name in self.state.header["pending"]], 1)
        arrays = zip(_WAITING_ARRAYS, (rows.indptr[1:], rows.indices, rows.data), strict=True)
        return ProfileState(self.state.header, {**self.state.arrays, **dict(arrays)})


class Checkpoints:
    """Recent states of filters, in memory: a cache.

    When something is taken back, its filter is rebuilt from the newest checkpoint before it
    instead of from its start; checkpoints that hold what was taken back are dropped.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, list[Checkpoint]] = OrderedDict()
        self._judged: dict[str, int] = {}

    def keep(self, name: str, checkpoint: Checkpoint) -> None:
        """Keep a state of a filter; the oldest are dropped when there are too many."""
        kept = [*self._kept.pop(name, []), checkpoint]
        self._kept[name] = kept[-_CHECKPOINTS_PER_FILTER:]
        while sum(map(len, self._kept.values())) > _MAX_CHECKPOINTS:
            self._kept.popitem(last=False)

    def count_judgement(self, profile: Profile, seq: int) -> None:
        """Count a judgement, and keep the state of the filter after every few."""
        self._judged[profile.name] = self._judged.get(profile.name, 0) + 1
        if self._judged[profile.name] % CHECKPOINT_EVERY == 0:
            self.keep(profile.name, Checkpoint.of(ProfileState.of(profile), seq))

    def before(self, name: str, seq: int) -> Checkpoint | None:
        """Return the newest checkpoint of a filter before an event, and drop later ones."""
        kept = [checkpoint for checkpoint in self._kept.get(name, []) if checkpoint.seq < seq]
        self._kept[name] = kept
        return kept[-1] if kept else None

    def forget(self, name: str) -> None:
        """Drop the checkpoints of a filter."""
        self._kept.pop(name, None)


class StoreHistory:
    """The past of filters as the engine reads it, in one transaction."""

    def __init__(self, read: Reading, space: VectorSpace, checkpoints: Checkpoints) -> None:
        self._read = read
        self._space = space
        self._checkpoints = checkpoints

    def find(self, name: str, document: str) -> DocumentVector | None:
        """Return the vector of a document that was retrieved or judged for the filter, if any."""
        seq = self._created(name)
        if seq is None:
            return None
        rows = self._read.events(seq, filter=name, document=document, kinds=CHANGES)
        return document_in(self._events(list(rows)), document)

    def before(self, event: TakenBack | Taught) -> tuple[ProfileState | None, Iterable[Event]]:
        """Return a state without what the event takes back, and all events after that state.

        None stands for the start of the filter.
        """
        checkpoint = self._checkpoints.before(event.profile, self._seq_taken_back(event))
        if checkpoint is None:
            return None, self.of_profile(event.profile)
        state = checkpoint.whole(self._waiting(event.profile, checkpoint))
        return state, self.of_profile(event.profile, after=checkpoint.seq)

    def of_profile(self, name: str, after: int = 0) -> Iterator[Event]:
        """Yield the events of a filter in order, since it was created or after a number."""
        seq = self._created(name)
        if seq is None:
            return
        rows = self._read.events(max(after, seq), filter=name, kinds=CHANGES)
        while page := list(islice(rows, _PAGE_EVENTS)):
            yield from self._events(page)

    def _waiting(self, name: str, checkpoint: Checkpoint) -> dict[str, DocumentVector]:
        """Return the documents that waited for a judgement at a checkpoint."""
        rows = self._read.events_about(
            checkpoint.state.header["pending"],
            after=self._created(name) or 0,
            filter_name=name,
            kind=RETRIEVED,
        )
        events = (event for event in self._events(rows) if isinstance(event, Retrieved))
        return {event.id: event.document for event in events}

    def _created(self, name: str) -> int | None:
        """Return the number of the event that created a filter."""
        row = self._read.filter(name) or self._read.filter(name, deleted=True)
        return None if row is None else row.seq

    def _events(self, rows: list[EventRow]) -> Iterator[Event]:
        """Yield the events of the engine that rows of the log hold."""
        arrivals = self._read.arrivals(
            str(row.document) for row in rows if row.kind == RETRIEVED
        )
        for row in rows:
            if row.kind == RETRIEVED:
                document = str(row.document)
                source = row.payload if "words" in row.payload else arrivals[document]
                yield _retrieved(row, stored_vector(document, source, self._space))
            else:
                yield from _engine_events(row, self._space)

    def _seq_taken_back(self, event: TakenBack | Taught) -> int:
        """Return the number of the newest event that gave what this one takes back.

        It is 0 if that event is not recent.
        """
        document = None
        kinds: tuple[str, ...] = (TAUGHT,)
        if isinstance(event, TakenBack):
            document = event.id
            kinds = (JUDGED, TAKEN_BACK)
        for row in self._read.events(
            filter=event.profile,
            document=document,
            kinds=kinds,
            limit=_RECENT_EVENTS,
            newest_first=True,
        ):
            if any(_gives(record, event) for record in row.payload["engine"]):
                return row.seq
        return 0


def _gives(record: dict[str, Any], event: TakenBack | Taught) -> bool:
    """Return whether a record of the log gave what an event takes back."""
    if isinstance(event, Taught):
        return bool(record["event"] == "taught" and record["word"] == event.word)
    return bool(record["event"] == "judged")


def replay(
    engine: FilterEngine, read: Reading, checkpoints: Checkpoints, after: int = 0
) -> int:
    """Apply the events after a number to an engine; return the number of the last event."""
    replaying = _LogReplay(engine, checkpoints)
    last = after
    for row in read.events(after):
        if row.seq != last + 1:
            raise DataError(f"the log has no event {last + 1}")
        replaying.apply_row(row)
        last = row.seq
    for name in replaying.finish(StoreHistory(read, engine.space, checkpoints).of_profile):
        checkpoints.forget(name)
    return last


class _LogReplay(Replay):
    """Applies rows of the log to an engine."""

    def __init__(self, engine: FilterEngine, checkpoints: Checkpoints) -> None:
        super().__init__(engine)
        self._checkpoints = checkpoints
        self._arrived: dict[str, DocumentVector] = {}

    def apply_row(self, row: EventRow) -> None:
        """Apply one row."""
        space = self._engine.space
        name = str(row.filter)
        document = str(row.document)
        if row.kind in (COUNTED, CREATED):
            # A log without it is from before scripts without spaces were split.
            space.unspaced = row.payload.get("unspaced", "words")
        if row.kind == COUNTED:
            self._arrived = {}
            space.count(_recorded_counts(row.payload))
        elif row.kind == SEEN:
            if "words" in row.payload:
                self._arrived[document] = stored_vector(document, row.payload, space)
        elif row.kind == CREATED:
            add_described(self._engine, row.payload["definition"])
        elif row.kind == IMPORTED:
            install_filter(self._engine, name, row.payload["model"])
        elif row.kind == DELETED:
            self.remove_profile(name)
            self._checkpoints.forget(name)
        elif row.kind == RETRIEVED:
            if "words" in row.payload:
                # Retrieved when the filter was created, long after the document arrived.
                vector = stored_vector(document, row.payload, space)
            else:
                vector = self._arrived[document]
            self.apply(_retrieved(row, vector))
        else:
            for event in _engine_events(row, space):
                self.apply(event)


def _retrieved(row: EventRow, vector: DocumentVector) -> Retrieved:
    return Retrieved(str(row.filter), vector, row.payload["why"])


def _engine_events(row: EventRow, space: VectorSpace) -> list[Event]:
    return [recorded_event(record, space) for record in row.payload.get("engine", ())]


def counts_record(counted: dict[str, Any], space: VectorSpace) -> dict[str, Any]:
    """Return what a batch added to running frequencies as the log keeps it.

    Columns are kept as the gaps between them, which packs well.
    """
    gaps = np.diff(counted["columns"], prepend=0).tolist()
    return {
        "n": counted["n"],
        "gaps": gaps,
        "counts": counted["counts"],
        "unspaced": space.unspaced,
    }


def _recorded_counts(payload: dict[str, Any]) -> dict[str, Any]:
    if "columns" in payload:  # of a log from before gaps
        return payload
    columns = np.cumsum(np.array(payload["gaps"], dtype=np.int64))
    return {"n": payload["n"], "columns": columns, "counts": payload["counts"]}


def vector_records(
    vectors: Sequence[DocumentVector], space: VectorSpace
) -> dict[str, dict[str, Any]]:
    """Return vectors as JSON can hold them, by the id of their document.

    They are kept by words, so that they do not depend on columns. Words have no spaces; weights
    are the bytes of their numbers in base 64, which take fewer characters than digits.
    """
    if not vectors:
        return {}
    # One lookup for the words of all vectors is much faster than one per vector.
    words = iter(space.words_of(np.concatenate([vector.columns for vector in vectors])))
    return {
        vector.id: {
            "words": " ".join(islice(words, len(vector))),
            "weights": base64.b64encode(vector.weights.astype("<f8").tobytes()).decode(),
        }
        for vector in vectors
    }


def stored_vector(document: str, payload: dict[str, Any], space: VectorSpace) -> DocumentVector:
    """Return a vector that the log holds; unknown words get columns."""
    if isinstance(payload["words"], list):  # of a log from before
        return recorded_vector(document, payload, space)
    words = payload["words"].split()
    weights = np.frombuffer(base64.b64decode(payload["weights"]), dtype="<f8")
    return recorded_vector(document, {"words": words, "weights": weights}, space)


def known_vector(
    document: DocumentRow, payload: dict[str, Any], space: VectorSpace
) -> DocumentVector:
    """Return the vector of a document over words that have columns, from the log or its text."""
    if "words" in payload:
        return stored_vector(document.id, payload, space)
    return space.known_vector(document.id, f"{document.title}\n{document.text}")
