"""The last commit, kept in a small file outside the database.

A database that lost its newest commits, by damage to SQLite's WAL or because an older copy was
restored, looks whole from the inside. `events.mark` tells: it holds the number of the last commit,
the number of its last event and the digest of that event, which covers all events before it. It is
on the disk before a commit is acknowledged. Two records of the same size are written in turn, so
that one of them is whole at any moment; the mark may be older than the database, but never newer.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from bayesift.errors import DataError
from bayesift.service.db.tables import Reading

MARK = "events.mark"
_RECORD_BYTES = 128
N_RECORDS = 2


class CommitEnd(NamedTuple):
    """How far a database was written: commits, events, and the digest of the last event."""

    store: str
    commits: int
    seq: int
    digest: str

    @classmethod
    def of(cls, read: Reading) -> CommitEnd:
        """Return how far a database is written now."""
        seq = read.last_seq()
        return cls(read.fact("store"), read.n_commits(), seq, read.event_digest(seq))

    def missing_in(self, read: Reading) -> str:
        """Say what an older database lacks; "" if it has everything."""
        found = CommitEnd.of(read)
        if found.store != self.store:
            return f"it is not the database of {MARK}, which had {self.seq:,} events"
        if found.seq < self.seq:
            missing = f"events {found.seq + 1:,} to {self.seq:,} are"
            if found.seq + 1 == self.seq:
                missing = f"event {self.seq:,} is"
            return f"{missing} missing, which {MARK} says were acknowledged"
        if read.event_digest(self.seq) != self.digest:
            return f"event {self.seq:,} is not the one that {MARK} says was acknowledged"
        if found.commits < self.commits:
            return (
                f"no event is missing, but the last changes of people, sessions or texts are: "
                f"{found.commits:,} commits of {self.commits:,}"
            )
        return ""


class CommitMark:
    """The file of the mark in the folder of a service."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / MARK
        self._file: int | None = None
        self._turn = 0

    def read(self) -> CommitEnd | None:
        """Return the newest record; None without one, DataError if both are damaged."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DataError(f"cannot be read ({error.strerror})", file=self.path) from error
        if not content.strip(b"\0"):
            return None
        found = []
        for turn in range(N_RECORDS):
            end = _decoded(content[turn * _RECORD_BYTES : (turn + 1) * _RECORD_BYTES])
            if end is not None:
                found.append((end.commits, turn, end))
        if not found:
            raise DataError(
                "is damaged; bayesift serve --check tells what the database holds, and without "
                "this file it is believed",
                file=self.path,
            )
        _, newest, end = max(found)
        self._turn = newest + 1
        return end

    def move(self, end: CommitEnd) -> None:
        """Note a commit; it is on the disk when this returns."""
        try:
            if self._file is None:
                self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            record = _encoded(end)
            place = self._turn % N_RECORDS * _RECORD_BYTES
            if os.pwrite(self._file, record, place) < len(record):
                raise OSError(None, "it was written in part")
            os.fdatasync(self._file)
        except OSError as error:
            raise DataError(f"cannot be written ({error.strerror})", file=self.path) from error
        self._turn += 1

    def remove(self) -> None:
        """Forget all records, because another beginning of the database is accepted."""
        self.close()
        self.path.unlink(missing_ok=True)
        self._turn = 0

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
        self._file = None


def _encoded(end: CommitEnd) -> bytes:
    text = f"{end.commits:016d} {end.seq:016d} {end.digest or '-'} {end.store}".encode()
    return (text + b" " + _checksum(text)).ljust(_RECORD_BYTES - 1) + b"\n"


def _decoded(record: bytes) -> CommitEnd | None:
    """Return a record; None if it was never written, or is not what was written."""
    parts = record.split()
    if len(parts) != 5:
        return None
    commits, seq, digest, store = (part.decode(errors="replace") for part in parts[:4])
    try:
        end = CommitEnd(store, int(commits), int(seq), digest.strip("-"))
    except ValueError:
        return None
    return end if _encoded(end) == record else None


def _checksum(text: bytes) -> bytes:
    return blake2b(text, digest_size=8).hexdigest().encode()
