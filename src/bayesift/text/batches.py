"""Texts from any source in batches, and work on batches by threads, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from itertools import islice
from typing import Any, TypeVar

import pyarrow as pa

from bayesift.errors import DataError

BATCH_CHARACTERS = 1 << 22
BATCH_TEXTS = 1 << 15

Item = TypeVar("Item")
Result = TypeVar("Result")


def batches_of(texts: Iterable[str] | pa.Array) -> Iterator[list[str] | pa.LargeStringArray]:
    """Cut texts into batches of a few million characters; an iterator is read only as far as needed.

    Examples
    --------
    >>> [len(batch) for batch in batches_of(["corn", "wheat"])]
    [2]
    """
    if isinstance(texts, str | bytes):
        raise TypeError(f"texts must be a sequence or iterator of strings, not one {type(texts).__name__}")
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        yield from _arrow_batches(texts)
        return
    start = 0
    source = iter(texts)
    while batch := _next_batch(source, start):
        yield batch
        start += len(batch)


def _next_batch(source: Iterator[Any], start: int) -> list[str]:
    batch: list[str] = []
    characters = 0
    while characters < BATCH_CHARACTERS and len(batch) < BATCH_TEXTS:
        part = _strings(list(islice(source, 256)), start + len(batch))
        if not part:
            break
        batch += part
        characters += sum(map(len, part))
    return batch


def _strings(part: list[Any], start: int) -> list[str]:
    if set(map(type, part)) <= {str}:
        return part
    for place, text in enumerate(part, start):
        if not isinstance(text, str):
            raise DataError(f"text {place} is {_kind(text)}, not a string")
    return [str(text) for text in part]


def _kind(text: Any) -> str:
    return "missing" if text is None or text != text else f"of type {type(text).__name__}"


def _arrow_batches(texts: pa.Array | pa.ChunkedArray) -> Iterator[pa.LargeStringArray]:
    for chunk in texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]:
        if chunk.null_count:
            raise DataError(f"{chunk.null_count:,} texts are missing")
        for begin in range(0, len(chunk), BATCH_TEXTS):
            yield chunk.slice(begin, BATCH_TEXTS).cast(pa.large_string())


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], pool: Executor | None, width: int
) -> Iterator[Result]:
    """Results of `work` on items in their order, by threads of the pool if there is one, `width` items ahead.

    Examples
    --------
    >>> list(in_order(str.upper, ["a", "b"], None, 1))
    ['A', 'B']
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
