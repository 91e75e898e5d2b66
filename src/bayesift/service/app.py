"""The application: routes, bounds, headers, errors."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import bayesift
from bayesift.service.limits import BodyLimit
from bayesift.service.metrics import Metrics
from bayesift.service.problems import MEDIA_TYPE, add_problem_handlers, problem_response
from bayesift.service.routers import ROUTERS
from bayesift.service.routers.documents import STREAM
from bayesift.service.routers.status import PAGE
from bayesift.service.runtime import Service
from bayesift.service.schemas import Problem
from bayesift.service.warming import warm_up

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


def create_app(service: Service) -> FastAPI:
    """The application of a service, which is closed with it."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.news.listen()
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
    for router in ROUTERS:
        app.include_router(router)
    if PAGE.is_dir():
        app.mount("/static", StaticFiles(directory=PAGE), name="page")
    app.add_middleware(BodyLimit, most=service.settings.max_body, streams=frozenset({STREAM}))
    app.add_middleware(_Observed, metrics=service.metrics)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


class _Observed:
    """Counts requests, and puts the headers on their answers that keep browsers safe."""

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


def _described(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI description, with errors in the form they are given."""
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
