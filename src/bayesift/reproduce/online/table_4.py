"""Table 4: filtering by strategy, with the measures of TREC-9."""

from __future__ import annotations

from bayesift.reproduce.experiment import Absent, Alternative, Experiment, Extent, Grid, Reading, Task, as_value
from bayesift.reproduce.online.streams import NO_TREC9, STRATEGIES, STREAMS, stream_task, trec9_task

ROWS = {
    "Total retrieved": "retrieved",
    "Relevant retrieved": "relevant_retrieved",
    "Macro-average recall": "recall",
    "Macro-average precision": "precision",
    "Mean T9P": "t9p",
    "Mean Utility": "utility",
    "Mean T9U": "t9u",
    "Mean scaled utility": "scaled_utility",
    "Zero returns": "zero_returns",
}


def _reading(task: Task, strategy: str, measure: str) -> Reading:
    return Reading((task,), lambda result: as_value(result[strategy][measure]))


def _grid(extent: Extent) -> Grid:
    grid: dict[tuple[str, str], Reading | Absent] = {}
    own = trec9_task(extent)
    for row, measure in ROWS.items():
        grid |= {(row, name): Absent("a system of the track, not the paper's") for name in ("Microsoft", "Fudan")}
        for column, strategy in STRATEGIES.items():
            grid[row, column] = Absent(NO_TREC9) if own is None else _reading(own, strategy, measure)
    for stream, (_, called) in STREAMS.items():
        task = stream_task(stream, extent)
        for row, measure in ROWS.items():
            grid |= {(row, f"{called}: {c}"): _reading(task, s, measure) for c, s in STRATEGIES.items()}
    return grid


def _alternatives(extent: Extent) -> list[Alternative]:
    others = []
    for stream, (_, called) in () if extent.quick else STREAMS.items():
        for gain, told in (("paper", "the paper's formula of the gain"), ("exact", "the exact information gain")):
            found = _reading(stream_task(stream, extent, gain), "+ig", "t9p")
            others.append(Alternative(f"{called}: Pptron+ig", told, {"Mean T9P": found}))
    return others


EXPERIMENT = Experiment("online:table-4", _grid, _alternatives)
