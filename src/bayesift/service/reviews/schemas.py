"""Bodies of requests and answers about reviews."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import BaseModel, Field, StringConstraints

from bayesift.screening.review_log import Stage, Status, Verdict
from bayesift.service.schemas import AnswerBody, Name, RequestBody, Strength, Text, Word

_Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
ReviewId = Annotated[_Id, Path(description="Id of the review.")]
RecordId = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,9}$")]
RecordName = Annotated[RecordId, Path(description="Number of the record.")]
Reason = Annotated[Text, StringConstraints(min_length=1, max_length=200)]
_Long = Annotated[Text, StringConstraints(max_length=20_000)]
_Terms = Annotated[
    list[Annotated[Text, StringConstraints(min_length=1, max_length=100)]],
    Field(max_length=200),
]
_Keys = Annotated[
    list[Annotated[str, StringConstraints(max_length=40)]], Field(min_length=1, max_length=20)
]


class SettingsIn(RequestBody):
    """What is sought and how it is screened; what is left out stays as it is."""

    query: Annotated[Text, StringConstraints(max_length=5_000)] | None = None
    criteria: _Long | None = None
    reasons: Annotated[list[Reason], Field(max_length=50)] | None = None
    reviewers_per_record: Literal[1, 2] | None = None
    full_texts: bool | None = None
    highlight_include: _Terms | None = None
    highlight_exclude: _Terms | None = None


class ReviewRecordsIn(RequestBody):
    """Records of another review: all, or those with an outcome; with their decisions if wanted."""

    review: _Id
    only: Annotated[list[Status], Field(max_length=6, default_factory=list)]
    decisions: bool = False


class StreamRecordsIn(RequestBody):
    """Documents of the stream: the newest, those a filter retrieved, or those judged relevant."""

    filter: Name | None = None
    relevant: bool = False
    decisions: bool = False
    limit: Annotated[int, Field(ge=1, le=200_000)] = 20_000


class PreviewIn(RequestBody):
    """What was uploaded or chosen."""

    uploads: _Keys


class ReviewIn(PreviewIn):
    """A review to begin from uploads."""

    name: Name
    settings: SettingsIn = SettingsIn()
    join_duplicates: bool = True
    take_decisions: bool = True


class BeginningOut(AnswerBody):
    """How far a review is that begins: its step, and how much of how many where it is known."""

    name: str
    step: str
    done: int | None = None
    of: int | None = None


class ReviewChange(RequestBody):
    """Changes of a review."""

    name: Name | None = None
    settings: SettingsIn | None = None


class DecisionIn(RequestBody):
    """A decision on a record, or how a conflict is resolved."""

    record: RecordId
    verdict: Verdict
    reasons: Annotated[list[Reason], Field(max_length=20, default_factory=list)]
    stage: Stage = "abstract"
    seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] | None = None


class NoteIn(RequestBody):
    """A note on a record."""

    text: Annotated[_Long, StringConstraints(min_length=1)]


class TagsIn(RequestBody):
    """The tags of a record."""

    tags: Annotated[
        list[Annotated[Text, StringConstraints(min_length=1, max_length=60)]],
        Field(max_length=30),
    ]


class FullTextIn(RequestBody):
    """Where a full text is: a link or the name of a file; "" if it is not known."""

    place: Annotated[Text, StringConstraints(max_length=500, strip_whitespace=True)]


FileDigest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class RecordQuery(BaseModel):
    """Which records to list: by the words of a search, by status in a stage, and by tag.

    `without_text` lists those without title, abstract and keywords only.
    """

    search: Annotated[str, StringConstraints(max_length=200)] = ""
    status: Status | None = None
    stage: Stage = "abstract"
    tag: Annotated[str, StringConstraints(max_length=60)] | None = None
    without_text: bool = False
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    limit: Annotated[int, Field(ge=1, le=500)] = 50


class JoinIn(RequestBody):
    """Records that are the same publication as another one."""

    records: Annotated[list[RecordId], Field(min_length=1, max_length=20)]


class WordsIn(RequestBody):
    """Words that speak for relevance, or against it (below 0)."""

    words: Annotated[dict[Word, Strength], Field(max_length=200)]


class StopIn(RequestBody):
    """Why the screening ends."""

    reason: Annotated[_Long, StringConstraints(min_length=1)]


class ReferenceOut(AnswerBody):
    """A bibliographic record."""

    title: str
    abstract: str
    authors: list[str]
    year: int | None
    journal: str
    volume: str
    issue: str
    pages: str
    doi: str
    pmid: str
    url: str
    keywords: list[str]
    file: str


class FileOut(BaseModel):
    """What was understood of a file."""

    upload: str = ""
    file: str
    format: str
    encoding: str
    records: int
    refused: int
    notes: list[str] = []
    problems: list[str] = []
    first: list[ReferenceOut] = []


class DuplicateOut(BaseModel):
    """Records that are, or may be, of one publication."""

    records: list[ReferenceOut]
    probability: float | None = None


class PreviewOut(BaseModel):
    """Files together: how many records, and the duplicates among them."""

    records: int
    after_joining: int
    without_abstract: int
    decisions: int
    duplicates: list[DuplicateOut]
    possible: list[DuplicateOut]


class MoreReadingOut(BaseModel):
    """How many further irrelevant records in a row it takes to reach a probability."""

    probability: float
    records: int


class GaugeOut(BaseModel):
    """What is left, its median with a 95% interval; before there is an estimate only a sentence."""

    sentence: str
    found: int | None = None
    left: int | None = None
    low: int | None = None
    high: int | None = None
    recall: float | None = None
    probability_of_recall: float | None = None
    stop: bool = False
    more_reading: list[MoreReadingOut] = []
    safe_reading: int | None = None


class TallyOut(BaseModel):
    """A person's own decisions in a stage; `waiting` of them wait for a second reviewer."""

    included: int
    excluded: int
    maybe: int
    waiting: int


class ProgressOut(BaseModel):
    """How far a stage of a review is; `mine` counts what is left for the person who asks.

    `waiting` records have one of two decisions; `conflicts` have two that differ.
    """

    records: int
    included: int
    excluded: int
    maybe: int
    open: int
    waiting: int
    conflicts: int
    mine: int
    tally: TallyOut
    since_find: int
    gauge: GaugeOut


class ReviewOut(BaseModel):
    """A review."""

    id: str
    name: str
    role: str
    created_at: str
    created_by: str
    query: str
    criteria: str
    reasons: list[str]
    reviewers_per_record: int
    full_texts: bool
    highlight_include: list[str]
    highlight_exclude: list[str]
    tags: list[str]
    stopped: str | None
    progress: ProgressOut


class ReviewRowOut(BaseModel):
    """A review in a list."""

    id: str
    name: str
    role: str
    created_at: str
    created_by: str
    records: int = 0
    decided: int = 0
    waiting: int = 0
    conflicts: int = 0
    deleted_at: str = ""


class ReviewerDecisionOut(BaseModel):
    """A decision that holds."""

    by: str
    verdict: Verdict
    reasons: list[str]
    at: str
    resolved: bool = False


class NoteOut(AnswerBody):
    """A note."""

    by: str
    text: str
    at: str


class FullTextFileOut(AnswerBody):
    """The PDF that is attached to a record."""

    name: str
    digest: str
    size: int
    by: str
    at: str


class RecordOut(BaseModel):
    """A record as a person may see it; `hidden` if it has a decision that is blind for them.

    `origins` are files with lines or rows. Without a text, rank and probability say nothing.
    """

    id: str
    reference: ReferenceOut
    sources: list[ReferenceOut]
    origins: list[str]
    has_text: bool
    status: Status
    stage: Stage
    rank: int
    probability: float
    mine: Verdict | None
    decisions: list[ReviewerDecisionOut]
    hidden: bool
    notes: list[NoteOut]
    tags: list[str]
    full_text: str
    file: FullTextFileOut | None


class RecordRowOut(BaseModel):
    """A record in a list."""

    id: str
    title: str
    authors: str
    year: int | None
    journal: str
    origin: str
    has_text: bool
    status: Status
    mine: Verdict | None
    rank: int
    probability: float
    tags: list[str]


class RecordsOut(BaseModel):
    """A page of records, and the number of all."""

    total: int
    records: list[RecordRowOut]


class NextOut(BaseModel):
    """The record to screen next, if there is one."""

    record: RecordOut | None
    progress: ProgressOut


class AgreementOut(BaseModel):
    """Agreement of reviewers on the records of a stage that several decided on.

    A measure is None where it is not defined.
    """

    stage: Stage
    records: int
    agreement: float | None
    kappa: float | None
    ac1: float | None
    alpha: float | None


class ReviewerOut(BaseModel):
    """The work of a reviewer in both stages.

    `not_excluded`, `median_seconds` and `hours` are of the decisions that the person who asks may
    see.
    """

    name: str
    decisions: int
    not_excluded: float | None
    median_seconds: float | None
    hours: float
    waiting_for_others: int
    others_waiting: int


class MissedOut(BaseModel):
    """A relevant record that an earlier end would have missed."""

    id: str
    title: str


class EarlierEndOut(BaseModel):
    """Where a rule would have ended a review; `read` is None if it would not have, so far."""

    rule: str
    read: int | None
    missed: list[MissedOut]


class HindsightOut(BaseModel):
    """A review in the order in which it was read: sentences, the curve, and where rules stop."""

    sentences: list[str]
    curve: list[tuple[int, int]]
    ends: list[EarlierEndOut]


class StatisticsOut(BaseModel):
    """The numbers of a review."""

    flow: dict[str, Any]
    agreement: list[AgreementOut]
    reviewers: list[ReviewerOut]
    curve: list[tuple[int, int]]
    methods: str
