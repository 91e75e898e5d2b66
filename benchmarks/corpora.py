"""The texts benchmarks run on."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from bayesift.corpora import load_newsgroups, load_pydocs, load_reuters
from bayesift.errors import CorpusNotFoundError

Arguments = ParamSpec("Arguments")
Data = TypeVar("Data")


def if_present(prepare: Callable[Arguments, Data]) -> Callable[Arguments, Data | None]:
    """Let a function return None if its corpus is not in the data directory."""

    @wraps(prepare)
    def prepared(*arguments: Arguments.args, **options: Arguments.kwargs) -> Data | None:
        try:
            return prepare(*arguments, **options)
        except CorpusNotFoundError:
            return None

    return prepared


@cache
@if_present
def reuters_and_newsgroups() -> list[str]:
    """All 40,424 texts of Reuters-21578 and 20 Newsgroups."""
    return load_reuters().texts + load_newsgroups().texts


@cache
def pydocs() -> list[str]:
    """Return the texts of the corpus that needs no download."""
    return load_pydocs().texts
