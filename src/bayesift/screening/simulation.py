"""Simulate reviews: how soon relevant documents are found, and what a stopping rule costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesift.arrays import BoolArray, IntArray
from bayesift.charts import Axis, Figure, Layer, Line, Panel
from bayesift.charts.svg import series
from bayesift.errors import DataError
from bayesift.evaluation import average_time_to_discovery, work_saved
from bayesift.screening.information import Order
from bayesift.screening.queue import ReviewQueue
from bayesift.screening.relevance import Pool, RelevanceSettings
from bayesift.screening.stopping.rules import STOPPING_RULES, Chao, StoppingRule, StopPoint


@dataclass(frozen=True, eq=False)
class ReviewCurve:
    """When each relevant document was found; documents that the review started from do not count.

    `order` are the rows as they were read, `positions` the ranks (from 1) of the relevant
    documents.

    Examples
    --------
    >>> curve = ReviewCurve.of([3, 2, 4], [1, 0, 0, 1, 1, 0], start=[0, 1])
    >>> curve.positions.tolist(), curve.average_time_to_discovery, curve.work_saved(0.95)
    ([1, 3], 2.0, 0.2)
    >>> curve.recall_after(2)
    0.5
    """

    order: IntArray
    positions: IntArray
    n_documents: int

    @classmethod
    def of(cls, order: Sequence[int], relevant: Any, start: Sequence[int] = ()) -> ReviewCurve:
        """Make the curve of an order that holds all relevant documents but those of the start."""
        labels = np.asarray(relevant).astype(bool)
        rows = np.asarray(order, dtype=np.int64)
        wanted = int(labels.sum() - labels[list(start)].sum())
        positions = np.flatnonzero(labels[rows]) + 1
        if len(positions) != wanted or not wanted:
            raise DataError(f"the order holds {len(positions)} of {wanted} relevant documents")
        return cls(rows, positions, len(labels) - len(start))

    @property
    def hits(self) -> BoolArray:
        """Whether each document is relevant, in the order of reading.

        Those behind the last relevant one are not.
        """
        hits = np.zeros(self.n_documents, dtype=bool)
        hits[self.positions - 1] = True
        return hits

    @property
    def average_time_to_discovery(self) -> float:
        """ATD: the mean number of documents read up to a relevant one."""
        return average_time_to_discovery(self.positions)

    def work_saved(self, recall: float = 0.95) -> float:
        """Compute WSS: the share not read when this recall is reached, less that of chance."""
        return work_saved(self.positions, self.n_documents, recall)

    def work_saved_over_sampling(self, recall: float = 0.95) -> float:
        """Compute WSS as ASReview does: ranks between a document and its random position.

        The document is the one that reaches at most this recall. The random position of the k-th of
        R relevant documents is the first at which R times the share read rounds to k.
        """
        found = len(self.positions)
        at = max(int(np.searchsorted(np.arange(1, found + 1) / found, recall, side="right")), 1)
        by_chance = np.round(np.linspace(0, found, self.n_documents))
        return float(
            (np.searchsorted(by_chance, at) - (self.positions[at - 1] - 1)) / self.n_documents
        )

    def relevant_found(self, share: float = 0.1) -> float:
        """Compute RRF: the share of relevant documents found when this share of all is read."""
        read = np.searchsorted(
            np.arange(1, self.n_documents + 1) / self.n_documents, share, side="right"
        )
        return self.recall_after(int(read))

    @property
    def loss(self) -> float:
        """The area between the best recall curve and this one, over that between best and worst."""
        found = len(self.positions)
        n = self.n_documents
        if found == n:
            raise DataError("without an irrelevant document the loss is not defined")
        best = found * (n - (found - 1) / 2.0)
        area = float(np.sum(n - self.positions + 1))
        return (best - area) / (found * (n - found))

    @property
    def ndcg(self) -> float:
        """The discounted cumulative gain, over that of the best possible order."""
        best = np.sum(1.0 / np.log2(np.arange(2, len(self.positions) + 2)))
        return float(np.sum(1.0 / np.log2(self.positions + 1)) / best)

    def recall_after(self, n_read: int) -> float:
        """Compute the share of the relevant documents among the first so many."""
        return float(
            np.searchsorted(self.positions, n_read, side="right") / len(self.positions)
        )


def recall_curves(curves: Mapping[str, ReviewCurve]) -> Figure:
    """Draw the share of relevant documents found against the share read.

    The best and a random order are drawn beside it.
    """
    lines: list[Layer] = []
    for number, (name, curve) in enumerate(curves.items()):
        n = curve.n_documents
        found = len(curve.positions)
        steps = [(0.0, 0.0)]
        for count, position in enumerate(curve.positions.tolist(), 1):
            steps += [(position / n, (count - 1) / found), (position / n, count / found)]
        lines.append(
            Line(
                [*steps, (1.0, 1.0)],
                series(number),
                name,
                f"WSS@95 {curve.work_saved_over_sampling():.3f}",
            )
        )
    first = next(iter(curves.values()))
    best = len(first.positions) / first.n_documents
    lines += [
        Line([(0.0, 0.0), (best, 1.0)], "ideal", "best order"),
        Line([(0.0, 0.0), (1.0, 1.0)], "thin", "random"),
    ]
    told = "; ".join(
        f"{name}: ATD {curve.average_time_to_discovery:.0f}" for name, curve in curves.items()
    )
    return Figure(
        "Recall",
        [
            Panel(
                Axis.unit("share of records read"),
                Axis.unit("share of relevant records found"),
                lines,
            )
        ],
        caption="Share of the relevant records that is found when so many records are read.",
        description=told,
    )


def random_start(relevant: Any, seed: int) -> tuple[int, int]:
    """Draw a relevant and an irrelevant row at random."""
    rng = np.random.default_rng(seed)
    labels = np.asarray(relevant).astype(bool)
    return int(rng.choice(np.flatnonzero(labels))), int(rng.choice(np.flatnonzero(~labels)))


def simulate_review(
    X: Any,
    relevant: Any,
    *,
    start: Sequence[int],
    by: Order = "relevance",
    batch: int = 1,
    settings: RelevanceSettings | None = None,
) -> ReviewCurve:
    """Simulate a review: judge what the queue shows, until all relevant documents are found.

    Parameters
    ----------
    X : the pool, documents x terms, or a `Pool` with its parts and offsets
    relevant : whether each document is relevant
    start : the rows known before the review begins
    by : as in `ReviewQueue.next_documents`
    batch : documents judged before the model is refitted
    settings : hyperparameters of the model

    Examples
    --------
    >>> from bayesift.text import TermVectorizer
    >>> texts = ["corn oil", "gold mine", "corn", "gold", "oil"]
    >>> X = TermVectorizer(weighting="ltc").fit_transform(texts)
    >>> simulate_review(X, [1, 0, 1, 0, 1], start=[0, 1]).average_time_to_discovery
    1.5
    """
    labels = np.asarray(relevant).astype(bool)
    if isinstance(X, Pool):
        queue = ReviewQueue.of_pool(X, settings=settings)
    else:
        queue = ReviewQueue(X, settings=settings)
    if len(queue) != len(labels):
        raise DataError(f"{len(labels)} judgements for {len(queue)} documents")
    for row in start:
        queue.judge(str(row), bool(labels[row]))
    order: list[int] = []
    while queue.n_found < labels.sum():
        for name in queue.next_documents(batch, by=by):
            queue.judge(name, bool(labels[int(name)]))
            order.append(int(name))
    return ReviewCurve.of(order, labels, start)


def chao_rule(pool: Pool, relevant: Any, curve: ReviewCurve, *, start: Sequence[int]) -> Chao:
    """Make Chao's rule for a simulated review: every part of the pool ranks on its own.

    Parameters
    ----------
    pool : with two parts or more
    relevant : whether each document is relevant
    curve : of the review, to which the positions of the rule refer
    start : the rows known before the review begins, also to the rankers
    """
    ends = np.cumsum([part.n_columns for part in pool.parts])
    columns = [
        slice(end - part.n_columns, end) for end, part in zip(ends, pool.parts, strict=True)
    ]
    orders = [simulate_review(pool.X[:, some], relevant, start=start).order for some in columns]
    ranks = np.full(len(relevant), -1)
    ranks[_completed(curve.order, start, len(relevant))] = np.arange(curve.n_documents)
    return Chao([ranks[_completed(order, start, len(relevant))] for order in orders])


def _completed(order: IntArray, start: Sequence[int], n_documents: int) -> IntArray:
    """Append the rows that an order does not hold."""
    return np.concatenate([order, np.setdiff1d(np.arange(n_documents), [*order, *start])])


def stop_points(
    curve: ReviewCurve,
    rules: Mapping[str, StoppingRule] = STOPPING_RULES,
    *,
    found_before: int = 1,
    seed: int = 0,
) -> dict[str, StopPoint]:
    """Find where each stopping rule ends a simulated review.

    Parameters
    ----------
    curve : the review
    rules : by name
    found_before : relevant documents that it started from
    seed : of the samples that some rules draw

    Examples
    --------
    >>> curve = ReviewCurve.of(range(2, 98), [1] * 30 + [0] * 70, start=[0, 1])
    >>> stop_points(curve, found_before=2)["finds"].recall
    1.0
    """
    return {
        name: rule.stop(curve.hits, found_before=found_before, seed=seed)
        for name, rule in rules.items()
    }
