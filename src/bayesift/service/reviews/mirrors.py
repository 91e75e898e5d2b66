"""Projects in folders that the service writes to: `bayesift screen --serve`.

The folder has a decision before the database commits it, and both before it is answered. If the
commit fails, the folder returns to what it was.
"""

from __future__ import annotations

from bayesift.screening import Project
from bayesift.screening.merging import MergedLogs, merge_logs
from bayesift.screening.review_log import Event
from bayesift.service.db.database import FILE, open_store
from bayesift.service.reviews.live import OpenReviews, replayed

SERVICE_FOLDER = "service"


class Mirrors:
    """The projects that are written to, by the id of their review."""

    def __init__(self) -> None:
        self._projects: dict[str, Project] = {}
        self._before: dict[str, list[Event]] = {}

    def add(self, project: Project) -> None:
        """Write to a project from now on; it holds the events of its review."""
        self._projects[project.id] = project

    def write(self, reviews: OpenReviews) -> None:
        """Write the events of the open transaction; raises DataError if that fails."""
        for review, project in self._projects.items():
            opened = reviews.opened.get(review)
            if opened is not None and opened.added:
                before = list(project.events)
                project.extend(opened.added)
                self._before[review] = before

    def keep(self) -> None:
        """Keep what was written: the transaction was committed."""
        self._before.clear()

    def take_back(self) -> None:
        """Remove what was written: the transaction failed."""
        for review, events in self._before.items():
            self._projects[review].take_back(events)
        self._before.clear()


def merge_with_service(project: Project, by: str) -> MergedLogs:
    """Bring a project up to date with what its own service has, which is not running.

    The service is brought up to date when it is next started.
    """
    folder = project.folder / SERVICE_FOLDER
    if not (folder / FILE).is_file():
        return MergedLogs((), ())
    with open_store(folder) as store, store.reading() as read:
        row = read.review(project.id)
        served = [] if row is None else replayed(read, row).events
    merged = merge_logs(project, served, by)
    project.extend(merged.here)
    return merged


def told(merged: MergedLogs) -> list[str]:
    """Say in sentences what a merge found; nothing if there was nothing to merge."""
    lines = [f"disagreement on {each}" for each in merged.conflicts]
    lines += [f"left out, as it cannot follow any more: {each}" for each in merged.left_out]
    if lines or any(event.type == "merge" for event in (*merged.here, *merged.there)):
        lines.insert(0, "the folder and its service both had new events: merged by time")
    return lines
