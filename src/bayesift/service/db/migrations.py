"""Migrations of the database: small named steps, each done once, in one transaction.

A migration is frozen when it is released: it states its SQL and imports nothing of `tables.py`, so
that a database made today passes through the same states as one that was upgraded. A new column or
table is a new migration.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    String,
    Table,
    insert,
    inspect,
    select,
    text,
)

from bayesift.errors import DataError
from bayesift.service.db.integrity import pack, row_digest

DONE = Table(
    "migrations",
    MetaData(),
    Column("name", String, primary_key=True),
    Column("at", String, nullable=False),
)

_TABLES_0005 = (
    """CREATE TABLE members (
        kind VARCHAR NOT NULL, name VARCHAR NOT NULL, "user" VARCHAR NOT NULL,
        role VARCHAR NOT NULL, at VARCHAR NOT NULL, digest VARCHAR NOT NULL,
        PRIMARY KEY (kind, name, "user"))""",
    """CREATE TABLE invitations (
        key VARCHAR NOT NULL PRIMARY KEY, kind VARCHAR NOT NULL, name VARCHAR NOT NULL,
        role VARCHAR NOT NULL, by VARCHAR NOT NULL, until VARCHAR NOT NULL,
        digest VARCHAR NOT NULL)""",
    """CREATE TABLE tokens (
        key VARCHAR NOT NULL PRIMARY KEY, "user" VARCHAR NOT NULL, name VARCHAR NOT NULL,
        scope VARCHAR NOT NULL, ending VARCHAR NOT NULL, until VARCHAR NOT NULL,
        digest VARCHAR NOT NULL)""",
)
_TABLES_0007 = (
    """CREATE TABLE models (
        name VARCHAR NOT NULL, version BIGINT NOT NULL, seq BIGINT NOT NULL,
        at VARCHAR NOT NULL, "user" VARCHAR NOT NULL, content VARCHAR NOT NULL,
        current BOOLEAN NOT NULL, digest VARCHAR NOT NULL, PRIMARY KEY (name, version))""",
    """CREATE TABLE corrections (
        seq BIGINT NOT NULL PRIMARY KEY, model VARCHAR NOT NULL, digest VARCHAR NOT NULL)""",
)
_TABLES_0001 = (
    """CREATE TABLE events (
        seq BIGINT NOT NULL PRIMARY KEY, batch BIGINT NOT NULL, at VARCHAR NOT NULL,
        "user" VARCHAR NOT NULL, kind VARCHAR NOT NULL, profile VARCHAR, document VARCHAR,
        payload TEXT NOT NULL)""",
    "CREATE INDEX events_of_profile ON events (profile, seq)",
    "CREATE INDEX events_about_document ON events (document)",
    """CREATE TABLE documents (
        id VARCHAR NOT NULL PRIMARY KEY, seq BIGINT NOT NULL UNIQUE, at VARCHAR NOT NULL,
        title TEXT NOT NULL, text TEXT NOT NULL, purged BOOLEAN NOT NULL)""",
    """CREATE TABLE profiles (
        name VARCHAR NOT NULL PRIMARY KEY, seq BIGINT NOT NULL, at VARCHAR NOT NULL,
        "user" VARCHAR NOT NULL, definition TEXT NOT NULL, paused BOOLEAN NOT NULL,
        seen BIGINT NOT NULL, since BIGINT NOT NULL)""",
    """CREATE TABLE judgements (
        profile VARCHAR NOT NULL, document VARCHAR NOT NULL, "user" VARCHAR NOT NULL,
        relevant BOOLEAN NOT NULL, at VARCHAR NOT NULL, seq BIGINT NOT NULL,
        PRIMARY KEY (profile, document, "user"))""",
    "CREATE INDEX judgements_by_time ON judgements (profile, seq)",
    """CREATE TABLE words (
        profile VARCHAR NOT NULL, word VARCHAR NOT NULL, strength FLOAT NOT NULL,
        "user" VARCHAR NOT NULL, at VARCHAR NOT NULL,
        PRIMARY KEY (profile, word))""",
    """CREATE TABLE users (
        name VARCHAR NOT NULL PRIMARY KEY, role VARCHAR NOT NULL, token VARCHAR NOT NULL UNIQUE,
        at VARCHAR NOT NULL)""",
    """CREATE TABLE sessions (
        "key" VARCHAR NOT NULL PRIMARY KEY, "user" VARCHAR NOT NULL, csrf VARCHAR NOT NULL,
        until VARCHAR NOT NULL)""",
    "CREATE TABLE facts (name VARCHAR NOT NULL PRIMARY KEY, value VARCHAR NOT NULL)",
)


def _first_tables(connection: Connection) -> None:
    for statement in _TABLES_0001:
        connection.execute(text(statement))


def _name_the_store(connection: Connection) -> None:
    """Give the store a random name, so that no snapshot of another store is loaded."""
    statement = text("INSERT INTO facts (name, value) VALUES ('store', :value)")
    connection.execute(statement, {"value": secrets.token_hex(16)})


_ADDED_0003 = (
    "ALTER TABLE documents ADD COLUMN content VARCHAR NOT NULL DEFAULT ''",
    "CREATE INDEX documents_by_content ON documents (content)",
    "ALTER TABLE profiles ADD COLUMN deleted VARCHAR NOT NULL DEFAULT ''",
    """CREATE TABLE reviews (
        id VARCHAR NOT NULL PRIMARY KEY, seq BIGINT NOT NULL, at VARCHAR NOT NULL,
        "user" VARCHAR NOT NULL, name VARCHAR NOT NULL, definition TEXT NOT NULL,
        deleted VARCHAR NOT NULL, digest VARCHAR NOT NULL)""",
    """CREATE TABLE review_records (
        review VARCHAR NOT NULL, seq BIGINT NOT NULL, content {binary} NOT NULL,
        digest VARCHAR NOT NULL, PRIMARY KEY (review, seq))""",
)
_DIGESTED_0003 = {  # columns in the order of their digest; the first are the key
    "events": ("seq", "batch", "at", "user", "kind", "profile", "document", "payload"),
    "documents": ("id", "seq", "at", "title", "text", "purged", "content"),
    "profiles": (
        "name",
        "seq",
        "at",
        "user",
        "definition",
        "paused",
        "seen",
        "since",
        "deleted",
    ),
    "judgements": ("profile", "document", "user", "relevant", "at", "seq"),
    "words": ("profile", "word", "strength", "user", "at"),
    "users": ("name", "role", "token", "at"),
    "sessions": ("key", "user", "csrf", "until"),
}
_KEYS_0003 = {"judgements": 3, "words": 2}


def _reviews_and_digests(connection: Connection) -> None:
    binary = "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"
    for statement in _ADDED_0003:
        connection.execute(text(statement.format(binary=binary)))
    for table, columns in _DIGESTED_0003.items():
        connection.execute(
            text(f"ALTER TABLE {table} ADD COLUMN digest VARCHAR NOT NULL DEFAULT ''")
        )
        if table == "documents":
            _fill_content(connection)
        _fill_digests(connection, table, columns)


def _fill_content(connection: Connection) -> None:
    rows = connection.execute(text("SELECT id, title, text FROM documents")).all()
    values = [
        {"the_id": key, "content": row_digest((title, words))} for key, title, words in rows
    ]
    if values:
        connection.execute(
            text("UPDATE documents SET content = :content WHERE id = :the_id"), values
        )


_STATEMENTS_0004 = (
    "DROP INDEX events_of_profile",
    'ALTER TABLE events RENAME COLUMN profile TO "filter"',
    "ALTER TABLE events ADD COLUMN review VARCHAR",
    'CREATE INDEX events_of_filter ON events ("filter", seq)',
    "CREATE INDEX events_of_review ON events (review, seq)",
    "ALTER TABLE profiles RENAME TO filters",
    'ALTER TABLE judgements RENAME COLUMN profile TO "filter"',
    'ALTER TABLE words RENAME COLUMN profile TO "filter"',
)
_SELECT_0004 = text(
    """SELECT seq, batch, at, "user", kind, "filter", document, payload, digest FROM events
    WHERE seq > :after ORDER BY seq LIMIT 5000"""
)
_UPDATE_0004 = text(
    """UPDATE events SET kind = :kind, "filter" = :filter, review = :review, digest = :digest
    WHERE seq = :seq"""
)


def _filters_and_reviews(connection: Connection) -> None:
    """Call a filter a filter, and give reviews a column of their own.

    The values of events change, so that their chain of digests is made anew; what the old chain
    does not cover is refused. Other tables keep their values and digests.
    """
    for statement in _STATEMENTS_0004:
        connection.execute(text(statement))
    after = 0
    old = ""
    new = ""
    while rows := connection.execute(_SELECT_0004, {"after": after}).all():
        values = []
        for *first, kind, name, document, payload, digest in rows:
            if row_digest((*first, kind, name, document, payload), old) != digest:
                raise DataError(
                    "the database is damaged (a row of the table events is not what was stored); "
                    "restore it from a backup"
                )
            old = digest
            is_review = kind.startswith("review ")
            filter_name = None if is_review else name
            review = name if is_review else None
            if kind.startswith("profile "):
                kind = kind.replace("profile", "filter", 1)
            new = row_digest((*first, kind, filter_name, review, document, payload), new)
            after = first[0]
            values.append(
                {
                    "seq": after,
                    "kind": kind,
                    "filter": filter_name,
                    "review": review,
                    "digest": new,
                }
            )
        connection.execute(_UPDATE_0004, values)


_PACKED_0006 = {"events": "payload", "documents": "text"}  # the column that is packed
_INDEXES_0006 = (
    "DROP INDEX events_of_filter",
    "DROP INDEX events_of_review",
    "DROP INDEX events_about_document",
    'CREATE INDEX events_of_filter ON events ("filter", seq) WHERE "filter" IS NOT NULL',
    "CREATE INDEX events_of_review ON events (review, seq) WHERE review IS NOT NULL",
    """CREATE INDEX events_about_document ON events (document, "filter", seq)
    WHERE "filter" IS NOT NULL""",
    "CREATE INDEX documents_with_text ON documents (seq) WHERE purged IS FALSE",
)


def _packed_texts(connection: Connection) -> None:
    """Pack texts and payloads, and leave out of indexes what is not sought by them.

    Digests cover what is packed, so that they stay.
    """
    binary = "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"
    for table, column in _PACKED_0006.items():
        add = f"ALTER TABLE {table} ADD COLUMN packed {binary} NOT NULL DEFAULT ''"
        connection.execute(text(add))
        _fill_packed(connection, table, column)
        connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {column}"))
        connection.execute(text(f"ALTER TABLE {table} RENAME COLUMN packed TO {column}"))
    for statement in _INDEXES_0006:
        connection.execute(text(statement))


def _fill_packed(connection: Connection, table: str, column: str) -> None:
    rows_after = text(
        f"SELECT seq, {column} FROM {table} WHERE seq > :after ORDER BY seq LIMIT 5000"  # noqa: S608 - names of our own tables
    )
    update = text(f"UPDATE {table} SET packed = :packed WHERE seq = :seq")  # noqa: S608
    after = 0
    while rows := connection.execute(rows_after, {"after": after}).all():
        connection.execute(
            update, [{"seq": seq, "packed": pack(content)} for seq, content in rows]
        )
        after = rows[-1][0]


def _fill_digests(connection: Connection, table: str, columns: tuple[str, ...]) -> None:
    named = ", ".join(f'"{column}"' for column in columns)
    keys = columns[: _KEYS_0003.get(table, 1)]
    matched = " AND ".join(f'"{column}" = :key_{column}' for column in keys)
    update = text(f"UPDATE {table} SET digest = :digest WHERE {matched}")  # noqa: S608 - names of our own tables
    last, values = "", []
    select = text(f'SELECT {named} FROM {table} ORDER BY "{columns[0]}"')  # noqa: S608
    for row in connection.execute(select).all():
        digest = row_digest(row, last)
        last = digest if table == "events" else ""
        values.append(
            {
                "digest": digest,
                **{f"key_{column}": value for column, value in zip(keys, row, strict=False)},
            }
        )
    if values:
        connection.execute(update, values)


def _members(connection: Connection) -> None:
    """Who created a filter or review owns it; all users have the roles in it that they had."""
    for statement in _TABLES_0005:
        connection.execute(text(statement))
    users = connection.execute(text("SELECT name, role FROM users")).all()
    now = datetime.now(UTC).isoformat()
    rows = []
    for kind, query in (
        ("filter", 'SELECT name, "user" FROM filters'),
        ("review", 'SELECT id, "user" FROM reviews'),
    ):
        for name, creator in connection.execute(text(query)).all():
            roles = {user: "owner" if role == "admin" else role for user, role in users}
            if creator in roles:
                roles[creator] = "owner"
            rows += [(kind, name, user, role, now) for user, role in roles.items()]
    columns = ("kind", "name", "user", "role", "at")
    insertion = text(
        'INSERT INTO members (kind, name, "user", role, at, digest) '
        "VALUES (:kind, :name, :user, :role, :at, :digest)"
    )
    values = []
    for row in rows:
        values.append({**dict(zip(columns, row, strict=True)), "digest": row_digest(row)})
    if values:
        connection.execute(insertion, values)


def _models(connection: Connection) -> None:
    for statement in _TABLES_0007:
        connection.execute(text(statement))


_STATEMENTS_0008 = (
    """CREATE TABLE identities (
        issuer VARCHAR NOT NULL, subject VARCHAR NOT NULL, "user" VARCHAR NOT NULL,
        at VARCHAR NOT NULL, digest VARCHAR NOT NULL, PRIMARY KEY (issuer, subject))""",
    """CREATE INDEX events_of_audit ON events (seq) WHERE kind IN ('exported', 'members changed',
    'model removed', 'model version added', 'model version chosen', 'settings changed',
    'sign-in refused', 'signed in', 'signed out', 'texts purged', 'user changed', 'filter created',
    'filter imported', 'filter paused', 'filter resumed', 'filter put away', 'filter restored',
    'filter deleted', 'review begun', 'review put away', 'review restored')""",
)


def _identities(connection: Connection) -> None:
    for statement in _STATEMENTS_0008:
        connection.execute(text(statement))


MIGRATIONS: dict[str, Callable[[Connection], None]] = {
    "0001 events, documents, what they amount to, people": _first_tables,
    "0002 the store has a name": _name_the_store,
    "0003 reviews, digests of rows, deletion that can be undone": _reviews_and_digests,
    "0004 filters and reviews have columns of their own": _filters_and_reviews,
    "0005 members, invitations, tokens of programs": _members,
    "0006 texts and payloads are packed": _packed_texts,
    "0007 fitted models": _models,
    "0008 single sign-on, audit trail": _identities,
}


def is_current(connection: Connection) -> bool:
    """Whether no migration is left to do."""
    if not inspect(connection).has_table(DONE.name):
        return False
    return set(connection.execute(select(DONE.c.name)).scalars()) >= MIGRATIONS.keys()


def migrate(connection: Connection, up_to: Sequence[str] = tuple(MIGRATIONS)) -> list[str]:
    """Apply the migrations that are missing, in order, and return their names.

    Refuse a newer database. With `up_to` only these are applied, the first ones.
    """
    if not inspect(connection).has_table(DONE.name):
        DONE.create(connection)
    done = set(connection.execute(select(DONE.c.name)).scalars())
    unknown = sorted(done - MIGRATIONS.keys())
    if unknown:
        raise DataError(
            f"the database was written by a newer bayesift ({unknown[0]}); upgrade to open it"
        )
    todo = [name for name in MIGRATIONS if name in up_to and name not in done]
    for name in todo:
        MIGRATIONS[name](connection)
        connection.execute(insert(DONE).values(name=name, at=datetime.now(UTC).isoformat()))
    return todo
