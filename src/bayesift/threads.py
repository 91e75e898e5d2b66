"""Work in threads that an interrupt stops, and values that threads share."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from threading import RLock
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(
    work: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None
) -> Iterator[Result]:
    """Return the results of all items in their order, by threads; -1 is one thread per core.

    On an error or an interrupt (Ctrl-C) items that have not begun are dropped, those that have are
    waited for.

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


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], pool: Executor | None, width: int
) -> Iterator[Result]:
    """Results of `work` in the order of the items.

    A pool of threads works up to `width` items ahead.
    """
    if pool is None:
        yield from map(work, items)
        return
    pending: deque[Future[Result]] = deque()
    for item in items:
        pending.append(pool.submit(work, item))
        if len(pending) > width:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def in_order_by(
    n_jobs: int, work: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Result]:
    """Results of `work` in the order of the items, by so many threads, which are a few items ahead.

    -1: one per core.

    Examples
    --------
    >>> list(in_order_by(2, abs, iter([-1, 2, -3])))
    [1, 2, 3]
    """
    n_threads = (os.cpu_count() or 1) if n_jobs == -1 else max(1, n_jobs)
    if n_threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from in_order(work, items, pool, n_threads)


class computed_once(Generic[Result]):  # noqa: N801
    """A property that one thread computes on first use, while the others wait, and that is kept.

    `functools.cached_property` lets threads that come at the same time compute it several times
    over.

    Examples
    --------
    >>> class Circle:
    ...     @computed_once
    ...     def area(self):
    ...         print("computing")
    ...         return 3.14
    >>> circle = Circle()
    >>> circle.area + circle.area
    computing
    6.28
    """

    def __init__(self, function: Callable[[Any], Result]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Result:
        if instance is None:
            return self  # type: ignore[return-value]
        values = vars(instance)
        lock = f"{self._name} is being computed"
        with values.setdefault(lock, RLock()):
            if self._name not in values:
                values[self._name] = self._function(instance)
            values.pop(lock, None)  # a lock cannot be copied or pickled
        result: Result = values[self._name]
        return result
