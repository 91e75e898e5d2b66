"""Running experiments in one process or several.

A run that was killed continues where it stopped.
"""

from __future__ import annotations

import json
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from bayesift.errors import BayesiftError
from bayesift.files import whole_file
from papers.corpora import PARTS, is_present
from papers.experiment import Extent, Result, Task, experiment_names, experiments
from papers.findings import Finding, find
from papers.store import Outcomes, Store, content_key

_DIGITS = 10
_SINGLE_THREADED = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


@dataclass(frozen=True)
class Reproduction:
    """The findings of a run.

    Parameters
    ----------
    findings : one per experiment
    extent : how much was run
    tasks, reused : the number of tasks, and how many results were reused
    failures : labels of the tasks that failed, with the reason
    """

    findings: list[Finding]
    extent: Extent
    tasks: int
    reused: int
    failures: dict[str, str]

    @property
    def json(self) -> str:
        """All findings without times: the same text for the same code, corpora and seed."""
        content = {
            "quick": self.extent.quick,
            "seed": self.extent.seed,
            "experiments": [finding.to_dict() for finding in self.findings],
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def reproduce(
    names: Sequence[str],
    *,
    folder: Path | str,
    extent: Extent | None = None,
    jobs: int = 1,
    stored: bool = False,
    progress: Callable[[Task | None, int, int], None] | None = None,
) -> Reproduction:
    """Run experiments by name; results of the same code on the same corpora are reused.

    Parameters
    ----------
    names : experiments, papers, or "all"
    folder : where results are stored; `results.json` there holds the findings
    extent : how much to run
    jobs : processes
    stored : run nothing: only the experiments whose results are all stored
    progress : called with a task (None before the first), the number of tasks done and the number
        of all
    """
    extent = extent or Extent()
    chosen = [experiments()[name] for name in experiment_names(names)]
    if stored:
        chosen = [
            each for each in chosen if _is_stored(each.tasks(extent), Store(Path(folder)))
        ]
    tasks = list(dict.fromkeys(task for each in chosen for task in each.tasks(extent)))
    if progress is not None:
        progress(None, 0, len(tasks))
    outcomes = carry_out(
        tasks,
        Store(Path(folder)),
        jobs=jobs,
        progress=None
        if progress is None
        else lambda task, done: progress(task, done, len(tasks)),
    )
    findings = [find(each, extent, outcomes) for each in chosen]
    failures = {task.label: reason for task, reason in outcomes.failures.items()}
    made = Reproduction(findings, extent, len(tasks), outcomes.reused, failures)
    with whole_file(
        Path(folder) / ("results-quick.json" if extent.quick else "results.json"), "w"
    ) as stream:
        stream.write(made.json)
    return made


def _is_stored(tasks: Sequence[Task], store: Store) -> bool:
    return all(store.result(content_key(task)) is not None for task in tasks)


def carry_out(
    tasks: Sequence[Task],
    store: Store,
    *,
    jobs: int = 1,
    progress: Callable[[Task, int], None] | None = None,
) -> Outcomes:
    """Results of tasks, from the store where it has them.

    Each new one is stored as soon as it is measured.

    Parameters
    ----------
    tasks : in the order to start them
    store : of results
    jobs : processes
    progress : called with a task and the number of tasks done
    """
    outcomes, waiting = Outcomes(), []
    for task in tasks:
        missing = [name for name in task.corpora if not is_present(name)]
        if missing:
            outcomes.failures[task] = f"{PARTS[missing[0]].title} is not in the data directory"
            continue
        key = content_key(task)
        if (kept := store.result(key)) is None:
            waiting.append((task, key))
        else:
            outcomes.results[task], outcomes.seconds[task] = kept, store.seconds(key)
            outcomes.reused += 1
    for done, (task, found) in enumerate(_run(waiting, store, jobs), outcomes.reused + 1):
        if isinstance(found, str):
            outcomes.failures[task] = found
        else:
            outcomes.results[task], outcomes.seconds[task] = found
        if progress is not None:
            progress(task, done)
    return outcomes


Found = tuple[Result, dict[str, float]] | str


def _run(
    waiting: list[tuple[Task, str]], store: Store, jobs: int
) -> Iterator[tuple[Task, Found]]:
    if jobs == 1 or len(waiting) < 2:
        yield from ((task, work(task, key, store)) for task, key in waiting)
        return
    for name in _SINGLE_THREADED:
        os.environ.setdefault(name, "1")  # the processes are the threads
    with ProcessPoolExecutor(
        jobs, get_context("spawn"), _end_with_parent, (os.getpid(),)
    ) as pool:
        futures = {pool.submit(work, task, key, store): task for task, key in waiting}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def work(task: Task, key: str, store: Store) -> Found:
    """Run a task and store its result; returns the reason if it fails.

    BLAS has one thread, whatever the machine: with more, sums are rounded in another order.
    """
    start = time.perf_counter()
    try:
        with threadpool_limits(1):
            measured = dict(task.measure(**task.settings))
    except BayesiftError as error:
        return str(error)
    except Exception as error:  # a failed cell must not stop the others
        traceback.print_exc()
        return f"{type(error).__name__}: {error}"
    seconds = {**measured.pop("seconds", {}), "total": time.perf_counter() - start}
    result: dict[str, Any] = rounded(measured)
    store.keep(key, result, seconds)
    return result, seconds


def rounded(value: Any) -> Any:
    """Return a result as plain Python, its numbers rounded to ten significant digits."""
    if isinstance(value, dict):
        return {str(name): rounded(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    return value


def _end_with_parent(parent: int) -> None:
    """End a worker whose parent was killed; it would wait for ever."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
