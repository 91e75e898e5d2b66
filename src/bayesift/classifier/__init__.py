"""Text in, categories out: vectorizer, selection, model and decision rule in one, saved without pickle."""

from bayesift.classifier.answers import Answers, deciding_terms
from bayesift.classifier.evaluating import Evaluation, evaluate
from bayesift.classifier.explanation import CategoryExplanation, Explanation, TermContribution
from bayesift.classifier.text_classifier import TextClassifier

__all__ = [
    "Answers",
    "CategoryExplanation",
    "Evaluation",
    "Explanation",
    "TermContribution",
    "TextClassifier",
    "deciding_terms",
    "evaluate",
]
