"""Opening a database so that what is acknowledged stays: one writer, and each commit on the disk.

SQLite      journal_mode=WAL, synchronous=FULL: a commit returns when the log is on the disk (fsync); readers never wait
            for the writer. The folder is locked: a second process is refused.
PostgreSQL  synchronous_commit=on, set for the writer whatever the server's default; an advisory lock refuses a second
            process.
"""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from bayesift.errors import DataError
from bayesift.extras import require
from bayesift.stores.migrations import migrate
from bayesift.stores.store import Store

FILE = "bayesift.sqlite"
_LOCK = 0x62617965  # "baye", the key of the advisory lock
_READERS = 16
_BUSY_MS = 10_000


def open_store(folder: str | Path, url: str | None = None) -> Store:
    """Open the store of a folder, or a database by its address; tables are made or brought up to date.

    Parameters
    ----------
    folder : holds the SQLite file and the lock; made if it is not there
    url : such as postgresql://user@host/name; a SQLite file in the folder unless given

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, open_store(folder) as store:
    ...     with store.reading() as read:
    ...         read.last_seq()
    0
    """
    place = Path(folder)
    lock = _locked(place)
    try:
        engine = _engine(place, url)
        writer = engine.connect()
        try:
            with writer.begin():
                _claim(writer)
                migrate(writer)
        except BaseException:
            writer.close()
            engine.dispose()
            raise
    except SQLAlchemyError as error:
        lock.close()
        raise DataError(f"the database cannot be opened ({_first_line(error)})") from error
    except BaseException:
        lock.close()
        raise
    return Store(engine, writer, lock, _claim)


def _locked(place: Path) -> IO[str]:
    """Keep other processes out of the folder as long as the file is open."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        lock = (place / "lock").open("w")
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror})", file=place) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise DataError("another bayesift serves this folder", file=place) from None
    return lock


def _engine(place: Path, url: str | None) -> Engine:
    if url is None:
        engine = create_engine(f"sqlite:///{place / FILE}", pool_size=_READERS, max_overflow=0)
        event.listen(engine, "connect", _set_up_sqlite)
        # The driver's own transactions begin at the first write; begin them where we say.
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
        return engine
    try:
        parts = make_url(url)
    except ArgumentError as error:
        raise DataError(f"no address of a database: {url!r:.80}") from error
    if parts.get_backend_name() != "postgresql":
        raise DataError(f"databases are SQLite (no address) and postgresql://..., not {parts.drivername!r:.40}")
    require("psycopg", extra="postgres")
    options = {"options": "-c synchronous_commit=on -c timezone=UTC"}
    engine = create_engine(
        parts.set(drivername="postgresql+psycopg"),
        pool_size=_READERS,
        max_overflow=0,
        pool_pre_ping=True,
        connect_args=options,
    )
    return engine.execution_options(isolation_level="REPEATABLE READ")


def _set_up_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={_BUSY_MS}", "temp_store=MEMORY"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _claim(connection: Connection) -> None:
    """Be the one that writes, as long as the connection lasts."""
    if connection.dialect.name == "postgresql":
        free = connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": _LOCK}).scalar()
        if not free:
            raise DataError("another bayesift serves this database")


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
