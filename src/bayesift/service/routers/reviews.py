"""Routes of reviews: upload records, begin, screen, resolve conflicts, stop, count, export."""

from __future__ import annotations

import csv
import io
import json
import tempfile
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from bayesift.datasets.references import write_references
from bayesift.errors import DataError
from bayesift.screening import Duplicates, Project, ProjectSettings, find_duplicates
from bayesift.screening.project import RECORDS
from bayesift.screening.review_log import EventType
from bayesift.service import review_schemas as schemas
from bayesift.service import reviews
from bayesift.service.access import Person, Reader, Reviewer
from bayesift.service.exports import BYTES, attached, file_answer, guarded_cell
from bayesift.service.review_pages import (
    all_statistics,
    flow_svg,
    page_of_records,
    progress_of,
    reference_out,
    review_out,
    review_row,
    shown_record,
)
from bayesift.service.review_schemas import RecordName, ReviewId, Stage, Status
from bayesift.service.runtime import Service, TheService
from bayesift.service.schemas import FileName, Limit, WordWeight
from bayesift.service.uploads import Upload, check_unpacked, read_upload

uploads = APIRouter(prefix="/api/uploads", tags=["reviews"])
router = APIRouter(prefix="/api/reviews", tags=["reviews"])
screening = APIRouter(prefix="/api/reviews/{review}", tags=["screening"])
exports = APIRouter(prefix="/api/reviews/{review}", tags=["export"])

_FILE = {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": BYTES}}}}
_NO_PROJECT = (zipfile.BadZipFile, zlib.error, KeyError, TypeError, ValueError, AttributeError, RuntimeError, OSError)
_SHOWN = 5
_SHOWN_DUPLICATES = 50
_CANDIDATES = 30
_WRITTEN = {
    "ris": "application/x-research-info-systems",
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "bib": "application/x-bibtex",
    "nbib": "text/plain; charset=utf-8",
    "xml": "application/xml",
    "jsonl": "application/x-ndjson",
}
InStage = Annotated[Stage, Query()]


@uploads.post("", status_code=201, openapi_extra=_FILE)
async def upload(name: FileName, request: Request, person: Reviewer, service: TheService) -> schemas.FileOut:
    """Send a file of records; the answer says what was understood of it."""
    content = await request.body()
    found = await service.share(object(), partial(read_upload, name, content))
    key = service.uploads.keep(Upload(person.name, name, found))
    (file,) = found.files
    return schemas.FileOut(
        upload=key,
        file=file.file,
        format=file.format,
        encoding=file.encoding,
        records=file.records,
        refused=file.refused,
        notes=[str(replace(note, option=None)) for note in file.notes],
        problems=[f"line {problem.line}: {problem.message}" for problem in found.problems[:20]],
        first=[reference_out(reference) for reference in found[:_SHOWN]],
    )


@uploads.post("/preview")
async def preview(body: schemas.PreviewIn, person: Reviewer, service: TheService) -> schemas.PreviewOut:
    """What a review of these files would hold, and the duplicates among them."""
    references = service.uploads.take(person.name, body.uploads)
    found: Duplicates = await service.share(object(), partial(find_duplicates, references.references))

    def shown(places: Iterable[int], probability: float | None = None) -> schemas.DuplicateOut:
        return schemas.DuplicateOut(
            records=[reference_out(references[place]) for place in places], probability=probability
        )

    joined = [group for group in found.groups if len(group) > 1]
    return schemas.PreviewOut(
        records=len(references),
        after_joining=len(found.groups),
        without_abstract=sum(not reference.abstract for reference in references),
        decisions=sum(bool(reference.decisions) for reference in references),
        duplicates=[shown(group) for group in joined[:_SHOWN_DUPLICATES]],
        possible=[shown((m.first, m.second), m.probability) for m in found.possible[:_SHOWN_DUPLICATES]],
    )


@router.get("")
def list_reviews(person: Reader, service: TheService, deleted: bool = False) -> list[schemas.ReviewRowOut]:
    """All reviews, oldest first; or those that were deleted and can be restored."""
    with service.store.reading() as read:
        rows = [row for row in read.reviews() if bool(row.deleted) is deleted]
    return [review_row(service, row) for row in rows]


@router.post("", status_code=201)
async def begin(body: schemas.ReviewIn, person: Reviewer, service: TheService) -> schemas.ReviewOut:
    """Begin a review from uploaded files."""
    references = service.uploads.take(person.name, body.uploads)
    settings = ProjectSettings.from_values(body.settings.model_dump(exclude_none=True))
    alone = Duplicates(tuple((place,) for place in range(len(references))), ())
    begun = reviews.Begun(body.name, settings, references, alone, body.take_decisions)

    def packed() -> tuple[reviews.Begun, bytes]:
        found = find_duplicates(references.references) if body.join_duplicates else alone
        whole = reviews.Begun(body.name, settings, references, found, body.take_decisions)
        return whole, reviews.packed_records(whole)

    begun, content = await service.share(object(), packed)
    row = await service.do(person, lambda unit: reviews.begin(unit, begun, content))
    service.uploads.drop(body.uploads)
    return await run_in_threadpool(review_out, service, row.id, person)


@router.post("/project", status_code=201, openapi_extra=_FILE)
async def open_project(name: FileName, request: Request, person: Reviewer, service: TheService) -> schemas.ReviewOut:
    """Open a project of `bayesift screen`, packed as zip, or bring its review up to date."""
    content = await request.body()

    def unpacked() -> tuple[Project, bytes]:
        check_unpacked(content)
        with tempfile.TemporaryDirectory() as folder:
            try:
                _unpack_project(content, Path(folder))
                return Project(folder), (Path(folder) / RECORDS).read_bytes()
            except DataError as error:
                raise DataError(error.message) from error
            except _NO_PROJECT as error:
                raise DataError("this file is no project of a review, or it is damaged") from error

    project, records = await service.share(object(), unpacked)
    title = name.removesuffix(".zip").removesuffix(".review") or "review"
    row = await service.do(person, lambda unit: reviews.take_in(unit, project, title, records))
    return await run_in_threadpool(review_out, service, row.id, person)


@screening.get("")
def show(review: ReviewId, person: Reader, service: TheService) -> schemas.ReviewOut:
    """A review with its settings and progress."""
    return review_out(service, review, person)


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
        await _act(service, person, review, "settings", **values)
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
        return schemas.NextOut(record=record, progress=progress_of(opened, ranked, person.name, stage))


@screening.post("/decisions")
async def decide(
    review: ReviewId, body: schemas.DecisionIn, person: Reviewer, service: TheService
) -> schemas.RecordOut:
    """Decide on a record; answered when the decision is on disk."""
    seconds = None if body.seconds is None else round(body.seconds, 1)
    values = {**body.model_dump(exclude={"stage"}), "reasons": body.reasons or None, "seconds": seconds}
    values |= _stage(body.stage)
    await _act(service, person, review, "decide", **values)
    service.leases.free(f"{review} {body.stage}", body.record)
    return await run_in_threadpool(show_record, review, body.record, person, service, body.stage)


@screening.post("/undo")
async def undo(review: ReviewId, person: Reviewer, service: TheService) -> schemas.RecordOut:
    """Take back your last decision."""

    def take_back(unit: Any) -> tuple[str, Stage]:
        opened = reviews.opened_in(unit, review)
        last = opened.log.last_done(person.name)
        if last is None:
            raise DataError("there is no decision to take back")
        reviews.act(unit, review, "undo", record=last[1])
        return last[1], last[0]

    record, stage = await service.do(person, take_back)
    return await run_in_threadpool(show_record, review, record, person, service, stage)


@screening.post("/resolutions")
async def resolve(
    review: ReviewId, body: schemas.DecisionIn, person: Reviewer, service: TheService
) -> schemas.RecordOut:
    """Resolve a conflict between reviewers."""
    values = {"record": body.record, "verdict": body.verdict, "reasons": body.reasons or None, **_stage(body.stage)}
    await _act(service, person, review, "resolve", **values)
    return await run_in_threadpool(show_record, review, body.record, person, service, body.stage)


@screening.post("/words")
async def set_words(
    review: ReviewId, body: schemas.WordsIn, person: Reviewer, service: TheService
) -> schemas.ProgressOut:
    """Say which words speak for relevance, or against it; earlier words are replaced."""
    await _act(service, person, review, "words", words=body.words)
    return (await run_in_threadpool(review_out, service, review, person)).progress


@screening.post("/stop")
async def stop(review: ReviewId, body: schemas.StopIn, person: Reviewer, service: TheService) -> schemas.ReviewOut:
    """End the screening, with the reason."""
    await _act(service, person, review, "stop", reason=body.reason)
    return await run_in_threadpool(review_out, service, review, person)


@screening.post("/resume")
async def resume(review: ReviewId, person: Reviewer, service: TheService) -> schemas.ReviewOut:
    """Go on with a screening that was ended."""
    await _act(service, person, review, "resume")
    return await run_in_threadpool(review_out, service, review, person)


@screening.get("/records")
def list_records(
    review: ReviewId,
    person: Reader,
    service: TheService,
    search: Annotated[str, Query(max_length=200)] = "",
    status: Annotated[Status | None, Query()] = None,
    stage: InStage = "abstract",
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Limit = 50,
) -> schemas.RecordsOut:
    """Records of the whole pool, the most relevant first, that hold all words of the search and have the status."""
    with reviews.ranking(service, review) as (opened, ranked):
        return page_of_records(opened, ranked, person.name, search, status, stage, offset, limit)


@screening.get("/records/{record}")
def show_record(
    review: ReviewId, record: RecordName, person: Reader, service: TheService, stage: InStage = "abstract"
) -> schemas.RecordOut:
    """Any record, with its rank and probability."""
    with reviews.ranking(service, review) as (opened, ranked):
        return shown_record(opened, ranked, record, person.name, stage)


@screening.get("/records/{record}/words")
def words_of(review: ReviewId, record: RecordName, person: Reader, service: TheService) -> list[WordWeight]:
    """The words of a record that speak for its relevance or against it, by weight."""
    with reviews.ranking(service, review) as (_, ranked):
        ranked.row_of(record)
        weights = ranked.informative_words(record, 30)
    return [WordWeight(word=word, weight=weight, forms=[word]) for word, weight in weights.items()]


@screening.post("/records/{record}/notes")
async def add_note(
    review: ReviewId, record: RecordName, body: schemas.NoteIn, person: Reviewer, service: TheService
) -> schemas.RecordOut:
    """Keep a note on a record."""
    await _act(service, person, review, "note", record=record, text=body.text)
    return await run_in_threadpool(show_record, review, record, person, service)


@screening.put("/records/{record}/tags")
async def set_tags(
    review: ReviewId, record: RecordName, body: schemas.TagsIn, person: Reviewer, service: TheService
) -> schemas.RecordOut:
    """Set the tags of a record."""
    await _act(service, person, review, "tag", record=record, tags=body.tags)
    return await run_in_threadpool(show_record, review, record, person, service)


@screening.post("/records/{record}/split")
async def split(review: ReviewId, record: RecordName, person: Reviewer, service: TheService) -> schemas.RecordOut:
    """Make records of their own of the sources of a record that are different publications."""
    await _act(service, person, review, "split", record=record)
    return await run_in_threadpool(show_record, review, record, person, service)


@screening.post("/records/{record}/join")
async def join(
    review: ReviewId, record: RecordName, body: schemas.JoinIn, person: Reviewer, service: TheService
) -> schemas.RecordOut:
    """Join records that are the same publication."""
    await _act(service, person, review, "join", record=record, records=body.records)
    return await run_in_threadpool(show_record, review, record, person, service)


@screening.get("/statistics")
def statistics(review: ReviewId, person: Reader, service: TheService) -> schemas.StatisticsOut:
    """PRISMA counts, agreement, the work of reviewers, the recall curve and a paragraph for the paper."""
    with reviews.ranking(service, review) as (opened, ranked):
        return all_statistics(opened, ranked)


@exports.get("/flow.svg", response_class=Response, responses=file_answer("image/svg+xml"))
def flow(review: ReviewId, person: Reader, service: TheService) -> Response:
    """The PRISMA flow diagram."""
    with reviews.reading(service, review) as opened:
        return Response(flow_svg(opened), media_type="image/svg+xml", headers=attached(f"{opened.row.name}-flow.svg"))


@exports.get("/audit.csv", response_class=Response, responses=file_answer("text/csv"))
def audit(review: ReviewId, person: Reader, service: TheService) -> Response:
    """Everything that people did to the review, in order."""
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow(["number", "at", "by", "what", "record", "details"])
    with reviews.reading(service, review) as opened:
        for number, event in enumerate(opened.log.events, 1):
            details = json.dumps(dict(event.data), ensure_ascii=False) if event.type != "prior" else ""
            writer.writerow([number, event.at, guarded_cell(event.by), event.type, event.record, guarded_cell(details)])
        name = opened.row.name
    return Response(lines.getvalue(), media_type="text/csv; charset=utf-8", headers=attached(f"{name}-audit.csv"))


@exports.get("/records.{kind}", response_class=Response, responses=file_answer("application/octet-stream"))
async def export(
    review: ReviewId,
    kind: Literal["ris", "csv", "xlsx", "bib", "nbib", "xml", "jsonl"],
    person: Reader,
    service: TheService,
    only: Annotated[list[Literal["included", "excluded", "maybe", "open"]] | None, Query()] = None,
    sources: bool = False,
) -> Response:
    """The records with decisions, reasons, ranks and probabilities, all or in part."""

    def written() -> tuple[str, bytes]:
        with reviews.ranking(service, review) as (opened, ranked):
            name, references = opened.row.name, ranked.references(only=set(only or ()), sources=sources)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"records.{kind}"
            write_references(references, path)
            content = path.read_bytes()
        return name, _guarded_csv(content) if kind == "csv" else content

    name, content = await service.share(object(), written)
    return Response(content, media_type=_WRITTEN[kind], headers=attached(f"{name}.{kind}"))


@exports.get("/project.zip", response_class=Response, responses=file_answer("application/zip"))
async def export_project(review: ReviewId, person: Reader, service: TheService) -> Response:
    """The review as a project of `bayesift screen`."""

    def packed() -> tuple[str, bytes]:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "review"
            with reviews.reading(service, review) as opened:
                name = opened.row.name
                reviews.saved_project(opened, place)
            stream = io.BytesIO()
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
                for file in ("project.json", RECORDS, "decisions.jsonl"):
                    archive.write(place / file, file)
            return name, stream.getvalue()

    name, content = await service.share(object(), packed)
    return Response(content, media_type="application/zip", headers=attached(f"{name}.review.zip"))


async def _act(service: Service, person: Person, review: str, type: EventType, **values: Any) -> None:  # noqa: A002
    await service.do(person, lambda unit: reviews.act(unit, review, type, **values))


def _stage(stage: Stage) -> dict[str, str]:
    return {} if stage == "abstract" else {"stage": stage}


def _guarded_csv(content: bytes) -> bytes:
    """A CSV file in which a spreadsheet runs nothing."""
    target = io.StringIO()
    rows = csv.reader(io.StringIO(content.decode()))
    csv.writer(target, lineterminator="\n").writerows([guarded_cell(cell) for cell in row] for row in rows)
    return target.getvalue().encode()


def _unpack_project(content: bytes, folder: Path) -> None:
    """Write the files of a packed project into a folder; its files may be in one folder of the archive."""
    names = ("project.json", RECORDS, "decisions.jsonl")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = {Path(entry.filename).name: entry for entry in archive.infolist() if not entry.is_dir()}
        if any(name not in found for name in names):
            raise DataError("this archive holds no project of a review")
        for name in names:
            (folder / name).write_bytes(archive.read(found[name]))
