"""Stems as people read them: the word they stand for in the documents of a profile."""

from __future__ import annotations

from collections.abc import Iterable

from bayesift.service.runtime import Service

_TEXTS = 100


def readable(service: Service, name: str, stems: Iterable[str]) -> dict[str, str]:
    """A word for each stem, from the newest judged documents, the query and words that were taught; else the stem."""
    known: dict[str, str] = service.remembered.setdefault("readable", {})
    wanted = list(stems)
    if any(stem not in known for stem in wanted):
        space = service.live.engine.space
        for text in _texts(service, name):
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
