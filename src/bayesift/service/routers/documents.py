"""Documents come in: one, a batch, or a stream of JSON lines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import partial

from fastapi import APIRouter, Request
from pydantic import ValidationError

from bayesift.errors import DataError
from bayesift.filtering import Decision
from bayesift.records import Document
from bayesift.service.access import Admin, Reviewer, TheService
from bayesift.service.errors import TooLargeError
from bayesift.service.operations import documents as operations
from bayesift.service.people import Person
from bayesift.service.runtime import Service
from bayesift.service.schemas import BatchIn, DecisionOut, DocumentIn, ObservedOut, RetentionIn, RetentionOut
from bayesift.service.times import moment

router = APIRouter(prefix="/api", tags=["documents"])

STREAM = "/api/documents/stream"
_MOST_DECISIONS = 10_000
_LINES = {
    "requestBody": {
        "required": True,
        "content": {"application/x-ndjson": {"schema": {"type": "string", "description": "A document a line."}}},
    }
}


@router.post("/documents")
async def add_document(body: DocumentIn, person: Reviewer, service: TheService) -> ObservedOut:
    """Show a document to the profiles."""
    return await _observe(service, person, [body])


@router.post("/documents/batch")
async def add_documents(body: BatchIn, person: Reviewer, service: TheService) -> ObservedOut:
    """Show documents to the profiles; all or, if one cannot be taken, none."""
    most = service.settings.max_batch
    if len(body.documents) > most:
        raise TooLargeError(f"at most {most:,} documents at once, got {len(body.documents):,}; or use {STREAM}")
    return await _observe(service, person, body.documents)


@router.post("/documents/stream", openapi_extra=_LINES)
async def add_stream(request: Request, person: Reviewer, service: TheService) -> ObservedOut:
    """Show documents to the profiles, a JSON object a line; those before a bad line are learned."""
    total = ObservedOut(accepted=0, duplicates=0, decisions=[])
    waiting: list[DocumentIn] = []
    number = 0
    try:
        async for line in _lines(request, 4 * service.settings.max_text + 10_000):
            number += 1
            if line.strip():
                waiting.append(_parsed(line, service))
            if len(waiting) >= service.settings.chunk:
                _add(total, await _observe(service, person, waiting))
                waiting = []
    except DataError as error:
        _add(total, await _observe(service, person, waiting))
        kind = type(error) if isinstance(error, TooLargeError) else DataError
        raise kind(f"line {number}: {error}; of the lines before, {total.accepted:,} documents were new") from error
    return _add(total, await _observe(service, person, waiting))


@router.post("/retention")
async def purge(body: RetentionIn, person: Admin, service: TheService) -> RetentionOut:
    """Forget titles and texts of old documents; what was learned from them stays."""
    if (body.before is None) == (body.keep is None):
        raise DataError("name one of before and keep")
    before = None if body.before is None else moment(body.before)
    n = await service.do(person, lambda turn: operations.purge(turn, before=before, keep=body.keep))
    return RetentionOut(purged=n)


async def _observe(service: Service, person: Person, documents: Sequence[DocumentIn]) -> ObservedOut:
    """Learn documents a chunk at a time."""
    given = [_checked(document, service) for document in documents]
    total = ObservedOut(accepted=0, duplicates=0, decisions=[])
    size = service.settings.chunk
    for start in range(0, len(given), size):
        part = given[start : start + size]
        observed = await service.do(person, partial(operations.observe, documents=part), line="documents")
        service.metrics.documents.inc(observed.accepted)
        service.metrics.duplicates.inc(observed.duplicates)
        service.metrics.retrieved.inc(len(observed.decisions))
        decisions = [_shown(decision) for decision in observed.decisions[:_MOST_DECISIONS]]
        more = len(observed.decisions) > _MOST_DECISIONS
        _add(
            total,
            ObservedOut(accepted=observed.accepted, duplicates=observed.duplicates, decisions=decisions, more=more),
        )
    return total


def _add(total: ObservedOut, part: ObservedOut) -> ObservedOut:
    total.accepted += part.accepted
    total.duplicates += part.duplicates
    room = _MOST_DECISIONS - len(total.decisions)
    total.more = total.more or part.more or len(part.decisions) > room
    total.decisions += part.decisions[:room]
    return total


def _checked(document: DocumentIn, service: Service) -> Document:
    most = service.settings.max_text
    if len(document.text) > most:
        raise TooLargeError(f"document {document.id!r} has more than the {most:,} characters allowed")
    return Document(document.id, document.text, title=document.title)


def _shown(decision: Decision) -> DecisionOut:
    assert decision.why is not None
    return DecisionOut(
        profile=decision.profile,
        document=decision.document,
        why=decision.why,
        probability=decision.probability,
        gain=decision.gain,
    )


async def _lines(request: Request, most: int) -> AsyncIterator[bytes]:
    """The lines of a body as it comes in."""
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
        place = ".".join(map(str, first["loc"]))
        raise DataError(f"{place}: {first['msg']}" if place else first["msg"]) from error
    _checked(document, service)
    return document
