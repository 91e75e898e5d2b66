"""Routes that list what a filter retrieved, as JSON or as a stream of server-sent events."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute

from bayesift.errors import BayesiftError
from bayesift.service.access.callers import Reader, check_caller, identify
from bayesift.service.db.tables import EventRow, column_values
from bayesift.service.errors import BusyError, NotFoundError
from bayesift.service.filters import event_log
from bayesift.service.filters.schemas import FilterName, Limit, RetrievalEntry, RetrievalsOut
from bayesift.service.runtime import Service, TheService

router = APIRouter(prefix="/api/filters/{name}/retrieved", tags=["retrieved"])

_HEARTBEAT_SECONDS = 15.0
_PAGE_EVENTS = 200
_MAX_SEQ = 2**53  # the largest whole number of JavaScript
_SHOWN = (event_log.RETRIEVED, event_log.JUDGED, event_log.TAKEN_BACK)
_EVENT_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
        "description": "Events as they happen.",
    }
}
After = Annotated[int, Query(ge=0, le=_MAX_SEQ, description="Only events after this number.")]
Newest = Annotated[
    int | None,
    Query(
        ge=0, le=_MAX_SEQ, description="Only events after this number; default: only new ones."
    ),
]
OpenFor = Annotated[
    float, Query(ge=0, le=86_400, description="Seconds after which the stream ends.")
]


@router.get("")
def list_retrieved(
    name: FilterName, person: Reader, service: TheService, after: After = 0, limit: Limit = 100
) -> RetrievalsOut:
    """List the retrieved documents, in order."""
    rows = _past(service, name, after, (event_log.RETRIEVED,), limit)
    last = rows[-1].seq if rows else after
    return RetrievalsOut(retrieved=[_retrieval(row) for row in rows], next=last)


@router.get("/events", response_class=StreamingResponse, responses=_EVENT_STREAM)
async def stream_retrieved(
    request: Request,
    name: FilterName,
    person: Reader,
    service: TheService,
    after: Newest = None,
    open_for: OpenFor = 3_600.0,
    last_event_id: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> StreamingResponse:
    """Stream retrieved documents and judgements as they happen.

    The events are called `retrieved` and `judgement`; the id is the number of the event.
    """
    settings = service.settings
    if service.open_streams.total() >= settings.streams:
        raise BusyError("too many streams are open", seconds=10)
    if service.open_streams[person.name] >= settings.streams_per_person:
        raise BusyError(
            f"you have {settings.streams_per_person} streams open; close one", seconds=10
        )
    if last_event_id is not None and last_event_id.isdecimal():
        after = min(int(last_event_id), _MAX_SEQ)
    start = service.live.seq if after is None else after
    await run_in_threadpool(_past, service, name, start, _SHOWN, 1)
    return StreamingResponse(
        _events(service, person.name, name, start, open_for, partial(_may_read, request)),
        media_type="text/event-stream",
    )


def _may_read(request: Request) -> bool:
    """Return whether the caller of a stream may still read it."""
    service: Service = request.app.state.service
    route: APIRoute = request.scope["route"]
    try:
        caller = identify(service, request)
        check_caller(service, caller, route, request.path_params, request.method)
    except BayesiftError:
        return False
    return True


async def _events(
    service: Service,
    user: str,
    name: str,
    after: int,
    open_for: float,
    may_read: Callable[[], bool],
) -> AsyncIterator[str]:
    """Yield events after a number and new ones, until the stream ends.

    It ends at once when the caller may no longer read it.
    """
    service.open_streams[user] += 1
    end = time.monotonic() + open_for
    try:
        yield "retry: 2000\n\n"
        while may_read():
            rows = await run_in_threadpool(_past, service, name, after, _SHOWN, _PAGE_EVENTS)
            for row in rows:
                yield _sent(row)
                after = row.seq
            left = end - time.monotonic()
            if len(rows) == _PAGE_EVENTS:
                continue
            if service.closing or left <= 0:
                return
            if not await service.commits.wait(min(_HEARTBEAT_SECONDS, left)):
                yield ": still here\n\n"
    except NotFoundError:
        return
    finally:
        service.open_streams[user] -= 1


def _past(
    service: Service, name: str, after: int, kinds: tuple[str, ...], limit: int
) -> list[EventRow]:
    with service.stored_filter(name) as (read, row):
        return list(read.events(max(after, row.seq), filter=name, kinds=kinds, limit=limit))


def _retrieval(row: EventRow) -> RetrievalEntry:
    return RetrievalEntry(**column_values(row), **row.payload)


def _sent(row: EventRow) -> str:
    if row.kind == event_log.RETRIEVED:
        return f"event: retrieved\nid: {row.seq}\ndata: {_retrieval(row).model_dump_json()}\n\n"
    data = {
        "document": row.document,
        "relevant": row.payload.get("relevant"),
        "user": row.user,
        "at": row.at,
        "conflict": row.payload.get("conflict", False),
    }
    return f"event: judgement\nid: {row.seq}\ndata: {json.dumps(data)}\n\n"
