"""The log of the filter, kept in a store: the engine appends to it and reads the past of a profile from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from bayesift.errors import DataError
from bayesift.filtering import DocumentVector, Judged, Retrieved, TakenBack, Taught, VectorSpace
from bayesift.filtering.events import Event, document_in, event_record, recorded_event
from bayesift.service.kinds import JUDGED, OF_PROFILES, RETRIEVED, TAKEN_BACK, TAUGHT
from bayesift.stores import DocumentRow, EventRow, Reading

_PAGE = 1_000
_RECENT = 100


class StoreLog:
    """Events of the engine: new ones wait here until they are written, past ones are read from the store.

    Parameters
    ----------
    space : gives words their columns

    Attributes
    ----------
    read : where past events are read; set by the writer for each transaction
    """

    def __init__(self, space: VectorSpace) -> None:
        self._space = space
        self._new: list[Event] = []
        self.read: Reading | None = None

    def __len__(self) -> int:
        return (0 if self.read is None else self.read.last_seq()) + len(self._new)

    def append(self, event: Event) -> None:
        """Add an event at the end."""
        self._new.append(event)

    def take(self) -> list[Event]:
        """The new events, which are the caller's now."""
        taken, self._new = self._new, []
        return taken

    def of_profile(self, profile: str, after: int = 0) -> Iterator[Event]:
        """The events of one profile, in order, since it was made or after an event."""
        if self.read is not None and (row := self.read.profile(profile)) is not None:
            yield from past_events(self.read, profile, max(after, row.seq), self._space)
        yield from (event for event in self._new if event.profile == profile)

    def withdrawn(self, profile: str) -> int:
        """The number of the oldest event that new ones take back; 0 if there is none."""
        numbers = [self._said(event) for event in self._new if event.profile == profile]
        return min((number for number in numbers if number is not None), default=0)

    def _said(self, event: Event) -> int | None:
        """The number of the last event that said what this one takes back."""
        if self.read is None or not isinstance(event, TakenBack | Taught):
            return None
        kinds = (TAUGHT,) if isinstance(event, Taught) else (JUDGED, TAKEN_BACK)
        document = None if isinstance(event, Taught) else event.id
        for row in self.read.events(
            profile=event.profile, document=document, kinds=kinds, limit=_RECENT, newest_first=True
        ):
            if any(_says(record, event) for record in row.payload["engine"]):
                return row.seq
        return 0

    def find(self, profile: str, document: str) -> DocumentVector | None:
        """The vector of a document that the profile retrieved or that was judged for it."""
        if self.read is None or (row := self.read.profile(profile)) is None:
            return None
        past = self.read.events(row.seq, profile=profile, document=document, kinds=OF_PROFILES)
        return document_in(engine_events(self.read, list(past), self._space), document)


def _says(record: dict[str, Any], event: TakenBack | Taught) -> bool:
    if isinstance(event, Taught):
        return bool(record["event"] == "taught" and record["word"] == event.word)
    return bool(record["event"] == "judged")


def past_events(read: Reading, profile: str, after: int, space: VectorSpace) -> Iterator[Event]:
    """What changed a profile after an event of the log."""
    rows = read.events(after, profile=profile, kinds=OF_PROFILES)
    while page := list(islice(rows, _PAGE)):
        yield from engine_events(read, page, space)


def engine_events(read: Reading, rows: list[EventRow], space: VectorSpace) -> Iterator[Event]:
    """Rows of the log as events of the engine."""
    arrivals = read.arrivals(row.document for row in rows if row.kind == RETRIEVED and row.document is not None)
    for row in rows:
        if row.kind == RETRIEVED:
            assert row.document is not None
            yield retrieved(row, recorded_vector(row.document, arrivals[row.document], space))
        else:
            yield from recorded(row, space)


def retrieved(row: EventRow, vector: DocumentVector) -> Retrieved:
    """A retrieval with its document."""
    assert row.profile is not None
    return Retrieved(row.profile, vector, row.payload["why"])


def recorded(row: EventRow, space: VectorSpace) -> list[Event]:
    """What the engine made of a judgement, a word or a pause."""
    return [recorded_event(record, space) for record in row.payload.get("engine", ())]


def records_of(events: list[Event], space: VectorSpace) -> list[dict[str, Any]]:
    """The inverse of `recorded`."""
    return [event_record(event, space) for event in events]


def vector_records(vectors: Sequence[DocumentVector], space: VectorSpace) -> dict[str, dict[str, Any]]:
    """Vectors as JSON can hold them, by the id of their document; by words, so that they stand on their own."""
    if not vectors:
        return {}
    words = space.words_of(np.concatenate([vector.columns for vector in vectors]))
    ends = np.cumsum([len(vector) for vector in vectors]).tolist()
    spans = zip(vectors, [0, *ends[:-1]], ends, strict=True)
    return {vector.id: {"words": words[a:b], "weights": vector.weights.tolist()} for vector, a, b in spans}


def recorded_vector(document: str, payload: dict[str, Any], space: VectorSpace) -> DocumentVector:
    """The inverse of `vector_records`; words that are not known get columns."""
    event = recorded_event({"event": "judged", "profile": "", "id": document, "relevant": True, **payload}, space)
    if not isinstance(event, Judged) or event.document is None:
        raise DataError(f"the log holds no vector of document {document!r}")
    return event.document


def known_vector(document: DocumentRow, payload: dict[str, Any], space: VectorSpace) -> DocumentVector:
    """The vector of a document over words that have columns, from the log or from its text; nothing changes."""
    if "words" in payload:
        return recorded_vector(document.id, payload, space)
    return space.known_vector(document.id, f"{document.title}\n{document.text}")
