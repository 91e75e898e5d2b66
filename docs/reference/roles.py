"""Writes roles.md: which role and which scope of a token every route of the service needs."""

from pathlib import Path

from fastapi.routing import APIRoute

from bayesift.service.access.callers import (
    authenticate,
    item_of,
    required_role,
    required_scope,
    themselves,
)
from bayesift.service.app import _ROUTERS

PAGE = Path(__file__).with_suffix(".md")
_HEAD = """# Roles

What every route of the service needs. Below a filter or review the role counts that a person has
in it (reader, reviewer, owner); who has none is answered with 404, as if it did not exist.
Elsewhere the role in the service counts (reader, reviewer, admin). A program that acts for a person
with a token of its own also needs the scope.

While a record is screened by two and waits for a decision, the decision, reasons, notes and tags of
one reviewer are not shown to any other user, whatever their role, and no ranking or file follows
from them.

| request | needs | scope of a token |
|---|---|---|
"""


def roles_page() -> str:
    """Return the page as Markdown."""
    rows = []
    for router in _ROUTERS:
        for route in router.routes:
            assert isinstance(route, APIRoute)
            for method in sorted(route.methods):
                rows.append(_row(route, method))
    return _HEAD + "\n".join(rows) + "\n"


def _row(route: APIRoute, method: str) -> str:
    role = required_role(route)
    item = item_of(route, {"name": "", "review": ""})
    calls = [dependency.call for dependency in route.dependant.dependencies]
    if role is not None:
        where = "in the service" if item is None else f"in the {item.kind}"
        needs = f"{role} {where}"
        scope: str = required_scope(route, role, method)
    elif themselves in calls:
        needs = "to be signed in"
        scope = "manage"
    else:
        needs = "to be signed in" if authenticate in calls else "nothing"
        scope = ""
    return f"| `{method} {route.path}` | {needs} | {scope} |"


if __name__ == "__main__":
    PAGE.write_text(roles_page())
