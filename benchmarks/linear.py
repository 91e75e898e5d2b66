"""The problem that races of linear models share."""

from __future__ import annotations

from functools import cache
from typing import Any

from bayesift.datasets import load_reuters
from bayesift.errors import CorpusNotFoundError
from bayesift.text import TermVectorizer

RATE, GAP = 0.1, 1e-6


@cache
def reuters() -> tuple[Any, Any] | None:
    """Unit-length ltc vectors of the training documents of Reuters-21578 (ModApte), words in at least three of them."""
    try:
        train = load_reuters(subset="modapte").split("train")
    except CorpusNotFoundError:
        return None
    return TermVectorizer(weighting="ltc", min_df=3).fit_transform(train.texts), train.indicator
