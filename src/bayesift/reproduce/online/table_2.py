"""Table 2: micro and macro F1 of ten systems by three thresholds."""

from typing import Any

from bayesift.reproduce.experiment import Absent, Alternative, Experiment, Extent, Grid, Reading, reading
from bayesift.reproduce.online.systems import RULES, SYSTEMS, system_task

CHOICES: dict[str, dict[str, Any]] = {
    "as in the table: the order of the corpus, lengths of all words": {},
    "documents in reverse order": {"order": "reversed"},
    "documents shuffled": {"order": "shuffled"},
    "lengths of the selected terms": {"length": "terms"},
    "no bias": {"bias": 0.0},
}


def _grid(extent: Extent) -> Grid:
    grid: dict[tuple[str, str], Reading | Absent] = {}
    for row in SYSTEMS:
        task = system_task(row, extent)
        for rule in RULES[: 2 if row.startswith("SVM") else 3]:
            grid |= {(row, f"{rule} {average}"): reading(task, f"{rule} {average}") for average in ("micro", "macro")}
    return grid


def _alternatives(extent: Extent) -> list[Alternative]:
    others = []
    for choice, changes in () if extent.quick else CHOICES.items():
        task = system_task("Perceptron", extent, **changes)
        names = [f"{rule} {average}" for rule in RULES for average in ("micro", "macro")]
        others.append(Alternative("Perceptron", choice, {name: reading(task, name) for name in names}))
    return others


EXPERIMENT = Experiment("online:table-2", _grid, _alternatives)
