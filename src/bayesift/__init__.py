"""Bayesian text categorization and filtering."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from bayesift.classifier import TextClassifier
    from bayesift.errors import (
        BayesiftError,
        CorpusNotFoundError,
        DataError,
        DataWarning,
        MissingExtraError,
    )
    from bayesift.records import Corpus, Document
    from bayesift.text import TermVectorizer

__version__ = "0.3.0"

__all__ = [
    "BayesiftError",
    "Corpus",
    "CorpusNotFoundError",
    "DataError",
    "DataWarning",
    "Document",
    "MissingExtraError",
    "TermVectorizer",
    "TextClassifier",
]

# Names are looked up on first use, so that `import bayesift` stays fast.
_HOME = {
    "BayesiftError": "bayesift.errors",
    "Corpus": "bayesift.records",
    "CorpusNotFoundError": "bayesift.errors",
    "DataError": "bayesift.errors",
    "DataWarning": "bayesift.errors",
    "Document": "bayesift.records",
    "MissingExtraError": "bayesift.errors",
    "TermVectorizer": "bayesift.text",
    "TextClassifier": "bayesift.classifier",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bayesift' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
