"""Routes of the review queue, judgements and conflicts."""

from __future__ import annotations

from fastapi import APIRouter

from bayesift.service import operations, schemas
from bayesift.service.access import Reader, Reviewer
from bayesift.service.db.tables import JudgementRow, column_values
from bayesift.service.errors import NotFoundError
from bayesift.service.reviewing import explained, waiting_documents
from bayesift.service.runtime import TheService
from bayesift.service.schemas import DocumentName, Limit, ProfileName

router = APIRouter(prefix="/api/profiles/{name}", tags=["judgements"])


@router.get("/queue")
def queue(
    name: ProfileName, person: Reviewer, service: TheService, limit: Limit = 10
) -> list[schemas.ExplanationOut]:
    """Documents that wait for a judgement, the most useful first.

    Reserved for this person for some minutes.
    """
    ids = service.leases.take(name, person.name, waiting_documents(service, name), limit)
    return explained(service, name, ids)


@router.get("/documents/{document:path}")
def explain(
    name: ProfileName, document: DocumentName, person: Reader, service: TheService
) -> schemas.ExplanationOut:
    """The score of a document under the profile, and the words behind it."""
    found = explained(service, name, [document])
    if not found:
        raise NotFoundError(f"no document {document!r}")
    return found[0]


@router.post("/judgements")
async def judge(
    name: ProfileName, body: schemas.JudgementIn, person: Reviewer, service: TheService
) -> schemas.JudgementOut:
    """Judge a document; answered when the judgement is on disk."""
    judgement = await service.do(
        person, lambda unit: operations.judge(unit, name, body.document, body.relevant)
    )
    service.leases.free(name, body.document)
    service.metrics.judgements.labels(str(body.relevant).lower()).inc()
    return schemas.JudgementOut(**column_values(judgement.row), conflict=judgement.conflict)


@router.delete("/judgements/{document:path}")
async def undo(
    name: ProfileName, document: DocumentName, person: Reviewer, service: TheService
) -> schemas.UndoneOut:
    """Withdraw your judgement of a document, as if it had never been made."""
    left = await service.do(person, lambda unit: operations.take_back(unit, name, document))
    service.metrics.undone.inc()
    return schemas.UndoneOut(document=document, judgements=[_entry(row) for row in left])


@router.get("/judgements")
def list_judgements(
    name: ProfileName, person: Reader, service: TheService, limit: Limit = 100
) -> list[schemas.JudgedOut]:
    """Judgements, newest first."""
    with service.stored_profile(name) as (read, _):
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
    name: ProfileName, person: Reader, service: TheService
) -> list[schemas.ConflictOut]:
    """Documents on which reviewers disagree; the newest judgement is the one learned."""
    with service.stored_profile(name) as (read, _):
        ids = read.conflicts(name).get(name, [])
        documents, rows = read.documents(ids), read.judgements(name, ids)
    return [
        schemas.ConflictOut(
            document=schemas.TitleOut(id=document, title=documents[document].title),
            judgements=[_entry(row) for row in rows if row.document == document],
        )
        for document in ids
    ]


def _entry(row: JudgementRow) -> schemas.JudgementEntry:
    return schemas.JudgementEntry(**column_values(row))
