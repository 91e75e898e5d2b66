"""What a profile has come to: how much is left to find, and what it is about."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from bayesift.service.access import Reader, TheService
from bayesift.service.estimates import stopping_estimate
from bayesift.service.parameters import ProfileName
from bayesift.service.schemas import Share, StoppingOut, TopicOut
from bayesift.service.topics import topics_of

router = APIRouter(prefix="/api/profiles/{name}", tags=["insight"])


@router.get("/stopping")
def stopping(
    name: ProfileName, person: Reader, service: TheService, recall: Annotated[Share, Query()] = 0.95
) -> StoppingOut:
    """How many relevant documents are left among those the profile has seen."""
    return stopping_estimate(service, name, recall)


@router.get("/topics")
def topics(
    name: ProfileName, person: Reader, service: TheService, n: Annotated[int, Query(ge=1, le=30)] = 8
) -> list[TopicOut]:
    """What the retrieved documents are about."""
    return topics_of(service, name, n)
