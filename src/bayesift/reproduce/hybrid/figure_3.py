"""Figure 3: accuracy when only a share of the features stays."""

from __future__ import annotations

from typing import Any

from bayesift.report.curves import LinePlot
from bayesift.reproduce.experiment import Experiment, PlotReading
from bayesift.reproduce.hybrid.pairs import curves_task

SERIES = ("SVM", "NBC")


def _draw(result: Any) -> LinePlot:
    series = {name: result["kept"][name] for name in SERIES}
    return LinePlot(
        "Accuracy on the test documents by the share of features kept",
        "share of the features kept",
        "accuracy",
        series,
        marked=True,
    )


EXPERIMENT = Experiment("hybrid:figure-3", plots=lambda extent: [PlotReading((curves_task(extent),), _draw)])
