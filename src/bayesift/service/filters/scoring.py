"""What a person sees of a filter: documents with their scores, and the words behind a score.

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

from bayesift.arrays import FloatArray
from bayesift.filtering import DocumentVector, Profile, VectorSpace
from bayesift.filtering.profile import restricted
from bayesift.filtering.vectors import stacked
from bayesift.service.db.tables import DocumentRow
from bayesift.service.filters import event_log
from bayesift.service.filters.schemas import DocumentOut, ExplanationOut, JudgementEntry
from bayesift.service.runtime import Service
from bayesift.service.schemas import WordWeightOut

_MAX_WORDS = 40
_MIN_WAITING = 100  # documents of a queue, as long as so many were retrieved and not judged
_MAX_CHARACTERS = 100_000  # of a text that is explained
_SPREAD = (
    1.6448536269514722  # standard deviations within which 90% of a normal distribution lie
)


def waiting_documents(service: Service, name: str) -> list[str]:
    """Return the documents that wait for a judgement, the most useful first.

    When few of those in memory are left, older ones follow that the filter has let go.
    """
    with service.engine_filter(name) as (engine, profile):
        pending = list(profile.pending.values())
        has_more = profile.counters.retrieved > profile.settings.max_pending
        utility = np.zeros(0)
        if pending:
            utility = score(profile, pending, len(engine.space)).utility
    ids = [pending[index].id for index in np.argsort(-utility, kind="stable")]
    if has_more and len(ids) < _MIN_WAITING:
        with service.stored_filter(name) as (read, row):
            older = read.unjudged(name, after=row.seq, limit=_MIN_WAITING)
        ids = list(dict.fromkeys([*ids, *older]))
    return ids


def explained(service: Service, name: str, ids: Sequence[str]) -> list[ExplanationOut]:
    """Return documents with their scores under a filter; unknown ids are left out."""
    with service.store.reading() as read:
        rows = read.documents(ids)
        found = [rows[id_] for id_ in ids if id_ in rows]
        arrivals = read.arrivals(row.id for row in found)
        filter_row = read.filter(name)
        reasons = {}
        if filter_row is not None:
            for event in read.events_about(
                ids, after=filter_row.seq, filter_name=name, kind=event_log.RETRIEVED
            ):
                reasons[event.document] = event.payload["why"]
        judgements: dict[str, list[JudgementEntry]] = {}
        for judged in read.judgements(name, ids):
            entry = JudgementEntry.model_validate(judged)
            judgements.setdefault(judged.document, []).append(entry)
    explanations = []
    for row, scores in zip(found, _scored(service, name, found, arrivals), strict=True):
        document = DocumentOut(id=row.id, title=row.title, text=row.text, purged=row.purged)
        explanations.append(
            ExplanationOut(
                document=document,
                why=reasons.get(row.id),
                judgements=judgements.get(row.id, []),
                **scores,
            )
        )
    return explanations


def _scored(
    service: Service,
    name: str,
    rows: Sequence[DocumentRow],
    arrivals: dict[str, dict[str, Any]],
) -> list[dict[str, Any]]:
    """Return the probabilities and words of documents."""
    # Words far down a long text change little; without a limit one request could take many seconds.
    rows = [replace(row, text=row.text[:_MAX_CHARACTERS]) for row in rows]
    with service.engine_filter(name) as (engine, profile):
        space = engine.space
        vectors = []
        for row in rows:
            vector = profile.pending.get(row.id)
            if vector is None:
                vector = event_log.known_vector(row, arrivals[row.id], space)
            vectors.append(vector)
        if not vectors:
            return []
        scores = score(profile, vectors, len(space))
        added = [contributions(profile, vector) for vector in vectors]
    found = []
    for index, row in enumerate(rows):
        strongest = dict(list(added[index].items())[:_MAX_WORDS])
        found.append(
            {
                "probability": float(scores.probability[index]),
                "low": float(scores.low[index]),
                "high": float(scores.high[index]),
                "gain": float(scores.gain[index]),
                "words": word_weights(space, strongest, f"{row.title}\n{row.text}"),
            }
        )
    return found


@dataclass(frozen=True)
class DocumentScores:
    """Probabilities of relevance with their spread, and expected information gain in bits."""

    probability: FloatArray
    low: FloatArray
    high: FloatArray
    gain: FloatArray

    @property
    def utility(self) -> FloatArray:
        """The value of a judgement: probability of relevance plus the bits that its label gives."""
        return self.probability + self.gain


def score(
    profile: Profile, vectors: Sequence[DocumentVector], n_columns: int
) -> DocumentScores:
    """Score documents under a filter."""
    rows = stacked(vectors, n_columns)
    means, variances = profile.posterior.fields(restricted(rows, profile.lookup))
    noise = profile.likelihood
    distance = _SPREAD * np.sqrt(variances)
    probability = profile.probabilities(rows)
    return DocumentScores(
        probability,
        np.minimum(noise.predictive(means - distance, variances), probability),
        np.maximum(noise.predictive(means + distance, variances), probability),
        noise.expected_information_gain(means, variances, kind="exact"),
    )


def contributions(profile: Profile, vector: DocumentVector) -> dict[int, float]:
    """Return what each word of a document adds to its mean score, by column; the largest first."""
    in_lookup = vector.columns < len(profile.lookup)
    columns = vector.columns[in_lookup]
    local = profile.lookup[columns]
    kept = local >= 0
    columns = columns[kept]
    added = profile.posterior.mean()[local[kept]] * vector.weights[in_lookup][kept]
    order = np.argsort(-np.abs(added), kind="stable")
    return {int(columns[index]): float(added[index]) for index in order if added[index]}


def word_weights(space: VectorSpace, added: dict[int, float], text: str) -> list[WordWeightOut]:
    """Return contributions with the words as they stand in a text."""
    forms = space.forms_of(text)
    return [
        WordWeightOut(word=forms.get(term, [term])[0], weight=weight, forms=forms.get(term, []))
        for term, weight in zip(space.words_of(added), added.values(), strict=True)
    ]


def strongest_terms(profile: Profile, limit: int) -> tuple[dict[int, float], dict[int, float]]:
    """Return the words with the largest mean weights for and against, by column."""
    means = profile.posterior.mean()[1:]
    order = np.argsort(-means, kind="stable")
    speak_for = {int(profile.terms[i]): float(means[i]) for i in order[:limit] if means[i] > 0}
    against = {
        int(profile.terms[i]): float(means[i]) for i in order[::-1][:limit] if means[i] < 0
    }
    return speak_for, against
