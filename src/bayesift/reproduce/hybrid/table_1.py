"""Table 1: accuracy on fifteen pairs of newsgroups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesift.evaluation import Estimate
from bayesift.reproduce.experiment import Absent, Alternative, Experiment, Extent, Grid, Reading, reading
from bayesift.reproduce.hybrid.measuring import SYSTEMS
from bayesift.reproduce.hybrid.pairs import TREATMENTS, pair_task, pairs

MEAN, GAIN = "mean of the pairs", "hybrid less the better of both"
CHOSEN, OTHER = TREATMENTS


def _mean(system: str) -> Callable[..., Estimate]:
    def pick(*results: Any) -> Estimate:
        """The interval treats pairs as given and their test documents as independent."""
        values, spreads = zip(*((r[system][0], (r[system][2] - r[system][1]) / 2) for r in results), strict=True)
        half = float(np.sqrt(np.sum(np.square(spreads)))) / len(values)
        centre = float(np.mean(values))
        return Estimate(centre, centre - half, centre + half)

    return pick


def _gain(*results: Any) -> Estimate:
    return Estimate(float(np.mean([r["Hybrid"][0] - max(r["SVM"][0], r["NBC"][0]) for r in results])))


def _averages(treatment: str, extent: Extent) -> dict[str, Reading]:
    tasks = tuple(pair_task(pair, treatment, extent) for pair in pairs(extent))
    return {system: Reading(tasks, _mean(system)) for system in SYSTEMS} | {GAIN: Reading(tasks, _gain)}


def _grid(extent: Extent) -> Grid:
    grid: dict[tuple[str, str], Reading | Absent] = {}
    for pair in pairs(extent):
        task = pair_task(pair, CHOSEN, extent)
        grid |= {(pair, system): reading(task, system) for system in SYSTEMS}
    averages = _averages(CHOSEN, extent)
    return grid | {(MEAN, system): averages[system] for system in SYSTEMS}


def _alternatives(extent: Extent) -> list[Alternative]:
    return [Alternative(MEAN, treatment, _averages(treatment, extent)) for treatment in (CHOSEN, OTHER)]


EXPERIMENT = Experiment("hybrid:table-1", _grid, _alternatives)
