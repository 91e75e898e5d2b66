"""Tables, their rows and the queries.

`events` is the source of truth; the other tables are derived from it or concern users.

events                      numbered without gaps; never changed, never deleted
documents                   titles and texts, which retention deletes; texts and payloads are packed
filters, judgements, words  their current state, written in the same transaction as the events
reviews, review_records     reviews and their records as they were read; decisions are events
users, sessions, tokens     tokens are stored as SHA-256 only
identities                  who a user is to a single sign-on
members, invitations        who may see, judge and manage which filter or review
models, corrections         versions of fitted models, and events that correct their answers
facts                       facts about the database itself, such as its name

Every row has a digest of its values (`integrity.py`). `migrations.py` creates the tables; a change
here needs a migration there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypeVar

import sqlalchemy as sa
from sqlalchemy.types import TypeDecorator

from bayesift.service.db.integrity import (
    Stored,
    check_rows,
    pack,
    row_digest,
    unpack,
)

_MAX_IN_VALUES = 500  # of one statement
_PAGE_ROWS = 5_000  # fetched at a time


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event of a filter, of a review or of the stream.

    `batch` is the number of the first event of the same call; `document` is a document of the
    stream or a record of the review.
    """

    seq: int
    batch: int
    at: str
    user: str
    kind: str
    filter: str | None
    review: str | None
    document: str | None
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document; `seq` is the event of its arrival. Title and text are empty once purged.

    `content` is the digest of title and text, by which the same document is found under another id.
    """

    id: str
    seq: int
    at: str
    title: str
    text: str
    purged: bool
    content: str = ""


@dataclass(frozen=True, slots=True)
class FilterRow:
    """A filter as it was defined.

    It has seen `seen` documents, and unless paused all after the first `since`. `deleted` is the
    time of its deletion, after which it can be restored for some days; "" if it is not deleted.
    """

    name: str
    seq: int
    at: str
    user: str
    definition: dict[str, Any]
    paused: bool
    seen: int
    since: int
    deleted: str = ""


@dataclass(frozen=True, slots=True)
class JudgementRow:
    """The current judgement of one person on a document."""

    filter: str
    document: str
    user: str
    relevant: bool
    at: str
    seq: int


@dataclass(frozen=True, slots=True)
class WordRow:
    """The current weight of a taught word."""

    filter: str
    word: str
    strength: float
    user: str
    at: str


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A review as it was begun; `seq` is the event of its beginning."""

    id: str
    seq: int
    at: str
    user: str
    name: str
    definition: dict[str, Any]
    deleted: str = ""


@dataclass(frozen=True, slots=True)
class ReviewRecordsRow:
    """Records of a review as Parquet: references, and the numbers of the records they belong to."""

    review: str
    seq: int
    content: bytes


@dataclass(frozen=True, slots=True)
class UserRow:
    """A user; `token` is the hash of their token."""

    name: str
    role: str
    token: str
    at: str


@dataclass(frozen=True, slots=True)
class IdentityRow:
    """Who a user is to the issuer of a single sign-on: an OpenID provider, or the proxy."""

    issuer: str
    subject: str
    user: str
    at: str


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A browser session; `key` is the hash of the cookie."""

    key: str
    user: str
    csrf: str
    until: str


@dataclass(frozen=True, slots=True)
class MemberRow:
    """The role of a user in a filter or review; `kind` says which of the two `name` is."""

    kind: str
    name: str
    user: str
    role: str
    at: str


@dataclass(frozen=True, slots=True)
class InvitationRow:
    """An invitation to a filter or review; `key` is the hash of what the link holds."""

    key: str
    kind: str
    name: str
    role: str
    by: str
    until: str


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token of a program that acts for a user; `key` is its hash, `ending` its last letters."""

    key: str
    user: str
    name: str
    scope: str
    ending: str
    until: str


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A version of a fitted model; `content` names its folder, one is `current` and answers."""

    name: str
    version: int
    seq: int
    at: str
    user: str
    content: str
    current: bool


@dataclass(frozen=True, slots=True)
class CorrectionRow:
    """A correction of an answer of a model; event `seq` holds it."""

    seq: int
    model: str


def json_text(value: Any) -> str:
    """Return the text of a JSON value as it is stored."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _bound(value: Any) -> Any:
    return json_text(value) if isinstance(value, dict) else value


class Packable(str):
    """A text that is packed when it is made, so that a transaction need not do it."""

    def __new__(cls, text: str) -> Self:
        """Pack a text."""
        made = super().__new__(cls, text)
        made.packed = pack(text)
        return made

    packed: bytes


class _Json(TypeDecorator[Any]):
    """A JSON object as text."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str:
        """Return the text to store, which `Writing.add` made of the object."""
        return value or "{}"

    def process_result_value(self, value: str | None, dialect: Any) -> dict[str, Any]:
        """Return the object of a stored text."""
        stored: dict[str, Any] = json.loads(value or "{}")
        return stored


class _Packed(TypeDecorator[str]):
    """A text, packed."""

    impl = sa.LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> bytes:
        """Return the bytes to store."""
        return value.packed if isinstance(value, Packable) else pack(value or "")

    def process_result_value(self, value: bytes | None, dialect: Any) -> str:
        """Return the text of stored bytes."""
        return unpack(value or b"")


class _PackedJson(TypeDecorator[Any]):
    """A JSON object as packed text."""

    impl = sa.LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> bytes:
        """Return the bytes to store, of the text that `Writing.add` made of the object."""
        return pack(value or "{}")

    def process_result_value(self, value: bytes | None, dialect: Any) -> dict[str, Any]:
        """Return the object of stored bytes."""
        stored: dict[str, Any] = json.loads(unpack(value or b"{}"))
        return stored


METADATA = sa.MetaData()
_COMMITS = "commits"  # the fact
_DIGEST = "digest"
_TYPES: dict[str, Any] = {
    "int": sa.BigInteger,
    "str": sa.String,
    "bool": sa.Boolean,
    "float": sa.Float,
    "bytes": sa.LargeBinary,
    "dict[str, Any]": _Json,
}
_PACKED_TYPES: dict[str, Any] = {"str": _Packed, "dict[str, Any]": _PackedJson}


def _table(
    name: str,
    row: Any,
    *indexes: sa.Index,
    key: tuple[str, ...],
    unique: str = "",
    packed: str = "",
) -> sa.Table:
    """Create a table with one column for each field of its row, one of them packed."""
    columns: list[sa.Column[Any]] = []
    for field in fields(row):
        kind, _, optional = str(field.type).partition(" | ")
        options: dict[str, Any] = {
            "primary_key": field.name in key,
            "unique": field.name == unique or None,
        }
        columns.append(
            sa.Column(
                field.name,
                (_PACKED_TYPES if field.name == packed else _TYPES)[kind],
                nullable=bool(optional),
                autoincrement=False,
                **options,
            )
        )
    columns.append(sa.Column(_DIGEST, sa.String, nullable=False))
    return sa.Table(name, METADATA, *columns, *indexes)


def _index(name: str, *columns: str, where: str) -> sa.Index:
    """Create an index of the rows that meet a condition."""
    condition = sa.text(where)
    return sa.Index(name, *columns, sqlite_where=condition, postgresql_where=condition)


# What the audit trail shows, as the index has it.
_AUDITED = (
    "kind IN ('exported', 'members changed', 'model removed', 'model version added', "
    "'model version chosen', 'settings changed', 'sign-in refused', 'signed in', 'signed out', "
    "'texts purged', 'user changed', 'filter created', 'filter imported', 'filter paused', "
    "'filter resumed', 'filter put away', 'filter restored', 'filter deleted', 'review begun', "
    "'review put away', 'review restored')"
)
_EVENT_INDEXES = (
    _index("events_of_filter", "filter", "seq", where='"filter" IS NOT NULL'),
    _index("events_of_review", "review", "seq", where="review IS NOT NULL"),
    _index("events_about_document", "document", "filter", "seq", where='"filter" IS NOT NULL'),
    _index("events_of_audit", "seq", where=_AUDITED),
)
_BY_TIME = sa.Index("judgements_by_time", "filter", "seq")
EVENTS = _table("events", EventRow, *_EVENT_INDEXES, key=("seq",), packed="payload")
_BY_CONTENT = sa.Index("documents_by_content", "content")
_HAS_TEXT = "purged IS FALSE"  # as the index has it, or SQLite would not use that
_UNPURGED = _index("documents_with_text", "seq", where=_HAS_TEXT)
DOCUMENTS = _table(
    "documents",
    DocumentRow,
    _BY_CONTENT,
    _UNPURGED,
    key=("id",),
    unique="seq",
    packed="text",
)
FILTERS = _table("filters", FilterRow, key=("name",))
JUDGEMENTS = _table("judgements", JudgementRow, _BY_TIME, key=("filter", "document", "user"))
WORDS = _table("words", WordRow, key=("filter", "word"))
REVIEWS = _table("reviews", ReviewRow, key=("id",))
REVIEW_RECORDS = _table("review_records", ReviewRecordsRow, key=("review", "seq"))
USERS = _table("users", UserRow, key=("name",), unique="token")
IDENTITIES = _table("identities", IdentityRow, key=("issuer", "subject"))
SESSIONS = _table("sessions", SessionRow, key=("key",))
MEMBERS = _table("members", MemberRow, key=("kind", "name", "user"))
INVITATIONS = _table("invitations", InvitationRow, key=("key",))
TOKENS = _table("tokens", TokenRow, key=("key",))
MODELS = _table("models", ModelRow, key=("name", "version"))
CORRECTIONS = _table("corrections", CorrectionRow, key=("seq",))
FACTS = sa.Table(
    "facts",
    METADATA,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("value", sa.String, nullable=False),
)

AnyRow = TypeVar("AnyRow")
_TABLES: dict[type, sa.Table] = {
    EventRow: EVENTS,
    DocumentRow: DOCUMENTS,
    FilterRow: FILTERS,
    JudgementRow: JUDGEMENTS,
    WordRow: WORDS,
    ReviewRow: REVIEWS,
    ReviewRecordsRow: REVIEW_RECORDS,
    UserRow: USERS,
    IdentityRow: IDENTITIES,
    SessionRow: SESSIONS,
    MemberRow: MEMBERS,
    InvitationRow: INVITATIONS,
    TokenRow: TOKENS,
    ModelRow: MODELS,
    CorrectionRow: CORRECTIONS,
}
_OF_ACCESS = (UserRow, IdentityRow, SessionRow, MemberRow, TokenRow)  # what is held in memory


def stored_tables(dialect: str) -> list[Stored]:
    """Return how all rows are read to be compared with their digests.

    They are read as texts where possible, which is faster.
    """
    found = []
    for table in _TABLES.values():
        is_text = dialect == "sqlite" and not any(
            isinstance(c.type, sa.Float | sa.LargeBinary) for c in table.c
        )
        packed = [
            place
            for place, column in enumerate(table.c)
            if isinstance(column.type, _Packed | _PackedJson)
        ]
        columns = ", ".join(
            _as_text(column) if is_text else f'"{column.name}"' for column in table.c
        )
        order = ' ORDER BY "seq"' if table is EVENTS else ""
        query = f"SELECT {columns} FROM {table.name}{order}"  # noqa: S608 - names of our own tables
        found.append(Stored(table.name, query, table is EVENTS, is_text, *packed))
    return found


def _as_text(column: sa.Column[Any]) -> str:
    if isinstance(column.type, sa.BigInteger | sa.Boolean):
        return f'CAST("{column.name}" AS TEXT)'
    return f'coalesce("{column.name}", char(0))' if column.nullable else f'"{column.name}"'


def _select(table: sa.Table) -> sa.Select[Any]:
    return sa.select(*(column for column in table.c if column.name != _DIGEST))


def column_values(row: Any) -> dict[str, Any]:
    """Return the values of a row by the names of its columns."""
    return {field.name: getattr(row, field.name) for field in fields(row)}


class Reading:
    """The reads of a transaction."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def last_seq(self) -> int:
        """Return the number of the newest event, or 0."""
        return int(self._connection.execute(sa.select(sa.func.max(EVENTS.c.seq))).scalar() or 0)

    def event_digest(self, seq: int) -> str:
        """Return the digest of an event, which covers all before it; "" without such an event."""
        query = sa.select(EVENTS.c.digest).where(EVENTS.c.seq == seq)
        return str(self._connection.execute(query).scalar() or "")

    def missing_events(self) -> list[int]:
        """Return the numbers up to the last event that no event has."""
        query = sa.select(EVENTS.c.seq).order_by(EVENTS.c.seq)
        missing: list[int] = []
        expected = 1
        for seq in self._connection.execute(
            query.execution_options(yield_per=_PAGE_ROWS)
        ).scalars():
            missing.extend(range(expected, seq))
            expected = seq + 1
        return missing

    def events(
        self,
        after: int = 0,
        *,
        kinds: Sequence[str] | None = None,
        limit: int | None = None,
        newest_first: bool = False,
        **values: str | None,
    ) -> Iterator[EventRow]:
        """Yield events after a number in order, selected by kind and by values of columns."""
        query = _select(EVENTS).where(
            *(EVENTS.c[name] == value for name, value in values.items() if value is not None)
        )
        if kinds is not None:
            query = query.where(EVENTS.c.kind.in_(kinds))
        if limit is not None:
            order = EVENTS.c.seq.desc() if newest_first else EVENTS.c.seq
            chosen = query.where(EVENTS.c.seq > after).order_by(order).limit(limit)
            yield from self._all(EventRow, chosen)
            return
        while page := self._all(
            EventRow, query.where(EVENTS.c.seq > after).order_by(EVENTS.c.seq).limit(_PAGE_ROWS)
        ):
            yield from page
            after = page[-1].seq

    def events_about(
        self, documents: Iterable[str], *, after: int, filter_name: str, kind: str
    ) -> list[EventRow]:
        """Return the events of one kind about documents of a filter."""
        query = _select(EVENTS).where(
            EVENTS.c.filter == filter_name, EVENTS.c.kind == kind, EVENTS.c.seq > after
        )
        return [EventRow(*row) for row in self._among(query, EVENTS.c.document, documents)]

    def arrivals(self, documents: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the payloads of the arrival events of documents, by document id."""
        query = sa.select(DOCUMENTS.c.id, EVENTS.c.payload).join(
            EVENTS, EVENTS.c.seq == DOCUMENTS.c.seq
        )
        rows = self._among(query, DOCUMENTS.c.id, documents)
        return {row.id: row.payload for row in rows}

    def known(self, documents: Iterable[str]) -> set[str]:
        """Return those of the documents that arrived before."""
        return {
            id_ for (id_,) in self._among(sa.select(DOCUMENTS.c.id), DOCUMENTS.c.id, documents)
        }

    def documents(self, ids: Iterable[str]) -> dict[str, DocumentRow]:
        """Return documents by id; unknown ids are left out."""
        query = _select(DOCUMENTS).order_by(DOCUMENTS.c.seq)
        return {row.id: DocumentRow(*row) for row in self._among(query, DOCUMENTS.c.id, ids)}

    def document_ids(self, limit: int) -> list[str]:
        """Return the ids of the newest documents that are not purged, oldest first."""
        query = sa.select(DOCUMENTS.c.id).where(sa.text(_HAS_TEXT))
        found = self._connection.execute(
            query.order_by(DOCUMENTS.c.seq.desc()).limit(limit)
        ).scalars()
        return list(found)[::-1]

    def newest_documents(self, limit: int, after: int = 0) -> list[DocumentRow]:
        """Return documents that arrived after an event and are not purged, newest first."""
        query = _select(DOCUMENTS).where(DOCUMENTS.c.seq > after, sa.text(_HAS_TEXT))
        return self._all(DocumentRow, query.order_by(DOCUMENTS.c.seq.desc()).limit(limit))

    def n_documents(self) -> int:
        """Count the documents that ever arrived."""
        return int(
            self._connection.execute(
                sa.select(sa.func.count()).select_from(DOCUMENTS)
            ).scalar_one()
        )

    def n_texts(self) -> int:
        """Count the documents that have a text."""
        query = sa.select(sa.func.count()).select_from(DOCUMENTS).where(sa.text(_HAS_TEXT))
        return int(self._connection.execute(query).scalar_one())

    def last_beyond(self, keep: int) -> int:
        """Return the arrival of the newest document with a text beyond a number of newer ones."""
        query = sa.select(DOCUMENTS.c.seq).where(sa.text(_HAS_TEXT))
        found = self._connection.execute(
            query.order_by(DOCUMENTS.c.seq.desc()).offset(keep).limit(1)
        )
        return int(found.scalar() or 0)

    def unjudged(self, filter_name: str, *, after: int, limit: int) -> list[str]:
        """Return the newest documents that a filter retrieved and no user judged, newest first."""
        judged = sa.exists().where(
            JUDGEMENTS.c.filter == EVENTS.c.filter, JUDGEMENTS.c.document == EVENTS.c.document
        )
        query = sa.select(EVENTS.c.document).where(
            EVENTS.c.filter == filter_name,
            EVENTS.c.kind == "retrieved",
            EVENTS.c.seq > after,
            ~judged,
        )
        found = self._connection.execute(query.order_by(EVENTS.c.seq.desc()).limit(limit))
        return list(found.scalars())

    def filters(self, *, deleted: bool = False) -> list[FilterRow]:
        """Return all filters, oldest first; or those that were deleted and can be restored."""
        rows = self._all(FilterRow, _select(FILTERS).order_by(FILTERS.c.seq))
        return [row for row in rows if bool(row.deleted) is deleted]

    def filter(self, name: str, *, deleted: bool = False) -> FilterRow | None:
        """Return a filter by name, or a deleted one; None if it does not exist."""
        row = self._one(FilterRow, _select(FILTERS).where(FILTERS.c.name == name))
        return row if row is not None and bool(row.deleted) is deleted else None

    def known_content(self, digests: Iterable[str]) -> set[str]:
        """Return which of these digests are the content of a document."""
        return {
            row[0]
            for row in self._among(sa.select(DOCUMENTS.c.content), DOCUMENTS.c.content, digests)
        }

    def reviews(self) -> list[ReviewRow]:
        """Return all reviews, deleted ones too, oldest first."""
        return self._all(ReviewRow, _select(REVIEWS).order_by(REVIEWS.c.seq))

    def review(self, review: str) -> ReviewRow | None:
        """Return a review by id, even if it is deleted; None if it does not exist."""
        return self._one(ReviewRow, _select(REVIEWS).where(REVIEWS.c.id == review))

    def review_records(self, review: str) -> list[ReviewRecordsRow]:
        """Return the records of a review, in the order they were added."""
        query = (
            _select(REVIEW_RECORDS)
            .where(REVIEW_RECORDS.c.review == review)
            .order_by(REVIEW_RECORDS.c.seq)
        )
        return self._all(ReviewRecordsRow, query)

    def verify(self) -> None:
        """Compare every row with its digest; raise ValueError with the table that differs."""
        for stored in stored_tables(self._connection.dialect.name):
            query = sa.text(stored.query).execution_options(yield_per=_PAGE_ROWS)
            with self._connection.execute(query) as rows:
                check_rows(rows, stored)

    def judgements(
        self,
        filter_name: str,
        documents: Iterable[str] | None = None,
        *,
        limit: int | None = None,
    ) -> list[JudgementRow]:
        """Return the current judgements of a filter, newest first."""
        query = (
            _select(JUDGEMENTS)
            .where(JUDGEMENTS.c.filter == filter_name)
            .order_by(JUDGEMENTS.c.seq.desc())
        )
        if documents is None:
            return self._all(JudgementRow, query.limit(limit))
        return [
            JudgementRow(*row) for row in self._among(query, JUDGEMENTS.c.document, documents)
        ]

    def conflicts(self, filter_name: str | None = None) -> dict[str, list[str]]:
        """Return the documents on which reviewers disagree, by filter; of one filter if named."""
        columns = (JUDGEMENTS.c.filter, JUDGEMENTS.c.document)
        query = (
            sa.select(*columns)
            .group_by(*columns)
            .having(sa.func.count(JUDGEMENTS.c.relevant.distinct()) > 1)
            .order_by(sa.func.max(JUDGEMENTS.c.seq).desc())
        )
        if filter_name is not None:
            query = query.where(JUDGEMENTS.c.filter == filter_name)
        found: dict[str, list[str]] = {}
        for name, document in self._connection.execute(query):
            found.setdefault(name, []).append(document)
        return found

    def words(self, filter_name: str) -> list[WordRow]:
        """Return the taught words of a filter, newest first."""
        query = _select(WORDS).where(WORDS.c.filter == filter_name)
        return self._all(WordRow, query.order_by(WORDS.c.at.desc()))

    def users(self) -> list[UserRow]:
        """Return all users, by name."""
        return self._all(UserRow, _select(USERS).order_by(USERS.c.name))

    def identities(self) -> list[IdentityRow]:
        """Return who users are to single sign-on."""
        return self._all(IdentityRow, _select(IDENTITIES))

    def sessions(self) -> list[SessionRow]:
        """Return all sessions."""
        return self._all(SessionRow, _select(SESSIONS))

    def members(self) -> list[MemberRow]:
        """Return the members of all filters and reviews."""
        return self._all(MemberRow, _select(MEMBERS))

    def invitations(self, **values: str) -> list[InvitationRow]:
        """Return the invitations that have these values."""
        query = _select(INVITATIONS).where(
            *(INVITATIONS.c[name] == value for name, value in values.items())
        )
        return self._all(InvitationRow, query)

    def tokens(self) -> list[TokenRow]:
        """Return the tokens of programs."""
        return self._all(TokenRow, _select(TOKENS).order_by(TOKENS.c.name))

    def models(self) -> list[ModelRow]:
        """Return all versions of all models, oldest first."""
        return self._all(ModelRow, _select(MODELS).order_by(MODELS.c.name, MODELS.c.version))

    def corrections(self, model: str) -> list[EventRow]:
        """Return the events that correct answers of a model, oldest first."""
        query = _select(EVENTS).join(CORRECTIONS, CORRECTIONS.c.seq == EVENTS.c.seq)
        return self._all(
            EventRow, query.where(CORRECTIONS.c.model == model).order_by(EVENTS.c.seq)
        )

    def audit_trail(self) -> Iterator[EventRow]:
        """Yield the events that an audit asks for, in order."""
        query = _select(EVENTS).where(sa.text(_AUDITED)).order_by(EVENTS.c.seq)
        found = self._connection.execute(query.execution_options(yield_per=_PAGE_ROWS))
        for row in found:
            yield EventRow(*row)

    def fact(self, name: str) -> str:
        """Return a fact about the database itself."""
        return str(
            self._connection.execute(
                sa.select(FACTS.c.value).where(FACTS.c.name == name)
            ).scalar_one()
        )

    def n_commits(self) -> int:
        """Return the number of transactions that changed something."""
        query = sa.select(FACTS.c.value).where(FACTS.c.name == _COMMITS)
        return int(self._connection.execute(query).scalar() or 0)

    def _all(self, kind: type[AnyRow], query: sa.Select[Any]) -> list[AnyRow]:
        return [kind(*row) for row in self._connection.execute(query)]

    def _one(self, kind: type[AnyRow], query: sa.Select[Any]) -> AnyRow | None:
        return next(iter(self._all(kind, query)), None)

    def _among(
        self, query: sa.Select[Any], column: sa.Column[Any], values: Iterable[str]
    ) -> Iterator[Any]:
        """Yield the rows of a query where a column has one of the values.

        The values are sent in pieces that fit into one statement.
        """
        distinct = list(dict.fromkeys(values))
        for start in range(0, len(distinct), _MAX_IN_VALUES):
            yield from self._connection.execute(
                query.where(column.in_(distinct[start : start + _MAX_IN_VALUES]))
            )


class Writing(Reading):
    """A write transaction; its reads see its own writes.

    Attributes
    ----------
    changed : whether something was written
    access_changed : whether users, sessions, tokens or members were written
    end : number and digest of the last event that was appended, if any
    """

    def __init__(self, connection: sa.Connection) -> None:
        super().__init__(connection)
        self.changed = False
        self.access_changed = False
        self.end: tuple[int, str] | None = None

    def count_commit(self, number: int) -> None:
        """Store the number of this transaction."""
        self._connection.execute(sa.delete(FACTS).where(FACTS.c.name == _COMMITS))
        self._connection.execute(sa.insert(FACTS), {"name": _COMMITS, "value": str(number)})

    def append(self, events: Sequence[EventRow]) -> None:
        """Append events to the log."""
        if not events:
            return
        last = sa.select(EVENTS.c.digest).where(EVENTS.c.seq == events[0].seq - 1)
        self.add(events, before=str(self._connection.execute(last).scalar() or ""))

    def add(self, rows: Sequence[Any], *, before: str = "") -> None:
        """Store new rows, all of one table.

        `before` is the digest of the row before them in a chain.
        """
        values = []
        for row in rows:
            stored = {name: _bound(value) for name, value in column_values(row).items()}
            digest = row_digest(stored.values(), before)
            stored[_DIGEST] = digest
            before = digest if isinstance(row, EventRow) else ""
            values.append(stored)
            if isinstance(row, EventRow):
                self.end = row.seq, digest
        if rows:
            self.changed = True
            self.access_changed |= type(rows[0]) in _OF_ACCESS
            self._connection.execute(sa.insert(_TABLES[type(rows[0])]), values)

    def put(self, row: Any) -> None:
        """Store a row, and delete the one with the same key."""
        key = _TABLES[type(row)].primary_key
        self.drop(type(row), **{column.name: getattr(row, column.name) for column in key})
        self.add([row])

    def drop(self, kind: type, /, **values: str) -> None:
        """Delete the rows of a table that have these values."""
        table = _TABLES[kind]
        self.changed = True
        self.access_changed |= kind in _OF_ACCESS
        self._connection.execute(
            sa.delete(table).where(*(table.c[name] == value for name, value in values.items()))
        )

    def purge(
        self, *, before: str | None = None, up_to: int | None = None, most: int | None = None
    ) -> int:
        """Delete texts of documents, oldest first, and count them.

        These are the documents that arrived before a time or up to an event, or a number of them.
        """
        chosen = _select(DOCUMENTS).where(sa.text(_HAS_TEXT)).order_by(DOCUMENTS.c.seq)
        if before is not None:
            chosen = chosen.where(DOCUMENTS.c.at < before)
        if up_to is not None:
            chosen = chosen.where(DOCUMENTS.c.seq <= up_to)
        n = 0
        while rows := self._all(
            DocumentRow, chosen.limit(_PAGE_ROWS if most is None else min(most - n, _PAGE_ROWS))
        ):
            self._connection.execute(
                sa.delete(DOCUMENTS).where(DOCUMENTS.c.id == sa.bindparam("the_id")),
                [{"the_id": row.id} for row in rows],
            )
            self.add([replace(row, title="", text="", purged=True) for row in rows])
            n += len(rows)
        return n

    def drop_filter(self, name: str) -> None:
        """Delete a filter with its judgements and words; its events stay."""
        self.drop(FilterRow, name=name)
        self.drop(JudgementRow, filter=name)
        self.drop(WordRow, filter=name)
        for kind in (MemberRow, InvitationRow):
            self.drop(kind, kind="filter", name=name)

    def drop_user(self, name: str) -> None:
        """Delete a user with their identities, sessions, tokens and roles."""
        for kind in (IdentityRow, SessionRow, TokenRow, MemberRow):
            self.drop(kind, user=name)
        self.drop(UserRow, name=name)

    def add_session(self, session: SessionRow, *, now: str) -> None:
        """Store a session; expired ones are deleted."""
        self._connection.execute(sa.delete(SESSIONS).where(SESSIONS.c.until < now))
        self.add([session])
