"""The problem that races of linear models share."""

from __future__ import annotations

from functools import cache
from typing import Any

from bayesift.datasets import load_reuters
from bayesift.text import TermVectorizer
from benchmarks.corpora import if_present

RATE, GAP = 0.1, 1e-6


@cache
@if_present
def reuters() -> tuple[Any, Any]:
    """Unit-length ltc vectors of the training documents of Reuters-21578 (ModApte), words in at least three of them."""
    train = load_reuters(subset="modapte").split("train")
    return TermVectorizer(weighting="ltc", min_df=3).fit_transform(train.texts), train.indicator
