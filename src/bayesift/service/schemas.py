"""Types and bodies that several products share; the schemas of the OpenAPI description."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

Point = TypeVar("Point")


def _storable(text: str) -> str:
    """Refuse text that a database cannot store."""
    if "\x00" in text:
        raise ValueError("must not hold the character U+0000")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must not hold half of a surrogate pair") from None
    return text


def printable(name: str) -> str:
    """Refuse a name with characters that cannot be printed."""
    if not name.isprintable():
        raise ValueError("must hold printable characters only")
    return name


def thinned(points: list[Point], most: int) -> list[Point]:
    """Return at most about so many points of a curve, evenly spread, with the last one."""
    step = -(-len(points) // most)
    if (len(points) - 1) % step == 0:
        return points[::step]
    return [*points[::step], points[-1]]


Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern=r"^[^/\s]([^/]*[^/\s])?$"),
    AfterValidator(printable),
]
DocumentId = Annotated[
    str, StringConstraints(min_length=1, max_length=200), AfterValidator(printable)
]
Word = Annotated[
    str, StringConstraints(min_length=1, max_length=100), AfterValidator(printable)
]
Text = Annotated[str, AfterValidator(_storable)]
Strength = Annotated[float, Field(ge=-10, le=10, allow_inf_nan=False)]
FileName = Annotated[str, Query(min_length=1, max_length=200, pattern=r"^[^/\\\x00-\x1f]+$")]


class RequestBody(BaseModel):
    """A body that refuses fields it does not know."""

    model_config = ConfigDict(extra="forbid")


class AnswerBody(BaseModel):
    """A body that can be made of an object with the same attributes."""

    model_config = ConfigDict(from_attributes=True)


class ProblemOut(BaseModel):
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str


class WordWeightOut(BaseModel):
    """A word and its weight; `forms` are the inflections found in the document."""

    word: str
    weight: float
    forms: list[str] = []


class HealthOut(BaseModel):
    """The state of the service and the number of the last event."""

    status: Literal["ok"]
    events: int
    filters: int
