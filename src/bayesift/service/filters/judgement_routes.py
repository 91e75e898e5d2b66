"""Routes of the queue of a filter, of judgements and of conflicts."""

from __future__ import annotations

from fastapi import APIRouter

from bayesift.service.access.callers import Reader, Reviewer
from bayesift.service.db.tables import column_values
from bayesift.service.errors import NotFoundError
from bayesift.service.filters import operations, schemas
from bayesift.service.filters.schemas import DocumentName, FilterName, JudgementEntry, Limit
from bayesift.service.filters.scoring import explained, waiting_documents
from bayesift.service.runtime import TheService

router = APIRouter(prefix="/api/filters/{name}", tags=["judgements"])


@router.get("/queue")
def queue(
    name: FilterName, person: Reviewer, service: TheService, limit: Limit = 10
) -> list[schemas.ExplanationOut]:
    """List documents that wait for a judgement, the most useful first.

    They are reserved for this person for some minutes.
    """
    ids = service.leases.take(name, person.name, waiting_documents(service, name), limit)
    return explained(service, name, ids)


@router.get("/documents/{document:path}")
def explain(
    name: FilterName, document: DocumentName, person: Reader, service: TheService
) -> schemas.ExplanationOut:
    """Show the score of a document under the filter, and the words behind it."""
    found = explained(service, name, [document])
    if not found:
        raise NotFoundError(f"no document {document!r}")
    return found[0]


@router.post("/judgements")
async def judge(
    name: FilterName, body: schemas.JudgementIn, person: Reviewer, service: TheService
) -> schemas.JudgementOut:
    """Judge a document; answered when the judgement is on disk."""
    row, conflict = await service.do(
        person, lambda unit: operations.judge(unit, name, body.document, body.relevant)
    )
    service.leases.free(name, body.document)
    service.metrics.judgements.labels(str(body.relevant).lower()).inc()
    return schemas.JudgementOut(**column_values(row), conflict=conflict)


@router.delete("/judgements/{document:path}")
async def undo(
    name: FilterName, document: DocumentName, person: Reviewer, service: TheService
) -> schemas.UndoneOut:
    """Withdraw your judgement of a document, as if it had never been made."""
    left = await service.do(person, lambda unit: operations.take_back(unit, name, document))
    service.metrics.undone.inc()
    entries = [JudgementEntry.model_validate(row) for row in left]
    return schemas.UndoneOut(document=document, judgements=entries)


@router.get("/judgements")
def list_judgements(
    name: FilterName, person: Reader, service: TheService, limit: Limit = 100
) -> list[schemas.JudgedOut]:
    """List judgements, newest first."""
    with service.stored_filter(name) as (read, _):
        rows = read.judgements(name, limit=limit)
        documents = read.documents(row.document for row in rows)
        conflicts = set(read.conflicts(name).get(name, ()))
    return [
        schemas.JudgedOut(
            **column_values(row),
            conflict=row.document in conflicts,
            title=documents[row.document].title,
        )
        for row in rows
    ]


@router.get("/conflicts")
def list_conflicts(
    name: FilterName, person: Reader, service: TheService
) -> list[schemas.ConflictOut]:
    """List documents on which reviewers disagree; the newest judgement is the one learned."""
    with service.stored_filter(name) as (read, _):
        ids = read.conflicts(name).get(name, [])
        documents = read.documents(ids)
        rows = read.judgements(name, ids)
    conflicts = []
    for document in ids:
        entries = [
            JudgementEntry.model_validate(row) for row in rows if row.document == document
        ]
        title = schemas.TitleOut.model_validate(documents[document])
        conflicts.append(schemas.ConflictOut(document=title, judgements=entries))
    return conflicts
