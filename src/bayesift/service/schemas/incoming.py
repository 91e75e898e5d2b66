"""What goes in, as JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints


def _storable(text: str) -> str:
    """Text that every database holds."""
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


class TokenIn(_In):
    """A person's token."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]


class UserIn(_In):
    """A person to let in."""

    name: Name
    role: Literal["reader", "reviewer", "admin"]


class DocumentIn(_In):
    """A document; one of the same id that comes later is passed over."""

    id: DocumentId
    title: Annotated[Text, StringConstraints(max_length=2_000)] = ""
    text: Text


class BatchIn(_In):
    """Documents, learned in this order."""

    documents: list[DocumentIn]


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


class JudgementIn(_In):
    """What a person says of a document."""

    document: DocumentId
    relevant: bool


class WordIn(_In):
    """What a word is worth: 1 for, -1 against, 0 takes it back."""

    word: Word
    strength: Strength


class RetentionIn(_In):
    """Which texts go: those that came before a time, or all but the newest."""

    before: Annotated[str, StringConstraints(max_length=40)] | None = None
    keep: Annotated[int, Field(ge=0, le=10_000_000)] | None = None
