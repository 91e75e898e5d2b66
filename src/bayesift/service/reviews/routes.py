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
from bayesift.screening import PrismaFlow
from bayesift.screening.full_texts import FullTextFile, safe_name
from bayesift.screening.review_log import Stage, Status
from bayesift.service import readers
from bayesift.service.access.audit import NOTED, SETTINGS
from bayesift.service.access.callers import Item, Owner, Person, Reader, Reviewer
from bayesift.service.errors import ConflictError, NotFoundError
from bayesift.service.files import FILE_BODY, attached, file_answer, shown
from bayesift.service.live import UnitOfWork
from bayesift.service.reviews import live, operations, schemas
from bayesift.service.reviews.beginning import begin_review
from bayesift.service.reviews.exports import (
    MEDIA_TYPES,
    audit_csv,
    packed_project,
    records_file,
    unpacked_project,
)
from bayesift.service.reviews.live import RecordCommand, ReviewCommand, opened_in, perform
from bayesift.service.reviews.pages import (
    all_statistics,
    gauge_of,
    hindsight_out,
    known_record,
    page_of_records,
    progress_of,
    review_out,
    review_row,
    shown_record,
)
from bayesift.service.reviews.schemas import RecordName, ReviewId
from bayesift.service.runtime import Service, TheService
from bayesift.service.schemas import FileName, WordWeightOut

router = APIRouter(prefix="/api/reviews", tags=["reviews"])
screening = APIRouter(prefix="/api/reviews/{review}", tags=["screening"])
exports = APIRouter(prefix="/api/reviews/{review}", tags=["export"])

_CANDIDATES = 30  # the most relevant records, of which the first free one is offered
_REST = 30.0  # times as long as an estimate takes, until a gauge is computed again
_SHOWN_WORDS = 30
InStage = Annotated[Stage, Query()]


@router.get("")
def list_reviews(
    person: Reader, service: TheService, deleted: bool = False
) -> list[schemas.ReviewRowOut]:
    """List all reviews, oldest first; or those that were deleted and can be restored."""
    with service.store.reading() as read:
        rows = [row for row in read.reviews() if bool(row.deleted) is deleted]
    found = []
    for row in rows:
        role = service.members.role(person, Item("review", row.id))
        if role is not None:
            found.append(review_row(service, row, role))
    return found


@router.post("", status_code=201)
async def begin(
    body: schemas.ReviewIn, person: Reviewer, service: TheService
) -> schemas.ReviewOut:
    """Begin a review from uploads."""
    with service.beginnings.following(person.name, body.name) as tell:
        review = await begin_review(service, person, body, tell)
        tell("ranking the records")
        return await run_in_threadpool(review_out, service, review, person)


@router.get("/beginning")
def list_beginning(person: Reviewer, service: TheService) -> list[schemas.BeginningOut]:
    """List the reviews that you are beginning just now, and how far each is."""
    return service.beginnings.of(person.name)


@router.post("/project", status_code=201, openapi_extra=FILE_BODY)
async def open_project(
    name: FileName, request: Request, person: Reviewer, service: TheService
) -> schemas.ReviewOut:
    """Open a project of `bayesift screen`, packed as zip, or bring its review up to date.

    Of a project whose review is here, only new events of the person who sends it are taken.
    """
    content = await request.body()
    await service.read(readers.try_project, name, content, readers.nothing)
    sent = await service.share(object(), partial(unpacked_project, content))
    project = sent.project
    with service.store.reading() as read:
        if read.review(project.id) is not None:
            service.members.require(person, Item("review", project.id), "reviewer")
    title = name.removesuffix(".zip").removesuffix(".review") or "review"
    for file in sent.full_texts:
        await service.share(object(), partial(service.full_texts.add, file))
    row = await service.do(
        person, lambda unit: operations.import_project(unit, project, title, sent.records)
    )
    return await run_in_threadpool(review_out, service, row.id, person)


@screening.get("")
async def show(review: ReviewId, person: Reader, service: TheService) -> schemas.ReviewOut:
    """Show a review with its settings and progress."""
    estimate = partial(service.live.reviews.estimate, review, person.name)
    await service.share(("estimate", review, person.name), estimate)
    return await run_in_threadpool(review_out, service, review, person)


@screening.get("/progress")
def show_progress(
    review: ReviewId, person: Reader, service: TheService, stage: InStage = "abstract"
) -> schemas.ProgressOut:
    """Count how far a stage is; the gauge is what was computed last."""
    with service.live.reviews.ranking(review, person.name) as (opened, ranked):
        return progress_of(opened.seen_by(person.name), ranked, person.name, stage)


@screening.get("/gauge")
async def gauge(review: ReviewId, person: Reader, service: TheService) -> schemas.GaugeOut:
    """Estimate what is left; where many decisions come in, as of some decisions ago.

    Other answers have what was computed last.
    """

    def read() -> schemas.GaugeOut:
        service.live.reviews.estimate(review, person.name, rest=_REST)
        with service.live.reviews.ranking(review, person.name) as (_, ranked):
            return gauge_of(ranked)

    return await service.share(("gauge", review, person.name), read)


@screening.patch("")
async def change(
    review: ReviewId, body: schemas.ReviewChange, person: Owner, service: TheService
) -> schemas.ReviewOut:
    """Rename a review, or change what is sought, the reasons and how it is screened."""
    name = body.name
    if name is not None:
        await service.do(person, lambda unit: operations.rename(unit, review, name))
    values = {} if body.settings is None else body.settings.model_dump(exclude_none=True)
    if values:

        def operation(unit: UnitOfWork) -> None:
            perform(unit, review, live.ChangeSettings(**values))
            unit.record(SETTINGS, review=review, payload=values)

        await service.do(person, operation)
    return await run_in_threadpool(review_out, service, review, person)


@screening.delete("", status_code=204)
async def delete(review: ReviewId, person: Owner, service: TheService) -> None:
    """Delete a review; it can be restored for some days."""
    await service.do(person, lambda unit: operations.put_away(unit, review))
    service.leases.forget(_queue(review, "abstract"), _queue(review, "full text"))


@screening.post("/restore")
async def restore(review: ReviewId, person: Owner, service: TheService) -> schemas.ReviewOut:
    """Restore a deleted review with all its decisions."""
    await service.do(person, lambda unit: operations.restore(unit, review))
    return await run_in_threadpool(review_out, service, review, person)


@screening.get("/next")
def next_record(
    review: ReviewId,
    person: Reviewer,
    service: TheService,
    stage: InStage = "abstract",
    skip: Annotated[list[schemas.RecordId] | None, Query(max_length=100)] = None,
) -> schemas.NextOut:
    """Offer the most relevant record that is open to this person, reserved for some minutes."""
    with service.live.reviews.recent_ranking(review, person.name) as (opened, ranked):
        log = opened.seen_by(person.name)
        rows = ranked.open_rows(person.name, stage)
        order = rows[(-ranked.scores[rows]).argsort(kind="stable")]
        names = [ranked.ids[row] for row in order]
        skipped = set(skip or ())
        names = [name for name in names if name not in skipped] or names
        taken = names[:1]
        if log.settings.reviewers_per_record == 1:
            queue = _queue(review, stage)
            taken = service.leases.take(queue, person.name, names[:_CANDIDATES], 1)
        record = None
        if taken:
            place = ranked.place_in_pool(taken[0])
            record = shown_record(log, taken[0], person.name, stage, *place)
        progress = progress_of(log, ranked, person.name, stage)
        return schemas.NextOut(record=record, progress=progress)


@screening.post("/decisions")
async def decide(
    review: ReviewId, body: schemas.DecisionIn, person: Reviewer, service: TheService
) -> schemas.RecordOut:
    """Decide on a record; answered when the decision is on disk.

    The ranking learns from it after that: rank and probability in the answer are those before.
    """
    place = await run_in_threadpool(
        service.live.reviews.place, review, body.record, person.name, body.stage
    )
    command = live.Decide(
        **_decision(body),
        seconds=None if body.seconds is None else round(body.seconds, 1),
        rank=None if place is None else place.rank,
        score=None if place is None else place.score,
    )

    def act(unit: UnitOfWork) -> schemas.RecordOut | None:
        opened = perform(unit, review, command)
        if place is None:
            return None
        seen = opened.seen_by(person.name)
        rank = (place.rank_in_pool, place.probability)
        return shown_record(seen, body.record, person.name, body.stage, *rank)

    decided: schemas.RecordOut | None = await service.do(person, act)
    service.leases.free(_queue(review, body.stage), body.record)
    if decided is None:
        return await run_in_threadpool(
            show_record, review, body.record, person, service, body.stage
        )
    return decided


@screening.post("/undo")
async def undo(review: ReviewId, person: Reviewer, service: TheService) -> schemas.RecordOut:
    """Take back your last decision."""

    def take_back(unit: UnitOfWork) -> tuple[Stage, str]:
        last = opened_in(unit, review).log.last_done(person.name)
        if last is None:
            raise DataError("no decision to take back")
        perform(unit, review, live.Undo(record=last[1]))
        return last

    stage, record = await service.do(person, take_back)
    return await run_in_threadpool(show_record, review, record, person, service, stage)


@screening.post("/resolutions")
async def resolve(
    review: ReviewId, body: schemas.DecisionIn, person: Reviewer, service: TheService
) -> schemas.RecordOut:
    """Resolve a conflict between reviewers."""
    command = live.Resolve(**_decision(body))
    return await _command_on(service, person, review, command, body.stage)


@screening.post("/words")
async def set_words(
    review: ReviewId, body: schemas.WordsIn, person: Reviewer, service: TheService
) -> schemas.ProgressOut:
    """Set the words that speak for relevance, or against it; earlier words are replaced."""
    return (await _command(service, person, review, live.SetWords(words=body.words))).progress


@screening.post("/stop")
async def stop(
    review: ReviewId, body: schemas.StopIn, person: Reviewer, service: TheService
) -> schemas.ReviewOut:
    """End the screening, with the reason."""
    return await _command(service, person, review, live.StopScreening(reason=body.reason))


@screening.post("/resume")
async def resume(review: ReviewId, person: Reviewer, service: TheService) -> schemas.ReviewOut:
    """Go on with a screening that was ended."""
    return await _command(service, person, review, live.ResumeScreening())


@screening.get("/records")
def list_records(
    review: ReviewId,
    person: Reader,
    service: TheService,
    query: Annotated[schemas.RecordQuery, Query()],
) -> schemas.RecordsOut:
    """List records of the whole pool, the most relevant first, by search, status and tag."""
    with service.live.reviews.ranking(review, person.name) as (opened, ranked):
        return page_of_records(opened, ranked, person.name, query)


@screening.get("/records/{record}")
def show_record(
    review: ReviewId,
    record: RecordName,
    person: Reader,
    service: TheService,
    stage: InStage = "abstract",
) -> schemas.RecordOut:
    """Show any record, with its rank and probability."""
    with service.live.reviews.ranking(review, person.name) as (opened, ranked):
        known_record(opened.log, record)
        place = ranked.place_in_pool(record)
        return shown_record(opened.seen_by(person.name), record, person.name, stage, *place)


@screening.get("/records/{record}/words")
def words_of(
    review: ReviewId, record: RecordName, person: Reader, service: TheService
) -> list[WordWeightOut]:
    """List the words of a record that speak for its relevance or against it, by weight."""
    with service.live.reviews.ranking(review, person.name) as (_, ranked):
        ranked.row_of(record)
        weights = ranked.informative_words(record, _SHOWN_WORDS)
    return [
        WordWeightOut(word=word, weight=weight, forms=[word])
        for word, weight in weights.items()
    ]


@screening.post("/records/{record}/notes")
async def add_note(
    review: ReviewId,
    record: RecordName,
    body: schemas.NoteIn,
    person: Reviewer,
    service: TheService,
) -> schemas.RecordOut:
    """Keep a note on a record."""
    return await _command_on(
        service, person, review, live.AddNote(record=record, text=body.text)
    )


@screening.put("/records/{record}/tags")
async def set_tags(
    review: ReviewId,
    record: RecordName,
    body: schemas.TagsIn,
    person: Reviewer,
    service: TheService,
) -> schemas.RecordOut:
    """Set the tags of a record."""
    return await _command_on(
        service, person, review, live.SetTags(record=record, tags=body.tags)
    )


@screening.put("/records/{record}/full-text")
async def set_full_text(
    review: ReviewId,
    record: RecordName,
    body: schemas.FullTextIn,
    person: Reviewer,
    service: TheService,
) -> schemas.RecordOut:
    """Set where the full text of a record is: a link or the name of a file."""
    command = live.SetFullText(record=record, place=body.place)
    return await _command_on(service, person, review, command)


@screening.put("/records/{record}/full-text.pdf", openapi_extra=FILE_BODY)
async def attach_full_text(
    review: ReviewId,
    record: RecordName,
    name: FileName,
    request: Request,
    person: Reviewer,
    service: TheService,
    replaces: schemas.FileDigest | None = None,
) -> schemas.RecordOut:
    """Attach the PDF of a full text; `replaces` is the digest of the file that the record has."""
    content = await request.body()

    def kept() -> str:
        with service.live.reviews.reading(review) as opened:
            known_record(opened.log, record)
        return service.full_texts.add(content)

    digest = await service.share(object(), kept)
    command = live.AttachFullText(
        record=record,
        name=safe_name(name),
        digest=digest,
        bytes=len(content),
        replaces=replaces,
    )
    return await _command_on(service, person, review, command)


@screening.delete("/records/{record}/full-text.pdf")
async def detach_full_text(
    review: ReviewId,
    record: RecordName,
    replaces: schemas.FileDigest,
    person: Reviewer,
    service: TheService,
) -> schemas.RecordOut:
    """Remove the PDF with this digest from a record; the log keeps that it was there."""
    command = live.DetachFullText(record=record, replaces=replaces)
    return await _command_on(service, person, review, command)


@screening.get(
    "/records/{record}/full-text.pdf",
    response_class=Response,
    responses=file_answer("application/pdf"),
)
def show_full_text(
    review: ReviewId, record: RecordName, person: Reader, service: TheService
) -> Response:
    """Show the PDF that is attached to a record; refuses one that was damaged on the disk."""
    with service.live.reviews.reading(review) as opened:
        known_record(opened.log, record)
        attached_file = opened.log.full_text_files.get(record)
    if attached_file is None:
        raise NotFoundError(f"no full text is attached to record {record}")
    content = _whole_full_text(service, record, attached_file)
    return Response(content, media_type="application/pdf", headers=shown(attached_file.name))


@screening.post("/records/{record}/split")
async def split(
    review: ReviewId, record: RecordName, person: Reviewer, service: TheService
) -> schemas.RecordOut:
    """Make records of their own of the sources of a record that are different publications."""
    return await _command_on(service, person, review, live.SplitRecord(record=record))


@screening.post("/records/{record}/join")
async def join(
    review: ReviewId,
    record: RecordName,
    body: schemas.JoinIn,
    person: Reviewer,
    service: TheService,
) -> schemas.RecordOut:
    """Join records that are the same publication."""
    command = live.JoinRecords(record=record, records=body.records)
    return await _command_on(service, person, review, command)


@screening.get("/statistics")
async def statistics(
    review: ReviewId, person: Reader, service: TheService
) -> schemas.StatisticsOut:
    """Count for PRISMA, and report agreement, work, recall curve and a paragraph for the paper."""

    def counted() -> schemas.StatisticsOut:
        service.live.reviews.estimate(review, person.name)
        with service.live.reviews.ranking(review, person.name) as (opened, ranked):
            return all_statistics(opened, ranked, person.name)

    return await service.share(("statistics", review, person.name), counted)


@screening.get("/hindsight")
async def hindsight(
    review: ReviewId, person: Reader, service: TheService
) -> schemas.HindsightOut:
    """Tell where stopping rules would have ended the review, and what they would have missed."""

    def looked_back() -> schemas.HindsightOut:
        with service.live.reviews.ranking(review, person.name) as (_, ranked):
            return hindsight_out(ranked)

    return await service.share(("hindsight", review, person.name), looked_back)


@exports.get("/flow.svg", response_class=Response, responses=file_answer("image/svg+xml"))
def flow(
    review: ReviewId, person: Reader, service: TheService, narrow: bool = False
) -> Response:
    """Draw the PRISMA flow diagram; `narrow` for a small screen."""
    with service.live.reviews.reading(review) as opened:
        name = f"{opened.row.name}-flow.svg"
        content = PrismaFlow.of(opened.log).chart(narrow=narrow).to_svg()
    return Response(content, media_type="image/svg+xml", headers=attached(name))


@exports.get(
    "/audit.csv",
    response_class=Response,
    responses=file_answer("text/csv"),
    dependencies=[NOTED],
)
def audit(review: ReviewId, person: Reader, service: TheService) -> Response:
    """Export what people did to the review, in order, without what is blind for the caller."""
    with service.live.reviews.reading(review) as opened:
        name = f"{opened.row.name}-audit.csv"
        content = audit_csv(opened.seen_by(person.name))
    return Response(content, media_type="text/csv; charset=utf-8", headers=attached(name))


@exports.get(
    "/records.{kind}",
    response_class=Response,
    responses=file_answer("application/octet-stream"),
    dependencies=[NOTED],
)
async def export(
    review: ReviewId,
    kind: Literal["ris", "csv", "xlsx", "bib", "nbib", "xml", "jsonl"],
    person: Reader,
    service: TheService,
    only: Annotated[list[Status] | None, Query()] = None,
    sources: bool = False,
) -> Response:
    """Export the records with decisions, reasons, ranks and probabilities, all or in part."""

    def written() -> tuple[str, bytes]:
        with service.live.reviews.ranking(review, person.name) as (opened, ranked):
            name = opened.row.name
            references = ranked.references(only=set(only or ()), sources=sources)
        return name, records_file(references, kind)

    name, content = await service.share(object(), written)
    return Response(content, media_type=MEDIA_TYPES[kind], headers=attached(f"{name}.{kind}"))


@exports.get(
    "/project.zip",
    response_class=Response,
    responses=file_answer("application/zip"),
    dependencies=[NOTED],
)
async def export_project(review: ReviewId, person: Reader, service: TheService) -> Response:
    """Export the review as a project of `bayesift screen`, without what is blind for the caller."""

    def packed() -> tuple[str, bytes]:
        with tempfile.TemporaryDirectory() as parent:
            folder = Path(parent) / "review"
            with service.live.reviews.reading(review) as opened:
                name = opened.row.name
                operations.save_project(opened, folder, person.name)
                held = dict(opened.log.full_text_files)
            full_texts = {
                file.digest: _whole_full_text(service, record, file)
                for record, file in held.items()
            }
            return name, packed_project(folder, full_texts)

    name, content = await service.share(object(), packed)
    return Response(
        content, media_type="application/zip", headers=attached(f"{name}.review.zip")
    )


async def _command(
    service: Service, person: Person, review: str, command: ReviewCommand
) -> schemas.ReviewOut:
    """Carry out a command, and show the review as it is then."""
    await service.do(person, lambda unit: perform(unit, review, command))
    return await run_in_threadpool(review_out, service, review, person)


async def _command_on(
    service: Service,
    person: Person,
    review: str,
    command: RecordCommand,
    stage: Stage = "abstract",
) -> schemas.RecordOut:
    """Carry out a command about a record, and show the record as it is then."""
    await service.do(person, lambda unit: perform(unit, review, command))
    return await run_in_threadpool(show_record, review, command.record, person, service, stage)


def _whole_full_text(service: Service, record: str, file: FullTextFile) -> bytes:
    """Return an attached file; the refusal of a damaged one does not tell where it is kept."""
    try:
        return service.full_texts.read(file.digest)
    except DataError as error:
        raise ConflictError(
            f"the full text of record {record}, {file.name}, {error.message}"
        ) from error


def _decision(body: schemas.DecisionIn) -> dict[str, Any]:
    """Return what the log keeps of a decision; the first stage is not named."""
    return {
        "record": body.record,
        "verdict": body.verdict,
        "reasons": body.reasons or None,
        "stage": None if body.stage == "abstract" else body.stage,
    }


def _queue(review: str, stage: Stage) -> str:
    """Return the name of the queue of a stage, for leases."""
    return f"{review} {stage}"
