"""Naive Bayes fitted to counts: exclusive classes, and many categories at once."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB

from bayesift.corpora import load_newsgroups, load_reuters
from bayesift.models.naive_bayes import NaiveBayesClassifier
from bayesift.text import TermVectorizer
from benchmarks.corpora import if_present
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset


@cache
@if_present
def newsgroups() -> tuple[Any, Any]:
    """Return counts and labels of the training articles of 20 Newsgroups."""
    train = load_newsgroups().split("train")
    return TermVectorizer().fit_transform(train.texts), np.array(train.labels)


@cache
@if_present
def reuters() -> tuple[Any, Any]:
    """Return counts and the indicator of 90 categories of Reuters' training stories (ModApte)."""
    train = load_reuters(subset="modapte").split("train")
    return TermVectorizer().fit_transform(train.texts), train.indicator


def _peer(data: tuple[Any, Any]) -> Any:
    """Return scikit-learn's classifier for labels, or one per category for an indicator."""
    X, y = data
    return (MultinomialNB() if y.ndim == 1 else OneVsRestClassifier(MultinomialNB())).fit(
        X, y
    ), X[:500]


def _ours(data: tuple[Any, Any]) -> Any:
    X, y = data
    return NaiveBayesClassifier().fit(X, y), X[:500]


def _check(results: dict[str, Any]) -> None:
    (ours, X), (theirs, _) = results["bayesift"], results["scikit-learn"]
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-10
    )


def _benchmark(name: str, peer: str, dataset: Dataset, asked: float) -> Benchmark:
    return Benchmark(
        name=name,
        objective=f"fit naive Bayes (Laplace, alpha 1) to counts; the peer is {peer}",
        datasets=[dataset],
        contenders=[Contender("bayesift", _ours), Contender("scikit-learn", _peer)],
        comparisons=[Comparison("bayesift", "scikit-learn", asked=asked)],
        check=_check,
        repeats=11,
    )


BENCHMARK = _benchmark(
    "naive_bayes", "MultinomialNB", Dataset("20 Newsgroups, 20 classes", newsgroups), asked=1
)
BENCHMARK_MULTILABEL = _benchmark(
    "naive_bayes_multilabel",
    "OneVsRestClassifier(MultinomialNB())",
    Dataset("Reuters-21578 ModApte, 90 categories", reuters),
    asked=10,
)
