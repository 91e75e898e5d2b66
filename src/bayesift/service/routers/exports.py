"""What leaves the service, and profiles that come in as files."""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Iterator
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse

from bayesift.filtering import ProfileState
from bayesift.service.access import Reader, Reviewer, TheService
from bayesift.service.errors import NotFoundError
from bayesift.service.operations import profiles as operations
from bayesift.service.parameters import ProfileName
from bayesift.service.routers.profiles import show_profile
from bayesift.service.runtime import Service
from bayesift.service.schemas import Name, ProfileOut
from bayesift.service.transfer import exported_profile, read_profile

router = APIRouter(prefix="/api/profiles", tags=["export"])

_COLUMNS = ("document", "title", "text", "relevant", "user", "at")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_BYTES: dict[str, Any] = {"type": "string", "format": "binary"}
_FILE = {"requestBody": {"required": True, "content": {"application/zip": {"schema": _BYTES}}}}


def _answers(media_type: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {media_type: {"schema": _BYTES}}, "description": "The file."}}


@router.get("/{name}/export/model", response_class=Response, responses=_answers("application/zip"))
def export_model(name: ProfileName, person: Reader, service: TheService) -> Response:
    """The profile as a model file (zip): what it learned, with its words."""
    with service.profile(name) as (engine, profile):
        state = ProfileState.of(profile)
        content = exported_profile(engine.space, state)
    return Response(content, media_type="application/zip", headers=_attached(f"{name}.zip"))


@router.get("/{name}/export/judgements.csv", response_class=StreamingResponse, responses=_answers("text/csv"))
def export_csv(name: ProfileName, person: Reader, service: TheService) -> StreamingResponse:
    """Judged documents as CSV; cells that a spreadsheet would run as a formula begin with an apostrophe."""
    return _file(_csv_lines(_judged(service, name)), "text/csv; charset=utf-8", f"{name}.csv")


@router.get(
    "/{name}/export/judgements.jsonl",
    response_class=StreamingResponse,
    responses=_answers("application/x-ndjson"),
)
def export_lines(name: ProfileName, person: Reader, service: TheService) -> StreamingResponse:
    """Judged documents as JSON lines."""
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in _judged(service, name))
    return _file(lines, "application/x-ndjson", f"{name}.jsonl")


@router.post("/import", status_code=201, openapi_extra=_FILE)
async def import_model(
    request: Request, person: Reviewer, service: TheService, name: Annotated[Name | None, Query()] = None
) -> ProfileOut:
    """Start a profile from a model file; under its own name unless another is given."""
    content = await request.body()
    _, state = read_profile(content)
    chosen = str(state.header["name"]) if name is None else name
    model = base64.b64encode(content).decode()
    await service.do(person, lambda turn: operations.take_in(turn, chosen, model))
    return show_profile(chosen, person, service)


def _judged(service: Service, name: str) -> list[dict[str, Any]]:
    with service.store.reading() as read:
        if read.profile(name) is None:
            raise NotFoundError(f"no profile {name!r}")
        rows = read.judgements(name)[::-1]
        documents = read.documents(row.document for row in rows)
    return [
        {
            "document": row.document,
            "title": documents[row.document].title,
            "text": documents[row.document].text,
            "relevant": row.relevant,
            "user": row.user,
            "at": row.at,
        }
        for row in rows
    ]


def _csv_lines(records: list[dict[str, Any]]) -> Iterator[str]:
    for record in [dict(zip(_COLUMNS, _COLUMNS, strict=True)), *records]:
        line = io.StringIO()
        csv.writer(line).writerow([_cell(record[column]) for column in _COLUMNS])
        yield line.getvalue()


def _cell(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _file(lines: Iterator[str], media_type: str, name: str) -> StreamingResponse:
    return StreamingResponse(lines, media_type=media_type, headers=_attached(name))


def _attached(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
