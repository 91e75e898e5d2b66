"""Routes that show what a profile has learned: words, topics, and how many relevant documents are left."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query

from bayesift.service import operations, schemas
from bayesift.service.access import Reader, Reviewer
from bayesift.service.db.tables import column_values
from bayesift.service.insight import stopping_estimate, topics_of
from bayesift.service.live import now
from bayesift.service.reviewing import strongest_terms
from bayesift.service.runtime import Service, TheService
from bayesift.service.schemas import Limit, ProfileName, WordWeight

words = APIRouter(prefix="/api/profiles/{name}", tags=["words"])
insight = APIRouter(prefix="/api/profiles/{name}", tags=["insight"])

_TEXTS = 100


@words.get("/words")
def taught_words(name: ProfileName, person: Reader, service: TheService) -> list[schemas.TaughtOut]:
    """Taught words, newest first."""
    with service.stored_profile(name) as (read, _):
        return [schemas.TaughtOut(**column_values(row)) for row in read.words(name)]


@words.post("/words")
async def teach(
    name: ProfileName, body: schemas.WordIn, person: Reviewer, service: TheService
) -> schemas.TaughtOut:
    """Give a word a weight; judgements, earlier and later ones, can overrule it."""
    word = schemas.plain(body.word)
    row = await service.do(person, lambda unit: operations.teach(unit, name, word, body.strength))
    at = now() if row is None else row.at
    return schemas.TaughtOut(
        word=word, strength=0.0 if row is None else row.strength, user=person.name, at=at
    )


@words.get("/terms")
def terms(
    name: ProfileName, person: Reader, service: TheService, limit: Limit = 20
) -> schemas.TermsOut:
    """The words with the largest weights for and against relevance."""
    with service.profile(name) as (engine, profile):
        parts = strongest_terms(profile, limit)
        stems = [
            dict(zip(engine.space.words_of(part), part.values(), strict=True)) for part in parts
        ]
    readable = _readable(service, name, [stem for part in stems for stem in part])
    speak_for, against = (
        [
            WordWeight(word=readable[stem], weight=weight, forms=[readable[stem]])
            for stem, weight in part.items()
        ]
        for part in stems
    )
    return schemas.TermsOut(speak_for=speak_for, against=against)


@insight.get("/stopping")
async def stopping(
    name: ProfileName,
    person: Reader,
    service: TheService,
    recall: Annotated[schemas.Share, Query()] = 0.95,
) -> schemas.StoppingOut:
    """Estimate how many relevant documents are left among those the profile has seen."""
    estimate: schemas.StoppingOut = await service.share(
        ("stopping", name, recall), partial(stopping_estimate, service, name, recall)
    )
    return estimate


@insight.get("/topics")
async def topics(
    name: ProfileName,
    person: Reader,
    service: TheService,
    n: Annotated[int, Query(ge=1, le=30)] = 8,
) -> list[schemas.TopicOut]:
    """Topics of the retrieved documents."""
    found: list[schemas.TopicOut] = await service.share(
        ("topics", name, n), partial(topics_of, service, name, n)
    )
    return found


def _readable(service: Service, name: str, stems: Iterable[str]) -> dict[str, str]:
    """A word for each stem, found in the newest judged documents, the query and the taught words.

    Else the stem.
    """
    known: dict[str, str] = service.remembered.setdefault("readable", {})
    wanted = list(stems)
    if any(stem not in known for stem in wanted):
        texts = _texts(service, name)
        with service.live.reading() as engine:
            space = engine.space
        for text in texts:
            for stem, forms in space.forms_of(text).items():
                known.setdefault(stem, forms[0])
    return {stem: known.get(stem, stem) for stem in wanted}


def _texts(service: Service, name: str) -> list[str]:
    with service.store.reading() as read:
        profile = read.profile(name)
        rows = read.judgements(name, limit=_TEXTS)
        documents = read.documents(row.document for row in rows)
        words = [row.word for row in read.words(name)]
    definition = {} if profile is None else profile.definition
    said = [definition.get("query") or "", *(definition.get("words") or {}), *words]
    return [*said, *(f"{row.title}\n{row.text}" for row in documents.values())]
