"""Columns of the sparse Bayes paper's tables: how cells follow from settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from bayesift.reproduce.experiment import Alternative, Extent, Grid, Reading, Task, reading
from bayesift.reproduce.sparse_bayes.measuring import measure_setting
from bayesift.reproduce.sparse_bayes.setting import AVERAGES, LAPLACE, TEN, Setting


def task_of(setting: Setting, extent: Extent) -> Task:
    """The work behind a column."""
    changed = {name: value for name, value in asdict(setting).items() if value != getattr(LAPLACE, name)}
    label = f"{setting.model} " + ", ".join(f"{name} {value}" for name, value in changed.items() if name != "model")
    return Task.of(
        measure_setting, f"sparse Bayes: {label}", corpora=(setting.corpus,), **asdict(setting), **extent.settings
    )


def f1_grid(columns: Mapping[str, Setting], extent: Extent, rows: tuple[str, ...] = (*TEN, *AVERAGES)) -> Grid:
    """F1 by category and on average, a column a setting."""
    tasks = {name: task_of(setting, extent) for name, setting in columns.items()}
    return {(row, column): reading(task, row) for column, task in tasks.items() for row in rows}


def averages_of(setting: Setting, extent: Extent) -> dict[str, Reading]:
    """Micro and macro F1, and the number of parameters, for a list of other readings."""
    task = task_of(setting, extent)
    names = {"micro F1": "micro-average", "macro F1": "macro-average", "parameters": "parameters"}
    return {shown: reading(task, name) for shown, name in names.items()}


def variations(subject: str, choices: Mapping[str, Setting], extent: Extent) -> list[Alternative]:
    """Other readings of one column; a quick run leaves them out."""
    if extent.quick:
        return []
    return [Alternative(subject, choice, averages_of(setting, extent)) for choice, setting in choices.items()]
