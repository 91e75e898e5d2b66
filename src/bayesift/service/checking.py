"""Check the folder of a service that is not running: `bayesift serve --check`."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from bayesift.errors import DataError
from bayesift.screening.full_texts import FULL_TEXTS, FullTextFiles
from bayesift.service.db.database import FILE, check_rows_of, locked, missing_in, reading_only
from bayesift.service.db.mark import CommitMark
from bayesift.service.filters.snapshots import SnapshotFolder

_SHOWN_EVENTS = 20


def check_service(folder: Path, url: str | None = None) -> tuple[int, list[str]]:
    """Return the last event of a service, and what is wrong with its files in sentences.

    Rows, the chain of events, the mark, snapshots and full texts are checked; nothing is changed.
    """
    if url is None and not folder.is_dir():
        raise DataError("is not the folder of a service", file=folder)
    with locked(folder):
        name = str(folder / FILE) if url is None else "the database"
        last = 0
        wrong = []
        try:
            last, missing = missing_in(folder, url, CommitMark(folder).read())
            if missing:
                wrong.append(f"{name}: {missing}")
        except DataError as error:
            wrong.append(str(error))
        try:
            wrong += [f"{name}: {trouble}" for trouble in _rows(folder, url)]
            with reading_only(folder, url) as read:
                wrong += SnapshotFolder(folder, read.fact("store")).troubles(read)
            wrong += FullTextFiles(folder / FULL_TEXTS).troubles()
        except (SQLAlchemyError, ValueError):
            wrong.append(f"{name}: it cannot be read")
        return last, wrong


def _rows(folder: Path, url: str | None) -> list[str]:
    found = []
    with reading_only(folder, url) as read:
        missing = read.missing_events()
    if missing:
        shown = ", ".join(f"{seq:,}" for seq in missing[:_SHOWN_EVENTS])
        more = f" and {len(missing) - _SHOWN_EVENTS:,} more" * (len(missing) > _SHOWN_EVENTS)
        found.append(f"the log has no event {shown}{more}")
    trouble = check_rows_of(folder, url)
    if trouble:
        found.append(trouble)
    return found
