"""The audit trail: sign-ins, users and members, settings, exports, models, filters and reviews.

It is a part of the log. Decisions and judgements are not in it, so that it reveals none of them.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import StreamingResponse

from bayesift.service.access.callers import Item, Person, Reader, Themselves, item_of
from bayesift.service.db.tables import EventRow, Reading
from bayesift.service.errors import NotAllowedError
from bayesift.service.files import attached, csv_lines, file_answer
from bayesift.service.live import UnitOfWork
from bayesift.service.runtime import Service, TheService

SIGNED_IN = "signed in"
SIGNED_OUT = "signed out"
REFUSED = "sign-in refused"
USER_CHANGED = "user changed"
EXPORTED = "exported"
SETTINGS = "settings changed"
_COLUMNS = ("number", "at", "by", "what", "filter", "review", "details")
_MAX_DETAIL = 2_000  # characters of a value; a filter that was imported has millions
# Addresses of data and secrets, and what holds for one start.
_UNTOLD = ("folder", "database", "accept_loss", "secret")
router = APIRouter(prefix="/api", tags=["export"])


def user_changed(unit: UnitOfWork, name: str, change: str, **details: str) -> None:
    """Keep in the log what was done to a user."""
    unit.record(USER_CHANGED, payload={"user": name, "change": change, **details})


async def note_export(request: Request, person: Reader, service: TheService) -> None:
    """Keep in the log who asks for a file, before it is written, so that none is missing."""
    item = item_of(request.scope["route"], request.path_params)
    subject: dict[str, Any] = {}
    if item is not None:
        subject = {"filter_name" if item.kind == "filter" else "review": item.name}
    details = {"path": request.url.path, "query": request.url.query}
    await service.do(person, lambda unit: unit.record(EXPORTED, payload=details, **subject))


NOTED = Depends(note_export)


def note_settings(service: Service) -> None:
    """Keep in the log how the service was started, if that has changed."""
    told = _told(service.settings)
    with service.store.reading() as read:
        before = [row for row in read.audit_trail() if _is_start(row)]
    if told != (before[-1].payload if before else {}):
        service.writer.submit("", lambda unit: unit.record(SETTINGS, payload=told)).result()


def _is_start(row: EventRow) -> bool:
    return row.kind == SETTINGS and row.review is None


def _told(settings: Any) -> dict[str, Any]:
    """Return the settings that are not as by default, without secrets."""
    found = {}
    for field in fields(settings):
        value = getattr(settings, field.name)
        if field.name not in _UNTOLD and value != field.default:
            found[field.name] = _told(value) if is_dataclass(value) else value
    return found


@router.get(
    "/audit.csv",
    response_class=StreamingResponse,
    responses=file_answer("text/csv"),
)
def audit_csv(person: Themselves, service: TheService) -> StreamingResponse:
    """Export the audit trail: of the service for admins, of a filter or review for its owners.

    Cells that a spreadsheet would run as a formula get a leading apostrophe.
    """
    rows = _trail(service, person)
    return StreamingResponse(
        csv_lines(_COLUMNS, map(_with_text, rows)),
        media_type="text/csv; charset=utf-8",
        headers=attached("audit.csv"),
    )


@router.get(
    "/audit.jsonl",
    response_class=StreamingResponse,
    responses=file_answer("application/x-ndjson"),
)
def audit_lines(person: Themselves, service: TheService) -> StreamingResponse:
    """Export the audit trail as JSON lines."""
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in _trail(service, person))
    return StreamingResponse(
        lines, media_type="application/x-ndjson", headers=attached("audit.jsonl")
    )


def _trail(service: Service, person: Person) -> list[dict[str, Any]]:
    """Return the rows that a person may see; refuse a person who may see none.

    That they are exported is the last of them.
    """
    with service.store.reading() as read:
        since = _owned_since(service, read, person)
    if not (since or person.role == "admin"):
        raise NotAllowedError("this needs the role admin, or to own a filter or review")
    operation = partial(UnitOfWork.record, kind=EXPORTED, payload={"path": "/api/audit"})
    service.writer.submit(person.name, operation).result()
    with service.store.reading() as read:
        return [_shown(row) for row in read.audit_trail() if _may_see(row, person, since)]


def _may_see(row: EventRow, person: Person, since: dict[Item, int]) -> bool:
    if row.filter is not None:
        return row.seq >= since.get(Item("filter", row.filter), row.seq + 1)
    if row.review is not None:
        return Item("review", row.review) in since
    return person.role == "admin"


def _owned_since(service: Service, read: Reading, person: Person) -> dict[Item, int]:
    """Return what a person owns, with the event of its beginning.

    What a filter of the same name did before belongs to those who owned that.
    """
    rows = [*read.filters(), *read.filters(deleted=True)]
    begun = {Item("filter", row.name): row.seq for row in rows}
    begun |= {Item("review", row.id): row.seq for row in read.reviews()}
    return {
        item: seq
        for item, seq in begun.items()
        if service.members.role(person, item) == "owner"
    }


def _shown(row: EventRow) -> dict[str, Any]:
    details = {}
    for name, value in row.payload.items():
        is_short = len(json.dumps(value)) <= _MAX_DETAIL
        details[name] = value if is_short else "(long)"
    values = (row.seq, row.at, row.user, row.kind, row.filter, row.review, details)
    return dict(zip(_COLUMNS, values, strict=True))


def _with_text(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "details": json.dumps(row["details"], ensure_ascii=False)}
