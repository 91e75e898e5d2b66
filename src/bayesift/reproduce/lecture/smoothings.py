"""Smoothings of naive Bayes, all 20 groups."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from bayesift.evaluation import bootstrap_f1, bootstrap_mean
from bayesift.models import (
    AbsoluteDiscounting,
    Dirichlet,
    HierarchicalShrinkage,
    JelinekMercer,
    Laplace,
    MaximumLikelihood,
    NaiveBayesClassifier,
)
from bayesift.reproduce.corpora import corpus_part
from bayesift.reproduce.experiment import Absent, Experiment, Extent, Grid, Reading, Task, reading
from bayesift.text import TermVectorizer

COLUMNS = ("accuracy", "macro F1", "log loss")
SMOOTHINGS: dict[str, Callable[[Any], Any]] = {
    "none (maximum likelihood)": lambda parents: MaximumLikelihood(),
    "Laplace, α = 1": lambda parents: Laplace(),
    "Laplace, α = 0.01": lambda parents: Laplace(0.01),
    "Dirichlet, μ = 2000": lambda parents: Dirichlet(),
    "Dirichlet, μ = 30000": lambda parents: Dirichlet(30_000.0),
    "Jelinek-Mercer, λ = 0.5": lambda parents: JelinekMercer(),
    "Jelinek-Mercer, λ = 0.95": lambda parents: JelinekMercer(0.95),
    "absolute discounting, δ = 0.7": lambda parents: AbsoluteDiscounting(),
    "hierarchical": HierarchicalShrinkage,
}


@lru_cache(maxsize=1)
def _counts(quick: bool) -> tuple[Any, Any, Any, Any, Any]:
    corpus = corpus_part("20newsgroups", quick)
    train, test = corpus.split("train"), corpus.split("test")
    vectorizer = TermVectorizer()
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    return X, np.array(train.labels), X_test, np.array(test.labels), dict(corpus.parents)


def measure_smoothing(*, smoothing: str, quick: bool, seed: int) -> dict[str, Any]:
    """Accuracy and macro F1 in per cent, and log loss in nats."""
    X, y, X_test, y_test, parents = _counts(quick)
    model = NaiveBayesClassifier(smoothing=SMOOTHINGS[smoothing](parents)).fit(X, y)
    probabilities = model.predict_proba(X_test)
    predicted = model.classes_[np.argmax(probabilities, axis=1)]
    columns = np.searchsorted(model.classes_, y_test)
    each = -np.log(np.maximum(probabilities[np.arange(len(y_test)), columns], 1e-15))
    accuracy, macro = bootstrap_mean(predicted == y_test, random_state=seed), bootstrap_f1(y_test, predicted).macro
    return {
        "accuracy": [100 * part for part in accuracy if part is not None],
        "macro F1": [100 * part for part in macro if part is not None],
        "log loss": list(bootstrap_mean(each, random_state=seed)),
    }


def _grid(extent: Extent) -> Grid:
    grid: dict[tuple[str, str], Reading | Absent] = {}
    for smoothing in SMOOTHINGS:
        label = f"lecture: smoothing, {smoothing}"
        task = Task.of(measure_smoothing, label, corpora=("20newsgroups",), smoothing=smoothing, **extent.settings)
        grid |= {(smoothing, column): reading(task, column) for column in COLUMNS}
    return grid


EXPERIMENT = Experiment("lecture:smoothings", _grid)
