"""Merge two logs of one review that have both grown since their common beginning.

New events are ordered by time, then by person; within a log their order stays. Logs are only
appended to: an event "merge" says from where on the events are replaced, and by which. What cannot
follow any more in the new order, such as taking back a decision that is not the last one now, is
listed in that event and not applied.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from bayesift.errors import DataError
from bayesift.screening.review_log import (
    ABSTRACT,
    Event,
    EventType,
    ReviewLog,
    Stage,
    Verdict,
    listed_events,
    now,
    without_place,
)

_MERGE: EventType = "merge"
_BOOKKEEPING = ("import", _MERGE)
_REGROUPING = ("split", "join")


@dataclass(frozen=True)
class Disagreement:
    """A record on which the two logs have different verdicts, of two people or of one."""

    record: str
    stage: Stage
    said: tuple[tuple[str, Verdict], ...]

    def __str__(self) -> str:
        stage = "" if self.stage == ABSTRACT else f" ({self.stage})"
        said = ", ".join(f"{by}: {verdict}" for by, verdict in self.said)
        return f"record {self.record}{stage}: {said}"


@dataclass(frozen=True)
class LeftOut:
    """An event that cannot follow any more, and why."""

    event: Event
    why: str

    def __str__(self) -> str:
        event = self.event
        about = f" on record {event.record}" if event.record else ""
        return f"{event.type} by {event.by}{about} at {event.at}: {self.why}"


@dataclass(frozen=True)
class MergedLogs:
    """What each of two logs must be given, to hold the same events afterwards.

    Parameters
    ----------
    here, there : events to append to the one and to the other log
    conflicts : records on which the logs disagree
    left_out : what could not follow
    """

    here: Sequence[Event]
    there: Sequence[Event]
    conflicts: tuple[Disagreement, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


class _Dated(NamedTuple):
    """An event in the order of merging; `sources` are those of its records in its own log."""

    time: datetime
    by: str
    text: str
    event: Event
    sources: tuple[frozenset[int], ...] = ()


def merge_logs(log: ReviewLog, other: Sequence[Event], by: str) -> MergedLogs:
    """Merge a log with other events of the same review; neither is changed.

    Parameters
    ----------
    log : of the review
    other : all events of the other log
    by : the person who merges, for the event that says so

    Examples
    --------
    >>> from bayesift.references import Reference
    >>> log = ReviewLog([Reference(title="Corn"), Reference(title="Gold")], [1, 2])
    >>> decided = {"by": "ann", "record": "1", "verdict": "included"}
    >>> other = log.prepare("decide", [{**decided, "verdict": "excluded"}], "2026-01-01T08:00Z")
    >>> log.accept(log.prepare("decide", [decided], "2026-01-01T09:00Z"))
    >>> found = merge_logs(log, other, "ann")
    >>> str(found.conflicts[0])
    'record 1: ann: included, ann: excluded'
    >>> log.accept(found.here)
    >>> log.verdict("1"), len(log.events)
    ('included', 3)
    """
    here = log.events
    n_common = _n_common(here, other)
    mine = here[n_common:]
    theirs = other[n_common:]
    only_mine = _without(_pool(mine), _pool(theirs))
    only_theirs = _without(_pool(theirs), _pool(mine))
    if not only_theirs or not only_mine:
        target = other if only_theirs else here
        added = _to_become(here, target)
        added_there = _to_become(other, target)
        if added is not None and added_there is not None:
            return MergedLogs(added, added_there)
    merged, left_out = _in_order(log.as_of(n_common), mine, theirs, only_theirs)
    conflicts = _disagreements(log, only_mine, _after(log, n_common, theirs), only_theirs)
    event = Event(
        _MERGE,
        now(),
        by,
        data={
            "since": n_common,
            "merged": [each.values for each in merged],
            "left_out": [each.event.values for each in left_out],
            "conflicts": sorted({each.record for each in conflicts}, key=int),
        },
    )
    return MergedLogs([event], [event], conflicts, left_out)


def new_events(
    here: Sequence[Event], there: Sequence[Event]
) -> tuple[list[Event], list[Event]]:
    """Return the events that only `there` has, and these after all that `there` knew of `here`.

    `there` may be what one person saw of `here` (`PersonalView`): events that were hidden, and what
    the ranking said to others, are no difference. Its imports and merges are left out: they tell
    what happened to another log.
    """
    told = _without_bookkeeping(there)
    known = Counter(_identity(event) for event in told)
    n_known = 0
    for n, event in enumerate(here, 1):
        follows_known = event.type in _BOOKKEEPING and n_known == n - 1
        if _take(known, _identity(event)) or follows_known:
            n_known = n
    left = Counter(_identity(event) for event in _pool(here))
    new = [event for event in told if not _take(left, _identity(event))]
    return new, [*here[:n_known], *new]


def _identity(event: Event) -> str:
    """Return what an event is known by, for every viewer."""
    return _text(without_place(event))


def _without_bookkeeping(events: Iterable[Event]) -> list[Event]:
    return [event for event in events if event.type not in _BOOKKEEPING]


def _n_common(here: Sequence[Event], there: Sequence[Event]) -> int:
    n = 0
    for one, other in zip(here, there, strict=False):
        if one != other:
            break
        n += 1
    return n


def _pool(events: Iterable[Event]) -> list[Event]:
    """List the events to put in order: those of a log, and those that a merge left out before."""
    found = []
    for event in events:
        found.extend(listed_events(event, "left_out") if event.type == _MERGE else [event])
    return found


def _without(events: Sequence[Event], known: Sequence[Event]) -> list[Event]:
    """Return the events that are not known, each as often as it is more often there."""
    left = Counter(map(_text, known))
    return [event for event in events if not _take(left, _text(event))]


def _take(left: Counter[str], text: str) -> bool:
    """Take one of what is left, if there is one."""
    left[text] -= 1
    return left[text] >= 0


def _text(event: Event) -> str:
    return json.dumps(event.values, sort_keys=True)


def _to_become(log: Sequence[Event], target: Sequence[Event]) -> Sequence[Event] | None:
    """Return what must be appended to a log to get the target; None if nothing leads there."""
    n_common = _n_common(log, target)
    if n_common == len(log):
        return target[n_common:]
    for place in range(n_common, len(target)):
        event = target[place]
        if event.type == _MERGE and event.data["since"] <= n_common:
            return target[place:]
    return None


def _in_order(
    log: ReviewLog, mine: Sequence[Event], theirs: Sequence[Event], only_theirs: Sequence[Event]
) -> tuple[list[Event], tuple[LeftOut, ...]]:
    """Apply the events of both logs to their common beginning by time, as far as they follow."""
    n_common = len(log.events)
    regrouped = any(event.type in _REGROUPING for event in (*mine, *theirs))
    more = _dated(log, theirs, regrouped=regrouped)
    ours = _dated(log, mine, regrouped=regrouped)
    chosen = Counter(map(_text, only_theirs))
    more = [dated for dated in more if _take(chosen, dated.text)]
    merges = [event for event in mine if event.type == _MERGE]
    again = [_date(event) for event in _pool(merges)]
    again += [_date(event) for event in only_theirs if _take(chosen, _text(event))]
    left_out = []
    merged = log.as_of(n_common)
    for dated in heapq.merge(ours, more, sorted(again, key=_key), key=_key):
        try:
            merged.check(dated.event)
            _check_sources(merged, dated)
        except DataError as error:
            left_out.append(LeftOut(dated.event, error.message))
        else:
            merged.accept([dated.event])
    return merged.events[n_common:], tuple(left_out)


def _key(dated: _Dated) -> tuple[datetime, str, str]:
    return dated[:3]


def _date(event: Event) -> _Dated:
    time = datetime.fromisoformat(event.at).astimezone(UTC)
    return _Dated(time, event.by, _text(event), event)


def _dated(log: ReviewLog, events: Iterable[Event], *, regrouped: bool) -> list[_Dated]:
    """Date events, none before the one that it follows in its own log."""
    own = log.as_of(len(log.events)) if regrouped else log
    found: list[_Dated] = []
    for event in events:
        if event.type == _MERGE:
            continue
        dated = _date(event)
        if found and dated.time < found[-1].time:
            dated = dated._replace(time=found[-1].time)
        if regrouped:
            dated = dated._replace(sources=tuple(map(own.sources_of, _records(event))))
            own.accept([event])
        found.append(dated)
    return found


def _records(event: Event) -> list[str]:
    """List the records that an event is about."""
    others = event.data["records"] if event.type == "join" else ()
    return [record for record in (event.record, *others) if record]


def _check_sources(log: ReviewLog, dated: _Dated) -> None:
    """Refuse an event about a number that is another record now, after both logs split records."""
    for record, sources in zip(_records(dated.event), dated.sources, strict=False):
        if not sources & log.sources_of(record):
            raise DataError(f"record {record} is another one in the other log")


def _after(log: ReviewLog, n: int, events: Iterable[Event]) -> ReviewLog:
    """Return a log as it was after n events, followed by others."""
    found = log.as_of(n)
    found.replace_events([*found.events, *events])
    return found


def _disagreements(
    log: ReviewLog, mine: Sequence[Event], other: ReviewLog, theirs: Sequence[Event]
) -> tuple[Disagreement, ...]:
    """Find the records that both logs decided on anew, with different verdicts."""
    said_here = _said(log, mine)
    said_there = _said(other, theirs)
    found = []
    for place, here in said_here.items():
        there = said_there.get(place, {})
        if any(one != another for one in here.values() for another in there.values()):
            found.append(Disagreement(*place, (*here.items(), *there.items())))
    return tuple(found)


def _said(
    log: ReviewLog, events: Iterable[Event]
) -> dict[tuple[str, Stage], dict[str, Verdict]]:
    """Return the verdicts that hold of the people who decided in these events."""
    found: dict[tuple[str, Stage], dict[str, Verdict]] = {}
    for event in events:
        if event.type == "decide":
            stage: Stage = event.data.get("stage", ABSTRACT)
            held = log.decisions_on(event.record, stage).get(event.by)
            if held is not None:
                found.setdefault((event.record, stage), {})[event.by] = held.verdict
    return found
