"""Routes that add documents (one, a batch, a stream of JSON lines) and delete old texts."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import ValidationError

from bayesift.errors import DataError
from bayesift.filtering import Retrieved
from bayesift.records import Document
from bayesift.service import readers
from bayesift.service.access.callers import Admin, Item, Person, Reviewer
from bayesift.service.errors import TooLargeError
from bayesift.service.files import FILE_BODY
from bayesift.service.filters import operations
from bayesift.service.filters.schemas import (
    BatchIn,
    DocumentIn,
    FileDocumentsOut,
    ObservedOut,
    RetentionIn,
    RetentionOut,
    RetrievalOut,
)
from bayesift.service.runtime import Service, ServiceSettings, TheService
from bayesift.service.schemas import FileName

router = APIRouter(prefix="/api", tags=["documents"])

STREAM = "/api/documents/stream"
_MAX_RETRIEVED = 10_000  # in one answer
_PURGED_AT_ONCE = 200  # texts of one transaction
_LINES = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-ndjson": {
                "schema": {"type": "string", "description": "One document per line."}
            }
        },
    }
}


@router.post("/documents")
async def add_document(body: DocumentIn, person: Reviewer, service: TheService) -> ObservedOut:
    """Add a document."""
    return await _observe(service, person, [body], ObservedOut(retrieved=[]))


@router.post("/documents/batch")
async def add_documents(body: BatchIn, person: Reviewer, service: TheService) -> ObservedOut:
    """Add documents; if one is invalid, none is added."""
    most = service.settings.max_batch
    if len(body.documents) > most:
        raise TooLargeError(
            f"at most {most:,} documents at once, got {len(body.documents):,}; or use {STREAM}"
        )
    return await _observe(service, person, body.documents, ObservedOut(retrieved=[]))


@router.post("/documents/stream", openapi_extra=_LINES)
async def add_stream(request: Request, person: Reviewer, service: TheService) -> ObservedOut:
    """Add documents from JSON lines; those before an invalid line are added."""
    total = ObservedOut(retrieved=[])
    waiting: list[DocumentIn] = []
    number = 0
    try:
        async for line in _lines(request, 4 * service.settings.max_text + 10_000):
            number += 1
            if line.strip():
                waiting.append(_parsed(line, service))
            if len(waiting) >= service.settings.chunk:
                await _observe(service, person, waiting, total)
                waiting = []
    except DataError as error:
        await _observe(service, person, waiting, total)
        kind = type(error) if isinstance(error, TooLargeError) else DataError
        raise kind(
            f"line {number}: {error}; {total.accepted:,} documents before it were added"
        ) from error
    return await _observe(service, person, waiting, total)


@router.post("/documents/read", openapi_extra=FILE_BODY, response_model=FileDocumentsOut)
async def read_file(
    name: FileName, request: Request, person: Reviewer, service: TheService
) -> Response:
    """Read a file of records, a table or a text into documents, which can then be added.

    Nothing is added yet.
    """
    content = await request.body()
    answer = await service.read(readers.read_stream, name, content, readers.taken_answer)
    return Response(answer, media_type="application/json")


@router.post("/retention")
async def purge(body: RetentionIn, person: Admin, service: TheService) -> RetentionOut:
    """Delete titles and texts of old documents; what was learned from them stays."""
    if (body.before is None) == (body.keep is None):
        raise DataError("give one of before and keep")
    before = None if body.before is None else utc_time(body.before)
    n = await service.do(
        person, lambda unit: operations.purge(unit, before=before, keep=body.keep)
    )
    return RetentionOut(purged=n)


async def _observe(
    service: Service, person: Person, documents: Sequence[DocumentIn], total: ObservedOut
) -> ObservedOut:
    """Add documents, one transaction per chunk, and count them in the total."""
    given = [_checked(document, service) for document in documents]
    sources = [document.source for document in documents]
    prepare = partial(operations.Arrivals.of, given, service.live.engine.space, sources)
    arrivals = await run_in_threadpool(prepare)
    tasks: deque[asyncio.Future[operations.Observed]] = deque()
    try:
        for part in _chunks(given, service.settings):
            act = partial(operations.observe, arrivals=arrivals.part(part))
            tasks.append(asyncio.ensure_future(service.do(person, act, queue="documents")))
            # While the writer learns one chunk, the next one waits for it.
            if len(tasks) > 1:
                await _count(service, person, await tasks.popleft(), total)
        while tasks:
            await _count(service, person, await tasks.popleft(), total)
    finally:
        await asyncio.gather(*tasks, return_exceptions=True)
    return total


async def _count(
    service: Service, person: Person, observed: operations.Observed, total: ObservedOut
) -> None:
    """Count documents that were added in the metrics and in the total."""
    await _retain(service)
    service.metrics.documents.inc(observed.accepted)
    service.metrics.duplicates.inc(observed.duplicates)
    service.metrics.retrieved.inc(len(observed.retrieved))
    total.accepted += observed.accepted
    total.duplicates += observed.duplicates
    seen = _seen_by(service, person, observed.retrieved)
    room = _MAX_RETRIEVED - len(total.retrieved)
    total.more = total.more or len(seen) > room
    total.retrieved += [_shown(event) for event in seen[:room]]


def _seen_by(
    service: Service, person: Person, retrieved: Iterable[Retrieved]
) -> list[Retrieved]:
    """Return the retrievals of filters that a person is a member of."""
    role = partial(service.members.role, person)
    return [event for event in retrieved if role(Item("filter", event.profile)) is not None]


async def _retain(service: Service) -> None:
    """Delete some of the oldest texts if there are more than the settings keep."""
    keep = service.settings.keep_documents
    if keep is not None and service.live.n_texts >= keep + _PURGED_AT_ONCE:
        act = partial(operations.purge_oldest, keep=keep, most=_PURGED_AT_ONCE)
        await asyncio.wrap_future(service.writer.submit("", act, queue="documents"))


def _chunks(documents: Sequence[Document], settings: ServiceSettings) -> Iterator[slice]:
    """Divide documents into transactions, between which judgements have their turn."""
    start = 0
    characters = 0
    for stop, document in enumerate(documents):
        size = len(document.title) + len(document.text)
        is_full = stop - start >= settings.chunk
        if stop > start and (is_full or characters + size > settings.chunk_characters):
            yield slice(start, stop)
            start = stop
            characters = 0
        characters += size
    if documents:
        yield slice(start, len(documents))


def _checked(document: DocumentIn, service: Service) -> Document:
    most = service.settings.max_text
    if len(document.text) > most:
        raise TooLargeError(
            f"document {document.id!r} has more than the {most:,} characters allowed"
        )
    return Document(document.id, document.text, title=document.title)


def _shown(event: Retrieved) -> RetrievalOut:
    return RetrievalOut(
        filter=event.profile,
        document=event.id,
        why=event.why,
        probability=event.probability,
        gain=event.gain,
    )


async def _lines(request: Request, most: int) -> AsyncIterator[bytes]:
    """Yield the lines of a request body, as they arrive."""
    rest = b""
    async for piece in request.stream():
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line
        if len(rest) > most:
            raise TooLargeError(f"a line has more than the {most:,} bytes allowed")
    if rest:
        yield rest


def _parsed(line: bytes, service: Service) -> DocumentIn:
    try:
        document = DocumentIn.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise DataError(f"{field}: {first['msg']}" if field else first["msg"]) from error
    _checked(document, service)
    return document


def utc_time(text: str) -> str:
    """Return a date or time as the log writes it; UTC unless it has a time zone."""
    try:
        given = datetime.fromisoformat(text)
        zoned = given.replace(tzinfo=UTC) if given.tzinfo is None else given.astimezone(UTC)
    except (ValueError, OverflowError):
        raise DataError(f"not a date or time (ISO 8601): {text!r:.60}") from None
    return zoned.isoformat(timespec="microseconds")
