"""Operations on users: add, give a new token, remove."""

from __future__ import annotations

from dataclasses import replace

from bayesift.service.access.callers import FIRST_ADMIN, Role, digest, new_token
from bayesift.service.db.tables import SessionRow, UserRow, Writing
from bayesift.service.errors import ConflictError, NotFoundError
from bayesift.service.live import now


def add_user(tx: Writing, name: str, role: Role) -> str:
    """Add a user and return the token, which is not stored."""
    if any(user.name == name for user in tx.users()):
        raise ConflictError(f"a user {name!r} already exists")
    token = new_token()
    tx.add([UserRow(name, role, digest(token), now())])
    return token


def reset_token(tx: Writing, name: str) -> str:
    """Give a user a new token, which is not stored, and end their sessions."""
    user = next((user for user in tx.users() if user.name == name), None)
    if user is None:
        raise NotFoundError(f"no user {name!r}")
    token = new_token()
    tx.put(replace(user, token=digest(token)))
    tx.drop(SessionRow, user=name)
    return token


def claim_first_admin(tx: Writing, name: str) -> str:
    """Give the first admin this name and a new token, which is not stored."""
    if name == FIRST_ADMIN:
        return reset_token(tx, name)
    token = add_user(tx, name, "admin")
    drop_user(tx, FIRST_ADMIN)
    return token


def drop_user(tx: Writing, name: str) -> None:
    """Remove a user; the last admin cannot be removed."""
    users = {user.name: user for user in tx.users()}
    if name not in users:
        raise NotFoundError(f"no user {name!r}")
    if [user.name for user in users.values() if user.role == "admin"] == [name]:
        raise ConflictError(f"{name!r} is the last admin")
    tx.drop_user(name)
