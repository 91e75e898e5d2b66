"""Request and response bodies: the schemas of the OpenAPI description, and parameters that several routes share."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from fastapi import Path, Query
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from bayesift.errors import DataError, MissingExtraError
from bayesift.text.embedding import vectors_of


def _storable(text: str) -> str:
    """Refuse text that a database cannot store."""
    if "\x00" in text:
        raise ValueError("must not hold the character U+0000")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must not hold half of a surrogate pair") from None
    return text


def _printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError("must hold printable characters only")
    return name


Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern=r"^[^/\s]([^/]*[^/\s])?$"),
    AfterValidator(_printable),
]
DocumentId = Annotated[
    str, StringConstraints(min_length=1, max_length=200), AfterValidator(_printable)
]
Word = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(_printable)]
Text = Annotated[str, AfterValidator(_storable)]
Strength = Annotated[float, Field(ge=-10, le=10, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
_Finite = Annotated[float, Field(allow_inf_nan=False)]
_UtilityRow = Annotated[list[_Finite], Field(min_length=2, max_length=2)]
Why = Literal["relevant", "queried", "random"]

ProfileName = Annotated[Name, Path(description="Name of the profile.")]
DocumentName = Annotated[DocumentId, Path(description="Id of the document.")]
FileName = Annotated[str, Query(min_length=1, max_length=200, pattern=r"^[^/\\\x00-\x1f]+$")]
Limit = Annotated[int, Query(ge=1, le=500, description="Maximum number of results.")]

MOST_EXAMPLE_TEXT = (
    2_000_000  # characters of the examples of a profile: about a second of the writer's time
)


def plain(word: str) -> str:
    """A word as it is stored: stripped, in lower case."""
    return word.strip().lower()


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TokenIn(_In):
    """An access token."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]


class FirstAdminIn(_In):
    """The first admin of a new service."""

    name: Name


class UserIn(_In):
    """A user to add."""

    name: Name
    role: Literal["reader", "reviewer", "admin"]


class DocumentIn(_In):
    """A document; a later one with the same id is ignored.

    Where a source is given, such as the name of a file, the title and the text decide: ids of two
    sources may be equal.
    """

    id: DocumentId
    source: Annotated[str, StringConstraints(max_length=100), AfterValidator(_printable)] = ""
    title: Annotated[Text, StringConstraints(max_length=2_000)] = ""
    text: Text


class BatchIn(_In):
    """Documents, processed in this order."""

    documents: list[DocumentIn]


class Example(_In):
    """A labelled text to start from."""

    text: Text
    relevant: bool


class GoalIn(_In):
    """The goal of retrieval, one of: about `target` documents, a minimum precision or recall, a utility matrix."""

    target: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    precision: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = None
    recall: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = None
    utility: Annotated[list[_UtilityRow], Field(min_length=2, max_length=2)] | None = None


class ProfileIn(_In):
    """A profile to create: from a query, words, labelled texts, or nothing.

    By default it sees earlier documents.

    `expand` adds words that mean about what those of the query do, by the vectors of the extra
    embeddings.
    """

    name: Name
    query: Annotated[Text, StringConstraints(max_length=2_000)] | None = None
    expand: bool = False
    words: Annotated[dict[Word, Strength], Field(max_length=200)] | None = None
    examples: Annotated[list[Example], Field(max_length=1_000)] | None = None
    strategy: Annotated[str, StringConstraints(max_length=20)] = "+rel+ig"
    goal: GoalIn | None = None
    max_terms: Annotated[int, Field(ge=1, le=2_000)] = 500
    kappa: Annotated[float, Field(gt=0, lt=0.5, allow_inf_nan=False)] = 0.1
    model: Literal["perceptron", "stack"] = "perceptron"
    past: bool = True

    @model_validator(mode="after")
    def _not_too_long(self) -> Self:
        if sum(len(example.text) for example in self.examples or ()) > MOST_EXAMPLE_TEXT:
            raise ValueError(f"examples may hold {MOST_EXAMPLE_TEXT:,} characters in all")
        return self

    def definition(self) -> dict[str, Any]:
        """The definition that `bayesift.filtering.engine.add_described` reads."""
        return {
            "name": self.name,
            "query": self.query,
            "words": self._words(),
            "examples": [(example.text, example.relevant) for example in self.examples or ()],
            "strategy": self.strategy,
            "goal": None if self.goal is None else self.goal.model_dump(exclude_none=True),
            "settings": {"max_terms": self.max_terms, "kappa": self.kappa, "model": self.model},
        }

    def _words(self) -> dict[str, float]:
        """The words with those of the expansion, so that the log holds what was added."""
        try:
            similar = vectors_of(None).expand(self.query) if self.expand and self.query else {}
        except MissingExtraError as error:
            raise DataError(str(error)) from error
        return similar | {plain(word): strength for word, strength in (self.words or {}).items()}


class ProfileChange(_In):
    """Changes of a profile."""

    paused: bool | None = None


class JudgementIn(_In):
    """A relevance judgement."""

    document: DocumentId
    relevant: bool


class WordIn(_In):
    """The weight given to a word: 1 for relevance, -1 against, 0 withdraws it."""

    word: Word
    strength: Strength


class FileDocument(BaseModel):
    """A document of a file."""

    id: str
    title: str
    text: str


class FileDocumentsOut(BaseModel):
    """What was read of a file: documents, rows that could not be read, and what was guessed."""

    documents: list[FileDocument]
    rejected: list[str]
    notes: list[str]


class RetentionIn(_In):
    """Texts to delete: those received before a time, or all but the newest."""

    before: Annotated[str, StringConstraints(max_length=40)] | None = None
    keep: Annotated[int, Field(ge=0, le=10_000_000)] | None = None


class Problem(BaseModel):
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str


class SessionOut(BaseModel):
    """The signed-in user.

    `csrf` belongs in the header X-CSRF-Token of every request that changes something.
    """

    user: str
    role: str
    csrf: str | None


class UserOut(BaseModel):
    """A user."""

    name: str
    role: str
    created_at: str


class FirstStartOut(BaseModel):
    """Whether the caller may set up the first admin."""

    may_set_up: bool


class NewUserOut(BaseModel):
    """A new user with their token, which is not shown again."""

    name: str
    role: str
    token: str


class DecisionOut(BaseModel):
    """A document that a profile retrieved, and why."""

    profile: str
    document: str
    why: Why
    probability: float | None
    gain: float | None


class ObservedOut(BaseModel):
    """The result of adding documents; `more` is true when `decisions` is cut short."""

    accepted: int
    duplicates: int
    decisions: list[DecisionOut]
    more: bool = False


class CountersOut(BaseModel):
    """Counts of a profile."""

    seen: int
    retrieved: int
    asked: int
    judged_relevant: int
    judged_irrelevant: int


class ProfileOut(BaseModel):
    """A profile with its counts."""

    name: str
    paused: bool
    strategy: str
    query: str | None
    created_at: str
    created_by: str
    counters: CountersOut
    waiting: int
    n_terms: int
    conflicts: int


class CurvePoint(BaseModel):
    """Relevant documents among the first `judged` ones."""

    judged: int
    relevant: int


class CurveOut(BaseModel):
    """The learning curve."""

    points: list[CurvePoint]


class DecisionEntry(BaseModel):
    """A decision in the log."""

    seq: int
    document: str
    why: Why
    probability: float | None
    gain: float | None
    at: str


class DecisionsOut(BaseModel):
    """Decisions after an event; `next` is the number to continue from."""

    decisions: list[DecisionEntry]
    next: int


class WordWeight(BaseModel):
    """A word and its weight; `forms` are the inflections found in the document."""

    word: str
    weight: float
    forms: list[str] = []


class JudgementEntry(BaseModel):
    """A judgement of a document."""

    user: str
    relevant: bool
    at: str


class DocumentOut(BaseModel):
    """A document; title and text are empty once purged."""

    id: str
    title: str
    text: str
    purged: bool = False


class ExplanationOut(BaseModel):
    """The score of a document and the words behind it; `why` is None if it was not retrieved."""

    document: DocumentOut
    why: Why | None
    probability: float
    low: float
    high: float
    gain: float
    words: list[WordWeight]
    judgements: list[JudgementEntry]


class JudgementOut(BaseModel):
    """A judgement, and whether another reviewer disagrees."""

    document: str
    relevant: bool
    user: str
    at: str
    conflict: bool


class TitleOut(BaseModel):
    """A document by its title."""

    id: str
    title: str


class JudgedOut(JudgementOut):
    """A judgement with the title of its document."""

    title: str


class ConflictOut(BaseModel):
    """A document on which reviewers disagree."""

    document: TitleOut
    judgements: list[JudgementEntry]


class UndoneOut(BaseModel):
    """A withdrawn judgement, and the judgements of others that remain."""

    document: str
    judgements: list[JudgementEntry]


class TaughtOut(BaseModel):
    """A word with a weight given by a reviewer; `strength` is 0 if it was withdrawn."""

    word: str
    strength: float
    user: str
    at: str


class TermsOut(BaseModel):
    """The words with the largest weights."""

    speak_for: list[WordWeight] = Field(serialization_alias="for")
    against: list[WordWeight]


class StoppingOut(BaseModel):
    """Relevant documents left among those retrieved, estimated with a 95% interval.

    None if it cannot be told.
    """

    found: int
    left: float | None
    left_low: int | None
    left_high: int | None
    recall: float
    probability_reached: float | None
    stop: bool
    pool: int
    sentence: str


class TopicOut(BaseModel):
    """A topic of the retrieved documents."""

    words: list[str]
    documents: int
    relevant: int
    examples: list[TitleOut]


class DeletedOut(BaseModel):
    """A deleted profile that can be restored."""

    name: str
    deleted_at: str


class RetentionOut(BaseModel):
    """Number of purged documents."""

    purged: int


class HealthOut(BaseModel):
    """State of the service and number of the last event."""

    status: Literal["ok"]
    events: int
    profiles: int
