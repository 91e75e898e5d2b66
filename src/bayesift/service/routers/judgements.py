"""The review queue, judgements, and where people disagree."""

from __future__ import annotations

from fastapi import APIRouter

from bayesift.service.access import Reader, Reviewer, TheService
from bayesift.service.errors import NotFoundError
from bayesift.service.operations import judgements as operations
from bayesift.service.parameters import DocumentName, Limit, ProfileName
from bayesift.service.reviewing import explained, waiting_documents
from bayesift.service.schemas import (
    ConflictOut,
    ExplanationOut,
    JudgedOut,
    JudgementEntry,
    JudgementIn,
    JudgementOut,
    TitleOut,
    UndoneOut,
)
from bayesift.stores import JudgementRow

router = APIRouter(prefix="/api/profiles/{name}", tags=["judgements"])


@router.get("/queue")
def queue(name: ProfileName, person: Reviewer, service: TheService, limit: Limit = 10) -> list[ExplanationOut]:
    """Documents that wait for a judgement, the most useful first; for some minutes they are this person's."""
    ids = service.leases.take(name, person.name, waiting_documents(service, name), limit)
    return explained(service, name, ids)


@router.get("/documents/{document:path}")
def explain(name: ProfileName, document: DocumentName, person: Reader, service: TheService) -> ExplanationOut:
    """What the profile thinks of a document, and which words say so."""
    found = explained(service, name, [document])
    if not found:
        raise NotFoundError(f"no document {document!r}")
    return found[0]


@router.post("/judgements")
async def judge(name: ProfileName, body: JudgementIn, person: Reviewer, service: TheService) -> JudgementOut:
    """Say whether a document is relevant; the answer comes when it is on the disk."""
    verdict = await service.do(person, lambda turn: operations.judge(turn, name, body.document, body.relevant))
    service.leases.free(name, body.document)
    service.metrics.judgements.labels(str(body.relevant).lower()).inc()
    return JudgementOut(
        document=body.document,
        relevant=body.relevant,
        user=verdict.row.user,
        at=verdict.row.at,
        conflict=verdict.conflict,
    )


@router.delete("/judgements/{document:path}")
async def undo(name: ProfileName, document: DocumentName, person: Reviewer, service: TheService) -> UndoneOut:
    """Take back what you said of a document: it is as if you had not said it."""
    left = await service.do(person, lambda turn: operations.take_back(turn, name, document))
    service.metrics.undone.inc()
    return UndoneOut(document=document, judgements=[_entry(row) for row in left])


@router.get("/judgements")
def list_judgements(name: ProfileName, person: Reader, service: TheService, limit: Limit = 100) -> list[JudgedOut]:
    """What people said, newest first."""
    with service.store.reading() as read:
        _check(read.profile(name), name)
        rows = read.judgements(name, limit=limit)
        documents = read.documents(row.document for row in rows)
        conflicts = set(read.conflicts(name).get(name, ()))
    return [
        JudgedOut(
            document=row.document,
            relevant=row.relevant,
            user=row.user,
            at=row.at,
            conflict=row.document in conflicts,
            title=documents[row.document].title,
        )
        for row in rows
    ]


@router.get("/conflicts")
def list_conflicts(name: ProfileName, person: Reader, service: TheService) -> list[ConflictOut]:
    """Documents that people judge differently; the newest judgement is the one that is learned."""
    with service.store.reading() as read:
        _check(read.profile(name), name)
        ids = read.conflicts(name).get(name, [])
        documents, rows = read.documents(ids), read.judgements(name, ids)
    return [
        ConflictOut(
            document=TitleOut(id=document, title=documents[document].title),
            judgements=[_entry(row) for row in rows if row.document == document],
        )
        for document in ids
    ]


def _entry(row: JudgementRow) -> JudgementEntry:
    return JudgementEntry(user=row.user, relevant=row.relevant, at=row.at)


def _check(found: object, name: str) -> None:
    if found is None:
        raise NotFoundError(f"no profile {name!r}")
