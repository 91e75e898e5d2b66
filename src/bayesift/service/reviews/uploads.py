"""Records for a new review: from files, from another review, or from the stream of documents.

What was read is kept in memory until the person makes a review of it.
"""

from __future__ import annotations

import hashlib
import tempfile
import textwrap
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bayesift.errors import DataError
from bayesift.records import Corpus, Document
from bayesift.references import (
    Decision,
    Reference,
    ReferenceList,
    SourceFile,
    load_references,
    read_references,
)
from bayesift.references.files import decided_by_name, recognise
from bayesift.screening.project import new_id
from bayesift.screening.review_log import ReviewReading, with_decisions
from bayesift.service.db.tables import DocumentRow, FilterRow, Reading
from bayesift.service.errors import NotFoundError, TooLargeError
from bayesift.service.files import check_unpacked
from bayesift.service.filters import event_log
from bayesift.service.reviews.packed import PackedRecords
from bayesift.tables import load_table
from bayesift.tables.loading import Source, guess_encoding

_PLAIN_TEXT = (".txt", ".text", ".md")
_MAX_CHARACTERS = 200_000_000  # of documents that become records
_DOCUMENTS_AT_ONCE = 500  # read from the database
_TITLE_CHARACTERS = 100  # of the title of a document without one


@dataclass
class Upload:
    """Records that a person sent or chose and has not used yet."""

    person: str
    records: PackedRecords
    at: float = field(default_factory=time.monotonic)


class Uploads:
    """Records for new reviews; in memory, some per person, for some time."""

    MOST = 20
    SECONDS = 3_600.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, Upload] = {}

    def keep(self, upload: Upload) -> str:
        """Keep records and return their key; the oldest are dropped when there are too many."""
        key = new_id()
        with self._lock:
            now = time.monotonic()
            kept = {
                name: each for name, each in self._kept.items() if now - each.at < self.SECONDS
            }
            mine = [name for name, each in kept.items() if each.person == upload.person]
            for name in mine[: max(0, len(mine) + 1 - self.MOST)]:
                del kept[name]
            self._kept = {**kept, key: upload}
        return key

    def take(self, person: str, keys: Sequence[str]) -> list[PackedRecords]:
        """Return the records of several uploads."""
        found = []
        for key in dict.fromkeys(keys):
            upload = self._kept.get(key)
            if upload is None or upload.person != person:
                raise NotFoundError("a file is not kept any more; send it again")
            found.append(upload.records)
        return found

    def drop(self, keys: Sequence[str]) -> None:
        """Drop uploads."""
        with self._lock:
            for key in keys:
                self._kept.pop(key, None)


def read_upload(name: str, content: bytes) -> ReferenceList:
    """Read the records of a file, named as the person named it."""
    check_unpacked(content)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{Path(name).suffix[:10]}"
        path.write_bytes(content)
        try:
            found = read_references(path)
        except DataError as error:
            raise DataError(f"{name}: {error.message}") from error
    named = str(path)
    return ReferenceList(
        tuple(
            replace(r, file=name, id=r.id.replace(path.name, name, 1))
            for r in decided_by_name(found, name)
        ),
        tuple(replace(file, file=name) for file in found.files),
        tuple(replace(p, file=name) if p.file == named else p for p in found.problems),
        tuple(replace(p, file=name) if p.file == named else p for p in found.refused),
    )


def review_records(
    log: ReviewReading, name: str, only: Collection[str], *, decisions: bool
) -> ReferenceList:
    """Return the records of another review, all or those with some outcomes.

    The decisions on records that all their reviewers agree on come along if wanted.
    """
    found = []
    for record in log.records.values():
        status = log.final_status(record.id)
        if not only or status in only:
            told = with_decisions(record, log, {})
            is_settled = status not in ("open", "waiting", "conflict")
            kept = told.decisions if decisions and is_settled else ()
            found.append(
                replace(
                    record.reference, decisions=kept, labels=told.labels, file=_file_name(name)
                )
            )
    return _from_here(found, name, "review")


def stream_records(
    read: Reading, row: FilterRow | None, limit: int, *, relevant: bool, decisions: bool
) -> ReferenceList:
    """Return the newest documents of the stream as records.

    With a filter these are the documents that it retrieved, or those that people judged relevant;
    judgements become decisions if wanted.
    """
    given: dict[str, list[Decision]] = {}
    wanted = set()
    name = "documents"
    if row is None:
        ids = read.document_ids(limit)
    else:
        name = row.name
        for judged in read.judgements(name):
            if judged.relevant:
                wanted.add(judged.document)
            decision = Decision("included" if judged.relevant else "excluded", judged.user)
            given.setdefault(judged.document, []).append(decision)
        retrieved = read.events(row.seq, filter=name, kinds=(event_log.RETRIEVED,))
        chosen = dict.fromkeys([*(str(event.document) for event in retrieved), *given])
        ids = [id_ for id_ in chosen if not relevant or id_ in wanted][-limit:]
    if not decisions:
        given = {}
    documents = _documents(read, ids)
    found = [_document_record(each, name, given.get(each.id, ())) for each in documents]
    return _from_here(found, name, "documents")


def _documents(read: Reading, ids: Sequence[str]) -> Iterator[DocumentRow]:
    """Yield documents that have a text; refuse more than memory should hold."""
    characters = 0
    for start in range(0, len(ids), _DOCUMENTS_AT_ONCE):
        for row in read.documents(ids[start : start + _DOCUMENTS_AT_ONCE]).values():
            characters += len(row.text)
            if characters > _MAX_CHARACTERS:
                raise TooLargeError(
                    f"these documents have more than {_MAX_CHARACTERS:,} characters; choose fewer"
                )
            if not row.purged:
                yield row


def _document_record(row: DocumentRow, name: str, decisions: Sequence[Decision]) -> Reference:
    title = row.title.strip() or textwrap.shorten(
        row.text, _TITLE_CHARACTERS, placeholder=" ..."
    )
    return Reference(
        id=row.id,
        title=title,
        abstract=row.text,
        file=_file_name(name),
        decisions=tuple(decisions),
        type="GEN",
    )


def _from_here(found: Sequence[Reference], name: str, kind: str) -> ReferenceList:
    if not found:
        raise DataError("there are no such records")
    return ReferenceList(
        tuple(found), (SourceFile(_file_name(name), kind, "utf-8", len(found)),)
    )


def _file_name(name: str) -> str:
    return name.replace("/", " ")


def read_documents(name: str, content: bytes) -> Corpus:
    """Read the documents of a file of records, of a table or of plain text, in any encoding."""
    check_unpacked(content)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{Path(name).suffix[:10]}"
        path.write_bytes(content)
        try:
            if recognise(Source.of(path)) is not None:
                return load_references(path, skip_bad=True)
            if path.suffix.lower() in _PLAIN_TEXT:
                text = content.decode(guess_encoding([content]), "replace")
                return Corpus((Document(_digest(content), text, title=name),), ())
            found = load_table(path, skip_bad=True)
            if not len(found.documents) and not found.problems:
                raise DataError("holds no documents")
            return found
        except DataError as error:
            raise DataError(f"{name}: {error.message}") from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:20]
