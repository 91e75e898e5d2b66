"""Records for a new review: files that people send, records of another review, documents of the stream.

What was read is kept until somebody makes a review of it.
"""

from __future__ import annotations

import hashlib
import io
import tempfile
import textwrap
import threading
import time
import zipfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow.parquet as pq

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
from bayesift.references.files import recognise
from bayesift.screening.project import new_id
from bayesift.screening.review_log import ABSTRACT, FULL_TEXT, ReviewLog, with_decisions
from bayesift.service import event_log
from bayesift.service.db.tables import DocumentRow, ProfileRow, Reading
from bayesift.service.errors import NotFoundError, TooLargeError
from bayesift.tables import load_table
from bayesift.tables.loading import Source, guess_encoding

_MOST_UNPACKED = 400 * 1024 * 1024
_PLAIN = (".txt", ".text", ".md")
_MOST_TEXT = 200_000_000  # characters of documents that become records
_AT_ONCE = 500  # documents read from the database
_TITLE = 100  # characters of the title of a document without one


@dataclass
class Upload:
    """Records that somebody sent or chose and has not used yet."""

    person: str
    references: ReferenceList
    at: float = field(default_factory=time.monotonic)


class Uploads:
    """Records for new reviews; in memory, some per person, for some time."""

    MOST = 20
    SECONDS = 3_600.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, Upload] = {}

    def keep(self, upload: Upload) -> str:
        """Keep records under a new key.

        The oldest of the person are dropped when there are too many.
        """
        key = new_id()
        with self._lock:
            now = time.monotonic()
            kept = {name: each for name, each in self._kept.items() if now - each.at < self.SECONDS}
            mine = [name for name, each in kept.items() if each.person == upload.person]
            for name in mine[: max(0, len(mine) + 1 - self.MOST)]:
                del kept[name]
            self._kept = {**kept, key: upload}
        return key

    def take(self, person: str, keys: Sequence[str]) -> ReferenceList:
        """The records of several uploads together."""
        found = [self._kept.get(key) for key in dict.fromkeys(keys)]
        lists = [
            upload.references for upload in found if upload is not None and upload.person == person
        ]
        if not lists or len(lists) < len(found):
            raise NotFoundError("a file is no longer here; send it again")
        return ReferenceList(
            tuple(reference for each in lists for reference in each),
            tuple(file for each in lists for file in each.files),
            tuple(problem for each in lists for problem in each.problems),
            tuple(problem for each in lists for problem in each.refused),
        )

    def drop(self, keys: Sequence[str]) -> None:
        """Forget uploads."""
        with self._lock:
            for key in keys:
                self._kept.pop(key, None)


def read_upload(name: str, content: bytes) -> ReferenceList:
    """The records of a file, named as the person named it."""
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
        tuple(replace(r, file=name, id=r.id.replace(path.name, name, 1)) for r in found),
        tuple(replace(file, file=name) for file in found.files),
        tuple(replace(p, file=name) if p.file == named else p for p in found.problems),
        tuple(replace(p, file=name) if p.file == named else p for p in found.refused),
    )


def review_records(
    log: ReviewLog, name: str, only: Collection[str], *, decisions: bool
) -> ReferenceList:
    """The records of another review, all or those that are "included", "excluded", "maybe" or "open".

    A record without a verdict of all its reviewers is open: nobody sees here what is blind in the
    review. The decisions of the others come along if wanted.
    """
    found = []
    for record in log.records.values():
        stage = FULL_TEXT if log.decisions_on(record.id, FULL_TEXT) else ABSTRACT
        status = log.status(record.id, stage)
        is_open = status in ("open", "waiting", "conflict")
        if not only or ("open" if is_open else status) in only:
            told = with_decisions(record, log, {})
            kept = told.decisions if decisions and not is_open else ()
            found.append(
                replace(record.reference, decisions=kept, labels=told.labels, file=_file_name(name))
            )
    return _from_here(found, name, "review")


def stream_records(
    read: Reading, profile: ProfileRow | None, limit: int, *, relevant: bool, decisions: bool
) -> ReferenceList:
    """Documents that came in as a stream, the newest, as records.

    With a profile those that it retrieved, or those that people judged relevant; judgements become
    decisions if wanted.
    """
    given: dict[str, list[Decision]] = {}
    if profile is None:
        ids = read.document_ids(limit)
    else:
        for row in read.judgements(profile.name):
            decision = Decision("included" if row.relevant else "excluded", row.user)
            given.setdefault(row.document, []).append(decision)
        retrieved = read.events(profile.seq, profile=profile.name, kinds=(event_log.RETRIEVED,))
        chosen = dict.fromkeys(str(row.document) for row in retrieved) | dict.fromkeys(given)
        if relevant:
            chosen = {
                id_: None
                for id_ in chosen
                if any(d.verdict == "included" for d in given.get(id_, ()))
            }
        ids = list(chosen)[-limit:]
    name = "documents" if profile is None else profile.name
    found = [
        _document_record(row, name, given.get(row.id, ()) if decisions else ())
        for row in _documents(read, ids)
    ]
    return _from_here(found, name, "documents")


def _documents(read: Reading, ids: Sequence[str]) -> Iterator[DocumentRow]:
    """Documents that have a text, some at a time; refuses more than memory should hold."""
    characters = 0
    for start in range(0, len(ids), _AT_ONCE):
        for row in read.documents(ids[start : start + _AT_ONCE]).values():
            characters += len(row.text)
            if characters > _MOST_TEXT:
                raise TooLargeError(
                    f"these documents have more than {_MOST_TEXT:,} characters; choose fewer"
                )
            if not row.purged:
                yield row


def _document_record(row: DocumentRow, name: str, decisions: Sequence[Decision]) -> Reference:
    title = row.title.strip() or textwrap.shorten(row.text, _TITLE, placeholder=" ...")
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
    return ReferenceList(tuple(found), (SourceFile(_file_name(name), kind, "utf-8", len(found)),))


def _file_name(name: str) -> str:
    return name.replace("/", " ")


def read_documents(name: str, content: bytes) -> Corpus:
    """The documents of a file of records, of a table or of plain text, whatever its encoding."""
    check_unpacked(content)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{Path(name).suffix[:10]}"
        path.write_bytes(content)
        try:
            if recognise(Source.of(path)) is not None:
                return load_references(path, skip_bad=True)
            if path.suffix.lower() in _PLAIN:
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


def check_unpacked(content: bytes) -> None:
    """Refuse a file that would take far more memory than it has bytes."""
    size = 0
    try:
        if content.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
        elif content.startswith(b"PAR1"):
            parts = pq.read_metadata(io.BytesIO(content))
            size = sum(
                parts.row_group(number).total_byte_size for number in range(parts.num_row_groups)
            )
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise DataError("the file is damaged") from error
    if size > _MOST_UNPACKED:
        raise TooLargeError(
            f"the file unpacks to {size:,} bytes; at most {_MOST_UNPACKED:,} are allowed"
        )
