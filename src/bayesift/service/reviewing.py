"""What a reviewer sees of documents: texts, chances, words that spoke, judgements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesift.filtering import DocumentVector
from bayesift.service import kinds
from bayesift.service.explaining import contributions, score, spoken_words
from bayesift.service.ledger import known_vector
from bayesift.service.runtime import Service
from bayesift.service.schemas import DocumentOut, ExplanationOut, JudgementEntry, WordWeight
from bayesift.stores import DocumentRow, Reading

_WORDS = 40


def waiting_documents(service: Service, name: str) -> list[str]:
    """The documents that wait for a judgement, the most useful first."""
    with service.profile(name) as (engine, profile):
        pending = list(profile.pending.values())
        if not pending:
            return []
        worth = score(profile, pending, len(engine.space)).worth
    return [pending[place].id for place in np.argsort(-worth, kind="stable")]


def explained(service: Service, name: str, ids: Sequence[str]) -> list[ExplanationOut]:
    """Documents with what the profile thinks of them; those that never arrived are left out."""
    with service.store.reading() as read:
        rows = read.documents(ids)
        found = [rows[id_] for id_ in ids if id_ in rows]
        arrivals = read.arrivals(row.id for row in found)
        reasons = _reasons(read, name, ids)
        said: dict[str, list[JudgementEntry]] = {}
        for row in read.judgements(name, ids):
            said.setdefault(row.document, []).append(JudgementEntry(user=row.user, relevant=row.relevant, at=row.at))
    thoughts = _thoughts(service, name, found, arrivals)
    return [
        ExplanationOut(
            document=DocumentOut(id=row.id, title=row.title, text=row.text, purged=row.purged),
            why=reasons.get(row.id),
            judgements=said.get(row.id, []),
            **thought,
        )
        for row, thought in zip(found, thoughts, strict=True)
    ]


def _reasons(read: Reading, name: str, ids: Sequence[str]) -> dict[str, Any]:
    """Why the profile retrieved documents."""
    profile = read.profile(name)
    if profile is None:
        return {}
    rows = read.events_about(ids, after=profile.seq, profile=name, kind=kinds.RETRIEVED)
    return {row.document: row.payload["why"] for row in rows if row.document is not None}


def _thoughts(
    service: Service, name: str, rows: Sequence[DocumentRow], arrivals: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Chances and words of documents."""
    with service.profile(name) as (engine, profile):
        space = engine.space
        vectors: list[DocumentVector] = []
        for row in rows:
            waiting = profile.pending.get(row.id)
            vectors.append(known_vector(row, arrivals[row.id], space) if waiting is None else waiting)
        if not vectors:
            return []
        scores = score(profile, vectors, len(space))
        added = [contributions(profile, vector) for vector in vectors]
    return [
        {
            "probability": float(scores.probability[place]),
            "low": float(scores.low[place]),
            "high": float(scores.high[place]),
            "gain": float(scores.gain[place]),
            "words": [
                WordWeight(**word)
                for word in spoken_words(space, dict(list(added[place].items())[:_WORDS]), f"{row.title}\n{row.text}")
            ],
        }
        for place, row in enumerate(rows)
    ]
