"""Parameters that several routes take."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from bayesift.service.schemas import DocumentId, Name

ProfileName = Annotated[Name, Path(description="Name of the profile.")]
DocumentName = Annotated[DocumentId, Path(description="Id of the document.")]
Limit = Annotated[int, Query(ge=1, le=500, description="The most that are given.")]
