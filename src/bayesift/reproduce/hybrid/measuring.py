"""Pairs of newsgroups, told apart by a support vector machine, naive Bayes, and both mixed.

The paper does not say which texts, cuts of Zipf's curve, C or split it took. Here: the by-date split; terms in at least
three training documents and not among the 50 most frequent; C = 1; alpha by five-fold cross-validation on the training
part.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bayesift.evaluation import bootstrap_mean
from bayesift.models import HybridClassifier, NaiveBayesClassifier, NBSVMClassifier, SupportVectorClassifier
from bayesift.models.hyperplanes.hybrid import heaviest, hyperplanes_of
from bayesift.reproduce.corpora import corpus_part
from bayesift.text import TermVectorizer

Array = np.ndarray[Any, Any]

SYSTEMS = {
    "SVM": SupportVectorClassifier,
    "NBC": NaiveBayesClassifier,
    "Hybrid": HybridClassifier,
    "NBSVM": NBSVMClassifier,
}
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)


class Pair(NamedTuple):
    """Vectors and labels of the training and test documents of two groups, and the vectorizer."""

    X: Any
    y: Array
    X_test: Any
    y_test: Array
    vectorizer: TermVectorizer


@lru_cache(maxsize=2)
def pair_of(first: str, second: str, weighting: Any, body: bool, quick: bool) -> Pair:
    """Two groups as vectors; `body` leaves the headers out."""
    corpus, parts = corpus_part("20newsgroups", quick), []
    for split in ("train", "test"):
        documents = [d for d in corpus.split(split) if d.categories[0] in (first, second)]
        texts = [d.text.partition("\n\n")[2] if body else d.text for d in documents]
        parts.append((texts, np.array([d.categories[0] for d in documents])))
    (train_texts, y), (test_texts, y_test) = parts
    vectorizer = TermVectorizer(weighting=weighting, min_df=3, drop_frequent=50)
    return Pair(vectorizer.fit_transform(train_texts), y, vectorizer.transform(test_texts), y_test, vectorizer)


def measure_pair(*, first: str, second: str, weighting: str, body: bool, quick: bool, seed: int) -> dict[str, Any]:
    """Accuracy of every system in per cent; NBSVM, which the paper does not have, sees presence of terms."""
    pair = pair_of(first, second, weighting, body, quick)
    result: dict[str, Any] = {}
    for name, make in SYSTEMS.items():
        X, X_test = (pair.X.sign(), pair.X_test.sign()) if name == "NBSVM" else (pair.X, pair.X_test)
        right = make().fit(X, pair.y).predict(X_test) == pair.y_test
        result[name] = [100 * part for part in bootstrap_mean(right, random_state=seed) if part is not None]
    return result


def curves_of_pair(*, first: str, second: str, quick: bool, seed: int) -> dict[str, Any]:
    """Zipf's curve, accuracy over alpha, and accuracy over the share of features kept, on raw counts of bodies."""
    pair = pair_of(first, second, "tf", True, quick)
    return {"zipf": _zipf(pair), "alpha": _by_alpha(pair), "kept": _by_share(pair)}


def _zipf(pair: Pair) -> dict[str, Any]:
    counts = np.sort(np.asarray(pair.X.sum(axis=0)).ravel())[::-1]
    ranks = np.unique(np.geomspace(1, len(counts), 60).astype(int))
    factor = counts.sum() / np.sum(1 / np.arange(1, len(counts) + 1))
    return {
        "terms": [[int(rank), float(counts[rank - 1])] for rank in ranks],
        "f = k / r": [[int(rank), float(factor / rank)] for rank in ranks],
    }


def _by_alpha(pair: Pair) -> dict[str, Any]:
    alphas = np.linspace(0, 1, 21)
    accuracies = [
        100 * float(np.mean(HybridClassifier(alpha=float(a)).fit(pair.X, pair.y).predict(pair.X_test) == pair.y_test))
        for a in alphas
    ]
    lines = {"hybrid": [[float(a), found] for a, found in zip(alphas, accuracies, strict=True)]}
    for name in ("SVM", "NBC"):
        found = 100 * float(np.mean(SYSTEMS[name]().fit(pair.X, pair.y).predict(pair.X_test) == pair.y_test))
        lines[name] = [[0.0, found], [1.0, found]]
    return lines


def _by_share(pair: Pair) -> dict[str, Any]:
    classes, lines = np.unique(pair.y), {}
    for name in ("SVM", "NBC"):
        weights, intercepts = hyperplanes_of(SYSTEMS[name]().fit(pair.X, pair.y))
        kept = [pair.X_test @ heaviest(weights, share)[0] + intercepts[0] > 0 for share in SHARES]
        right = [100 * float(np.mean(classes[k.astype(int)] == pair.y_test)) for k in kept]
        lines[name] = [[share, found] for share, found in zip(SHARES, right, strict=True)]
    return lines
