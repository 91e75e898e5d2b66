from bayesift.classifier import TextClassifier, evaluate
from bayesift.errors import (
    BayesiftError,
    CorpusNotFoundError,
    DataError,
    DataWarning,
    MissingExtraError,
)
from bayesift.records import Corpus, Document
from bayesift.report import (
    model_card,
    plot_confusion,
    plot_learning_curve,
    plot_reliability,
    plot_top_terms,
)
from bayesift.text import TermVectorizer

__version__: str

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
    "evaluate",
    "model_card",
    "plot_confusion",
    "plot_learning_curve",
    "plot_reliability",
    "plot_top_terms",
]
