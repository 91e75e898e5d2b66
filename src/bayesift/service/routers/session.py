"""Signing in and out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Cookie, Request, Response

from bayesift.service.access import COOKIE, TheCaller, TheService
from bayesift.service.errors import UnknownCallerError
from bayesift.service.live import now
from bayesift.service.people import Person, digest
from bayesift.service.schemas import SessionOut, TokenIn

router = APIRouter(prefix="/api/session", tags=["session"])


@router.post("")
async def sign_in(body: TokenIn, request: Request, response: Response, service: TheService) -> SessionOut:
    """Open a page with a token: the answer sets a cookie."""
    service.logins.spend("" if request.client is None else request.client.host)
    person = service.people.of_token(body.token)
    if person is None:
        raise UnknownCallerError("the token is not valid")
    cookie, row = service.people.new_session(person)
    await service.do(person, lambda turn: turn.tx.add_session(row, now=now()))
    service.people.reload()
    secure = request.url.scheme == "https"
    age = round(3600 * service.settings.session_hours)
    response.set_cookie(COOKIE, cookie, max_age=age, httponly=True, samesite="strict", secure=secure, path="/")
    return SessionOut(user=person.name, role=person.role, csrf=row.csrf)


@router.get("")
async def who_am_i(caller: TheCaller) -> SessionOut:
    """Who is signed in."""
    return SessionOut(user=caller.person.name, role=caller.person.role, csrf=caller.csrf)


@router.delete("", status_code=204)
async def sign_out(
    response: Response,
    caller: TheCaller,
    service: TheService,
    bayesift_session: Annotated[str | None, Cookie(include_in_schema=False)] = None,
) -> None:
    """Close the page."""
    if bayesift_session is not None:
        await _close(service, caller.person, bayesift_session)
    response.delete_cookie(COOKIE, path="/")


async def _close(service: TheService, person: Person, cookie: str) -> None:
    await service.do(person, lambda turn: turn.tx.drop_session(digest(cookie)))
    service.people.reload()
