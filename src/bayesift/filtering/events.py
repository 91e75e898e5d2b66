"""Define the events of a filter and the states of profiles.

A profile is determined by a state and the events after it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

import numpy as np

from bayesift.arrays import Array, IntArray
from bayesift.errors import DataError
from bayesift.filtering.profile import Counters, Profile, ProfileSettings
from bayesift.filtering.stacked import ProfileStack
from bayesift.filtering.vectors import DocumentVector, VectorSpace, stacked
from bayesift.models.online.posteriors import FullPosterior
from bayesift.state import decode_fitted, encode

Reason = Literal["relevant", "queried", "random"]
Arrays = dict[str, Array]
REASONS: tuple[Reason, ...] = ("relevant", "queried", "random")
_MAX_COLUMNS = 1 << 28


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A document was retrieved for a profile.

    Its probability is above the threshold ("relevant"), its label is expected to be informative
    ("queried"), or it was drawn at "random". Probability and expected information gain (bits) are
    None in an event that was read from a file.
    """

    profile: str
    document: DocumentVector
    why: Reason
    probability: float | None = None
    gain: float | None = None

    @property
    def id(self) -> str:
        """The id of the document."""
        return self.document.id


@dataclass(frozen=True, slots=True)
class Judged:
    """A document was judged; `document` is its vector if it was not pending."""

    profile: str
    id: str
    relevant: bool
    document: DocumentVector | None = None


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A judgement was taken back."""

    profile: str
    id: str


@dataclass(frozen=True, slots=True)
class Taught:
    """The strength of a word was set, below 0 if it speaks against relevance.

    0 takes the word back.

    `columns` are those of the word in the space of the filter; in a file they follow from the word.
    """

    profile: str
    word: str
    strength: float
    columns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Paused:
    """A profile was paused (nothing is retrieved for it) or resumed."""

    profile: str
    paused: bool


Event = Retrieved | Judged | TakenBack | Taught | Paused
_KINDS = {
    Retrieved: "retrieved",
    Judged: "judged",
    TakenBack: "taken back",
    Taught: "taught",
    Paused: "paused",
}


@dataclass(frozen=True)
class ProfileState:
    """A profile at one moment, as values that JSON can hold and arrays.

    Of its covariance only the lower triangle.
    """

    header: dict[str, Any]
    arrays: Arrays

    @classmethod
    def of(cls, profile: Profile) -> ProfileState:
        """Return the state of a profile; it shares no array with it."""
        posterior = {
            name: array.copy() for name, array in profile.posterior.to_content().items()
        }
        covariance = posterior.pop("covariance")
        counted = np.flatnonzero(profile.relevant_counts + profile.irrelevant_counts).astype(
            np.int32
        )
        header = {
            "name": profile.name,
            "settings": encode(profile.settings),
            "threshold": profile.threshold,
            "counters": asdict(profile.counters),
            "n_columns": len(profile.relevant_counts),
            "n_relevant": profile.n_relevant,
            "n_irrelevant": profile.n_irrelevant,
            "kept": [document.id for document in profile.kept],
            "pending": list(profile.pending),
            "verdicts": dict(profile.judgements),
            "taught": dict(profile.taught),
            "paused": profile.paused,
        }
        arrays = {
            **posterior,
            "triangle": covariance[np.tril_indices(len(covariance))],
            "terms": profile.terms.copy(),
            "counted": counted,
            "relevant_counts": profile.relevant_counts[counted],
            "irrelevant_counts": profile.irrelevant_counts[counted],
            **_packed("kept", profile.kept),
            **_packed("pending", list(profile.pending.values())),
        }
        if profile.stack is not None:
            learned: Arrays = {}
            header["stack"] = encode(profile.stack, learned, "stack")
            arrays |= {name: array.copy() for name, array in learned.items()}
        return cls(header, arrays)

    @property
    def name(self) -> str:
        """The name of the profile."""
        return str(self.header["name"])

    def with_settings(self, settings: ProfileSettings) -> ProfileState:
        """Return the same state with other settings and the same threshold."""
        return ProfileState({**self.header, "settings": encode(settings)}, self.arrays)

    def profile(self) -> Profile:
        """Make the profile of this state; raises `DataError` if its parts are inconsistent."""
        try:
            return self._profile()
        except DataError:
            raise
        except (
            AttributeError,
            IndexError,
            KeyError,
            OverflowError,
            TypeError,
            ValueError,
        ) as error:
            raise DataError(f"not the state of a profile: {error}") from error

    def _profile(self) -> Profile:
        header = self.header
        arrays = self.arrays
        profile = Profile(
            str(header["name"]), decode_fitted(header["settings"], {}, ProfileSettings)
        )
        profile.posterior = _posterior(arrays)
        if profile.stack is not None:
            profile.stack = decode_fitted(header["stack"], arrays, ProfileStack, "stack")
        terms = _integers(arrays, "terms", np.int32)
        if (
            len(np.unique(terms)) != len(terms)
            or terms.min(initial=0) < 0
            or profile.posterior.size != 1 + len(terms)
        ):
            raise _inconsistent("words and weights")
        profile.set_terms(terms)
        profile.relevant_counts, profile.irrelevant_counts = _unpacked_counts(
            arrays, int(header["n_columns"])
        )
        profile.n_relevant, profile.n_irrelevant = (
            int(header["n_relevant"]),
            int(header["n_irrelevant"]),
        )
        pairs = (
            (profile.relevant_counts, profile.n_relevant),
            (profile.irrelevant_counts, profile.n_irrelevant),
        )
        for counts, n_judged in pairs:
            if not 0 <= counts.min(initial=0) <= counts.max(initial=0) <= n_judged:
                raise _inconsistent("counts of words and judgements")
        profile.kept = _unpacked("kept", arrays, header["kept"])
        pending = _unpacked("pending", arrays, header["pending"])
        profile.pending = {document.id: document for document in pending}
        profile.judgements = {
            str(name): bool(relevant) for name, relevant in header["verdicts"].items()
        }
        profile.taught = {
            str(word): float(strength) for word, strength in header["taught"].items()
        }
        profile.paused = bool(header["paused"])
        profile.counters = Counters(
            **{name: int(count) for name, count in header["counters"].items()}
        )
        if not 0 <= (threshold := float(header["threshold"])) <= 1:
            raise _inconsistent("threshold")
        profile.set_threshold(threshold)
        return profile


def _posterior(arrays: Arrays) -> FullPosterior:
    triangle = arrays["triangle"]
    size = len(arrays["mean"])
    covariance = np.zeros((size, size))
    lower = np.tril_indices(size)
    if triangle.shape != lower[0].shape:
        raise _inconsistent("covariance and weights")
    covariance[lower] = triangle
    covariance.T[lower] = triangle
    posterior = FullPosterior(
        arrays["mean"], covariance, *(arrays[name] for name in ("pending", "weights", "clock"))
    )
    posterior._post_load()
    return posterior


def _unpacked_counts(arrays: Arrays, n_columns: int) -> tuple[IntArray, IntArray]:
    counted = _integers(arrays, "counted", np.int32)
    if (
        not 0 <= n_columns < _MAX_COLUMNS
        or counted.min(initial=0) < 0
        or len(np.unique(counted)) != len(counted)
    ):
        raise _inconsistent("counts of words")
    counts = np.zeros((2, n_columns), dtype=np.int32)
    for row, name in zip(counts, ("relevant_counts", "irrelevant_counts"), strict=True):
        row[counted] = _integers(arrays, name, np.int32)
    return counts[0].copy(), counts[1].copy()


def _packed(name: str, documents: Sequence[DocumentVector]) -> Arrays:
    rows = stacked(documents, 1)
    return {
        f"{name}.ends": rows.indptr[1:],
        f"{name}.columns": rows.indices,
        f"{name}.weights": rows.data,
    }


def _unpacked(name: str, arrays: Arrays, ids: list[str]) -> list[DocumentVector]:
    ends = _integers(arrays, f"{name}.ends", np.int64)
    columns = _integers(arrays, f"{name}.columns", np.int32)
    weights = arrays[f"{name}.weights"]
    begins = np.concatenate([np.zeros(1, np.int64), ends[:-1]]) if len(ends) else ends
    if (
        len(ends) != len(ids)
        or np.any(ends < begins)
        or columns.shape != weights.shape
        or columns.min(initial=0) < 0
    ):
        raise _inconsistent("documents")
    if len(columns) != (ends[-1] if len(ends) else 0) or not np.all(np.isfinite(weights)):
        raise _inconsistent("documents")
    spans = zip(map(str, ids), begins, ends, strict=True)
    return [
        DocumentVector(id_, columns[a:b].copy(), weights[a:b].copy()) for id_, a, b in spans
    ]


def _integers(arrays: Arrays, name: str, kind: Any) -> IntArray:
    array = arrays[name]
    if array.dtype != kind or array.ndim != 1:
        raise _inconsistent(name)
    return array.copy()


def _inconsistent(part: str) -> DataError:
    return DataError(f"not the state of a profile: {part} are invalid")


class History(Protocol):
    """What the engine reads of the past of a profile."""

    def find(self, profile: str, document: str) -> DocumentVector | None:
        """Find the vector of a document that was retrieved or judged for the profile.

        None without one.
        """
        ...

    def before(self, event: TakenBack | Taught) -> tuple[ProfileState | None, Iterable[Event]]:
        """Return a state of a profile before an event (None: its start) and all events after it."""
        ...


class EventLog(ABC):
    """A log that keeps what the engine returns, and is its history."""

    @abstractmethod
    def extend(self, events: Iterable[Event]) -> None:
        """Append events."""

    @abstractmethod
    def of_profile(self, profile: str) -> Iterator[Event]:
        """Read the events of one profile, in order."""

    def find(self, profile: str, document: str) -> DocumentVector | None:
        """Find the vector of a document that was retrieved or judged for the profile.

        None without one.
        """
        return document_in(self.of_profile(profile), document)

    def before(self, event: TakenBack | Taught) -> tuple[None, Iterator[Event]]:
        """Return the start of the profile (None), and all its events."""
        return None, self.of_profile(event.profile)


class MemoryLog(EventLog):
    """Events in memory."""

    def __init__(self) -> None:
        self._events: list[Event] = []

    def extend(self, events: Iterable[Event]) -> None:
        """Append events."""
        self._events.extend(events)

    def of_profile(self, profile: str) -> Iterator[Event]:
        """Read the events of one profile, in order."""
        return (event for event in self._events if event.profile == profile)


def document_in(events: Iterable[Event], document: str) -> DocumentVector | None:
    """Find the first vector of a document among events."""
    for event in events:
        if (
            isinstance(event, Retrieved | Judged)
            and event.document is not None
            and event.document.id == document
        ):
            return event.document
    return None


def effective(events: Iterable[Event]) -> list[Event]:
    """Leave out judgements and words that were taken back, and the events that did so."""
    kept: list[Event | None] = []
    latest: dict[tuple[type[Event], str, str], int] = {}

    def drop(kind: type[Event], profile: str, name: str) -> None:
        position = latest.pop((kind, profile, name), None)
        if position is not None:
            kept[position] = None

    for event in events:
        # What takes back stays out itself: the profile is rebuilt as if neither had happened.
        if isinstance(event, TakenBack):
            drop(Judged, event.profile, event.id)
            continue
        if isinstance(event, Judged):
            latest[Judged, event.profile, event.id] = len(kept)
        elif isinstance(event, Taught):
            drop(Taught, event.profile, event.word)
            if not event.strength:
                continue
            latest[Taught, event.profile, event.word] = len(kept)
        kept.append(event)
    return [event for event in kept if event is not None]


def event_record(event: Event, space: VectorSpace) -> dict[str, Any]:
    """Convert an event to what JSON can hold."""
    record: dict[str, Any] = {"event": _KINDS[type(event)], "profile": event.profile}
    if isinstance(event, Taught):
        return {**record, "word": event.word, "strength": event.strength}
    if isinstance(event, Paused):
        return {**record, "paused": event.paused}
    record["id"] = event.id
    if isinstance(event, TakenBack):
        return record
    record |= (
        {"why": event.why} if isinstance(event, Retrieved) else {"relevant": event.relevant}
    )
    if event.document is not None:
        words = space.words_of(event.document.columns)
        record |= {"words": words, "weights": event.document.weights.tolist()}
    return record


def recorded_event(record: dict[str, Any], space: VectorSpace) -> Event:
    """Make the event of an `event_record`.

    Raises KeyError, TypeError or ValueError for an invalid record.
    """
    kind = record["event"]
    profile = record["profile"]
    if not isinstance(profile, str):
        raise TypeError("profile must be a string")
    if kind == "taught":
        return _recorded_word(profile, record["word"], record["strength"], space)
    if kind == "paused" and isinstance(record["paused"], bool):
        return Paused(profile, record["paused"])
    name = record["id"]
    if not isinstance(name, str):
        raise TypeError("id must be a string")
    document = recorded_vector(name, record, space) if "words" in record else None
    if kind == "taken back":
        return TakenBack(profile, name)
    if kind == "judged" and isinstance(record["relevant"], bool):
        return Judged(profile, name, record["relevant"], document)
    if kind == "retrieved" and record["why"] in REASONS and document is not None:
        return Retrieved(profile, document, record["why"])
    raise ValueError(f"no event {kind!r}")


def recorded_vector(
    document: str, record: dict[str, Any], space: VectorSpace
) -> DocumentVector:
    """Make the vector of a record with words and weights; unknown words get columns."""
    weights = np.array(record["weights"], dtype=np.float64)
    columns = space.add_words([str(word) for word in record["words"]])
    if weights.shape != columns.shape or not np.all(np.isfinite(weights)):
        raise ValueError("words and weights do not match")
    return DocumentVector(document, columns, weights)


def _recorded_word(profile: str, word: Any, strength: Any, space: VectorSpace) -> Taught:
    columns = tuple(space.columns_of(word).tolist()) if isinstance(word, str) else ()
    if not columns or isinstance(strength, bool) or not abs(strength) < math.inf:
        raise ValueError("a word needs a term and a finite strength")
    return Taught(profile, word, float(strength), columns)
