"""The ASGI application: routes, middleware, the page; and the server that runs it."""

from __future__ import annotations

import asyncio
import gc
import logging
import re
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import anyio.to_thread
import uvicorn
from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import MutableHeaders
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.auto import AutoHTTPProtocol

import bayesift
from bayesift.errors import BayesiftError
from bayesift.filtering import FilterEngine, MemoryLog
from bayesift.records import Document
from bayesift.service.access import audit, member_routes
from bayesift.service.access import routes as access_routes
from bayesift.service.access.callers import check_caller, identify
from bayesift.service.api_page import api_page
from bayesift.service.errors import (
    MEDIA_TYPE,
    BusyError,
    LateError,
    MalformedError,
    NotFoundError,
    TooLargeError,
    add_problem_handlers,
    problem_response,
)
from bayesift.service.filters import (
    document_routes,
    insight_routes,
    judgement_routes,
    retrieval_routes,
)
from bayesift.service.filters import routes as filter_routes
from bayesift.service.filters.document_routes import STREAM
from bayesift.service.models import routes as model_routes
from bayesift.service.reviews import routes as review_routes
from bayesift.service.reviews import upload_routes
from bayesift.service.runtime import Metrics, Service, ServiceSettings, TheService
from bayesift.service.schemas import HealthOut, ProblemOut

PAGE = Path(__file__).parent / "page"
# Requests with a body from callers who are not signed in yet.
OPEN_PATHS = frozenset({"/api/session", "/api/session/first", "/api/invitations"})
_SHUTDOWN_SECONDS = 20  # that open requests get
_HEADER_SECONDS = 15.0
_BODY_SECONDS = 30.0  # for a body, and longer for a large one:
_SLOWEST_BYTES_PER_SECOND = 20_000
_UPLOADS = frozenset(
    {"/api/uploads", "/api/reviews/project", "/api/documents/read", "/api/models"}
)
_LARGE = ("/api/documents", "/api/filters", "/api/models")  # and what is below them
_FULL_TEXT = "/full-text.pdf"  # the end of the address of the file of a record
# Texts, and what begins or separates other values; a text that is not closed goes to the end.
_JSON_VALUE = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{,]', re.DOTALL)
_MAX_BODIES_AT_ONCE = 8  # of the largest size
_SMALL_BODY_BYTES = 10_000
_ROUTERS = (
    access_routes.sign_on,
    access_routes.sessions,
    access_routes.users,
    access_routes.tokens,
    access_routes.invitations,
    member_routes.of_filters,
    member_routes.of_reviews,
    filter_routes.router,
    filter_routes.deleted,
    document_routes.router,
    retrieval_routes.router,
    judgement_routes.router,
    insight_routes.words,
    insight_routes.insight,
    filter_routes.exports,
    upload_routes.router,
    review_routes.router,
    review_routes.screening,
    review_routes.exports,
    model_routes.router,
    model_routes.metrics,
    audit.router,
)
# Routes, and what their paths begin with before the first parameter.
_ROUTES = [
    (route.path.partition("{")[0], route)
    for router in _ROUTERS
    for route in router.routes
    if isinstance(route, APIRoute)
]
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"description": "The request cannot be read."},
    401: {"description": "The token or session is missing or not valid."},
    403: {"description": "The role is not enough, or the CSRF token is missing."},
    404: {"description": "It does not exist."},
    409: {"description": "The current state does not allow it."},
    413: {"description": "The request is too large."},
    422: {"description": "The body or a parameter is not as described."},
    429: {"description": "Too many requests at once; see Retry-After."},
    503: {"description": "The store cannot be written, or the service is shutting down."},
}
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

status = APIRouter(tags=["status"])


@status.get("/healthz")
async def health(service: TheService) -> HealthOut:
    """Report whether the service can write, and its database can be read."""
    events = await service.check()
    filters = len(service.live.engine.profiles) - len(service.live.deleted)
    return HealthOut(status="ok", events=events, filters=filters)


@status.get("/metrics", response_class=PlainTextResponse)
async def metrics(service: TheService) -> Response:
    """Report metrics in the text format of Prometheus."""
    numbers = service.metrics
    numbers.events.set(service.live.seq)
    numbers.filters.set(len(service.live.engine.profiles))
    numbers.streams.set(service.open_streams.total())
    for queue, length in service.writer.waiting().items():
        numbers.waiting.labels(queue).set(length)
    return Response(numbers.page(), media_type="text/plain; version=0.0.4; charset=utf-8")


@status.get("/", include_in_schema=False)
def page() -> FileResponse:
    """Return the web page."""
    index = PAGE / "index.html"
    if not index.is_file():
        raise NotFoundError("this installation has no page")
    return FileResponse(index, media_type="text/html; charset=utf-8")


@status.get("/docs", include_in_schema=False)
def api(request: Request) -> HTMLResponse:
    """Return the page of the HTTP API."""
    return HTMLResponse(api_page(request.app.openapi()))


def create_app(service: Service) -> FastAPI:
    """Create the ASGI application of a service; its shutdown closes the service."""

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
        redirect_slashes=False,  # a redirect would name the host that the request names
        responses=_ERRORS,
    )
    app.state.service = service
    add_problem_handlers(app)
    for router in (*_ROUTERS, status):
        app.include_router(router)
    if PAGE.is_dir():
        app.mount("/static", StaticFiles(directory=PAGE), name="page")
    app.add_middleware(_Gate, service=service)
    app.add_middleware(_Monitor, metrics=service.metrics)
    if service.settings.proxy is not None:
        app.add_middleware(_BehindProxy, service=service)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def warm_up() -> FilterEngine:
    """Run a filter once and drop it, so that all kernels are loaded before the first request."""
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


def run(
    service: Service, *, host: str, port: int, listener: socket.socket | None = None
) -> None:
    """Serve until SIGTERM or SIGINT: open requests are finished, a snapshot is saved.

    One process holds the filter, because what it learns is one sequence of events; threads answer
    read requests beside the writer. `listener` is the socket of the address, if it is bound.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    config = uvicorn.Config(
        create_app(service),
        host=host,
        port=port,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        http=_ImpatientProtocol,
        proxy_headers=False,  # `create_app` adds what reads them
    )
    # What was imported and loaded stays: the collector of garbage need not look at it again, which
    # would hold up all threads.
    gc.collect()
    gc.freeze()
    audit.note_settings(service)
    _Server(config, service).run(None if listener is None else [listener])


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
                headers.setdefault(
                    "Cache-Control",
                    "no-store" if scope["path"].startswith("/api") else "no-cache",
                )
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


class _BehindProxy:
    """Believes what a proxy says of the caller, and drops it from requests of anybody else."""

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        self._app = app
        self._reader = ProxyHeadersMiddleware(app, service.settings.proxy or "")  # type: ignore[arg-type]
        single = service.settings.single_sign_on
        headers = (None, None) if single is None else (single.user_header, single.groups_header)
        self._names = {name.lower().encode() for name in headers if name}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = scope.get("client")
        if scope["type"] == "http" and (
            caller is None or caller[0] not in self._reader.trusted_hosts
        ):
            kept = [pair for pair in scope["headers"] if pair[0] not in self._names]
            await self._app({**scope, "headers": kept}, receive, send)
            return
        await self._reader(scope, receive, send)  # type: ignore[arg-type]


class _ImpatientProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Closes connections that do not complete the header of a request in time."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a header."""
        super().connection_made(transport)
        self._await_header()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a header that has begun."""
        super().data_received(data)
        if self._timer is None and self._is_idle():
            self._await_header()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _await_header(self) -> None:
        waiting_for = self.cycle

        def give_up() -> None:
            self._timer = None
            if self.cycle is waiting_for and self._is_idle():
                self.transport.close()

        self._timer = self.loop.call_later(_HEADER_SECONDS, give_up)


class _Gate:
    """Reads request bodies of callers who may send them, within limits of size, time and memory.

    A path that streams its body is passed on as it is.
    """

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        self._app = app
        self._service = service
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "http" and _has_two_lengths(scope):
            problem = MalformedError(
                "a request has Content-Length or Transfer-Encoding, not both"
            )
            await problem_response(problem)(scope, receive, send)
            return
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self._app(scope, receive, send)
            return
        size = 0
        settings = self._service.settings
        route, parameters = _route_of(scope)
        try:
            most = _SMALL_BODY_BYTES
            if scope["path"] not in OPEN_PATHS:
                caller = identify(self._service, Request(scope))
                if route is not None:
                    check_caller(self._service, caller, route, parameters, scope["method"])
                most = _most_bytes(scope["path"], settings)
            if scope["path"] == STREAM:
                await self._app(scope, receive, send)
                return
            size = _declared(scope, most)
            if self._held + size > _MAX_BODIES_AT_ONCE * settings.max_body:
                raise BusyError("too many large requests at once; try again")
            self._held += size
            try:
                async with asyncio.timeout(_BODY_SECONDS + size / _SLOWEST_BYTES_PER_SECOND):
                    body = await _whole_body(receive, most)
            except TimeoutError:
                raise LateError("the body did not arrive in time") from None
            if route is not None and route.body_field is not None:
                _check_values(body, settings.max_values)
        except BayesiftError as error:
            self._held -= size
            await problem_response(error)(scope, receive, send)
            return
        given = False

        async def whole() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        try:
            await self._app(scope, whole, send)
        finally:
            self._held -= size


def _route_of(scope: Scope) -> tuple[APIRoute | None, dict[str, Any]]:
    """Return the route of a request, and the parameters that its path holds."""
    for beginning, route in _ROUTES:
        # Matching a path takes longer than to see that it begins in another way.
        if scope["path"].startswith(beginning):
            match, found = route.matches(scope)
            if match is Match.FULL:
                return route, found["path_params"]
    return None, {}


def _has_two_lengths(scope: Scope) -> bool:
    """Whether a body has two lengths, of which a proxy in front may believe the other one."""
    names = {name for name, _ in scope["headers"]}
    return {b"content-length", b"transfer-encoding"} <= names


def _most_bytes(path: str, settings: ServiceSettings) -> int:
    if path in _UPLOADS or path.endswith(_FULL_TEXT):
        return settings.max_upload
    return settings.max_body if path.startswith(_LARGE) else settings.max_json


def _check_values(body: bytes, most: int) -> None:
    """Refuse JSON of so many values that to parse it would hold up everybody."""
    if len(body) <= most:
        return
    # A text, its name and a comma are up to three matches of the pattern for each value.
    found = islice(_JSON_VALUE.finditer(body), 3 * most + 1)
    if sum(1 for _ in found) > 3 * most:
        raise TooLargeError(f"the body has more than the {most:,} values allowed")


def _declared(scope: Scope, most: int) -> int:
    """Return the size of a body as declared, or the largest that it may have."""
    given = dict(scope["headers"]).get(b"content-length")
    if given is None:
        return most if b"transfer-encoding" in dict(scope["headers"]) else 0
    if not given.isdigit() or int(given) > most:
        raise TooLargeError(f"the body has more than the {most:,} bytes allowed")
    return int(given)


async def _whole_body(receive: Receive, most: int) -> bytes:
    pieces, size, more = [], 0, True
    while more:
        message = await receive()
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        more = message.get("more_body", False)
        if size > most:
            raise TooLargeError(f"the body has more than the {most:,} bytes allowed")
    return b"".join(pieces)


def _described(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description, with errors as problem+json."""
    if app.openapi_schema is None:
        description = get_openapi(
            title=app.title, version=app.version, summary=app.summary, routes=app.routes
        )
        schemas = description["components"]["schemas"]
        schemas["Problem"] = ProblemOut.model_json_schema()
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
