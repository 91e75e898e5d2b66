"""Findings: the paper's value of each cell beside ours, from the results of tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from bayesift.evaluation import Estimate
from papers.experiment import Absent, Alternative, Experiment, Extent, Plot, Reading, Value
from papers.printed import PrintedTable, printed_table
from papers.store import Outcomes

Flag = Literal["agrees", "differs", "not comparable", "ours alone", "missing"]
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
        same)
    explanation : why it differs, cannot be compared, or is missing
    """

    row: str
    column: str
    paper: float | str | None
    ours: float | str | None
    lower: float | None = None
    upper: float | None = None
    flag: Flag = "ours alone"
    explanation: str = ""

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
        tuple(cells),
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
        return Cell(*place, value, None, flag="missing", explanation=found.reason)
    ours, lower, upper = (found, None, None) if isinstance(found, str) else found
    if value is None:
        return Cell(*place, None, ours, lower, upper)
    if extent.quick or printed.other_data:
        reason = _QUICK if extent.quick else printed.other_data
        return Cell(*place, value, ours, lower, upper, "not comparable", reason)
    if agrees(value, found, printed.decimals(*place)):
        return Cell(*place, value, ours, lower, upper, "agrees")
    return Cell(*place, value, ours, lower, upper, "differs", printed.explanation(*place))


def agrees(printed: float | str, found: Value, decimals: int) -> bool:
    """Whether a printed value, up to its rounding, is within the interval of ours."""
    if isinstance(printed, str) or isinstance(found, str):
        return printed == found
    rounding = 0.5 * 10.0**-decimals + 1e-9
    lower = found.value if found.lower is None else found.lower
    upper = found.value if found.upper is None else found.upper
    return lower - rounding <= printed <= upper + rounding


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


def flag_counts(findings: list[Finding]) -> dict[str, int]:
    """Return the number of cells with each flag.

    Those that differ without an explanation are counted apart.
    """
    kinds = (
        "agrees",
        "differs, explained",
        "differs, not explained",
        "not comparable",
        "ours alone",
        "missing",
    )
    counts = dict.fromkeys(kinds, 0)
    for cell in (cell for finding in findings for cell in finding.cells):
        explained = (
            ""
            if cell.flag != "differs"
            else ", explained"
            if cell.explanation
            else ", not explained"
        )
        counts[cell.flag + explained] += 1
    return counts
