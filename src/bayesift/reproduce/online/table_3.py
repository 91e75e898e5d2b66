"""Table 3: sign tests between the systems, decided by MaxF1."""

from __future__ import annotations

from typing import Any

from bayesift.evaluation import macro_sign_test, micro_sign_test
from bayesift.reproduce.decisions import matrix_of
from bayesift.reproduce.experiment import Experiment, Extent, Grid, Reading, Task
from bayesift.reproduce.online.measuring import labels_of_test
from bayesift.reproduce.online.systems import SYSTEMS, system_task


def _grid(extent: Extent) -> Grid:
    truth = Task.of(labels_of_test, "online: labels", corpora=("reuters",), **extent.settings)
    tasks = {row: system_task(row, extent) for row in SYSTEMS}
    pairs = ((row, column) for row in SYSTEMS for column in SYSTEMS if row != column)
    return {(row, column): Reading((truth, tasks[row], tasks[column]), _symbols) for row, column in pairs}


def _symbols(truth: Any, row: Any, column: Any) -> str:
    """What the s-test and the S-test say of a row's system against a column's, without correction as the paper's."""
    shape = truth["shape"]
    Y, a, b = (matrix_of(flat, shape) for flat in (truth["labels"], row["decisions"], column["decisions"]))
    return " / ".join(test(Y, a, b).symbol for test in (micro_sign_test, macro_sign_test))


EXPERIMENT = Experiment("online:table-3", _grid)
