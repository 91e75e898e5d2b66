"""What people see of a review: records without what is blind, progress, lists, statistics."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import get_args

from bayesift.screening import (
    Agreement,
    PrismaFlow,
    RankedRecords,
    ReviewReading,
    methods_paragraph,
)
from bayesift.screening.hindsight import look_back
from bayesift.screening.review import unfinished_line
from bayesift.screening.review_log import (
    ABSTRACT,
    FULL_TEXT,
    Record,
    ReviewerDecision,
    Stage,
)
from bayesift.service.access.callers import Item, MemberRole, Person
from bayesift.service.db.tables import ReviewRow
from bayesift.service.errors import NotFoundError
from bayesift.service.reviews import schemas
from bayesift.service.reviews.live import LiveReview
from bayesift.service.reviews.schemas import ReferenceOut
from bayesift.service.runtime import Service
from bayesift.service.schemas import thinned

_MAX_POINTS = 400
_MAX_MISSED = 50
_STAGES: tuple[Stage, ...] = get_args(Stage)


def review_row(service: Service, row: ReviewRow, role: MemberRole) -> schemas.ReviewRowOut:
    """Return a review as a list shows it to a member with a role."""
    shown = schemas.ReviewRowOut(
        id=row.id,
        name=row.name,
        role=role,
        created_at=row.at,
        created_by=row.user,
        deleted_at=row.deleted,
    )
    if not row.deleted:
        with service.live.reviews.reading(row.id) as opened:
            log = opened.log
            statuses = log.count_statuses()
            shown.records = len(log.records)
        shown.waiting = statuses["waiting"]
        shown.conflicts = statuses["conflict"]
        shown.decided = len(log.records) - statuses["open"] - shown.waiting - shown.conflicts
    return shown


def review_out(service: Service, review: str, person: Person) -> schemas.ReviewOut:
    """Return a review with its settings and progress."""
    with service.live.reviews.ranking(review, person.name) as (opened, ranked):
        row = opened.row
        log = opened.seen_by(person.name)
        return schemas.ReviewOut(
            **asdict(log.settings),
            id=row.id,
            name=row.name,
            role=service.members.role(person, Item("review", row.id)) or "reader",
            created_at=row.at,
            created_by=row.user,
            tags=log.all_tags,
            stopped=None if log.stopped is None else str(log.stopped.data["reason"]),
            progress=progress_of(log, ranked, person.name, ABSTRACT),
        )


def progress_of(
    log: ReviewReading, ranked: RankedRecords, person: str, stage: Stage
) -> schemas.ProgressOut:
    """Return how far a stage is."""
    statuses = log.count_statuses(stage)
    mine = log.count_own(person, stage)
    return schemas.ProgressOut(
        records=statuses.total(),
        included=statuses["included"],
        excluded=statuses["excluded"],
        maybe=statuses["maybe"],
        open=statuses["open"],
        waiting=statuses["waiting"],
        conflicts=statuses["conflict"],
        mine=len(ranked.open_rows(person, stage)),
        tally=schemas.TallyOut(
            included=mine["included"],
            excluded=mine["excluded"],
            maybe=mine["maybe"],
            waiting=mine["waiting"],
        ),
        since_find=ranked.since_find(),
        gauge=gauge_of(ranked) if stage == ABSTRACT else schemas.GaugeOut(sentence=""),
    )


def gauge_of(ranked: RankedRecords) -> schemas.GaugeOut:
    """Return what was left at the last estimate.

    It has numbers only where the coverage of their interval was measured.
    """
    statuses = ranked.log.count_statuses()
    unfinished = unfinished_line(statuses["open"], statuses["waiting"], statuses["conflict"])
    if unfinished:
        return schemas.GaugeOut(sentence=unfinished)
    if ranked.estimated is None:
        return schemas.GaugeOut(sentence="")
    estimate = ranked.estimated[1]
    if estimate.caveat or not estimate.n_unseen:
        return schemas.GaugeOut(sentence=str(estimate))
    more_reading = []
    for probability, records in sorted(estimate.more_reading.items()):
        if records:
            more_reading.append(
                schemas.MoreReadingOut(probability=probability, records=records)
            )
    return schemas.GaugeOut(
        sentence=str(estimate),
        found=estimate.n_found,
        left=estimate.median,
        safe_reading=estimate.safe_reading,
        low=estimate.low,
        high=estimate.high,
        recall=estimate.recall,
        probability_of_recall=estimate.probability,
        stop=estimate.stop,
        more_reading=more_reading,
    )


def shown_record(
    log: ReviewReading, name: str, person: str, stage: Stage, rank: int, probability: float
) -> schemas.RecordOut:
    """Return a record as a person may see it, by their view of the review."""
    record = known_record(log, name)
    held = log.decisions_on(name, stage)
    status = log.status(name, stage)
    seen = [_decision(by, given) for by, given in held.items()]
    resolution = log.resolutions[stage].get(name)
    if resolution is not None:
        seen.append(_decision(resolution.by, resolution, resolved=True))
    sources = record.sources if len(record.sources) > 1 else ()
    attached = log.full_text_files.get(name)
    return schemas.RecordOut(
        id=name,
        reference=ReferenceOut.model_validate(record.reference),
        sources=[ReferenceOut.model_validate(source) for source in sources],
        origins=list(record.origins),
        has_text=record.has_text,
        status=status,
        stage=stage,
        rank=rank,
        probability=probability,
        mine=held[person].verdict if person in held else None,
        decisions=seen,
        hidden=status == "waiting" and person not in held,
        notes=[schemas.NoteOut.model_validate(note) for note in log.notes_on(name)],
        tags=list(log.tags_on(name)),
        full_text=log.full_text_places.get(name, ""),
        file=None if attached is None else schemas.FullTextFileOut.model_validate(attached),
    )


def known_record(log: ReviewReading, name: str) -> Record:
    """Return a record that exists."""
    record = log.records.get(name)
    if record is None:
        raise NotFoundError(f"no record {name}")
    return record


def _decision(
    by: str, given: ReviewerDecision, *, resolved: bool = False
) -> schemas.ReviewerDecisionOut:
    return schemas.ReviewerDecisionOut(
        by=by,
        verdict=given.verdict,
        reasons=list(given.reasons),
        at=given.at,
        resolved=resolved,
    )


def page_of_records(
    opened: LiveReview, ranked: RankedRecords, person: str, query: schemas.RecordQuery
) -> schemas.RecordsOut:
    """Return a page of the records that a query names, the most relevant first."""
    log = opened.seen_by(person)
    ranks = ranked.ranks()
    stage = query.stage
    among: Iterable[Record] = log.records.values()
    if query.search.strip():
        among = ranked.search(query.search)
    screened = set(log.stage_records(stage)) if stage == FULL_TEXT else log.records.keys()
    found = []
    for record in among:
        tagged = query.tag is None or query.tag in log.tags_on(record.id)
        if tagged and record.id in screened:
            status = log.status(record.id, stage)
            if query.status in (None, status) and not (query.without_text and record.has_text):
                found.append((ranks[record.id], record, status))
    found.sort(key=lambda one: one[0][0])
    rows = []
    for (rank, probability), record, status in found[query.offset : query.offset + query.limit]:
        held = log.decisions_on(record.id, stage)
        reference = record.reference
        authors = "; ".join(reference.authors[:3])
        if len(reference.authors) > 3:
            authors += " et al."
        rows.append(
            schemas.RecordRowOut(
                id=record.id,
                title=reference.title,
                authors=authors,
                year=reference.year,
                journal=reference.journal,
                origin="; ".join(record.origins),
                has_text=record.has_text,
                status=status,
                mine=held[person].verdict if person in held else None,
                rank=rank,
                probability=probability,
                tags=list(log.tags_on(record.id)),
            )
        )
    return schemas.RecordsOut(total=len(found), records=rows)


def all_statistics(
    opened: LiveReview, ranked: RankedRecords, person: str
) -> schemas.StatisticsOut:
    """Return the numbers of a review, as a person may see them."""
    log = opened.seen_by(person)
    flow = PrismaFlow.of(log)
    return schemas.StatisticsOut(
        flow={
            "identified": flow.identified,
            "duplicates": flow.duplicates,
            "without_text": flow.without_text,
            "records": flow.n_records,
            "screened": flow.screening.n_screened,
            "abstract": asdict(flow.screening),
            "full_text": None if flow.full_texts is None else asdict(flow.full_texts),
            "included": flow.included,
        },
        agreement=list(_agreement(log)),
        reviewers=list(_reviewers(log, opened.log)),
        curve=_curve(log),
        methods=methods_paragraph(log, gauge_of(ranked).sentence, ranked.describe()),
    )


def hindsight_out(ranked: RankedRecords) -> schemas.HindsightOut:
    """Return where stopping rules would have ended a review, as a person may see it."""
    found = look_back(ranked)
    records = ranked.log.records
    ends = []
    for end in found.ends:
        missed = [
            schemas.MissedOut(id=name, title=records[name].reference.title)
            for name in end.missed[:_MAX_MISSED]
        ]
        ends.append(schemas.EarlierEndOut(rule=end.rule, read=end.n_read, missed=missed))
    return schemas.HindsightOut(
        sentences=found.sentences(), curve=thinned(found.curve, _MAX_POINTS), ends=ends
    )


def _agreement(log: ReviewReading) -> Iterator[schemas.AgreementOut]:
    """Measure agreement by stage, on records that several decided on, before resolutions."""
    for stage in _STAGES:
        verdicts: dict[str, dict[str, str]] = {}
        for record, held in log.decisions_of(stage).items():
            if len(held) > 1:
                for by, given in held.items():
                    verdicts.setdefault(by, {})[record] = given.verdict
        if len(verdicts) > 1:
            found = Agreement.of(list(verdicts.values()))
            values = {}
            for name in ("agreement", "kappa", "ac1", "alpha"):
                value = getattr(found, name)
                values[name] = None if value != value else value
            yield schemas.AgreementOut(stage=stage, records=found.n_records, **values)


def _reviewers(seen: ReviewReading, log: ReviewReading) -> Iterator[schemas.ReviewerOut]:
    """Count who decided how much in how much time, and who waits for whom.

    The whole log says how many decisions there are; how they went and how long they took is
    counted for those that are seen.
    """
    held = []
    waiting = []
    visible: dict[str, list[ReviewerDecision]] = {}
    for stage in _STAGES:
        for record, given in log.decisions_of(stage).items():
            held.append(given)
            if log.status(record, stage) == "waiting":
                waiting.append(given)
            for by, decision in seen.decisions_on(record, stage).items():
                visible.setdefault(by, []).append(decision)
    for name in dict.fromkeys(by for given in held for by in given):
        shown = visible.get(name, [])
        relevant = sum(decision.verdict != "excluded" for decision in shown)
        seconds = [decision.seconds for decision in shown if decision.seconds is not None]
        waits = sum(name in given for given in waiting)
        yield schemas.ReviewerOut(
            name=name,
            decisions=sum(name in given for given in held),
            not_excluded=relevant / len(shown) if shown else None,
            median_seconds=statistics.median(seconds) if seconds else None,
            hours=sum(seconds) / 3600.0,
            waiting_for_others=waits,
            others_waiting=len(waiting) - waits,
        )


def _curve(log: ReviewReading) -> list[tuple[int, int]]:
    """Count relevant records against decided ones, in the order of the first decision."""
    points = [(0, 0)]
    for record in log.decided():
        found = points[-1][1] + (log.verdict(record) in ("included", "maybe"))
        points.append((len(points), found))
    return thinned(points, _MAX_POINTS)
