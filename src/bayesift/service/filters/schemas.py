"""Bodies of requests and answers about filters and their documents."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from fastapi import Path, Query
from pydantic import (
    AfterValidator,
    BaseModel,
    FailFast,
    Field,
    StringConstraints,
    model_validator,
)

from bayesift.errors import DataError, MissingExtraError
from bayesift.service.schemas import (
    AnswerBody,
    DocumentId,
    Name,
    RequestBody,
    Strength,
    Text,
    Word,
    WordWeightOut,
    printable,
)
from bayesift.text.embedding import vectors_of

Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
Why = Literal["relevant", "queried", "random"]
FilterName = Annotated[Name, Path(description="Name of the filter.")]
DocumentName = Annotated[DocumentId, Path(description="Id of the document.")]
Limit = Annotated[int, Query(ge=1, le=500, description="Maximum number of results.")]
_Finite = Annotated[float, Field(allow_inf_nan=False)]
_UtilityRow = Annotated[list[_Finite], Field(min_length=2, max_length=2)]

# Characters of all examples of a filter: they take about a second of the writer's time.
MAX_EXAMPLE_CHARACTERS = 2_000_000


def plain(word: str) -> str:
    """Return a word as it is stored: stripped, in lower case."""
    return word.strip().lower()


class DocumentIn(RequestBody):
    """A document; a later one with the same id is ignored.

    Where a source is given, such as the name of a file, the title and the text decide: ids of two
    sources may be equal.
    """

    id: DocumentId
    source: Annotated[str, StringConstraints(max_length=100), AfterValidator(printable)] = ""
    title: Annotated[Text, StringConstraints(max_length=2_000)] = ""
    text: Text


class BatchIn(RequestBody):
    """Documents, processed in this order."""

    documents: Annotated[list[DocumentIn], FailFast()]


class Example(RequestBody):
    """A labelled text to start from."""

    text: Text
    relevant: bool


class GoalIn(RequestBody):
    """The goal of retrieval, one of: about `target` documents, a precision, a recall, a utility."""

    target: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    precision: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = None
    recall: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = None
    utility: Annotated[list[_UtilityRow], Field(min_length=2, max_length=2)] | None = None


class FilterIn(RequestBody):
    """A filter to create: from a query, words, labelled texts, or nothing.

    Unless `past` is false it also sees earlier documents. `expand` adds words of similar meaning
    to those of the query; it needs the extra `embeddings`.
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
        if sum(len(example.text) for example in self.examples or ()) > MAX_EXAMPLE_CHARACTERS:
            raise ValueError(f"examples may hold {MAX_EXAMPLE_CHARACTERS:,} characters in all")
        return self

    def definition(self) -> dict[str, Any]:
        """Return the definition that `bayesift.filtering.engine.add_described` reads."""
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
        """Return the words with those of the expansion, so that the log holds what was added."""
        similar = {}
        if self.expand and self.query:
            try:
                similar = vectors_of(None).expand(self.query)
            except MissingExtraError as error:
                raise DataError(str(error)) from error
        return similar | {
            plain(word): strength for word, strength in (self.words or {}).items()
        }


class FilterChange(RequestBody):
    """Changes of a filter."""

    paused: bool | None = None


class JudgementIn(RequestBody):
    """A relevance judgement."""

    document: DocumentId
    relevant: bool


class WordIn(RequestBody):
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


class RetentionIn(RequestBody):
    """Texts to delete: those received before a time, or all but the newest."""

    before: Annotated[str, StringConstraints(max_length=40)] | None = None
    keep: Annotated[int, Field(ge=0, le=10_000_000)] | None = None


class RetrievalOut(BaseModel):
    """A document that a filter retrieved, and why."""

    filter: str
    document: str
    why: Why
    probability: float | None
    gain: float | None


class ObservedOut(BaseModel):
    """The result of adding documents; `more` is true when `retrieved` is cut short."""

    accepted: int = 0
    duplicates: int = 0
    retrieved: list[RetrievalOut]
    more: bool = False


class CountersOut(BaseModel):
    """Counts of a filter."""

    seen: int
    retrieved: int
    asked: int
    judged_relevant: int
    judged_irrelevant: int


class FilterOut(BaseModel):
    """A filter with its counts."""

    name: str
    role: str
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


class RetrievalEntry(BaseModel):
    """A retrieval in the log."""

    seq: int
    document: str
    why: Why
    probability: float | None
    gain: float | None
    at: str


class RetrievalsOut(BaseModel):
    """Retrievals after an event; `next` is the number to continue from."""

    retrieved: list[RetrievalEntry]
    next: int


class JudgementEntry(AnswerBody):
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
    words: list[WordWeightOut]
    judgements: list[JudgementEntry]


class JudgementOut(BaseModel):
    """A judgement, and whether another reviewer disagrees."""

    document: str
    relevant: bool
    user: str
    at: str
    conflict: bool


class TitleOut(AnswerBody):
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


class TaughtOut(AnswerBody):
    """A word with a weight given by a reviewer; `strength` is 0 if it was withdrawn."""

    word: str
    strength: float
    user: str
    at: str


class TermsOut(BaseModel):
    """The words with the largest weights."""

    speak_for: list[WordWeightOut] = Field(serialization_alias="for")
    against: list[WordWeightOut]


class StoppingOut(BaseModel):
    """Relevant documents left among those retrieved, estimated with a 95% interval.

    The estimate is None while there is too little to estimate from.
    """

    found: int
    left: float | None = None
    left_low: int | None = None
    left_high: int | None = None
    recall: float
    probability_reached: float | None = None
    stop: bool = False
    pool: int
    sentence: str


class TopicOut(BaseModel):
    """A topic of the retrieved documents."""

    words: list[str]
    documents: int
    relevant: int
    examples: list[TitleOut]


class DeletedOut(BaseModel):
    """A deleted filter that can be restored."""

    name: str
    deleted_at: str


class RetentionOut(BaseModel):
    """Number of purged documents."""

    purged: int
