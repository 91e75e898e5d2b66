"""Few features, three classifiers: the tables of Qiu, Huang & Wu.

ltc vectors of stemmed words (Porter, letters only, English stop words left out); 20 Newsgroups with words of at least
two documents. Every document gets one category (RCut, t = 1), which caps Reuters at 89.3. What the paper leaves open:
k is the best of 1, 3, 5, 10, 15, 20, 30 by leave-one-out on 2,000 training documents; a document without any of the
chosen words gets the largest category of the training documents without any; the SVM is libsvm's with a radial
kernel, C = 10, gamma = 1 / (features x variance), a document learned once under each of its categories; CHI is the
largest over categories.
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
from bayesift.models.topics.neighbours import chosen_neighbours, nearest
from bayesift.reproduce.corpora import corpus_part
from bayesift.text import TermVectorizer

Array = np.ndarray[Any, Any]

SELECTIONS: dict[str, tuple[str, Any]] = {
    "DF": ("document-frequency", "max"),
    "CHI": ("chi2", "max"),
    "OCFS": ("ocfs", "weighted"),
}
_CACHE = 1000  # megabytes of kernel values


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
        result[name] = [100 * part for part in micro if part is not None]
    return result


def features_of(selection: str, k: int, split: Split) -> tuple[Array, Array]:
    """So many features of training and test documents, in length one."""
    if selection == "SNMF":
        encoder = SparseNMF(n_components=k, max_iter=200).fit(split.train)
        return normalize(encoder.transform(split.train)), normalize(encoder.transform(split.test))
    by, average = SELECTIONS[selection]
    chosen = SelectTerms(by=by, k=k, average=average).fit(split.train, split.train_categories)
    dense = [sparse.csr_array(chosen.transform(X)).toarray() for X in (split.train, split.test)]
    return normalize(dense[0]), normalize(dense[1])


def _by_neighbours(train: Array, test: Array, categories: Array) -> Array:
    """Scores of kNN, cosines as votes; documents without any feature are like one another."""
    spoken, found = train.any(axis=1), test.any(axis=1)
    silent = categories if spoken.all() else categories[~spoken]
    scores = np.tile(silent.mean(axis=0), (len(test), 1))
    scores[found] = _votes(train[spoken], test[found], categories[spoken], lambda distances: 1 - distances / 2)
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
    """The class libsvm decides for, as an indicator."""
    documents, labels = np.nonzero(categories)
    machine = SVC(C=10.0, gamma="scale", cache_size=_CACHE).fit(train[documents], labels)
    indicator: Array = np.eye(categories.shape[1])[machine.predict(test)]
    return indicator


CLASSIFIERS: dict[str, Callable[[Array, Array, Array], Array]] = {
    "RCut kNN": _by_neighbours,
    "SVM": _by_support_vectors,
    "Additive LR": _by_additive_regression,
}
