"""The tables. `events` is the truth, the others follow from it or are beside it (people).

events      what happened, numbered without gaps; never changed, never deleted
documents   texts; the only thing retention takes away
profiles, judgements, words    what events amount to now, written in the same transaction
users, sessions                people; tokens are here as SHA-256 only
facts       facts about the store itself
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, MetaData, String, Table, Text

METADATA = MetaData()

EVENTS = Table(
    "events",
    METADATA,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("batch", BigInteger, nullable=False),
    Column("at", String, nullable=False),
    Column("user", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("profile", String),
    Column("document", String),
    Column("payload", Text, nullable=False),
    Index("events_of_profile", "profile", "seq"),
    Index("events_about_document", "document"),
)
DOCUMENTS = Table(
    "documents",
    METADATA,
    Column("id", String, primary_key=True),
    Column("seq", BigInteger, nullable=False, unique=True),
    Column("at", String, nullable=False),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("purged", Boolean, nullable=False),
)
PROFILES = Table(
    "profiles",
    METADATA,
    Column("name", String, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("at", String, nullable=False),
    Column("user", String, nullable=False),
    Column("definition", Text, nullable=False),
    Column("paused", Boolean, nullable=False),
    Column("seen", BigInteger, nullable=False),
    Column("since", BigInteger, nullable=False),
)
JUDGEMENTS = Table(
    "judgements",
    METADATA,
    Column("profile", String, primary_key=True),
    Column("document", String, primary_key=True),
    Column("user", String, primary_key=True),
    Column("relevant", Boolean, nullable=False),
    Column("at", String, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Index("judgements_by_time", "profile", "seq"),
)
WORDS = Table(
    "words",
    METADATA,
    Column("profile", String, primary_key=True),
    Column("word", String, primary_key=True),
    Column("strength", Float, nullable=False),
    Column("user", String, nullable=False),
    Column("at", String, nullable=False),
)
USERS = Table(
    "users",
    METADATA,
    Column("name", String, primary_key=True),
    Column("role", String, nullable=False),
    Column("token", String, nullable=False, unique=True),
    Column("at", String, nullable=False),
)
SESSIONS = Table(
    "sessions",
    METADATA,
    Column("key", String, primary_key=True),
    Column("user", String, nullable=False),
    Column("csrf", String, nullable=False),
    Column("until", String, nullable=False),
)
FACTS = Table(
    "facts",
    METADATA,
    Column("name", String, primary_key=True),
    Column("value", String, nullable=False),
)
