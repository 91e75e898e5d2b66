"""Bodies of requests and answers about users and sessions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, StringConstraints

from bayesift.service.schemas import Name, RequestBody


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
    """Whether the caller may set up the first admin."""

    may_set_up: bool


class NewUserOut(BaseModel):
    """A new user with their token, which is not shown again."""

    name: str
    role: str
    token: str
