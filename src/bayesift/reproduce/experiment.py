"""What an experiment is: pieces of work whose results are kept, and the cells that are read off them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bayesift.evaluation import Estimate
from bayesift.report.curves import Plot

Result = Mapping[str, Any]
Value = Estimate | str


@dataclass(frozen=True)
class Extent:
    """How much of an experiment to run.

    Parameters
    ----------
    quick : on a sample of the documents and with fewer settings, labelled as such
    seed : of everything that is drawn by lot

    Examples
    --------
    >>> Extent(quick=True).settings
    {'quick': True, 'seed': 0}
    """

    quick: bool = False
    seed: int = 0

    @property
    def settings(self) -> dict[str, Any]:
        """As arguments of a measuring function."""
        return {"quick": self.quick, "seed": self.seed}


@dataclass(frozen=True)
class Task:
    """A piece of work: a function of a module, called with plain arguments; equal tasks are done once.

    Parameters
    ----------
    measure : gives a dictionary that JSON can hold; what stands under "seconds" is kept apart from the results
    arguments : its arguments as JSON, keys sorted
    corpora : names of `reproduce.corpora.PARTS` that it reads
    modules : further modules that the result depends on, which the function finds by name
    label : what to call it while it runs

    Examples
    --------
    >>> Task.of(divmod, "seven by two", a=7, b=2).settings
    {'a': 7, 'b': 2}
    """

    measure: Callable[..., dict[str, Any]]
    arguments: str
    corpora: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    label: str = field(default="", compare=False)

    @classmethod
    def of(
        cls,
        measure: Callable[..., Any],
        label: str,
        *,
        corpora: Sequence[str] = (),
        modules: Sequence[str] = (),
        **settings: Any,
    ) -> Task:
        """The task of calling a function with these settings."""
        arguments = json.dumps(settings, sort_keys=True, ensure_ascii=False)
        return cls(measure, arguments, tuple(corpora), tuple(modules), label)

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of the function."""
        settings: dict[str, Any] = json.loads(self.arguments)
        return settings


@dataclass(frozen=True)
class Reading:
    """How a value follows from the results of tasks.

    Parameters
    ----------
    tasks : what has to be done
    pick : takes their results, one argument each
    tolerant : whether it takes None for tasks that failed, instead of failing with them

    Examples
    --------
    >>> task = Task.of(dict, "corn", corn=[90.9, 88.0, 93.0])
    >>> reading(task, "corn").pick(task.measure(**task.settings))
    Estimate(value=90.9, lower=88.0, upper=93.0)
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
    """What another choice gives, where a paper leaves one open.

    Parameters
    ----------
    subject : the column or row that is varied
    choice : what is done
    readings : by the name of the measure
    """

    subject: str
    choice: str
    readings: Mapping[str, Reading]


@dataclass(frozen=True)
class PlotReading:
    """A picture that follows from the results of tasks."""

    tasks: tuple[Task, ...]
    draw: Callable[..., Plot]


@dataclass(frozen=True)
class TimeRatio:
    """How many times as long a part of one task took as the same part of another; never among the results."""

    task: Task
    reference: Task
    part: str = "total"


Grid = Mapping[tuple[str, str], Reading | Absent]


def _none(extent: Extent) -> Sequence[Any]:
    return ()


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper; what the paper printed, its page and its caption stand in the paper's data file.

    Parameters
    ----------
    name : paper and place, such as "sparse-bayes:table-3"
    grid : how each (row, column) is measured
    alternatives : other readings of what the paper leaves open
    plots : pictures
    ratios : of times, by row; they are shown beside the cells and kept out of the results

    Examples
    --------
    >>> Experiment("sparse-bayes:table-3").paper
    'sparse-bayes'
    """

    name: str
    grid: Callable[[Extent], Grid] = lambda extent: {}
    alternatives: Callable[[Extent], Sequence[Alternative]] = _none
    plots: Callable[[Extent], Sequence[PlotReading]] = _none
    ratios: Callable[[Extent], Mapping[str, TimeRatio]] = lambda extent: {}

    @property
    def paper(self) -> str:
        """The paper's short name."""
        return self.name.partition(":")[0]

    def tasks(self, extent: Extent) -> list[Task]:
        """All that has to be done, each task once."""
        readings = [found for found in self.grid(extent).values() if isinstance(found, Reading)]
        readings += [found for other in self.alternatives(extent) for found in other.readings.values()]
        tasks = [task for found in readings for task in found.tasks]
        tasks += [task for plot in self.plots(extent) for task in plot.tasks]
        return list(dict.fromkeys(tasks))


def reading(task: Task, name: str) -> Reading:
    """The value of that name in the result of one task."""
    return Reading((task,), lambda result: as_value(result[name]))


def as_value(found: Any) -> Value:
    """A value as it stands in a result: a number, a list of value and interval, or a text.

    Examples
    --------
    >>> as_value(3), as_value("<<")
    (Estimate(value=3, lower=None, upper=None), '<<')
    """
    if isinstance(found, str):
        return found
    return Estimate(*found) if isinstance(found, list | tuple) else Estimate(found)
