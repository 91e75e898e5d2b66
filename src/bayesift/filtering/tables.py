"""Results of a simulation: the tables and figures of Chai, Ng & Chieu (2002), and curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bayesift.arrays import FloatArray, IntArray
from bayesift.charts import Axis, Figure, Layer, Line, Panel, Rule
from bayesift.charts.svg import series
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


@dataclass(frozen=True, slots=True)
class StrategyMeasures:
    """A column of Table 4; averages are over topics, shares in percent.

    Parameters
    ----------
    recall, precision : macro averages; the precision of a topic that retrieves nothing is 0
    t9p : mean of relevant retrieved / max(target, retrieved)
    utility, t9u, scaled_utility : means of 2 R+ - N+, of the same not below -100, and of that over
        2 R
    zero_returns : topics that retrieve nothing
    wss95, atd : means of work saved at a recall of 95% and of the average time to discovery
        (documents), in the order of `TopicRun.ranks`; None if no topic has a relevant document
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
    """Table 5: retrieved documents by reason (above the threshold, or queried) and relevance."""

    proper_relevant: int
    proper_irrelevant: int
    queried_relevant: int
    queried_irrelevant: int

    @property
    def queried_share(self) -> float:
        """The relevant share of the queried documents; 0 without any."""
        queried = self.queried_relevant + self.queried_irrelevant
        if queried:
            return self.queried_relevant / queried
        return 0.0


def measures(simulation: Simulation, strategy: str) -> StrategyMeasures:
    """Compute a column of Table 4."""
    truth = simulation.truth
    decided = simulation.decisions(strategy)
    runs = simulation.runs[strategy]
    read = [run.ranks for run in runs if len(run.ranks)]
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
        wss95=_mean([work_saved(ranks, simulation.n_stream) for ranks in read]),
        atd=_mean([average_time_to_discovery(ranks) for ranks in read]),
    )


def breakdown(runs: Sequence[TopicRun]) -> Breakdown:
    """Compute Table 5 of one strategy."""
    why = np.concatenate([np.zeros(0, dtype=np.int64), *(run.why for run in runs)])
    relevant = np.concatenate([np.zeros(0, dtype=bool), *(run.relevant for run in runs)])
    queried = why > 0
    cells = [
        (~queried & relevant),
        (~queried & ~relevant),
        (queried & relevant),
        (queried & ~relevant),
    ]
    return Breakdown(*(int(cell.sum()) for cell in cells))


def table_four(simulation: Simulation) -> list[list[str]]:
    """Make Table 4: a heading, then one row per measure with one column per strategy."""
    columns = {name: measures(simulation, name) for name in simulation.runs}
    rows = [["", *columns]]
    for name, label, form in _ROWS:
        values = [getattr(column, name) for column in columns.values()]
        rows.append(
            [label, *("—" if value is None else format(value, form) for value in values)]
        )
    return rows


def table_five(simulation: Simulation) -> list[list[str]]:
    """Make Table 5 for every strategy; relevant, not relevant, total."""
    rows = [["", "", "relevant", "not relevant", "total", "relevant share"]]
    for name, runs in simulation.runs.items():
        parts = breakdown(runs)
        pairs = [
            ("classifier proper", parts.proper_relevant, parts.proper_irrelevant),
            (
                "drawn at random" if "rnd" in name else "queried",
                parts.queried_relevant,
                parts.queried_irrelevant,
            ),
        ]
        pairs.append(("total", sum(p[1] for p in pairs), sum(p[2] for p in pairs)))
        for number, (label, hits, misses) in enumerate(pairs):
            total = hits + misses
            share = f"{100 * hits / total:.1f}%" if total else "—"
            rows.append(
                [
                    name if number == 0 else "",
                    label,
                    f"{hits:,}",
                    f"{misses:,}",
                    f"{total:,}",
                    share,
                ]
            )
    return rows


def _thetas(strategy: Strategy) -> list[float]:
    """Return theta after 0, 1, 2 ... retrieved documents, up to twice the target."""
    return [strategy.theta(n) for n in range(2 * strategy.target + 1)]


def terms_curve(runs: Sequence[TopicRun]) -> FloatArray:
    """Compute Figure 2: the mean number of words after 0, 1, 2 ... relevant documents.

    A topic that ends keeps its last number.
    """
    curves = [np.concatenate([[run.start_terms], run.n_terms[run.relevant]]) for run in runs]
    longest = max(map(len, curves))
    padded = np.array(
        [
            np.pad(curve, (0, longest - len(curve)), constant_values=curve[-1])
            for curve in curves
        ]
    )
    mean: FloatArray = padded.mean(axis=0)
    return mean


def recall_curve(simulation: Simulation, strategy: str, points: int = 101) -> FloatArray:
    """Compute the mean recall of what was retrieved, at equally spaced points of the stream."""
    edges = np.linspace(0, 1, points) * simulation.n_stream
    return _mean_recall(
        simulation, strategy, lambda run: np.searchsorted(run.rows[run.relevant], edges), points
    )


def reading_curve(simulation: Simulation, strategy: str, points: int = 101) -> FloatArray:
    """Compute the mean recall after equal shares of the documents, read by `TopicRun.ranks`."""
    read = np.round(np.linspace(0, 1, points) * simulation.n_stream, 9)
    return _mean_recall(
        simulation, strategy, lambda run: np.searchsorted(run.ranks, read, side="right"), points
    )


def _mean_recall(
    simulation: Simulation, strategy: str, found: Callable[[TopicRun], IntArray], points: int
) -> FloatArray:
    curves = [
        found(run) / run.n_relevant for run in simulation.runs[strategy] if run.n_relevant
    ]
    mean: FloatArray = np.mean(curves or [np.zeros(points)], axis=0)
    return mean


def as_record(simulation: Simulation) -> dict[str, Any]:
    """Return all numbers as JSON can hold them."""
    return {
        "corpus": simulation.name,
        "n_batch": simulation.n_batch,
        "n_stream": simulation.n_stream,
        "topics": list(simulation.topics),
        "target": simulation.target,
        "theta": np.round(
            _thetas(Strategy(query="gain", target=simulation.target)), 6
        ).tolist(),
        "strategies": {
            name: {
                "measures": asdict(measures(simulation, name)),
                "breakdown": asdict(breakdown(runs)),
                "terms_over_relevant": terms_curve(runs).round(2).tolist(),
                "recall_over_stream": recall_curve(simulation, name).round(4).tolist(),
                "recall_over_read": reading_curve(simulation, name).round(4).tolist(),
                "topics": [_topic_record(run, simulation) for run in runs],
            }
            for name, runs in simulation.runs.items()
        },
    }


def _mean(values: Sequence[float]) -> float | None:
    if values:
        return float(np.mean(values))
    return None


def _topic_record(run: TopicRun, simulation: Simulation) -> dict[str, Any]:
    return {
        "topic": run.topic,
        "relevant": run.n_relevant,
        "retrieved": len(run.rows),
        "relevant_retrieved": int(run.relevant.sum()),
        "queried": int((run.why > 0).sum()),
        "t9p": 100 * float(run.relevant.sum()) / max(simulation.target, len(run.rows)),
        "wss95": work_saved(run.ranks, simulation.n_stream) if len(run.ranks) else None,
        "atd": average_time_to_discovery(run.ranks) if len(run.ranks) else None,
        "terms": int(run.n_terms[-1]) if len(run.n_terms) else run.start_terms,
    }


def theta_figure(strategy: Strategy | None = None) -> Figure:
    """Draw Figure 1: theta against the number of retrieved documents."""
    chosen = Strategy(query="gain") if strategy is None else strategy
    title = "Information gain above which +ig queries a document"
    return _plot(
        title,
        "documents retrieved",
        "theta (bits)",
        {"theta": _thetas(chosen)},
        2.0 * chosen.target,
    )


def terms_figure(simulation: Simulation) -> Figure:
    """Draw Figure 2: the mean number of words as relevant documents are retrieved."""
    curves = {name: terms_curve(runs).tolist() for name, runs in simulation.runs.items()}
    longest = float(max(len(curve) for curve in curves.values()) - 1)
    title = "Words of a profile as relevant documents are retrieved"
    return _plot(title, "relevant documents retrieved", "mean number of words", curves, longest)


def recall_figure(simulation: Simulation) -> Figure:
    """Draw the mean share of relevant documents retrieved over the stream."""
    curves = {name: recall_curve(simulation, name).tolist() for name in simulation.runs}
    return _plot("Recall over the stream", "share of the stream", "mean recall", curves, 1.0)


def reading_figure(simulation: Simulation) -> Figure:
    """Draw mean recall against the share of documents read, the retrieved ones first."""
    curves = {name: reading_curve(simulation, name).tolist() for name in simulation.runs}
    return _plot(
        "Recall over the documents read",
        "share of documents read",
        "mean recall",
        curves,
        1.0,
        0.95,
    )


def _plot(
    title: str,
    x: str,
    y: str,
    curves: Mapping[str, Sequence[float]],
    x_end: float,
    marked_recall: float | None = None,
) -> Figure:
    """Draw curves over equally spaced points from 0 on."""
    step = (x_end or 1.0) / max(max(map(len, curves.values())) - 1, 1)
    lines: list[Layer] = [
        Line([(i * step, value) for i, value in enumerate(curve)], series(number), name)
        for number, (name, curve) in enumerate(curves.items())
    ]
    if marked_recall is not None:
        lines.append(Rule(y=marked_recall, style="thin"))
    vertical = Axis.over(y, [value for curve in curves.values() for value in curve])
    return Figure(title, [Panel(Axis.over(x, [0.0, x_end or 1.0]), vertical, lines)])
