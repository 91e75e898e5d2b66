"""Table 7: passes over the training documents."""

from bayesift.reproduce.experiment import Experiment, Extent, Grid, reading
from bayesift.reproduce.online.systems import system_task
from bayesift.reproduce.online.table_6 import COLUMNS

PASSES = (1, 2, 3, 4, 5)


def _grid(extent: Extent) -> Grid:
    tasks = {n: system_task("Perceptron", extent, **({} if n == 3 else {"passes": n})) for n in PASSES}
    return {(str(n), column): reading(task, name) for n, task in tasks.items() for column, name in COLUMNS.items()}


EXPERIMENT = Experiment("online:table-7", _grid)
