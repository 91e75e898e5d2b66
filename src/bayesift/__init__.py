"""Bayesian text categorization and filtering."""

from __future__ import annotations

__version__ = "0.3.0"

# Names are looked up on first use, so that `import bayesift` stays fast. The stub `__init__.pyi`
# tells them to editors and type checkers.
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
    "evaluate": "bayesift.classifier",
    "model_card": "bayesift.report",
    "plot_confusion": "bayesift.report",
    "plot_learning_curve": "bayesift.report",
    "plot_reliability": "bayesift.report",
    "plot_top_terms": "bayesift.report",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'bayesift' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
