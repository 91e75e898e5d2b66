"""Coverage of the estimates that pages show: `python -m benchmarks.gauge reviews` or `streams`.

**reviews**: `FindsForecast.estimate` in the orders of `benchmarks.screening ranking`, a look every
ten records: the share of looks at which numbers are shown, and of those the share at which the 95%
interval holds; also in shuffled, half shuffled and reversed orders. The weights were learned on
made pools, not on these reviews.

**streams**: `Forecast` on what filters of the 20 commonest topics of Reuters-21578 retrieved, of
which a person judges half of what waits, or ten documents, after every 250. When to show numbers
was chosen on the first 6,000 documents.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesift.corpora import load_reuters
from bayesift.corpora.reuters import load_reuters_descriptions
from bayesift.filtering import Filter, FilterEngine
from bayesift.filtering.engine import add_described
from bayesift.records import Document
from bayesift.screening import (
    FindsForecast,
    Forecast,
    ReviewCurve,
    pool_vectorizer,
    pool_vectors,
)
from bayesift.service.filters.insight import too_early
from bayesift.service.filters.scoring import score
from benchmarks.screening import ORDERS, curves, kept, weakened
from benchmarks.screening_asreview import REVIEWS

EVERY = 10
WEAK = {"ranked": 0.0, "half shuffled": 0.5, "shuffled": 1.0, "reversed": -1.0}
N_TOPICS, N_CHOICE, N_BATCH = 20, 6_000, 250
DIRECTIONS = 50  # as on the page


@dataclass(frozen=True)
class Look:
    """One look at a gauge: whether it shows an interval, which, and what is true.

    The same for 95% recall.
    """

    shown: bool
    low: int
    high: int
    left: int
    probability: float
    reached: bool

    @property
    def holds(self) -> bool:
        """Whether the interval holds the number left."""
        return self.low <= self.left <= self.high


def looks_at_review(curve: ReviewCurve) -> Iterator[Look]:
    """Yield the estimate after every ten records of a review started from one relevant record."""
    forecast, hits = FindsForecast(curve.n_documents), curve.hits
    for n in range(EVERY, curve.n_documents, EVERY):
        estimate = forecast.estimate(hits[:n], found_before=1)
        left, found = int(hits[n:].sum()), 1 + int(hits[:n].sum())
        reached = found >= 0.95 * (found + left)
        yield Look(
            not estimate.caveat,
            estimate.low,
            estimate.high,
            left,
            estimate.probability,
            reached,
        )


def reviews() -> list[str]:
    """Coverage per review and kind of order."""
    runs = {review: curves(kept(ORDERS), review) for review in REVIEWS}
    lines = [_HEAD]
    for order, change in WEAK.items():
        every: list[Look] = []
        for review in REVIEWS:
            changed = (
                c if not change else weakened(c, change, int(s))
                for s, c in runs[review].items()
            )
            looks = [look for curve in changed for look in looks_at_review(curve)]
            every += looks
            if not change:
                lines.append(row(review, looks))
        lines.append(row(f"all, {order}", every))
    return lines


def streams() -> list[str]:
    """Return the coverage of filters' intervals on the documents of choice and of checking."""
    documents, lines = list(load_reuters(subset="labelled")), [_HEAD]
    for name, part in {
        "chosen on": documents[:N_CHOICE],
        "checked on": documents[N_CHOICE:],
    }.items():
        looks = _followed(_filters(part), part)
        lines += [row(topic, found) for topic, found in looks.items()]
        lines.append(row(f"all, {name}", [look for found in looks.values() for look in found]))
    return lines


def _filters(documents: Sequence[Document]) -> Filter:
    """Return a filter for each of the most common topics, made from a query as the page does."""
    common = Counter(category for d in documents for category in d.categories).most_common(
        N_TOPICS
    )
    queries, engine = load_reuters_descriptions(), FilterEngine()
    for topic, _ in common:
        query = queries.get(topic, topic)
        add_described(
            engine,
            {
                "name": topic,
                "query": query,
                "strategy": "+rel+ig",
                "settings": {"max_terms": 500},
            },
        )
    return Filter(engine)


def _followed(stream: Filter, documents: Sequence[Document]) -> dict[str, list[Look]]:
    profiles = stream.engine.profiles
    reached: dict[str, list[Document]] = {topic: [] for topic in profiles}
    by_id, looks = {d.id: d for d in documents}, {topic: list[Look]() for topic in profiles}
    for begin in range(0, len(documents), N_BATCH):
        for event in stream.observe(documents[begin : begin + N_BATCH]):
            reached[event.profile].append(by_id[event.id])
        for place, topic in enumerate(profiles):
            pending = list(profiles[topic].pending.values())
            if not pending:
                continue
            order = np.argsort(
                -score(profiles[topic], pending, len(stream.engine.space)).utility,
                kind="stable",
            )
            for waiting in order[: 10 if place % 2 else -(-len(pending) // 2)]:
                name = pending[waiting].id
                stream.judge(topic, name, topic in by_id[name].categories)
            looks[topic] += look_at_filter(reached[topic], topic, profiles[topic].judgements)
    return looks


def look_at_filter(
    reached: Sequence[Document], topic: str, judged: Mapping[str, object]
) -> Iterator[Look]:
    """Yield the forecast for the documents that a filter retrieved.

    There is one only if documents of both kinds are judged and some are not judged.
    """
    truth = np.array([topic in d.categories for d in reached])
    known = np.array([d.id in judged for d in reached])
    found, left = int((truth & known).sum()), int((truth & ~known).sum())
    if not 0 < found < known.sum() or known.all():
        return
    X = pool_vectors(pool_vectorizer().fit_transform(d.full_text for d in reached))
    remaining = Forecast(X, directions=DIRECTIONS).remaining(
        np.where(known, np.where(truth, 1.0, -1.0), 0.0)
    )
    enough, shown = (
        found >= 0.95 * (found + left),
        not too_early(found, int(known.sum()), len(reached)),
    )
    yield Look(
        shown, *remaining.interval(0.95), left, remaining.probability_of_recall(0.95), enough
    )


_HEAD = (
    "| | looks | shown | 95% interval holds | width | left | said of 95% recall | was |\n"
    + "|---" * 8
    + "|"
)


def row(name: str, looks: Sequence[Look]) -> str:
    """Return a table row: the number of looks, the share shown, and the mean estimate and truth."""
    shown = [look for look in looks if look.shown]
    if not shown:
        return f"| {name} | {len(looks)} | 0% | | | | | |"
    told = [[k.holds, k.high - k.low, k.left, k.probability, k.reached] for k in shown]
    holds, width, left, said, was = np.mean(np.array(told, dtype=float), axis=0)
    share = len(shown) / len(looks)
    return (
        f"| {name} | {len(looks)} | {share:.0%} | {holds:.3f} | {width:.1f} | {left:.1f} | "
        f"{said:.2f} | {was:.2f} |"
    )


if __name__ == "__main__":
    print("\n".join({"reviews": reviews, "streams": streams}[sys.argv[1]]()))
