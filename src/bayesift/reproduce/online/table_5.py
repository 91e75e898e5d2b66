"""Table 5: why documents were retrieved."""

from __future__ import annotations

from typing import Any

from bayesift.evaluation import Estimate
from bayesift.reproduce.experiment import Absent, Experiment, Extent, Grid, Reading, Task
from bayesift.reproduce.online.streams import NO_TREC9, STREAMS, stream_task, trec9_task

WHY = {"classifier proper": ("proper",), "asked": ("asked",), "total": ("proper", "asked")}
KINDS = {"relevant": ("relevant",), "not relevant": ("irrelevant",), "total": ("relevant", "irrelevant")}


def _count(task: Task, strategy: str, why: tuple[str, ...], kinds: tuple[str, ...]) -> Reading:
    def pick(result: Any) -> Estimate:
        parts = result[f"{strategy} why"]
        return Estimate(sum(parts[f"{reason}_{kind}"] for reason in why for kind in kinds))

    return Reading((task,), pick)


def _share(task: Task, strategy: str) -> Reading:
    def pick(result: Any) -> Estimate:
        parts = result[f"{strategy} why"]
        asked = parts["asked_relevant"] + parts["asked_irrelevant"]
        return Estimate(100 * parts["asked_relevant"] / asked if asked else 0.0)

    return Reading((task,), pick)


def _column(task: Task | None, prefix: str) -> Grid:
    grid: dict[tuple[str, str], Reading | Absent] = {}
    for strategy in ("+ig", "+rnd"):
        for why, reasons in WHY.items():
            for kind, kinds in KINDS.items():
                found = Absent(NO_TREC9) if task is None else _count(task, strategy, reasons, kinds)
                grid[f"{strategy}, {why}, {kind}", prefix] = found
        row = f"{strategy}, relevant share of asked (%)"
        grid[row, prefix] = Absent(NO_TREC9) if task is None else _share(task, strategy)
    return grid


def _grid(extent: Extent) -> Grid:
    grid = dict(_column(trec9_task(extent), "TREC-9"))
    for stream, (_, called) in STREAMS.items():
        grid |= _column(stream_task(stream, extent), called)
    return grid


EXPERIMENT = Experiment("online:table-5", _grid)
