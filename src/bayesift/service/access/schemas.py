"""Bodies of requests and answers about users and sessions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from bayesift.service.schemas import AnswerBody, Name, RequestBody


class TokenIn(RequestBody):
    """An access token."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]


class FirstAdminIn(RequestBody):
    """The first admin of a new service."""

    name: Name


class UserIn(RequestBody):
    """A user to add."""

    name: Name
    role: Literal["reader", "reviewer", "admin"]


class ProgramTokenIn(RequestBody):
    """A token for a program: what it may do, and for how many days."""

    name: Name
    scope: Literal["read", "write", "manage"] = "read"
    days: Annotated[float, Field(gt=0, le=3_650)] = 90


class TokenOut(AnswerBody):
    """A token of a program, by its last letters."""

    name: str
    scope: str
    ending: str
    until: str


class NewTokenOut(TokenOut):
    """A new token of a program, which is not shown again."""

    token: str


class RoleIn(RequestBody):
    """A role in a filter or review."""

    role: Literal["reader", "reviewer", "owner"]


class InvitationIn(RoleIn):
    """An invitation to a filter or review, for so many days."""

    days: Annotated[float, Field(gt=0, le=90)] = 7


class MemberOut(BaseModel):
    """A member of a filter or review."""

    user: str
    role: str


class InvitationOut(BaseModel):
    """An invitation that has not been used; `id` is a part of its hash."""

    id: str
    role: str
    by: str
    until: str


class NewInvitationOut(BaseModel):
    """A new invitation; `token` belongs into the link that is sent, and is not shown again."""

    token: str
    role: str
    until: str


class AcceptIn(TokenIn):
    """An invitation that a person accepts; a person without account chooses a name."""

    name: Name | None = None


class AcceptedOut(BaseModel):
    """What a person is a member of now; a new user gets a token to sign in with."""

    kind: str
    name: str
    user: str
    token: str | None


class SessionOut(BaseModel):
    """The signed-in user.

    `csrf` belongs in the header X-CSRF-Token of every request that changes something.
    """

    user: str
    role: str
    csrf: str | None


class UserOut(BaseModel):
    """A user."""

    name: str
    role: str
    created_at: str


class FirstStartOut(BaseModel):
    """How the caller may sign in: as the first admin, or as their company does (at `/sign-in`)."""

    may_set_up: bool
    single_sign_on: bool


class NewUserOut(BaseModel):
    """A new user with their token, which is not shown again."""

    name: str
    role: str
    token: str
