"""Begin a review from uploads, in steps for which other people do not wait.

A review of 80,000 records takes a minute to begin. Who begins it can ask how far it is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from bayesift.screening import ProjectSettings
from bayesift.service import readers
from bayesift.service.access.callers import Person
from bayesift.service.reviews import live, operations
from bayesift.service.reviews.packed import together
from bayesift.service.reviews.schemas import BeginningOut, ReviewIn

if TYPE_CHECKING:
    from bayesift.service.runtime import Service

_EVENTS_AT_ONCE = 200  # of a new review per transaction
Tell = Callable[..., None]


class Beginnings:
    """The reviews that people are beginning, with the step that each is at; in memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._steps: dict[object, tuple[str, BeginningOut]] = {}

    def of(self, person: str) -> list[BeginningOut]:
        """Return those of a person, oldest first."""
        with self._lock:
            return [step for who, step in self._steps.values() if who == person]

    @contextmanager
    def following(self, person: str, name: str) -> Iterator[Tell]:
        """Yield a function to call at each step of a review that begins.

        It takes the name of the step, and how much of how many is done where that is known.
        """
        key = object()

        def tell(step: str, done: int | None = None, of: int | None = None) -> None:
            with self._lock:
                self._steps[key] = person, BeginningOut(name=name, step=step, done=done, of=of)

        try:
            yield tell
        finally:
            with self._lock:
                self._steps.pop(key, None)


async def begin_review(service: Service, person: Person, body: ReviewIn, tell: Tell) -> str:
    """Begin a review and return its id; `tell` gets each step."""
    parts = service.uploads.take(person.name, body.uploads)
    settings = ProjectSettings.from_values(body.settings.model_dump(exclude_none=True))
    tell("reading the records")
    records = await service.share(object(), partial(together, parts))
    tell("joining duplicates" if body.join_duplicates else "checking the records")
    prepare = partial(
        readers.prepare_review,
        settings=settings,
        join_duplicates=body.join_duplicates,
        take_decisions=body.take_decisions,
    )
    content, events = await service.read(
        prepare, body.name, records.content, readers.taken_review, trusted=True
    )
    tell("writing the decisions", 0, len(events))
    new = operations.NewReview(body.name, settings, records.files, len(records.problems))
    seq = await service.do(person, partial(operations.begin, new=new))
    for first in range(0, len(events), _EVENTS_AT_ONCE):
        part = events[first : first + _EVENTS_AT_ONCE]
        write = partial(live.write_events, review=new.id, events=part)
        await service.do(person, write, queue="documents")
        tell("writing the decisions", first + len(part), len(events))
    await service.do(person, lambda unit: operations.put_review(unit, new, seq, content))
    service.uploads.drop(body.uploads)
    return new.id
