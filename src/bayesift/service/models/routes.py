"""Routes of fitted models: classify, explain, correct, and manage versions."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric

from bayesift.errors import DataError
from bayesift.report import model_card
from bayesift.service import readers
from bayesift.service.access.audit import NOTED
from bayesift.service.access.callers import Admin, Asker, Reader, Reviewer
from bayesift.service.db.tables import ModelRow
from bayesift.service.errors import NotFoundError, TooLargeError, UnavailableError
from bayesift.service.files import (
    FILE_BODY,
    attached,
    check_unpacked,
    csv_lines,
    file_answer,
)
from bayesift.service.models import operations, schemas
from bayesift.service.models.schemas import ModelName, NewName
from bayesift.service.models.serving import Answer, Given, ServedModel
from bayesift.service.models.shelf import add_version, choose
from bayesift.service.models.watch import ModelWatch, model_metrics
from bayesift.service.runtime import Service, TheService

router = APIRouter(prefix="/api/models", tags=["models"])
metrics = APIRouter(prefix="/api/model-metrics", tags=["models"])
_MAX_ROWS = 10_000  # of a table
_CATEGORIES = "categories"
_SEPARATOR = ";"
_TABLE = {
    "requestBody": {
        "required": True,
        "content": {"text/csv": {"schema": {"type": "string"}}},
    }
}


@router.get("")
def list_models(person: Reader, service: TheService) -> list[schemas.ModelOut]:
    """List the models."""
    with service.store.reading() as read:
        rows = [row for row in read.models() if row.current]
        return [_shown(service, row, len(read.corrections(row.name))) for row in rows]


@router.post("", status_code=201, openapi_extra=FILE_BODY)
async def add_model(
    name: NewName, request: Request, person: Admin, service: TheService
) -> schemas.ModelOut:
    """Add a model file, as a new version if the name is known.

    The file is loaded and tried before the version before it is replaced.
    """
    content = await request.body()
    check_unpacked(content)
    await service.read(readers.try_model, "the file", content, readers.nothing)
    await add_version(service, person.name, name, content)
    return await run_in_threadpool(show_model, name, person, service)


@router.get("/{name}")
def show_model(name: ModelName, person: Reader, service: TheService) -> schemas.ModelOut:
    """Show a model."""
    with service.store.reading() as read:
        row = next(row for row in operations.versions(read, name) if row.current)
        return _shown(service, row, len(read.corrections(name)))


@router.delete("/{name}", status_code=204)
async def remove_model(name: ModelName, person: Admin, service: TheService) -> None:
    """Remove a model with all versions; corrections of its answers stay in the log."""
    await service.do(person, partial(operations.remove, name=name))
    service.models.drop(name)


@router.get("/{name}/versions")
def list_versions(
    name: ModelName, person: Reader, service: TheService
) -> list[schemas.VersionOut]:
    """List the versions of a model, oldest first."""
    with service.store.reading() as read:
        rows = operations.versions(read, name)
    return [schemas.VersionOut.model_validate(row) for row in rows]


@router.put("/{name}/version")
async def choose_version(
    name: ModelName, body: schemas.VersionIn, person: Admin, service: TheService
) -> schemas.ModelOut:
    """Let another version answer, such as the one before."""
    await choose(service, person.name, name, body.version)
    return await run_in_threadpool(show_model, name, person, service)


@router.post("/{name}/classify")
async def classify(
    name: ModelName, body: schemas.ClassifyIn, person: Asker, service: TheService
) -> schemas.ClassifiedOut:
    """Classify texts."""
    served = service.models.get(name)
    given = _given(service, served, body.texts)
    answers = await served.classify(given, top=body.top, abstain=body.abstain)
    found = [_answered(answer) for answer in answers]
    return schemas.ClassifiedOut(model=name, version=served.version, answers=found)


@router.post(
    "/{name}/classify.csv",
    openapi_extra=_TABLE,
    response_class=Response,
    responses=file_answer("text/csv"),
)
async def classify_table(
    name: ModelName,
    request: Request,
    person: Asker,
    service: TheService,
    abstain: Annotated[float | None, Query(ge=0, le=1)] = None,
) -> Response:
    """Classify the rows of a CSV table with a header; the answers stand beside its columns."""
    served = service.models.get(name)
    rows = await run_in_threadpool(_table_rows, await request.body())
    answers = await served.classify(_given(service, served, rows), top=1, abstain=abstain)
    content = await run_in_threadpool(_with_answers, rows, answers)
    return Response(
        content, media_type="text/csv; charset=utf-8", headers=attached("answers.csv")
    )


@router.post("/{name}/explain")
async def explain(
    name: ModelName, body: schemas.ExplainIn, person: Asker, service: TheService
) -> schemas.ExplainedOut:
    """Explain the categories of a text by its words."""
    served = service.models.get(name)
    (given,) = _given(service, served, [body.text])
    found = await served.explain(given, categories=body.categories, top=body.top)
    return schemas.ExplainedOut.model_validate({**found.as_dict(), "version": served.version})


@router.post("/{name}/corrections", status_code=201)
async def correct(
    name: ModelName, body: schemas.CorrectionIn, person: Reviewer, service: TheService
) -> schemas.CorrectedOut:
    """Keep the right categories of a text, as a label for the next fit."""
    served = service.models.get(name)
    _given(service, served, [body.text])
    if len(body.categories) > 1 and not served.classifier.multilabel_:
        raise DataError("this model gives one category to a text")
    keep = partial(
        operations.correct,
        name=name,
        version=served.version,
        row=body.text,
        categories=body.categories,
    )
    return schemas.CorrectedOut(event=await service.do(person, keep))


@router.get(
    "/{name}/corrections.csv",
    response_class=StreamingResponse,
    responses=file_answer("text/csv"),
    dependencies=[NOTED],
)
def export_corrections(
    name: ModelName, person: Reader, service: TheService
) -> StreamingResponse:
    """Export the corrections as a table for `bayesift fit`, the categories in a column."""
    with service.store.reading() as read:
        operations.versions(read, name)
        events = read.corrections(name)
    rows = []
    for event in events:
        payload = event.payload
        given = dict(payload["row"])
        given[_CATEGORIES] = _SEPARATOR.join(payload["categories"])
        rows.append({**given, "user": event.user, "at": event.at})
    return StreamingResponse(
        csv_lines(_columns(rows), rows),
        media_type="text/csv; charset=utf-8",
        headers=attached(f"{name}-corrections.csv"),
    )


@router.get("/{name}/card", response_class=Response, responses=file_answer("text/html"))
def card(
    name: ModelName,
    person: Reader,
    service: TheService,
    form: Literal["html", "md"] = "html",
) -> Response:
    """Download the model card: quality to expect, calibration, words, limits."""
    made = model_card(service.models.get(name).classifier)
    content = made.to_html() if form == "html" else made.to_markdown()
    kind = "text/html" if form == "html" else "text/markdown"
    return Response(
        content, media_type=f"{kind}; charset=utf-8", headers=attached(f"{name}-card.{form}")
    )


@metrics.get("", response_class=Response)
def show_metrics(person: Reader, service: TheService) -> Response:
    """Report the metrics of all models in the text format of Prometheus.

    They name models and categories, so that they need a token, unlike `/metrics`.
    """
    registry = CollectorRegistry()
    registry.register(_Collector({name: served.watch for name, served in service.models}))
    return Response(
        generate_latest(registry), media_type="text/plain; version=0.0.4; charset=utf-8"
    )


class _Collector:
    """Gives the metrics of models to a registry."""

    def __init__(self, watches: dict[str, ModelWatch]) -> None:
        self._watches = watches

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield from model_metrics(self._watches)


def _given(service: Service, served: ServedModel, rows: Sequence[Any]) -> list[Given]:
    """Return texts as the model takes them; an error names the first that is wrong."""
    found = []
    for number, row in enumerate(rows):
        try:
            given = served.given(row)
        except DataError as error:
            raise DataError(f"text {number}: {error.message}") from error
        if len(given.text) > service.settings.max_text:
            raise TooLargeError(
                f"text {number} has more than the {service.settings.max_text:,} characters allowed"
            )
        found.append(given)
    return found


def _answered(answer: Answer) -> schemas.AnsweredOut:
    scores = [schemas.ScoreOut(category=name, score=score) for name, score in answer.scores]
    return schemas.AnsweredOut(
        categories=answer.categories,
        scores=scores,
        unsure=answer.unsure,
        unseen=answer.unseen,
    )


def _shown(service: Service, row: ModelRow, n_corrections: int) -> schemas.ModelOut:
    shown: dict[str, Any] = {
        "name": row.name,
        "version": row.version,
        "at": row.at,
        "user": row.user,
        "n_corrections": n_corrections,
        "categories": [],
        "multilabel": False,
        "fields": [],
        "quality": None,
        "use": None,
        "trouble": None,
    }
    try:
        served = service.models.get(row.name)
    except (NotFoundError, UnavailableError) as error:
        return schemas.ModelOut(**{**shown, "trouble": str(error)})
    classifier = served.classifier
    quality = classifier.expected_quality_
    watch = served.watch
    drift = watch.drift()
    use = schemas.UseOut(
        n_requests=watch.n_requests,
        n_texts=watch.n_texts,
        n_unsure=watch.n_unsure,
        seconds=watch.seconds,
        categories=dict(watch.categories.most_common()),
        drift=None if drift is None else schemas.DriftOut.model_validate(drift),
    )
    shown |= {
        "categories": list(classifier.categories_),
        "multilabel": classifier.multilabel_,
        "fields": [*served.text_columns, *served.other_columns],
        "quality": None if quality is None else str(quality),
        "use": use,
    }
    return schemas.ModelOut(**shown)


def _table_rows(content: bytes) -> list[dict[str, str]]:
    """Read a CSV table with a header."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("the table is not UTF-8") from None
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        rows = []
        for number, row in enumerate(reader, 1):
            if number > _MAX_ROWS:
                raise TooLargeError(f"the table has more than the {_MAX_ROWS:,} rows allowed")
            if None in row or None in row.values():
                raise DataError(
                    f"row {number} of the table has not as many cells as the header"
                )
            rows.append(row)
    except csv.Error as error:
        raise DataError(f"the table cannot be read ({error})") from error
    return rows


def _with_answers(rows: Sequence[dict[str, str]], answers: Sequence[Answer]) -> str:
    answered = []
    for row, answer in zip(rows, answers, strict=True):
        category, score = answer.scores[0]
        found = {
            _CATEGORIES: _SEPARATOR.join(answer.categories),
            "likeliest": category,
            "score": f"{score:.6g}",
            "unsure": answer.unsure or "",
        }
        answered.append({**row, **found})
    return "".join(csv_lines(_columns(answered), answered))


def _columns(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the columns of rows, which may have different ones."""
    return list(dict.fromkeys(name for row in rows for name in row))
