"""What can be set of the service, with the bounds that keep it standing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How a service runs.

    Parameters
    ----------
    folder : where it lives: the SQLite file, snapshots
    database : address of a PostgreSQL database; SQLite in the folder unless given
    workers : threads that answer questions beside the writer
    snapshot_every : events between snapshots
    lease_seconds : how long a document in somebody's queue is theirs
    session_hours : how long a page stays signed in
    requests_per_second, burst : of one person, on average and at once
    logins_per_minute : attempts from one address
    max_body, max_text : bytes of a request, characters of a document
    max_batch : documents of one request; they are learned `chunk` at a time
    chunk : documents of one transaction
    waiting_people, waiting_batches : how many may wait for the writer
    streams : event streams that may be open at once
    """

    folder: Path
    database: str | None = None
    workers: int = 8
    snapshot_every: int = 50_000
    lease_seconds: float = 300.0
    session_hours: float = 12.0
    requests_per_second: float = 200.0
    burst: int = 400
    logins_per_minute: int = 20
    max_body: int = 32 * 1024 * 1024
    max_text: int = 1_000_000
    max_batch: int = 1_000
    chunk: int = 70
    waiting_people: int = 1_000
    waiting_batches: int = 64
    streams: int = 100
