"""Whether the service is well, numbers for Prometheus, and the page."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, PlainTextResponse, Response

from bayesift.service.access import TheService
from bayesift.service.errors import NotFoundError
from bayesift.service.schemas import HealthOut

router = APIRouter(tags=["status"])

PAGE = Path(__file__).parent.parent / "page"


@router.get("/healthz")
def health(service: TheService) -> HealthOut:
    """That the service is up and its store can be read."""
    with service.store.reading() as read:
        return HealthOut(status="ok", events=read.last_seq(), profiles=len(service.live.engine.profiles))


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(service: TheService) -> Response:
    """Numbers in the text format of Prometheus."""
    numbers = service.metrics
    numbers.events.set(service.live.seq)
    numbers.profiles.set(len(service.live.engine.profiles))
    numbers.streams.set(service.open_streams)
    for line, length in service.writer.waiting().items():
        numbers.waiting.labels(line).set(length)
    return Response(numbers.page(), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/", include_in_schema=False)
def page() -> FileResponse:
    """The page."""
    index = PAGE / "index.html"
    if not index.is_file():
        raise NotFoundError("this installation has no page")
    return FileResponse(index, media_type="text/html; charset=utf-8")
