"""Table 3: sign tests between the systems, decided by MaxF1."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesift.evaluation import macro_sign_test, micro_sign_test
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
    shape = tuple(truth["shape"])
    Y, a, b = (_matrix(flat, shape) for flat in (truth["labels"], row["decisions"], column["decisions"]))
    return " / ".join(test(Y, a, b).symbol for test in (micro_sign_test, macro_sign_test))


def _matrix(flat: list[int], shape: tuple[int, ...]) -> sparse.csr_array:
    rows, columns = np.divmod(np.array(flat, dtype=np.int64), shape[1])
    return sparse.csr_array((np.ones(len(flat), dtype=np.int8), (rows, columns)), shape=shape)


EXPERIMENT = Experiment("online:table-3", _grid)
