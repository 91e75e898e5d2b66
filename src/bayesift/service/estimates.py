"""How many relevant documents are left, of those a profile has seen: `bayesift.filtering.Forecast` on stored texts.

The pool is what the profile saw since it was made: judged documents and the newest of the others, as long as their
texts are kept. Its leading directions are remembered for some seconds, since they cost more than the rest.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np

from bayesift.filtering import Forecast, RemainingRelevant, pool_vectorizer, pool_vectors
from bayesift.service.errors import NotFoundError
from bayesift.service.runtime import Service
from bayesift.service.schemas import StoppingOut
from bayesift.stores import DocumentRow, JudgementRow

POOL = 2_000
_DIRECTIONS = 50
_REMEMBERED = 30.0
_SURE = 0.95
_MASS = 0.9
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class _Pool:
    """Documents with their leading directions, of a profile that began at an event."""

    since: int
    at: float
    places: dict[str, int]
    forecast: Forecast


def stopping_estimate(service: Service, name: str, recall: float) -> StoppingOut:
    """What is left to find, with its spread, and whether it is time to stop."""
    with service.store.reading() as read:
        profile = read.profile(name)
        if profile is None:
            raise NotFoundError(f"no profile {name!r}")
        verdicts = {row.document: row for row in reversed(read.judgements(name))}
        documents = read.newest_documents(POOL, after=profile.seq)
        documents += read.documents(verdicts.keys() - {row.id for row in documents}).values()
    found = sum(row.relevant for row in verdicts.values())
    remaining = None
    if 0 < found < len(verdicts):
        with _ONE_AT_A_TIME:
            pool = _pool(service, name, profile.seq, documents)
            remaining = None if pool is None else _remaining(pool, verdicts, found)
    return _told(remaining, found, recall, len(documents))


def _pool(service: Service, name: str, since: int, documents: list[DocumentRow]) -> _Pool | None:
    known: _Pool | None = service.remembered.get(("pool", name))
    if known is not None and known.since == since and time.monotonic() - known.at < _REMEMBERED:
        return known
    kept = [row for row in documents if not row.purged]
    try:
        X = pool_vectors(pool_vectorizer().fit_transform(f"{row.title}\n{row.text}" for row in kept))
    except ValueError:
        return None  # no words at all, or none that tell documents apart
    forecast = Forecast(X, directions=_DIRECTIONS)
    pool = _Pool(since, time.monotonic(), {row.id: place for place, row in enumerate(kept)}, forecast)
    service.remembered["pool", name] = pool
    return pool


def _remaining(pool: _Pool, verdicts: dict[str, JudgementRow], found: int) -> RemainingRelevant | None:
    labels = np.zeros(len(pool.places))
    for document, row in verdicts.items():
        if document in pool.places:
            labels[pool.places[document]] = 1 if row.relevant else -1
    if not np.any(labels):
        return None
    return RemainingRelevant(pool.forecast.remaining(labels).draws, found)


def _told(remaining: RemainingRelevant | None, found: int, recall: float, pool: int) -> StoppingOut:
    if remaining is None:
        return StoppingOut(
            found=found,
            left=None,
            left_low=None,
            left_high=None,
            recall=recall,
            probability_reached=None,
            stop=False,
            pool=pool,
            sentence=f"{found} found; judge a few relevant and a few other documents to learn how many are left",
        )
    low, high = remaining.interval(_MASS)
    reached = remaining.probability_of_recall(recall)
    spread = round((high - low) / 2)
    return StoppingOut(
        found=found,
        left=remaining.mean,
        left_low=low,
        left_high=high,
        recall=recall,
        probability_reached=reached,
        stop=reached >= _SURE,
        pool=pool,
        sentence=f"about {remaining.mean:.0f} ± {spread} left; "
        f"{100 * recall:.3g}% recall reached with probability {reached:.2f}",
    )
