"""Bounds that keep the service standing: requests of a person, bytes of a body."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bayesift.service.errors import BusyError, TooLargeError
from bayesift.service.problems import problem_response

_MOST_NAMES = 10_000


class RateLimit:
    """A bucket of allowances for each name, refilled steadily.

    Parameters
    ----------
    per_second : how fast it refills
    burst : how much it holds
    clock : seconds from some moment on

    Examples
    --------
    >>> limit = RateLimit(1.0, 2, clock=lambda: 0.0)
    >>> limit.spend("ada"), limit.spend("ada"), limit.spend("bob")
    (None, None, None)
    >>> limit.spend("ada")
    Traceback (most recent call last):
    bayesift.service.errors.BusyError: too many requests; try again later
    """

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, name: str) -> None:
        """Take one allowance, or refuse."""
        with self._lock:
            now = self._clock()
            left, since = self._buckets.pop(name, (float(self._burst), now))
            left = min(self._burst, left + (now - since) * self._per_second)
            self._buckets[name] = (left - 1 if left >= 1 else left, now)
            if len(self._buckets) > _MOST_NAMES:
                self._buckets.popitem(last=False)
        if left < 1:
            raise BusyError(
                "too many requests; try again later", seconds=max(1, math.ceil((1 - left) / self._per_second))
            )


class BodyLimit:
    """Reads bodies whole before anything else, and refuses those of more bytes than a bound.

    Some paths are left alone: they read their bodies as they come.
    """

    def __init__(self, app: ASGIApp, *, most: int, streams: frozenset[str]) -> None:
        self._app = app
        self._most = most
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body."""
        if scope["type"] != "http" or scope["path"] in self._streams:
            await self._app(scope, receive, send)
            return
        body = await self._body(scope, receive)
        if body is None:
            error = TooLargeError(f"the body has more than the {self._most:,} bytes allowed")
            await problem_response(error)(scope, receive, send)
            return
        given = False

        async def whole() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, whole, send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body; None if it is too large."""
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self._most:
            return None
        pieces, size, more = [], 0, True
        while more:
            message = await receive()
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            more = message.get("more_body", False)
            if size > self._most:
                return None
        return b"".join(pieces)
