"""The board of one corpus: a row a contender."""

from __future__ import annotations

from typing import Any

from bayesift.evaluation import significance_table
from bayesift.reproduce.decisions import matrix_of
from bayesift.reproduce.experiment import Absent, Experiment, Extent, Reading, Task, TimeRatio, reading
from bayesift.reproduce.leaderboard.contenders import contender, module_of
from bayesift.reproduce.leaderboard.field import OURS, PEERS
from bayesift.reproduce.leaderboard.letters import shared_letters
from bayesift.reproduce.leaderboard.protocol import measure_contender, truth_of

MEASURES = ("micro F1", "macro F1", "log loss", "ECE")
REFERENCE = "sklearn_logistic"


def board(corpus: str) -> Experiment:
    """The leaderboard of a corpus."""

    def tasks(extent: Extent) -> dict[str, Task]:
        return {name: _task(corpus, name, extent) for name in (*OURS, *PEERS) if contender(name).is_installed}

    def ratios(extent: Extent) -> dict[str, TimeRatio]:
        found = tasks(extent)
        return {_row(name): TimeRatio(task, found[REFERENCE], "fit") for name, task in found.items()}

    return Experiment(f"leaderboard:{corpus}", lambda extent: _grid(corpus, tasks(extent), extent), ratios=ratios)


def _task(corpus: str, name: str, extent: Extent) -> Task:
    return Task.of(
        measure_contender,
        f"leaderboard: {corpus}: {contender(name).name}",
        corpora=(corpus,),
        modules=(module_of(name),),
        corpus=corpus,
        name=name,
        **extent.settings,
    )


def _row(name: str) -> str:
    entry = contender(name)
    return f"{entry.name} ({entry.package})"


def _grid(corpus: str, tasks: dict[str, Task], extent: Extent) -> dict[tuple[str, str], Reading | Absent]:
    grid: dict[tuple[str, str], Reading | Absent] = {}
    truth = Task.of(truth_of, f"leaderboard: {corpus}: labels", corpora=(corpus,), corpus=corpus, **extent.settings)
    letters = _Letters(list(tasks))
    for name in (*OURS, *PEERS):
        if name not in tasks:
            reason = Absent(f"{contender(name).module} is not installed")
            grid |= {(_row(name), measure): reason for measure in MEASURES}
            continue
        task = tasks[name]
        grid |= {(_row(name), measure): reading(task, measure) for measure in MEASURES}
        grid[_row(name), "letters"] = Reading((truth, *tasks.values()), letters.of(name), tolerant=True)
        grid[_row(name), "kB"] = Reading((task,), lambda result: f"{result['size'] / 1000:,.0f}")
        grid[_row(name), "chosen for decisions"] = reading(task, "setting")
        grid[_row(name), "chosen for forecasts"] = reading(task, "forecast setting")
    return grid


class _Letters:
    """Letters by the micro sign test between all pairs, corrected by Holm; computed once for all rows."""

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self._letters: dict[str, str] = {}

    def of(self, name: str) -> Any:
        """What reads the letters of one contender."""

        def pick(truth: Any, *results: Any) -> str:
            measured = {known: found for known, found in zip(self._names, results, strict=True) if found is not None}
            if truth is None or name not in measured:
                return ""
            if not self._letters:
                self._letters = self._computed(truth, measured)
            return self._letters[name]

        return pick

    def _computed(self, truth: Any, results: dict[str, Any]) -> dict[str, str]:
        shape = truth["shape"]
        decided = {name: matrix_of(result["decisions"], shape) for name, result in results.items()}
        table = significance_table(matrix_of(truth["labels"], shape), decided, alternative="two-sided")
        order = sorted(results, key=lambda name: -results[name]["micro F1"][0])
        return shared_letters(order, lambda a, b: table.symbols(a, b)[0] != "~")
