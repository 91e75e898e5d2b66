"""How the tables came to be: small steps with names, each done once, in one transaction."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import Column, Connection, MetaData, String, Table, insert, inspect, select

from bayesift.errors import DataError
from bayesift.stores.tables import FACTS, METADATA

_DONE = Table(
    "migrations",
    MetaData(),
    Column("name", String, primary_key=True),
    Column("at", String, nullable=False),
)


def _first_tables(connection: Connection) -> None:
    METADATA.create_all(connection)


def _name_the_store(connection: Connection) -> None:
    """A name at random, so that a snapshot of another store is never taken for one of this."""
    connection.execute(insert(FACTS).values(name="store", value=secrets.token_hex(16)))


MIGRATIONS: dict[str, Callable[[Connection], None]] = {
    "0001 events, documents, what they amount to, people": _first_tables,
    "0002 the store has a name": _name_the_store,
}


def migrate(connection: Connection) -> list[str]:
    """Do the steps that were not done yet, in order; gives their names. A store of a newer bayesift is refused."""
    if not inspect(connection).has_table(_DONE.name):
        _DONE.create(connection)
    done = set(connection.execute(select(_DONE.c.name)).scalars())
    unknown = sorted(done - MIGRATIONS.keys())
    if unknown:
        raise DataError(f"the store was written by a newer bayesift ({unknown[0]}); upgrade to open it")
    todo = [name for name in MIGRATIONS if name not in done]
    for name in todo:
        MIGRATIONS[name](connection)
        connection.execute(insert(_DONE).values(name=name, at=datetime.now(UTC).isoformat()))
    return todo
