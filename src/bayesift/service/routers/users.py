"""People who are let in."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from bayesift.service.access import Admin, TheService
from bayesift.service.people import add_user, drop_user
from bayesift.service.schemas import Name, NewUserOut, UserIn, UserOut

router = APIRouter(prefix="/api/users", tags=["users"])


@router.get("")
def list_users(person: Admin, service: TheService) -> list[UserOut]:
    """Everybody who is let in."""
    with service.store.reading() as read:
        return [UserOut(name=user.name, role=user.role, created_at=user.at) for user in read.users()]


@router.post("", status_code=201)
async def let_in(body: UserIn, person: Admin, service: TheService) -> NewUserOut:
    """Let somebody in; their token is shown this once."""
    token = await service.do(person, lambda turn: add_user(turn, body.name, body.role))
    service.people.reload()
    return NewUserOut(name=body.name, role=body.role, token=token)


@router.delete("/{name}", status_code=204)
async def keep_out(name: Annotated[Name, Path()], person: Admin, service: TheService) -> None:
    """Keep somebody out; what they judged stays."""
    await service.do(person, lambda turn: drop_user(turn, name))
    service.people.reload()
