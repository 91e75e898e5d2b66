"""Questions to a store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, func, select

from bayesift.stores.rows import DocumentRow, EventRow, JudgementRow, ProfileRow, SessionRow, UserRow, WordRow
from bayesift.stores.tables import DOCUMENTS, EVENTS, FACTS, JUDGEMENTS, PROFILES, SESSIONS, USERS, WORDS

Row = TypeVar("Row")
_MANY = 500  # values of one IN
_PAGE = 5_000  # rows fetched at a time


class Reading:
    """Reads in one transaction.

    Parameters
    ----------
    connection : of the database
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    # ---- events --------------------------------------------------------------------------------------------------

    def last_seq(self) -> int:
        """The number of the newest event; 0 without any."""
        return int(self._connection.execute(select(func.max(EVENTS.c.seq))).scalar() or 0)

    def events(
        self,
        after: int = 0,
        *,
        profile: str | None = None,
        document: str | None = None,
        kinds: Sequence[str] | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Iterator[EventRow]:
        """Events after a number, in order: of a profile, about a document, of some kinds; all, or a few."""
        query = select(EVENTS)
        if profile is not None:
            query = query.where(EVENTS.c.profile == profile)
        if document is not None:
            query = query.where(EVENTS.c.document == document)
        if kinds is not None:
            query = query.where(EVENTS.c.kind.in_(kinds))
        if limit is not None:
            order = EVENTS.c.seq.desc() if newest_first else EVENTS.c.seq
            chosen = query.where(EVENTS.c.seq > after).order_by(order).limit(limit)
            yield from map(_event, self._connection.execute(chosen).all())
            return
        while page := self._connection.execute(
            query.where(EVENTS.c.seq > after).order_by(EVENTS.c.seq).limit(_PAGE)
        ).all():
            yield from map(_event, page)
            after = page[-1].seq

    def events_about(self, documents: Iterable[str], *, after: int, profile: str, kind: str) -> list[EventRow]:
        """Events of one kind about documents of a profile."""
        query = select(EVENTS).where(EVENTS.c.profile == profile, EVENTS.c.kind == kind, EVENTS.c.seq > after)
        parts = (query.where(EVENTS.c.document.in_(part)) for part in _parts(documents))
        return [_event(row) for part in parts for row in self._connection.execute(part)]

    def arrivals(self, documents: Iterable[str]) -> dict[str, dict[str, Any]]:
        """What was noted when documents arrived, by their ids."""
        found = {}
        for part in _parts(documents):
            query = (
                select(DOCUMENTS.c.id, EVENTS.c.payload)
                .join(EVENTS, EVENTS.c.seq == DOCUMENTS.c.seq)
                .where(DOCUMENTS.c.id.in_(part))
            )
            found.update({id_: json.loads(payload) for id_, payload in self._connection.execute(query)})
        return found

    # ---- documents -----------------------------------------------------------------------------------------------

    def known(self, documents: Iterable[str]) -> set[str]:
        """Which of these documents have arrived before."""
        found: set[str] = set()
        for part in _parts(documents):
            found.update(self._connection.execute(select(DOCUMENTS.c.id).where(DOCUMENTS.c.id.in_(part))).scalars())
        return found

    def documents(self, ids: Iterable[str]) -> dict[str, DocumentRow]:
        """Documents by their ids; those that never arrived are left out."""
        found = {}
        for part in _parts(ids):
            rows = self._all(DocumentRow, select(DOCUMENTS).where(DOCUMENTS.c.id.in_(part)))
            found.update({row.id: row for row in rows})
        return found

    def newest_documents(self, limit: int, after: int = 0) -> list[DocumentRow]:
        """The newest documents that are not purged and arrived after an event, newest first."""
        query = select(DOCUMENTS).where(DOCUMENTS.c.seq > after, DOCUMENTS.c.purged.is_(False))
        return self._all(DocumentRow, query.order_by(DOCUMENTS.c.seq.desc()).limit(limit))

    def n_documents(self) -> int:
        """How many documents ever arrived."""
        return int(self._connection.execute(select(func.count()).select_from(DOCUMENTS)).scalar_one())

    # ---- profiles ------------------------------------------------------------------------------------------------

    def profiles(self) -> list[ProfileRow]:
        """All profiles, oldest first."""
        return [_profile(row) for row in self._connection.execute(select(PROFILES).order_by(PROFILES.c.seq))]

    def profile(self, name: str) -> ProfileRow | None:
        """A profile; None without one of that name."""
        row = self._connection.execute(select(PROFILES).where(PROFILES.c.name == name)).first()
        return None if row is None else _profile(row)

    def judgements(
        self, profile: str, documents: Iterable[str] | None = None, *, limit: int | None = None
    ) -> list[JudgementRow]:
        """What people say of documents of a profile now, newest first."""
        query = select(JUDGEMENTS).where(JUDGEMENTS.c.profile == profile).order_by(JUDGEMENTS.c.seq.desc())
        if documents is None:
            return self._all(JudgementRow, query.limit(limit))
        parts = (query.where(JUDGEMENTS.c.document.in_(part)) for part in _parts(documents))
        return [row for part in parts for row in self._all(JudgementRow, part)]

    def conflicts(self, profile: str | None = None) -> dict[str, list[str]]:
        """The documents that people judge differently, by profile; those of one profile if it is named."""
        query = (
            select(JUDGEMENTS.c.profile, JUDGEMENTS.c.document)
            .group_by(JUDGEMENTS.c.profile, JUDGEMENTS.c.document)
            .having(func.count(JUDGEMENTS.c.relevant.distinct()) > 1)
            .order_by(func.max(JUDGEMENTS.c.seq).desc())
        )
        if profile is not None:
            query = query.where(JUDGEMENTS.c.profile == profile)
        found: dict[str, list[str]] = {}
        for name, document in self._connection.execute(query):
            found.setdefault(name, []).append(document)
        return found

    def words(self, profile: str) -> list[WordRow]:
        """What was said of words, newest first."""
        return self._all(WordRow, select(WORDS).where(WORDS.c.profile == profile).order_by(WORDS.c.at.desc()))

    # ---- people --------------------------------------------------------------------------------------------------

    def users(self) -> list[UserRow]:
        """All people, by name."""
        return self._all(UserRow, select(USERS).order_by(USERS.c.name))

    def sessions(self) -> list[SessionRow]:
        """All open pages."""
        return self._all(SessionRow, select(SESSIONS))

    def fact(self, name: str) -> str:
        """A fact about the store itself."""
        return str(self._connection.execute(select(FACTS.c.value).where(FACTS.c.name == name)).scalar_one())

    def _all(self, kind: type[Row], query: Select[Any]) -> list[Row]:
        return [kind(*row) for row in self._connection.execute(query)]


def _event(row: Any) -> EventRow:
    return EventRow(**{**row._mapping, "payload": json.loads(row.payload)})


def _profile(row: Any) -> ProfileRow:
    return ProfileRow(**{**row._mapping, "definition": json.loads(row.definition)})


def _parts(values: Iterable[str]) -> Iterator[list[str]]:
    """Pieces that fit into one question."""
    everything = list(dict.fromkeys(values))
    return (everything[start : start + _MANY] for start in range(0, len(everything), _MANY))
