"""Operations on users and tokens: add, give a new token, remove."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bayesift.service.access.callers import FIRST_ADMIN, Role, Scope, digest, new_token
from bayesift.service.db.tables import SessionRow, TokenRow, UserRow, Writing
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


def new_program_token(
    tx: Writing, user: str, name: str, scope: Scope, days: float
) -> tuple[str, TokenRow]:
    """Create a token for a program, which is not stored, and what is stored of it."""
    if any(row.name == name for row in tx.tokens() if row.user == user):
        raise ConflictError(f"you have a token {name!r} already")
    token = new_token()
    until = datetime.now(UTC) + timedelta(days=days)
    until_text = until.isoformat(timespec="microseconds")
    row = TokenRow(digest(token), user, name, scope, token[-4:], until_text)
    tx.add([row])
    return token, row


def drop_token(tx: Writing, user: str, name: str) -> None:
    """Delete a token for a program."""
    if all(row.name != name for row in tx.tokens() if row.user == user):
        raise NotFoundError(f"no token {name!r}")
    tx.drop(TokenRow, user=user, name=name)


def claim_first_admin(tx: Writing, name: str) -> str:
    """Give the first admin this name and a new token, which is not stored."""
    if name == FIRST_ADMIN:
        return reset_token(tx, name)
    token = add_user(tx, name, "admin")
    for row in tx.members():
        if row.user == FIRST_ADMIN:
            tx.put(replace(row, user=name))
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
