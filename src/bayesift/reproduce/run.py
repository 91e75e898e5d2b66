"""Running experiments and gathering what they found."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bayesift.files import whole_file
from bayesift.reproduce.catalogue import experiment, experiment_names
from bayesift.reproduce.experiment import Extent, Task
from bayesift.reproduce.findings import Finding, find
from bayesift.reproduce.running import carry_out
from bayesift.reproduce.store import Store


@dataclass(frozen=True)
class Reproduction:
    """What a run of experiments found.

    Parameters
    ----------
    findings : one an experiment
    extent : how much was run
    tasks, reused : how many pieces of work there are, and how many of them were done before
    failures : labels of those that failed, with the reason
    """

    findings: list[Finding]
    extent: Extent
    tasks: int
    reused: int
    failures: dict[str, str]

    @property
    def json(self) -> str:
        """All findings, without times: the same text for the same code, corpora and seed."""
        content = {
            "quick": self.extent.quick,
            "seed": self.extent.seed,
            "experiments": [finding.to_dict() for finding in self.findings],
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def reproduce(
    names: Sequence[str],
    *,
    folder: Path | str = "out/reproduce",
    extent: Extent | None = None,
    jobs: int = 1,
    progress: Callable[[Task | None, int, int], None] | None = None,
) -> Reproduction:
    """Run experiments by name; what was measured before by the same code on the same corpora is used again.

    Parameters
    ----------
    names : experiments, papers, or "all"
    folder : where results are kept; `results.json` there holds the findings
    extent : how much to run
    jobs : processes
    progress : called with a task (None before the first), and how many of how many are done

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = reproduce(["sparse-bayes:figure-3"], folder=folder)
    >>> found.findings[0].cells[0].ours < 0
    True
    """
    extent = extent or Extent()
    chosen = [experiment(name) for name in experiment_names(names)]
    tasks = list(dict.fromkeys(task for each in chosen for task in each.tasks(extent)))
    if progress is not None:
        progress(None, 0, len(tasks))
    outcomes = carry_out(
        tasks,
        Store(Path(folder)),
        jobs=jobs,
        progress=None if progress is None else lambda task, done: progress(task, done, len(tasks)),
    )
    findings = [find(each, extent, outcomes) for each in chosen]
    failures = {task.label: reason for task, reason in outcomes.failures.items()}
    made = Reproduction(findings, extent, len(tasks), outcomes.reused, failures)
    with whole_file(Path(folder) / ("results-quick.json" if extent.quick else "results.json"), "w") as stream:
        stream.write(made.json)
    return made
