"""What people say of words, and what the profile has learned of them."""

from __future__ import annotations

from fastapi import APIRouter

from bayesift.service.access import Reader, Reviewer, TheService
from bayesift.service.errors import NotFoundError
from bayesift.service.explaining import strongest_terms
from bayesift.service.live import now
from bayesift.service.operations import words as operations
from bayesift.service.parameters import Limit, ProfileName
from bayesift.service.readable import readable
from bayesift.service.schemas import TaughtOut, TermsOut, WordIn, WordWeight, plain

router = APIRouter(prefix="/api/profiles/{name}", tags=["words"])


@router.get("/words")
def taught_words(name: ProfileName, person: Reader, service: TheService) -> list[TaughtOut]:
    """Words that were taught, newest first."""
    with service.store.reading() as read:
        if read.profile(name) is None:
            raise NotFoundError(f"no profile {name!r}")
        return [TaughtOut(word=w.word, strength=w.strength, user=w.user, at=w.at) for w in read.words(name)]


@router.post("/words")
async def teach(name: ProfileName, body: WordIn, person: Reviewer, service: TheService) -> TaughtOut:
    """Say what a word is worth; judgements, earlier and later ones, can overrule it."""
    word = plain(body.word)
    row = await service.do(person, lambda turn: operations.teach(turn, name, word, body.strength))
    at = now() if row is None else row.at
    return TaughtOut(word=word, strength=0.0 if row is None else row.strength, user=person.name, at=at)


@router.get("/terms")
def terms(name: ProfileName, person: Reader, service: TheService, limit: Limit = 20) -> TermsOut:
    """The words that speak most for and against."""
    with service.profile(name) as (engine, profile):
        parts = strongest_terms(profile, limit)
        stems = [dict(zip(engine.space.words_of(part), part.values(), strict=True)) for part in parts]
    words = readable(service, name, [stem for part in stems for stem in part])
    speak_for, against = (
        [WordWeight(word=words[stem], weight=weight, forms=[words[stem]]) for stem, weight in part.items()]
        for part in stems
    )
    return TermsOut(speak_for=speak_for, against=against)
