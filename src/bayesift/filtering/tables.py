"""What a simulation measured: the tables of Chai, Ng & Chieu (2002) in their form, and curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bayesift.evaluation import (
    average_time_to_discovery,
    linear_utility,
    precision,
    recall,
    scaled_utility,
    t9p,
    t9u,
    work_saved,
    zero_returns,
)
from bayesift.filtering.simulation import Simulation, TopicRun
from bayesift.filtering.strategies import Strategy

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class StrategyMeasures:
    """A column of Table 4; averages are over topics, shares in percent.

    Parameters
    ----------
    retrieved, relevant_retrieved : over all topics
    recall, precision : macro averages; the precision of a topic that retrieves nothing is 0
    t9p : mean of relevant retrieved / max(target, retrieved)
    utility, t9u, scaled_utility : means of 2 R+ - N+, of the same not below -100, and of that over 2 R
    zero_returns : topics that retrieve nothing
    wss95, atd : means of work saved at a recall of 95% and of the average time to discovery (documents), when what was
        passed over is read after what was retrieved, see `TopicRun.places`; None if no topic has a relevant document
    """

    retrieved: int
    relevant_retrieved: int
    recall: float
    precision: float
    t9p: float
    utility: float
    t9u: float
    scaled_utility: float
    zero_returns: int
    wss95: float | None
    atd: float | None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Table 5: documents by why they were retrieved, relevant and not."""

    proper_relevant: int
    proper_irrelevant: int
    asked_relevant: int
    asked_irrelevant: int

    @property
    def asked_share(self) -> float:
        """The relevant share of the documents that were asked about; 0 without any."""
        asked = self.asked_relevant + self.asked_irrelevant
        return self.asked_relevant / asked if asked else 0.0


def measures(simulation: Simulation, strategy: str) -> StrategyMeasures:
    """A column of Table 4."""
    truth, decided = simulation.truth, simulation.decisions(strategy)
    runs = simulation.runs[strategy]
    read = [run.places for run in runs if len(run.places)]
    return StrategyMeasures(
        retrieved=sum(len(run.rows) for run in runs),
        relevant_retrieved=int(sum(run.relevant.sum() for run in runs)),
        recall=100 * recall(truth, decided, average="macro"),
        precision=100 * precision(truth, decided, average="macro"),
        t9p=100 * t9p(truth, decided, target=simulation.target),
        utility=linear_utility(truth, decided),
        t9u=t9u(truth, decided),
        scaled_utility=scaled_utility(truth, decided),
        zero_returns=zero_returns(decided),
        wss95=_mean([work_saved(places, simulation.n_stream) for places in read]),
        atd=_mean([average_time_to_discovery(places) for places in read]),
    )


def breakdown(runs: Sequence[TopicRun]) -> Breakdown:
    """Table 5 of one strategy.

    Examples
    --------
    >>> found, why, relevant = np.array([3, 5]), np.array([0, 1]), np.array([True, False])
    >>> run = TopicRun("grain", 1, found, why, relevant, np.array([9, 9]), 8, np.array([1]))
    >>> breakdown([run])
    Breakdown(proper_relevant=1, proper_irrelevant=0, asked_relevant=0, asked_irrelevant=1)
    """
    why = np.concatenate([np.zeros(0, dtype=np.int64), *(run.why for run in runs)])
    relevant = np.concatenate([np.zeros(0, dtype=bool), *(run.relevant for run in runs)])
    asked = why > 0
    cells = [(~asked & relevant), (~asked & ~relevant), (asked & relevant), (asked & ~relevant)]
    return Breakdown(*(int(cell.sum()) for cell in cells))


def table_four(simulation: Simulation) -> list[list[str]]:
    """Table 4: a heading, then a row a measure and a column a strategy."""
    columns = {name: measures(simulation, name) for name in simulation.runs}
    rows = [["", *columns]]
    for name, label, form in _ROWS:
        values = [getattr(column, name) for column in columns.values()]
        rows.append([label, *("—" if value is None else format(value, form) for value in values)])
    return rows


def table_five(simulation: Simulation) -> list[list[str]]:
    """Table 5 for every strategy that asks; relevant, not relevant, total."""
    rows = [["", "", "relevant", "not relevant", "total", "relevant share"]]
    for name, runs in simulation.runs.items():
        parts = breakdown(runs)
        pairs = [
            ("classifier proper", parts.proper_relevant, parts.proper_irrelevant),
            ("drawn by lot" if "rnd" in name else "queried", parts.asked_relevant, parts.asked_irrelevant),
        ]
        pairs.append(("total", sum(p[1] for p in pairs), sum(p[2] for p in pairs)))
        for place, (label, yes, no) in enumerate(pairs):
            share = f"{100 * yes / (yes + no):.1f}%" if yes + no else "—"
            rows.append([name if place == 0 else "", label, f"{yes:,}", f"{no:,}", f"{yes + no:,}", share])
    return rows


def theta_curve(simulation: Simulation) -> Array:
    """Figure 1: theta after 0, 1, 2 ... retrieved documents, up to twice the target."""
    schedule = Strategy(query="gain", target=simulation.target)
    return np.array([schedule.theta(n) for n in range(2 * simulation.target + 1)])


def terms_curve(runs: Sequence[TopicRun]) -> Array:
    """Figure 2: the mean number of words after 0, 1, 2 ... relevant documents, over the topics that have so many.

    Examples
    --------
    >>> found, why, relevant = np.array([3, 5]), np.array([0, 1]), np.array([False, True])
    >>> run = TopicRun("grain", 1, found, why, relevant, np.array([8, 9]), 8, np.array([2]))
    >>> terms_curve([run]).tolist()
    [8.0, 9.0]
    """
    curves = [np.concatenate([[run.start_terms], run.n_terms[run.relevant]]) for run in runs]
    longest = max(map(len, curves))
    padded = np.array([np.pad(curve, (0, longest - len(curve)), constant_values=curve[-1]) for curve in curves])
    # A topic that ends stays at its last number: the mean is over the same topics throughout.
    mean: Array = padded.mean(axis=0)
    return mean


def recall_curve(simulation: Simulation, strategy: str, points: int = 101) -> tuple[Array, Array]:
    """The share of the stream that went by, and the mean share of all relevant documents retrieved until then."""
    shares = np.linspace(0, 1, points)
    edges = shares * simulation.n_stream
    runs = [run for run in simulation.runs[strategy] if run.n_relevant]
    curves = [np.searchsorted(run.rows[run.relevant], edges) / run.n_relevant for run in runs]
    return shares, np.mean(curves, axis=0) if curves else np.zeros(points)


def reading_curve(simulation: Simulation, strategy: str, points: int = 101) -> tuple[Array, Array]:
    """The share of the documents that were read, and the mean recall, in the order of `TopicRun.places`."""
    shares = np.linspace(0, 1, points)
    read = np.round(shares * simulation.n_stream, 9)
    runs = [run for run in simulation.runs[strategy] if run.n_relevant]
    curves = [np.searchsorted(run.places, read, side="right") / run.n_relevant for run in runs]
    return shares, np.mean(curves, axis=0) if curves else np.zeros(points)


def as_record(simulation: Simulation) -> dict[str, Any]:
    """All numbers as JSON can hold them."""
    return {
        "corpus": simulation.name,
        "n_batch": simulation.n_batch,
        "n_stream": simulation.n_stream,
        "topics": list(simulation.topics),
        "target": simulation.target,
        "theta": theta_curve(simulation).round(6).tolist(),
        "strategies": {
            name: {
                "measures": asdict(measures(simulation, name)),
                "breakdown": asdict(breakdown(runs)),
                "terms_over_relevant": terms_curve(runs).round(2).tolist(),
                "recall_over_stream": recall_curve(simulation, name)[1].round(4).tolist(),
                "recall_over_read": reading_curve(simulation, name)[1].round(4).tolist(),
                "topics": [_topic_record(run, simulation) for run in runs],
            }
            for name, runs in simulation.runs.items()
        },
    }


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _topic_record(run: TopicRun, simulation: Simulation) -> dict[str, Any]:
    return {
        "topic": run.topic,
        "relevant": run.n_relevant,
        "retrieved": len(run.rows),
        "relevant_retrieved": int(run.relevant.sum()),
        "asked": int((run.why > 0).sum()),
        "t9p": 100 * float(run.relevant.sum()) / max(simulation.target, len(run.rows)),
        "wss95": work_saved(run.places, simulation.n_stream) if len(run.places) else None,
        "atd": average_time_to_discovery(run.places) if len(run.places) else None,
        "terms": int(run.n_terms[-1]) if len(run.n_terms) else run.start_terms,
    }


_ROWS = (
    ("retrieved", "Total retrieved", ","),
    ("relevant_retrieved", "Relevant retrieved", ","),
    ("recall", "Macro-average recall", ".1f"),
    ("precision", "Macro-average precision", ".1f"),
    ("t9p", "Mean T9P", ".1f"),
    ("utility", "Mean Utility", ".3f"),
    ("t9u", "Mean T9U", ".3f"),
    ("scaled_utility", "Mean scaled utility", ".3f"),
    ("zero_returns", "Zero returns", "d"),
    ("wss95", "Mean WSS@95", ".3f"),
    ("atd", "Mean ATD", ",.1f"),
)
