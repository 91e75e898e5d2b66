"""Errors as RFC 9457 has them: {type, title, status, detail} as application/problem+json."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from bayesift.errors import BayesiftError
from bayesift.service.errors import (
    BusyError,
    ConflictError,
    NotAllowedError,
    NotFoundError,
    TooLargeError,
    UnavailableError,
    UnknownCallerError,
)
from bayesift.stores import StoreFailure

MEDIA_TYPE = "application/problem+json"
_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (NotFoundError, 404),
    (ConflictError, 409),
    (TooLargeError, 413),
    (BusyError, 429),
    (UnknownCallerError, 401),
    (NotAllowedError, 403),
    (UnavailableError, 503),
    (BayesiftError, 422),
)
_LOG = logging.getLogger("bayesift.service")


def problem(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """A response that says what is wrong.

    Examples
    --------
    >>> problem(404, "no such profile").body.decode()
    '{"type":"about:blank","title":"Not Found","status":404,"detail":"no such profile"}'
    """
    title = HTTPStatus(status).phrase
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    content = json.dumps(body, separators=(",", ":"))
    return Response(content, status_code=status, headers=headers, media_type=MEDIA_TYPE)


def problem_response(error: Exception) -> Response:
    """What an error is answered with."""
    if isinstance(error, StoreFailure):
        _LOG.error("the store failed", exc_info=error)
        error = UnavailableError("the store cannot be reached")
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    headers = {}
    if isinstance(error, BusyError):
        headers["Retry-After"] = str(error.seconds)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status == 500:
        _LOG.error("a request failed", exc_info=error)
        return problem(500, "something went wrong; the log of the server says what")
    return problem(status, " ".join(str(error).split()), headers)


def add_problem_handlers(app: FastAPI) -> None:
    """Answer every error in this form."""

    def refused(_: Request, error: Exception) -> Response:
        return problem_response(error)

    def http(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if isinstance(error.__cause__, BayesiftError):
            return problem_response(error.__cause__)
        return problem(error.status_code, str(error.detail), dict(error.headers or {}))

    def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return problem(422, _sentence(error.errors()))

    for kind in (BayesiftError, Exception):
        app.add_exception_handler(kind, refused)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)


def _sentence(errors: Sequence[Any]) -> str:
    """What is wrong with the first field, and how many others are; without what was sent."""
    first = errors[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    sentence = f"{place}: {first['msg']}{more}" if place else f"{first['msg']}{more}"
    return sentence.encode("utf-8", "replace").decode()[:500]
