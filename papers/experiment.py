"""Experiments: tasks whose results are stored, and the cells that are read off these results."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from bayesift.errors import RequestError
from bayesift.evaluation import Estimate
from papers.pictures import BoxPlot, Diagram, LinePlot

Result = Mapping[str, Any]
Value = Estimate | str
Plot = LinePlot | BoxPlot | Diagram

# Each paper's module holds its `EXPERIMENTS`, a YAML file of the same name what it printed. The
# order is that of reports and of work: quick tasks come last, so that no core idles at the end.
MODULES = {
    "sparse-bayes": "sparse_bayes",
    "online": "online",
    "lecture": "lecture",
    "topical": "topical",
    "hybrid": "hybrid",
    "leaderboard": "leaderboards",
}


@dataclass(frozen=True)
class Extent:
    """How much of an experiment to run.

    Parameters
    ----------
    quick : on a sample of the documents and with fewer settings; cells are labelled as such
    seed : of all random choices
    long : also the cells that take many minutes each
    """

    quick: bool = False
    seed: int = 0
    long: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """The extent as arguments of a measuring function."""
        return {"quick": self.quick, "seed": self.seed}


@dataclass(frozen=True)
class Task:
    """A call of a module's function with plain arguments; equal tasks run once.

    Parameters
    ----------
    measure : returns a dictionary that JSON can hold; its entry "seconds" is stored apart from the
        results
    arguments : the arguments as JSON with sorted keys
    corpora : names of `corpora.PARTS` that the function reads
    also : further definitions ("module:name") that the result depends on, which the function looks
        up by name
    label : shown while the task runs
    """

    measure: Callable[..., dict[str, Any]]
    arguments: str
    corpora: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    label: str = field(default="", compare=False)

    @classmethod
    def of(
        cls,
        measure: Callable[..., Any],
        label: str,
        *,
        corpora: Sequence[str] = (),
        also: Sequence[str] = (),
        **settings: Any,
    ) -> Task:
        """Return the task of calling a function with these settings."""
        arguments = json.dumps(settings, sort_keys=True, ensure_ascii=False)
        return cls(measure, arguments, tuple(corpora), tuple(also), label)

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of the function."""
        settings: dict[str, Any] = json.loads(self.arguments)
        return settings


@dataclass(frozen=True)
class Reading:
    """A value computed from the results of tasks.

    Parameters
    ----------
    tasks : whose results are read
    pick : takes the results, one argument per task
    tolerant : whether `pick` accepts None for tasks that failed; otherwise the reading fails with
        them
    """

    tasks: tuple[Task, ...]
    pick: Callable[..., Value]
    tolerant: bool = False


@dataclass(frozen=True)
class Absent:
    """A cell that is not measured, and why."""

    reason: str


@dataclass(frozen=True)
class Alternative:
    """The result of another choice that the paper leaves open: readings by measure."""

    subject: str
    choice: str
    readings: Mapping[str, Reading]


@dataclass(frozen=True)
class PlotReading:
    """A picture drawn from the results of tasks."""

    tasks: tuple[Task, ...]
    draw: Callable[..., Plot]


@dataclass(frozen=True)
class TimeRatio:
    """The time of a part of one task relative to the same part of another.

    Never among the results.
    """

    task: Task
    reference: Task
    part: str = "total"


Grid = dict[tuple[str, str], Reading | Absent]


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper.

    The printed values and the caption are in the paper's YAML file.

    Parameters
    ----------
    name : paper and place, such as "sparse-bayes:table-3"
    grid : how each (row, column) is measured
    alternatives : other readings of what the paper leaves open
    plots : pictures
    ratios : of times, by row; shown beside the cells and kept out of the results
    """

    name: str
    grid: Callable[[Extent], Grid] = lambda extent: {}
    alternatives: Callable[[Extent], Sequence[Alternative]] = lambda extent: ()
    plots: Callable[[Extent], Sequence[PlotReading]] = lambda extent: ()
    ratios: Callable[[Extent], Mapping[str, TimeRatio]] = lambda extent: {}

    def tasks(self, extent: Extent) -> list[Task]:
        """All tasks, each once."""
        readings = [found for found in self.grid(extent).values() if isinstance(found, Reading)]
        readings += [
            found for other in self.alternatives(extent) for found in other.readings.values()
        ]
        tasks = [task for found in readings for task in found.tasks]
        tasks += [task for plot in self.plots(extent) for task in plot.tasks]
        return list(dict.fromkeys(tasks))


def reading(task: Task, name: str) -> Reading:
    """Return the value of that name in the result of one task."""
    return Reading((task,), lambda result: as_value(result[name]))


def as_value(found: Any) -> Value:
    """Return a value of a result: a number, a list of value and interval, or a text."""
    if isinstance(found, str):
        return found
    return Estimate(*found) if isinstance(found, list | tuple) else Estimate(found)


@cache
def experiments() -> dict[str, Experiment]:
    """All experiments by name."""
    modules = (import_module(f"papers.{module}") for module in MODULES.values())
    return {
        experiment.name: experiment for module in modules for experiment in module.EXPERIMENTS
    }


def experiment_names(wanted: Sequence[str]) -> list[str]:
    """Return the experiments that names stand for: experiments, papers, or "all".

    Examples
    --------
    >>> experiment_names(["sparse-bayes:table-3"]), len(experiment_names(["sparse-bayes"]))
    (['sparse-bayes:table-3'], 11)
    """
    names: list[str] = []
    for name in wanted:
        matching = [
            known for known in experiments() if name in ("all", known, known.partition(":")[0])
        ]
        if not matching:
            close = difflib.get_close_matches(name, [*experiments(), *MODULES, "all"], n=2)
            hint = f"; did you mean {' or '.join(close)}? See" if close else "; see"
            raise RequestError(f"no experiment {name!r}{hint}: python -m papers --list")
        names += matching
    return list(dict.fromkeys(names))
