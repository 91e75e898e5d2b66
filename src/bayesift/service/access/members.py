"""Members of filters and reviews: who may see, judge and manage each of them.

A filter or review has members with a role of its own: owner, reviewer or reader. To everybody else
it does not exist. The user who creates one owns it. In a shared service all users are members of
everything, with the role that they have in the service.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bayesift.service.access.callers import (
    MEMBER_ROLES,
    Item,
    MemberRole,
    Person,
    Role,
    digest,
    new_token,
)
from bayesift.service.access.operations import add_user, drop_user
from bayesift.service.db.database import Store
from bayesift.service.db.tables import InvitationRow, MemberRow
from bayesift.service.errors import (
    ConflictError,
    NotAllowedError,
    NotFoundError,
    UnknownCallerError,
)
from bayesift.service.live import UnitOfWork

CHANGED = "members changed"
_IN_A_SHARED_SERVICE: dict[Role, MemberRole] = {
    "reader": "reader",
    "reviewer": "reviewer",
    "admin": "owner",
}
# The account that an invitation gives to a person who has none.
_ACCOUNTS: dict[str, Role] = {"reader": "reader", "reviewer": "reviewer", "owner": "reviewer"}


class Members:
    """The members of all filters and reviews, in memory because every request looks them up."""

    def __init__(self, store: Store, *, shared: bool) -> None:
        self._store = store
        self._shared = shared
        self.reload()

    def reload(self) -> None:
        """Read the members again, after a change."""
        found: dict[Item, dict[str, MemberRole]] = {}
        with self._store.reading() as read:
            for row in read.members():
                item = Item(row.kind, row.name)  # type: ignore[arg-type]
                found.setdefault(item, {})[row.user] = row.role  # type: ignore[assignment]
        self._of_item = found

    def of_item(self, item: Item) -> dict[str, MemberRole]:
        """Return the members of a filter or review with their roles."""
        return self._of_item.get(item, {})

    def role(self, person: Person, item: Item) -> MemberRole | None:
        """Return the role of a person in a filter or review; None if they are not a member."""
        role = self.of_item(item).get(person.name)
        if role is None and self._shared:
            return _IN_A_SHARED_SERVICE[person.role]
        return role

    def require(self, person: Person, item: Item, role: MemberRole = "reader") -> None:
        """Refuse a person whose role in a filter or review is not enough."""
        found = self.role(person, item)
        if found is None:
            raise item.missing()
        if MEMBER_ROLES.index(found) < MEMBER_ROLES.index(role):
            raise NotAllowedError(f"this needs the role {role}; yours is {found}")


def set_role(unit: UnitOfWork, item: Item, user: str, role: MemberRole) -> None:
    """Make a user a member of a filter or review, or give a member another role."""
    if all(known.name != user for known in unit.tx.users()):
        raise NotFoundError(f"no user {user!r}")
    if role != "owner":
        _keep_an_owner(unit, item, user)
    unit.tx.put(MemberRow(item.kind, item.name, user, role, unit.at))
    _record(unit, item, user, role)


def remove_member(unit: UnitOfWork, item: Item, user: str) -> None:
    """Remove a member; what they did stays."""
    if all(row.user != user for row in _members(unit, item)):
        raise NotFoundError(f"{user!r} is not a member")
    _keep_an_owner(unit, item, user)
    unit.tx.drop(MemberRow, kind=item.kind, name=item.name, user=user)
    _record(unit, item, user, None)


def remove_user(unit: UnitOfWork, user: str) -> None:
    """Remove a user; who removes them owns what would be left without an owner."""
    for row in unit.tx.members():
        item = Item(row.kind, row.name)  # type: ignore[arg-type]
        if row.user == user and row.role == "owner" and not _other_owners(unit, item, user):
            set_role(unit, item, unit.user, "owner")
    drop_user(unit.tx, user)


def invite(unit: UnitOfWork, item: Item, role: MemberRole, days: float) -> tuple[str, str]:
    """Create an invitation; return what its link holds, which is not stored, and until when."""
    token = new_token()
    until = datetime.now(UTC) + timedelta(days=days)
    until_text = until.isoformat(timespec="microseconds")
    for row in unit.tx.invitations():
        if row.until < unit.at:
            unit.tx.drop(InvitationRow, key=row.key)
    unit.tx.add([InvitationRow(digest(token), *item, role, unit.user, until_text)])
    return token, until_text


def accept(
    unit: UnitOfWork, token: str, user: str | None, name: str
) -> tuple[Item, str | None]:
    """Use an invitation once: a user becomes a member, and a person without account a user.

    Returns the filter or review, and the token that a new user signs in with.
    """
    found = unit.tx.invitations(key=digest(token))
    if not found or found[0].until < unit.at:
        raise UnknownCallerError("the invitation is not valid, was used, or has expired")
    invitation = found[0]
    item = Item(invitation.kind, invitation.name)  # type: ignore[arg-type]
    new = None
    if user is None:
        new = add_user(unit.tx, name, _ACCOUNTS[invitation.role])
    unit.tx.drop(InvitationRow, key=invitation.key)
    held = {row.user: row.role for row in _members(unit, item)}
    role: MemberRole = invitation.role  # type: ignore[assignment]
    joined = user or name
    if MEMBER_ROLES.index(role) > MEMBER_ROLES.index(held.get(joined, "reader")) or (
        joined not in held
    ):
        set_role(unit, item, joined, role)
    return item, new


def _members(unit: UnitOfWork, item: Item) -> list[MemberRow]:
    return [row for row in unit.tx.members() if (row.kind, row.name) == item]


def _other_owners(unit: UnitOfWork, item: Item, user: str) -> bool:
    return any(row.role == "owner" and row.user != user for row in _members(unit, item))


def _keep_an_owner(unit: UnitOfWork, item: Item, user: str) -> None:
    owns = any(row.user == user and row.role == "owner" for row in _members(unit, item))
    if owns and not _other_owners(unit, item, user):
        raise ConflictError(f"{user!r} is the only owner")


def _record(unit: UnitOfWork, item: Item, user: str, role: MemberRole | None) -> None:
    """Keep in the log who made whom a member of what."""
    subject = {"filter_name": item.name} if item.kind == "filter" else {"review": item.name}
    unit.record(CHANGED, **subject, payload={"member": user, "role": role})
