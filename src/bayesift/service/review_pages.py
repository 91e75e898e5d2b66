"""What people see of a review: records without what is blind, progress, lists, statistics."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import get_args

from bayesift.references import Reference
from bayesift.screening import Agreement, PrismaFlow, RankedRecords, ReviewLog, methods_paragraph
from bayesift.screening.review_log import (
    ABSTRACT,
    FULL_TEXT,
    Record,
    ReviewerDecision,
    Stage,
    Status,
)
from bayesift.service import review_schemas as schemas
from bayesift.service import reviews
from bayesift.service.access import Person
from bayesift.service.db.tables import ReviewRow
from bayesift.service.errors import NotFoundError
from bayesift.service.reviews import LiveReview
from bayesift.service.runtime import Service

_MOST_POINTS = 400
_STAGES: tuple[Stage, ...] = get_args(Stage)


def reference_out(reference: Reference) -> schemas.ReferenceOut:
    """A reference as the page shows it."""
    return schemas.ReferenceOut(
        title=reference.title,
        abstract=reference.abstract,
        authors=list(reference.authors),
        year=reference.year,
        journal=reference.journal,
        volume=reference.volume,
        issue=reference.issue,
        pages=reference.pages,
        doi=reference.doi,
        pmid=reference.pmid,
        url=reference.url,
        keywords=list(reference.keywords),
        file=reference.file,
    )


def review_row(service: Service, row: ReviewRow) -> schemas.ReviewRowOut:
    """A review in a list."""
    values = {"id": row.id, "name": row.name, "created_at": row.at, "created_by": row.user}
    if row.deleted:
        return schemas.ReviewRowOut(
            **values, records=0, decided=0, conflicts=0, deleted_at=row.deleted
        )
    with reviews.reading(service, row.id) as opened:
        statuses = Counter(opened.log.status(record) for record in opened.log.decided())
        records = len(opened.log.records)
    decided = statuses.total() - statuses["waiting"]
    return schemas.ReviewRowOut(
        **values, records=records, decided=decided, conflicts=statuses["conflict"]
    )


def review_out(service: Service, review: str, person: Person) -> schemas.ReviewOut:
    """A review with its settings and progress."""
    with reviews.ranking(service, review) as (opened, ranked):
        settings, stopped = opened.log.settings, opened.log.stopped
        return schemas.ReviewOut(
            id=opened.row.id,
            name=opened.row.name,
            created_at=opened.row.at,
            created_by=opened.row.user,
            query=settings.query,
            criteria=settings.criteria,
            reasons=list(settings.reasons),
            reviewers_per_record=settings.reviewers_per_record,
            full_texts=settings.full_texts,
            tags=sorted({tag for tags in opened.log.tags.values() for tag in tags}),
            stopped=None if stopped is None else str(stopped.data["reason"]),
            progress=progress_of(opened, ranked, person.name, ABSTRACT),
        )


def progress_of(
    opened: LiveReview, ranked: RankedRecords, person: str, stage: Stage
) -> schemas.ProgressOut:
    """How far a stage is."""
    log = opened.log
    records = log.stage_records(stage)
    among = set(records) if stage == FULL_TEXT else log.records.keys()
    statuses: Counter[Status] = Counter(
        log.status(r, stage) for r in log.decided(stage) if r in among
    )
    return schemas.ProgressOut(
        records=len(records),
        included=statuses["included"],
        excluded=statuses["excluded"],
        maybe=statuses["maybe"],
        open=len(records) - statuses.total(),
        waiting=statuses["waiting"],
        conflicts=statuses["conflict"],
        mine=len(ranked.open_rows(person, stage)),
        since_find=ranked.since_find(),
        gauge=gauge_of(ranked) if stage == ABSTRACT else schemas.GaugeOut(sentence=""),
    )


def gauge_of(ranked: RankedRecords) -> schemas.GaugeOut:
    """What was left at the last estimate.

    Numbers only where the coverage of their interval was measured.
    """
    if len(ranked.log.decided()) == len(ranked.ids):
        return schemas.GaugeOut(sentence="all records are decided")
    if ranked.estimated is None:
        return schemas.GaugeOut(sentence="")
    estimate = ranked.estimated[1]
    sentence = str(estimate)
    if estimate.caveat or not estimate.n_unseen:
        return schemas.GaugeOut(sentence=sentence)
    return schemas.GaugeOut(
        sentence=sentence,
        found=estimate.n_found,
        left=estimate.expected,
        low=estimate.low,
        high=estimate.high,
        recall=estimate.recall,
        probability_of_recall=estimate.probability,
        stop=estimate.stop,
        more_reading=[
            schemas.MoreReadingOut(probability=sure, records=n)
            for sure, n in sorted(estimate.more_reading.items())
            if n
        ],
    )


def shown_record(
    opened: LiveReview, ranked: RankedRecords, name: str, person: str, stage: Stage
) -> schemas.RecordOut:
    """A record as a person may see it."""
    log = opened.log
    record = log.records.get(name)
    if record is None:
        raise NotFoundError(f"no record {name}")
    held = log.decisions_on(name, stage)
    blind = _is_blind(log, name, stage)
    resolution = log.resolutions[stage].get(name)
    seen = [_decision(by, given) for by, given in held.items() if not blind or by == person]
    if resolution is not None:
        seen.append(_decision(resolution.by, resolution, resolved=True))
    rank, probability = ranked.place_in_pool(name)
    notes = [note for note in log.notes.get(name, ()) if not blind or note.by == person]
    return schemas.RecordOut(
        id=name,
        reference=reference_out(record.reference),
        sources=[reference_out(source) for source in record.sources]
        if len(record.sources) > 1
        else [],
        status=_seen_status(log, name, person, stage),
        stage=stage,
        rank=rank,
        probability=probability,
        mine=held[person].verdict if person in held else None,
        decisions=seen,
        hidden=len(held) - sum(not decision.resolved for decision in seen),
        notes=[schemas.NoteOut(by=note.by, text=note.text, at=note.at) for note in notes],
        tags=list(log.tags.get(name, ())),
        full_text=log.full_text_places.get(name, ""),
    )


def _is_blind(log: ReviewLog, record: str, stage: Stage) -> bool:
    """Whether reviewers do not see one another's decisions yet."""
    return (
        log.status(record, stage) in ("open", "waiting") and log.settings.reviewers_per_record > 1
    )


def _seen_status(log: ReviewLog, record: str, person: str, stage: Stage) -> Status:
    """The status without what another reviewer decided before this one."""
    status = log.status(record, stage)
    return (
        "open" if status == "waiting" and person not in log.decisions_on(record, stage) else status
    )


def _decision(by: str, given: ReviewerDecision, *, resolved: bool = False) -> schemas.DecisionOut:
    return schemas.DecisionOut(
        by=by, verdict=given.verdict, reasons=list(given.reasons), at=given.at, resolved=resolved
    )


def page_of_records(
    opened: LiveReview, ranked: RankedRecords, person: str, query: schemas.RecordQuery
) -> schemas.RecordsOut:
    """A page of the records that are asked for, the most relevant first."""
    log, ranks, stage = opened.log, ranked.ranks(), query.stage
    among: Iterable[Record] = (
        ranked.search(query.search) if query.search.strip() else log.records.values()
    )
    passed = set(log.stage_records(stage)) if stage == FULL_TEXT else None
    found = [
        record
        for record in among
        if (passed is None or record.id in passed)
        and (query.tag is None or query.tag in log.tags.get(record.id, ()))
        and (query.status is None or _seen_status(log, record.id, person, stage) == query.status)
    ]
    found.sort(key=lambda record: ranks[record.id][0])
    rows = []
    for record in found[query.offset : query.offset + query.limit]:
        held = log.decisions_on(record.id, stage)
        rank, probability = ranks[record.id]
        reference = record.reference
        rows.append(
            schemas.RecordRowOut(
                id=record.id,
                title=reference.title,
                authors="; ".join(reference.authors[:3])
                + (" et al." if len(reference.authors) > 3 else ""),
                year=reference.year,
                journal=reference.journal,
                status=_seen_status(log, record.id, person, stage),
                mine=held[person].verdict if person in held else None,
                rank=rank,
                probability=probability,
                tags=list(log.tags.get(record.id, ())),
            )
        )
    return schemas.RecordsOut(total=len(found), records=rows)


def flow_svg(opened: LiveReview) -> str:
    """The PRISMA flow diagram."""
    return PrismaFlow.of(opened.log).chart().to_svg()


def all_statistics(opened: LiveReview, ranked: RankedRecords) -> schemas.StatisticsOut:
    """The numbers of a review."""
    log = opened.log
    flow = PrismaFlow.of(log)
    return schemas.StatisticsOut(
        flow={
            "identified": flow.identified,
            "duplicates": flow.duplicates,
            "records": flow.n_records,
            "screened": flow.n_screened,
            "excluded": flow.excluded,
            "full_texts_excluded": flow.full_texts_excluded,
            "full_texts_open": flow.full_texts_open,
            "included": flow.included,
            "maybe": flow.maybe,
            "open": flow.open,
        },
        agreement=list(_agreement(log)),
        reviewers=list(_reviewers(log)),
        curve=_curve(log),
        methods=methods_paragraph(log, gauge_of(ranked).sentence),
    )


def _agreement(log: ReviewLog) -> Iterator[schemas.AgreementOut]:
    """Agreement on records that several have decided on, by stage, before any conflict was resolved."""
    for stage in _STAGES:
        decisions = {
            record: held for record, held in log.decisions_of(stage).items() if len(held) > 1
        }
        names = dict.fromkeys(by for held in decisions.values() for by in held)
        if len(names) > 1:
            held_by = [
                {record: held[by] for record, held in decisions.items() if by in held}
                for by in names
            ]
            found = Agreement.of(
                [{record: given.verdict for record, given in held.items()} for held in held_by]
            )
            values = {name: getattr(found, name) for name in ("agreement", "kappa", "ac1", "alpha")}
            known = {name: None if value != value else value for name, value in values.items()}
            yield schemas.AgreementOut(stage=stage, records=found.n_records, **known)


def _reviewers(log: ReviewLog) -> Iterator[schemas.ReviewerOut]:
    """Who decided how much in how much time, and who waits for whom."""
    held = [
        (record, stage, given)
        for stage in _STAGES
        for record, given in log.decisions_of(stage).items()
    ]
    waiting = [given for record, stage, given in held if log.status(record, stage) == "waiting"]
    for name in dict.fromkeys(by for _, _, given in held for by in given):
        mine = [given[name] for _, _, given in held if name in given]
        seconds = [decision.seconds for decision in mine if decision.seconds is not None]
        yield schemas.ReviewerOut(
            name=name,
            decisions=len(mine),
            not_excluded=sum(decision.verdict != "excluded" for decision in mine) / len(mine),
            median_seconds=statistics.median(seconds) if seconds else None,
            hours=sum(seconds) / 3600.0,
            waiting_for_others=sum(name in given for given in waiting),
            others_waiting=sum(name not in given for given in waiting),
        )


def _curve(log: ReviewLog) -> list[tuple[int, int]]:
    """Finds against decided records, in the order of the first decision."""
    points, found = [(0, 0)], 0
    for number, record in enumerate(log.decided(), 1):
        found += log.verdict(record) in ("included", "maybe")
        points.append((number, found))
    step = -(-len(points) // _MOST_POINTS)
    return points[::step] if (len(points) - 1) % step == 0 else [*points[::step], points[-1]]
