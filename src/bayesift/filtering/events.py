"""What happened, in order: the only truth of a filter. Profiles are what a start and the events make of them.

A log is append-only. Taking a judgement or a word back is an event too: the profile is made anew from its start and the
events without what was taken back, so that it is as if it had never been said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from bayesift.filtering.vectors import DocumentVector, VectorSpace

REASONS = ("relevant", "queried", "random")


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A document was handed to the reader of a profile, for one of `REASONS`."""

    profile: str
    document: DocumentVector
    why: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A reader said whether a document is relevant; `document` comes along if it was never retrieved."""

    profile: str
    id: str
    relevant: bool
    document: DocumentVector | None = None


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A reader took a judgement back."""

    profile: str
    id: str


@dataclass(frozen=True, slots=True)
class Taught:
    """A reader said what a word is worth, below 0 if it speaks against; 0 takes back what was said of it before.

    `columns` are those of the word in the space of the filter; in a file they follow from the word.
    """

    profile: str
    word: str
    strength: float
    columns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Paused:
    """A profile was put aside (no document is retrieved for it) or taken up again."""

    profile: str
    paused: bool


Event = Retrieved | Judged | TakenBack | Taught | Paused


class EventLog(Protocol):
    """An append-only list of events."""

    def append(self, event: Event) -> None:
        """Add an event at the end."""
        ...

    def of_profile(self, profile: str) -> Iterator[Event]:
        """The events of one profile, in order."""
        ...

    def find(self, profile: str, document: str) -> DocumentVector | None:
        """The document by its id, if it was retrieved or judged for the profile."""
        ...

    def __len__(self) -> int: ...


class MemoryLog:
    """Events in memory.

    Examples
    --------
    >>> log = MemoryLog()
    >>> log.append(TakenBack("grain", "7"))
    >>> len(log), list(log.of_profile("crude"))
    (1, [])
    """

    def __init__(self) -> None:
        self._events: list[Event] = []

    def __len__(self) -> int:
        return len(self._events)

    def append(self, event: Event) -> None:
        """Add an event at the end."""
        self._events.append(event)

    def of_profile(self, profile: str) -> Iterator[Event]:
        """The events of one profile, in order."""
        return (event for event in self._events if event.profile == profile)

    def find(self, profile: str, document: str) -> DocumentVector | None:
        """The document by its id, if it was retrieved or judged for the profile."""
        return document_in(self.of_profile(profile), document)


def document_in(events: Iterable[Event], name: str) -> DocumentVector | None:
    """The first document of this id that comes with an event.

    Examples
    --------
    >>> document_in([Judged("grain", "7", True)], "7") is None
    True
    """
    for event in events:
        if isinstance(event, Retrieved | Judged) and event.document is not None and event.document.id == name:
            return event.document
    return None


def effective(events: Iterable[Event]) -> list[Event]:
    """The events without the judgements and words that were taken back, and without the taking back.

    Examples
    --------
    >>> effective([Judged("grain", "7", True), Judged("grain", "8", True), TakenBack("grain", "7")])
    [Judged(profile='grain', id='8', relevant=True, document=None)]
    """
    kept: list[Event | None] = []
    judged: dict[tuple[str, str], int] = {}
    taught: dict[tuple[str, str], int] = {}

    def forget(places: dict[tuple[str, str], int], key: tuple[str, str]) -> None:
        if key in places:
            kept[places.pop(key)] = None

    for event in events:
        if isinstance(event, TakenBack):
            forget(judged, (event.profile, event.id))
            continue
        if isinstance(event, Judged):
            judged[event.profile, event.id] = len(kept)
        elif isinstance(event, Taught):
            forget(taught, (event.profile, event.word))
            if not event.strength:
                continue
            taught[event.profile, event.word] = len(kept)
        kept.append(event)
    return [event for event in kept if event is not None]


def event_record(event: Event, space: VectorSpace) -> dict[str, Any]:
    """An event as JSON can hold it.

    Examples
    --------
    >>> event_record(Judged("grain", "7", True), VectorSpace())
    {'event': 'judged', 'profile': 'grain', 'id': '7', 'relevant': True}
    """
    if isinstance(event, TakenBack):
        return {"event": "taken back", "profile": event.profile, "id": event.id}
    if isinstance(event, Taught):
        return {"event": "taught", "profile": event.profile, "word": event.word, "strength": event.strength}
    if isinstance(event, Paused):
        return {"event": "paused", "profile": event.profile, "paused": event.paused}
    document = event.document
    vector = {}
    if document is not None:
        vector = {"words": space.words_of(document.columns), "weights": document.weights.tolist()}
    if isinstance(event, Retrieved):
        return {"event": "retrieved", "profile": event.profile, "id": event.document.id, "why": event.why, **vector}
    return {"event": "judged", "profile": event.profile, "id": event.id, "relevant": event.relevant, **vector}


def recorded_event(record: dict[str, Any], space: VectorSpace) -> Event:
    """The inverse of `event_record`; raises KeyError, TypeError or ValueError for what is no event."""
    kind, profile = record["event"], record["profile"]
    if not isinstance(profile, str):
        raise TypeError("profile must be a string")
    if kind == "taught":
        return _recorded_word(profile, record["word"], record["strength"], space)
    if kind == "paused" and isinstance(record["paused"], bool):
        return Paused(profile, record["paused"])
    name = record["id"]
    if not isinstance(name, str):
        raise TypeError("id must be a string")
    document = _recorded_document(name, record, space) if "words" in record else None
    if kind == "taken back":
        return TakenBack(profile, name)
    if kind == "judged" and isinstance(record["relevant"], bool):
        return Judged(profile, name, record["relevant"], document)
    if kind == "retrieved" and record["why"] in REASONS and document is not None:
        return Retrieved(profile, document, record["why"])
    raise ValueError(f"no event {kind!r}")


def _recorded_word(profile: str, word: Any, strength: Any, space: VectorSpace) -> Taught:
    columns = tuple(space.columns_of(word).tolist()) if isinstance(word, str) else ()
    if not columns or isinstance(strength, bool) or not abs(strength) < math.inf:
        raise ValueError("a word and its strength do not fit together")
    return Taught(profile, word, float(strength), columns)


def _recorded_document(name: str, record: dict[str, Any], space: VectorSpace) -> DocumentVector:
    weights = np.array(record["weights"], dtype=np.float64)
    columns = space.add_words([str(word) for word in record["words"]])
    if weights.shape != columns.shape or not np.all(np.isfinite(weights)):
        raise ValueError("words and weights do not fit together")
    return DocumentVector(name, columns, weights)


def with_document(event: Judged, document: DocumentVector) -> Judged:
    """The judgement with its document.

    Examples
    --------
    >>> vector = DocumentVector("7", np.zeros(0, dtype=np.int32), np.zeros(0))
    >>> with_document(Judged("grain", "7", True), vector).document is vector
    True
    """
    return replace(event, document=document)
