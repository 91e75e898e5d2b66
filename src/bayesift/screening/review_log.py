"""Keep the log of a review, and derive decisions, conflicts, notes, tags and records from it.

A log does not know where it is kept: `Project` writes it to a folder, the service to its database.
The same events give the same review in both. `PersonalView` shows a log as one of its reviewers may
see it while decisions are blind.
"""

from __future__ import annotations

import datetime
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeVar, get_args

from bayesift.errors import DataError
from bayesift.references import Decision as GivenDecision
from bayesift.references import Reference
from bayesift.screening.duplicates import merge
from bayesift.screening.full_texts import FULL_TEXTS, FullTextFile, is_file_digest

EventType = Literal[
    "decide",
    "undo",
    "resolve",
    "note",
    "tag",
    "file",
    "attach",
    "detach",
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
_PLACE = ("rank", "score")  # of a decision
_ABOUT_A_RECORD = (
    "decide",
    "undo",
    "resolve",
    "note",
    "tag",
    "file",
    "attach",
    "detach",
    "split",
    "join",
)


@dataclass(frozen=True)
class Event:
    """One line of the log.

    Parameters
    ----------
    type : such as "decide", "undo", "resolve" (of a conflict), "note", "tag", "file" (of a full
        text), "attach" (the PDF of one), "detach", "words", "split", "join", "import" (of a
        project that a person sent) or "merge" (which replaces the events after the first `since` by
        others; see `screening.merging`)
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

    @property
    def origins(self) -> tuple[str, ...]:
        """Where its sources are from: names of files with lines or rows."""
        return tuple(dict.fromkeys(filter(None, (source.origin for source in self.sources))))

    @property
    def has_text(self) -> bool:
        """Whether it has a title, an abstract or keywords, by which it can be ranked."""
        return bool(self.reference.text.strip())


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
    """A note on a record; `stage` is the stage that the record was in."""

    text: str
    by: str
    at: str
    stage: Stage = ABSTRACT

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class ReviewTags:
    """The tags that one person gave a record; `stage` is the stage that the record was in."""

    tags: tuple[str, ...]
    by: str
    stage: Stage = ABSTRACT


HIGHLIGHTS = ("highlight_include", "highlight_exclude")
_LISTS_OF_SETTINGS = {"reasons", *HIGHLIGHTS}


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
    highlight_include, highlight_exclude : words and phrases to highlight in the text of records,
        for inclusion and for exclusion (`Highlights`); they do not change the ranking
    """

    query: str = ""
    criteria: str = ""
    reasons: tuple[str, ...] = ()
    reviewers_per_record: int = 1
    full_texts: bool = False
    highlight_include: tuple[str, ...] = ()
    highlight_exclude: tuple[str, ...] = ()

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> ProjectSettings:
        """Read the settings of a dictionary, and check them."""
        return cls().changed(values)

    def changed(self, values: Mapping[str, Any]) -> ProjectSettings:
        """Return the settings with some of them changed; refuses unknown ones."""
        kinds = {"query": str, "criteria": str, "reviewers_per_record": int, "full_texts": bool}
        for name, value in values.items():
            if name in _LISTS_OF_SETTINGS:
                if not _are_texts(value):
                    raise DataError(f"{name} must be a list of texts")
            elif name not in kinds or not isinstance(value, kinds[name]):
                raise DataError(f"no setting {name!r:.40} = {value!r:.40}")
        if values.get("reviewers_per_record", 1) not in (1, 2):
            raise DataError("a record has one reviewer or two")
        changes = dict(values)
        for name in changes.keys() & _LISTS_OF_SETTINGS:
            changes[name] = tuple(changes[name])
        return replace(self, **changes)


class ReviewReading(ABC):
    """What can be read of a review: by `ReviewLog` all of it, by `PersonalView` a part.

    Attributes
    ----------
    references : as they were read
    records : what is screened, in the order of the files
    events : the log
    begun_with, first_groups : the settings and the numbers of records before the first event
    settings : as they are now
    resolutions : by stage and record, how a conflict was decided
    full_text_places : by record, where its full text is: a link or the name of a file
    full_text_files : by record, the PDF that is attached to it
    words : strengths of words that speak for relevance, or against it
    prior : labelled records of an older review
    stopped : the event that ended the screening; None before
    """

    references: Sequence[Reference]
    first_groups: tuple[int, ...]
    begun_with: ProjectSettings
    settings: ProjectSettings
    events: list[Event]
    records: dict[str, Record]
    resolutions: dict[Stage, dict[str, ReviewerDecision]]
    full_text_places: dict[str, str]
    full_text_files: dict[str, FullTextFile]
    words: dict[str, float]
    prior: list[Reference]
    stopped: Event | None

    @abstractmethod
    def decisions_on(self, record: str, stage: Stage = ABSTRACT) -> dict[str, ReviewerDecision]:
        """Return the decisions on one record that hold now, by reviewer."""

    @abstractmethod
    def decided(self, stage: Stage = ABSTRACT) -> Collection[str]:
        """Return the records with at least one decision, in the order of the first."""

    @abstractmethod
    def status(self, record: str, stage: Stage = ABSTRACT) -> Status:
        """Return "waiting" for a second reviewer, "conflict", or the verdict on a record."""

    @abstractmethod
    def count_statuses(self, stage: Stage = ABSTRACT) -> Counter[Status]:
        """Count the records of a stage by their status."""

    @abstractmethod
    def count_own(self, person: str, stage: Stage = ABSTRACT) -> Counter[str]:
        """Count a person's decisions in a stage by verdict, and those that are "waiting"."""

    @abstractmethod
    def notes_on(self, record: str) -> list[ReviewNote]:
        """Return the notes on a record, oldest first."""

    @abstractmethod
    def tags_on(self, record: str) -> tuple[str, ...]:
        """Return the tags of a record."""

    @property
    def decisions(self) -> dict[str, dict[str, ReviewerDecision]]:
        """The decisions on titles and abstracts that hold now, by record and reviewer."""
        return self.decisions_of(ABSTRACT)

    def decisions_of(self, stage: Stage) -> dict[str, dict[str, ReviewerDecision]]:
        """Return the decisions of a stage that hold now, by record and reviewer."""
        return {record: self.decisions_on(record, stage) for record in self.decided(stage)}

    def verdict(self, record: str, stage: Stage = ABSTRACT) -> Verdict | None:
        """Return the verdict of all reviewers on a record, "maybe" if they differ, None before any.

        The resolution of a conflict overrules the reviewers.
        """
        if record in self.resolutions[stage]:
            return self.resolutions[stage][record].verdict
        verdicts = {given.verdict for given in self.decisions_on(record, stage).values()}
        if len(verdicts) == 1:
            return verdicts.pop()
        if verdicts:
            return "maybe"
        return None

    def stage_records(self, stage: Stage = ABSTRACT) -> list[str]:
        """Return the records that a stage screens: all, or those included by title and abstract."""
        if stage == ABSTRACT:
            return list(self.records)
        return [record for record in self.records if self.status(record) == "included"]

    def stage_of(self, record: str) -> Stage:
        """Return the last stage that a record has reached."""
        passed = self.settings.full_texts and self.status(record) == "included"
        return FULL_TEXT if passed or self.decisions_on(record, FULL_TEXT) else ABSTRACT

    def final_status(self, record: str) -> Status:
        """Return the status of a record in the last stage that began to decide on it."""
        status = self.status(record, FULL_TEXT)
        return self.status(record) if status == "open" else status

    @property
    def all_tags(self) -> list[str]:
        """The tags of all records, sorted."""
        found: set[str] = set()
        for record in self.records:
            found.update(self.tags_on(record))
        return sorted(found)


class ReviewLog(ReviewReading):
    """The records of a review and the events about them.

    Parameters
    ----------
    references : as they were read
    groups : the number of the record that each reference belongs to
    settings : what the review was begun with
    events : so far

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
        self.events = []
        self._begin()
        self.accept(events)

    def _begin(self) -> None:
        """Return to the state before the first event."""
        self._groups = list(self.first_groups)
        self.settings = self.begun_with
        self.records = {}
        self.resolutions = {ABSTRACT: {}, FULL_TEXT: {}}
        self.full_text_places = {}
        self.full_text_files = {}
        self.words = {}
        self.prior = []
        self.stopped = None
        self._notes: dict[str, list[ReviewNote]] = {}
        self._tags: dict[str, list[ReviewTags]] = {}
        self._stages: list[Stage] = []  # that each event is about
        self._joined: dict[str, str] = {}  # records that became a part of another one
        self._held: dict[Stage, dict[str, dict[str, list[ReviewerDecision]]]] = {
            ABSTRACT: {},
            FULL_TEXT: {},
        }
        self._done: dict[str, list[tuple[EventType, Stage, str]]] = {}
        self._collect_records()

    def decisions_on(self, record: str, stage: Stage = ABSTRACT) -> dict[str, ReviewerDecision]:
        """Return the decisions on one record that hold now, by reviewer."""
        return {by: given[-1] for by, given in self._held[stage].get(record, {}).items()}

    def decided(self, stage: Stage = ABSTRACT) -> Collection[str]:
        """Return the records with at least one decision, in the order of the first."""
        return self._held[stage].keys()

    def count_statuses(self, stage: Stage = ABSTRACT) -> Counter[Status]:
        """Count the records of a stage by their status."""
        # Most records are open, so that only the others are looked at.
        records: Collection[str] = self.records
        if stage == FULL_TEXT:
            records = set(self.stage_records(FULL_TEXT))
        counts: Counter[Status] = Counter()
        for record in self._held[stage]:
            if record in records:
                counts[self.status(record, stage)] += 1
        counts["open"] = len(records) - counts.total()
        return counts

    def count_own(self, person: str, stage: Stage = ABSTRACT) -> Counter[str]:
        """Count a person's decisions in a stage by verdict, and those that are "waiting"."""
        counts: Counter[str] = Counter()
        for record, held in self._held[stage].items():
            if person in held:
                counts[held[person][-1].verdict] += 1
                counts["waiting"] += self.status(record, stage) == "waiting"
        return counts

    def notes_on(self, record: str) -> list[ReviewNote]:
        """Return the notes on a record, oldest first."""
        return self._notes.get(record, [])

    def tags_on(self, record: str) -> tuple[str, ...]:
        """Return the tags of a record."""
        return joined_tags(self.all_tags_on(record))

    def all_tags_on(self, record: str) -> list[ReviewTags]:
        """Return the tags of a record by the people who gave them."""
        return self._tags.get(record, [])

    def is_blind(self, record: str, stage: Stage) -> bool:
        """Return whether reviewers do not see one another's decisions on a record yet."""
        if self.settings.reviewers_per_record == 1:
            return False
        return self.status(record, stage) in ("open", "waiting")

    def has_decided(self, person: str) -> bool:
        """Return whether a person has ever decided on a record."""
        return person in self._done

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
            case "attach" | "detach":
                self._check_replaced(event)
            case "settings":
                self.settings.changed(event.data)
            case "merge":
                self._check_merge(event)
            case _:
                pass

    def _check_replaced(self, event: Event) -> None:
        """Refuse to replace or remove a file that the event does not name.

        So that a file of another person, or a newer one, is not replaced unseen.
        """
        held = self.full_text_files.get(event.record)
        if event.data.get("replaces", "") == (held.digest if held else ""):
            return
        if held is None:
            raise DataError(f"record {event.record} has no such full text")
        raise DataError(
            f"record {event.record} has a full text already: {held.name}, attached by {held.by}"
        )

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

    def events_by_subject(self) -> Iterable[tuple[Event, str, Stage]]:
        """Yield the events, each with the record that it is about now, and the stage."""
        for event, stage in zip(self.events, self._stages, strict=True):
            record = event.record
            while record in self._joined:
                record = self._joined[record]
            yield event, record, stage

    def _stage_of_event(self, event: Event) -> Stage:
        """Return the stage that an event is about, before it takes effect."""
        if event.type == "undo":
            return self._done[event.by][-1][1]
        if event.type in ("note", "tag"):
            return self.stage_of(event.record)
        return _stage(event)

    def _apply(self, event: Event) -> None:
        """Let an event take effect; a merge has none but the events that it put into the log."""
        self._stages.append(self._stage_of_event(event))
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
                note = ReviewNote(str(data["text"]), event.by, event.at, self._stages[-1])
                self._notes.setdefault(event.record, []).append(note)
            case "tag":
                self._set_tags(event)
            case "file":
                self.full_text_places[event.record] = str(data["place"])
            case "attach":
                self.full_text_files[event.record] = FullTextFile(
                    data["name"], data["digest"], data["bytes"], event.by, event.at
                )
            case "detach":
                self.full_text_files.pop(event.record, None)
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

    def _set_tags(self, event: Event) -> None:
        """Replace the tags of a record that a person sees; those that are blind stay."""
        tags = tuple(map(str, event.data["tags"]))
        seen = visible_to(event.by, self, event.record, self.all_tags_on(event.record))
        kept = [given for given in self.all_tags_on(event.record) if given not in seen]
        self._tags[event.record] = [*kept, ReviewTags(tags, event.by, self._stages[-1])]

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
        self._joined[other] = record
        if other in self._notes:
            self._notes.setdefault(record, []).extend(self._notes.pop(other))
        if other in self._tags:
            self._tags.setdefault(record, []).extend(self._tags.pop(other))
        if other in self.full_text_places:
            self.full_text_places.setdefault(record, self.full_text_places.pop(other))
        if other in self.full_text_files:
            self.full_text_files.setdefault(record, self.full_text_files.pop(other))

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


class PersonalView(ReviewReading):
    """A review as one person may see it while records are screened by two, blind to one another.

    Of a record that waits for a reviewer, the status is shown, but only the person's own decision,
    notes and tags. What the ranking said to others before their decisions (rank, score) is not
    shown, since it follows from their other decisions.

    Parameters
    ----------
    log : of the review
    person : who looks at it

    Examples
    --------
    >>> settings = ProjectSettings(reviewers_per_record=2)
    >>> log = ReviewLog([Reference(title="Corn")], [1], settings)
    >>> log.accept(log.prepare("decide", [{"by": "ann", "record": "1", "verdict": "included"}]))
    >>> ann, bob = PersonalView(log, "ann"), PersonalView(log, "bob")
    >>> ann.verdict("1"), bob.verdict("1"), bob.status("1"), len(bob.events)
    ('included', None, 'waiting', 0)
    """

    def __init__(self, log: ReviewLog, person: str) -> None:
        self._log = log
        self._person = person

    def __getattr__(self, name: str) -> Any:
        """Return what everybody may see as it is in the log."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._log, name)

    @property
    def events(self) -> list[Event]:  # type: ignore[override]
        """The events that the person may see, others' without what depends on blind decisions."""
        log = self._log
        seen = []
        n_hidden = 0
        for event, record, stage in log.events_by_subject():
            if self._hides(event, record, stage):
                n_hidden += 1
            elif event.type != "merge":  # which lists what it put into the log
                seen.append(event)
        if n_hidden == 0:
            return log.events
        return [event if event.by == self._person else without_place(event) for event in seen]

    def _hides(self, event: Event, record: str, stage: Stage) -> bool:
        if event.type == "resolve":  # of a conflict that has been taken back
            return self._log.is_blind(record, stage)
        is_personal = event.type in ("decide", "undo", "note", "tag")
        is_of_another = event.by != self._person
        return is_personal and is_of_another and self._log.is_blind(record, stage)

    def decisions_on(self, record: str, stage: Stage = ABSTRACT) -> dict[str, ReviewerDecision]:
        """Return the decisions on one record that the person may see, by reviewer."""
        is_blind = self._log.is_blind(record, stage)
        seen = {}
        for by, given in self._log.decisions_on(record, stage).items():
            if by == self._person:
                seen[by] = given
            elif not is_blind:
                # The view keeps only that there was a rank.
                rank = None if given.rank is None else 1
                seen[by] = replace(given, rank=rank, score=None)
        return seen

    def decided(self, stage: Stage = ABSTRACT) -> Collection[str]:
        """Return the records with a decision that the person may see."""
        found = []
        for record in self._log.decided(stage):
            is_own = self._person in self._log.decisions_on(record, stage)
            if is_own or not self._log.is_blind(record, stage):
                found.append(record)
        return found

    def status(self, record: str, stage: Stage = ABSTRACT) -> Status:
        """Return "waiting" for a second reviewer, "conflict", or the verdict on a record."""
        return self._log.status(record, stage)

    def count_statuses(self, stage: Stage = ABSTRACT) -> Counter[Status]:
        """Count the records of a stage by their status."""
        return self._log.count_statuses(stage)

    def count_own(self, person: str, stage: Stage = ABSTRACT) -> Counter[str]:
        """Count a person's decisions in a stage by verdict, and those that are "waiting"."""
        return self._log.count_own(person, stage)

    def notes_on(self, record: str) -> list[ReviewNote]:
        """Return the notes on a record that the person may see, oldest first."""
        return visible_to(self._person, self._log, record, self._log.notes_on(record))

    def tags_on(self, record: str) -> tuple[str, ...]:
        """Return the tags of a record that the person may see."""
        tags = self._log.all_tags_on(record)
        return joined_tags(visible_to(self._person, self._log, record, tags))


def seen_by(person: str, log: ReviewLog) -> ReviewReading:
    """Return a review as a person may see it: whole, unless two decide on a record blindly."""
    if log.settings.reviewers_per_record == 1:
        return log
    return PersonalView(log, person)


_Said = TypeVar("_Said", ReviewNote, ReviewTags)


def visible_to(person: str, log: ReviewLog, record: str, said: Sequence[_Said]) -> list[_Said]:
    """Return those of the notes or tags on a record that a person may see."""
    return [each for each in said if each.by == person or not log.is_blind(record, each.stage)]


def joined_tags(given: Iterable[ReviewTags]) -> tuple[str, ...]:
    """Return the tags that several people gave, each once."""
    found: dict[str, None] = {}
    for each in given:
        found.update(dict.fromkeys(each.tags))
    return tuple(found)


def without_place(event: Event) -> Event:
    """Return an event without what the ranking said to the person."""
    kept = {name: value for name, value in event.data.items() if name not in _PLACE}
    return replace(event, data=kept)


def with_decisions(
    record: Record, log: ReviewReading, annotations: Mapping[str, str]
) -> Reference:
    """Convert a record to a reference with its decisions, reasons, tags and notes."""
    held = log.decisions_on(record.id, FULL_TEXT) or log.decisions_on(record.id)
    given = tuple(
        GivenDecision(decision.verdict, by, decision.reasons) for by, decision in held.items()
    )
    notes = " / ".join(map(str, log.notes_on(record.id)))
    attached = log.full_text_files.get(record.id)
    added = {**annotations, "note": notes, "file": log.full_text_places.get(record.id, "")}
    if attached is not None:
        added["pdf"] = f"{FULL_TEXTS}/{attached.digest}.pdf"
    written = tuple((name, value) for name, value in added.items() if value)
    kept = tuple(pair for pair in record.reference.annotations if pair[0] not in dict(written))
    labels = tuple(dict.fromkeys((*record.reference.labels, *log.tags_on(record.id))))
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
    "attach": {
        "name": _is_text,
        "digest": is_file_digest,
        "bytes": _is_count,
        "replaces": _is_text,
    },
    "detach": {"replaces": _is_text},
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
    "name",
    "digest",
    "bytes",
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
