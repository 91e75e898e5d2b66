"""Errors of the service, and their answers in JSON (RFC 9457): type, title, status, detail."""

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

from bayesift.errors import BayesiftError, DataError
from bayesift.service.db.database import StoreFailure


class NotFoundError(DataError):
    """Something that does not exist."""

    status = 404


class ConflictError(DataError):
    """Something that the current state does not allow."""

    status = 409


class BusyError(BayesiftError):
    """A queue or a rate limit is full; retry after some seconds."""

    status = 429

    def __init__(self, message: str, *, seconds: int = 1) -> None:
        super().__init__(message)
        self.seconds = seconds


class UnknownCallerError(BayesiftError):
    """A request without a valid token or session."""

    status = 401


class NotAllowedError(BayesiftError):
    """Something the caller's role does not allow."""

    status = 403


class MalformedError(BayesiftError):
    """A request whose parts contradict one another."""

    status = 400


class LateError(BayesiftError):
    """A request that does not arrive in time."""

    status = 408


class TooLargeError(DataError):
    """A request larger than the limits."""

    status = 413


class UnavailableError(BayesiftError):
    """The database could not be written; nothing was acknowledged."""

    status = 503


MEDIA_TYPE = "application/problem+json"
_LOG = logging.getLogger("bayesift.service")


def problem(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Create an error response."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    content = json.dumps(body, separators=(",", ":"))
    return Response(content, status_code=status, headers=headers, media_type=MEDIA_TYPE)


def problem_response(error: Exception) -> Response:
    """Create the response to an exception."""
    if isinstance(error, StoreFailure):
        _LOG.error("the database failed", exc_info=error)
        error = UnavailableError("the database cannot be reached")
    status = getattr(error, "status", 422) if isinstance(error, BayesiftError) else 500
    headers = {}
    if isinstance(error, BusyError):
        headers["Retry-After"] = str(error.seconds)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status == 500:
        _LOG.error("a request failed", exc_info=error)
        return problem(500, "internal error; see the log of the server")
    return problem(status, " ".join(str(error).split()), headers)


def add_problem_handlers(app: FastAPI) -> None:
    """Answer every error of an application in this form."""

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
    """Name the first invalid field and count the others, without the values that were sent."""
    first = errors[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    sentence = f"{place}: {first['msg']}{more}" if place else f"{first['msg']}{more}"
    return sentence.encode("utf-8", "replace").decode()[:500]
