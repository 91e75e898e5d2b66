"""What a reviewer sees: documents with their scores, the words behind a score, judgements.

A document's score is normal, N(m, s^2), under the posterior of the weights, and with flip noise the
probability of relevance is kappa + (1 - 2 kappa) Phi(m / s). `low` and `high` are that probability
where the score lies 1.645 standard deviations lower or higher: close together when the words of the
document are well known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.filtering import DocumentVector, Profile, VectorSpace
from bayesift.filtering.profile import restricted
from bayesift.filtering.vectors import stacked
from bayesift.service import event_log
from bayesift.service.db.tables import DocumentRow
from bayesift.service.runtime import Service
from bayesift.service.schemas import DocumentOut, ExplanationOut, JudgementEntry, WordWeight

_MAX_WORDS = 40
_MAX_TEXT = 100_000  # characters that are looked at for an explanation
_SPREAD = 1.6448536269514722  # 90% of a normal distribution lie within


def waiting_documents(service: Service, name: str) -> list[str]:
    """The documents that wait for a judgement, the most useful first."""
    with service.profile(name) as (engine, profile):
        pending = list(profile.pending.values())
        if not pending:
            return []
        utility = score(profile, pending, len(engine.space)).utility
    return [pending[place].id for place in np.argsort(-utility, kind="stable")]


def explained(service: Service, name: str, ids: Sequence[str]) -> list[ExplanationOut]:
    """Documents with their scores under a profile; unknown ids are left out."""
    with service.store.reading() as read:
        rows = read.documents(ids)
        found = [rows[id_] for id_ in ids if id_ in rows]
        arrivals = read.arrivals(row.id for row in found)
        profile = read.profile(name)
        retrieved = (
            []
            if profile is None
            else read.events_about(ids, after=profile.seq, profile=name, kind=event_log.RETRIEVED)
        )
        judgements: dict[str, list[JudgementEntry]] = {}
        for row in read.judgements(name, ids):
            entry = JudgementEntry(user=row.user, relevant=row.relevant, at=row.at)
            judgements.setdefault(row.document, []).append(entry)
    # Words far down a long text change little; without a limit one request could take many seconds.
    found = [replace(row, text=row.text[:_MAX_TEXT]) for row in found]
    whole = {id_: row.text for id_, row in rows.items()}
    reasons = {row.document: row.payload["why"] for row in retrieved}
    scored = _scored(service, name, found, arrivals)
    return [
        ExplanationOut(
            document=DocumentOut(id=row.id, title=row.title, text=whole[row.id], purged=row.purged),
            why=reasons.get(row.id),
            judgements=judgements.get(row.id, []),
            **scores,
        )
        for row, scores in zip(found, scored, strict=True)
    ]


def _scored(
    service: Service, name: str, rows: Sequence[DocumentRow], arrivals: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Probabilities and words of documents."""
    with service.profile(name) as (engine, profile):
        space = engine.space
        vectors = []
        for row in rows:
            pending = profile.pending.get(row.id)
            vectors.append(
                event_log.known_vector(row, arrivals[row.id], space) if pending is None else pending
            )
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
            "words": word_weights(
                space, dict(list(added[place].items())[:_MAX_WORDS]), f"{row.title}\n{row.text}"
            ),
        }
        for place, row in enumerate(rows)
    ]


@dataclass(frozen=True)
class Scores:
    """Of documents under a profile: probability of relevance, its spread, and expected information gain (bits)."""

    probability: Array
    low: Array
    high: Array
    gain: Array

    @property
    def utility(self) -> Array:
        """The value of judging a document: its probability of relevance plus the bits its label gives."""
        utility: Array = self.probability + self.gain
        return utility


def score(profile: Profile, vectors: Sequence[DocumentVector], n_columns: int) -> Scores:
    """Score documents."""
    rows = stacked(vectors, n_columns)
    means, variances = profile.posterior.fields(restricted(rows, profile.lookup))
    noise = profile.likelihood
    away = _SPREAD * np.sqrt(variances)
    gains = noise.expected_information_gain(means, variances, kind="exact")
    low, high = noise.predictive(means - away, variances), noise.predictive(means + away, variances)
    probabilities = profile.probabilities(rows)
    return Scores(
        probabilities, np.minimum(low, probabilities), np.maximum(high, probabilities), gains
    )


def contributions(profile: Profile, vector: DocumentVector) -> dict[int, float]:
    """What each word of a document adds to its mean score, by column; the largest first."""
    in_lookup = vector.columns < len(profile.lookup)
    known, weights = vector.columns[in_lookup], vector.weights[in_lookup]
    local = profile.lookup[known]
    kept = local >= 0
    added = profile.posterior.mean()[local[kept]] * weights[kept]
    order = np.argsort(-np.abs(added), kind="stable")
    return {int(known[kept][place]): float(added[place]) for place in order if added[place]}


def word_weights(space: VectorSpace, added: dict[int, float], text: str) -> list[WordWeight]:
    """Contributions with the words as they stand in a text."""
    forms = space.forms_of(text)
    return [
        WordWeight(word=forms.get(term, [term])[0], weight=weight, forms=forms.get(term, []))
        for term, weight in zip(space.words_of(added), added.values(), strict=True)
    ]


def strongest_terms(profile: Profile, limit: int) -> tuple[dict[int, float], dict[int, float]]:
    """The words with the largest mean weights for and against, by column."""
    means = profile.posterior.mean()[1:]
    order = np.argsort(-means, kind="stable")
    speak_for = {int(profile.terms[i]): float(means[i]) for i in order[:limit] if means[i] > 0}
    against = {int(profile.terms[i]): float(means[i]) for i in order[::-1][:limit] if means[i] < 0}
    return speak_for, against
