"""Routes of the members of a filter or review, the same for both: list, change, remove, invite."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from fastapi.routing import APIRoute

from bayesift.service.access.callers import Item, Owner, Reader, item_of
from bayesift.service.access.members import invite, remove_member, set_role
from bayesift.service.access.schemas import (
    InvitationIn,
    InvitationOut,
    MemberOut,
    NewInvitationOut,
    RoleIn,
)
from bayesift.service.db.tables import InvitationRow
from bayesift.service.errors import NotFoundError
from bayesift.service.runtime import TheService
from bayesift.service.schemas import Name

_ID_LETTERS = 12  # of the hash of an invitation


async def the_item(request: Request) -> Item:
    """Return the filter or review that the path names."""
    route: APIRoute = request.scope["route"]
    item = item_of(route, request.path_params)
    assert item is not None
    return item


TheItem = Annotated[Item, Depends(the_item)]
UserName = Annotated[Name, Path(description="Name of a user.")]


def list_members(item: TheItem, person: Reader, service: TheService) -> list[MemberOut]:
    """List the members with their roles."""
    found = service.members.of_item(item)
    return [MemberOut(user=user, role=role) for user, role in sorted(found.items())]


async def put_member(
    user: UserName, body: RoleIn, item: TheItem, person: Owner, service: TheService
) -> list[MemberOut]:
    """Make a user a member, or give a member another role."""
    await service.do(person, lambda unit: set_role(unit, item, user, body.role))
    return list_members(item, person, service)


async def delete_member(
    user: UserName, item: TheItem, person: Owner, service: TheService
) -> list[MemberOut]:
    """Remove a member; what they did stays. One owner must be left."""
    await service.do(person, lambda unit: remove_member(unit, item, user))
    return list_members(item, person, service)


async def leave(item: TheItem, person: Reader, service: TheService) -> None:
    """Stop being a member."""
    await service.do(person, lambda unit: remove_member(unit, item, person.name))


def list_invitations(item: TheItem, person: Owner, service: TheService) -> list[InvitationOut]:
    """List the invitations that have not been used."""
    with service.store.reading() as read:
        rows = read.invitations(kind=item.kind, name=item.name)
    return [
        InvitationOut(id=row.key[:_ID_LETTERS], role=row.role, by=row.by, until=row.until)
        for row in rows
    ]


async def create_invitation(
    body: InvitationIn, item: TheItem, person: Owner, service: TheService
) -> NewInvitationOut:
    """Create an invitation for one person, who need not be a user yet."""
    token, until = await service.do(
        person, lambda unit: invite(unit, item, body.role, body.days)
    )
    return NewInvitationOut(token=token, role=body.role, until=until)


async def delete_invitation(
    invitation: Annotated[str, Path(pattern=r"^[0-9a-f]{12}$")],
    item: TheItem,
    person: Owner,
    service: TheService,
) -> None:
    """Take back an invitation."""
    with service.store.reading() as read:
        rows = read.invitations(kind=item.kind, name=item.name)
    found = next((row for row in rows if row.key.startswith(invitation)), None)
    if found is None:
        raise NotFoundError("no such invitation")
    await service.do(person, lambda unit: unit.tx.drop(InvitationRow, key=found.key))


def _router(prefix: str) -> APIRouter:
    router = APIRouter(prefix=prefix, tags=["members"])
    router.get("/members")(list_members)
    router.put("/members/{user}")(put_member)
    router.delete("/members/{user}")(delete_member)
    router.delete("/membership", status_code=204)(leave)
    router.get("/invitations")(list_invitations)
    router.post("/invitations", status_code=201)(create_invitation)
    router.delete("/invitations/{invitation}", status_code=204)(delete_invitation)
    return router


of_filters = _router("/api/filters/{name}")
of_reviews = _router("/api/reviews/{review}")
