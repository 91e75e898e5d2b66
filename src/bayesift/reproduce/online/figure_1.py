"""Figure 1: theta, the information gain from which a document is asked about."""

from __future__ import annotations

from typing import Any

from bayesift.filtering.strategies import Strategy
from bayesift.report.curves import LinePlot
from bayesift.reproduce.experiment import Experiment, Extent, Grid, PlotReading, Task, reading

AT = (0, 50, 100)


def schedule(*, quick: bool, seed: int) -> dict[str, Any]:
    """Theta after 0 to 100 retrieved documents."""
    strategy = Strategy(query="gain")
    return {**{str(n): strategy.theta(n) for n in AT}, "curve": [[n, strategy.theta(n)] for n in range(101)]}


def _task(extent: Extent) -> Task:
    return Task.of(schedule, "online: schedule of queries", **extent.settings)


def _grid(extent: Extent) -> Grid:
    return {("θ", f"N_ret = {n}"): reading(_task(extent), str(n)) for n in AT}


def _curve(result: Any) -> LinePlot:
    return LinePlot("θ against the number of retrieved documents", "documents retrieved", "θ", {"θ": result["curve"]})


EXPERIMENT = Experiment("online:figure-1", _grid, plots=lambda extent: [PlotReading((_task(extent),), _curve)])
