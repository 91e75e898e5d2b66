"""Adaptive routing: a reader judges groups of documents, those that rank highest after learning.

Drucker, Shahrary & Gibbon (2001) compare learners by the relevant documents found in this way, ten
at a time; the paper on Bayesian online classifiers leaves it for later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.arrays import BoolArray, FloatArray, SparseRows
from bayesift.errors import DataError, nearest
from bayesift.models.baselines import LinearSVM, RocchioClassifier
from bayesift.models.online import (
    OnlineGaussianProcess,
    OnlinePerceptron,
    OnlineStackedClassifier,
)
from bayesift.records import Corpus
from bayesift.text import TermVectorizer

# Those with `partial_fit` learn each group once, the others are fitted to all that was judged: an
# incremental support vector machine that is exact (Cauwenberghs & Poggio 2001) has that solution.
ROUTERS: Mapping[str, Callable[[], Any]] = MappingProxyType(
    {
        "perceptron": partial(OnlinePerceptron, covariance="diagonal", prior_variance=4.0),
        "gp": OnlineGaussianProcess,
        "stack": OnlineStackedClassifier,
        "svm": partial(LinearSVM, loss="hinge", C=1.0),
        "rocchio": RocchioClassifier,
    }
)


@dataclass(frozen=True, eq=False)
class Routing:
    """Shares of the relevant documents found after each group.

    Parameters
    ----------
    topics : categories, each a reader's topic
    n_documents, group : documents of the corpus, and of a group
    recall : by learner, runs x groups
    """

    topics: tuple[str, ...]
    n_documents: int
    group: int
    recall: dict[str, FloatArray]


def route(
    X: SparseRows, relevant: BoolArray, learner: Any, *, start: int, group: int, n_groups: int
) -> FloatArray:
    """Return the share of the relevant documents that were judged after each group.

    The first group are the documents nearest to `start`, itself among them.

    Examples
    --------
    >>> X = sparse.csr_array([[1.0, 0], [0.8, 0.6], [0, 1], [0.6, 0.8], [1, 0], [0, 1]])
    >>> relevant = np.array([True, True, False, False, True, False])
    >>> route(X, relevant, RocchioClassifier(), start=0, group=2, n_groups=2).round(2).tolist()
    [0.67, 1.0]
    """
    nearness = (X @ X[[start]].T).toarray().ravel()
    labels = relevant.astype(np.int64)
    is_judged = np.zeros(len(labels), dtype=bool)
    scores, found = nearness, []
    for _ in range(n_groups):
        order = np.argsort(-scores, kind="stable")
        newest = order[~is_judged[order]][:group]
        is_judged[newest] = True
        found.append(labels[is_judged].sum() / labels.sum())
        if not len(newest):
            continue
        if hasattr(learner, "partial_fit"):
            learner.partial_fit(X[newest], labels[newest], classes=[0, 1])
            scores = learner.predict_proba(X)[:, 1]
        elif (
            len(np.unique(labels[is_judged])) == 2
        ):  # before that there is nothing to tell apart
            scores = learner.fit(X[is_judged], labels[is_judged]).decision_function(X)
    return np.array(found)


def simulate_routing(
    corpus: Corpus,
    learners: Sequence[str] = tuple(ROUTERS),
    *,
    topics: Sequence[str] | None = None,
    relevant: tuple[int, int | None] = (10, None),
    group: int = 10,
    n_groups: int = 10,
    n_starts: int = 3,
    seed: int = 0,
    stemmer: str | None = "porter",
    stop_words: str | None = "english",
    progress: Callable[[int], None] | None = None,
) -> Routing:
    """Route the documents of a corpus for each of its categories.

    Parameters
    ----------
    corpus : documents with categories
    learners : names of `ROUTERS`
    topics : categories to use; by default those with so many documents as `relevant` says
    relevant : minimum and maximum number of documents of a category
    group, n_groups : documents judged at once, and how often
    n_starts : runs of each topic, each from another of its documents
    seed : of the choice of these
    stemmer, stop_words : of the ltc vectors
    progress : called with the number of topics that are done

    Examples
    --------
    >>> from bayesift.records import Document
    >>> documents = [Document(str(i), ["wheat corn", "crude oil"][i % 2],
    ...              categories=[("grain",), ("crude",)][i % 2]) for i in range(20)]
    >>> corpus = Corpus(tuple(documents), ("crude", "grain"))
    >>> routing = simulate_routing(corpus, ["perceptron"], group=5, n_groups=2)
    >>> routing.recall["perceptron"][0].tolist()
    [0.5, 1.0]
    """
    for name in learners:
        if name not in ROUTERS:
            raise ValueError(f"no learner {name!r}; {nearest(name, list(ROUTERS))}")
    if min(group, n_groups, n_starts) < 1:
        raise ValueError("group, n_groups and n_starts must be at least 1")
    chosen = routed_topics(corpus, topics, relevant)
    X = _vectors_of(corpus, stemmer, stop_words)
    truth = sparse.csc_array(corpus.indicator)
    random = np.random.default_rng(seed)
    recall: dict[str, list[FloatArray]] = {name: [] for name in learners}
    for done, topic in enumerate(chosen, 1):
        labels = truth[:, [corpus.categories.index(topic)]].toarray().ravel() > 0
        members = np.flatnonzero(labels)
        starts = random.choice(members, min(n_starts, len(members)), replace=False)
        for start in starts.tolist():
            for name in learners:
                run = route(
                    X, labels, ROUTERS[name](), start=start, group=group, n_groups=n_groups
                )
                recall[name].append(run)
        if progress is not None:
            progress(done)
    return Routing(
        chosen, len(corpus), group, {name: np.vstack(runs) for name, runs in recall.items()}
    )


def routed_topics(
    corpus: Corpus, topics: Sequence[str] | None, relevant: tuple[int, int | None]
) -> tuple[str, ...]:
    """Return the categories to route: those named, or those with so many documents."""
    sizes = dict(zip(corpus.categories, np.asarray(corpus.indicator.sum(axis=0)), strict=True))
    least, most = relevant[0], np.inf if relevant[1] is None else relevant[1]
    chosen = tuple(topics or (name for name, n in sizes.items() if least <= n <= most))
    for name in chosen:
        if name not in sizes:
            raise DataError(f"the corpus has no category {name!r}")
        if not sizes[name]:
            raise DataError(f"no document has the category {name!r}")
    if not chosen:
        raise DataError("no category has enough relevant documents")
    return chosen


def _vectors_of(corpus: Corpus, stemmer: str | None, stop_words: str | None) -> SparseRows:
    if corpus.vectors is not None:
        return sparse.csr_array(corpus.vectors)
    vectorizer = TermVectorizer(weighting="ltc", stemmer=stemmer, stop_words=stop_words)
    vectors: SparseRows = vectorizer.fit_transform(corpus.texts)
    return vectors
