"""Operations on whole reviews: begin, take in a project, rename, delete and restore."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, get_args

from bayesift.errors import DataError
from bayesift.references import Reference, ReferenceList, SourceFile
from bayesift.screening import Duplicates, Project, ProjectSettings, ReviewLog
from bayesift.screening.merging import MergedLogs, merge_logs, new_events
from bayesift.screening.project import new_id
from bayesift.screening.review_log import Event, Verdict, is_storable
from bayesift.service.db.tables import MemberRow, ReviewRecordsRow, ReviewRow
from bayesift.service.errors import ConflictError, NotAllowedError, NotFoundError
from bayesift.service.live import UnitOfWork
from bayesift.service.reviews import live
from bayesift.service.reviews.live import LiveReview, opened_in, record_events
from bayesift.service.reviews.packed import packed

MAX_REVIEWS = 500
_ID = re.compile("[0-9a-f]{16}")
_CLOCK_ERROR = timedelta(minutes=10)  # of the machine that a project comes from
_SHOWN_NAMES = 5


@dataclass(frozen=True)
class NewReview:
    """The name, settings and files that a review begins with."""

    name: str
    settings: ProjectSettings
    files: Sequence[SourceFile]
    n_problems: int
    id: str = field(default_factory=new_id)

    @property
    def definition(self) -> dict[str, Any]:
        """What the row of the review keeps."""
        return {
            "settings": asdict(self.settings),
            "files": [asdict(file) for file in self.files],
            "problems": self.n_problems,
        }


def begin(unit: UnitOfWork, new: NewReview) -> int:
    """Begin the log of a review; return the number of its first event.

    The first events of a review may be many. They are written in several transactions after this
    one, and `put_review` ends them: without its row a review does not exist.
    """
    _refuse_too_many(unit)
    return _record_beginning(unit, new.id, new.name, new.definition)


def put_review(unit: UnitOfWork, new: NewReview, seq: int, content: bytes) -> ReviewRow:
    """Let a review exist whose log begins with event `seq`."""
    _refuse_too_many(unit)
    return _put_row(unit, new.id, seq, new.name, new.definition, content)


def take_in(unit: UnitOfWork, project: Project, name: str, content: bytes) -> MergedLogs:
    """Begin the review of a project on this machine, or merge the logs of both.

    What the project must be given is in the result.
    """
    row = unit.tx.review(project.id)
    if row is None:
        row = _put_project(unit, project, name, content)
    review = opened_in(unit, row.id)
    merged = merge_logs(review.log, project.events, unit.user)
    record_events(unit, review, merged.here)
    return merged


def checked_records(project: Project) -> bytes:
    """Return the records of a project that a person sent, as they are stored.

    The values of a forged project are refused here, before anything is stored; its events were
    checked when it was opened.
    """
    if not _ID.fullmatch(project.id):
        raise DataError("the id of this project is not one that bayesift gives")
    numbers = set(project.first_groups)
    if max(numbers, default=0) != len(numbers):
        raise DataError("the records of this project are not numbered from 1")
    for number, reference in enumerate(project.references, 1):
        if not _is_whole(reference):
            raise DataError(f"reference {number:,} of this project is not whole")
    return packed(project.references, project.first_groups)


def _is_whole(reference: Reference) -> bool:
    """Whether the lists of a reference hold texts, known verdicts and finite numbers only."""
    texts = [*reference.authors, *reference.keywords, *reference.notes, *reference.labels]
    for pair in reference.annotations:
        texts.extend(pair)
    for decision in reference.decisions:
        texts.extend((decision.reviewer, *decision.reasons))
        if decision.verdict not in get_args(Verdict):
            return False
    names = [name for name, _ in reference.fields]
    return all(isinstance(text, str) for text in (*texts, *names)) and is_storable(
        reference.fields
    )


def import_project(unit: UnitOfWork, project: Project, name: str, content: bytes) -> ReviewRow:
    """Begin a review from a project that a person sent, or add that person's new events to it.

    The import is an event itself, so that the log tells who vouches for the events before it.
    """
    _refuse_future(project.events, unit.at)
    row = unit.tx.review(project.id)
    if row is None:
        _refuse_too_many(unit)
        row = _put_project(unit, project, name, content)
        review = opened_in(unit, row.id)
        new: Sequence[Event] = project.events
        new_rows = new
    else:
        review = opened_in(unit, row.id)
        _refuse_other_records(review.log, project)
        new, events = new_events(review.log.events, project.events)
        _refuse_others(new, unit.user)
        merged = merge_logs(review.log, events, unit.user)
        _refuse_displacing(merged, unit.user)
        new_rows = merged.here
    given = {"by": unit.user, "file": name, "events": len(new)}
    record_events(unit, review, [*new_rows, *review.log.prepare("import", [given], unit.at)])
    return row


def _put_project(unit: UnitOfWork, project: Project, name: str, content: bytes) -> ReviewRow:
    definition = {
        "settings": asdict(project.begun_with),
        "files": [asdict(file) for file in project.files],
        "problems": project.n_problems,
    }
    seq = _record_beginning(unit, project.id, name, definition)
    return _put_row(unit, project.id, seq, name, definition, content)


def _refuse_future(events: Iterable[Event], at: str) -> None:
    latest = datetime.fromisoformat(at) + _CLOCK_ERROR
    for event in events:
        if datetime.fromisoformat(event.at) > latest:
            raise DataError(f"the project holds an event of the future ({event.at:.40})")


def _refuse_others(events: Iterable[Event], user: str) -> None:
    counts = Counter(event.by for event in events if event.by != user)
    if counts:
        named = ", ".join(f"{by!r:.60} ({n:,})" for by, n in counts.most_common(_SHOWN_NAMES))
        raise NotAllowedError(
            f"the project holds new events by others than {user!r}: {named}; they must send their "
            "own, and nothing is changed"
        )


def _refuse_displacing(merged: MergedLogs, user: str) -> None:
    """Refuse events after which what others did could not follow, such as an earlier join."""
    for left_out in merged.left_out:
        if left_out.event.by != user:
            raise ConflictError(
                f"with these events another one could not follow ({left_out}); nothing is changed"
            )


def _refuse_other_records(log: ReviewLog, project: Project) -> None:
    if (
        log.begun_with != project.begun_with
        or log.first_groups != project.first_groups
        or list(log.references) != list(project.references)
    ):
        raise ConflictError(
            "the project has other records or first settings than its review here; nothing is "
            "changed"
        )


def _refuse_too_many(unit: UnitOfWork) -> None:
    if sum(not row.deleted for row in unit.tx.reviews()) >= MAX_REVIEWS:
        raise ConflictError(f"at most {MAX_REVIEWS:,} reviews are allowed")


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


def _record_beginning(
    unit: UnitOfWork, review: str, name: str, definition: Mapping[str, Any]
) -> int:
    return unit.record(live.BEGUN, review=review, payload={"name": name, **definition})


def _put_row(
    unit: UnitOfWork,
    review: str,
    seq: int,
    name: str,
    definition: Mapping[str, Any],
    content: bytes,
) -> ReviewRow:
    row = ReviewRow(review, seq, unit.at, unit.user, name, dict(definition))
    unit.tx.add([row])
    unit.tx.add([ReviewRecordsRow(review, seq, content)])
    unit.tx.put(MemberRow("review", review, unit.user, "owner", unit.at))
    return row


def save_project(review: LiveReview, folder: Path, person: str) -> None:
    """Write what a person may see of a review as a project that `bayesift screen` opens."""
    log = review.seen_by(person)
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
