"""Figure 2: box plots of Table 1, over the ten categories."""

from __future__ import annotations

from typing import Any

from bayesift.report.curves import BoxPlot
from bayesift.reproduce.experiment import Experiment, Extent, PlotReading
from bayesift.reproduce.printed import printed_table
from bayesift.reproduce.sparse_bayes.columns import task_of
from bayesift.reproduce.sparse_bayes.setting import TEN
from bayesift.reproduce.sparse_bayes.table_1 import COLUMNS


def _boxes(*results: Any) -> BoxPlot:
    said = printed_table("sparse-bayes:table-1").values
    groups = {
        column: {"paper": [said[topic, column] for topic in TEN], "ours": [result[topic][0] for topic in TEN]}
        for column, result in zip(COLUMNS, results, strict=True)
    }
    return BoxPlot("F1 of the ten categories: largest, three quarters, median, quarter, smallest", "F1", groups)


def _plots(extent: Extent) -> list[PlotReading]:
    return [PlotReading(tuple(task_of(setting, extent) for setting in COLUMNS.values()), _boxes)]


EXPERIMENT = Experiment("sparse-bayes:figure-2", plots=_plots)
