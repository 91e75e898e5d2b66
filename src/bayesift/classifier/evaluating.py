"""A classifier measured on a corpus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.classifier.text_classifier import TextClassifier
from bayesift.errors import DataError
from bayesift.evaluation import Scores, evaluate_decisions
from bayesift.records import Corpus, indicator_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Evaluation:
    """What a classifier did on a corpus, and how well.

    Parameters
    ----------
    corpus : the documents
    truth : documents x categories of the classifier, as labelled
    decisions, scores : documents x categories, as the classifier gave them
    measures : precision, recall, F1, calibration and so on
    unknown_categories : categories of the corpus the classifier does not know; their labels are left out
    """

    corpus: Corpus
    truth: sparse.csr_array
    decisions: Array
    scores: Array
    measures: Scores
    unknown_categories: tuple[str, ...]


def evaluate(classifier: TextClassifier, corpus: Corpus) -> Evaluation:
    """Decide the documents of a labelled corpus and measure the decisions.

    Examples
    --------
    >>> from bayesift.records import Document
    >>> documents = [Document("1", "wheat corn", categories=("grain",)), Document("2", "oil", categories=("crude",))]
    >>> corpus = Corpus(tuple(documents), ("crude", "grain"))
    >>> evaluate(TextClassifier().fit_corpus(corpus), corpus).measures.accuracy
    1.0
    """
    known = set(classifier.categories_)
    unknown = tuple(category for category in corpus.categories if category not in known)
    if len(unknown) == len(corpus.categories):
        raise DataError("the model knows none of the categories of the corpus; is it labelled, and the right one?")
    truth = indicator_of((document.categories for document in corpus), classifier.categories_, skip_unknown=True)
    decisions, scores = classifier.decide(corpus.texts if corpus.vectors is None else corpus.vectors)
    return Evaluation(corpus, truth, decisions, scores, _measure(classifier, truth, decisions, scores), unknown)


def _measure(classifier: TextClassifier, truth: sparse.csr_array, decisions: Array, scores: Array) -> Scores:
    """The measures; where every document has one category of several, it is one forecast over all of them."""
    names = list(classifier.categories_)
    probabilities = scores if classifier.has_probabilities_ else None
    if classifier.multilabel_ or (np.diff(truth.indptr) != 1).any():
        return evaluate_decisions(truth, decisions, probabilities, categories=names)
    decided = [names[j] for j in np.argmax(decisions, axis=1)]
    return evaluate_decisions([names[j] for j in truth.indices], decided, probabilities, categories=names)
