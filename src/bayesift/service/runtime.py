"""A service as it runs: the store, the filter, the writer, and what people at its doors share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bayesift.filtering import FilterEngine, Profile
from bayesift.service.errors import NotFoundError
from bayesift.service.leases import Leases
from bayesift.service.limits import RateLimit
from bayesift.service.live import LiveFilter, Operation
from bayesift.service.metrics import Metrics
from bayesift.service.people import People, Person, add_user
from bayesift.service.settings import ServiceSettings
from bayesift.service.snapshots import SnapshotFolder
from bayesift.service.writer import Line, Writer
from bayesift.stores import open_store

FIRST_ADMIN = "admin"


class News:
    """Wakes those who wait for something to be committed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._event = asyncio.Event()

    def listen(self) -> None:
        """Belong to the running loop."""
        self._loop = asyncio.get_running_loop()

    def tell(self) -> None:
        """Something happened; may be called from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    async def wait(self, seconds: float) -> bool:
        """Until something happens, or the time is over; says whether something did."""
        try:
            return await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return False

    def _wake(self) -> None:
        self._event.set()
        self._event = asyncio.Event()


class Service:
    """Everything the routes need.

    Parameters
    ----------
    settings : how it runs

    Attributes
    ----------
    first_token : the token of the first admin when the store is new, which is shown once and kept nowhere
    closing : set when the service is about to end
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.store = open_store(settings.folder, settings.database)
        try:
            snapshots = SnapshotFolder(settings.folder, self.store.name)
            self.live = LiveFilter(self.store, snapshots)
            self.people = People(self.store, session_hours=settings.session_hours)
        except BaseException:
            self.store.close()
            raise
        self.news = News()
        self.metrics = Metrics()
        self.leases = Leases(settings.lease_seconds)
        self.requests = RateLimit(settings.requests_per_second, settings.burst)
        self.logins = RateLimit(settings.logins_per_minute / 60, settings.logins_per_minute)
        self.closing = False
        self.open_streams = 0
        self.remembered: dict[Any, Any] = {}
        lengths: dict[Line, int] = {"people": settings.waiting_people, "documents": settings.waiting_batches}
        self.writer = Writer(
            self.store,
            self.live,
            snapshots,
            lengths=lengths,
            snapshot_every=settings.snapshot_every,
            committed=self.news.tell,
        )
        self.first_token = None if self.people.known else self._let_first_admin_in()

    def _let_first_admin_in(self) -> str:
        token: str = self.writer.submit("", lambda turn: add_user(turn, FIRST_ADMIN, "admin")).result()
        self.people.reload()
        return token

    async def do(self, person: Person, operation: Operation, *, line: Line = "people") -> Any:
        """Let a person do something; returns when it is on the disk."""
        return await asyncio.wrap_future(self.writer.submit(person.name, operation, line=line))

    @contextmanager
    def profile(self, name: str) -> Iterator[tuple[FilterEngine, Profile]]:
        """The engine and one of its profiles, held still."""
        with self.live.lock:
            if name not in self.live.engine.profiles:
                raise NotFoundError(f"no profile {name!r}")
            yield self.live.engine, self.live.engine.profiles[name]

    def end_streams(self) -> None:
        """Let open streams of events come to their end."""
        self.closing = True
        self.news.tell()

    def close(self) -> None:
        """Finish what waits, take a snapshot, let go of the store."""
        self.end_streams()
        self.writer.close()
        self.store.close()
