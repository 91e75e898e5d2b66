"""What comes out, as JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

Why = Literal["relevant", "queried", "random"]


class Problem(BaseModel):
    """What is wrong (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str


class SessionOut(BaseModel):
    """Who is signed in; `csrf` goes into the header X-CSRF-Token of whatever changes something."""

    user: str
    role: str
    csrf: str | None


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


class RetentionOut(BaseModel):
    """How many documents were purged."""

    purged: int


class HealthOut(BaseModel):
    """That the service is up, and how far the log is."""

    status: Literal["ok"]
    events: int
    profiles: int
