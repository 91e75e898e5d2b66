"""Figure 2: accuracy over the share of the SVM."""

from __future__ import annotations

from typing import Any

from bayesift.report.curves import LinePlot
from bayesift.reproduce.experiment import Experiment, PlotReading
from bayesift.reproduce.hybrid.pairs import curves_task

SERIES = ("hybrid", "SVM", "NBC")


def _draw(result: Any) -> LinePlot:
    series = {name: result["alpha"][name] for name in SERIES}
    return LinePlot("Accuracy on the test documents by α", "share of the SVM, α", "accuracy", series)


EXPERIMENT = Experiment("hybrid:figure-2", plots=lambda extent: [PlotReading((curves_task(extent),), _draw)])
