"""Findings: the paper's value of each cell beside ours, from the results of tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

from bayesift.evaluation import Estimate
from papers.experiment import Absent, Alternative, Experiment, Extent, Plot, Reading, Value
from papers.printed import PrintedTable, printed_table
from papers.store import Outcomes

Flag = Literal[
    "agrees",
    "explained",
    "partly explained",
    "not explained",
    "not comparable",
    "ours alone",
    "missing",
]
# Of other readings the rows of these measures, where a table calls them otherwise.
_ROWS = {"micro F1": "micro-average", "macro F1": "macro-average"}
_QUICK = "a quick run, on a sample of the documents"


@dataclass(frozen=True)
class Cell:
    """One value: what the paper printed and what we measured.

    Parameters
    ----------
    row, column : its place
    paper : None where the paper has no such value
    ours : None where it is missing
    lower, upper : 95% bootstrap interval of ours; None where nothing is resampled
    flag : "agrees" when the printed value, up to its rounding, lies in the interval (or is the
        same); of others that can be compared, what another reading says (`judged`)
    note : what is known of the difference, or why it cannot be compared or is missing
    reading : the other reading that explains it, or a part of it
    """

    row: str
    column: str
    paper: float | str | None
    ours: float | str | None
    lower: float | None = None
    upper: float | None = None
    flag: Flag = "ours alone"
    note: str = ""
    reading: str = ""

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's; None where either is not a number."""
        if isinstance(self.paper, int | float) and isinstance(self.ours, int | float):
            return round(self.ours - self.paper, 10)
        return None


@dataclass(frozen=True)
class OtherReading:
    """What another choice gives, by measure."""

    subject: str
    choice: str
    values: dict[str, Estimate | str]


@dataclass(frozen=True)
class Finding:
    """All that one experiment measured.

    Parameters
    ----------
    name : of the experiment
    printed : what the paper has
    quick : whether it ran on a sample
    cells : in the order of the printed table
    others : other readings of what the paper leaves open
    plots : pictures
    missing_plots : why pictures are missing
    seconds : total time of the tasks
    ratios : of times by row
    """

    name: str
    printed: PrintedTable
    quick: bool
    cells: tuple[Cell, ...]
    others: tuple[OtherReading, ...] = ()
    plots: tuple[Plot, ...] = ()
    missing_plots: tuple[str, ...] = ()
    seconds: float = 0.0
    ratios: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values without times: equal for equal runs."""
        return {
            "name": self.name,
            "title": self.printed.title,
            "section": self.printed.section,
            "corpus": self.printed.corpus,
            "quick": self.quick,
            "choices": list(self.printed.choices),
            "cells": [{**asdict(cell), "difference": cell.difference} for cell in self.cells],
            "alternatives": [asdict(other) for other in self.others],
            "plots": [{"kind": type(plot).__name__, **asdict(plot)} for plot in self.plots],
            "missing_plots": list(self.missing_plots),
        }


def find(experiment: Experiment, extent: Extent, outcomes: Outcomes) -> Finding:
    """Read the cells of an experiment off the results."""
    printed = printed_table(experiment.name)
    grid = dict(experiment.grid(extent))
    places = list(
        dict.fromkeys(
            [*(place for place, value in printed.values.items() if value is not None), *grid]
        )
    )
    absent = Absent("left out of a quick run" if extent.quick else "not measured")
    cells = [
        _cell(place, grid.get(place, absent), printed, extent, outcomes) for place in places
    ]
    others = [
        found
        for other in experiment.alternatives(extent)
        if (found := _other(other, outcomes)) is not None
    ]
    plots: list[Plot] = []
    missing: list[Absent] = []
    for drawing in experiment.plots(extent):
        found = _applied(drawing.tasks, drawing.draw, outcomes)
        (missing if isinstance(found, Absent) else plots).append(found)
    seconds = sum(
        outcomes.seconds.get(task, {}).get("total", 0.0) for task in experiment.tasks(extent)
    )
    return Finding(
        experiment.name,
        printed,
        extent.quick,
        judged(cells, others, printed),
        tuple(others),
        tuple(plots),
        tuple(reason.reason for reason in missing),
        seconds,
        dict(_ratios(experiment, extent, outcomes)),
    )


def _ratios(
    experiment: Experiment, extent: Extent, outcomes: Outcomes
) -> Iterator[tuple[str, float]]:
    for row, ratio in experiment.ratios(extent).items():
        ours, reference = (
            outcomes.seconds.get(task, {}).get(ratio.part)
            for task in (ratio.task, ratio.reference)
        )
        if ours is not None and reference:
            yield row, ours / reference


def _cell(
    place: tuple[str, str],
    measured: Reading | Absent,
    printed: PrintedTable,
    extent: Extent,
    outcomes: Outcomes,
) -> Cell:
    value = printed.values.get(place)
    found = measured if isinstance(measured, Absent) else _read(measured, outcomes)
    if isinstance(found, Absent):
        return Cell(*place, value, None, flag="missing", note=found.reason)
    ours, lower, upper = (found, None, None) if isinstance(found, str) else found
    if value is None:
        return Cell(*place, None, ours, lower, upper)
    if extent.quick or printed.other_data:
        reason = _QUICK if extent.quick else printed.other_data
        return Cell(*place, value, ours, lower, upper, "not comparable", reason)
    if agrees(value, found, printed.decimals(*place)):
        return Cell(*place, value, ours, lower, upper, "agrees")
    return Cell(*place, value, ours, lower, upper, "not explained", printed.note(*place))


def agrees(printed: float | str, found: Value, decimals: int) -> bool:
    """Whether a printed value, up to its rounding, is within the interval of ours."""
    if isinstance(printed, str) or isinstance(found, str):
        return printed == found
    rounding = 0.5 * 10.0**-decimals + 1e-9
    lower = found.value if found.lower is None else found.lower
    upper = found.value if found.upper is None else found.upper
    return lower - rounding <= printed <= upper + rounding


def judged(
    cells: Sequence[Cell], others: Sequence[OtherReading], printed: PrintedTable
) -> tuple[Cell, ...]:
    """Say of cells that differ whether another reading of what the paper leaves open explains them.

    It does where our value of that reading, with the interval of the cell, agrees with the printed
    one, and in part where it is at least half of the way there. All cells of a system are judged by
    one reading, the one that explains most of them: of several, one comes near any single cell by
    chance.
    """
    chosen: dict[str, tuple[tuple[int, int], dict[tuple[str, str], Cell]]] = {}
    for other in others:
        changed = {}
        for cell in cells:
            verdict = _verdict(cell, other, printed)
            if verdict is not None:
                place = cell.row, cell.column
                changed[place] = replace(cell, flag=verdict, reading=other.choice)
        flags = [cell.flag for cell in changed.values()]
        score = flags.count("explained"), flags.count("partly explained")
        if other.subject not in chosen or score > chosen[other.subject][0]:
            chosen[other.subject] = score, changed
    verdicts = {
        place: cell for _, changed in chosen.values() for place, cell in changed.items()
    }
    return tuple(verdicts.get((cell.row, cell.column), cell) for cell in cells)


def _verdict(cell: Cell, other: OtherReading, printed: PrintedTable) -> Flag | None:
    """Return what a reading says of a cell that differs; None where it does not help."""
    if other.subject == cell.row:
        found = other.values.get(cell.column)
    else:
        rows = {_ROWS.get(measure, measure): value for measure, value in other.values.items()}
        found = rows.get(cell.row) if other.subject == cell.column else None
    numbers = (cell.paper, cell.ours, getattr(found, "value", None))
    if cell.flag != "not explained" or not all(isinstance(n, int | float) for n in numbers):
        return None
    paper, ours, theirs = (float(n) for n in numbers if isinstance(n, int | float))
    below = 0.0 if cell.lower is None else ours - cell.lower
    above = 0.0 if cell.upper is None else cell.upper - ours
    moved = Estimate(theirs, theirs - below, theirs + above)
    if agrees(paper, moved, printed.decimals(cell.row, cell.column)):
        return "explained"
    return "partly explained" if abs(paper - theirs) <= abs(paper - ours) / 2 else None


def _other(other: Alternative, outcomes: Outcomes) -> OtherReading | None:
    values = {name: _read(found, outcomes) for name, found in other.readings.items()}
    measured = {name: value for name, value in values.items() if not isinstance(value, Absent)}
    return (
        OtherReading(other.subject, other.choice, measured)
        if len(measured) == len(values)
        else None
    )


def _read(measured: Reading, outcomes: Outcomes) -> Value | Absent:
    if measured.tolerant:
        return measured.pick(*(outcomes.results.get(task) for task in measured.tasks))
    found: Value | Absent = _applied(measured.tasks, measured.pick, outcomes)
    return found


def _applied(tasks: tuple[Any, ...], function: Callable[..., Any], outcomes: Outcomes) -> Any:
    failed = [outcomes.failures[task] for task in tasks if task in outcomes.failures]
    return (
        Absent(failed[0]) if failed else function(*(outcomes.results[task] for task in tasks))
    )


def flag_counts(findings: Sequence[Finding]) -> dict[str, int]:
    """Return the number of cells with each flag."""
    flags = [cell.flag for finding in findings for cell in finding.cells]
    return {flag: flags.count(flag) for flag in get_args(Flag)}
