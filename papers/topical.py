"""Qiu, Huang & Wu: few features, three classifiers.

ltc vectors of stemmed words (Porter, letters only, English stop words left out); 20 Newsgroups with words of at least
two documents. Every document gets one category (RCut, t = 1), which caps Reuters at 89.3. What the paper leaves open:
topics are initialised by "nndsvd" or "nndsvda", whichever gives kNN more hits by leave-one-out on 2,000 training
documents, and k is chosen in the same way; a document without any of the chosen words gets the largest category of
the training documents without any; the SVM is libsvm's with a radial kernel, C = 10, gamma = 1 / (features x
variance), a document learned once under each of its categories; CHI is the largest over categories.
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

from bayesift.arrays import Array
from bayesift.evaluation import bootstrap_f1
from bayesift.features import SelectTerms
from bayesift.models.baselines.neighbors import nearest_points, squared_distances
from bayesift.models.topics import SparseNMF, TopicSimilarity
from bayesift.models.topics.classifier import choose_n_neighbors, leave_one_out
from bayesift.text import TermVectorizer
from papers.corpora import corpus_part
from papers.experiment import Absent, Experiment, Extent, Grid, Task, reading

SELECTIONS: dict[str, tuple[str, Any]] = {
    "DF": ("document-frequency", "max"),
    "CHI": ("chi2", "max"),
    "OCFS": ("ocfs", "weighted"),
}
LARGEST_TRIED_TWICE = 64  # topics; more of them use one initialisation, which saves time


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
    """Micro F1 of classifiers on a number of features, in per cent."""
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
    """The features of training and test documents, scaled to length one."""
    if selection == "SNMF":
        return _topics_of(k, split)
    by, average = SELECTIONS[selection]
    chosen = SelectTerms(by=by, k=k, average=average).fit(split.train, split.train_categories)
    dense = [sparse.csr_array(chosen.transform(X)).toarray() for X in (split.train, split.test)]
    return normalize(dense[0]), normalize(dense[1])


def _topics_of(k: int, split: Split) -> tuple[Array, Array]:
    """Codes of length one, by the initialisation with more leave-one-out hits on training documents."""
    members, found = sparse.csr_array(split.train_categories.T), []
    for start in ("nndsvd", "nndsvda") if k <= LARGEST_TRIED_TWICE else ("nndsvd",):
        encoder = SparseNMF(n_components=k, importance="variance", alpha=1.0, start=start, max_iter=200)
        train = normalize(encoder.fit(split.train).transform(split.train))
        hits = leave_one_out(train, members, _cosines, np.random.RandomState(0)).values()
        found.append((max(hits), train, encoder))
    _, train, encoder = max(found, key=lambda tried: tried[0])
    return train, normalize(encoder.transform(split.test))


def _cosines(distances: Array) -> Array:
    """Cosines of points of length one from their squared distances."""
    return 1 - distances / 2


def _by_neighbours(train: Array, test: Array, categories: Array) -> Array:
    """Scores of kNN with cosines as votes; documents without any feature are alike."""
    filled, found = train.any(axis=1), test.any(axis=1)
    empty = categories if filled.all() else categories[~filled]
    scores = np.tile(empty.mean(axis=0), (len(test), 1))
    scores[found] = _votes(train[filled], test[found], categories[filled], _cosines)
    return scores


def _by_additive_regression(train: Array, test: Array, categories: Array) -> Array:
    """Scores of the nearest by `TopicSimilarity`, their probabilities as votes."""
    similarity = TopicSimilarity().fit(train, categories)

    def weigh(distances: Array) -> Array:
        return np.asarray(expit(similarity.log_odds_at(distances)))

    return _votes(similarity.points(train), similarity.points(test), categories, weigh)


def _votes(train: Array, test: Array, categories: Array, weigh: Callable[[Array], Array]) -> Array:
    members = sparse.csr_array(categories.T)
    k = choose_n_neighbors(train, members, weigh, np.random.RandomState(0))
    places, distances = nearest_points(test, train, k)
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

FEATURES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_QUICK = (4, 16)


def _table(name: str, corpus: str, *, most_topics: int) -> Experiment:
    """A row per classifier and selection, a column per number of features; more topics are left out."""

    def grid(extent: Extent) -> Grid:
        found: Grid = {}
        for selection in (*SELECTIONS, "SNMF"):
            for features in FEATURES:
                for classifier in ("RCut kNN", "SVM", *(("Additive LR",) if selection == "SNMF" else ())):
                    task = _task(corpus, selection, features, classifier, extent)
                    absent = _left_out(selection, features, most_topics, extent)
                    found[f"{classifier}, {selection}", str(features)] = absent or reading(task, classifier)
        return found

    return Experiment(name, grid)


def _left_out(selection: str, features: int, most_topics: int, extent: Extent) -> Absent | None:
    if extent.quick:
        return None if features in _QUICK else Absent("left out of a quick run")
    if selection == "SNMF" and features > most_topics:
        return Absent(f"left out: more than {most_topics} topics take minutes a cell, and the run is to end in an hour")
    return None


def _task(corpus: str, selection: str, features: int, classifier: str, extent: Extent) -> Task:
    # topics are found once for all classifiers
    classifiers = list(CLASSIFIERS) if selection == "SNMF" else [classifier]
    return Task.of(
        measure_features,
        f"topical: {corpus}, {', '.join(classifiers)} on {features} features by {selection}",
        corpora=(corpus,),
        corpus=corpus,
        selection=selection,
        features=features,
        classifiers=classifiers,
        **extent.settings,
    )


EXPERIMENTS = [
    _table("topical:table-1", "reuters-labelled", most_topics=512),
    _table("topical:table-2", "20newsgroups", most_topics=256),
]
