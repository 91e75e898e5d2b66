"""Routes that gather the records of a new review, from files, a review or the stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from fastapi import APIRouter, Request
from fastapi.responses import Response

from bayesift.references import Reference
from bayesift.service import readers
from bayesift.service.access.callers import Item, Person, Reviewer
from bayesift.service.files import FILE_BODY
from bayesift.service.reviews import schemas
from bayesift.service.reviews.packed import PackedRecords, together
from bayesift.service.reviews.previews import SHOWN_RECORDS
from bayesift.service.reviews.schemas import ReferenceOut
from bayesift.service.reviews.uploads import Upload, review_records, stream_records
from bayesift.service.runtime import Service, TheService
from bayesift.service.schemas import FileName

Packed: TypeAlias = tuple[PackedRecords, Iterable[Reference]]
router = APIRouter(prefix="/api/uploads", tags=["reviews"])

_SHOWN_PROBLEMS = 20


@router.post("", status_code=201, openapi_extra=FILE_BODY)
async def upload(
    name: FileName, request: Request, person: Reviewer, service: TheService
) -> schemas.FileOut:
    """Send a file of records; the answer says what was understood of it."""
    content = await request.body()
    records, first = await service.read(
        readers.read_records, name, content, readers.taken_records
    )
    return _kept(service, person, records, first)


@router.post("/review", status_code=201)
async def choose_review(
    body: schemas.ReviewRecordsIn, person: Reviewer, service: TheService
) -> schemas.FileOut:
    """Choose records of another review, as if they came in a file."""
    service.members.require(person, Item("review", body.review))

    def chosen() -> Packed:
        with service.live.reviews.reading(body.review) as opened:
            found = review_records(
                opened.seen_by(person.name),
                opened.row.name,
                body.only,
                decisions=body.decisions,
            )
        return PackedRecords.of(found), found[:SHOWN_RECORDS]

    return _kept(service, person, *await service.share(object(), chosen))


@router.post("/documents", status_code=201)
async def choose_documents(
    body: schemas.StreamRecordsIn, person: Reviewer, service: TheService
) -> schemas.FileOut:
    """Choose documents of the stream, as if they came in a file."""
    if body.filter is not None:
        service.members.require(person, Item("filter", body.filter))

    def chosen() -> Packed:
        options = {"relevant": body.relevant, "decisions": body.decisions}
        if body.filter is None:
            with service.store.reading() as read:
                found = stream_records(read, None, body.limit, **options)
        else:
            with service.stored_filter(body.filter) as (read, row):
                found = stream_records(read, row, body.limit, **options)
        return PackedRecords.of(found), found[:SHOWN_RECORDS]

    return _kept(service, person, *await service.share(object(), chosen))


def _kept(
    service: Service, person: Person, records: PackedRecords, first: Iterable[Reference]
) -> schemas.FileOut:
    """Keep the records of a file for a new review, and say what they are."""
    key = service.uploads.keep(Upload(person.name, records))
    (file,) = records.files
    return schemas.FileOut(
        upload=key,
        file=file.file,
        format=file.format,
        encoding=file.encoding,
        records=file.records,
        refused=file.refused,
        notes=[str(replace(note, option=None)) for note in file.notes],
        problems=[
            f"line {problem.line}: {problem.message}"
            for problem in records.problems[:_SHOWN_PROBLEMS]
        ],
        first=[ReferenceOut.model_validate(each) for each in first],
    )


@router.post("/preview", response_model=schemas.PreviewOut)
async def preview(body: schemas.PreviewIn, person: Reviewer, service: TheService) -> Response:
    """Show what a review of these records would hold, and the duplicates among them."""
    parts = service.uploads.take(person.name, body.uploads)
    records = await service.share(object(), partial(together, parts))
    answer = await service.read(
        readers.preview_records, "records", records.content, readers.taken_answer, trusted=True
    )
    return Response(answer, media_type="application/json")
