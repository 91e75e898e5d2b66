"""Figure 1: Zipf's curve."""

from __future__ import annotations

from typing import Any

from bayesift.report.curves import LinePlot
from bayesift.reproduce.experiment import Experiment, PlotReading
from bayesift.reproduce.hybrid.pairs import curves_task

SERIES = ("terms", "f = k / r")


def _draw(result: Any) -> LinePlot:
    series = {name: result["zipf"][name] for name in SERIES}
    return LinePlot(
        "Zipf's curve of the first pair",
        "rank of the term",
        "how often it stands in the texts",
        series,
        x_log=True,
        y_log=True,
    )


EXPERIMENT = Experiment("hybrid:figure-1", plots=lambda extent: [PlotReading((curves_task(extent),), _draw)])
