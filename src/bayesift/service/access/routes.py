"""Routes of sessions, users, tokens of programs, and invitations that people accept."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from html import escape
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Cookie, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from bayesift.errors import BayesiftError
from bayesift.service.access.audit import REFUSED, SIGNED_IN, SIGNED_OUT, user_changed
from bayesift.service.access.callers import (
    COOKIE,
    FIRST_ADMIN,
    PROXY,
    Admin,
    Person,
    TheCaller,
    Themselves,
    digest,
    identify,
    is_from_this_machine,
    named_by_proxy,
)
from bayesift.service.access.members import accept, remove_user
from bayesift.service.access.operations import (
    add_user,
    claim_first_admin,
    drop_token,
    new_program_token,
    reset_token,
)
from bayesift.service.access.schemas import (
    AcceptedOut,
    AcceptIn,
    FirstAdminIn,
    FirstStartOut,
    NewTokenOut,
    NewUserOut,
    ProgramTokenIn,
    SessionOut,
    TokenIn,
    TokenOut,
    UserIn,
    UserOut,
)
from bayesift.service.access.single_sign_on import (
    BEGUN_SECONDS,
    Known,
    SingleSignOn,
    admit,
)
from bayesift.service.db.tables import SessionRow, TokenRow
from bayesift.service.errors import (
    BusyError,
    NotAllowedError,
    NotFoundError,
    UnknownCallerError,
)
from bayesift.service.live import UnitOfWork, now
from bayesift.service.runtime import Service, TheService
from bayesift.service.schemas import Name

_BEGUN_COOKIE = "bayesift_sign_in"  # of a sign-in that has begun
_REFUSED = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Not signed in · bayesift</title>
<link rel="stylesheet" href="/static/style.css">
<main><h1>You are not signed in</h1><p role="alert">{}</p><p><a href="/">Back</a></p></main></html>
"""
_NO_USER = Person("", "reader")  # on whose behalf the log is written
_OWN_ADDRESS: dict[str, Any] = {
    "include_in_schema": False
}  # browsers go there; programs have tokens
sign_on = APIRouter(prefix="/sign-in", tags=["session"])
sessions = APIRouter(prefix="/api/session", tags=["session"])
users = APIRouter(prefix="/api/users", tags=["users"])
tokens = APIRouter(prefix="/api/tokens", tags=["tokens"])
invitations = APIRouter(prefix="/api/invitations", tags=["invitations"])


@sessions.post("")
async def sign_in(
    body: TokenIn, request: Request, response: Response, service: TheService
) -> SessionOut:
    """Sign in with a token; the answer sets a session cookie."""
    service.logins.spend(_address(request))
    person = service.people.of_token(body.token)
    if person is None:
        await _refused(service, request, "token")
        raise UnknownCallerError("the token is not valid")
    service.first_start_until = 0.0
    row = await _begin_session(service, request, response, person, "token")
    return SessionOut(user=person.name, role=person.role, csrf=row.csrf)


async def _begin_session(
    service: Service, request: Request, response: Response, person: Person, way: str
) -> SessionRow:
    """Set the cookie of a new session, and keep in the log that the person signed in."""
    cookie, row = service.people.new_session(person)
    details = {"with": way, "address": _address(request)}

    def operation(unit: UnitOfWork) -> None:
        unit.record(SIGNED_IN, payload=details)
        unit.tx.add_session(row, now=now())

    await service.do(person, operation)
    _set_cookie(
        service, request, response, COOKIE, cookie, 3600 * service.settings.session_hours
    )
    return row


def _set_cookie(
    service: Service,
    request: Request,
    response: Response,
    name: str,
    value: str,
    seconds: float,
    *,
    samesite: Literal["strict", "lax"] = "strict",
    path: str = "/",
) -> None:
    single = service.settings.single_sign_on
    response.set_cookie(
        name,
        value,
        max_age=round(seconds),
        httponly=True,
        samesite=samesite,
        secure=request.url.scheme == "https"
        or (single is not None and single.public_url.startswith("https:")),
        path=path,
    )


async def _refused(service: Service, request: Request, way: str) -> None:
    """Keep in the log that a caller could not sign in; only so many, or it could be flooded."""
    with suppress(BusyError):
        service.refusals.spend("")
        details = {"with": way, "address": _address(request)}
        await service.do(_NO_USER, lambda unit: unit.record(REFUSED, payload=details))


def _address(request: Request) -> str:
    return "" if request.client is None else request.client.host


@sign_on.get("", **_OWN_ADDRESS)
async def begin_sign_on(request: Request, service: TheService) -> Response:
    """Send a browser to the sign-in of the company, or sign in whom the proxy names."""
    try:
        service.logins.spend(_address(request))
        if service.provider is not None:
            address, cookie = await service.provider.begin()
            answer = RedirectResponse(address, 303)
            # Lax: the provider sends the browser back from another site.
            _set_cookie(
                service,
                request,
                answer,
                _BEGUN_COOKIE,
                cookie,
                BEGUN_SECONDS,
                samesite="lax",
                path="/sign-in",
            )
            return answer
        return await _admitted(service, request, _by_proxy(service, request))
    except BayesiftError as error:
        return await _not_signed_in(service, request, error)


@sign_on.get("/callback", **_OWN_ADDRESS)
async def end_sign_on(
    request: Request,
    service: TheService,
    state: Annotated[str, Query(max_length=500)] = "",
    code: Annotated[str, Query(max_length=5_000)] = "",
    bayesift_sign_in: Annotated[str, Cookie()] = "",
) -> Response:
    """Sign in a person whom the OpenID provider has sent back."""
    try:
        if service.provider is None:
            raise NotFoundError("this service has no OpenID provider")
        known = await service.provider.finish(state, code, bayesift_sign_in)
        return await _admitted(service, request, known)
    except BayesiftError as error:
        return await _not_signed_in(service, request, error)


def _by_proxy(service: Service, request: Request) -> Known:
    """Return the person whom the proxy in front names."""
    name = named_by_proxy(service, request)
    single = service.settings.single_sign_on
    if not name or single is None:
        raise UnknownCallerError("the proxy in front names no person")
    given = request.headers.get(single.groups_header or "", "")
    groups = tuple(group.strip() for group in given.split(",") if group.strip())
    return Known(PROXY, name, name, groups)


async def _admitted(service: Service, request: Request, known: Known) -> Response:
    """Sign in a person whom the provider or the proxy has recognized."""
    single = service.settings.single_sign_on
    assert single is not None
    name = await service.do(_NO_USER, partial(_admit, single=single, known=known))
    person = service.people.of_name(name)
    if person is None:
        raise NotAllowedError("none of your groups may use this service")
    service.first_start_until = 0.0
    answer = RedirectResponse("/", 303)
    await _begin_session(service, request, answer, person, known.issuer)
    answer.delete_cookie(_BEGUN_COOKIE, path="/sign-in")
    return answer


def _admit(unit: UnitOfWork, single: SingleSignOn, known: Known) -> str | None:
    """Let a person in, and keep in the log what that changed."""
    before = {user.name: user.role for user in unit.tx.users()}
    name = admit(unit, single, known)
    for user in unit.tx.users():
        if before.get(user.name) != user.role:
            way = "role by groups" if user.name in before else "added by single sign-on"
            user_changed(unit, user.name, way, role=user.role)
    return name


async def _not_signed_in(service: Service, request: Request, error: BayesiftError) -> Response:
    """Answer with a page of one sentence."""
    if not isinstance(error, BusyError):
        await _refused(service, request, "single sign-on")
    said = str(error)
    sentence = escape(f"{said[:1].upper()}{said[1:]}.")
    return HTMLResponse(_REFUSED.format(sentence), getattr(error, "status", 422))


@sessions.get("")
async def who_am_i(caller: TheCaller) -> SessionOut:
    """Show the signed-in user."""
    return SessionOut(user=caller.person.name, role=caller.person.role, csrf=caller.csrf)


@sessions.get("/first")
async def first_start(request: Request, service: TheService) -> FirstStartOut:
    """Report how the caller may sign in.

    The first admin is set up on the first start, by a caller at the machine of the service.
    """
    return FirstStartOut(
        may_set_up=service.is_first_start and is_from_this_machine(request),
        single_sign_on=service.settings.single_sign_on is not None,
    )


@sessions.post("/first", status_code=201)
async def set_up(body: FirstAdminIn, request: Request, service: TheService) -> NewUserOut:
    """Become the first admin, once, on the machine of a new service.

    The token is not shown again.
    """
    service.logins.spend(_address(request))
    if not (service.is_first_start and is_from_this_machine(request)):
        raise NotAllowedError(
            "the first admin is set up on the machine of a new service, before any user signs in"
        )
    service.first_start_until = 0.0
    first = Person(FIRST_ADMIN, "admin")

    def operation(unit: UnitOfWork) -> str:
        token = claim_first_admin(unit.tx, body.name)
        user_changed(unit, body.name, "set up", role="admin")
        return token

    token = await service.do(first, operation)
    return NewUserOut(name=body.name, role="admin", token=token)


@sessions.delete("", status_code=204)
async def sign_out(
    response: Response,
    caller: TheCaller,
    service: TheService,
    bayesift_session: Annotated[str | None, Cookie(include_in_schema=False)] = None,
) -> None:
    """Sign out."""
    if bayesift_session is not None:

        def operation(unit: UnitOfWork) -> None:
            unit.record(SIGNED_OUT)
            unit.tx.drop(SessionRow, key=digest(bayesift_session))

        await service.do(caller.person, operation)
        response.delete_cookie(COOKIE, path="/")


@users.get("")
def list_users(person: Admin, service: TheService) -> list[UserOut]:
    """List all users."""
    with service.store.reading() as read:
        return [
            UserOut(name=user.name, role=user.role, created_at=user.at) for user in read.users()
        ]


@users.post("", status_code=201)
async def create_user(body: UserIn, person: Admin, service: TheService) -> NewUserOut:
    """Add a user; the token is not shown again."""

    def operation(unit: UnitOfWork) -> str:
        token = add_user(unit.tx, body.name, body.role)
        user_changed(unit, body.name, "added", role=body.role)
        return token

    token = await service.do(person, operation)
    return NewUserOut(name=body.name, role=body.role, token=token)


@users.post("/{name}/token")
async def reset(
    name: Annotated[Name, Path()], person: Admin, service: TheService
) -> NewUserOut:
    """Give a user a new token, which is not shown again, and end their sessions."""

    def operation(unit: UnitOfWork) -> str:
        token = reset_token(unit.tx, name)
        user_changed(unit, name, "new token")
        return token

    token = await service.do(person, operation)
    found = service.people.of_token(token)
    assert found is not None
    return NewUserOut(name=found.name, role=found.role, token=token)


@users.delete("/{name}", status_code=204)
async def delete_user(
    name: Annotated[Name, Path()], person: Admin, service: TheService
) -> None:
    """Remove a user; their judgements stay."""

    def operation(unit: UnitOfWork) -> None:
        remove_user(unit, name)
        user_changed(unit, name, "removed")

    await service.do(person, operation)


@tokens.get("")
def list_tokens(person: Themselves, service: TheService) -> list[TokenOut]:
    """List your tokens for programs."""
    with service.store.reading() as read:
        rows = [row for row in read.tokens() if row.user == person.name]
    return [TokenOut.model_validate(row) for row in rows]


@tokens.post("", status_code=201)
async def create_token(
    body: ProgramTokenIn, person: Themselves, service: TheService
) -> NewTokenOut:
    """Create a token for a program that acts for you; it is not shown again."""

    def operation(unit: UnitOfWork) -> tuple[str, TokenRow]:
        made = new_program_token(unit.tx, person.name, **body.model_dump())
        change = "token for a program"
        user_changed(unit, person.name, change, token=body.name, scope=body.scope)
        return made

    token, row = await service.do(person, operation)
    return NewTokenOut(**TokenOut.model_validate(row).model_dump(), token=token)


@tokens.delete("/{name}", status_code=204)
async def delete_token(
    name: Annotated[Name, Path()], person: Themselves, service: TheService
) -> None:
    """Delete a token of yours; what uses it is refused at once."""

    def operation(unit: UnitOfWork) -> None:
        drop_token(unit.tx, person.name, name)
        user_changed(unit, person.name, "token for a program deleted", token=name)

    await service.do(person, operation)


@invitations.post("", status_code=201)
async def accept_invitation(
    body: AcceptIn, request: Request, service: TheService
) -> AcceptedOut:
    """Accept an invitation, once; without a session or token, as a new user of this name."""
    service.logins.spend(_address(request))
    try:
        user: str | None = identify(service, request).person.name
    except UnknownCallerError:
        user = None
        if body.name is None:
            raise
    guest = Person(user or str(body.name), "reader")
    item, token = await service.do(
        guest, lambda unit: accept(unit, body.token, user, guest.name)
    )
    return AcceptedOut(kind=item.kind, name=item.name, user=guest.name, token=token)
