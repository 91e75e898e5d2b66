"""A store: many readers, one writer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Self

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from bayesift.stores.reading import Reading
from bayesift.stores.writing import Writing

StoreFailure = SQLAlchemyError  # what is raised when the database does not do as it is told


class Store:
    """Events, documents and people in a database; `bayesift.stores.open_store` opens one.

    Parameters
    ----------
    engine : gives connections to readers
    writer : the one connection that writes; it belongs to one thread at a time
    lock : keeps other processes out while it is open
    claim : makes a connection the one that writes, again after it broke
    """

    def __init__(self, engine: Engine, writer: Connection, lock: IO[str], claim: Callable[[Connection], None]) -> None:
        self._engine = engine
        self._writer = writer
        self._lock = lock
        self._claim = claim
        self.dialect = engine.dialect.name
        with self.reading() as read:
            self.name = read.fact("store")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """What is committed, as of one moment."""
        with self._engine.connect() as connection, connection.begin():
            yield Reading(connection)

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """A transaction: all of it is on the disk when the block ends, or none of it if it ends in an error."""
        broken = self._writer.invalidated
        with self._writer.begin():
            if broken:
                self._claim(self._writer)
            yield Writing(self._writer)

    def close(self) -> None:
        """Let go of the database."""
        self._writer.close()
        self._engine.dispose()
        self._lock.close()
