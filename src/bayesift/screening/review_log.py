"""Keep the log of a review, and derive decisions, conflicts, notes, tags and records from it.

A log does not know where it is kept: `Project` writes it to a folder, the service to its database.
The same events give the same review in both.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterable, KeysView, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from bayesift.errors import DataError
from bayesift.references import Decision as GivenDecision
from bayesift.references import Reference
from bayesift.screening.duplicates import merge

EventType = Literal[
    "decide",
    "undo",
    "resolve",
    "note",
    "tag",
    "file",
    "words",
    "split",
    "join",
    "prior",
    "settings",
    "stop",
    "resume",
    "import",
    "merge",
]
Verdict = Literal["included", "excluded", "maybe"]
Stage = Literal["abstract", "full text"]
Status = Literal["open", "waiting", "conflict", "included", "excluded", "maybe"]

ABSTRACT: Stage = "abstract"
FULL_TEXT: Stage = "full text"
_VERDICTS = get_args(Verdict)
_MAX_NUMBER = 1e12  # of ranks, scores, seconds and strengths
_ABOUT_A_RECORD = ("decide", "undo", "resolve", "note", "tag", "file", "split", "join")


@dataclass(frozen=True)
class Event:
    """One line of the log.

    Parameters
    ----------
    type : such as "decide", "undo", "resolve" (of a conflict), "note", "tag", "file" (of a full
        text), "words", "split", "join", "import" (of a project that a person sent) or "merge"
        (which replaces the events after the first `since` by others; see `screening.merging`)
    at : time in UTC, ISO 8601
    by : name of the reviewer
    record : number of the record as text; "" where the event is about the whole review
    data : what else the type needs, such as the verdict of a decision
    """

    type: EventType
    at: str
    by: str
    record: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, Any]:
        """All parts in one dictionary, as JSON holds them."""
        return {
            "type": self.type,
            "at": self.at,
            "by": self.by,
            "record": self.record,
            **self.data,
        }

    def to_line(self, number: int) -> str:
        """Write the event as a line of JSON."""
        return json.dumps({"n": number, **self.values}, ensure_ascii=False)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Event:
        """Make an event of its parts; raises ValueError if they are not an event."""
        rest = dict(values)
        parts = {name: rest.pop(name, "") for name in ("type", "at", "by", "record")}
        if parts["type"] not in get_args(EventType):
            raise ValueError(f"no event of type {parts['type']!r:.40}")
        for name, part in parts.items():
            if not isinstance(part, str):
                raise ValueError(f"{name!r} is no text")
        return cls(**parts, data=rest)

    @classmethod
    def from_line(cls, line: str, number: int) -> Event:
        """Read the event of a line; raises ValueError if it is not the expected event."""
        values = json.loads(line)
        if not isinstance(values, dict) or values.pop("n", None) != number:
            raise ValueError(f"event {number} is expected")
        return cls.from_values(values)


@dataclass(frozen=True)
class Record:
    """What is screened: one publication, with all references to it.

    Parameters
    ----------
    id : number within the project, as text
    reference : the parts of all sources together
    sources : the references as they were read
    """

    id: str
    reference: Reference
    sources: tuple[Reference, ...]


@dataclass(frozen=True)
class ReviewerDecision:
    """The decision of one reviewer on a record, as it holds now.

    Rank, score and seconds are those of the moment.
    """

    verdict: Verdict
    at: str
    reasons: tuple[str, ...] = ()
    rank: int | None = None
    score: float | None = None
    seconds: float | None = None
    by: str = ""


@dataclass(frozen=True)
class ReviewNote:
    """A note on a record."""

    text: str
    by: str
    at: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class ProjectSettings:
    """What a review was begun with; an event "settings" changes it.

    Parameters
    ----------
    query : the search, or a description of what is wanted
    criteria : inclusion criteria, as text
    reasons : of exclusion, to choose from
    reviewers_per_record : 1, or 2 for double screening
    full_texts : whether included records are screened again by their full texts
    """

    query: str = ""
    criteria: str = ""
    reasons: tuple[str, ...] = ()
    reviewers_per_record: int = 1
    full_texts: bool = False

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> ProjectSettings:
        """Read the settings of a dictionary, and check them."""
        return cls().changed(values)

    def changed(self, values: Mapping[str, Any]) -> ProjectSettings:
        """Return the settings with some of them changed; refuses unknown ones."""
        kinds = {"query": str, "criteria": str, "reviewers_per_record": int, "full_texts": bool}
        for name, value in values.items():
            if name == "reasons":
                if not isinstance(value, list | tuple) or not all(
                    isinstance(reason, str) for reason in value
                ):
                    raise DataError("reasons must be a list of texts")
            elif name not in kinds or not isinstance(value, kinds[name]):
                raise DataError(f"no setting {name!r:.40} = {value!r:.40}")
        if values.get("reviewers_per_record", 1) not in (1, 2):
            raise DataError("a record has one reviewer or two")
        changes = dict(values)
        if "reasons" in changes:
            changes["reasons"] = tuple(changes["reasons"])
        return replace(self, **changes)


class ReviewLog:
    """The records of a review and the events about them.

    Parameters
    ----------
    references : as they were read
    groups : the number of the record that each reference belongs to
    settings : what the review was begun with
    events : so far

    Attributes
    ----------
    records : what is screened, in the order of the files
    events : the log
    begun_with, first_groups : the settings and the numbers of records before the first event
    settings : as they are now
    resolutions : by stage and record, how a conflict was decided
    notes, tags : by record
    full_text_places : by record, where its full text is: a link or the name of a file
    words : strengths of words that speak for relevance, or against it
    prior : labelled records of an older review
    stopped : the event that ended the screening; None before

    Examples
    --------
    >>> log = ReviewLog([Reference(title="Corn"), Reference(title="Gold")], [1, 2])
    >>> log.accept(log.prepare("decide", [{"by": "ann", "record": "2", "verdict": "included"}]))
    >>> log.verdict("2"), log.status("1")
    ('included', 'open')
    """

    def __init__(
        self,
        references: Sequence[Reference],
        groups: list[int],
        settings: ProjectSettings | None = None,
        events: Iterable[Event] = (),
    ) -> None:
        self.references = references
        self.first_groups = tuple(groups)
        self.begun_with = settings or ProjectSettings()
        self.events: list[Event] = []
        self._begin()
        self.accept(events)

    def _begin(self) -> None:
        """Return to the state before the first event."""
        self._groups = list(self.first_groups)
        self.settings = self.begun_with
        self.records: dict[str, Record] = {}
        self.resolutions: dict[Stage, dict[str, ReviewerDecision]] = {
            ABSTRACT: {},
            FULL_TEXT: {},
        }
        self.notes: dict[str, list[ReviewNote]] = {}
        self.tags: dict[str, tuple[str, ...]] = {}
        self.full_text_places: dict[str, str] = {}
        self.words: dict[str, float] = {}
        self.prior: list[Reference] = []
        self.stopped: Event | None = None
        self._held: dict[Stage, dict[str, dict[str, list[ReviewerDecision]]]] = {
            ABSTRACT: {},
            FULL_TEXT: {},
        }
        self._done: dict[str, list[tuple[EventType, Stage, str]]] = {}
        self._collect_records()

    @property
    def decisions(self) -> dict[str, dict[str, ReviewerDecision]]:
        """The decisions on titles and abstracts that hold now, by record and reviewer."""
        return self.decisions_of(ABSTRACT)

    def decisions_of(self, stage: Stage) -> dict[str, dict[str, ReviewerDecision]]:
        """Return the decisions of a stage that hold now, by record and reviewer."""
        return {
            record: {by: given[-1] for by, given in held.items()}
            for record, held in self._held[stage].items()
        }

    def decisions_on(self, record: str, stage: Stage = ABSTRACT) -> dict[str, ReviewerDecision]:
        """Return the decisions on one record that hold now, by reviewer."""
        return {by: given[-1] for by, given in self._held[stage].get(record, {}).items()}

    def decided(self, stage: Stage = ABSTRACT) -> KeysView[str]:
        """Return the records with at least one decision."""
        return self._held[stage].keys()

    def prepare(
        self,
        type: EventType,  # noqa: A002
        given: Iterable[Mapping[str, Any]],
        at: str | None = None,
    ) -> list[Event]:
        """Make events of one type, checked but not yet accepted, of `by`, `record` and data."""
        prepared = []
        for values in given:
            data = {
                name: v
                for name, v in values.items()
                if name not in ("by", "record") and v is not None
            }
            record = str(values.get("record", ""))
            event = Event(type, at or now(), str(values["by"]), record, data)
            self.check(event)
            prepared.append(event)
        return prepared

    def check(self, event: Event) -> None:
        """Refuse an event that cannot follow the events so far."""
        _check_values(event)
        if event.record not in self.records and (event.record or event.type in _ABOUT_A_RECORD):
            raise DataError(f"no record {event.record!r:.40} in this project")
        match event.type:
            case "resolve":
                if self.status(event.record, _stage(event)) != "conflict":
                    raise DataError(f"record {event.record} is not in conflict")
            case "undo":
                if self.last_decision(event.by) != event.record:
                    raise DataError("no decision is left to take back")
            case "join":
                others = event.data["records"]
                if not others or not all(
                    other in self.records and other != event.record for other in others
                ):
                    raise DataError(
                        "records can be joined with other records of this project only"
                    )
            case "split":
                if len(self.records[event.record].sources) < 2:
                    raise DataError(f"record {event.record} has one source only")
            case "settings":
                self.settings.changed(event.data)
            case "merge":
                self._check_merge(event)
            case _:
                pass

    def _check_merge(self, event: Event) -> None:
        if not 0 <= event.data["since"] <= len(self.events):
            raise DataError(f"no event {event.data['since']!r:.40} to merge after")
        log = self.as_of(event.data["since"])
        for merged in listed_events(event, "merged"):
            if merged.type == "merge":
                raise DataError("a merge within a merge")
            log.check(merged)
            log.accept([merged])

    def accept(self, events: Iterable[Event]) -> None:
        """Add events to the log and let them take effect."""
        for event in events:
            if event.type == "merge":
                since = int(event.data["since"])
                self.replace_events([*self.events[:since], *listed_events(event, "merged")])
            else:
                self._apply(event)
            self.events.append(event)

    def replace_events(self, events: Sequence[Event]) -> None:
        """Make these all events of the log; merges among them were carried out before."""
        self.events = list(events)
        self._begin()
        for event in events:
            self._apply(event)

    def as_of(self, n: int) -> ReviewLog:
        """Return the log as it was after its first n events."""
        log = ReviewLog(self.references, list(self.first_groups), self.begun_with)
        log.replace_events(self.events[:n])
        return log

    def sources_of(self, record: str) -> frozenset[int]:
        """Return the numbers of the references of a record."""
        return frozenset(n for n, group in enumerate(self._groups) if str(group) == record)

    def verdict(self, record: str, stage: Stage = ABSTRACT) -> Verdict | None:
        """Return the verdict of all reviewers on a record, "maybe" if they differ, None before any.

        The resolution of a conflict overrules the reviewers.
        """
        if record in self.resolutions[stage]:
            return self.resolutions[stage][record].verdict
        verdicts = {given[-1].verdict for given in self._held[stage].get(record, {}).values()}
        if len(verdicts) == 1:
            return verdicts.pop()
        if verdicts:
            return "maybe"
        return None

    def status(self, record: str, stage: Stage = ABSTRACT) -> Status:
        """Return "waiting" for a second reviewer, "conflict", or the verdict on a record."""
        held = self._held[stage].get(record, {})
        verdict = self.verdict(record, stage)
        if verdict is None:
            return "open"
        if record in self.resolutions[stage]:
            return verdict
        if len(held) < self.settings.reviewers_per_record:
            return "waiting"
        if len({given[-1].verdict for given in held.values()}) > 1:
            return "conflict"
        return verdict

    def stage_records(self, stage: Stage = ABSTRACT) -> list[str]:
        """Return the records that a stage screens: all, or those included by title and abstract."""
        if stage == ABSTRACT:
            return list(self.records)
        return [record for record in self.records if self.status(record) == "included"]

    def last_decision(self, by: str) -> str | None:
        """Return the record that a reviewer decided on last, decisions taken back left out."""
        done = self._done.get(by)
        if done:
            return done[-1][2]
        return None

    def last_done(self, by: str) -> tuple[Stage, str] | None:
        """Return stage and record of a reviewer's last decision that was not taken back."""
        done = self._done.get(by)
        if done:
            return done[-1][1:]
        return None

    def final_verdict(self, record: str) -> Verdict | None:
        """Return the verdict of the last stage that decided on a record."""
        return self.verdict(record, FULL_TEXT) or self.verdict(record)

    def _apply(self, event: Event) -> None:
        data = event.data
        match event.type:
            case "decide":
                self._held[_stage(event)].setdefault(event.record, {}).setdefault(
                    event.by, []
                ).append(_given(event))
                self._done.setdefault(event.by, []).append(
                    ("decide", _stage(event), event.record)
                )
            case "resolve":
                self.resolutions[_stage(event)][event.record] = _given(event)
                self._done.setdefault(event.by, []).append(
                    ("resolve", _stage(event), event.record)
                )
            case "undo":
                self._take_back(event)
            case "note":
                self.notes.setdefault(event.record, []).append(
                    ReviewNote(str(data["text"]), event.by, event.at)
                )
            case "tag":
                self.tags[event.record] = tuple(map(str, data["tags"]))
            case "file":
                self.full_text_places[event.record] = str(data["place"])
            case "words":
                self.words = dict(data["words"])
            case "prior":
                self.prior = [_labelled(values) for values in data["records"]]
            case "settings":
                self.settings = self.settings.changed(data)
            case "stop":
                self.stopped = event
            case "resume":
                self.stopped = None
            case "split" | "join":
                self._regroup(event)

    def _take_back(self, event: Event) -> None:
        """Restore the decision before the last one, if the reviewer decided on the record twice."""
        kind, stage, record = self._done[event.by].pop()
        if kind == "resolve":
            self.resolutions[stage].pop(record, None)
            return
        held = self._held[stage][record]
        held[event.by].pop()
        if not held[event.by]:
            del held[event.by]
        if not held:
            del self._held[stage][record]

    def _regroup(self, event: Event) -> None:
        record = int(event.record)
        if event.type == "join":
            # In the order of their numbers, so that every replay gives the same record.
            others = sorted({str(other) for other in event.data["records"]}, key=int)
            self._groups = [record if str(group) in others else group for group in self._groups]
            for other in others:
                self._take_over(event.record, other)
        else:
            members = [index for index, group in enumerate(self._groups) if group == record]
            for number, index in enumerate(members[1:], max(self._groups) + 1):
                self._groups[index] = number
        self._collect_records()

    def _take_over(self, record: str, other: str) -> None:
        """Give a record what people said about another one that is the same publication."""
        for stage, of_records in self._held.items():
            for by, given in of_records.pop(other, {}).items():
                mine = of_records.setdefault(record, {})
                mine[by] = [*given, *mine.get(by, [])]
            if other in self.resolutions[stage]:
                self.resolutions[stage].setdefault(record, self.resolutions[stage].pop(other))
        for by, done in self._done.items():
            self._done[by] = [
                (kind, stage, record if about == other else about)
                for kind, stage, about in done
            ]
        if other in self.notes:
            self.notes.setdefault(record, []).extend(self.notes.pop(other))
        if other in self.tags:
            self.tags[record] = tuple(
                dict.fromkeys((*self.tags.get(record, ()), *self.tags.pop(other)))
            )
        if other in self.full_text_places:
            self.full_text_places.setdefault(record, self.full_text_places.pop(other))

    def _collect_records(self) -> None:
        members: dict[int, list[Reference]] = {}
        for group, reference in zip(self._groups, self.references, strict=True):
            members.setdefault(group, []).append(reference)
        # Records that did not change keep their identity, so that rankings need not be made anew.
        before = self.records
        self.records = {}
        for group, sources in members.items():
            old = before.get(str(group))
            kept = old is not None and len(old.sources) == len(sources)
            self.records[str(group)] = (
                old if old and kept else Record(str(group), merge(sources), tuple(sources))
            )


def listed_events(event: Event, name: str) -> list[Event]:
    """Return the events that a merge lists under a name."""
    return [Event.from_values(values) for values in event.data[name]]


def with_decisions(record: Record, log: ReviewLog, annotations: Mapping[str, str]) -> Reference:
    """Convert a record to a reference with its decisions, reasons, tags and notes."""
    held = log.decisions_on(record.id, FULL_TEXT) or log.decisions_on(record.id)
    given = tuple(
        GivenDecision(decision.verdict, by, decision.reasons) for by, decision in held.items()
    )
    notes = " / ".join(map(str, log.notes.get(record.id, ())))
    added = {**annotations, "note": notes, "file": log.full_text_places.get(record.id, "")}
    written = tuple((name, value) for name, value in added.items() if value)
    kept = tuple(pair for pair in record.reference.annotations if pair[0] not in dict(written))
    labels = tuple(dict.fromkeys((*record.reference.labels, *log.tags.get(record.id, ()))))
    return replace(
        record.reference, decisions=given, labels=labels, annotations=(*kept, *written)
    )


def prior_values(references: Iterable[Reference]) -> list[dict[str, Any]]:
    """List the labelled records of an older review as an event "prior" keeps them."""
    return [
        {
            "title": reference.title,
            "abstract": reference.abstract,
            "included": reference.included,
        }
        for reference in references
        if reference.included is not None
    ]


def now() -> str:
    """Return the time in UTC, ISO 8601 with milliseconds."""
    return (
        datetime.datetime.now(datetime.UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )


def is_storable(values: Any) -> bool:
    """Whether values can be written as JSON in UTF-8: finite numbers, whole characters.

    Examples
    --------
    >>> is_storable({"score": 0.5}), is_storable([float("nan")]), is_storable(chr(0xD800))
    (True, False, False)
    """
    try:
        json.dumps(values, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError):
        return False
    return True


def _check_values(event: Event) -> None:
    """Refuse values that an event of this type does not have."""
    data = event.data
    if not is_storable(event.values):
        raise DataError("an event holds what is no text or number")
    try:
        at = datetime.datetime.fromisoformat(event.at)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise DataError(f"{event.at!r:.40} is no time")
    if not event.by.strip():
        raise DataError("an event has no name of a person")
    if data.get("stage", ABSTRACT) not in get_args(Stage):
        raise DataError(f"no stage {data.get('stage')!r:.40}")
    if event.type in ("decide", "resolve") and data.get("verdict") not in _VERDICTS:
        raise DataError(f"no verdict {data.get('verdict')!r:.40}")
    for name, is_right in _VALUES.get(event.type, {}).items():
        if (name in data or name in _NEEDED) and not is_right(data.get(name)):
            raise DataError(f"no {name} {data.get(name)!r:.40}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) <= _MAX_NUMBER


def _are_texts(values: Any) -> bool:
    return isinstance(values, list | tuple) and all(map(_is_text, values))


def _are_strengths(values: Any) -> bool:
    return (
        isinstance(values, dict)
        and all(map(_is_text, values))
        and all(map(_is_number, values.values()))
    )


def _are_labelled(values: Any) -> bool:
    return isinstance(values, list) and all(
        isinstance(each, dict)
        and _is_text(each.get("title"))
        and _is_text(each.get("abstract"))
        and isinstance(each.get("included"), bool)
        for each in values
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_events(values: Any) -> bool:
    if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
        return False
    for each in values:
        _check_values(Event.from_values(each))
    return True


_GIVEN = {"reasons": _are_texts, "rank": _is_number, "score": _is_number, "seconds": _is_number}
_VALUES: dict[str, dict[str, Callable[[Any], bool]]] = {
    "decide": _GIVEN,
    "resolve": _GIVEN,
    "note": {"text": _is_text},
    "tag": {"tags": _are_texts},
    "file": {"place": _is_text},
    "words": {"words": _are_strengths},
    "join": {"records": _are_texts},
    "prior": {"records": _are_labelled},
    "stop": {"reason": _is_text},
    "import": {"file": _is_text, "events": _is_number},
    "merge": {
        "since": _is_count,
        "merged": _are_events,
        "left_out": _are_events,
        "conflicts": _are_texts,
    },
}
_NEEDED = (
    "text",
    "tags",
    "place",
    "words",
    "records",
    "since",
    "merged",
    "left_out",
    "conflicts",
)


def _stage(event: Event) -> Stage:
    stage: Stage = event.data.get("stage", ABSTRACT)
    return stage


def _given(event: Event) -> ReviewerDecision:
    known = {each.name for each in fields(ReviewerDecision)} - {"at", "by", "reasons"}
    values = {name: value for name, value in event.data.items() if name in known}
    return ReviewerDecision(
        at=event.at, by=event.by, reasons=tuple(event.data.get("reasons", ())), **values
    )


def _labelled(values: Mapping[str, Any]) -> Reference:
    verdict: Verdict = "included" if values["included"] else "excluded"
    return Reference(
        title=str(values["title"]),
        abstract=str(values["abstract"]),
        decisions=(GivenDecision(verdict),),
    )
