"""Few features, three classifiers: the tables of Qiu, Huang & Wu.

ltc vectors of stemmed words (Porter, letters only, English stop words left out); 20 Newsgroups with words of at least
two documents. Every document gets one category (RCut, t = 1), which caps Reuters at 89.3. What the paper leaves open:
topics start from "nndsvd" or "nndsvda", whichever gives kNN more hits by leave-one-out on 2,000 training documents,
and k is chosen in the same way; a document without any of the chosen words gets the largest category of the training
documents without any; the SVM is libsvm's with a radial kernel, C = 10, gamma = 1 / (features x variance), a document
learned once under each of its categories; CHI is the largest over categories.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.svm import SVC

from bayesift.evaluation import bootstrap_f1
from bayesift.features import SelectTerms
from bayesift.models.topics import SparseNMF, TopicSimilarity
from bayesift.models.topics.neighbours import chosen_neighbours, leave_one_out, nearest
from bayesift.models.topics.similarity import squared_distances
from bayesift.reproduce.corpora import corpus_part
from bayesift.text import TermVectorizer

Array = np.ndarray[Any, Any]

SELECTIONS: dict[str, tuple[str, Any]] = {
    "DF": ("document-frequency", "max"),
    "CHI": ("chi2", "max"),
    "OCFS": ("ocfs", "weighted"),
}
LARGEST_TRIED_TWICE = 64  # topics; more of them begin in one way, for the time it takes


class Split(NamedTuple):
    """Vectors and categories (dense indicators) of training and test documents."""

    train: Any
    train_categories: Array
    test: Any
    test_categories: Array


@lru_cache(maxsize=1)
def split_of(corpus: str, quick: bool) -> Split:
    """A corpus as vectors."""
    documents = corpus_part(corpus, quick)
    train, test = documents.split("train"), documents.split("test")
    vectorizer = TermVectorizer(
        weighting="ltc",
        stop_words="english",
        characters="letters",
        stemmer="porter",
        min_df=1 if corpus == "reuters-labelled" else 2,
    )
    X = vectorizer.fit_transform(train.texts)
    return Split(X, train.indicator.toarray(), vectorizer.transform(test.texts), test.indicator.toarray())


def measure_features(
    *, corpus: str, selection: str, features: int, classifiers: list[str], quick: bool, seed: int
) -> dict[str, Any]:
    """Micro F1 of classifiers on so many features, in per cent."""
    split = split_of(corpus, quick)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        train, test = features_of(selection, features, split)
    result = {}
    for name in classifiers:
        scores = CLASSIFIERS[name](train, test, split.train_categories)
        decided = np.zeros(scores.shape, dtype=bool)
        decided[np.arange(len(scores)), np.argmax(scores, axis=1)] = True
        micro = bootstrap_f1(split.test_categories, decided, random_state=seed).micro
        result[name] = micro.times(100)
    return result


def features_of(selection: str, k: int, split: Split) -> tuple[Array, Array]:
    """So many features of training and test documents, in length one."""
    if selection == "SNMF":
        return _topics_of(k, split)
    by, average = SELECTIONS[selection]
    chosen = SelectTerms(by=by, k=k, average=average).fit(split.train, split.train_categories)
    dense = [sparse.csr_array(chosen.transform(X)).toarray() for X in (split.train, split.test)]
    return normalize(dense[0]), normalize(dense[1])


def _topics_of(k: int, split: Split) -> tuple[Array, Array]:
    """Codes of length one, from the start whose codes leave-one-out on training documents prefers."""
    members, found = sparse.csr_array(split.train_categories.T), []
    for start in ("nndsvd", "nndsvda") if k <= LARGEST_TRIED_TWICE else ("nndsvd",):
        encoder = SparseNMF(n_components=k, importance="variance", alpha=1.0, start=start, max_iter=200)
        train = normalize(encoder.fit(split.train).transform(split.train))
        hits = leave_one_out(train, members, _cosines, np.random.RandomState(0)).values()
        found.append((max(hits), train, encoder))
    _, train, encoder = max(found, key=lambda tried: tried[0])
    return train, normalize(encoder.transform(split.test))


def _cosines(distances: Array) -> Array:
    """Of points of length one, by their squared distances."""
    return 1 - distances / 2


def _by_neighbours(train: Array, test: Array, categories: Array) -> Array:
    """Scores of kNN, cosines as votes; documents without any feature are like one another."""
    spoken, found = train.any(axis=1), test.any(axis=1)
    silent = categories if spoken.all() else categories[~spoken]
    scores = np.tile(silent.mean(axis=0), (len(test), 1))
    scores[found] = _votes(train[spoken], test[found], categories[spoken], _cosines)
    return scores


def _by_additive_regression(train: Array, test: Array, categories: Array) -> Array:
    """Scores of the nearest by `TopicSimilarity`, their probabilities as votes."""
    similarity = TopicSimilarity().fit(train, categories)

    def weigh(distances: Array) -> Array:
        return np.asarray(expit(similarity.log_odds_at(distances)))

    return _votes(similarity.points(train), similarity.points(test), categories, weigh)


def _votes(train: Array, test: Array, categories: Array, weigh: Callable[[Array], Array]) -> Array:
    members = sparse.csr_array(categories.T)
    k = chosen_neighbours(train, members, weigh, np.random.RandomState(0))
    places, distances = nearest(test, train, k)
    scores: Array = np.einsum("ik,ikc->ic", weigh(distances), categories[places]) + 1e-9 * categories.mean(axis=0)
    return scores


def _by_support_vectors(train: Array, test: Array, categories: Array) -> Array:
    """The class libsvm decides for, as an indicator; kernel values come from two matrix products."""
    documents, labels = np.nonzero(categories)
    learned = train[documents]
    gamma = 1 / (learned.shape[1] * learned.var())
    machine = SVC(C=10.0, kernel="precomputed").fit(_radial(learned, learned, gamma), labels)
    indicator: Array = np.eye(categories.shape[1])[machine.predict(_radial(test, learned, gamma))]
    return indicator


def _radial(points: Array, others: Array, gamma: float) -> Array:
    """exp(-gamma |p - o|^2), points x others."""
    kernel = squared_distances(points, others)
    kernel *= -gamma
    return np.exp(kernel, out=kernel)


CLASSIFIERS: dict[str, Callable[[Array, Array, Array], Array]] = {
    "RCut kNN": _by_neighbours,
    "SVM": _by_support_vectors,
    "Additive LR": _by_additive_regression,
}
