"""Routes of filters: create, list, change, delete, export and import."""

from __future__ import annotations

import base64
import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response, StreamingResponse

from bayesift.filtering import ProfileState
from bayesift.service import readers
from bayesift.service.access.audit import NOTED
from bayesift.service.access.callers import Item, Owner, Person, Reader, Reviewer
from bayesift.service.db.tables import FilterRow, column_values
from bayesift.service.errors import NotFoundError
from bayesift.service.files import BYTES, attached, csv_lines, file_answer
from bayesift.service.filters import operations, schemas
from bayesift.service.filters.schemas import FilterName
from bayesift.service.filters.transfer import exported_filter, read_filter
from bayesift.service.runtime import Service, TheService
from bayesift.service.schemas import Name, thinned

router = APIRouter(prefix="/api/filters", tags=["filters"])
exports = APIRouter(prefix="/api/filters", tags=["export"])
deleted = APIRouter(prefix="/api/deleted-filters", tags=["filters"])

_MAX_POINTS = 500
_COLUMNS = ("document", "title", "text", "relevant", "user", "at")
_FILE = {"requestBody": {"required": True, "content": {"application/zip": {"schema": BYTES}}}}


@router.get("")
def list_filters(person: Reader, service: TheService) -> list[schemas.FilterOut]:
    """List all filters with their counts, oldest first."""
    with service.store.reading() as read:
        rows = [row for row in read.filters() if _is_member(service, person, row)]
        conflicts = read.conflicts()
    shown = (_shown(service, person, row, len(conflicts.get(row.name, []))) for row in rows)
    return [each for each in shown if each is not None]


@router.post("", status_code=201)
async def create_filter(
    body: schemas.FilterIn, person: Reviewer, service: TheService
) -> schemas.FilterOut:
    """Create a filter from a query, words, labelled texts, or nothing."""
    row = await service.do(
        person, lambda unit: operations.create_filter(unit, body.definition(), past=body.past)
    )
    return await run_in_threadpool(_one, service, person, row, 0)


@router.get("/{name}")
def show_filter(name: FilterName, person: Reader, service: TheService) -> schemas.FilterOut:
    """Show one filter with its counts."""
    with service.stored_filter(name) as (read, row):
        conflicts = read.conflicts(name)
    return _one(service, person, row, len(conflicts.get(name, [])))


@router.patch("/{name}")
async def change_filter(
    name: FilterName, body: schemas.FilterChange, person: Reviewer, service: TheService
) -> schemas.FilterOut:
    """Pause or resume a filter."""
    paused = body.paused
    if paused is not None:
        await service.do(person, lambda unit: operations.pause_filter(unit, name, paused))
    return await run_in_threadpool(show_filter, name, person, service)


@router.delete("/{name}", status_code=204)
async def delete_filter(name: FilterName, person: Owner, service: TheService) -> None:
    """Delete a filter; it can be restored for some days."""
    await service.do(person, lambda unit: operations.delete_filter(unit, name))
    service.leases.forget(name)
    service.insight.forget(name)


@deleted.get("")
def list_deleted(person: Reader, service: TheService) -> list[schemas.DeletedOut]:
    """List the deleted filters that can be restored."""
    with service.store.reading() as read:
        rows = read.filters(deleted=True)
    rows = [row for row in rows if _is_member(service, person, row)]
    return [schemas.DeletedOut(name=row.name, deleted_at=row.deleted) for row in rows]


@deleted.post("/{name}/restore")
async def restore_filter(
    name: FilterName, person: Owner, service: TheService
) -> schemas.FilterOut:
    """Restore a deleted filter with its judgements."""
    await service.do(person, lambda unit: operations.restore_filter(unit, name))
    return await run_in_threadpool(show_filter, name, person, service)


@deleted.delete("/{name}", status_code=204)
async def forget_filter(name: FilterName, person: Owner, service: TheService) -> None:
    """Delete a deleted filter for good; its events stay in the log."""
    await service.do(person, lambda unit: operations.forget_filter(unit, name))
    service.insight.forget(name)


@router.get("/{name}/curve")
def curve(name: FilterName, person: Reader, service: TheService) -> schemas.CurveOut:
    """Count relevant documents found against documents judged."""
    with service.stored_filter(name) as (read, _):
        newest = {row.document: row for row in reversed(read.judgements(name))}
    points = [schemas.CurvePoint(judged=0, relevant=0)]
    for row in sorted(newest.values(), key=lambda row: row.seq):
        found = points[-1].relevant + row.relevant
        points.append(schemas.CurvePoint(judged=len(points), relevant=found))
    return schemas.CurveOut(points=thinned(points, _MAX_POINTS))


@exports.get(
    "/{name}/export/model",
    response_class=Response,
    responses=file_answer("application/zip"),
    dependencies=[NOTED],
)
def export_model(name: FilterName, person: Reader, service: TheService) -> Response:
    """Export the filter as a model file (zip): its weights and its vocabulary."""
    with service.engine_filter(name) as (engine, profile):
        content = exported_filter(engine.space, ProfileState.of(profile))
    return Response(content, media_type="application/zip", headers=attached(f"{name}.zip"))


@exports.get(
    "/{name}/export/judgements.csv",
    response_class=StreamingResponse,
    responses=file_answer("text/csv"),
    dependencies=[NOTED],
)
def export_csv(name: FilterName, person: Reader, service: TheService) -> StreamingResponse:
    """Export judged documents as CSV.

    Cells that a spreadsheet would run as a formula get a leading apostrophe.
    """
    return StreamingResponse(
        csv_lines(_COLUMNS, _judged(service, name)),
        media_type="text/csv; charset=utf-8",
        headers=attached(f"{name}.csv"),
    )


@exports.get(
    "/{name}/export/judgements.jsonl",
    response_class=StreamingResponse,
    responses=file_answer("application/x-ndjson"),
    dependencies=[NOTED],
)
def export_lines(name: FilterName, person: Reader, service: TheService) -> StreamingResponse:
    """Export judged documents as JSON lines."""
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in _judged(service, name))
    return StreamingResponse(
        lines, media_type="application/x-ndjson", headers=attached(f"{name}.jsonl")
    )


@exports.post("/import", status_code=201, openapi_extra=_FILE)
async def import_model(
    request: Request,
    person: Reviewer,
    service: TheService,
    name: Annotated[Name | None, Query()] = None,
) -> schemas.FilterOut:
    """Create a filter from a model file, under its own name unless another is given."""
    content = await request.body()
    await service.read(readers.try_filter, "the file", content, readers.nothing)
    _, state = await run_in_threadpool(read_filter, content)
    chosen = str(state.header["name"]) if name is None else name
    model = base64.b64encode(content).decode()
    await service.do(person, lambda unit: operations.import_filter(unit, chosen, model))
    return await run_in_threadpool(show_filter, chosen, person, service)


def _is_member(service: Service, person: Person, row: FilterRow) -> bool:
    return service.members.role(person, Item("filter", row.name)) is not None


def _one(service: Service, person: Person, row: FilterRow, conflicts: int) -> schemas.FilterOut:
    shown = _shown(service, person, row, conflicts)
    if shown is None:
        raise NotFoundError(f"no filter {row.name!r}")
    return shown


def _shown(
    service: Service, person: Person, row: FilterRow, conflicts: int
) -> schemas.FilterOut | None:
    """Return a filter with its counts; None if it was deleted in between."""
    with service.live.reading() as engine:
        profile = engine.profiles.get(row.name)
        if profile is None:
            return None
        counters = profile.counters
        seen = row.seen
        if not row.paused:
            seen += service.live.n_documents - row.since
        return schemas.FilterOut(
            name=row.name,
            role=service.members.role(person, Item("filter", row.name)) or "reader",
            paused=profile.paused,
            strategy=str(profile.strategy),
            query=row.definition.get("query"),
            created_at=row.at,
            created_by=row.user,
            counters=schemas.CountersOut(
                seen=seen,
                retrieved=counters.retrieved,
                asked=counters.queried,
                judged_relevant=counters.judged_relevant,
                judged_irrelevant=counters.judged_irrelevant,
            ),
            waiting=len(profile.pending),
            n_terms=profile.n_terms,
            conflicts=conflicts,
        )


def _judged(service: Service, name: str) -> list[dict[str, Any]]:
    with service.stored_filter(name) as (read, _):
        rows = read.judgements(name)[::-1]
        documents = read.documents(row.document for row in rows)
    found = []
    for row in rows:
        values = {**column_values(documents[row.document]), **column_values(row)}
        found.append({column: values[column] for column in _COLUMNS})
    return found
