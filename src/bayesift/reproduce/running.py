"""Doing what is not done yet, in one process or several, so that a run that is killed goes on where it was."""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

from bayesift.errors import BayesiftError
from bayesift.reproduce.corpora import PARTS, is_present
from bayesift.reproduce.experiment import Result, Task
from bayesift.reproduce.store import Store, content_key

_DIGITS = 10
_SINGLE_THREADED = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


@dataclass
class Outcomes:
    """What became of tasks.

    Parameters
    ----------
    results : of the tasks that are done
    seconds : how long each took, by part
    failures : why the others are not
    reused : how many were done before
    """

    results: dict[Task, Result] = field(default_factory=dict)
    seconds: dict[Task, dict[str, float]] = field(default_factory=dict)
    failures: dict[Task, str] = field(default_factory=dict)
    reused: int = 0


def carry_out(
    tasks: Sequence[Task], store: Store, *, jobs: int = 1, progress: Callable[[Task, int], None] | None = None
) -> Outcomes:
    """Results of tasks, from the store where they are there; each new one is kept as soon as it is done.

    Parameters
    ----------
    tasks : in the order to begin them
    store : where results are kept
    jobs : processes
    progress : called with a task and the number that is done

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> task = Task.of(dict, "corn", corn=1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, second = (carry_out([task], Store(Path(folder))) for _ in range(2))
    >>> first.results[task], first.reused, second.reused
    ({'corn': 1.0}, 0, 1)
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
    for done, (task, found) in enumerate(_done(waiting, store, jobs), outcomes.reused + 1):
        if isinstance(found, str):
            outcomes.failures[task] = found
        else:
            outcomes.results[task], outcomes.seconds[task] = found
        if progress is not None:
            progress(task, done)
    return outcomes


Found = tuple[Result, dict[str, float]] | str


def _done(waiting: list[tuple[Task, str]], store: Store, jobs: int) -> Iterator[tuple[Task, Found]]:
    if jobs == 1 or len(waiting) < 2:
        yield from ((task, work(task, key, store)) for task, key in waiting)
        return
    for name in _SINGLE_THREADED:
        os.environ.setdefault(name, "1")  # the processes are the threads
    with ProcessPoolExecutor(jobs, get_context("spawn"), _end_with_parent, (os.getpid(),)) as pool:
        futures = {pool.submit(work, task, key, store): task for task, key in waiting}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def work(task: Task, key: str, store: Store) -> Found:
    """Do a task and keep its result; the reason if it cannot be done."""
    start = time.perf_counter()
    try:
        measured = dict(task.measure(**task.settings))
    except BayesiftError as error:
        return str(error)
    except Exception as error:  # one cell must not take the others with it
        traceback.print_exc()
        return f"{type(error).__name__}: {error}"
    seconds = {**measured.pop("seconds", {}), "total": time.perf_counter() - start}
    result: dict[str, Any] = rounded(measured)
    store.keep(key, result, seconds)
    return result, seconds


def rounded(value: Any) -> Any:
    """A result with its numbers at ten significant digits, as plain Python.

    Examples
    --------
    >>> rounded({"f1": (1 / 3, None), "n": 3, "name": "corn"})
    {'f1': [0.3333333333, None], 'n': 3, 'name': 'corn'}
    """
    if isinstance(value, dict):
        return {str(name): rounded(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    return value


def _end_with_parent(parent: int) -> None:
    """A worker whose run was killed ends too, instead of waiting for ever."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
