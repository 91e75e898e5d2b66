"""Reviews played back: how soon a ranking finds the relevant documents, and what a rule for stopping costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesift.errors import DataError
from bayesift.evaluation import average_time_to_discovery, work_saved
from bayesift.extras import require
from bayesift.filtering.decay import RankDecay
from bayesift.filtering.ranking import Order, ReviewQueue
from bayesift.filtering.relevance import RelevanceSettings
from bayesift.filtering.stopping import RemainingRelevant, SampleCheck

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray[Any, Any]

# Okabe and Ito's colours, as in `bayesift.evaluation.plots`.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


@dataclass(frozen=True, eq=False)
class ReviewCurve:
    """When each relevant document was found; documents that the review started from do not count.

    Parameters
    ----------
    order : rows in the order they were read
    positions : the place (1 for the first) of each relevant document in that order, rising
    n_documents : documents to read in all

    Examples
    --------
    >>> curve = ReviewCurve.of([3, 2, 4], [1, 0, 0, 1, 1, 0], start=[0, 1])
    >>> curve.positions.tolist(), curve.average_time_to_discovery, curve.work_saved(0.95)
    ([1, 3], 2.0, 0.2)
    >>> curve.recall_after(2)
    0.5
    """

    order: Array
    positions: Array
    n_documents: int

    @classmethod
    def of(cls, order: Sequence[int], relevant: Any, start: Sequence[int] = ()) -> ReviewCurve:
        """The curve of an order that holds all relevant documents but those of the start."""
        labels, rows = np.asarray(relevant).astype(bool), np.asarray(order, dtype=np.int64)
        wanted = int(labels.sum() - labels[list(start)].sum())
        positions = np.flatnonzero(labels[rows]) + 1
        if len(positions) != wanted or not wanted:
            raise DataError(f"the order holds {len(positions)} of {wanted} relevant documents")
        return cls(rows, positions, len(labels) - len(start))

    @property
    def average_time_to_discovery(self) -> float:
        """ATD: the mean number of documents read up to a relevant one."""
        return average_time_to_discovery(self.positions)

    def work_saved(self, recall: float = 0.95) -> float:
        """WSS: the share of documents that need not be read to reach this recall, less what chance would save."""
        return work_saved(self.positions, self.n_documents, recall)

    def recall_after(self, n_read: int) -> float:
        """The share of the relevant documents among the first so many."""
        return float(np.searchsorted(self.positions, n_read, side="right") / len(self.positions))


def random_start(relevant: Any, seed: int) -> tuple[int, int]:
    """A relevant and an irrelevant row, drawn at random.

    Examples
    --------
    >>> random_start([0, 1, 0], 3)[0]
    1
    """
    rng, labels = np.random.default_rng(seed), np.asarray(relevant).astype(bool)
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
    """Play a review back: judge what the queue shows, until all relevant documents are found.

    Parameters
    ----------
    X : the pool, documents x terms
    relevant : of every document, whether it is
    start : the rows known before the review begins
    by : as in `ReviewQueue.next_documents`
    batch : documents judged before the model is refitted
    settings : of the model

    Examples
    --------
    >>> from bayesift.text import TermVectorizer
    >>> X = TermVectorizer(weighting="ltc").fit_transform(["corn oil", "gold mine", "corn", "gold", "oil"])
    >>> simulate_review(X, [1, 0, 1, 0, 1], start=[0, 1]).average_time_to_discovery
    1.5
    """
    labels = np.asarray(relevant).astype(bool)
    queue = _started(X, labels, start, settings)
    order: list[int] = []
    while queue.n_found < labels.sum():
        for name in queue.next_documents(batch, by=by):
            queue.judge(name, bool(labels[int(name)]))
            order.append(int(name))
    return ReviewCurve.of(order, labels, start)


@dataclass(frozen=True)
class StopPoint:
    """Where a rule would have stopped: documents read, the start left out, and recall reached, the start included."""

    n_read: int
    recall: float


@dataclass(frozen=True, eq=False)
class StoppedReview:
    """A review that was stopped.

    Parameters
    ----------
    by_posterior : where the posterior alone suggests to stop
    by_sample : where a random sample, begun earlier, proves the recall
    expected : what the posterior expected to be missing when the sample began
    n_missing : what was missing then
    n_documents : documents to read in all
    """

    by_posterior: StopPoint
    by_sample: StopPoint
    expected: RemainingRelevant
    n_missing: int
    n_documents: int


def simulate_stopping(
    curve: ReviewCurve,
    *,
    found_before: int = 1,
    recall: float = 0.95,
    confidence: float = 0.95,
    every: int = 25,
    switch: float = 0.5,
    seed: int = 0,
) -> StoppedReview:
    """Where both rules for stopping end a review that was played back.

    One reader goes on in ranked order until the posterior (`RankDecay`) is sure of the recall, which is asked after
    every so many documents. Another begins to read in random order as soon as it is as probable as `switch`, until
    `SampleCheck` proves it.

    Parameters
    ----------
    curve : the review
    found_before : relevant documents that it started from
    recall, confidence : what is aimed at
    every : documents between two looks at the posterior
    switch : the probability of the recall at which the sample begins
    seed : of the random order

    Examples
    --------
    >>> curve = ReviewCurve.of(range(2, 98), [1] * 30 + [0] * 70, start=[0, 1])
    >>> stopped = simulate_stopping(curve, found_before=2, every=10)
    >>> stopped.by_posterior.recall, stopped.by_sample.recall >= 0.95
    (1.0, True)
    """
    hits = np.zeros(curve.n_documents, dtype=bool)
    hits[curve.positions - 1] = True
    total = found_before + len(curve.positions)
    decay = RankDecay(curve.n_documents)
    by_sample, at_switch, n_missing = None, None, 0
    for n_read in [*range(every, curve.n_documents, every), curve.n_documents]:
        expected = decay.remaining(hits[:n_read].tolist(), found_before=found_before, seed=seed)
        sure = 1.0 if n_read == curve.n_documents else expected.probability_of_recall(recall)
        if at_switch is None and sure >= switch:
            check = _sampled(hits[n_read:], expected, recall, confidence, seed)
            by_sample = StopPoint(n_read + check.n_drawn, (expected.n_found + check.n_hits) / total)
            at_switch, n_missing = expected, total - expected.n_found
        if sure >= confidence:
            break
    assert by_sample is not None
    assert at_switch is not None
    by_posterior = StopPoint(n_read, expected.n_found / total)
    return StoppedReview(by_posterior, by_sample, at_switch, n_missing, curve.n_documents)


def _sampled(unseen: Array, expected: RemainingRelevant, recall: float, confidence: float, seed: int) -> SampleCheck:
    """The check at its end when the unseen documents are read in random order."""
    check = SampleCheck(n_unseen=len(unseen), n_found=expected.n_found, expected=expected, confidence=confidence)
    for relevant in np.random.default_rng(seed).permutation(unseen):
        if check.reaches(recall):
            break
        check.draw(relevant=bool(relevant))
    return check


def recall_curves(curves: Mapping[str, Sequence[ReviewCurve]]) -> Figure:
    """Recall against the share of documents read: the mean over runs, and the range of all of them.

    Parameters
    ----------
    curves : runs of the same pool by the name of what ranked them

    Examples
    --------
    >>> curve = ReviewCurve.of([1, 2], [0, 1, 1])
    >>> recall_curves({"by relevance": [curve]}).axes[0].get_ylabel()
    'recall'
    """
    figure: Figure = require("matplotlib.figure", extra="plots").Figure(figsize=(5.4, 4.4), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="#8a8a8a", linestyle="--", linewidth=1, label="random order")
    for place, (name, runs) in enumerate(curves.items()):
        colour = _COLOURS[place % len(_COLOURS)]
        shares = np.linspace(0, 1, 501)
        recalls = np.array([[run.recall_after(int(share * run.n_documents)) for share in shares] for run in runs])
        delay = np.mean([run.average_time_to_discovery for run in runs])
        axes.fill_between(shares, recalls.min(axis=0), recalls.max(axis=0), color=colour, alpha=0.15, linewidth=0)
        axes.plot(shares, recalls.mean(axis=0), color=colour, linewidth=1.5, label=f"{name} (ATD {delay:.0f})")
    axes.axhline(0.95, color="#d5d5d5", linewidth=1, zorder=1)
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="share of documents read", ylabel="recall")
    axes.legend(frameon=False, loc="lower right")
    axes.grid(visible=True, color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure


def _started(X: Any, labels: Array, start: Sequence[int], settings: RelevanceSettings | None) -> ReviewQueue:
    queue = ReviewQueue(X, settings=settings)
    if len(queue) != len(labels):
        raise DataError(f"{len(labels)} judgements for {len(queue)} documents")
    for row in start:
        queue.judge(str(row), bool(labels[row]))
    return queue
