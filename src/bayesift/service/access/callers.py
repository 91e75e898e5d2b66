"""Access: who is calling, what they may do, how often they may ask.

A token is 256 random bits. The database holds only its SHA-256: a random token cannot be guessed,
so a slow password hash would add nothing and cost every request. A session is a second such token
in a cookie, with a third one (CSRF) that the page sends with every request that changes something
and that another site cannot read.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import math
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.routing import APIRoute

from bayesift.service.db.database import Store
from bayesift.service.db.tables import SessionRow
from bayesift.service.errors import (
    BusyError,
    NotAllowedError,
    NotFoundError,
    UnknownCallerError,
)
from bayesift.service.live import now

if TYPE_CHECKING:
    from bayesift.service.runtime import Service

COOKIE = "bayesift_session"
CSRF_HEADER = "X-CSRF-Token"
Role = Literal["reader", "reviewer", "admin"]
ROLES: tuple[Role, ...] = ("reader", "reviewer", "admin")
MemberRole = Literal["reader", "reviewer", "owner"]
MEMBER_ROLES: tuple[MemberRole, ...] = ("reader", "reviewer", "owner")
Scope = Literal["read", "write", "manage"]
SCOPES: tuple[Scope, ...] = ("read", "write", "manage")
_PATHS_OF_ITEMS: dict[str, tuple[Literal["filter", "review"], str]] = {
    "/api/filters/{name}": ("filter", "name"),
    "/api/deleted-filters/{name}": ("filter", "name"),
    "/api/reviews/{review}": ("review", "review"),
}
FIRST_ADMIN = "admin"
PROXY = "proxy"  # the issuer of people whom the proxy in front names
_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_MAX_BUCKETS = 10_000


@dataclass(frozen=True, slots=True)
class Person:
    """A user with a role."""

    name: str
    role: Role

    def may(self, role: Role) -> bool:
        """Return whether they have this role or a higher one."""
        return ROLES.index(self.role) >= ROLES.index(role)


class Item(NamedTuple):
    """A filter or a review."""

    kind: Literal["filter", "review"]
    name: str

    def missing(self) -> NotFoundError:
        """Return the error of a filter or review that does not exist, or not for the caller."""
        if self.kind == "review":
            return NotFoundError("no such review")
        return NotFoundError(f"no filter {self.name!r}")


def item_of(route: APIRoute, parameters: Mapping[str, Any]) -> Item | None:
    """Return the filter or review that a path names; None if it names none."""
    for path, (kind, parameter) in _PATHS_OF_ITEMS.items():
        if route.path == path or route.path.startswith(f"{path}/"):
            return Item(kind, str(parameters[parameter]))
    return None


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A browser session of a person."""

    person: Person
    csrf: str
    until: str


def digest(token: str) -> str:
    """Return the SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def new_token() -> str:
    """Return 256 random bits as text."""
    return secrets.token_urlsafe(32)


class People:
    """Users and sessions of a store, held in memory because every request looks them up."""

    def __init__(self, store: Store, *, session_hours: float) -> None:
        self._store = store
        self._session_hours = session_hours
        self.reload()

    def reload(self) -> None:
        """Read users and sessions again, after a change."""
        with self._store.reading() as read:
            users = read.users()
            sessions = read.sessions()
            tokens = read.tokens()
            identities = read.identities()
        self._by_token = {user.token: Person(user.name, user.role) for user in users}  # type: ignore[arg-type]
        names = {person.name: person for person in self._by_token.values()}
        self._sessions = {
            row.key: BrowserSession(names[row.user], row.csrf, row.until)
            for row in sessions
            if row.user in names
        }
        # whom the proxy in front calls what
        self.by_proxy = {row.user: row.subject for row in identities if row.issuer == PROXY}
        self._of_programs = {row.key: (names[row.user], row) for row in tokens}

    def of_program(self, token: str) -> tuple[Person, Scope] | None:
        """Return whom a program acts for by its token, and how far; None when it has expired."""
        person, row = self._of_programs.get(digest(token), (None, None))
        if person is None or row is None or row.until < now():
            return None
        return person, row.scope  # type: ignore[return-value]

    def of_token(self, token: str) -> Person | None:
        """Return the person who signs in with a token."""
        return self._by_token.get(digest(token))

    def of_cookie(self, cookie: str) -> BrowserSession | None:
        """Return the session of a cookie; None when it has expired."""
        session = self._sessions.get(digest(cookie))
        return None if session is None or session.until < now() else session

    def new_session(self, person: Person) -> tuple[str, SessionRow]:
        """Create a cookie, and the row to store."""
        cookie = new_token()
        until = datetime.now(UTC) + timedelta(hours=self._session_hours)
        row = SessionRow(
            digest(cookie), person.name, new_token(), until.isoformat(timespec="microseconds")
        )
        return cookie, row

    def of_name(self, name: str | None) -> Person | None:
        """Return the user of a name."""
        return next((one for one in self._by_token.values() if one.name == name), None)

    def has(self, name: str) -> bool:
        """Return whether a user has this name."""
        return name in self.names

    @property
    def names(self) -> set[str]:
        """The names of all users."""
        return {person.name for person in self._by_token.values()}


def is_from_this_machine(request: Request) -> bool:
    """Return whether a request came from a browser on this machine.

    The peer and the name it asked for are loopback, so that no other site is answered under a name
    of its own (DNS rebinding), the page that sent it has the same origin, and no proxy passed it
    on.
    """
    host = request.headers.get("host", "")
    origin = request.headers.get("origin")
    return (
        request.client is not None
        and is_loopback(request.client.host)
        and is_loopback(urlsplit(f"//{host}").hostname or "")
        and (
            origin == f"http://{host}"
            if request.method not in _SAFE_METHODS
            else origin is None
        )
        and request.scope.get("http_version")
        != "1.0"  # what nginx speaks to a service by default
        and not any(name in request.headers for name in _FORWARDED)
    )


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class RateLimit:
    """A token bucket of size `burst` for each name."""

    def __init__(
        self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, name: str) -> None:
        """Count one request; raise BusyError when the bucket is empty."""
        with self._lock:
            now = self._clock()
            left, since = self._buckets.pop(name, (float(self._burst), now))
            left = min(self._burst, left + (now - since) * self._per_second)
            self._buckets[name] = (left - 1 if left >= 1 else left, now)
            if len(self._buckets) > _MAX_BUCKETS:
                self._buckets.popitem(last=False)
        if left < 1:
            seconds = max(1, math.ceil((1 - left) / self._per_second))
            raise BusyError("too many requests; try again later", seconds=seconds)


@dataclass(frozen=True, slots=True)
class Caller:
    """The person who sent a request, or for whom a program sent it.

    `csrf` is the CSRF token of their session if they have one; `scope` is how far the token of a
    program reaches.
    """

    person: Person
    csrf: str | None
    scope: Scope = "manage"


def identify(service: Service, request: Request) -> Caller:
    """Identify the caller by token or by session.

    An address that sends many wrong tokens must wait.
    """
    authorization = request.headers.get("authorization")
    if authorization is None:
        return _by_cookie(service, request)
    try:
        caller = _by_token(service.people, authorization)
        service.first_start_until = 0.0
        return caller
    except UnknownCallerError:
        service.wrong_tokens.spend("" if request.client is None else request.client.host)
        raise


async def authenticate(request: Request) -> Caller:
    """Identify the caller, and count the request. All of it is in memory."""
    service: Service = request.app.state.service
    caller = identify(service, request)
    service.requests.spend(caller.person.name)
    return caller


TheCaller = Annotated[Caller, Depends(authenticate)]


def _by_token(people: People, authorization: str) -> Caller:
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() == "bearer":
        person = people.of_token(token.strip())
        if person is not None:
            return Caller(person, None)
        acting = people.of_program(token.strip())
        if acting is not None:
            return Caller(acting[0], None, acting[1])
    raise UnknownCallerError("the token is not valid")


def named_by_proxy(service: Service, request: Request) -> str | None:
    """Return whom the proxy in front names; headers of anybody else were dropped before."""
    single = service.settings.single_sign_on
    if single is None or single.user_header is None:
        return None
    names = request.headers.getlist(single.user_header)
    if len(names) > 1:
        raise UnknownCallerError("the proxy names two people")
    return names[0].strip() if names else None


def _by_cookie(service: Service, request: Request) -> Caller:
    session = service.people.of_cookie(request.cookies.get(COOKIE, ""))
    if session is None:
        raise UnknownCallerError("sign in with a token")
    subject = service.people.by_proxy.get(session.person.name)
    if subject is not None and subject != named_by_proxy(service, request):
        raise UnknownCallerError("the proxy does not name this person any more; sign in again")
    if request.method not in _SAFE_METHODS:
        given = request.headers.get(CSRF_HEADER, "").encode()
        if not hmac.compare_digest(given, session.csrf.encode()):
            raise NotAllowedError(f"the header {CSRF_HEADER} does not belong to this session")
    return Caller(session.person, session.csrf)


# What the dependencies of `at_least` require, for those who ask before a body is read.
_REQUIRED: dict[Callable[..., Any], Role | MemberRole] = {}
# Dependencies of routes that only compute, whatever their method.
_CHANGING_NOTHING: set[Callable[..., Any]] = set()


def check_caller(
    service: Service,
    caller: Caller,
    route: APIRoute,
    parameters: Mapping[str, Any],
    method: str,
) -> None:
    """Refuse a caller whose role or token is not enough for a route; called before a body is read.

    Where the path names a filter or review, the role in it counts; elsewhere that in the service.
    """
    role = required_role(route)
    if role is None:
        return
    item = item_of(route, parameters)
    if item is not None:
        service.members.require(caller.person, item, "owner" if role == "admin" else role)
    elif role == "owner" or not caller.person.may(role):
        raise NotAllowedError(f"this needs the role {role}; yours is {caller.person.role}")
    _check_scope(caller, required_scope(route, role, method))


def required_role(route: APIRoute) -> Role | MemberRole | None:
    """Return the role that a route requires; None if it requires none."""
    for dependency in route.dependant.dependencies:
        if dependency.call in _REQUIRED:
            return _REQUIRED[dependency.call]
    return None


def required_scope(route: APIRoute, role: Role | MemberRole, method: str) -> Scope:
    """Return how far the token of a program must reach for a request."""
    if role in ("owner", "admin"):
        return "manage"
    calls = {dependency.call for dependency in route.dependant.dependencies}
    if method in _SAFE_METHODS or calls & _CHANGING_NOTHING:
        return "read"
    return "write"


def _check_scope(caller: Caller, needed: Scope) -> None:
    """Refuse a program whose token does not reach as far as its request."""
    if SCOPES.index(caller.scope) < SCOPES.index(needed):
        raise NotAllowedError(
            f"this needs a token of the scope {needed}; this one has {caller.scope}"
        )


def at_least(
    role: Role | MemberRole, *, changes: bool = True
) -> Callable[..., Awaitable[Person]]:
    """Create a dependency that requires this role or a higher one.

    `changes` is whether a request by another method than GET may change something.
    """

    async def person(request: Request, caller: TheCaller) -> Person:
        route: APIRoute = request.scope["route"]
        service: Service = request.app.state.service
        check_caller(service, caller, route, request.path_params, request.method)
        return caller.person

    _REQUIRED[person] = role
    if not changes:
        _CHANGING_NOTHING.add(person)
    return person


async def themselves(request: Request, caller: TheCaller) -> Person:
    """Return the caller; refuse a program, which may not change how its person signs in."""
    _check_scope(caller, "manage")
    return caller.person


Reader = Annotated[Person, Depends(at_least("reader"))]
Asker = Annotated[Person, Depends(at_least("reader", changes=False))]
Reviewer = Annotated[Person, Depends(at_least("reviewer"))]
Owner = Annotated[Person, Depends(at_least("owner"))]
Admin = Annotated[Person, Depends(at_least("admin"))]
Themselves = Annotated[Person, Depends(themselves)]
