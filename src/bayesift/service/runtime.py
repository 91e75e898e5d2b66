"""The running service: settings, metrics, and the object that holds all its parts."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import Depends, Request
from prometheus_client import CollectorRegistry, Gauge, Histogram, generate_latest
from prometheus_client import Counter as Count

from bayesift.errors import require
from bayesift.filtering import FilterEngine, Profile
from bayesift.screening import Project
from bayesift.screening.full_texts import FULL_TEXTS, FullTextFiles
from bayesift.screening.merging import MergedLogs
from bayesift.screening.project import RECORDS
from bayesift.service.access.callers import FIRST_ADMIN, People, Person, RateLimit
from bayesift.service.access.members import Members
from bayesift.service.access.operations import add_user
from bayesift.service.access.single_sign_on import SingleSignOn
from bayesift.service.db.database import Store, open_store
from bayesift.service.db.tables import FilterRow, Reading
from bayesift.service.errors import BusyError, NotFoundError, UnavailableError
from bayesift.service.filters.insight import InsightCache
from bayesift.service.filters.operations import forget_deleted
from bayesift.service.filters.snapshots import SnapshotFolder
from bayesift.service.live import LiveState, Operation, QueueName, Writer
from bayesift.service.models.shelf import ModelShelf
from bayesift.service.reading import Reader, ReadingProcesses
from bayesift.service.reviews.beginning import Beginnings
from bayesift.service.reviews.operations import take_in
from bayesift.service.reviews.uploads import Uploads

if TYPE_CHECKING:
    from bayesift.service.access.oidc import OpenIdProvider

Answer = TypeVar("Answer")
_LOG = logging.getLogger("bayesift.service")
_CHECK_SECONDS = 5.0  # until a database that does not answer is reported
_FIRST_START_SECONDS = 3600.0
_SLOW_THREADS = 2
_LEARNING_THREADS = 2
_READING_PROCESSES = 2
_MAX_FILES = 10  # that are read or wait for it
_MAX_SLOW_TASKS = 20
_BUCKET_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """Settings and limits of a service.

    Parameters
    ----------
    folder : holds the SQLite file and the snapshots
    database : URL of a PostgreSQL database; SQLite in the folder unless given
    workers : threads that answer read requests, beside the writer
    snapshot_every : events between snapshots
    lease_seconds : how long a document in a reviewer's queue is reserved for them
    session_hours : lifetime of a browser session
    requests_per_second : requests of a person, on average
    burst : requests of a person at once
    logins_per_minute : sign-in attempts per address
    max_json : bytes of a request, unless it carries documents, a filter or a file
    max_body : bytes of a request with documents or a filter
    max_upload : bytes of a file of records, a table, a project or a model
    max_values : texts, numbers, lists and objects of a request in JSON
    max_text : characters of a document
    max_batch : documents per request; they are learned `chunk` at a time
    chunk : documents per transaction
    chunk_characters : characters of the documents of a transaction, after the first
    reading_seconds : time that a process may take to read a file
    reading_bytes : memory that it may take
    waiting_people : operations of people that may wait for the writer
    waiting_batches : batches of documents that may wait for it
    streams : event streams open at once
    streams_per_person : event streams of one person
    proxy : address of a proxy in front of the service whose X-Forwarded-For is trusted, or several
        with commas; None if no proxy is used
    single_sign_on : how people sign in who are known elsewhere
    shared : whether all users are members of every filter and review, with the role that they
        have in the service
    restore_days : for how long a deleted filter or review can be restored
    accept_loss : the last event of a database that lacks acknowledged events, to go on from there
    keep_documents : documents of the stream whose texts are kept, the newest; None for all. What
        was learned from the others stays.
    """

    folder: Path
    database: str | None = None
    workers: int = 8
    snapshot_every: int = 50_000
    lease_seconds: float = 300.0
    session_hours: float = 12.0
    requests_per_second: float = 200.0
    burst: int = 400
    logins_per_minute: int = 20
    max_json: int = 2 * 1024 * 1024
    max_body: int = 32 * 1024 * 1024
    max_upload: int = 100 * 1024 * 1024
    max_values: int = 50_000
    max_text: int = 400_000
    max_batch: int = 1_000
    chunk: int = 16
    chunk_characters: int = 200_000
    reading_seconds: float = 60.0
    reading_bytes: int = 600 * 1024 * 1024
    waiting_people: int = 1_000
    waiting_batches: int = 64
    streams: int = 100
    streams_per_person: int = 10
    proxy: str | None = None
    single_sign_on: SingleSignOn | None = None
    shared: bool = False
    restore_days: int = 30
    accept_loss: int | None = None
    keep_documents: int | None = 1_000_000


class Metrics:
    """Prometheus metrics of one service, without names of filters, documents or people."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        count = partial(Count, registry=self._registry)
        gauge = partial(Gauge, registry=self._registry)
        self.documents = count("bayesift_documents", "Documents received.")
        self.duplicates = count("bayesift_duplicates", "Documents received before.")
        self.retrieved = count("bayesift_retrieved", "Documents retrieved by filters.")
        self.judgements = count("bayesift_judgements", "Judgements learned.", ["relevant"])
        self.undone = count("bayesift_judgements_taken_back", "Judgements taken back.")
        self.requests = count("bayesift_requests", "Requests answered.", ["method", "status"])
        self.seconds = Histogram(
            "bayesift_request_seconds",
            "Response time in seconds.",
            ["method"],
            buckets=_BUCKET_SECONDS,
            registry=self._registry,
        )
        self.events = gauge("bayesift_events", "Events in the log.")
        self.filters = gauge("bayesift_filters", "Filters.")
        self.waiting = gauge(
            "bayesift_waiting", "Operations that wait for the writer.", ["queue"]
        )
        self.streams = gauge("bayesift_open_streams", "Open event streams.")

    def page(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)


class CommitSignal:
    """Wakes coroutines that wait for the next commit."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._event = asyncio.Event()

    def bind(self) -> None:
        """Use the running event loop."""
        self._loop = asyncio.get_running_loop()

    def notify(self) -> None:
        """Wake all who wait; may be called from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    async def wait(self, seconds: float) -> bool:
        """Wait for the next commit; return False when the time is over before."""
        try:
            return await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return False

    def _wake(self) -> None:
        self._event.set()
        self._event = asyncio.Event()


class Leases:
    """Documents reserved for a person for some time, so that two people get different ones.

    Leases are in memory only: after a restart everything is free, which loses no judgement. A
    queue is that of a filter, or of a stage of a review.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._leased: dict[str, dict[str, tuple[str, float]]] = {}

    def take(self, queue: str, user: str, documents: Iterable[str], limit: int) -> list[str]:
        """Lease documents, best first: those the person has already, then free ones."""
        waiting = list(documents)
        with self._lock:
            now = self._clock()
            held = self._leased.get(queue, {})
            leased = {document: lease for document, lease in held.items() if lease[1] > now}
            mine = [d for d in waiting if d in leased and leased[d][0] == user]
            taken = [*mine, *(d for d in waiting if d not in leased)][:limit]
            leased.update(dict.fromkeys(taken, (user, now + self._seconds)))
            self._leased[queue] = leased
        return taken

    def free(self, queue: str, document: str) -> None:
        """Free a document."""
        with self._lock:
            self._leased.get(queue, {}).pop(document, None)

    def forget(self, *queues: str) -> None:
        """Free all documents of queues."""
        with self._lock:
            for queue in queues:
                self._leased.pop(queue, None)


class Service:
    """The store, the filters and reviews, the writer and everything else that routes need.

    Parameters
    ----------
    settings : of the service
    store : the open store of these settings; it is opened here unless given

    Attributes
    ----------
    first_token : the token of the first admin when the store is new; it is not stored
    first_start_until : time until which a person at this machine may become the first admin, if
        no user has signed in
    closing : set when the service is about to end
    models : the fitted models that answer
    insight : cached estimates and topics of filters
    full_texts : files that are attached to records of reviews; those of the project that is
        written to, if there is one
    """

    def __init__(self, settings: ServiceSettings, store: Store | None = None) -> None:
        self.settings = settings
        self.provider = _provider(settings)
        self.store = store or open_store(
            settings.folder, settings.database, wait=False, accept_loss=settings.accept_loss
        )
        try:
            snapshots = SnapshotFolder(settings.folder, self.store.name)
            if settings.accept_loss is not None:
                snapshots.drop_after(settings.accept_loss)
            self._load(snapshots)
        except BaseException:
            self.store.close()
            raise
        self.commits = CommitSignal()
        self.metrics = Metrics()
        self.uploads = Uploads()
        self.beginnings = Beginnings()
        self.full_texts = FullTextFiles(settings.folder / FULL_TEXTS)
        self.insight = InsightCache()
        self.leases = Leases(settings.lease_seconds)
        self.requests = RateLimit(settings.requests_per_second, settings.burst)
        self.logins = RateLimit(settings.logins_per_minute / 60, settings.logins_per_minute)
        self.wrong_tokens = RateLimit(
            settings.logins_per_minute / 60, settings.logins_per_minute
        )
        self.refusals = RateLimit(settings.logins_per_minute / 60, settings.logins_per_minute)
        self.closing = False
        self.open_streams: Counter[str] = Counter()
        self._slow = ThreadPoolExecutor(_SLOW_THREADS, thread_name_prefix="bayesift-slow")
        self._learning = ThreadPoolExecutor(
            _LEARNING_THREADS, thread_name_prefix="bayesift-learning"
        )
        self._files = ThreadPoolExecutor(
            _READING_PROCESSES, thread_name_prefix="bayesift-reading"
        )
        self._n_files = 0
        self._reading = ReadingProcesses(settings.reading_seconds, settings.reading_bytes)
        self._reading.warm_up()
        self._checking = ThreadPoolExecutor(1, thread_name_prefix="bayesift-health")
        self._computing: dict[Hashable, asyncio.Future[Any]] = {}
        self.writer = Writer(
            self.store,
            self.live,
            snapshots,
            max_waiting={
                "people": settings.waiting_people,
                "documents": settings.waiting_batches,
            },
            snapshot_every=settings.snapshot_every,
            committed=self._committed,
            access_changed=self._reload_access,
        )
        self.first_start_until = 0.0
        self.first_token = None if self.people.names else self._add_first_admin()
        # What was deleted long ago is deleted for good.
        until = datetime.now(UTC) - timedelta(days=settings.restore_days)
        time_limit = until.isoformat(timespec="microseconds")
        self.writer.submit("", partial(forget_deleted, until=time_limit)).result()

    def _load(self, snapshots: SnapshotFolder) -> None:
        """Load what the database holds while it is checked.

        If damage makes the loading fail, the damage is reported.
        """
        try:
            self.live = LiveState(self.store, snapshots)
            self.people = People(self.store, session_hours=self.settings.session_hours)
            self.members = Members(self.store, shared=self.settings.shared)
            with self.store.reading() as read:
                self.models = ModelShelf(self.settings.folder, read.models())
        finally:
            self.store.verify()

    def _add_first_admin(self) -> str:
        operation: Operation = lambda unit: add_user(unit.tx, FIRST_ADMIN, "admin")  # noqa: E731
        token: str = self.writer.submit("", operation).result()
        if self.settings.proxy is None:
            self.first_start_until = time.monotonic() + _FIRST_START_SECONDS
        return token

    @property
    def is_first_start(self) -> bool:
        """Whether the store is new and the first admin, the only user, has not signed in."""
        return time.monotonic() < self.first_start_until and self.people.names == {FIRST_ADMIN}

    async def share(self, key: Hashable, compute: Callable[[], Answer]) -> Answer:
        """Return the result of a slow computation, which runs in a pool of its own.

        Callers that want the same at the same time share it.
        """
        task = self._computing.get(key)
        if task is None:
            if len(self._computing) >= _MAX_SLOW_TASKS:
                raise BusyError("too many estimates are being computed; try again", seconds=2)
            task = asyncio.ensure_future(
                asyncio.get_running_loop().run_in_executor(self._slow, compute)
            )
            self._computing[key] = task
            task.add_done_callback(lambda _: self._computing.pop(key, None))
        answer: Answer = await asyncio.shield(task)
        return answer

    async def read(
        self,
        reader: Reader,
        name: str,
        content: bytes,
        take: Callable[[Path], Answer],
        *,
        trusted: bool = False,
    ) -> Answer:
        """Read a file that a person sent in a process of its own; see `ReadingProcesses.read`."""
        if self._n_files >= _MAX_FILES:
            raise BusyError("too many files are being read; try again", seconds=5)
        self._n_files += 1
        try:
            read = partial(self._reading.read, reader, name, content, take, trusted=trusted)
            return await asyncio.get_running_loop().run_in_executor(self._files, read)
        finally:
            self._n_files -= 1

    async def check(self) -> int:
        """Return the number of the last event in the database.

        Raises UnavailableError if the service cannot read or write.
        """
        if self.writer.failed:
            raise UnavailableError("the writer has failed; the service must be started again")
        if not self.live.valid:
            raise UnavailableError(
                "the filters are not what the log says; they are being rebuilt"
            )
        reading = asyncio.get_running_loop().run_in_executor(self._checking, self._last_seq)
        try:
            return await asyncio.wait_for(asyncio.shield(reading), _CHECK_SECONDS)
        except TimeoutError:
            raise UnavailableError("the database does not answer") from None

    def _last_seq(self) -> int:
        with self.store.reading() as read:
            return read.last_seq()

    async def do(
        self, person: Person, operation: Operation, *, queue: QueueName = "people"
    ) -> Any:
        """Run an operation of a person; return when its effect is on disk."""
        return await asyncio.wrap_future(
            self.writer.submit(person.name, operation, queue=queue)
        )

    @contextmanager
    def stored_filter(self, name: str) -> Iterator[tuple[Reading, FilterRow]]:
        """Yield a read transaction, and the row of a filter that exists."""
        with self.store.reading() as read:
            row = read.filter(name)
            if row is None:
                raise NotFoundError(f"no filter {name!r}")
            yield read, row

    @contextmanager
    def engine_filter(self, name: str) -> Iterator[tuple[FilterEngine, Profile]]:
        """Lock the engine and yield it with what it holds of a filter."""
        with self.live.reading() as engine:
            if name not in engine.profiles or name in self.live.deleted:
                raise NotFoundError(f"no filter {name!r}")
            yield engine, engine.profiles[name]

    def mirror(self, project: Project, user: str) -> MergedLogs:
        """Take in the review of a project, and write later changes to the project too.

        If both have grown, they are merged.
        """
        content = (project.folder / RECORDS).read_bytes()
        name = project.folder.name.removesuffix(".review")
        operation = partial(take_in, project=project, name=name, content=content)
        merged: MergedLogs = self.writer.submit(user, operation).result()
        project.extend(merged.there)
        self.live.mirrors.add(project)
        self.full_texts = project.full_texts
        return merged

    def _reload_access(self) -> None:
        self.people.reload()
        self.members.reload()

    def _committed(self, reviews: list[str]) -> None:
        """Tell who waits, and learn what was decided; called by the writer after each commit."""
        self.commits.notify()
        for review in reviews:
            self._learning.submit(self._learn, review)

    def _learn(self, review: str) -> None:
        try:
            self.live.reviews.learn_all(review)
        except NotFoundError:
            pass  # deleted meanwhile
        except Exception:
            _LOG.exception(
                "a review could not be ranked; this is tried again when it is needed"
            )

    def end_streams(self) -> None:
        """End the open event streams."""
        self.closing = True
        self.commits.notify()

    def close(self) -> None:
        """Finish what is queued, take a snapshot, and close the store."""
        self.end_streams()
        self._reading.close()
        for pool in (self._slow, self._files, self._checking):
            pool.shutdown(wait=True, cancel_futures=True)
        if self.provider is not None:
            self.provider.close()
        self.writer.close()
        self._learning.shutdown(wait=True, cancel_futures=True)
        self.models.close()
        self.store.close()


def _provider(settings: ServiceSettings) -> OpenIdProvider | None:
    """Check how people sign in; return the OpenID provider, if there is one."""
    single = settings.single_sign_on
    if single is None:
        return None
    single.check(settings.proxy)
    if single.issuer is None:
        return None
    for package in ("authlib", "requests"):
        require(package, extra="sso")
    from bayesift.service.access.oidc import OpenIdProvider

    return OpenIdProvider(single)


async def the_service(request: Request) -> Service:
    """Return the service of this application."""
    service: Service = request.app.state.service
    return service


TheService = Annotated[Service, Depends(the_service)]
