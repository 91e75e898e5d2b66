"""People whom an OpenID provider or a proxy in front knows: their users and their roles.

A person is identified by issuer and subject, never by a name or an address of mail, so that no
person becomes another by taking their name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from bayesift.errors import DataError
from bayesift.service.access.callers import ROLES, Role, digest, is_loopback, new_token
from bayesift.service.access.operations import add_user
from bayesift.service.db.tables import IdentityRow, SessionRow, TokenRow, UserRow
from bayesift.service.live import UnitOfWork
from bayesift.service.schemas import Name

BEGUN_SECONDS = 600  # that a person has to sign in at the provider
EVERYONE = "*"  # the group of everyone
_NAME: TypeAdapter[str] = TypeAdapter(Name)


@dataclass(frozen=True, slots=True)
class SingleSignOn:
    """How people sign in who are known elsewhere: to an OpenID provider, or to a proxy in front.

    Parameters
    ----------
    roles : role in the service by group, the highest one counts; the group `*` is everyone
    issuer : address of the OpenID provider, as it names itself
    client_id : name of this service at the provider
    secret : of this service at the provider, if it has one
    public_url : address of this service in browsers
    scope : what the provider is asked for
    groups_claim : name of the claim that lists the groups of a person
    user_header : header by which the proxy names a person
    groups_header : header by which the proxy lists their groups, separated by commas
    """

    roles: Mapping[str, Role]
    issuer: str | None = None
    client_id: str = ""
    secret: str | None = field(default=None, repr=False)
    public_url: str = ""
    scope: str = "openid profile"
    groups_claim: str = "groups"
    user_header: str | None = None
    groups_header: str | None = None

    def check(self, proxy: str | None) -> None:
        """Refuse settings that contradict one another, or would let anybody in."""
        if not self.roles:
            raise DataError(
                f"single sign-on needs the role of a group, such as --role {EVERYONE}=reader"
            )
        if (self.issuer is None) == (self.user_header is None):
            raise DataError("single sign-on needs an OpenID issuer or a header, not both")
        if self.user_header is not None and (proxy is None or "*" in proxy):
            raise DataError("a header of users needs the addresses of its proxy (--proxy)")
        if self.issuer is not None:
            check_address(self.issuer)
            check_address(self.public_url)
            if not self.client_id:
                raise DataError("single sign-on with OpenID needs a client id")

    def role_of(self, groups: Iterable[str]) -> Role | None:
        """Return the highest role of the groups; None if they have none.

        Examples
        --------
        >>> setting = SingleSignOn({"staff": "reader", "leads": "admin"}, user_header="X-User")
        >>> setting.role_of(["leads", "staff"]), setting.role_of(["guests"])
        ('admin', None)
        """
        found = {self.roles.get(group) for group in chain([EVERYONE], groups)}
        return next((role for role in reversed(ROLES) if role in found), None)


@dataclass(frozen=True, slots=True)
class Known:
    """A person as the issuer describes them."""

    issuer: str
    subject: str
    name: str
    groups: tuple[str, ...]

    @classmethod
    def of_claims(cls, claims: Mapping[str, Any], groups_claim: str) -> Known:
        """Read the claims of a token that has been verified."""
        groups = claims.get(groups_claim, ())
        listed = [groups] if isinstance(groups, str) else groups
        names = tuple(str(group) for group in listed) if isinstance(listed, list) else ()
        wanted = claims.get("preferred_username") or claims.get("name") or "person"
        return cls(str(claims["iss"]), str(claims["sub"]), str(wanted), names)


def check_address(address: str) -> str:
    """Return an address; refuse one without TLS that is not on this machine."""
    parts = urlsplit(address)
    is_here = parts.scheme == "http" and is_loopback(parts.hostname or "")
    if not parts.hostname or not (parts.scheme == "https" or is_here):
        raise DataError(f"{address!r} is not an https:// address")
    return address


def admit(unit: UnitOfWork, settings: SingleSignOn, known: Known) -> str | None:
    """Return the name of the user of a person, who is added on their first sign-in.

    Their role is that of their groups. A person without any gets None, and what they had ends:
    sessions, tokens, and the role.
    """
    role = settings.role_of(known.groups)
    identities = unit.tx.identities()
    users = {user.name: user for user in unit.tx.users()}
    key = (known.issuer, known.subject)
    name = next((row.user for row in identities if (row.issuer, row.subject) == key), None)
    if name is None:
        if role is not None:
            name = _free_name(known.name, users)
            add_user(unit.tx, name, role)
            unit.tx.add([IdentityRow(*key, name, unit.at)])
    elif role is None:
        unit.tx.put(replace(users[name], role=ROLES[0], token=digest(new_token())))
        for kind in (SessionRow, TokenRow):
            unit.tx.drop(kind, user=name)
        return None
    elif users[name].role != role:
        unit.tx.put(replace(users[name], role=role))
    return name


def _free_name(wanted: str, users: Mapping[str, UserRow]) -> str:
    """Return a name that no other user has."""
    try:
        name = _NAME.validate_python(wanted[:90].strip())
    except ValidationError:
        name = "person"
    numbered = (f"{name} {number}" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in users)
