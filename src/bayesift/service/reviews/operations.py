"""Operations on whole reviews: begin, take in a project, rename, delete and restore."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bayesift.errors import DataError
from bayesift.references import ReferenceList, SourceFile
from bayesift.screening import Duplicates, Project, ProjectSettings
from bayesift.screening.project import group_numbers, new_id, write_records
from bayesift.service.db.tables import ReviewRecordsRow, ReviewRow
from bayesift.service.errors import ConflictError, NotFoundError, TooLargeError
from bayesift.service.live import UnitOfWork
from bayesift.service.reviews import live
from bayesift.service.reviews.live import LiveReview, opened_in, record_events

MAX_REVIEWS = 500
MAX_RECORDS = 200_000


@dataclass(frozen=True)
class NewReview:
    """The name, settings and records that a review begins with."""

    name: str
    settings: ProjectSettings
    references: ReferenceList
    duplicates: Duplicates
    take_decisions: bool = True


def begin(unit: UnitOfWork, new: NewReview, content: bytes) -> ReviewRow:
    """Begin a review.

    Decisions that came with the records are kept as events of their reviewers.
    """
    if sum(not row.deleted for row in unit.tx.reviews()) >= MAX_REVIEWS:
        raise ConflictError(f"at most {MAX_REVIEWS:,} reviews are allowed")
    definition = {
        "settings": asdict(new.settings),
        "files": [asdict(file) for file in new.references.files],
        "problems": len(new.references.problems),
    }
    row = _put_review(unit, new_id(), new.name, definition, content)
    if new.take_decisions:
        review = opened_in(unit, row.id)
        given = []
        for record in review.log.records.values():
            for decision in record.reference.decisions:
                values = {"by": decision.reviewer or "file", "record": record.id}
                given.append(
                    values
                    | {"verdict": decision.verdict, "reasons": list(decision.reasons) or None}
                )
        record_events(unit, review, review.log.prepare("decide", given, unit.at))
    return row


def packed_records(new: NewReview) -> bytes:
    """Return the records of a new review as they are stored; refuse what cannot be screened."""
    if not len(new.references):
        raise DataError("there are no records to screen")
    if len(new.references) > MAX_RECORDS:
        raise TooLargeError(
            f"a review may have {MAX_RECORDS:,} records, these are {len(new.references):,}"
        )
    if not any(reference.text.strip() for reference in new.references):
        raise DataError("no record has a title or an abstract")
    stream = io.BytesIO()
    groups = group_numbers(new.duplicates, len(new.references))
    write_records(new.references.references, groups, stream)
    return stream.getvalue()


def take_in(unit: UnitOfWork, project: Project, name: str, content: bytes) -> ReviewRow:
    """Begin a review from a project, or bring its review here up to date.

    Both hold the same log as far as the shorter one goes.
    """
    row = unit.tx.review(project.id)
    if row is None:
        definition = {
            "settings": asdict(project.begun_with),
            "files": [asdict(file) for file in project.files],
            "problems": project.n_problems,
        }
        row = _put_review(unit, project.id, name, definition, content)
    review = opened_in(unit, row.id)
    here = review.log.events
    there = project.events
    if any(one != other for one, other in zip(here, there, strict=False)):
        raise ConflictError(
            "the review and the project have diverged, each with changes of its own; "
            "neither is changed"
        )
    record_events(unit, review, there[len(here) :])
    return row


def rename(unit: UnitOfWork, review: str, name: str) -> None:
    """Give a review another name."""
    opened = opened_in(unit, review)
    opened.row = replace(opened.row, name=name)
    unit.tx.put(opened.row)


def put_away(unit: UnitOfWork, review: str) -> None:
    """Delete a review, which can be restored for some days, and free its memory."""
    row = opened_in(unit, review).row
    unit.tx.put(replace(row, deleted=unit.at))
    unit.record(live.DELETED, review=review)
    unit.live.reviews.close(review)


def restore(unit: UnitOfWork, review: str) -> None:
    """Restore a deleted review with all its decisions."""
    row = unit.tx.review(review)
    if row is None or not row.deleted:
        raise NotFoundError("no such deleted review")
    unit.tx.put(replace(row, deleted=""))
    unit.record(live.RESTORED, review=review)


def _put_review(
    unit: UnitOfWork, review: str, name: str, definition: Mapping[str, Any], content: bytes
) -> ReviewRow:
    seq = unit.record(live.BEGUN, review=review, payload={"name": name, **definition})
    row = ReviewRow(review, seq, unit.at, unit.user, name, dict(definition))
    unit.tx.add([row])
    unit.tx.add([ReviewRecordsRow(review, seq, content)])
    return row


def save_project(review: LiveReview, folder: Path) -> None:
    """Write a review as a project that `bayesift screen` opens."""
    log = review.log
    definition = review.row.definition
    groups: dict[int, list[int]] = {}
    for index, group in enumerate(log.first_groups):
        groups.setdefault(group, []).append(index)
    duplicates = Duplicates(tuple(tuple(groups[number]) for number in sorted(groups)), ())
    files = tuple(SourceFile(**file) for file in definition["files"])
    with Project.create(
        folder,
        ReferenceList(tuple(log.references), files),
        settings=ProjectSettings.from_values(definition["settings"]),
        duplicates=duplicates,
        id=review.row.id,
    ) as project:
        project.extend(log.events)
