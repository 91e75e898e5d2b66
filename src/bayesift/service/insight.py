"""What the documents of a profile tell: how many relevant ones are left, and their topics.

The pool of the estimate (`bayesift.screening.Forecast`) is what people can reach: judged documents
and the newest that the profile retrieved, as long as their texts are kept. Nothing is said before
ten finds, nor before three quarters of the pool are judged: elsewhere the intervals do not hold.
Its leading directions are cached for some seconds, because they cost more than the rest. Topics are
those of a sparse non-negative matrix factorisation.
"""

from __future__ import annotations

import math
import threading
import time
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bayesift.models.topics import SparseNMF
from bayesift.screening import Forecast, RemainingRelevant, pool_vectorizer, pool_vectors
from bayesift.screening.stopping.decay import LEAST_FINDS
from bayesift.service import event_log
from bayesift.service.db.tables import DocumentRow, JudgementRow
from bayesift.service.runtime import Service
from bayesift.service.schemas import StoppingOut, TitleOut, TopicOut
from bayesift.text import TermVectorizer

_POOL_SIZE = 2_000
_DIRECTIONS = 50
_CACHED_SECONDS = 30.0
_CONFIDENCE = 0.95
_INTERVAL = 0.95
_LEAST_JUDGED = (
    0.75  # of the pool; with fewer judged the interval is too narrow (benchmarks/gauge.py)
)
_POOL_LOCK = threading.Lock()
_NEWEST = 2_000
_WORDS = 10
_EXAMPLES = 3
_MAX_ITER = 200
_TOPIC_LOCK = threading.Lock()


@dataclass(frozen=True)
class _Pool:
    """Documents of a profile that was created by event `since`, with the forecast of their vectors."""

    since: int
    at: float
    places: dict[str, int]
    forecast: Forecast


def stopping_estimate(service: Service, name: str, recall: float) -> StoppingOut:
    """The estimated number of relevant documents that are left, and whether the recall is reached."""
    with service.stored_profile(name) as (read, profile):
        judgements = {row.document: row for row in reversed(read.judgements(name))}
        retrieved = read.events(
            profile.seq,
            profile=name,
            kinds=(event_log.RETRIEVED,),
            limit=_POOL_SIZE,
            newest_first=True,
        )
        names = dict.fromkeys([*(str(row.document) for row in retrieved), *judgements])
        documents = list(read.documents(names).values())
    found = sum(row.relevant for row in judgements.values())
    remaining, reason = None, too_early(found, len(judgements), len(documents))
    if not reason:
        with _POOL_LOCK:
            pool = _pool(service, name, profile.seq, documents)
            remaining = None if pool is None else _remaining(pool, judgements, found)
            reason = "" if remaining is not None else "the texts do not tell documents apart"
    return _estimate(remaining, reason, found, recall, len(documents))


def too_early(found: int, n_judged: int, n_documents: int) -> str:
    """Why an interval would not hold; empty if it would."""
    if found < LEAST_FINDS:
        return f"{found} of {LEAST_FINDS} relevant documents found"
    if found == n_judged:
        return "nothing is judged as not relevant"
    wanted = math.ceil(_LEAST_JUDGED * n_documents)
    if n_judged < wanted:
        return f"{n_judged:,} of {n_documents:,} retrieved documents are judged, and {wanted:,} are needed"
    return ""


def _pool(service: Service, name: str, since: int, documents: list[DocumentRow]) -> _Pool | None:
    known: _Pool | None = service.remembered.get(("pool", name))
    if known is not None and known.since == since and time.monotonic() - known.at < _CACHED_SECONDS:
        return known
    kept = [row for row in documents if not row.purged]
    try:
        X = pool_vectors(
            pool_vectorizer().fit_transform(f"{row.title}\n{row.text}" for row in kept)
        )
    except ValueError:
        return None  # no words at all, or none that differ between documents
    forecast = Forecast(X, directions=_DIRECTIONS)
    pool = _Pool(
        since, time.monotonic(), {row.id: place for place, row in enumerate(kept)}, forecast
    )
    service.remembered["pool", name] = pool
    return pool


def _remaining(
    pool: _Pool, judgements: dict[str, JudgementRow], found: int
) -> RemainingRelevant | None:
    labels = np.zeros(len(pool.places))
    for document, row in judgements.items():
        if document in pool.places:
            labels[pool.places[document]] = 1 if row.relevant else -1
    if not np.any(labels):
        return None
    return RemainingRelevant(pool.forecast.remaining(labels).draws, found)


def _estimate(
    remaining: RemainingRelevant | None, reason: str, found: int, recall: float, pool: int
) -> StoppingOut:
    left = low = high = reached = None
    sentence = f"cannot tell yet how many are left: {reason}"
    if remaining is not None:
        left, (low, high) = remaining.mean, remaining.interval(_INTERVAL)
        reached = remaining.probability_of_recall(recall)
        number = f"{low:,} to {high:,}" if low < high else f"{low:,}"
        sentence = f"{number} relevant left among those retrieved (expected {left:.1f}); "
        sentence += f"{100 * recall:.3g}% of them found with probability {reached:.2f}"
    return StoppingOut(
        found=found,
        left=left,
        left_low=low,
        left_high=high,
        recall=recall,
        probability_reached=reached,
        stop=reached is not None and reached >= _CONFIDENCE,
        pool=pool,
        sentence=sentence,
    )


@dataclass(frozen=True)
class _Topic:
    """Words, and the documents of which this is the main topic, the clearest first."""

    words: list[str]
    documents: list[DocumentRow]


def topics_of(service: Service, name: str, n: int) -> list[TopicOut]:
    """Topics of the newest retrieved documents whose texts are kept, the largest first."""
    with service.stored_profile(name) as (read, profile):
        newest = read.events(
            profile.seq,
            profile=name,
            kinds=(event_log.RETRIEVED,),
            limit=_NEWEST,
            newest_first=True,
        )
        rows = read.documents(str(row.document) for row in newest)
        relevant = {row.document for row in read.judgements(name) if row.relevant}
    documents = sorted((row for row in rows.values() if not row.purged), key=lambda row: row.seq)
    moment = (profile.seq, len(documents), documents[-1].seq if documents else 0)
    with _TOPIC_LOCK:
        known = service.remembered.get(("topics", name, n))
        if known is None or known[0] != moment:
            known = moment, _topics(documents, n)
            service.remembered["topics", name, n] = known
    return [
        TopicOut(
            words=topic.words,
            documents=len(topic.documents),
            relevant=sum(row.id in relevant for row in topic.documents),
            examples=[TitleOut(id=row.id, title=row.title) for row in topic.documents[:_EXAMPLES]],
        )
        for topic in known[1]
    ]


def _topics(documents: list[DocumentRow], n: int) -> list[_Topic]:
    vectorizer = TermVectorizer(
        weighting="log-tf", stop_words="english", min_df=min(2, len(documents)), cosine=True
    )
    try:
        X = vectorizer.fit_transform(f"{row.title}\n{row.text}" for row in documents)
    except ValueError:
        return []  # no words, or none that two documents share
    model = SparseNMF(
        n_components=min(n, *X.shape), importance="uniform", alpha=0.0, max_iter=_MAX_ITER
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    codes = model.transform(X)
    main, clear = codes.argmax(axis=1), codes.max(axis=1)
    words = model.topic_words(vectorizer.get_feature_names_out().tolist(), k=_WORDS)
    found = []
    for topic, named in enumerate(words):
        members = np.flatnonzero((main == topic) & (clear > 0))
        order = members[np.argsort(-clear[members], kind="stable")]
        found.append(_Topic(named, [documents[place] for place in order.tolist()]))
    return sorted(
        (topic for topic in found if topic.documents), key=lambda topic: -len(topic.documents)
    )
