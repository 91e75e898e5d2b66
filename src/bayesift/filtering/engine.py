"""The filter: profiles retrieve documents from a stream, readers judge them, profiles learn.

The engine is deterministic and has no clock, threads or random state: what it does follows from the
start of its profiles, the documents it observed and the judgements it got. Judgements may come
late, in any order, never, twice, or be taken back. The engine changes its profiles and returns the
events; what it needs of the past it reads from a `History` that the caller passes in. `Filter` is
an engine with a log that keeps the events.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesift.arrays import BoolArray, SparseRows
from bayesift.errors import DataError
from bayesift.filtering.events import (
    REASONS,
    Event,
    EventLog,
    History,
    Judged,
    MemoryLog,
    Paused,
    ProfileState,
    Retrieved,
    TakenBack,
    Taught,
    effective,
)
from bayesift.filtering.profile import (
    QUERY_BIAS,
    QUERY_STRENGTH,
    Found,
    Profile,
    ProfileSettings,
)
from bayesift.filtering.strategies import Goal, Strategy, TargetCount
from bayesift.filtering.vectors import (
    DocumentVector,
    VectorBatch,
    VectorSpace,
    matrix_of,
    stacked,
)
from bayesift.records import Document
from bayesift.state import decode
from bayesift.text import WordVectors
from bayesift.text.embedding import vectors_of

_GOAL_FIELD = {"target": "count", "utility": "gains", "precision": "floor", "recall": "floor"}


class FilterEngine:
    """Profiles over a stream of documents.

    Parameters
    ----------
    space : how texts become vectors; by default one with running frequencies

    Attributes
    ----------
    profiles : by name
    starts : the state of each profile when it was added

    Examples
    --------
    >>> engine, log = FilterEngine(), MemoryLog()
    >>> _ = engine.add_profile("grain", query="wheat corn harvest")
    >>> [event.why for event in engine.observe(Document("1", "Wheat and corn harvest begins"))]
    ['relevant']
    >>> engine.judge("grain", "1", True, log)
    [Judged(profile='grain', id='1', relevant=True, document=None)]
    """

    def __init__(self, space: VectorSpace | None = None) -> None:
        self.space = VectorSpace(idf="running") if space is None else space
        self.profiles: dict[str, Profile] = {}
        self.starts: dict[str, ProfileState] = {}

    def add_profile(
        self,
        name: str,
        *,
        query: str | None = None,
        words: Mapping[str, float] | None = None,
        examples: Sequence[tuple[str, bool]] | None = None,
        batch: tuple[SparseRows, BoolArray] | None = None,
        settings: ProfileSettings | None = None,
        query_as_example: bool = False,
        expand: WordVectors | None = None,
    ) -> Profile:
        """Add a profile that starts from a query, words, labelled documents, or nothing.

        Parameters
        ----------
        name : of the profile
        query : its words get positive mean weights, so that a document first scores by its cosine
            to the query
        words : strength of words, below 0 for what is not wanted, added to the weights of the
            query; 1 is that of a query of one word
        examples : labelled texts, learned in this order for several epochs (the batch phase)
        batch : the same as vectors of this space
        settings : of the profile
        query_as_example : learn the query as a relevant document before the others, as Chai, Ng &
            Chieu do with topic statements, instead of giving its words a prior
        expand : word vectors; words that mean about what those of the query do are added to
            `words`, by `WordVectors.expand`
        """
        if name in self.profiles:
            raise ValueError(f"there is already a profile {name!r}")
        X, y = self._batch(examples, batch)
        if query is not None and expand is not None:
            words = {**expand.expand(query), **(words or {})}
        if query is not None and query_as_example:
            X, y = in_front(self.space.vector("query", query), X, y)
        prior = self._prior(None if query_as_example else query, words or {})
        bias = QUERY_BIAS if prior else 0.0
        profile = Profile(
            name, ProfileSettings() if settings is None else settings, prior=prior, bias=bias
        )
        if X is not None:
            profile.learn_batch(X, y)
        self._install(profile)
        return profile

    def remove_profile(self, name: str) -> None:
        """Remove a profile."""
        del self.profiles[name], self.starts[name]

    def observe(self, document: Document) -> list[Retrieved]:
        """Show a document to all profiles; returns the retrievals."""
        return self.observe_many([document])

    def observe_many(self, documents: Sequence[Document]) -> list[Retrieved]:
        """Show documents to all profiles; returns the retrievals in the order of the stream.

        Equal to `observe` for each document, but faster; running frequencies are updated once for
        all documents.
        """
        return self.observe_vectors(
            self.space.weigh([d.id for d in documents], [d.full_text for d in documents])
        )

    def observe_vectors(self, batch: VectorBatch) -> list[Retrieved]:
        """Observe documents as `observe_many` does, from vectors of this space."""
        found: list[tuple[int, int, Profile, Found]] = []
        active = [profile for profile in self.profiles.values() if not profile.paused]
        for position, profile in enumerate(active):
            found += [(hit.row, position, profile, hit) for hit in _scan_all(profile, batch)]
        vectors: dict[int, DocumentVector] = {}
        events = []
        # Retrievals in the order of the stream, then of the profiles, whatever scanned them first
        for row, _, profile, hit in sorted(found, key=lambda entry: entry[:2]):
            if row not in vectors:
                vectors[row] = batch.take(row, self.space)
            profile.hold(vectors[row])
            events.append(
                Retrieved(
                    profile.name, vectors[row], REASONS[hit.why - 1], hit.probability, hit.gain
                )
            )
        return events

    def judge(
        self, profile: str, document: str | Document, relevant: bool, history: History
    ) -> list[Event]:
        """Learn from a judgement.

        A retrieved document is named by its id, another one is given itself. The same judgement
        again changes nothing; a different one replaces the first, which is taken back.
        """
        target = self._profile(profile)
        name = document if isinstance(document, str) else document.id
        if target.judgements.get(name) is bool(relevant):
            return []
        vector = self._find(target, name, document, history)
        events: list[Event] = []
        if name in target.judgements:
            events += self.take_back(profile, name, history)
            target = self.profiles[profile]
            vector = target.pending.get(
                name, vector
            )  # the vector it arrived with, which replay learns from
        events.append(
            Judged(profile, name, bool(relevant), None if name in target.pending else vector)
        )
        target.judge(vector, bool(relevant))
        return events

    def take_back(self, profile: str, document: str, history: History) -> list[Event]:
        """Take back a judgement: the profile becomes what it would be without it."""
        if document not in self._profile(profile).judgements:
            raise DataError(f"profile {profile!r} has no judgement of document {document!r}")
        event = TakenBack(profile, document)
        self._rebuild(event, history)
        return [event]

    def teach(self, profile: str, word: str, strength: float, history: History) -> list[Event]:
        """Set the strength of a word; its earlier strength is taken back, and 0 only does that.

        Parameters
        ----------
        profile : its name
        word : analysed as documents are (stems, stop words); a text of several words sets each
        strength : as in `add_profile`: 1 is that of a query of one word, below 0 speaks against.
            The mean of the weight's prior moves, so that judgements, earlier and later ones, can
            overrule it.
        history : the past of the profile
        """
        target = self._profile(profile)
        columns = tuple(self.space.columns_of(word).tolist())
        if not columns:
            raise DataError(f"{word!r:.60} holds no word that documents are read for")
        if not math.isfinite(strength):
            raise DataError(
                f"the strength of {word!r:.60} must be a finite number, got {strength!r}"
            )
        if target.taught.get(word, 0.0) == strength:
            return []
        event = Taught(profile, word, float(strength), columns)
        if word in target.taught:
            self._rebuild(event, history)
        else:
            apply(target, event, {})
        return [event]

    def pause(self, profile: str, paused: bool = True) -> list[Event]:
        """Pause a profile: nothing is retrieved for it, judgements still count.

        False resumes it.
        """
        if self._profile(profile).paused is paused:
            return []
        self.profiles[profile].paused = paused
        return [Paused(profile, paused)]

    def _rebuild(self, event: TakenBack | Taught, history: History) -> None:
        """Rebuild a profile without what an event takes back."""
        state, past = history.before(event)
        start = self.starts[event.profile] if state is None else state
        self.profiles[event.profile] = replay_events(start.profile(), [*past, event])

    def _install(self, profile: Profile, start: ProfileState | None = None) -> None:
        self.profiles[profile.name] = profile
        self.starts[profile.name] = ProfileState.of(profile) if start is None else start

    def _profile(self, name: str) -> Profile:
        if name not in self.profiles:
            raise DataError(
                f"no profile {name!r}; there are: {', '.join(self.profiles) or 'none'}"
            )
        return self.profiles[name]

    def _prior(self, query: str | None, words: Mapping[str, float]) -> dict[int, float]:
        """Add the query's vector and the strengths of words, scaled to one length."""
        prior: dict[int, float] = {}
        if query is not None:
            vector = self.space.vector("query", query)
            prior = dict(zip(vector.columns.tolist(), vector.weights.tolist(), strict=True))
        for word, strength in words.items():
            for column in self.space.columns_of(word).tolist():
                prior[column] = prior.get(column, 0.0) + float(strength)
        length = math.sqrt(sum(weight * weight for weight in prior.values()))
        if length:
            return {
                column: QUERY_STRENGTH * weight / length for column, weight in prior.items()
            }
        return {}

    def _batch(
        self,
        examples: Sequence[tuple[str, bool]] | None,
        batch: tuple[SparseRows, BoolArray] | None,
    ) -> tuple[SparseRows | None, BoolArray]:
        if examples is not None and batch is not None:
            raise ValueError("give examples or batch, not both")
        if batch is not None:
            return batch[0], np.asarray(batch[1], dtype=bool)
        if not examples:
            return None, np.zeros(0, dtype=bool)
        vectors = [
            self.space.vector(f"example/{i}", text) for i, (text, _) in enumerate(examples)
        ]
        return stacked(vectors, len(self.space)), np.array(
            [label for _, label in examples], dtype=bool
        )

    def _find(
        self, profile: Profile, name: str, document: str | Document, history: History
    ) -> DocumentVector:
        """Find the vector of a document: pending, made from the document, or from the history."""
        if name in profile.pending:
            return profile.pending[name]
        if isinstance(document, Document):
            return self.space.vector(name, document.full_text)
        known = history.find(profile.name, name)
        if known is not None:
            return known
        raise DataError(
            f"profile {profile.name!r} never retrieved a document {name!r}; give the document "
            "itself"
        )


@dataclass
class Filter:
    """A filter engine with the log that keeps its events and is the history it reads.

    Examples
    --------
    >>> running = Filter(FilterEngine())
    >>> _ = running.engine.add_profile("grain", query="wheat corn harvest")
    >>> for event in running.observe([Document("1", "Wheat and corn harvest begins")]):
    ...     running.judge(event.profile, event.id, True)
    >>> running.engine.profiles["grain"].counters.judged_relevant
    1
    """

    engine: FilterEngine
    log: EventLog = field(default_factory=MemoryLog)

    def observe(self, documents: Sequence[Document]) -> list[Retrieved]:
        """Observe documents; see `FilterEngine.observe_many`."""
        events = self.engine.observe_many(documents)
        self.log.extend(events)
        return events

    def judge(self, profile: str, document: str | Document, relevant: bool) -> None:
        """Judge a document; see `FilterEngine.judge`."""
        self.log.extend(self.engine.judge(profile, document, relevant, self.log))

    def take_back(self, profile: str, document: str) -> None:
        """Take a judgement back; see `FilterEngine.take_back`."""
        self.log.extend(self.engine.take_back(profile, document, self.log))

    def teach(self, profile: str, word: str, strength: float) -> None:
        """Teach a word; see `FilterEngine.teach`."""
        self.log.extend(self.engine.teach(profile, word, strength, self.log))

    def pause(self, profile: str, paused: bool = True) -> None:
        """Pause a profile; see `FilterEngine.pause`."""
        self.log.extend(self.engine.pause(profile, paused))


def add_described(engine: FilterEngine, entry: Mapping[str, Any]) -> Profile:
    """Add a profile from a mapping as in a YAML file, with examples as pairs of text and label."""
    strategy = Strategy.of(str(entry.get("strategy", "plain")), **(entry.get("options") or {}))
    settings = ProfileSettings(
        strategy=strategy, goal=_goal(entry.get("goal")), **(entry.get("settings") or {})
    )
    words = {
        str(word): float(strength) for word, strength in (entry.get("words") or {}).items()
    }
    examples = [(text, relevant) for text, relevant in entry.get("examples") or ()]
    query = entry.get("query")
    expand = vectors_of(None) if entry.get("expand") else None
    return engine.add_profile(
        entry["name"],
        query=query,
        words=words,
        examples=examples,
        settings=settings,
        expand=expand,
    )


def _goal(given: Any) -> Goal:
    if given is None:
        return TargetCount()
    if not isinstance(given, dict) or len(given) != 1 or not given.keys() <= _GOAL_FIELD.keys():
        raise ValueError(
            f"a goal is one of {', '.join(_GOAL_FIELD)}, such as {{target: 50}}; got {given!r:.60}"
        )
    ((kind, value),) = given.items()
    goal: Goal = decode({"kind": f"{kind}-goal", _GOAL_FIELD[kind]: value})
    return goal


def replay_events(profile: Profile, events: Iterable[Event]) -> Profile:
    """Apply events to a profile, without those that later ones take back."""
    seen: dict[str, DocumentVector] = {}
    for event in effective(events):
        apply(profile, event, seen)
    return profile


class Replay:
    """Applies past events to the profiles of an engine, in order.

    A profile that something is taken back from is outdated: it is rebuilt from its start when all
    events are read.
    """

    def __init__(self, engine: FilterEngine) -> None:
        self._engine = engine
        self._seen: dict[str, dict[str, DocumentVector]] = {}
        self._outdated: set[str] = set()

    def apply(self, event: Event) -> None:
        """Apply an event."""
        name = event.profile
        profile = self._engine.profiles[event.profile]
        if isinstance(event, TakenBack) or (
            isinstance(event, Taught) and event.word in profile.taught
        ):
            self._outdated.add(name)
        elif name not in self._outdated:
            apply(profile, event, self._seen.setdefault(name, {}))

    def remove_profile(self, name: str) -> None:
        """Remove a profile."""
        self._engine.remove_profile(name)
        self._outdated.discard(name)
        self._seen.pop(name, None)

    def finish(self, events_of: Callable[[str], Iterable[Event]]) -> set[str]:
        """Rebuild outdated profiles from all their events, and return their names."""
        for name in self._outdated:
            self._engine.profiles[name] = replay_events(
                self._engine.starts[name].profile(), events_of(name)
            )
        return self._outdated


def apply(profile: Profile, event: Event, seen: dict[str, DocumentVector]) -> None:
    """Apply an event that is not taken back to a profile.

    `seen` collects documents by their ids.
    """
    if isinstance(event, Retrieved):
        seen[event.document.id] = event.document
        profile.count_retrieval(queried=event.why != "relevant")
        profile.hold(event.document)
    elif isinstance(event, Judged):
        document = event.document or profile.pending.get(event.id) or seen.get(event.id)
        if document is None:
            raise DataError(
                f"the log has a judgement of document {event.id!r}, but not the document"
            )
        seen[event.id] = document
        profile.judge(document, event.relevant)
    elif isinstance(event, Taught):
        profile.teach(event.word, event.columns, event.strength)
    elif isinstance(event, Paused):
        profile.paused = event.paused
    else:
        raise TypeError("TakenBack is resolved by `effective` and never applied")


def _scan_all(profile: Profile, batch: VectorBatch) -> Iterable[Found]:
    """Find the documents of a batch that a profile retrieves.

    Each one may change the rule for the next. Documents that are pending or judged are skipped.
    """
    draws = profile.draws(list(batch.ids))
    taken: set[str] = set()
    hit = profile.scan(batch.rows, 0, draws)
    while hit is not None:
        name = batch.ids[hit.row]
        if not (name in profile.pending or name in profile.judgements or name in taken):
            yield hit
            taken.add(name)
            profile.count_retrieval(queried=REASONS[hit.why - 1] != "relevant")
        hit = profile.scan(batch.rows, hit.row + 1, draws)


def in_front(
    vector: DocumentVector, X: SparseRows | None, y: BoolArray
) -> tuple[SparseRows, BoolArray]:
    """Put one more relevant document before the others."""
    width = int(max(vector.columns.max(initial=-1) + 1, 0 if X is None else X.shape[1]))
    if X is None:
        return stacked([vector], width), np.ones(1, dtype=bool)
    rows = matrix_of(
        np.concatenate([[0], X.indptr + len(vector)]).astype(np.int64),
        np.concatenate([vector.columns, X.indices]).astype(np.int32),
        np.concatenate([vector.weights, X.data]),
        width,
    )
    return rows, np.concatenate([[True], y])
