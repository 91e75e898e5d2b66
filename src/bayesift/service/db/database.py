"""The database: many readers, one writer, every commit durable.

All rows are compared with their digests when the database is opened; one that is damaged is not
served. For a large SQLite file this takes seconds, in a process of its own: a caller that does not
wait for it must call `verify` before serving.

SQLite      journal_mode=WAL, synchronous=FULL: a commit returns when the log is on the disk
            (fsync); readers never wait for the writer. A lock file keeps a second process out of
            the folder.
PostgreSQL  synchronous_commit=on, whatever the server's default; an advisory lock keeps a second
            process out.

Each commit moves the mark in the folder (`mark.py`) before `writing` returns. A database that lacks
what the mark says was acknowledged is refused, and not written to.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from bayesift.errors import DataError, require
from bayesift.service.db.integrity import CheckProcess, check_file, connect_to_read
from bayesift.service.db.mark import N_RECORDS, CommitEnd, CommitMark
from bayesift.service.db.migrations import is_current, migrate
from bayesift.service.db.tables import Reading, Writing, stored_tables

FILE = "bayesift.sqlite"
_LOCK_KEY = 0x62617965  # "baye", for the advisory lock
# PostgreSQL notices only after a moment that a process was killed.
_CLAIM_SECONDS = 5.0
_CLAIM_PAUSE_SECONDS = 0.1
_MAX_READERS = 16
_BUSY_MILLISECONDS = 10_000
_PAGE_BYTES = 8192  # of a new SQLite file; smaller pages would leave a tenth of it unused
_MIN_BYTES_CHECKED_APART = 1 << 26  # of a SQLite file
StoreFailure = SQLAlchemyError  # raised when the database fails


class Store:
    """Events, documents and users in a database.

    One thread at a time uses `writer`, the connection that writes.
    """

    def __init__(
        self,
        engine: Engine,
        writer: Connection,
        resources: ExitStack,
        mark: CommitMark,
        check: _Check | None = None,
    ) -> None:
        self._engine = engine
        self._writer = writer
        self._resources = resources
        self._check = check
        self._mark = mark
        self.dialect = engine.dialect.name
        with self.reading() as read:
            self._end = CommitEnd.of(read)
        self.name = self._end.store
        for _ in range(N_RECORDS):
            mark.move(self._end)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """Begin a read transaction: a consistent view of what is committed."""
        with self._engine.connect() as connection, connection.begin():
            yield Reading(connection)

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """Begin a write transaction, committed when the block ends, rolled back if it raises.

        The mark is moved after the commit; if that fails, what was committed must not be
        acknowledged.
        """
        if self._writer.invalidated:
            _claim(self._writer)
        with self._writer.begin():
            tx = Writing(self._writer)
            yield tx
            if tx.changed:
                tx.count_commit(self._end.commits + 1)
        if tx.changed:
            seq, digest = tx.end or (self._end.seq, self._end.digest)
            self._end = CommitEnd(self.name, self._end.commits + 1, seq, digest)
            self._mark.move(self._end)

    def verify(self) -> None:
        """Wait for the end of the check; raise DataError if the database is damaged."""
        if self._check is not None:
            self._check.finish()
            self._check = None

    def close(self) -> None:
        """Close all connections and release the lock."""
        self._resources.close()


def open_store(
    folder: str | Path,
    url: str | None = None,
    *,
    wait: bool = True,
    accept_loss: int | None = None,
) -> Store:
    """Open the SQLite database of a folder or a PostgreSQL database, and migrate its tables.

    The folder holds the SQLite file, the lock and the mark; with a URL
    (postgresql://user@host/name) the lock and the mark only. Without `wait` the check of a large
    file may still run: nothing of it may be served before `Store.verify`. A database that lacks
    events which were acknowledged is refused, unless `accept_loss` is the number of its last event.
    """
    place = Path(folder)
    with ExitStack() as resources:
        resources.enter_context(locked(place))
        mark = CommitMark(place)
        resources.callback(mark.close)
        _compare_with_mark(place, url, mark, accept_loss)
        try:
            engine = _engine(place, url)
            resources.callback(engine.dispose)
            writer = resources.enter_context(engine.connect())
            _claim(writer)
            with writer.begin():
                if not is_current(writer):
                    mark.remove()  # a migration may give events other digests
                migrate(writer)
            check = _check(place, writer, resources)
            if check is not None and wait:
                check.finish()
                check = None
            return Store(engine, writer, resources.pop_all(), mark, check)
        except UnicodeDecodeError:  # of SQLite's message about a damaged schema
            _refuse("it cannot be read", None if url else place / FILE)
            raise
        except SQLAlchemyError as error:
            raise _not_opened(error, place, url) from error


def _not_opened(error: Exception, place: Path, url: str | None) -> DataError:
    file = None if url else place / FILE
    return DataError(f"the database cannot be opened ({_first_line(error)})", file=file)


def _compare_with_mark(
    place: Path, url: str | None, mark: CommitMark, accept_loss: int | None
) -> None:
    """Refuse a database that lacks what was acknowledged, before anything is written to it."""
    file = None if url else place / FILE
    if accept_loss is not None:
        last, _ = missing_in(place, url, None)
        if last != accept_loss:
            raise DataError(f"its last event is {last:,}, not {accept_loss:,}", file=file)
        mark.remove()
        return
    acknowledged = mark.read()
    if acknowledged is None:
        return
    last, missing = missing_in(place, url, acknowledged)
    if missing:
        raise DataError(
            f"{missing}; restore the newest copy (with {FILE}-wal), or go on without what is "
            f"missing by --accept-loss {last}",
            file=file,
        )


def missing_in(place: Path, url: str | None, acknowledged: CommitEnd | None) -> tuple[int, str]:
    """Return the last event of a database, and what it lacks of what was acknowledged."""
    if url is None and (not (place / FILE).exists() or not (place / FILE).stat().st_size):
        return 0, "" if acknowledged is None else f"its {acknowledged.seq:,} events are gone"
    try:
        with reading_only(place, url) as read:
            return read.last_seq(), "" if acknowledged is None else acknowledged.missing_in(
                read
            )
    except SQLAlchemyError as error:
        raise _not_opened(error, place, url) from error


@contextmanager
def reading_only(place: Path, url: str | None) -> Iterator[Reading]:
    """Read a database without changing anything, also while a service has it open."""
    with connecting(place, url) as connection:
        yield Reading(connection)


@contextmanager
def connecting(place: Path, url: str | None, *, writing: bool = False) -> Iterator[Connection]:
    """Connect to a database for one transaction, without the lock of a service."""
    reads_file = url is None and not writing
    if reads_file:
        engine = create_engine("sqlite://", creator=lambda: connect_to_read(place / FILE))
    else:
        engine = _engine(place, url)
    try:
        with engine.connect() as connection, connection.begin():
            if reads_file:
                # The driver begins a transaction at the first write only: each statement would
                # read what is committed by then.
                connection.exec_driver_sql("BEGIN")
            yield connection
    finally:
        engine.dispose()


@dataclass(frozen=True)
class _Check:
    """The check of a large SQLite file, in a process of its own."""

    process: CheckProcess
    file: Path

    def finish(self) -> None:
        """Wait for the end of the check; raise DataError if the file is damaged."""
        _refuse(self.process.result(), self.file)


def _check(place: Path, connection: Connection, resources: ExitStack) -> _Check | None:
    """Compare all rows with their digests.

    For a large SQLite file the process that does so is returned while it works.
    """
    file = place / FILE
    if connection.dialect.name == "sqlite":
        if file.stat().st_size >= _MIN_BYTES_CHECKED_APART:
            process = CheckProcess(file, stored_tables("sqlite"))
            resources.callback(process.close)
            return _Check(process, file)
        _refuse(check_file(str(file), stored_tables("sqlite")), file)
        return None
    with connection.begin():
        _refuse(_check_all(Reading(connection)))
    return None


def check_rows_of(place: Path, url: str | None) -> str:
    """Return what is wrong with the rows of a database that is not open; "" if nothing is."""
    if url is None:
        return check_file(str(place / FILE), stored_tables("sqlite"))
    with reading_only(place, url) as read:
        return _check_all(read)


def _check_all(read: Reading) -> str:
    """Return what is wrong with the rows of a database; "" if nothing is."""
    try:
        read.verify()
    except (ValueError, TypeError, OverflowError, SQLAlchemyError) as error:
        return str(error) if type(error) is ValueError else "it cannot be read"
    return ""


def _refuse(trouble: str, file: Path | None = None) -> None:
    """Refuse a damaged database, without quoting what is stored in it."""
    if trouble:
        raise DataError(
            f"the database is damaged ({trouble}); restore it from a backup", file=file
        )


def locked(place: Path) -> IO[str]:
    """Lock the folder as long as the returned file is open."""
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.chmod(0o700)
        lock = (place / "lock").open("w")
        (place / "lock").chmod(0o600)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror})", file=place) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise DataError("another process serves this folder", file=place) from None
    return lock


def _engine(place: Path, url: str | None) -> Engine:
    if url is None:
        (place / FILE).touch(mode=0o600)  # what SQLite puts beside it gets the same mode
        for file in place.glob(f"{FILE}*"):
            file.chmod(0o600)
        engine = create_engine(
            f"sqlite:///{place / FILE}", pool_size=_MAX_READERS, max_overflow=0
        )
        event.listen(engine, "connect", _set_up_sqlite)
        # The driver would begin a transaction at the first write only.
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
        return engine
    try:
        parts = make_url(url)
    except ArgumentError as error:
        raise DataError(f"not a database URL: {url!r:.80}") from error
    if parts.get_backend_name() != "postgresql":
        raise DataError(
            "the database must be postgresql://... (or SQLite, without a URL), "
            f"not {parts.drivername!r:.40}"
        )
    require("psycopg", extra="postgres")
    address = parts.set(drivername="postgresql+psycopg")
    options = {"options": "-c synchronous_commit=on -c timezone=UTC"}
    engine = create_engine(
        address,
        pool_size=_MAX_READERS,
        max_overflow=0,
        pool_pre_ping=True,
        connect_args=options,
    )
    return engine.execution_options(isolation_level="REPEATABLE READ")


def _set_up_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        f"page_size={_PAGE_BYTES}",
        "journal_mode=WAL",
        "synchronous=FULL",
        f"busy_timeout={_BUSY_MILLISECONDS}",
        "temp_store=MEMORY",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _claim(connection: Connection) -> None:
    """Become the only writer for the lifetime of the connection."""
    if connection.dialect.name != "postgresql":
        return
    latest = time.monotonic() + _CLAIM_SECONDS
    while not _is_claimed(connection):
        if time.monotonic() > latest:
            raise DataError("another process serves this database")
        time.sleep(_CLAIM_PAUSE_SECONDS)


def _is_claimed(connection: Connection) -> bool:
    with connection.begin():
        return bool(
            connection.execute(
                text("SELECT pg_try_advisory_lock(:key)"), {"key": _LOCK_KEY}
            ).scalar()
        )


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
