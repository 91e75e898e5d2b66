"""Figure 3: the second derivative of ln Φ, whose being negative makes the posterior log-concave."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.models.linear.links import Probit, log_likelihoods
from bayesift.report.curves import LinePlot
from bayesift.reproduce.experiment import Experiment, Extent, Grid, PlotReading, Task, reading

REACH = 35.0


def second_derivative(*, quick: bool, seed: int) -> dict[str, Any]:
    """f(w) = (φ'(w) Φ(w) - φ(w)²) / Φ(w)² over a wide range, and how near it comes to 0 and to -1."""
    wide, shown = np.linspace(-REACH, REACH, 7001), np.linspace(-6, 6, 121)
    values = _second_derivative(wide)
    curve = zip(shown.tolist(), _second_derivative(shown).tolist(), strict=True)
    return {"largest": float(values.max()), "smallest": float(values.min()), "curve": [list(point) for point in curve]}


def _second_derivative(w: Any) -> Any:
    return -log_likelihoods(Probit(), w)[2]


def _task(extent: Extent) -> Task:
    return Task.of(second_derivative, "sparse Bayes: second derivative of ln Φ", **extent.settings)


def _grid(extent: Extent) -> Grid:
    task = _task(extent)
    column = f"f(w) for |w| ≤ {REACH:g}"
    return {("largest", column): reading(task, "largest"), ("smallest", column): reading(task, "smallest")}


def _curve(result: Any) -> LinePlot:
    return LinePlot("f, the second derivative of ln Φ: always negative", "w", "f(w)", {"f": result["curve"]})


EXPERIMENT = Experiment("sparse-bayes:figure-3", _grid, plots=lambda extent: [PlotReading((_task(extent),), _curve)])
