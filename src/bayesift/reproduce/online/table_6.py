"""Table 6: likelihoods of the perceptron."""

from bayesift.reproduce.experiment import Alternative, Experiment, Extent, Grid, Reading, reading
from bayesift.reproduce.online.systems import system_task

ROWS = {"Logit": {"likelihood": "logit"}, "Probit": {}, "Flip": {"likelihood": "flip"}}
COLUMNS = {"micro F1": "MaxF1 micro", "macro F1": "MaxF1 macro", "log-evidence": "evidence"}


def _readings(extent: Extent, **changes: str) -> dict[str, Reading]:
    task = system_task("Perceptron", extent, **changes)
    return {column: reading(task, name) for column, name in COLUMNS.items()}


def _grid(extent: Extent) -> Grid:
    return {
        (row, column): found for row, changes in ROWS.items() for column, found in _readings(extent, **changes).items()
    }


def _alternatives(extent: Extent) -> list[Alternative]:
    exact = Alternative("Logit", "the exact logit, by quadrature", _readings(extent, likelihood="exact logit"))
    return [] if extent.quick else [exact]


EXPERIMENT = Experiment("online:table-6", _grid, _alternatives)
