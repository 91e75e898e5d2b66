"""Routes of profiles: create, list, change, delete, export and import."""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response, StreamingResponse

from bayesift.filtering import ProfileState
from bayesift.service import operations, schemas
from bayesift.service.access import Admin, Reader, Reviewer
from bayesift.service.db.tables import ProfileRow, column_values
from bayesift.service.errors import NotFoundError
from bayesift.service.exports import BYTES, attached, file_answer, guarded_cell
from bayesift.service.runtime import Service, TheService
from bayesift.service.schemas import ProfileName
from bayesift.service.transfer import exported_profile, read_profile

router = APIRouter(prefix="/api/profiles", tags=["profiles"])
exports = APIRouter(prefix="/api/profiles", tags=["export"])
deleted = APIRouter(prefix="/api/deleted-profiles", tags=["profiles"])

_MOST_POINTS = 500
_COLUMNS = ("document", "title", "text", "relevant", "user", "at")
_FILE = {"requestBody": {"required": True, "content": {"application/zip": {"schema": BYTES}}}}


@router.get("")
def list_profiles(person: Reader, service: TheService) -> list[schemas.ProfileOut]:
    """All profiles with their counts, oldest first."""
    with service.store.reading() as read:
        rows, conflicts = read.profiles(), read.conflicts()
    shown = (_shown(service, row, len(conflicts.get(row.name, []))) for row in rows)
    return [profile for profile in shown if profile is not None]


@router.post("", status_code=201)
async def create_profile(
    body: schemas.ProfileIn, person: Reviewer, service: TheService
) -> schemas.ProfileOut:
    """Create a profile from a query, words, labelled texts, or nothing."""
    row = await service.do(
        person, lambda unit: operations.create_profile(unit, body.definition(), past=body.past)
    )
    return await run_in_threadpool(_one, service, row, 0)


@router.get("/{name}")
def show_profile(name: ProfileName, person: Reader, service: TheService) -> schemas.ProfileOut:
    """One profile with its counts."""
    with service.stored_profile(name) as (read, row):
        conflicts = read.conflicts(name)
    return _one(service, row, len(conflicts.get(name, [])))


@router.patch("/{name}")
async def change_profile(
    name: ProfileName, body: schemas.ProfileChange, person: Reviewer, service: TheService
) -> schemas.ProfileOut:
    """Pause or resume a profile."""
    if body.paused is not None:
        paused = body.paused
        await service.do(person, lambda unit: operations.pause_profile(unit, name, paused))
    return await run_in_threadpool(show_profile, name, person, service)


@router.delete("/{name}", status_code=204)
async def delete_profile(name: ProfileName, person: Reviewer, service: TheService) -> None:
    """Delete a profile; it can be restored for some days."""
    await service.do(person, lambda unit: operations.delete_profile(unit, name))
    service.leases.forget(name)


@deleted.get("")
def list_deleted(person: Reader, service: TheService) -> list[schemas.DeletedOut]:
    """Deleted profiles that can be restored."""
    with service.store.reading() as read:
        return [
            schemas.DeletedOut(name=row.name, deleted_at=row.deleted)
            for row in read.profiles(deleted=True)
        ]


@deleted.post("/{name}/restore")
async def restore_profile(
    name: ProfileName, person: Reviewer, service: TheService
) -> schemas.ProfileOut:
    """Restore a deleted profile with its judgements."""
    await service.do(person, lambda unit: operations.restore_profile(unit, name))
    return await run_in_threadpool(show_profile, name, person, service)


@deleted.delete("/{name}", status_code=204)
async def forget_profile(name: ProfileName, person: Admin, service: TheService) -> None:
    """Delete a deleted profile for good; its events stay in the log."""
    await service.do(person, lambda unit: operations.forget_profile(unit, name))


@router.get("/{name}/curve")
def curve(name: ProfileName, person: Reader, service: TheService) -> schemas.CurveOut:
    """Relevant documents found against documents judged."""
    with service.stored_profile(name) as (read, _):
        newest = {row.document: row for row in reversed(read.judgements(name))}
    points, found = [schemas.CurvePoint(judged=0, relevant=0)], 0
    for number, row in enumerate(sorted(newest.values(), key=lambda row: row.seq), 1):
        found += row.relevant
        points.append(schemas.CurvePoint(judged=number, relevant=found))
    step = -(-len(points) // _MOST_POINTS)
    return schemas.CurveOut(
        points=points[::step] if (len(points) - 1) % step == 0 else [*points[::step], points[-1]]
    )


@exports.get(
    "/{name}/export/model", response_class=Response, responses=file_answer("application/zip")
)
def export_model(name: ProfileName, person: Reader, service: TheService) -> Response:
    """The profile as a model file (zip): its weights and its vocabulary."""
    with service.profile(name) as (engine, profile):
        content = exported_profile(engine.space, ProfileState.of(profile))
    return Response(content, media_type="application/zip", headers=attached(f"{name}.zip"))


@exports.get(
    "/{name}/export/judgements.csv",
    response_class=StreamingResponse,
    responses=file_answer("text/csv"),
)
def export_csv(name: ProfileName, person: Reader, service: TheService) -> StreamingResponse:
    """Judged documents as CSV.

    Cells that a spreadsheet would run as a formula get a leading apostrophe.
    """
    lines = _csv_lines(_judged(service, name))
    return StreamingResponse(
        lines, media_type="text/csv; charset=utf-8", headers=attached(f"{name}.csv")
    )


@exports.get(
    "/{name}/export/judgements.jsonl",
    response_class=StreamingResponse,
    responses=file_answer("application/x-ndjson"),
)
def export_lines(name: ProfileName, person: Reader, service: TheService) -> StreamingResponse:
    """Judged documents as JSON lines."""
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in _judged(service, name))
    return StreamingResponse(
        lines, media_type="application/x-ndjson", headers=attached(f"{name}.jsonl")
    )


@exports.post("/import", status_code=201, openapi_extra=_FILE)
async def import_model(
    request: Request,
    person: Reviewer,
    service: TheService,
    name: Annotated[schemas.Name | None, Query()] = None,
) -> schemas.ProfileOut:
    """Create a profile from a model file, under its own name unless another is given."""
    content = await request.body()
    _, state = await run_in_threadpool(read_profile, content)
    chosen = str(state.header["name"]) if name is None else name
    model = base64.b64encode(content).decode()
    await service.do(person, lambda unit: operations.import_profile(unit, chosen, model))
    return await run_in_threadpool(show_profile, chosen, person, service)


def _one(service: Service, row: ProfileRow, conflicts: int) -> schemas.ProfileOut:
    shown = _shown(service, row, conflicts)
    if shown is None:
        raise NotFoundError(f"no filter {row.name!r}")
    return shown


def _shown(service: Service, row: ProfileRow, conflicts: int) -> schemas.ProfileOut | None:
    """A profile with its counts; None if it was deleted in between."""
    with service.live.reading() as engine:
        profile = engine.profiles.get(row.name)
        if profile is None:
            return None
        counters, seen = profile.counters, service.live.n_documents - row.since
        return schemas.ProfileOut(
            name=row.name,
            paused=profile.paused,
            strategy=str(profile.strategy),
            query=row.definition.get("query"),
            created_at=row.at,
            created_by=row.user,
            counters=schemas.CountersOut(
                seen=row.seen + (0 if row.paused else seen),
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
    with service.stored_profile(name) as (read, _):
        rows = read.judgements(name)[::-1]
        documents = read.documents(row.document for row in rows)
    found = ({**column_values(documents[row.document]), **column_values(row)} for row in rows)
    return [{name: record[name] for name in _COLUMNS} for record in found]


def _csv_lines(records: list[dict[str, Any]]) -> Iterator[str]:
    for record in [dict(zip(_COLUMNS, _COLUMNS, strict=True)), *records]:
        line = io.StringIO()
        csv.writer(line).writerow([_cell(record[column]) for column in _COLUMNS])
        yield line.getvalue()


def _cell(value: Any) -> str:
    return guarded_cell(str(value).lower() if isinstance(value, bool) else str(value))
