"""The filter: documents go by, profiles pick, readers judge, profiles learn.

The engine is deterministic and holds no clock, no threads and no random state: what it does follows from the start of
its profiles, the documents it observed and the judgements it got. Judgements may come late, in any order, never, twice,
or be taken back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from bayesift.errors import DataError
from bayesift.filtering.events import (
    REASONS,
    Event,
    EventLog,
    Judged,
    MemoryLog,
    Paused,
    Retrieved,
    TakenBack,
    Taught,
    effective,
)
from bayesift.filtering.profile import QUERY_BIAS, QUERY_STRENGTH, Found, Profile, ProfileSettings
from bayesift.filtering.state import ProfileState
from bayesift.filtering.vectors import DocumentVector, VectorBatch, VectorSpace
from bayesift.records import Document

Array = np.ndarray[Any, Any]
Reason = Literal["relevant", "queried", "random"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a profile decides about a document.

    Parameters
    ----------
    profile, document : their names
    why : "relevant" (its probability is above the threshold), "queried" (its label would teach enough) or "random" if
        it is retrieved; None if not
    probability : of relevance; None where it was not needed
    gain : expected information gain in bits; None where it was not needed
    """

    profile: str
    document: str
    why: Reason | None = None
    probability: float | None = None
    gain: float | None = None

    @property
    def retrieve(self) -> bool:
        """Whether the document is handed to the reader."""
        return self.why is not None


class FilterEngine:
    """Profiles over a stream of documents.

    Parameters
    ----------
    space : how texts become vectors; one with running frequencies unless given
    log : where events are written; in memory unless given

    Examples
    --------
    >>> engine = FilterEngine()
    >>> _ = engine.add_profile("grain", query="wheat corn harvest")
    >>> [decision.why for decision in engine.observe(Document("1", "Wheat and corn harvest begins"))]
    ['relevant']
    >>> engine.judge("grain", "1", True)
    >>> engine.profiles["grain"].counters.judged_relevant
    1
    >>> engine.take_back("grain", "1")
    >>> engine.profiles["grain"].counters.judged_relevant
    0
    >>> engine.teach("grain", "tonnes", 0.5)
    >>> engine.profiles["grain"].taught
    {'tonnes': 0.5}
    """

    def __init__(self, space: VectorSpace | None = None, log: EventLog | None = None) -> None:
        self.space = VectorSpace(idf="running") if space is None else space
        self.log: EventLog = MemoryLog() if log is None else log
        self.profiles: dict[str, Profile] = {}
        self.starts: dict[str, ProfileState] = {}

    @property
    def documents(self) -> list[DocumentVector]:
        """All documents the engine holds, each once: those its profiles keep or wait for."""
        held = {id(document): document for profile in self.profiles.values() for document in profile.documents}
        return list(held.values())

    def add_profile(
        self,
        name: str,
        *,
        query: str | None = None,
        words: Mapping[str, float] | None = None,
        examples: Sequence[tuple[str, bool]] | None = None,
        batch: tuple[sparse.csr_array, Array] | None = None,
        settings: ProfileSettings | None = None,
        query_as_example: bool = False,
    ) -> Profile:
        """Start a profile from a query or topic statement, word knowledge, labelled documents, or nothing.

        Parameters
        ----------
        name : of the profile
        query : its words are words of the profile from the start, with positive mean weights, so that a document
            scores by its cosine to the query
        words : strength of words, below 0 for what is not wanted, added to the weights of the query; 1 is that of a
            query of one word
        examples : labelled texts, learned in this order, several times (the batch phase)
        batch : the same as vectors of this space
        settings : what does not change
        query_as_example : learn the query as one more relevant document, in front of the others, as
            Chai, Ng & Chieu do with topic statements, instead of giving its words a prior
        """
        if name in self.profiles:
            raise ValueError(f"there is a profile {name!r} already")
        X, y = self._batch(examples, batch)
        if query is not None and query_as_example:
            X, y = _in_front(self.space.vector("query", query), X, y)
        prior = self._prior(None if query_as_example else query, words or {})
        bias = QUERY_BIAS if prior else 0.0
        profile = Profile(name, ProfileSettings() if settings is None else settings, prior=prior, bias=bias)
        if X is not None:
            profile.learn_batch(X, y)
        self._install(profile)
        return profile

    def observe(self, document: Document) -> list[Decision]:
        """What each profile decides about a document."""
        taken = {decision.profile: decision for decision in self.observe_many([document])}
        return [taken.get(name, Decision(name, document.id)) for name in self.profiles]

    def observe_many(self, documents: Sequence[Document]) -> list[Decision]:
        """The documents that are retrieved, in the order of the stream; the same as one at a time, but faster.

        With running frequencies these are brought up to date once for all documents of a call.
        """
        return self.observe_vectors(self.space.weigh([d.id for d in documents], [d.full_text for d in documents]))

    def observe_vectors(self, batch: VectorBatch) -> list[Decision]:
        """As `observe_many`, from vectors of this space."""
        found: list[tuple[int, int, Profile, Found]] = []
        awake = [profile for profile in self.profiles.values() if not profile.paused]
        for place, profile in enumerate(awake):
            found += [(hit.row, place, profile, hit) for hit in _scan_all(profile, batch)]
        vectors: dict[int, DocumentVector] = {}
        decisions = []
        for row, _, profile, hit in sorted(found, key=lambda entry: entry[:2]):
            if row not in vectors:
                vectors[row] = batch.take(row, self.space)
            why = REASONS[hit.why - 1]
            profile.hold(vectors[row])
            self.log.append(Retrieved(profile.name, vectors[row], why))
            decisions.append(Decision(profile.name, batch.ids[row], why, hit.probability, hit.gain))  # type: ignore[arg-type]
        return decisions

    def judge(self, profile: str, document: str | Document, relevant: bool) -> None:
        """Learn from a reader's judgement.

        A document that was retrieved is named by its id, another one is given itself. The same judgement again
        changes nothing; another judgement takes the place of the first, which is taken back.
        """
        target = self._profile(profile)
        name = document if isinstance(document, str) else document.id
        if target.verdicts.get(name) is bool(relevant):
            return
        vector = self._find(target, name, document)
        if name in target.verdicts:
            self.take_back(profile, name)
            target = self.profiles[profile]
        stored = None if name in target.pending else vector
        target.judge(vector, bool(relevant))
        self.log.append(Judged(profile, name, bool(relevant), stored))

    def take_back(self, profile: str, document: str) -> None:
        """Forget a judgement: the profile becomes what it would be without it."""
        if document not in self._profile(profile).verdicts:
            raise DataError(f"there is no judgement of document {document!r} by profile {profile!r}")
        self.log.append(TakenBack(profile, document))
        self.profiles[profile] = self.replayed(profile)

    def teach(self, profile: str, word: str, strength: float) -> None:
        """Say what a word is worth, from now on; what was said of it before is taken back, and 0 does no more.

        Parameters
        ----------
        profile : its name
        word : read as documents are (stems, stop words); each word of a text of several
        strength : as in `add_profile`: 1 is that of a query of one word, below 0 speaks against. The mean of the
            weight's prior moves, so that judgements, earlier and later ones, can overrule it.
        """
        target = self._profile(profile)
        columns = tuple(self.space.columns_of(word).tolist())
        if not columns:
            raise DataError(f"{word!r:.60} holds no word that documents are read for")
        if not math.isfinite(strength):
            raise DataError(f"the strength of {word!r:.60} must be a finite number, got {strength!r}")
        if target.taught.get(word, 0.0) == strength:
            return
        event = Taught(profile, word, float(strength), columns)
        self.log.append(event)
        if word in target.taught:
            self.profiles[profile] = self.replayed(profile)
        else:
            apply(target, event, {})

    def pause(self, profile: str, paused: bool = True) -> None:
        """Put a profile aside: no document is retrieved for it, judgements still count; False takes it up again."""
        if self._profile(profile).paused is not paused:
            self.log.append(Paused(profile, paused))
            self.profiles[profile].paused = paused

    def replayed(self, profile: str) -> Profile:
        """The profile made anew from its start and the log."""
        return replay_events(self.starts[profile].profile(), self.log.of_profile(profile))

    def _install(self, profile: Profile, start: ProfileState | None = None) -> None:
        self.profiles[profile.name] = profile
        self.starts[profile.name] = ProfileState.of(profile) if start is None else start

    def _profile(self, name: str) -> Profile:
        if name not in self.profiles:
            raise DataError(f"no profile {name!r}; there are: {', '.join(self.profiles) or 'none'}")
        return self.profiles[name]

    def _prior(self, query: str | None, words: Mapping[str, float]) -> dict[int, float]:
        """Mean weights of words: the query's vector and the strengths together, scaled to one length."""
        prior: dict[int, float] = {}
        if query is not None:
            vector = self.space.vector("query", query)
            prior = dict(zip(vector.columns.tolist(), vector.weights.tolist(), strict=True))
        for word, strength in words.items():
            for column in self.space.columns_of(word).tolist():
                prior[column] = prior.get(column, 0.0) + float(strength)
        length = math.sqrt(sum(weight * weight for weight in prior.values()))
        return {column: QUERY_STRENGTH * weight / length for column, weight in prior.items()} if length else {}

    def _batch(
        self, examples: Sequence[tuple[str, bool]] | None, batch: tuple[sparse.csr_array, Array] | None
    ) -> tuple[sparse.csr_array | None, Array]:
        if examples is not None and batch is not None:
            raise ValueError("give examples or batch, not both")
        if batch is not None:
            return batch[0], np.asarray(batch[1], dtype=bool)
        if not examples:
            return None, np.zeros(0, dtype=bool)
        vectors = [self.space.vector(f"example/{i}", text) for i, (text, _) in enumerate(examples)]
        return stacked(vectors, len(self.space)), np.array([label for _, label in examples], dtype=bool)

    def _find(self, profile: Profile, name: str, document: str | Document) -> DocumentVector:
        """The vector of a document: one that waits, the document's own, or one the log knows."""
        if name in profile.pending:
            return profile.pending[name]
        if isinstance(document, Document):
            return self.space.vector(name, document.full_text)
        known = self.log.find(profile.name, name)
        if known is not None:
            return known
        raise DataError(f"profile {profile.name!r} never retrieved a document {name!r}; give the document itself")


def replay_events(profile: Profile, events: Iterable[Event]) -> Profile:
    """Bring a profile up to date with events, without those that are taken back by later ones.

    Examples
    --------
    >>> vector = DocumentVector("7", np.zeros(1, dtype=np.int32), np.ones(1))
    >>> events = [Judged("grain", "7", True, vector), TakenBack("grain", "7")]
    >>> replay_events(Profile("grain", ProfileSettings()), events).n_relevant
    0
    """
    seen: dict[str, DocumentVector] = {}
    for event in effective(events):
        apply(profile, event, seen)
    return profile


def apply(profile: Profile, event: Event, seen: dict[str, DocumentVector]) -> None:
    """Bring a profile up to date with an event that is not taken back; `seen` gathers the documents on the way.

    Examples
    --------
    >>> profile = Profile("grain", ProfileSettings())
    >>> vector = DocumentVector("7", np.zeros(1, dtype=np.int32), np.ones(1))
    >>> seen = {}
    >>> apply(profile, Retrieved("grain", vector, "queried"), seen)
    >>> apply(profile, Judged("grain", "7", True), seen)
    >>> profile.n_relevant, profile.counters.asked
    (1, 1)
    """
    if isinstance(event, Retrieved):
        seen[event.document.id] = event.document
        profile.count_retrieval(asked=event.why != "relevant")
        profile.hold(event.document)
    elif isinstance(event, Judged):
        document = event.document or profile.pending.get(event.id) or seen.get(event.id)
        if document is None:
            raise DataError(f"the log has a judgement of document {event.id!r}, but not the document")
        seen[event.id] = document
        profile.judge(document, event.relevant)
    elif isinstance(event, Taught):
        profile.teach(event.word, event.columns, event.strength)
    elif isinstance(event, Paused):
        profile.paused = event.paused
    else:
        raise TypeError("a judgement that is taken back has no effect of its own")


def _scan_all(profile: Profile, batch: VectorBatch) -> Iterable[Found]:
    """The documents of a batch that a profile retrieves, counted as it goes: each may change the rule of the next.

    A document that it has retrieved or judged already is passed over.
    """
    draws = profile.draws(list(batch.ids))
    taken: set[str] = set()
    hit = profile.scan(batch.rows, 0, draws)
    while hit is not None:
        name = batch.ids[hit.row]
        if not (name in profile.pending or name in profile.verdicts or name in taken):
            yield hit
            taken.add(name)
            profile.count_retrieval(asked=REASONS[hit.why - 1] != "relevant")
        hit = profile.scan(batch.rows, hit.row + 1, draws)


def stacked(vectors: Sequence[DocumentVector], n_columns: int) -> sparse.csr_array:
    """Vectors as the rows of a matrix.

    Examples
    --------
    >>> stacked([DocumentVector("7", np.array([1], dtype=np.int32), np.ones(1))], 2).toarray().tolist()
    [[0.0, 1.0]]
    """
    rows = sparse.csr_array((len(vectors), n_columns))
    rows.indptr = np.cumsum([0, *map(len, vectors)], dtype=np.int64)
    rows.indices = np.concatenate([np.zeros(0, np.int32), *(vector.columns for vector in vectors)])
    rows.data = np.concatenate([np.zeros(0), *(vector.weights for vector in vectors)])
    return rows


def _in_front(vector: DocumentVector, X: sparse.csr_array | None, y: Array) -> tuple[sparse.csr_array, Array]:
    """One more relevant document before the others."""
    width = int(max(vector.columns.max(initial=-1) + 1, 0 if X is None else X.shape[1]))
    first = stacked([vector], width)
    if X is None:
        return first, np.ones(1, dtype=bool)
    rows = sparse.csr_array((1 + X.shape[0], width))
    rows.indptr = np.concatenate([[0], X.indptr + len(vector)]).astype(np.int64)
    rows.indices = np.concatenate([vector.columns, X.indices]).astype(np.int32)
    rows.data = np.concatenate([vector.weights, X.data])
    return rows, np.concatenate([[True], y])
