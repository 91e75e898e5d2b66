"""Work on categories in threads that an interrupt stops."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(work: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None) -> Iterator[Result]:
    """The results of all items in their order; -1 is a thread a core.

    On an error or an interrupt (Ctrl-C) items that have not begun are dropped, those that have are waited for.

    Examples
    --------
    >>> list(in_threads(abs, [-1, 2, -3], n_jobs=2))
    [1, 2, 3]
    """
    threads = min(len(items), (os.cpu_count() or 1) if n_jobs == -1 else n_jobs or 1)
    if threads <= 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(work, items)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
