"""Paper beside ours: the cells of an experiment, put together from the results of its tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from bayesift.evaluation import Estimate
from bayesift.report.curves import Plot
from bayesift.reproduce.experiment import Absent, Alternative, Experiment, Extent, Reading, Value
from bayesift.reproduce.printed import PrintedTable, printed_table
from bayesift.reproduce.running import Outcomes

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
    flag : "agrees" when the printed value, give or take its rounding, lies in the interval (or is the same)
    explanation : why it differs, cannot be compared, or is missing

    Examples
    --------
    >>> Cell("corn", "SVM", 86.2, 88.0, 84.9, 90.1, "agrees").difference
    1.8
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
        """Ours minus the paper's; None where either is no number."""
        if isinstance(self.paper, int | float) and isinstance(self.ours, int | float):
            return round(self.ours - self.paper, 10)
        return None


@dataclass(frozen=True)
class OtherReading:
    """What another choice gave, by measure."""

    subject: str
    choice: str
    values: dict[str, Estimate | str]


@dataclass(frozen=True)
class Finding:
    """All that one experiment found.

    Parameters
    ----------
    name : of the experiment
    printed : what the paper has
    quick : whether it ran on a sample
    cells : in the order of the printed table
    others : other readings of what the paper leaves open
    plots : pictures
    missing_plots : why pictures are not there
    seconds : what the tasks took together
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
    places = list(dict.fromkeys([*(place for place, said in printed.values.items() if said is not None), *grid]))
    absent = Absent("left out of a quick run" if extent.quick else "not measured")
    cells = [_cell(place, grid.get(place, absent), printed, extent, outcomes) for place in places]
    others = [found for other in experiment.alternatives(extent) if (found := _other(other, outcomes)) is not None]
    plots: list[Plot] = []
    missing: list[Absent] = []
    for drawing in experiment.plots(extent):
        found = _applied(drawing.tasks, drawing.draw, outcomes)
        (missing if isinstance(found, Absent) else plots).append(found)
    seconds = sum(outcomes.seconds.get(task, {}).get("total", 0.0) for task in experiment.tasks(extent))
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


def _ratios(experiment: Experiment, extent: Extent, outcomes: Outcomes) -> Iterator[tuple[str, float]]:
    for row, ratio in experiment.ratios(extent).items():
        ours, reference = (outcomes.seconds.get(task, {}).get(ratio.part) for task in (ratio.task, ratio.reference))
        if ours is not None and reference:
            yield row, ours / reference


def _cell(
    place: tuple[str, str], measured: Reading | Absent, printed: PrintedTable, extent: Extent, outcomes: Outcomes
) -> Cell:
    said = printed.values.get(place)
    found = measured if isinstance(measured, Absent) else _read(measured, outcomes)
    if isinstance(found, Absent):
        return Cell(*place, said, None, flag="missing", explanation=found.reason)
    value, lower, upper = (found, None, None) if isinstance(found, str) else found
    if said is None:
        return Cell(*place, None, value, lower, upper)
    if extent.quick or printed.other_data:
        reason = _QUICK if extent.quick else printed.other_data
        return Cell(*place, said, value, lower, upper, "not comparable", reason)
    if agrees(said, found, printed.decimals(*place)):
        return Cell(*place, said, value, lower, upper, "agrees")
    return Cell(*place, said, value, lower, upper, "differs", printed.explanation(*place))


def agrees(said: float | str, found: Value, decimals: int) -> bool:
    """Whether a printed value, give or take its rounding, is within the interval of ours.

    Examples
    --------
    >>> agrees(86.2, Estimate(88.0, 84.9, 90.1), 1), agrees(86.2, Estimate(86.24), 1), agrees("<<", "<", 1)
    (True, True, False)
    """
    if isinstance(said, str) or isinstance(found, str):
        return said == found
    rounding = 0.5 * 10.0**-decimals + 1e-9
    lower = found.value if found.lower is None else found.lower
    upper = found.value if found.upper is None else found.upper
    return lower - rounding <= said <= upper + rounding


def _other(other: Alternative, outcomes: Outcomes) -> OtherReading | None:
    values = {name: _read(found, outcomes) for name, found in other.readings.items()}
    measured = {name: value for name, value in values.items() if not isinstance(value, Absent)}
    return OtherReading(other.subject, other.choice, measured) if len(measured) == len(values) else None


def _read(measured: Reading, outcomes: Outcomes) -> Value | Absent:
    if measured.tolerant:
        return measured.pick(*(outcomes.results.get(task) for task in measured.tasks))
    found: Value | Absent = _applied(measured.tasks, measured.pick, outcomes)
    return found


def _applied(tasks: tuple[Any, ...], function: Callable[..., Any], outcomes: Outcomes) -> Any:
    failed = [outcomes.failures[task] for task in tasks if task in outcomes.failures]
    return Absent(failed[0]) if failed else function(*(outcomes.results[task] for task in tasks))


def flag_counts(findings: list[Finding]) -> dict[str, int]:
    """How many cells have each flag; those that differ without an explanation apart.

    Examples
    --------
    >>> sum(flag_counts([]).values())
    0
    """
    kinds = ("agrees", "differs, explained", "differs, not explained", "not comparable", "ours alone", "missing")
    counts = dict.fromkeys(kinds, 0)
    for kind in _kinds(findings):
        counts[kind] += 1
    return counts


def _kinds(findings: list[Finding]) -> Iterator[str]:
    for cell in (cell for finding in findings for cell in finding.cells):
        if cell.flag == "differs":
            yield "differs, explained" if cell.explanation else "differs, not explained"
        else:
            yield cell.flag
