"""Insight into the documents of a filter: how many relevant ones are left, and their topics.

The pool of the estimate (`bayesift.screening.Forecast`) is what people can reach: judged documents
and the newest that the filter retrieved, as long as their texts are kept. An estimate is made only
after ten relevant documents are found and three quarters of the pool are judged: before that the
intervals would not hold. The leading directions of the pool are cached for some seconds, because
they cost more than the rest. Topics are those of a sparse non-negative matrix factorisation.
"""

from __future__ import annotations

import math
import threading
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bayesift.models.topics import SparseNMF
from bayesift.screening import Forecast, RemainingRelevant, pool_vectorizer, pool_vectors
from bayesift.service.db.tables import DocumentRow, FilterRow, JudgementRow, Reading
from bayesift.service.filters import event_log
from bayesift.service.filters.schemas import StoppingOut, TitleOut, TopicOut
from bayesift.text import TermVectorizer

if TYPE_CHECKING:
    from bayesift.service.runtime import Service

_MAX_DOCUMENTS = 2_000  # the newest retrieved, for estimates and topics
_DIRECTIONS = 50
_CACHED_SECONDS = 30.0
_CONFIDENCE = 0.95
_INTERVAL = 0.95
# Share of the pool; with fewer judged the interval is too narrow (benchmarks/gauge.py).
_LEAST_FOUND = 10  # relevant documents from which on an interval is shown
_LEAST_JUDGED = 0.75
_TOPIC_WORDS = 10
_TOPIC_EXAMPLES = 3
_MAX_ITER = 200


@dataclass(frozen=True)
class _DocumentPool:
    """Documents of a filter created by event `since`, with the forecast of their vectors."""

    since: int
    at: float
    rows: dict[str, int]
    forecast: Forecast


@dataclass(frozen=True)
class _Topic:
    """Words, and the documents of which this is the main topic, the clearest first."""

    words: list[str]
    documents: list[DocumentRow]


class InsightCache:
    """Results of slow requests about filters, by the name of the filter.

    Attributes
    ----------
    pools : the vectors of documents, for the estimate of what is left
    topics : for each number of topics, the state of the filter and its topics then
    readable_words : for each filter, by name and first event, a word for each stem
    pool_lock, topic_lock : held while one of these is computed
    """

    def __init__(self) -> None:
        self.pool_lock = threading.Lock()
        self.topic_lock = threading.Lock()
        self.pools: dict[str, _DocumentPool] = {}
        self.topics: dict[str, dict[int, tuple[tuple[int, ...], list[_Topic]]]] = {}
        self.readable_words: dict[tuple[str, int], dict[str, str]] = {}

    def forget(self, name: str) -> None:
        """Drop what is cached of a filter."""
        self.pools.pop(name, None)
        self.topics.pop(name, None)


def _newest(read: Reading, row: FilterRow) -> list[str]:
    """Return the ids of the newest documents that a filter retrieved, newest first."""
    events = read.events(
        row.seq,
        filter=row.name,
        kinds=(event_log.RETRIEVED,),
        limit=_MAX_DOCUMENTS,
        newest_first=True,
    )
    return [str(event.document) for event in events]


def stopping_estimate(service: Service, name: str, recall: float) -> StoppingOut:
    """Estimate how many relevant documents are left, and whether the recall is reached."""
    with service.stored_filter(name) as (read, row):
        judgements = {judged.document: judged for judged in reversed(read.judgements(name))}
        ids = dict.fromkeys([*_newest(read, row), *judgements])
        documents = list(read.documents(ids).values())
    found = sum(judged.relevant for judged in judgements.values())
    remaining = None
    reason = too_early(found, len(judgements), len(documents))
    if not reason:
        with service.insight.pool_lock:
            remaining = _remaining(service.insight, row, documents, judgements, found)
        reason = "the texts do not tell documents apart"
    answer = StoppingOut(
        found=found,
        recall=recall,
        pool=len(documents),
        sentence=f"cannot tell yet how many are left: {reason}",
    )
    if remaining is not None:
        low, high = remaining.interval(_INTERVAL)
        reached = remaining.probability_of_recall(recall)
        number = f"{low:,} to {high:,}" if low < high else f"{low:,}"
        answer.left = remaining.mean
        answer.left_low = low
        answer.left_high = high
        answer.probability_reached = reached
        answer.stop = reached >= _CONFIDENCE
        answer.sentence = (
            f"{number} relevant left among those retrieved (expected {remaining.mean:.1f}); "
            f"{100 * recall:.3g}% of them found with probability {reached:.2f}"
        )
    return answer


def too_early(found: int, n_judged: int, n_documents: int) -> str:
    """Return why an interval would not hold; "" if it would."""
    if found < _LEAST_FOUND:
        return f"{found} of {_LEAST_FOUND} relevant documents found"
    if found == n_judged:
        return "nothing is judged as not relevant"
    wanted = math.ceil(_LEAST_JUDGED * n_documents)
    if n_judged < wanted:
        return (
            f"{n_judged:,} of {n_documents:,} retrieved documents are judged, "
            f"and {wanted:,} are needed"
        )
    return ""


def _remaining(
    cache: InsightCache,
    row: FilterRow,
    documents: list[DocumentRow],
    judgements: dict[str, JudgementRow],
    found: int,
) -> RemainingRelevant | None:
    """Estimate what is left; None if the texts have no words that differ."""
    pool = cache.pools.get(row.name)
    is_recent = pool is not None and time.monotonic() - pool.at < _CACHED_SECONDS
    if pool is None or pool.since != row.seq or not is_recent:
        kept = [document for document in documents if not document.purged]
        texts = (f"{document.title}\n{document.text}" for document in kept)
        try:
            X = pool_vectors(pool_vectorizer().fit_transform(texts))
        except ValueError:
            return None
        rows = {document.id: index for index, document in enumerate(kept)}
        forecast = Forecast(X, directions=_DIRECTIONS)
        pool = cache.pools[row.name] = _DocumentPool(row.seq, time.monotonic(), rows, forecast)
    labels = np.zeros(len(pool.rows))
    for document, judged in judgements.items():
        if document in pool.rows:
            labels[pool.rows[document]] = 1 if judged.relevant else -1
    if not np.any(labels):
        return None
    return RemainingRelevant(pool.forecast.remaining(labels).draws, found)


def topics_of(service: Service, name: str, n: int) -> list[TopicOut]:
    """Return topics of the newest retrieved documents whose texts are kept, the largest first."""
    with service.stored_filter(name) as (read, row):
        rows = read.documents(_newest(read, row))
        relevant = {judged.document for judged in read.judgements(name) if judged.relevant}
    documents = sorted((each for each in rows.values() if not each.purged), key=lambda d: d.seq)
    state = (row.seq, len(documents), *(document.seq for document in documents[-1:]))
    cache = service.insight
    with cache.topic_lock:
        known = cache.topics.setdefault(name, {}).get(n)
        if known is None or known[0] != state:
            known = state, _topics(documents, n)
            cache.topics[name][n] = known
    return [
        TopicOut(
            words=topic.words,
            documents=len(topic.documents),
            relevant=sum(document.id in relevant for document in topic.documents),
            examples=[
                TitleOut.model_validate(each) for each in topic.documents[:_TOPIC_EXAMPLES]
            ],
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
        return []  # there are no words, or none that two documents share
    model = SparseNMF(
        n_components=min(n, *X.shape), importance="uniform", alpha=0.0, max_iter=_MAX_ITER
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    codes = model.transform(X)
    main = codes.argmax(axis=1)
    strength = codes.max(axis=1)
    words = model.topic_words(vectorizer.get_feature_names_out().tolist(), k=_TOPIC_WORDS)
    found = []
    for number, named in enumerate(words):
        members = np.flatnonzero((main == number) & (strength > 0))
        order = members[np.argsort(-strength[members], kind="stable")]
        if len(order):
            found.append(_Topic(named, [documents[index] for index in order.tolist()]))
    return sorted(found, key=lambda topic: -len(topic.documents))
