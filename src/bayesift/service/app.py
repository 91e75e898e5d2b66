"""The ASGI application: routes, middleware, the page; and the server that runs it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import uvicorn
from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import bayesift
from bayesift.filtering import FilterEngine, MemoryLog
from bayesift.records import Document
from bayesift.service.errors import MEDIA_TYPE, NotFoundError, TooLargeError, add_problem_handlers, problem_response
from bayesift.service.routers import ROUTERS
from bayesift.service.routers.documents import STREAM
from bayesift.service.runtime import Metrics, Service, TheService
from bayesift.service.schemas import HealthOut, Problem

PAGE = Path(__file__).parent / "page"
_GRACE = 20  # seconds that open requests get at shutdown
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"description": "The request cannot be read."},
    401: {"description": "No valid token or session."},
    403: {"description": "The role is not enough, or the CSRF token is missing."},
    404: {"description": "Not there."},
    409: {"description": "Cannot be done as things stand."},
    413: {"description": "Too large."},
    422: {"description": "Not as described."},
    429: {"description": "Too much at once; see Retry-After."},
    503: {"description": "The store cannot be written, or the service is shutting down."},
}
_METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"})

status = APIRouter(tags=["status"])


@status.get("/healthz")
def health(service: TheService) -> HealthOut:
    """Whether the service runs and its database can be read."""
    with service.store.reading() as read:
        return HealthOut(status="ok", events=read.last_seq(), profiles=len(service.live.engine.profiles))


@status.get("/metrics", response_class=PlainTextResponse)
def metrics(service: TheService) -> Response:
    """Metrics in the text format of Prometheus."""
    numbers = service.metrics
    numbers.events.set(service.live.seq)
    numbers.profiles.set(len(service.live.engine.profiles))
    numbers.streams.set(service.open_streams)
    for queue, length in service.writer.waiting().items():
        numbers.waiting.labels(queue).set(length)
    return Response(numbers.page(), media_type="text/plain; version=0.0.4; charset=utf-8")


@status.get("/", include_in_schema=False)
def page() -> FileResponse:
    """The web page."""
    index = PAGE / "index.html"
    if not index.is_file():
        raise NotFoundError("this installation has no page")
    return FileResponse(index, media_type="text/html; charset=utf-8")


def create_app(service: Service) -> FastAPI:
    """The ASGI application of a service; its shutdown closes the service."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.commits.bind()
        anyio.to_thread.current_default_thread_limiter().total_tokens = service.settings.workers
        warming = asyncio.create_task(asyncio.to_thread(warm_up))
        yield
        await warming
        await anyio.to_thread.run_sync(service.close)

    app = FastAPI(
        title="bayesift",
        version=bayesift.__version__,
        summary="A filter that people teach: documents stream in, profiles retrieve, people judge.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        responses=_ERRORS,
    )
    app.state.service = service
    add_problem_handlers(app)
    for router in (*ROUTERS, status):
        app.include_router(router)
    if PAGE.is_dir():
        app.mount("/static", StaticFiles(directory=PAGE), name="page")
    app.add_middleware(_BodyLimit, most=service.settings.max_body, streams=frozenset({STREAM}))
    app.add_middleware(_Monitor, metrics=service.metrics)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def warm_up() -> FilterEngine:
    """Run a throw-away filter once, so that all kernels are loaded before the first request needs them."""
    engine, log = FilterEngine(), MemoryLog()
    engine.add_profile("wheat", query="wheat harvest")
    documents = [Document(str(number), "wheat harvest and corn") for number in range(3)]
    engine.observe_many(documents)
    engine.judge("wheat", documents[0], True, log)
    engine.judge("wheat", documents[1], False, log)
    engine.observe(documents[2])
    return engine


class _Server(uvicorn.Server):
    """Ends event streams at shutdown, so that uvicorn does not wait for them."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Begin the shutdown."""
        self._service.end_streams()
        super().handle_exit(sig, frame)


def run(service: Service, *, host: str, port: int) -> None:
    """Serve until SIGTERM or SIGINT: open requests are finished, a snapshot is saved.

    One process holds the filter, because what it learns is one sequence of events; threads answer read requests beside
    the writer.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    config = uvicorn.Config(
        create_app(service),
        host=host,
        port=port,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        proxy_headers=True,
    )
    _Server(config, service).run()


class _Monitor:
    """Measures requests and adds the security headers to responses."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 0

        async def send_safely(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("Cache-Control", "no-store" if scope["path"].startswith("/api") else "no-cache")
            await send(message)

        try:
            await self._app(scope, receive, send_safely)
        except Exception as error:
            if status:
                raise
            await problem_response(error)(scope, receive, send_safely)
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.requests.labels(method, str(status)).inc()
        self._metrics.seconds.labels(method).observe(time.perf_counter() - begun)


class _BodyLimit:
    """Reads whole request bodies and refuses those that are too large, except on paths that stream their body."""

    def __init__(self, app: ASGIApp, *, most: int, streams: frozenset[str]) -> None:
        self._app = app
        self._most = most
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http" or scope["path"] in self._streams:
            await self._app(scope, receive, send)
            return
        body = await self._body(scope, receive)
        if body is None:
            error = TooLargeError(f"the body has more than the {self._most:,} bytes allowed")
            await problem_response(error)(scope, receive, send)
            return
        given = False

        async def whole() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, whole, send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body, or None if it is too large."""
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self._most:
            return None
        pieces, size, more = [], 0, True
        while more:
            message = await receive()
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            more = message.get("more_body", False)
            if size > self._most:
                return None
        return b"".join(pieces)


def _described(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI description, with errors as problem+json."""
    if app.openapi_schema is None:
        description = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        schemas = description["components"]["schemas"]
        schemas["Problem"] = Problem.model_json_schema()
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        shape = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        for path in description["paths"].values():
            for operation in path.values():
                for status, response in operation["responses"].items():
                    if status >= "400":
                        response["content"] = shape
        app.openapi_schema = description
    return app.openapi_schema
