"""What a store is told, inside a transaction of the one writer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Table, delete, insert, update

from bayesift.stores.reading import Reading
from bayesift.stores.rows import DocumentRow, EventRow, JudgementRow, ProfileRow, SessionRow, UserRow, WordRow, values
from bayesift.stores.tables import DOCUMENTS, EVENTS, JUDGEMENTS, PROFILES, SESSIONS, USERS, WORDS

_OF_PROFILE = (PROFILES.c.name, JUDGEMENTS.c.profile, WORDS.c.profile)


class Writing(Reading):
    """Writes, and reads that see what was written before in the same transaction."""

    def append(self, events: Sequence[EventRow]) -> None:
        """Add events at the end of the log."""
        self._insert(EVENTS, [{**values(event), "payload": _json(event.payload)} for event in events])

    def add_documents(self, documents: Sequence[DocumentRow]) -> None:
        """Keep documents that arrived."""
        self._insert(DOCUMENTS, [values(document) for document in documents])

    def purge(self, *, before: str | None = None, up_to: int | None = None) -> int:
        """Forget titles and texts of documents that arrived before a time, or up to an event; gives how many."""
        chosen = update(DOCUMENTS).where(DOCUMENTS.c.purged.is_(False))
        if before is not None:
            chosen = chosen.where(DOCUMENTS.c.at < before)
        if up_to is not None:
            chosen = chosen.where(DOCUMENTS.c.seq <= up_to)
        return int(self._connection.execute(chosen.values(title="", text="", purged=True)).rowcount)

    def put_profile(self, profile: ProfileRow) -> None:
        """Keep a profile; one of the same name is replaced."""
        self._put(PROFILES, {"name": profile.name}, {**values(profile), "definition": _json(profile.definition)})

    def drop_profile(self, name: str) -> None:
        """Forget a profile and what was said to it; its events stay."""
        for column in _OF_PROFILE:
            self._connection.execute(delete(column.table).where(column == name))

    def put_judgement(self, row: JudgementRow) -> None:
        """Keep what a person says of a document instead of what they said before."""
        self._put(JUDGEMENTS, {"profile": row.profile, "document": row.document, "user": row.user}, values(row))

    def drop_judgement(self, profile: str, document: str, user: str) -> None:
        """Forget what a person says of a document."""
        self._drop(JUDGEMENTS, {"profile": profile, "document": document, "user": user})

    def put_word(self, row: WordRow) -> None:
        """Keep what was said of a word."""
        self._put(WORDS, {"profile": row.profile, "word": row.word}, values(row))

    def drop_word(self, profile: str, word: str) -> None:
        """Forget what was said of a word."""
        self._drop(WORDS, {"profile": profile, "word": word})

    def add_user(self, user: UserRow) -> None:
        """Let a person in."""
        self._insert(USERS, [values(user)])

    def drop_user(self, name: str) -> None:
        """Keep a person out, and close their pages."""
        self._drop(SESSIONS, {"user": name})
        self._drop(USERS, {"name": name})

    def add_session(self, session: SessionRow, *, now: str) -> None:
        """Open a page; those whose time is over are forgotten."""
        self._connection.execute(delete(SESSIONS).where(SESSIONS.c.until < now))
        self._insert(SESSIONS, [values(session)])

    def drop_session(self, key: str) -> None:
        """Close a page."""
        self._drop(SESSIONS, {"key": key})

    def _insert(self, table: Table, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._connection.execute(insert(table), rows)

    def _drop(self, table: Table, key: dict[str, Any]) -> None:
        self._connection.execute(delete(table).where(*(table.c[name] == value for name, value in key.items())))

    def _put(self, table: Table, key: dict[str, Any], values: dict[str, Any]) -> None:
        self._drop(table, key)
        self._insert(table, [values])


def _json(payload: dict[str, Any]) -> str:
    return json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
