"""Reviews while the service runs: their logs, their rankings, and what people do to them.

The log of a review is a part of the log of the service: an event of `screening.review_log` is the
payload of a row. A review is replayed when it is first needed.

Each review has a lock of its own. The writer holds it from the first change to the commit, so that
readers never see what the log does not hold. A decision is written first and learned afterwards:
the writer only notes in the rankings what was decided; once that is committed, `OpenReviews.learn`
makes vectors and fits the models, in another thread and without the lock while it computes. Who
needs a ranking waits for that, so that it follows from all decisions before. Only who screens
does not wait for long: a record is offered by the ranking of a moment ago rather than late.
Which records are open follows from the log, so that a decided one is never offered again.

A review that one reviewer decides on has one ranking. Where two decide blindly, each has their own,
which follows from what they may see, so that no rank or probability tells what is blind.
"""

from __future__ import annotations

import io
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesift.screening import (
    Pool,
    ProjectSettings,
    RankedRecords,
    ReviewLog,
    ReviewReading,
    seen_by,
)
from bayesift.screening.project import read_records
from bayesift.screening.review import PoolTexts
from bayesift.screening.review_log import HIGHLIGHTS, Event, EventType, Stage, Verdict
from bayesift.service.db.database import Store
from bayesift.service.db.tables import Reading, ReviewRow
from bayesift.service.errors import NotFoundError

if TYPE_CHECKING:
    from bayesift.service.live import UnitOfWork

BEGUN = "review begun"
CHANGED = "review changed"
DELETED = "review put away"
RESTORED = "review restored"
# After these, vectors must be made anew.
_REGROUPING = ("split", "join", "prior", "settings", "merge")
_MAX_MISSED = 20  # events that a ranking may not follow from yet
PATIENCE_SECONDS = 0.04  # that a reviewer waits for the ranking to be refitted
_DECIDING = ("decide", "undo", "resolve")
_MAX_RANKINGS = 20  # of a review that are kept in memory


@dataclass(frozen=True, kw_only=True)
class ReviewCommand:
    """Something that a person does to a review; its fields are what the event keeps."""

    type: ClassVar[EventType]

    @property
    def values(self) -> dict[str, Any]:
        """The fields by name; None is not kept."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


@dataclass(frozen=True, kw_only=True)
class RecordCommand(ReviewCommand):
    """Something that a person does to one record."""

    record: str


@dataclass(frozen=True, kw_only=True)
class Resolve(RecordCommand):
    """Resolve a conflict between reviewers; the first stage is not named."""

    type: ClassVar[EventType] = "resolve"
    verdict: Verdict
    reasons: list[str] | None = None
    stage: Stage | None = None


@dataclass(frozen=True, kw_only=True)
class Decide(Resolve):
    """Decide on a record; `rank` and `score` are what the ranking said before."""

    type = "decide"
    seconds: float | None = None
    rank: int | None = None
    score: float | None = None


@dataclass(frozen=True, kw_only=True)
class Undo(RecordCommand):
    """Take back a decision."""

    type = "undo"


@dataclass(frozen=True, kw_only=True)
class AddNote(RecordCommand):
    """Keep a note on a record."""

    type = "note"
    text: str


@dataclass(frozen=True, kw_only=True)
class SetTags(RecordCommand):
    """Replace the tags of a record."""

    type = "tag"
    tags: list[str]


@dataclass(frozen=True, kw_only=True)
class SetFullText(RecordCommand):
    """Say where the full text of a record is."""

    type = "file"
    place: str


@dataclass(frozen=True, kw_only=True)
class AttachFullText(RecordCommand):
    """Attach a file that is kept; it replaces the one with a digest."""

    type = "attach"
    name: str
    digest: str
    bytes: int
    replaces: str | None = None


@dataclass(frozen=True, kw_only=True)
class DetachFullText(RecordCommand):
    """Remove the file with a digest from a record."""

    type = "detach"
    replaces: str


@dataclass(frozen=True, kw_only=True)
class SplitRecord(RecordCommand):
    """Make records of their own of the sources of a record."""

    type = "split"


@dataclass(frozen=True, kw_only=True)
class JoinRecords(RecordCommand):
    """Join other records with a record."""

    type = "join"
    records: list[str]


@dataclass(frozen=True, kw_only=True)
class SetWords(ReviewCommand):
    """Replace the words that speak for relevance, or against it."""

    type = "words"
    words: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class StopScreening(ReviewCommand):
    """End the screening, with the reason."""

    type = "stop"
    reason: str


@dataclass(frozen=True, kw_only=True)
class ResumeScreening(ReviewCommand):
    """Go on with a screening that was ended."""

    type = "resume"


@dataclass(frozen=True, kw_only=True)
class ChangeSettings(ReviewCommand):
    """Change settings of a review; None leaves a setting as it is."""

    type = "settings"
    query: str | None = None
    criteria: str | None = None
    reasons: list[str] | None = None
    reviewers_per_record: int | None = None
    full_texts: bool | None = None
    highlight_include: list[str] | None = None
    highlight_exclude: list[str] | None = None


class RecordPlace(NamedTuple):
    """The ranking of a record before a decision on it.

    `rank` and `score` are kept with the decision; `rank` counts the records open to the reviewer,
    `rank_in_pool` all records.
    """

    rank: int
    score: float
    rank_in_pool: int
    probability: float


@dataclass(eq=False)
class PersonalRanking:
    """The records in the order of their relevance, as some people see it.

    `estimate_until` is the time (monotonic) until which an estimate of what is left is recent
    enough; `n_events` is how many events the last fit followed from, None before one.
    """

    records: RankedRecords
    estimate_until: float = 0.0
    n_events: int | None = None

    def is_recent(self, log: ReviewLog) -> bool:
        """Whether the ranking was fitted, and misses few events since then."""
        return self.n_events is not None and len(log.events) - self.n_events <= _MAX_MISSED


@dataclass(eq=False)
class LiveReview:
    """A review in memory.

    Attributes
    ----------
    row, log : as they are stored
    added : events of the open transaction
    rankings : those that were needed, by `viewer`, the latest used last
    learning : held by the one thread that makes vectors or fits a model
    learned : tells those who wait that a ranking was refitted
    """

    row: ReviewRow
    log: ReviewLog
    added: list[Event] = field(default_factory=list)
    rankings: OrderedDict[str, PersonalRanking] = field(default_factory=OrderedDict)
    learning: threading.Lock = field(default_factory=threading.Lock)
    learned: threading.Condition = field(default_factory=threading.Condition)
    _vectors: tuple[str, Pool] | None = None

    def seen_by(self, person: str) -> ReviewReading:
        """Return what a person may see of the review."""
        return seen_by(person, self.log)

    def viewer(self, person: str) -> str:
        """Return the name of the ranking that a person sees.

        It is "" for what all see: the ranking of a review without blind decisions, and for those
        who have not decided the ranking by what is settled.
        """
        is_blind = self.log.settings.reviewers_per_record > 1
        return person if is_blind and self.log.has_decided(person) else ""

    def ranking(self, person: str) -> PersonalRanking | None:
        """Return the ranking that a person sees, if it was made."""
        found = self.rankings.get(self.viewer(person))
        if found is not None:
            self.rankings.move_to_end(self.viewer(person))
        return found

    def accept(self, events: Sequence[Event]) -> None:
        """Let events take effect; the rankings take note of them, but are not refitted."""
        self.added.extend(events)
        for event in events:
            self.log.accept([event])
            if event.type in _REGROUPING and not _only_highlights(event):
                self.rankings.clear()
            for ranking in self.rankings.values():
                if event.type in _DECIDING:
                    ranking.records.learn(event.record)
                elif event.type == "words":
                    ranking.records.queue.set_words(self.log.words)

    def vectors(self, texts: PoolTexts) -> Pool:
        """Return the vectors of texts, made anew only if the texts have changed."""
        digest = texts.digest
        if self._vectors is None or self._vectors[0] != digest:
            self._vectors = digest, texts.vectors()
        return self._vectors[1]

    def rank(self, person: str, texts: PoolTexts, pool: Pool) -> None:
        """Rank the records by vectors of texts, unless the texts have changed meanwhile."""
        viewer = self.viewer(person)
        if viewer not in self.rankings and texts == PoolTexts.of_log(self.log):
            records = RankedRecords(self.seen_by(viewer), pool=pool, fit=False)
            self.rankings[viewer] = PersonalRanking(records)
            if len(self.rankings) > _MAX_RANKINGS:
                self.rankings.popitem(last=False)


def _only_highlights(event: Event) -> bool:
    """Whether an event only changes which words are highlighted, which no ranking follows from."""
    return event.type == "settings" and event.data.keys() <= {*HIGHLIGHTS}


class OpenReviews:
    """The reviews that are in memory, each with its lock.

    Attributes
    ----------
    opened : reviews by id; read and change them with their lock held
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.opened: dict[str, LiveReview] = {}
        self._locks: dict[str, threading.RLock] = {}
        self._held: dict[str, threading.RLock] = {}  # by the open transaction of the writer

    @contextmanager
    def reading(self, review: str) -> Iterator[LiveReview]:
        """Lock a review and yield it."""
        lock = self._lock(review)
        try:
            opened = self.opened.get(review)
            if opened is None:
                with self._store.reading() as read:
                    opened = self._open(read, review)
            yield opened
        finally:
            self._unlock(review, lock)

    def changing(self, read: Reading, review: str) -> LiveReview:
        """Return a review, locked until `end_transaction`; only the writer calls this."""
        if review not in self._held:
            self._held[review] = self._lock(review)
        return self.opened.get(review) or self._open(read, review)

    def end_transaction(self, *, committed: bool) -> list[str]:
        """Unlock what the transaction changed and return the ids.

        After a transaction that failed, these reviews are replayed when they are next needed.
        """
        held = self._held
        self._held = {}
        for review, lock in held.items():
            if not committed:
                self.close(review)
            elif review in self.opened:
                self.opened[review].added.clear()
            self._unlock(review, lock)
        return list(held)

    def close(self, review: str) -> None:
        """Drop a review from memory with all that was computed for it."""
        self.opened.pop(review, None)

    @contextmanager
    def ranking(self, review: str, person: str) -> Iterator[tuple[LiveReview, RankedRecords]]:
        """Lock a review and yield it with a ranking that follows from all a person may see."""
        while True:
            self.learn(review, person)
            with self.reading(review) as opened:
                ranking = opened.ranking(person)
                if ranking is not None and ranking.records.queue.is_current:
                    yield opened, ranking.records
                    return

    @contextmanager
    def recent_ranking(
        self, review: str, person: str
    ) -> Iterator[tuple[LiveReview, RankedRecords]]:
        """Lock a review and yield it with a ranking, which may miss the newest decisions.

        The refit that follows every decision is waited for, but not for long.
        """
        with self.reading(review) as opened:
            ranking = opened.ranking(person)
        if ranking is not None:
            queue = ranking.records.queue
            with opened.learned:
                opened.learned.wait_for(lambda: queue.is_current, PATIENCE_SECONDS)
            with self.reading(review) as opened:
                ranking = opened.ranking(person)
                if ranking is not None and ranking.is_recent(opened.log):
                    yield opened, ranking.records
                    return
        with self.ranking(review, person) as found:
            yield found

    def learn(self, review: str, person: str) -> None:
        """Bring the ranking that a person sees up to date.

        The review is not locked while vectors are made or the model is fitted; what is decided
        meanwhile is learned in another round.
        """
        with self.reading(review) as opened:
            learning = opened.learning
        with learning:
            while True:
                with self.reading(review) as opened:
                    ranking = opened.ranking(person)
                    if ranking is None:
                        texts = PoolTexts.of_log(opened.log)
                    elif ranking.records.queue.is_current:
                        return
                    else:
                        fitting = ranking.records.queue.fitting()
                if ranking is None:
                    pool = opened.vectors(texts)
                    with self.reading(review) as opened:
                        opened.rank(person, texts, pool)
                else:
                    fit = fitting()
                    with self.reading(review):
                        ranking.records.queue.install(fit)
                        if ranking.records.queue.is_current:
                            ranking.n_events = len(opened.log.events)
                    with opened.learned:
                        opened.learned.notify_all()

    def learn_all(self, review: str) -> None:
        """Bring all rankings of a review up to date that are in memory."""
        opened = self.opened.get(review)
        if opened is not None:
            for viewer in list(opened.rankings):
                self.learn(review, viewer)

    def place(
        self, review: str, record: str, reviewer: str, stage: Stage
    ) -> RecordPlace | None:
        """Return how a record is ranked; None if it was not ranked for the reviewer before."""
        with self.reading(review) as opened:
            if opened.ranking(reviewer) is None or record not in opened.log.records:
                return None
        with self.recent_ranking(review, reviewer) as (_, ranked):
            place = ranked.place(record, reviewer, stage)
            return RecordPlace(place["rank"], place["score"], *ranked.place_in_pool(record))

    def estimate(self, review: str, person: str, *, rest: float = 0.0) -> None:
        """Bring the estimate of what is left up to date; it is computed without the lock.

        With `rest` an older estimate is good enough for that many times as long as it took.
        """
        with self.ranking(review, person) as (opened, ranked):
            ranking = opened.ranking(person)
            assert ranking is not None
            known = ranked.estimated
            is_recent = rest > 0 and time.monotonic() < ranking.estimate_until
            if known and (known[0] == len(opened.log.events) or is_recent):
                return
            compute = ranked.estimating()
        start = time.monotonic()
        found = compute()
        seconds = time.monotonic() - start
        ranking.estimate_until = start + seconds + rest * seconds
        if ranked.estimated is None or ranked.estimated[0] < found[0]:
            ranked.estimated = found

    def _lock(self, review: str) -> threading.RLock:
        """Acquire the lock of a review, which may have been closed while we waited."""
        while True:
            lock = self._locks.setdefault(review, threading.RLock())
            lock.acquire()
            if self._locks.get(review) is lock:
                return lock
            lock.release()

    def _unlock(self, review: str, lock: threading.RLock) -> None:
        """Release a lock; that of a review which is not in memory is not kept."""
        if review not in self.opened:
            self._locks.pop(review, None)
        lock.release()

    def _open(self, read: Reading, review: str) -> LiveReview:
        """Replay a review; its lock is held."""
        row = read.review(review)
        if row is None or row.deleted:
            raise NotFoundError("no such review")
        opened = LiveReview(row, replayed(read, row))
        self.opened[review] = opened
        return opened


def replayed(read: Reading, row: ReviewRow) -> ReviewLog:
    """Return the log of a review, made from its rows."""
    references, groups = read_records(io.BytesIO(read.review_records(row.id)[0].content))
    rows = read.events(row.seq, review=row.id, kinds=(CHANGED,))
    events = (Event.from_values(event.payload["event"]) for event in rows)
    return ReviewLog(
        references, groups, ProjectSettings.from_values(row.definition["settings"]), events
    )


def opened_in(unit: UnitOfWork, review: str) -> LiveReview:
    """Return a review, to be changed in a unit of work."""
    return unit.live.reviews.changing(unit.tx, review)


def perform(unit: UnitOfWork, review: str, command: ReviewCommand) -> LiveReview:
    """Carry out a command of a person."""
    opened = opened_in(unit, review)
    given: Mapping[str, Any] = {"by": unit.user, **command.values}
    record_events(unit, opened, opened.log.prepare(command.type, [given], unit.at))
    return opened


def record_events(unit: UnitOfWork, review: LiveReview, events: Sequence[Event]) -> None:
    """Write events of a review to the log, and let them take effect."""
    write_events(unit, review.row.id, events)
    review.accept(events)


def write_events(unit: UnitOfWork, review: str, events: Sequence[Event]) -> None:
    """Write events of a review to the log only."""
    for event in events:
        unit.record(
            CHANGED,
            review=review,
            document=event.record or None,
            payload={"event": event.values},
        )
