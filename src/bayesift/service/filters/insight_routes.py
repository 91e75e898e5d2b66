"""Routes that show what a filter has learned: words, topics, and how many documents are left."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query

from bayesift.service.access.callers import Reader, Reviewer
from bayesift.service.filters import operations, schemas
from bayesift.service.filters.insight import stopping_estimate, topics_of
from bayesift.service.filters.schemas import FilterName, Limit
from bayesift.service.filters.scoring import strongest_terms
from bayesift.service.live import now
from bayesift.service.runtime import Service, TheService
from bayesift.service.schemas import WordWeightOut

words = APIRouter(prefix="/api/filters/{name}", tags=["words"])
insight = APIRouter(prefix="/api/filters/{name}", tags=["insight"])

_MAX_TEXTS = 100  # judged documents in which readable words are sought


@words.get("/words")
def taught_words(
    name: FilterName, person: Reader, service: TheService
) -> list[schemas.TaughtOut]:
    """List the taught words, newest first."""
    with service.stored_filter(name) as (read, _):
        return [schemas.TaughtOut.model_validate(row) for row in read.words(name)]


@words.post("/words")
async def teach(
    name: FilterName, body: schemas.WordIn, person: Reviewer, service: TheService
) -> schemas.TaughtOut:
    """Give a word a weight; judgements, earlier and later ones, can overrule it."""
    word = schemas.plain(body.word)
    row = await service.do(
        person, lambda unit: operations.teach(unit, name, word, body.strength)
    )
    if row is None:
        return schemas.TaughtOut(word=word, strength=0.0, user=person.name, at=now())
    return schemas.TaughtOut.model_validate(row)


@words.get("/terms")
def terms(
    name: FilterName, person: Reader, service: TheService, limit: Limit = 20
) -> schemas.TermsOut:
    """List the words with the largest weights for and against relevance."""
    with service.engine_filter(name) as (engine, profile):
        parts = strongest_terms(profile, limit)
        stems = [engine.space.words_of(part) for part in parts]
    readable = _readable(service, name, [*stems[0], *stems[1]])
    sides = []
    for side, part in zip(stems, parts, strict=True):
        shown = [readable[stem] for stem in side]
        weights = zip(shown, part.values(), strict=True)
        sides.append([WordWeightOut(word=word, weight=w, forms=[word]) for word, w in weights])
    return schemas.TermsOut(speak_for=sides[0], against=sides[1])


@insight.get("/stopping")
async def stopping(
    name: FilterName,
    person: Reader,
    service: TheService,
    recall: Annotated[schemas.Share, Query()] = 0.95,
) -> schemas.StoppingOut:
    """Estimate how many relevant documents are left among those the filter has seen."""
    compute = partial(stopping_estimate, service, name, recall)
    return await service.share(("stopping", name, recall), compute)


@insight.get("/topics")
async def topics(
    name: FilterName,
    person: Reader,
    service: TheService,
    n: Annotated[int, Query(ge=1, le=30)] = 8,
) -> list[schemas.TopicOut]:
    """Find topics of the retrieved documents."""
    return await service.share(("topics", name, n), partial(topics_of, service, name, n))


def _readable(service: Service, name: str, stems: Iterable[str]) -> dict[str, str]:
    """Find a word for each stem in judged documents, the query and the taught words.

    A stem without a word stands for itself.
    """
    with service.stored_filter(name) as (_, row):
        known = service.insight.readable_words.setdefault((name, row.seq), {})
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
        row = read.filter(name)
        judgements = read.judgements(name, limit=_MAX_TEXTS)
        documents = read.documents(judged.document for judged in judgements)
        taught = [taught.word for taught in read.words(name)]
    definition = {} if row is None else row.definition
    given = [definition.get("query") or "", *(definition.get("words") or {}), *taught]
    return [*given, *(f"{document.title}\n{document.text}" for document in documents.values())]
