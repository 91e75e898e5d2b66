"""Table 4: parameters that are not 0, the intercept among them."""

from dataclasses import replace

from bayesift.reproduce.experiment import Alternative, Experiment, Extent, Grid, reading
from bayesift.reproduce.sparse_bayes.columns import task_of
from bayesift.reproduce.sparse_bayes.setting import EARLY, PRIORS, TEN


def _grid(extent: Extent) -> Grid:
    tasks = {name: task_of(setting, extent) for name, setting in PRIORS.items()}
    return {(row, column): reading(task, f"parameters of {row}") for column, task in tasks.items() for row in TEN}


def _alternatives(extent: Extent) -> list[Alternative]:
    if extent.quick:
        return []
    early = {name: task_of(replace(setting, stop="early"), extent) for name, setting in PRIORS.items()}
    return [
        Alternative(name, EARLY, {row: reading(task, f"parameters of {row}") for row in TEN})
        for name, task in early.items()
    ]


EXPERIMENT = Experiment("sparse-bayes:table-4", _grid, _alternatives)
