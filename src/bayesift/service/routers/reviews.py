"""Routes of reviews: begin, screen, resolve conflicts, stop, count, export."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from bayesift.errors import DataError
from bayesift.screening import Duplicates, ProjectSettings, find_duplicates
from bayesift.screening.review_log import EventType
from bayesift.service import review_schemas as schemas
from bayesift.service import reviews
from bayesift.service.access import Person, Reader, Reviewer
from bayesift.service.exports import (
    FILE_BODY,
    MEDIA_TYPES,
    attached,
    audit_csv,
    file_answer,
    packed_project,
    records_file,
    unpacked_project,
)
from bayesift.service.live import UnitOfWork
from bayesift.service.review_pages import (
    all_statistics,
    flow_svg,
    gauge_of,
    page_of_records,
    progress_of,
    review_out,
    review_row,
    shown_record,
)
from bayesift.service.review_schemas import RecordName, ReviewId, Stage
from bayesift.service.runtime import Service, TheService
from bayesift.service.schemas import FileName, WordWeight

router = APIRouter(prefix="/api/reviews", tags=["reviews"])
screening = APIRouter(prefix="/api/reviews/{review}", tags=["screening"])
exports = APIRouter(prefix="/api/reviews/{review}", tags=["export"])

_CANDIDATES = 30
_REST = 30.0  # times as long as an estimate takes, until a gauge is computed again
InStage = Annotated[Stage, Query()]


@router.get("")
def list_reviews(
    person: Reader, service: TheService, deleted: bool = False
) -> list[schemas.ReviewRowOut]:
    """All reviews, oldest first; or those that were deleted and can be restored."""
    with service.store.reading() as read:
        rows = [row for row in read.reviews() if bool(row.deleted) is deleted]
    return [review_row(service, row) for row in rows]


@router.post("", status_code=201)
async def begin(body: schemas.ReviewIn, person: Reviewer, service: TheService) -> schemas.ReviewOut:
    """Begin a review from what was uploaded or chosen."""
    references = service.uploads.take(person.name, body.uploads)
    settings = ProjectSettings.from_values(body.settings.model_dump(exclude_none=True))

    def packed() -> tuple[reviews.Begun, bytes]:
        alone = Duplicates(tuple((place,) for place in range(len(references))), ())
        found = find_duplicates(references.references) if body.join_duplicates else alone
        begun = reviews.Begun(body.name, settings, references, found, body.take_decisions)
        return begun, reviews.packed_records(begun)

    begun, content = await service.share(object(), packed)
    row = await service.do(person, lambda unit: reviews.begin(unit, begun, content))
    service.uploads.drop(body.uploads)
    return await run_in_threadpool(review_out, service, row.id, person)


@router.post("/project", status_code=201, openapi_extra=FILE_BODY)
async def open_project(
    name: FileName, request: Request, person: Reviewer, service: TheService
) -> schemas.ReviewOut:
    """Open a project of `bayesift screen`, packed as zip, or bring its review up to date."""
    content = await request.body()
    project, records = await service.share(object(), partial(unpacked_project, content))
    title = name.removesuffix(".zip").removesuffix(".review") or "review"
    row = await service.do(person, lambda unit: reviews.take_in(unit, project, title, records))
    return await run_in_threadpool(review_out, service, row.id, person)


@screening.get("")
async def show(review: ReviewId, person: Reader, service: TheService) -> schemas.ReviewOut:
    """A review with its settings and progress."""
    await service.share(("estimate", review), partial(reviews.estimate, service, review))
    return await run_in_threadpool(review_out, service, review, person)


@screening.get("/gauge")
async def gauge(review: ReviewId, person: Reader, service: TheService) -> schemas.GaugeOut:
    """What is left, as of some decisions ago where many come in.

    Other answers have what was computed last.
    """

    def read() -> schemas.GaugeOut:
        reviews.estimate(service, review, rest=_REST)
        with reviews.ranking(service, review) as (_, ranked):
            return gauge_of(ranked)

    found: schemas.GaugeOut = await service.share(("gauge", review), read)
    return found


@screening.patch("")
async def change(
    review: ReviewId, body: schemas.ReviewChange, person: Reviewer, service: TheService
) -> schemas.ReviewOut:
    """Rename a review, or change what is looked for, the reasons and how it is screened."""
    if body.name is not None:
        name = body.name
        await service.do(person, lambda unit: reviews.rename(unit, review, name))
    values = {} if body.settings is None else body.settings.model_dump(exclude_none=True)
    if values:
        return await _act(service, person, review, "settings", **values)
    return await run_in_threadpool(review_out, service, review, person)


@screening.delete("", status_code=204)
async def delete(review: ReviewId, person: Reviewer, service: TheService) -> None:
    """Delete a review; it can be restored for some days."""
    await service.do(person, lambda unit: reviews.put_away(unit, review))
    service.leases.forget(review)


@screening.post("/restore")
async def restore(review: ReviewId, person: Reviewer, service: TheService) -> schemas.ReviewOut:
    """Restore a deleted review with all its decisions."""
    await service.do(person, lambda unit: reviews.restore(unit, review))
    return await run_in_threadpool(review_out, service, review, person)


@screening.get("/next")
def next_record(
    review: ReviewId,
    person: Reviewer,
    service: TheService,
    stage: InStage = "abstract",
    skip: Annotated[list[schemas.RecordId] | None, Query(max_length=100)] = None,
) -> schemas.NextOut:
    """The most relevant record that is open to this person; reserved for them for some minutes."""
    with reviews.ranking(service, review) as (opened, ranked):
        rows = ranked.open_rows(person.name, stage)
        order = rows[(-ranked.queue.scores[rows]).argsort(kind="stable")]
        names = [ranked.ids[row] for row in order]
        skipped = set(skip or ())
        names = [name for name in names if name not in skipped] or names
        taken = names[:1]
        if opened.log.settings.reviewers_per_record == 1:
            taken = service.leases.take(f"{review} {stage}", person.name, names[:_CANDIDATES], 1)
        record = shown_record(opened, ranked, taken[0], person.name, stage) if taken else None
        return schemas.NextOut(
            record=record, progress=progress_of(opened, ranked, person.name, stage)
        )


@screening.post("/decisions")
async def decide(
    review: ReviewId, body: schemas.DecisionIn, person: Reviewer, service: TheService
) -> schemas.RecordOut:
    """Decide on a record; answered when the decision is on disk."""
    values = _decision(body) | {"seconds": None if body.seconds is None else round(body.seconds, 1)}
    decided = await _act_on(service, person, review, "decide", body.record, **values)
    service.leases.free(f"{review} {body.stage}", body.record)
    return decided


@screening.post("/undo")
async def undo(review: ReviewId, person: Reviewer, service: TheService) -> schemas.RecordOut:
    """Take back your last decision."""

    def take_back(unit: UnitOfWork) -> tuple[Stage, str]:
        last = reviews.opened_in(unit, review).log.last_done(person.name)
        if last is None:
            raise DataError("there is no decision to take back")
        reviews.act(unit, review, "undo", record=last[1])
        return last

    stage, record = await service.do(person, take_back)
    return await run_in_threadpool(show_record, review, record, person, service, stage)


@screening.post("/resolutions")
async def resolve(
    review: ReviewId, body: schemas.DecisionIn, person: Reviewer, service: TheService
) -> schemas.RecordOut:
    """Resolve a conflict between reviewers."""
    return await _act_on(service, person, review, "resolve", body.record, **_decision(body))


@screening.post("/words")
async def set_words(
    review: ReviewId, body: schemas.WordsIn, person: Reviewer, service: TheService
) -> schemas.ProgressOut:
    """Say which words speak for relevance, or against it; earlier words are replaced."""
    return (await _act(service, person, review, "words", words=body.words)).progress


@screening.post("/stop")
async def stop(
    review: ReviewId, body: schemas.StopIn, person: Reviewer, service: TheService
) -> schemas.ReviewOut:
    """End the screening, with the reason."""
    return await _act(service, person, review, "stop", reason=body.reason)


@screening.post("/resume")
async def resume(review: ReviewId, person: Reviewer, service: TheService) -> schemas.ReviewOut:
    """Go on with a screening that was ended."""
    return await _act(service, person, review, "resume")


@screening.get("/records")
def list_records(
    review: ReviewId,
    person: Reader,
    service: TheService,
    query: Annotated[schemas.RecordQuery, Query()],
) -> schemas.RecordsOut:
    """Records of the whole pool, the most relevant first, that hold all words of the search and have status and tag."""
    with reviews.ranking(service, review) as (opened, ranked):
        return page_of_records(opened, ranked, person.name, query)


@screening.get("/records/{record}")
def show_record(
    review: ReviewId,
    record: RecordName,
    person: Reader,
    service: TheService,
    stage: InStage = "abstract",
) -> schemas.RecordOut:
    """Any record, with its rank and probability."""
    with reviews.ranking(service, review) as (opened, ranked):
        return shown_record(opened, ranked, record, person.name, stage)


@screening.get("/records/{record}/words")
def words_of(
    review: ReviewId, record: RecordName, person: Reader, service: TheService
) -> list[WordWeight]:
    """The words of a record that speak for its relevance or against it, by weight."""
    with reviews.ranking(service, review) as (_, ranked):
        ranked.row_of(record)
        weights = ranked.informative_words(record, 30)
    return [WordWeight(word=word, weight=weight, forms=[word]) for word, weight in weights.items()]


@screening.post("/records/{record}/notes")
async def add_note(
    review: ReviewId,
    record: RecordName,
    body: schemas.NoteIn,
    person: Reviewer,
    service: TheService,
) -> schemas.RecordOut:
    """Keep a note on a record."""
    return await _act_on(service, person, review, "note", record, text=body.text)


@screening.put("/records/{record}/tags")
async def set_tags(
    review: ReviewId,
    record: RecordName,
    body: schemas.TagsIn,
    person: Reviewer,
    service: TheService,
) -> schemas.RecordOut:
    """Set the tags of a record."""
    return await _act_on(service, person, review, "tag", record, tags=body.tags)


@screening.put("/records/{record}/full-text")
async def set_full_text(
    review: ReviewId,
    record: RecordName,
    body: schemas.FullTextIn,
    person: Reviewer,
    service: TheService,
) -> schemas.RecordOut:
    """Say where the full text of a record is: a link or the name of a file."""
    return await _act_on(service, person, review, "file", record, place=body.place)


@screening.post("/records/{record}/split")
async def split(
    review: ReviewId, record: RecordName, person: Reviewer, service: TheService
) -> schemas.RecordOut:
    """Make records of their own of the sources of a record that are different publications."""
    return await _act_on(service, person, review, "split", record)


@screening.post("/records/{record}/join")
async def join(
    review: ReviewId,
    record: RecordName,
    body: schemas.JoinIn,
    person: Reviewer,
    service: TheService,
) -> schemas.RecordOut:
    """Join records that are the same publication."""
    return await _act_on(service, person, review, "join", record, records=body.records)


@screening.get("/statistics")
async def statistics(
    review: ReviewId, person: Reader, service: TheService
) -> schemas.StatisticsOut:
    """PRISMA counts, agreement, the work of reviewers, the recall curve and a paragraph for the paper."""

    def counted() -> schemas.StatisticsOut:
        reviews.estimate(service, review)
        with reviews.ranking(service, review) as (opened, ranked):
            return all_statistics(opened, ranked)

    statistics: schemas.StatisticsOut = await service.share(("statistics", review), counted)
    return statistics


@exports.get("/flow.svg", response_class=Response, responses=file_answer("image/svg+xml"))
def flow(review: ReviewId, person: Reader, service: TheService) -> Response:
    """The PRISMA flow diagram."""
    with reviews.reading(service, review) as opened:
        return Response(
            flow_svg(opened),
            media_type="image/svg+xml",
            headers=attached(f"{opened.row.name}-flow.svg"),
        )


@exports.get("/audit.csv", response_class=Response, responses=file_answer("text/csv"))
def audit(review: ReviewId, person: Reader, service: TheService) -> Response:
    """Everything that people did to the review, in order."""
    with reviews.reading(service, review) as opened:
        name, content = opened.row.name, audit_csv(opened.log)
    return Response(
        content, media_type="text/csv; charset=utf-8", headers=attached(f"{name}-audit.csv")
    )


@exports.get(
    "/records.{kind}", response_class=Response, responses=file_answer("application/octet-stream")
)
async def export(
    review: ReviewId,
    kind: Literal["ris", "csv", "xlsx", "bib", "nbib", "xml", "jsonl"],
    person: Reader,
    service: TheService,
    only: Annotated[list[schemas.Outcome] | None, Query()] = None,
    sources: bool = False,
) -> Response:
    """The records with decisions, reasons, ranks and probabilities, all or in part."""

    def written() -> tuple[str, bytes]:
        with reviews.ranking(service, review) as (opened, ranked):
            name, references = (
                opened.row.name,
                ranked.references(only=set(only or ()), sources=sources),
            )
        return name, records_file(references, kind)

    name, content = await service.share(object(), written)
    return Response(content, media_type=MEDIA_TYPES[kind], headers=attached(f"{name}.{kind}"))


@exports.get("/project.zip", response_class=Response, responses=file_answer("application/zip"))
async def export_project(review: ReviewId, person: Reader, service: TheService) -> Response:
    """The review as a project of `bayesift screen`."""

    def packed() -> tuple[str, bytes]:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "review"
            with reviews.reading(service, review) as opened:
                name = opened.row.name
                reviews.saved_project(opened, place)
            return name, packed_project(place)

    name, content = await service.share(object(), packed)
    return Response(content, media_type="application/zip", headers=attached(f"{name}.review.zip"))


async def _act(
    service: Service,
    person: Person,
    review: str,
    type: EventType,  # noqa: A002
    **values: Any,
) -> schemas.ReviewOut:
    """Do something to a review, and show it as it is then."""
    await service.do(person, lambda unit: reviews.act(unit, review, type, **values))
    return await run_in_threadpool(review_out, service, review, person)


async def _act_on(
    service: Service,
    person: Person,
    review: str,
    type: EventType,  # noqa: A002
    record: str,
    **values: Any,
) -> schemas.RecordOut:
    """Do something to a record, and show it as it is then.

    If it is ranked, without waiting for the lock again.
    """
    stage: Stage = values.get("stage") or "abstract"

    def act(unit: UnitOfWork) -> schemas.RecordOut | None:
        reviews.act(unit, review, type, record=record, **values)
        opened = reviews.opened_in(unit, review)
        return (
            None
            if opened.ranked is None
            else shown_record(opened, opened.ranked, record, person.name, stage)
        )

    shown: schemas.RecordOut | None = await service.do(person, act)
    if shown is None:
        shown = await run_in_threadpool(show_record, review, record, person, service, stage)
    return shown


def _decision(body: schemas.DecisionIn) -> dict[str, Any]:
    """What the log keeps of a decision; the first stage is not named."""
    stage = None if body.stage == "abstract" else body.stage
    return {"verdict": body.verdict, "reasons": body.reasons or None, "stage": stage}
