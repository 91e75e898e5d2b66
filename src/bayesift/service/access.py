"""Who is calling, and what they may do: dependencies of the routes."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from bayesift.service.errors import NotAllowedError, UnknownCallerError
from bayesift.service.people import Person, Role
from bayesift.service.runtime import Service

COOKIE = "bayesift_session"
CSRF_HEADER = "X-CSRF-Token"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Caller:
    """A person, and the CSRF token of their session if they came with a cookie."""

    person: Person
    csrf: str | None


async def the_service(request: Request) -> Service:
    """The service this application runs."""
    service: Service = request.app.state.service
    return service


TheService = Annotated[Service, Depends(the_service)]


async def the_caller(request: Request, service: TheService) -> Caller:
    """Who is calling: by their token, or by their session. Everything is in memory, so that no thread is needed."""
    authorization = request.headers.get("authorization")
    found = _by_token(service, authorization) if authorization is not None else _by_cookie(service, request)
    service.requests.spend(found.person.name)
    return found


TheCaller = Annotated[Caller, Depends(the_caller)]


def _by_token(service: Service, authorization: str) -> Caller:
    scheme, _, token = authorization.partition(" ")
    person = service.people.of_token(token.strip()) if scheme.lower() == "bearer" else None
    if person is None:
        raise UnknownCallerError("the token is not valid")
    return Caller(person, None)


def _by_cookie(service: Service, request: Request) -> Caller:
    session = service.people.of_cookie(request.cookies.get(COOKIE, ""))
    if session is None:
        raise UnknownCallerError("sign in with a token")
    if request.method not in _SAFE:
        given = request.headers.get(CSRF_HEADER, "").encode()
        if not hmac.compare_digest(given, session.csrf.encode()):
            raise NotAllowedError(f"the header {CSRF_HEADER} does not belong to this session")
    return Caller(session.person, session.csrf)


def at_least(role: Role) -> Callable[[Caller], Awaitable[Person]]:
    """A dependency: the caller, who needs this role or a higher one."""

    async def person(found: TheCaller) -> Person:
        if not found.person.may(role):
            raise NotAllowedError(f"this needs the role {role}; yours is {found.person.role}")
        return found.person

    return person


Reader = Annotated[Person, Depends(at_least("reader"))]
Reviewer = Annotated[Person, Depends(at_least("reviewer"))]
Admin = Annotated[Person, Depends(at_least("admin"))]
