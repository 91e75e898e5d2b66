"""What goes in and out, as JSON: the shapes of the OpenAPI description."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

Why = Literal["relevant", "queried", "random"]


def _storable(text: str) -> str:
    """Text that every database holds."""
    if "\x00" in text:
        raise ValueError("must not hold the character U+0000")
    return text


def _printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError("must hold printable characters only")
    return name


Name = Annotated[
    str, StringConstraints(min_length=1, max_length=100, pattern=r"^[^/\s]([^/]*[^/\s])?$"), AfterValidator(_printable)
]
DocumentId = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_printable)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(_printable)]
Text = Annotated[str, AfterValidator(_storable)]
Strength = Annotated[float, Field(ge=-10, le=10, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]


def plain(word: str) -> str:
    """A word as it is kept.

    Examples
    --------
    >>> plain(" Corn ")
    'corn'
    """
    return word.strip().lower()


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """What is wrong (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str


class TokenIn(_In):
    """A person's token."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]


class SessionOut(BaseModel):
    """Who is signed in; `csrf` goes into the header X-CSRF-Token of whatever changes something."""

    user: str
    role: str
    csrf: str | None


class UserIn(_In):
    """A person to let in."""

    name: Name
    role: Literal["reader", "reviewer", "admin"]


class UserOut(BaseModel):
    """A person who is let in."""

    name: str
    role: str
    created_at: str


class NewUserOut(BaseModel):
    """A person with their token, which is shown this once."""

    name: str
    role: str
    token: str


class DocumentIn(_In):
    """A document; one of the same id that comes later is passed over."""

    id: DocumentId
    title: Annotated[Text, StringConstraints(max_length=2_000)] = ""
    text: Text


class BatchIn(_In):
    """Documents, learned in this order."""

    documents: list[DocumentIn]


class DecisionOut(BaseModel):
    """A document that a profile retrieved, and why."""

    profile: str
    document: str
    why: Why
    probability: float | None
    gain: float | None


class ObservedOut(BaseModel):
    """What became of documents; `decisions` are the first ones if `more` says that there are others."""

    accepted: int
    duplicates: int
    decisions: list[DecisionOut]
    more: bool = False


class Example(_In):
    """A labelled text to start from."""

    text: Text
    relevant: bool


class GoalIn(_In):
    """What a reader wants, one of these: about so many documents, at least this precision or recall, or a utility."""

    target: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    precision: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = None
    recall: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = None
    utility: (
        Annotated[
            list[Annotated[list[Annotated[float, Field(allow_inf_nan=False)]], Field(min_length=2, max_length=2)]],
            Field(min_length=2, max_length=2),
        ]
        | None
    ) = None


class ProfileIn(_In):
    """A profile to start: from a query, words, labelled texts, or nothing."""

    name: Name
    query: Annotated[Text, StringConstraints(max_length=2_000)] | None = None
    words: Annotated[dict[Word, Strength], Field(max_length=200)] | None = None
    examples: Annotated[list[Example], Field(max_length=1_000)] | None = None
    strategy: Annotated[str, StringConstraints(max_length=20)] = "+rel+ig"
    goal: GoalIn | None = None
    max_terms: Annotated[int, Field(ge=1, le=2_000)] = 500
    kappa: Annotated[float, Field(gt=0, lt=0.5, allow_inf_nan=False)] = 0.1

    def definition(self) -> dict[str, Any]:
        """As `bayesift.filtering.definitions` has it."""
        return {
            "name": self.name,
            "query": self.query,
            "words": {plain(word): strength for word, strength in (self.words or {}).items()},
            "examples": [(example.text, example.relevant) for example in self.examples or ()],
            "strategy": self.strategy,
            "goal": None if self.goal is None else self.goal.model_dump(exclude_none=True),
            "settings": {"max_terms": self.max_terms, "kappa": self.kappa},
        }


class ProfileChange(_In):
    """What can be changed of a profile."""

    paused: bool | None = None


class CountersOut(BaseModel):
    """What a profile has done."""

    seen: int
    retrieved: int
    asked: int
    judged_relevant: int
    judged_irrelevant: int


class ProfileOut(BaseModel):
    """A profile and how far it is."""

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
    """Relevant documents found after so many judgements."""

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
    """Decisions after a number; `next` is the number to go on from."""

    decisions: list[DecisionEntry]
    next: int


class WordWeight(BaseModel):
    """A word and what it says; `forms` are the words of the document that count as it."""

    word: str
    weight: float
    forms: list[str] = []


class JudgementEntry(BaseModel):
    """What somebody said of a document."""

    user: str
    relevant: bool
    at: str


class DocumentOut(BaseModel):
    """A document; a purged one has neither title nor text."""

    id: str
    title: str
    text: str
    purged: bool = False


class ExplanationOut(BaseModel):
    """What a profile thinks of a document and why; `why` is None if it was not retrieved."""

    document: DocumentOut
    why: Why | None
    probability: float
    low: float
    high: float
    gain: float
    words: list[WordWeight]
    judgements: list[JudgementEntry]


class JudgementIn(_In):
    """What a person says of a document."""

    document: DocumentId
    relevant: bool


class JudgementOut(BaseModel):
    """A judgement, and whether another person says otherwise."""

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
    """A document that people judge differently."""

    document: TitleOut
    judgements: list[JudgementEntry]


class UndoneOut(BaseModel):
    """A judgement that was taken back, and what others say of the document."""

    document: str
    judgements: list[JudgementEntry]


class WordIn(_In):
    """What a word is worth: 1 for, -1 against, 0 takes it back."""

    word: Word
    strength: Strength


class TaughtOut(BaseModel):
    """A word that was taught; `strength` 0 if it was taken back."""

    word: str
    strength: float
    user: str
    at: str


class TermsOut(BaseModel):
    """What a profile has learned."""

    speak_for: list[WordWeight] = Field(serialization_alias="for")
    against: list[WordWeight]


class StoppingOut(BaseModel):
    """How many relevant documents are left, as far as the judgements tell; None before there are enough of them."""

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
    """A topic of the documents that a profile retrieved."""

    words: list[str]
    documents: int
    relevant: int
    examples: list[TitleOut]


class RetentionIn(_In):
    """Which texts go: those that came before a time, or all but the newest."""

    before: Annotated[str, StringConstraints(max_length=40)] | None = None
    keep: Annotated[int, Field(ge=0, le=10_000_000)] | None = None


class RetentionOut(BaseModel):
    """How many documents were purged."""

    purged: int


class HealthOut(BaseModel):
    """That the service is up, and how far the log is."""

    status: Literal["ok"]
    events: int
    profiles: int
