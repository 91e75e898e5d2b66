"""Classify texts: vectorizer, selection, model and decision rule in one estimator."""

from bayesift.classifier.abstention import Abstention, Doubts
from bayesift.classifier.drift import CalibrationWindow, ChangedWord, StreamDrift
from bayesift.classifier.explanation import CategoryExplanation, Explanation, TermContribution
from bayesift.classifier.labels import LabelForm, Labels, read_labels
from bayesift.classifier.predictions import Evaluation, Predictions, deciding_terms, evaluate
from bayesift.classifier.quality import CategoryQuality, ExpectedQuality, LaterQuality, Repeats
from bayesift.classifier.stream import StreamAnswer, StreamFolder, StreamItem, StreamLearner
from bayesift.classifier.text_classifier import TextClassifier
from bayesift.classifier.texts import Texts, read_texts
from bayesift.classifier.top_terms import CategoryWords, WordWeight

__all__ = [
    "Abstention",
    "CalibrationWindow",
    "CategoryExplanation",
    "CategoryQuality",
    "CategoryWords",
    "ChangedWord",
    "Doubts",
    "Evaluation",
    "ExpectedQuality",
    "Explanation",
    "LabelForm",
    "Labels",
    "LaterQuality",
    "Predictions",
    "Repeats",
    "StreamAnswer",
    "StreamDrift",
    "StreamFolder",
    "StreamItem",
    "StreamLearner",
    "TermContribution",
    "TextClassifier",
    "Texts",
    "WordWeight",
    "deciding_terms",
    "evaluate",
    "read_labels",
    "read_texts",
]
