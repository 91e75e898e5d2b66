"""Routes of sessions, users, tokens of programs, and invitations that people accept."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Cookie, Path, Request, Response

from bayesift.service.access.callers import (
    COOKIE,
    FIRST_ADMIN,
    Admin,
    Person,
    TheCaller,
    Themselves,
    digest,
    identify,
    is_from_this_machine,
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
from bayesift.service.db.tables import SessionRow
from bayesift.service.errors import NotAllowedError, UnknownCallerError
from bayesift.service.live import now
from bayesift.service.runtime import TheService
from bayesift.service.schemas import Name

sessions = APIRouter(prefix="/api/session", tags=["session"])
users = APIRouter(prefix="/api/users", tags=["users"])
tokens = APIRouter(prefix="/api/tokens", tags=["tokens"])
invitations = APIRouter(prefix="/api/invitations", tags=["invitations"])


@sessions.post("")
async def sign_in(
    body: TokenIn, request: Request, response: Response, service: TheService
) -> SessionOut:
    """Sign in with a token; the answer sets a session cookie."""
    service.logins.spend("" if request.client is None else request.client.host)
    person = service.people.of_token(body.token)
    if person is None:
        raise UnknownCallerError("the token is not valid")
    service.first_start_until = 0.0
    cookie, row = service.people.new_session(person)
    await service.do(person, lambda unit: unit.tx.add_session(row, now=now()))
    secure = request.url.scheme == "https"
    age = round(3600 * service.settings.session_hours)
    response.set_cookie(
        COOKIE, cookie, max_age=age, httponly=True, samesite="strict", secure=secure, path="/"
    )
    return SessionOut(user=person.name, role=person.role, csrf=row.csrf)


@sessions.get("")
async def who_am_i(caller: TheCaller) -> SessionOut:
    """Show the signed-in user."""
    return SessionOut(user=caller.person.name, role=caller.person.role, csrf=caller.csrf)


@sessions.get("/first")
async def first_start(request: Request, service: TheService) -> FirstStartOut:
    """Report whether this is the first start and the caller is at the machine of the service."""
    return FirstStartOut(may_set_up=service.is_first_start and is_from_this_machine(request))


@sessions.post("/first", status_code=201)
async def set_up(body: FirstAdminIn, request: Request, service: TheService) -> NewUserOut:
    """Become the first admin, once, on the machine of a new service.

    The token is not shown again.
    """
    service.logins.spend("" if request.client is None else request.client.host)
    if not (service.is_first_start and is_from_this_machine(request)):
        raise NotAllowedError(
            "the first admin is set up on the machine of a new service, before any user signs in"
        )
    service.first_start_until = 0.0
    first = Person(FIRST_ADMIN, "admin")
    token = await service.do(first, lambda unit: claim_first_admin(unit.tx, body.name))
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
        await service.do(
            caller.person, lambda unit: unit.tx.drop(SessionRow, key=digest(bayesift_session))
        )
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
    token = await service.do(person, lambda unit: add_user(unit.tx, body.name, body.role))
    return NewUserOut(name=body.name, role=body.role, token=token)


@users.post("/{name}/token")
async def reset(
    name: Annotated[Name, Path()], person: Admin, service: TheService
) -> NewUserOut:
    """Give a user a new token, which is not shown again, and end their sessions."""
    token = await service.do(person, lambda unit: reset_token(unit.tx, name))
    found = service.people.of_token(token)
    assert found is not None
    return NewUserOut(name=found.name, role=found.role, token=token)


@users.delete("/{name}", status_code=204)
async def delete_user(
    name: Annotated[Name, Path()], person: Admin, service: TheService
) -> None:
    """Remove a user; their judgements stay."""
    await service.do(person, lambda unit: remove_user(unit, name))


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
    token, row = await service.do(
        person, lambda unit: new_program_token(unit.tx, person.name, **body.model_dump())
    )
    return NewTokenOut(**TokenOut.model_validate(row).model_dump(), token=token)


@tokens.delete("/{name}", status_code=204)
async def delete_token(
    name: Annotated[Name, Path()], person: Themselves, service: TheService
) -> None:
    """Delete a token of yours; what uses it is refused at once."""
    await service.do(person, lambda unit: drop_token(unit.tx, person.name, name))


@invitations.post("", status_code=201)
async def accept_invitation(
    body: AcceptIn, request: Request, service: TheService
) -> AcceptedOut:
    """Accept an invitation, once; without a session or token, as a new user of this name."""
    service.logins.spend("" if request.client is None else request.client.host)
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
