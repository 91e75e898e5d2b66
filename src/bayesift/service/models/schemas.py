"""Bodies of requests to fitted models, and of the answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from pydantic import Field, StringConstraints

from bayesift.service.schemas import AnswerBody, Name, RequestBody, Text

ModelName = Annotated[Name, Path(description="Name of a model.")]
NewName = Annotated[Name, Query(description="Name of the model, new or known.")]
Top = Annotated[int, Field(ge=0, le=1_000)]
Abstain = Annotated[float | None, Field(ge=0, le=1)]
Cell = Text | float | bool | None
Row = Text | dict[str, Cell]
Label = Annotated[Text, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]


class ClassifyIn(RequestBody):
    """Texts to classify: strings, or objects with the columns that the model was fitted to."""

    texts: list[Row] = Field(max_length=1_000)
    top: Top = 3
    abstain: Abstain = None


class ScoreOut(AnswerBody):
    """A category and its probability, or its score if the model has no probabilities."""

    category: str
    score: float


class AnsweredOut(AnswerBody):
    """What the model says of a text.

    `unsure` is why it abstained; `unseen` the share of the words that it does not know.
    """

    categories: list[str]
    scores: list[ScoreOut]
    unsure: str | None
    unseen: float | None


class ClassifiedOut(AnswerBody):
    """The answers to texts, in their order, and the version that gave them."""

    model: str
    version: int
    answers: list[AnsweredOut]


class ExplainIn(RequestBody):
    """A text to explain; `categories` are by default the assigned ones and the likeliest one."""

    text: Row
    categories: list[Label] | None = None
    top: Annotated[int, Field(ge=1, le=100)] = 10


class TermOut(AnswerBody):
    """What a term adds to the log odds of a category."""

    term: str
    contribution: float
    deviation: float | None


class CategoryOut(AnswerBody):
    """The evidence for and against a category."""

    category: str
    score: float
    assigned: bool
    prior: float
    terms: list[TermOut]


class ExplainedOut(AnswerBody):
    """Why a text got its categories."""

    version: int
    categories: list[CategoryOut]
    unseen_share: float
    unseen_terms: list[str]


class CorrectionIn(RequestBody):
    """The categories that a text should have had; none if it belongs to no category."""

    text: Row
    categories: list[Label] = Field(max_length=100)


class CorrectedOut(AnswerBody):
    """The number of the event that keeps a correction."""

    event: int


class VersionOut(AnswerBody):
    """A version of a model."""

    version: int
    at: str
    user: str
    current: bool


class VersionIn(RequestBody):
    """The version that shall answer."""

    version: Annotated[int, Field(ge=1)]


class DriftOut(AnswerBody):
    """Whether the newest texts differ from those of the training, or from the first ones.

    `words` is the p-value of a Kolmogorov-Smirnov test of the share of unknown words against
    documents held out of the training, `probabilities` that of the highest probability against the
    first texts that this version answered.
    """

    n_texts: int
    words: float | None
    probabilities: float | None
    found: bool


class UseOut(AnswerBody):
    """What the current version was asked since it was loaded."""

    n_requests: int
    n_texts: int
    n_unsure: int
    seconds: float
    categories: dict[str, int]
    drift: DriftOut | None


class ModelOut(AnswerBody):
    """A model, and what is to be expected of it; `trouble` is why it cannot answer."""

    name: str
    version: int
    at: str
    user: str
    categories: list[str]
    multilabel: bool
    fields: list[str]
    quality: str | None
    n_corrections: int
    use: UseOut | None
    trouble: str | None
