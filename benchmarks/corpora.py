"""The texts benchmarks run on."""

from __future__ import annotations

from functools import cache

from bayesift.datasets import load_newsgroups, load_pydocs, load_reuters
from bayesift.errors import CorpusNotFoundError


@cache
def reuters_and_newsgroups() -> list[str] | None:
    """All 40,424 texts of Reuters-21578 and 20 Newsgroups."""
    try:
        return load_reuters().texts + load_newsgroups().texts
    except CorpusNotFoundError:
        return None


@cache
def pydocs() -> list[str]:
    """The corpus that is always there."""
    return load_pydocs().texts
