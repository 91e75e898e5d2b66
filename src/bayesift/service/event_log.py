"""The event log of the service: what is stored, the history that the engine reads from it, and replay.

A call of `observe` is a batch: COUNTED, a SEEN for each document, a RETRIEVED for each retrieval. A
SEEN carries the vector of the document if any profile retrieved it. COUNTED and CREATED say how
texts of scripts without spaces are split. JUDGED, TAKEN_BACK, TAUGHT, PAUSED, RESUMED, PUT_AWAY and
RESTORED carry the events of the engine under "engine".

Reviews (REVIEW_BEGUN, ...) have their id in the place of the profile; REVIEW_CHANGED carries an
event of `screening.review_log`. They do not concern the filter: `reviews.py` replays them.

Replay decides nothing: the log has what was retrieved. Words get their columns in the order of the
log, so that the filter is the same, bit for bit, as the one that wrote it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
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
from bayesift.service.db.tables import DocumentRow, EventRow, ProfileRow, Reading
from bayesift.service.transfer import install_profile

COUNTED = "counted"
SEEN = "seen"
RETRIEVED = "retrieved"
JUDGED = "judged"
TAKEN_BACK = "taken back"
TAUGHT = "taught"
CREATED = "profile created"
IMPORTED = "profile imported"
PAUSED = "profile paused"
RESUMED = "profile resumed"
DELETED = "profile deleted"
PUT_AWAY = "profile put away"
RESTORED = "profile restored"
PURGED = "texts purged"
REVIEW_BEGUN = "review begun"
REVIEW_CHANGED = "review changed"
REVIEW_DELETED = "review put away"
REVIEW_RESTORED = "review restored"

CHANGES = (
    RETRIEVED,
    JUDGED,
    TAKEN_BACK,
    TAUGHT,
    PAUSED,
    RESUMED,
    PUT_AWAY,
    RESTORED,
)  # what a profile is rebuilt from
CHECKPOINT_EVERY = 50  # judgements of a profile
_PER_PROFILE = 2
_IN_ALL = 400
_PAGE = 1_000
_RECENT = 100


@dataclass(frozen=True)
class Checkpoint:
    """The state of a profile after event `seq`."""

    seq: int
    state: ProfileState


class Checkpoints:
    """Recent states of profiles, in memory: a cache.

    When something is taken back, its profile is rebuilt from the newest checkpoint before it
    instead of from its start; checkpoints that hold what was taken back are dropped.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, list[Checkpoint]] = OrderedDict()
        self._judged: dict[str, int] = {}

    def keep(self, profile: str, checkpoint: Checkpoint) -> None:
        """Keep a state of a profile; the oldest are dropped when there are too many."""
        self._kept[profile] = [*self._kept.pop(profile, []), checkpoint][-_PER_PROFILE:]
        while sum(map(len, self._kept.values())) > _IN_ALL:
            self._kept.popitem(last=False)

    def count_judgement(self, profile: Profile, seq: int) -> None:
        """Count a judgement, and keep the state of the profile after every few."""
        self._judged[profile.name] = self._judged.get(profile.name, 0) + 1
        if self._judged[profile.name] % CHECKPOINT_EVERY == 0:
            self.keep(profile.name, Checkpoint(seq, ProfileState.of(profile)))

    def before(self, profile: str, seq: int) -> Checkpoint | None:
        """The newest checkpoint of a profile before an event; later ones are dropped."""
        kept = [checkpoint for checkpoint in self._kept.get(profile, []) if checkpoint.seq < seq]
        self._kept[profile] = kept
        return kept[-1] if kept else None

    def forget(self, profile: str) -> None:
        """Drop the checkpoints of a profile."""
        self._kept.pop(profile, None)


class StoreHistory:
    """The past of profiles as the engine reads it, in one transaction."""

    def __init__(self, read: Reading, space: VectorSpace, checkpoints: Checkpoints) -> None:
        self._read = read
        self._space = space
        self._checkpoints = checkpoints

    def find(self, profile: str, document: str) -> DocumentVector | None:
        """The vector of a document that was retrieved or judged for the profile.

        None without one.
        """
        row = self._row(profile)
        if row is None:
            return None
        rows = self._read.events(row.seq, profile=profile, document=document, kinds=CHANGES)
        return document_in(self._events(list(rows)), document)

    def before(self, event: TakenBack | Taught) -> tuple[ProfileState | None, Iterable[Event]]:
        """A state of the profile without what the event takes back (None: its start), and all events after it."""
        checkpoint = self._checkpoints.before(event.profile, self._seq_taken_back(event))
        if checkpoint is None:
            return None, self.of_profile(event.profile)
        return checkpoint.state, self.of_profile(event.profile, after=checkpoint.seq)

    def of_profile(self, profile: str, after: int = 0) -> Iterator[Event]:
        """The events of a profile in order, since it was created or after a number."""
        row = self._row(profile)
        if row is None:
            return
        rows = self._read.events(max(after, row.seq), profile=profile, kinds=CHANGES)
        while page := list(islice(rows, _PAGE)):
            yield from self._events(page)

    def _row(self, profile: str) -> ProfileRow | None:
        return self._read.profile(profile) or self._read.profile(profile, deleted=True)

    def _events(self, rows: list[EventRow]) -> Iterator[Event]:
        """Rows of the log as events of the engine."""
        arrivals = self._read.arrivals(str(row.document) for row in rows if row.kind == RETRIEVED)
        for row in rows:
            if row.kind == RETRIEVED:
                document = str(row.document)
                source = row.payload if "words" in row.payload else arrivals[document]
                yield _retrieved(row, recorded_vector(document, source, self._space))
            else:
                yield from _engine_events(row, self._space)

    def _seq_taken_back(self, event: TakenBack | Taught) -> int:
        """The number of the newest event that gave what this one takes back.

        0 if it is not recent.
        """
        document, kinds = (
            (None, (TAUGHT,)) if isinstance(event, Taught) else (event.id, (JUDGED, TAKEN_BACK))
        )
        rows = self._read.events(
            profile=event.profile, document=document, kinds=kinds, limit=_RECENT, newest_first=True
        )
        return next(
            (
                row.seq
                for row in rows
                if any(_gives(record, event) for record in row.payload["engine"])
            ),
            0,
        )


def _gives(record: dict[str, Any], event: TakenBack | Taught) -> bool:
    """Whether a record of the log gave what an event takes back."""
    if isinstance(event, Taught):
        return bool(record["event"] == "taught" and record["word"] == event.word)
    return bool(record["event"] == "judged")


def replay(engine: FilterEngine, read: Reading, checkpoints: Checkpoints, after: int = 0) -> int:
    """Apply the events after a number to an engine; returns the number of the last event."""
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
        space, name, document = self._engine.space, str(row.profile), str(row.document)
        if row.kind in (COUNTED, CREATED):
            # A log without it is from before scripts without spaces were split.
            space.unspaced = row.payload.get("unspaced", "words")
        if row.kind == COUNTED:
            self._arrived = {}
            space.count(row.payload)
        elif row.kind == SEEN:
            if "words" in row.payload:
                self._arrived[document] = recorded_vector(document, row.payload, space)
        elif row.kind == CREATED:
            add_described(self._engine, row.payload["definition"])
        elif row.kind == IMPORTED:
            install_profile(self._engine, name, row.payload["model"])
        elif row.kind == DELETED:
            self.remove_profile(name)
            self._checkpoints.forget(name)
        elif row.kind == RETRIEVED:
            own = (
                "words" in row.payload
            )  # retrieved when the profile was created, long after it arrived
            vector = (
                recorded_vector(document, row.payload, space) if own else self._arrived[document]
            )
            self.apply(_retrieved(row, vector))
        else:
            for event in _engine_events(row, space):
                self.apply(event)


def _retrieved(row: EventRow, vector: DocumentVector) -> Retrieved:
    return Retrieved(str(row.profile), vector, row.payload["why"])


def _engine_events(row: EventRow, space: VectorSpace) -> list[Event]:
    return [recorded_event(record, space) for record in row.payload.get("engine", ())]


def vector_records(
    vectors: Sequence[DocumentVector], space: VectorSpace
) -> dict[str, dict[str, Any]]:
    """Vectors as JSON can hold them, by the id of their document.

    By words, so that they do not depend on columns.
    """
    if not vectors:
        return {}
    words = space.words_of(np.concatenate([vector.columns for vector in vectors]))
    ends = np.cumsum([len(vector) for vector in vectors]).tolist()
    spans = zip(vectors, [0, *ends[:-1]], ends, strict=True)
    return {
        vector.id: {"words": words[a:b], "weights": vector.weights.tolist()}
        for vector, a, b in spans
    }


def known_vector(
    document: DocumentRow, payload: dict[str, Any], space: VectorSpace
) -> DocumentVector:
    """The vector of a document over words that have columns, from the log or from its text.

    Nothing changes.
    """
    if "words" in payload:
        return recorded_vector(document.id, payload, space)
    return space.known_vector(document.id, f"{document.title}\n{document.text}")
