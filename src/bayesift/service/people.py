"""Who may do what: tokens, roles, sessions.

A token is 256 random bits. At rest there is only its SHA-256: a token cannot be guessed, so that a slow hash would
protect nothing and cost every request. A session is a second such token in a cookie, with a third one (CSRF) that the
page sends along with whatever changes something, which another site cannot read.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from bayesift.service.errors import ConflictError, NotFoundError
from bayesift.service.live import Turn, now
from bayesift.stores import SessionRow, Store, UserRow

Role = Literal["reader", "reviewer", "admin"]
ROLES: tuple[Role, ...] = ("reader", "reviewer", "admin")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who is let in."""

    name: str
    role: Role

    def may(self, role: Role) -> bool:
        """Whether they have this role or a higher one.

        Examples
        --------
        >>> Person("ada", "reviewer").may("reader"), Person("ada", "reviewer").may("admin")
        (True, False)
        """
        return ROLES.index(self.role) >= ROLES.index(role)


@dataclass(frozen=True, slots=True)
class Session:
    """A person's open page."""

    person: Person
    csrf: str
    until: str


def digest(token: str) -> str:
    """What is kept of a token.

    Examples
    --------
    >>> digest("corn")[:8]
    '63b0490d'
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def new_token() -> str:
    """256 random bits as text.

    Examples
    --------
    >>> len(new_token())
    43
    """
    return secrets.token_urlsafe(32)


class People:
    """The people of a store, held in memory to be asked at every request.

    Parameters
    ----------
    store : where they are kept
    session_hours : how long a session lasts
    """

    def __init__(self, store: Store, *, session_hours: float) -> None:
        self._store = store
        self._session_hours = session_hours
        self._sessions: dict[str, Session] = {}
        self.reload()

    def reload(self) -> None:
        """Read the people again, after a change."""
        with self._store.reading() as read:
            users, sessions = read.users(), read.sessions()
        self._by_token = {user.token: Person(user.name, user.role) for user in users}  # type: ignore[arg-type]
        names = {person.name: person for person in self._by_token.values()}
        self._sessions = {
            row.key: Session(names[row.user], row.csrf, row.until) for row in sessions if row.user in names
        }

    def of_token(self, token: str) -> Person | None:
        """Whose token this is."""
        return self._by_token.get(digest(token))

    def of_cookie(self, cookie: str) -> Session | None:
        """Whose session this is; None when its time is over."""
        session = self._sessions.get(digest(cookie))
        return None if session is None or session.until < now() else session

    def new_session(self, person: Person) -> tuple[str, SessionRow]:
        """A cookie, and what is kept of the session."""
        cookie = new_token()
        until = datetime.now(UTC) + timedelta(hours=self._session_hours)
        row = SessionRow(digest(cookie), person.name, new_token(), until.isoformat(timespec="microseconds"))
        return cookie, row

    @property
    def known(self) -> bool:
        """Whether anybody is let in."""
        return bool(self._by_token)


def add_user(turn: Turn, name: str, role: Role) -> str:
    """Let a person in; gives their token, which is shown this once."""
    if any(user.name == name for user in turn.tx.users()):
        raise ConflictError(f"there is a user {name!r} already")
    token = new_token()
    turn.tx.add_user(UserRow(name, role, digest(token), turn.at))
    return token


def drop_user(turn: Turn, name: str) -> None:
    """Keep a person out; the last admin stays."""
    users = {user.name: user for user in turn.tx.users()}
    if name not in users:
        raise NotFoundError(f"no user {name!r}")
    if [user.name for user in users.values() if user.role == "admin"] == [name]:
        raise ConflictError(f"{name!r} is the last admin")
    turn.tx.drop_user(name)
