"""Reviews in the service: their records and logs, the ranking, and what people do to them.

The log of a review is a part of the log of the service: an event of `screening.review_log` is the
payload of a row. A review is replayed when it is first asked for. Vectors of its records take
seconds to make for large reviews, so they are made without the lock; the ranking itself follows
every decision at once.
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesift.errors import DataError
from bayesift.references import ReferenceList, SourceFile
from bayesift.screening import Duplicates, Pool, Project, ProjectSettings, RankedRecords, ReviewLog
from bayesift.screening.project import group_numbers, new_id, read_records, write_records
from bayesift.screening.review import PoolTexts
from bayesift.screening.review_log import ABSTRACT, Event, EventType, Stage
from bayesift.service import event_log
from bayesift.service.db.tables import Reading, ReviewRecordsRow, ReviewRow
from bayesift.service.errors import ConflictError, NotFoundError, TooLargeError
from bayesift.service.live import LiveFilter, UnitOfWork

if TYPE_CHECKING:
    from bayesift.service.runtime import Service

MAX_REVIEWS = 500
MAX_RECORDS = 200_000
_REGROUPED = (
    "split",
    "join",
    "prior",
    "settings",
)  # events after which vectors or their meaning change


@dataclass
class LiveReview:
    """A review as it runs: its row, its log and, once somebody asked for it, its ranking."""

    row: ReviewRow
    log: ReviewLog
    ranked: RankedRecords | None = None

    def accept(self, events: Sequence[Event]) -> None:
        """Let events take effect."""
        self.log.accept(events)
        for event in events:
            if event.type in _REGROUPED:
                self.ranked = None
            elif self.ranked is not None and event.type in ("decide", "undo", "resolve"):
                self.ranked.learn(event.record)
            elif self.ranked is not None and event.type == "words":
                self.ranked.queue.set_words(self.log.words)


@dataclass(frozen=True)
class Begun:
    """What a new review is made of."""

    name: str
    settings: ProjectSettings
    references: ReferenceList
    duplicates: Duplicates
    take_decisions: bool = True


def begin(unit: UnitOfWork, begun: Begun, content: bytes) -> ReviewRow:
    """Begin a review.

    Decisions that came with the records are kept as events of their reviewers.
    """
    if sum(not row.deleted for row in unit.tx.reviews()) >= MAX_REVIEWS:
        raise ConflictError(f"at most {MAX_REVIEWS:,} reviews are allowed")
    described = _description(begun)
    row = _put_review(unit, new_id(), begun.name, described, content)
    if begun.take_decisions:
        review = _opened(unit.live, unit.tx, row.id)
        given = [
            {"by": decision.reviewer or "file", "record": record.id, "verdict": decision.verdict}
            | ({"reasons": list(decision.reasons)} if decision.reasons else {})
            for record in review.log.records.values()
            for decision in record.reference.decisions
        ]
        _record(unit, review, review.log.prepare("decide", given, unit.at))
    return row


def packed_records(begun: Begun) -> bytes:
    """The records of a new review as they are stored; refuses what cannot be screened."""
    if not len(begun.references):
        raise DataError("there are no records to screen")
    if len(begun.references) > MAX_RECORDS:
        raise TooLargeError(
            f"a review may have {MAX_RECORDS:,} records, these are {len(begun.references):,}"
        )
    if not any(reference.text.strip() for reference in begun.references):
        raise DataError("no record has a title or an abstract")
    stream = io.BytesIO()
    groups = group_numbers(begun.duplicates, len(begun.references))
    write_records(begun.references.references, groups, stream)
    return stream.getvalue()


def take_in(unit: UnitOfWork, project: Project, name: str, content: bytes) -> ReviewRow:
    """Begin a review from a project, or bring one that is here up to date with it.

    Both hold the same log as far as it goes; whichever is longer has the news.
    """
    described = {
        "settings": asdict(project.begun_with),
        "files": [asdict(file) for file in project.files],
        "problems": project.n_problems,
    }
    row = next((row for row in unit.tx.reviews() if row.id == project.id), None)
    if row is None:
        row = _put_review(unit, project.id, name, described, content)
    review = _opened(unit.live, unit.tx, row.id)
    here, there = review.log.events, project.events
    if any(one != other for one, other in zip(here, there, strict=False)):
        raise ConflictError(
            "the review and the project were changed apart from one another; neither is changed"
        )
    _record(unit, review, there[len(here) :])
    return row


def act(unit: UnitOfWork, review: str, type: EventType, **values: Any) -> Event:  # noqa: A002
    """Do one thing to a review."""
    opened = _opened(unit.live, unit.tx, review)
    if (
        type == "decide"
        and opened.ranked is not None
        and str(values.get("record")) in opened.log.records
    ):
        stage: Stage = values.get("stage") or ABSTRACT
        values |= opened.ranked.place(str(values["record"]), unit.user, stage)
    (event,) = opened.log.prepare(type, [{"by": unit.user, **values}], unit.at)
    _record(unit, opened, [event])
    return event


def rename(unit: UnitOfWork, review: str, name: str) -> None:
    """Give a review another name."""
    opened = _opened(unit.live, unit.tx, review)
    opened.row = replace(opened.row, name=name)
    unit.tx.put(opened.row)


def put_away(unit: UnitOfWork, review: str) -> None:
    """Delete a review; it can be restored for some days."""
    row = _opened(unit.live, unit.tx, review).row
    unit.tx.put(replace(row, deleted=unit.at))
    unit.record(event_log.REVIEW_DELETED, profile=review)
    unit.live.reviews.pop(review)


def restore(unit: UnitOfWork, review: str) -> None:
    """Restore a deleted review with all its decisions."""
    row = next((row for row in unit.tx.reviews() if row.id == review and row.deleted), None)
    if row is None:
        raise NotFoundError("no such deleted review")
    unit.tx.put(replace(row, deleted=""))
    unit.record(event_log.REVIEW_RESTORED, profile=review)


@contextmanager
def reading(service: Service, review: str) -> Iterator[LiveReview]:
    """A review, locked."""
    with service.live.reading(), service.store.reading() as read:
        yield _opened(service.live, read, review)


@contextmanager
def ranking(service: Service, review: str) -> Iterator[tuple[LiveReview, RankedRecords]]:
    """A review and its ranking, locked.

    Vectors that are missing are made before, without the lock.
    """
    texts, pool = None, None
    while True:
        with reading(service, review) as opened:
            if (
                opened.ranked is None
                and texts is not None
                and texts == PoolTexts.of_log(opened.log)
            ):
                opened.ranked = RankedRecords(opened.log, pool=pool)
            if opened.ranked is not None:
                yield opened, opened.ranked
                return
            texts = PoolTexts.of_log(opened.log)
        pool = _pool(service, review, texts)


def estimate(service: Service, review: str, *, rest: float = 0.0) -> None:
    """Bring the estimate of what is left up to date; it is computed without the lock.

    With `rest` one that is older than the last event is good enough for so many times as long as it
    took.
    """
    with ranking(service, review) as (opened, ranked):
        known = ranked.estimated
        until = service.remembered.get(("rest", review), 0.0)
        if known and (known[0] == len(opened.log.events) or (rest and time.monotonic() < until)):
            return
        compute = ranked.estimating()
    start = time.monotonic()
    found = compute()
    took = time.monotonic() - start
    service.remembered["rest", review] = start + took + rest * took
    if ranked.estimated is None or ranked.estimated[0] < found[0]:
        ranked.estimated = found


def _pool(service: Service, review: str, texts: PoolTexts) -> Pool:
    """The vectors of texts, made once for all who wait for them."""
    with service.remembered.setdefault(("making", review), threading.Lock()):
        known = service.remembered.get(("vectors", review))
        if known is None or known[0] != texts.digest:
            known = texts.digest, texts.vectors()
            service.remembered["vectors", review] = known
    pool: Pool = known[1]
    return pool


def _opened(live: LiveFilter, read: Reading, review: str) -> LiveReview:
    """A review, replayed if it was not asked for before; the lock is held."""
    opened = live.reviews.get(review)
    if opened is None:
        row = next((row for row in read.reviews() if row.id == review and not row.deleted), None)
        if row is None:
            raise NotFoundError("no such review")
        opened = LiveReview(row, replayed(read, row))
        live.reviews[review] = opened
    return opened


def replayed(read: Reading, row: ReviewRow) -> ReviewLog:
    """The log of a review from its rows."""
    references, groups = read_records(io.BytesIO(read.review_records(row.id)[0].content))
    rows = read.events(row.seq, profile=row.id, kinds=(event_log.REVIEW_CHANGED,))
    events = (Event.from_values(event.payload["event"]) for event in rows)
    return ReviewLog(
        references, groups, ProjectSettings.from_values(row.definition["settings"]), events
    )


def opened_in(unit: UnitOfWork, review: str) -> LiveReview:
    """A review inside a unit of work."""
    return _opened(unit.live, unit.tx, review)


def _description(begun: Begun) -> dict[str, Any]:
    return {
        "settings": asdict(begun.settings),
        "files": [asdict(file) for file in begun.references.files],
        "problems": len(begun.references.problems),
    }


def _put_review(
    unit: UnitOfWork, review: str, name: str, described: Mapping[str, Any], content: bytes
) -> ReviewRow:
    seq = unit.record(event_log.REVIEW_BEGUN, profile=review, payload={"name": name, **described})
    row = ReviewRow(review, seq, unit.at, unit.user, name, dict(described))
    unit.tx.add([row])
    unit.tx.add([ReviewRecordsRow(review, seq, content)])
    return row


def _record(unit: UnitOfWork, review: LiveReview, events: Sequence[Event]) -> None:
    for event in events:
        payload = {"event": event.values}
        unit.record(
            event_log.REVIEW_CHANGED,
            profile=review.row.id,
            document=event.record or None,
            payload=payload,
        )
    review.accept(events)


def saved_project(review: LiveReview, folder: Path) -> None:
    """Write a review as a project that `bayesift screen` opens."""
    log = review.log
    given = [SourceFile(**file) for file in review.row.definition["files"]]
    groups: dict[int, list[int]] = {}
    for place, group in enumerate(log.first_groups):
        groups.setdefault(group, []).append(place)
    duplicates = Duplicates(tuple(tuple(groups[number]) for number in sorted(groups)), ())
    settings = ProjectSettings.from_values(review.row.definition["settings"])
    references = ReferenceList(tuple(log.references), tuple(given))
    with Project.create(
        folder, references, settings=settings, duplicates=duplicates, id=review.row.id
    ) as project:
        project.extend(log.events)
