"""Routes that gather the records of a new review, from files, a review or the stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from fastapi import APIRouter, Request

from bayesift.references import ReferenceList
from bayesift.service import readers
from bayesift.service.access.callers import Item, Person, Reviewer
from bayesift.service.files import FILE_BODY
from bayesift.service.reviews import schemas
from bayesift.service.reviews.operations import packed_records
from bayesift.service.reviews.schemas import ReferenceOut
from bayesift.service.reviews.uploads import Upload, review_records, stream_records
from bayesift.service.runtime import Service, TheService
from bayesift.service.schemas import FileName

router = APIRouter(prefix="/api/uploads", tags=["reviews"])

_SHOWN_RECORDS = 5
_SHOWN_PROBLEMS = 20
_SHOWN_DUPLICATES = 50


@router.post("", status_code=201, openapi_extra=FILE_BODY)
async def upload(
    name: FileName, request: Request, person: Reviewer, service: TheService
) -> schemas.FileOut:
    """Send a file of records; the answer says what was understood of it."""
    content = await request.body()
    found = await service.read(readers.read_records, name, content, readers.taken_records)
    return _kept(service, person, found)


@router.post("/review", status_code=201)
async def choose_review(
    body: schemas.ReviewRecordsIn, person: Reviewer, service: TheService
) -> schemas.FileOut:
    """Choose records of another review, as if they came in a file."""
    service.members.require(person, Item("review", body.review))

    def chosen() -> ReferenceList:
        with service.live.reviews.reading(body.review) as opened:
            return review_records(
                opened.seen_by(person.name),
                opened.row.name,
                body.only,
                decisions=body.decisions,
            )

    return _kept(service, person, await service.share(object(), chosen))


@router.post("/documents", status_code=201)
async def choose_documents(
    body: schemas.StreamRecordsIn, person: Reviewer, service: TheService
) -> schemas.FileOut:
    """Choose documents of the stream, as if they came in a file."""
    if body.filter is not None:
        service.members.require(person, Item("filter", body.filter))

    def chosen() -> ReferenceList:
        options = {"relevant": body.relevant, "decisions": body.decisions}
        if body.filter is None:
            with service.store.reading() as read:
                return stream_records(read, None, body.limit, **options)
        with service.stored_filter(body.filter) as (read, row):
            return stream_records(read, row, body.limit, **options)

    return _kept(service, person, await service.share(object(), chosen))


def _kept(service: Service, person: Person, found: ReferenceList) -> schemas.FileOut:
    """Keep records for a new review, and say what they are."""
    key = service.uploads.keep(Upload(person.name, found))
    (file,) = found.files
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
            for problem in found.problems[:_SHOWN_PROBLEMS]
        ],
        first=[ReferenceOut.model_validate(each) for each in found[:_SHOWN_RECORDS]],
    )


@router.post("/preview")
async def preview(
    body: schemas.PreviewIn, person: Reviewer, service: TheService
) -> schemas.PreviewOut:
    """Show what a review of these records would hold, and the duplicates among them."""
    references = service.uploads.take(person.name, body.uploads)
    pack = partial(packed_records, references, range(1, len(references) + 1))
    content = await service.share(object(), pack)
    found = await service.read(
        readers.search_duplicates, "records", content, readers.taken_duplicates, trusted=True
    )

    def shown(indices: Iterable[int], probability: float | None = None) -> schemas.DuplicateOut:
        records = [ReferenceOut.model_validate(references[index]) for index in indices]
        return schemas.DuplicateOut(records=records, probability=probability)

    joined = [group for group in found.groups if len(group) > 1]
    return schemas.PreviewOut(
        records=len(references),
        after_joining=len(found.groups),
        without_abstract=sum(not reference.abstract for reference in references),
        decisions=sum(bool(reference.decisions) for reference in references),
        duplicates=[shown(group) for group in joined[:_SHOWN_DUPLICATES]],
        possible=[
            shown((m.first, m.second), m.probability)
            for m in found.possible[:_SHOWN_DUPLICATES]
        ],
    )
