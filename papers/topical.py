"""Qiu, Huang & Wu: few features, three classifiers.

ltc vectors of stemmed words (Porter, letters only, English stop words left out); 20 Newsgroups with
words of at least two documents. Every document gets one category (RCut, t = 1), which caps Reuters
at 89.3. What the paper leaves open: topics are initialised by "nndsvd" or "nndsvda", whichever
gives kNN more hits by leave-one-out on 2,000 training documents, and k is chosen in the same way;
all documents that are as near as the k-th vote, so that their order does not matter; a document
without any of the chosen words gets the largest category of the training documents without any; the
SVM is libsvm's with a radial kernel, C = 10, gamma = 1 / (features x variance), a document learned
once under each of its categories; CHI is the largest over categories.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.svm import SVC

from bayesift.arrays import Array
from bayesift.evaluation import bootstrap_f1
from bayesift.features import SelectTerms
from bayesift.models.baselines.neighbors import squared_distances
from bayesift.models.topics import SparseNMF, TopicSimilarity
from bayesift.text import TermVectorizer
from papers.corpora import corpus_part
from papers.experiment import Absent, Alternative, Experiment, Extent, Grid, Task, reading

SELECTIONS: dict[str, tuple[str, Any]] = {
    "DF": ("document-frequency", "max"),
    "CHI": ("chi2", "max"),
    "OCFS": ("ocfs", "weighted"),
}
LARGEST_TRIED_TWICE = 64  # topics; more of them use one initialisation, which saves time
N_NEIGHBORS = (1, 3, 5, 10, 15, 20, 30)
HELD_OUT = 2000  # documents of leave-one-out
_ROUNDING = 1e-9  # squared distances that differ by less are equal
_BLOCK = 4_000_000  # distances in memory at a time


class Split(NamedTuple):
    """Vectors and categories (dense indicators) of training and test documents."""

    train: Any
    train_categories: Array
    test: Any
    test_categories: Array


@dataclass(frozen=True)
class Words:
    """What the paper leaves open of its words.

    Parameters
    ----------
    weighting, characters, min_df : parameters of `TermVectorizer`; 0 is 1 for Reuters and 2 for 20
        Newsgroups
    average : how the scores of the categories are combined; empty for the usual way of each score
    empty : what kNN gives documents without any of the words: what such training documents have, or
        the first category
    """

    weighting: Literal["ltc", "tf", "tf-idf"] = "ltc"
    characters: Literal["letters", "words"] = "letters"
    min_df: int = 0
    average: Literal["", "max", "mean", "weighted"] = ""
    empty: Literal["alike", "first"] = "alike"


@lru_cache(maxsize=2)
def split_of(corpus: str, quick: bool, words: Words) -> Split:
    """Return a corpus as vectors."""
    documents = corpus_part(corpus, quick)
    train, test = documents.split("train"), documents.split("test")
    vectorizer = TermVectorizer(
        weighting=words.weighting,
        stop_words="english",
        characters=words.characters,
        stemmer="porter",
        min_df=words.min_df or (1 if corpus == "reuters-labelled" else 2),
    )
    X = vectorizer.fit_transform(train.texts)
    return Split(
        X, train.indicator.toarray(), vectorizer.transform(test.texts), test.indicator.toarray()
    )


def measure_features(
    *,
    corpus: str,
    selection: str,
    features: int,
    classifiers: list[str],
    words: dict[str, Any],
    quick: bool,
    seed: int,
) -> dict[str, Any]:
    """Micro F1 of classifiers on a number of features, in per cent."""
    taken = Words(**words)
    split = split_of(corpus, quick, taken)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        take = (
            _topics_of if selection == "SNMF" else partial(words_of, selection, taken.average)
        )
        train, test = take(features, split)
    result = {}
    for name in classifiers:
        scores = CLASSIFIERS[name](train, test, split.train_categories)
        if name == "RCut kNN" and taken.empty == "first":
            scores[~test.any(axis=1), 0] = np.inf
        decided = np.zeros(scores.shape, dtype=bool)
        decided[np.arange(len(scores)), np.argmax(scores, axis=1)] = True
        micro = bootstrap_f1(split.test_categories, decided, random_state=seed).micro
        result[name] = micro.times(100)
    return result


def measure_machine(
    *,
    corpus: str,
    selection: str,
    features: int,
    cost: float,
    words: dict[str, Any],
    quick: bool,
    seed: int,
) -> dict[str, Any]:
    """Micro F1 of the SVM with another C, in per cent."""
    split = split_of(corpus, quick, Words(**words))
    train, test = words_of(selection, "", features, split)
    documents, labels = np.nonzero(split.train_categories)
    machine = SVC(C=cost).fit(train[documents], labels)
    decided = np.eye(split.train_categories.shape[1], dtype=bool)[machine.predict(test)]
    return {
        "SVM": bootstrap_f1(split.test_categories, decided, random_state=seed).micro.times(100)
    }


def measure_printed_topics(
    *, corpus: str, topics: int, quick: bool, seed: int
) -> dict[str, Any]:
    """Measure micro F1 of all classifiers on topics by the printed rules from a random start.

    F1 is in per cent.
    """
    split = split_of(corpus, quick, Words())
    encoder = SparseNMF(
        n_components=topics,
        importance="variance",
        alpha=1.0,
        solver="printed",
        start="random",
        max_iter=200,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        train = normalize(encoder.fit(split.train).transform(split.train))
        test = normalize(encoder.transform(split.test))
    result = {}
    for name, score in CLASSIFIERS.items():
        best = np.argmax(score(train, test, split.train_categories), axis=1)
        decided = np.eye(split.train_categories.shape[1], dtype=bool)[best]
        result[name] = bootstrap_f1(
            split.test_categories, decided, random_state=seed
        ).micro.times(100)
    return result


def words_of(selection: str, average: Any, k: int, split: Split) -> tuple[Array, Array]:
    """Return the k words that score best; documents are scaled to length one."""
    by, usual = SELECTIONS[selection]
    chosen = SelectTerms(by=by, k=k, average=average or usual).fit(
        split.train, split.train_categories
    )
    dense = [sparse.csr_array(chosen.transform(X)).toarray() for X in (split.train, split.test)]
    return normalize(dense[0]), normalize(dense[1])


def _topics_of(k: int, split: Split) -> tuple[Array, Array]:
    """Return codes of length one by the initialisation with more leave-one-out hits.

    Hits are counted on training documents.
    """
    found = []
    for start in ("nndsvd", "nndsvda") if k <= LARGEST_TRIED_TWICE else ("nndsvd",):
        encoder = SparseNMF(
            n_components=k, importance="variance", alpha=1.0, start=start, max_iter=200
        )
        train = normalize(encoder.fit(split.train).transform(split.train))
        hits = leave_one_out(train, split.train_categories, _cosines).values()
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


def _by_additive_regression(
    train: Array, test: Array, categories: Array, *, printed: bool = False
) -> Array:
    """Scores of the nearest by `TopicSimilarity`, its probabilities as votes.

    `printed` is the paper's own form.
    """
    similarity = (TopicSimilarity.paper() if printed else TopicSimilarity()).fit(
        train, categories
    )

    def weigh(distances: Array) -> Array:
        return np.asarray(expit(similarity.log_odds_at(distances)))

    return _votes(similarity.points(train), similarity.points(test), categories, weigh)


def _votes(
    train: Array, test: Array, categories: Array, weigh: Callable[[Array], Array]
) -> Array:
    hits = leave_one_out(train, categories, weigh)
    k = max(hits, key=hits.__getitem__)
    votes: Array = Neighbours(train, categories, weigh).votes(test, [k])[
        k
    ] + 1e-9 * categories.mean(axis=0)
    return votes


def leave_one_out(
    train: Array, categories: Array, weigh: Callable[[Array], Array]
) -> dict[int, float]:
    """Return the leave-one-out accuracy on 2,000 documents by k.

    A document is right if its category has the most votes of the other documents.
    """
    rows = np.sort(np.random.RandomState(0).permutation(len(train))[:HELD_OUT])
    votes = Neighbours(train, categories, weigh).votes(train[rows], N_NEIGHBORS, rows)
    return {
        k: float(np.mean(categories[rows, np.argmax(found, axis=1)]))
        for k, found in votes.items()
    }


class Neighbours:
    """Votes of the k nearest documents and of all others as near as the k-th, in any order."""

    def __init__(
        self, points: Array, categories: Array, weigh: Callable[[Array], Array]
    ) -> None:
        _, first, place = np.unique(points, axis=0, return_index=True, return_inverse=True)
        self.points, self.place, self.categories, self.weigh = (
            points[first],
            place.ravel(),
            categories,
            weigh,
        )
        shape = (len(first), len(points))
        equal = sparse.csr_array(
            (np.ones(len(points)), (self.place, np.arange(len(points)))), shape=shape
        )
        self.sums, self.counts = equal @ categories, np.bincount(self.place)

    def votes(
        self, points: Array, ks: Sequence[int], own: Array | None = None
    ) -> dict[int, Array]:
        """Votes by k, points x categories.

        `own` are the rows that the points have here, which do not vote.
        """
        found = {k: np.empty((len(points), self.categories.shape[1])) for k in ks}
        step = max(1, _BLOCK // len(self.points))
        for start in range(0, len(points), step):
            block = slice(start, start + step)
            distances = squared_distances(points[block], self.points)
            weights = self.weigh(distances)
            for k, votes in found.items():
                reach = self._reach(distances, k + (own is not None))
                votes[block] = (
                    np.where(distances <= reach + _ROUNDING, weights, 0.0) @ self.sums
                )
                if own is not None:
                    itself = np.arange(len(distances)), self.place[own[block]]
                    votes[block] -= weights[itself][:, np.newaxis] * self.categories[own[block]]
        return found

    def _reach(self, distances: Array, k: int) -> Array:
        """Return the distance of the k-th nearest document, counting each of several equal ones."""
        nearest = np.argpartition(distances, min(k, distances.shape[1]) - 1, axis=1)[:, :k]
        order = np.argsort(np.take_along_axis(distances, nearest, axis=1), axis=1)
        nearest = np.take_along_axis(nearest, order, axis=1)
        last = np.argmax(
            np.cumsum(self.counts[nearest], axis=1) >= min(k, len(self.place)), axis=1
        )
        return np.take_along_axis(
            distances, np.take_along_axis(nearest, last[:, np.newaxis], axis=1), axis=1
        )


def _by_support_vectors(train: Array, test: Array, categories: Array) -> Array:
    """Return the class that libsvm decides for, as an indicator.

    Kernel values come from two matrix products.
    """
    documents, labels = np.nonzero(categories)
    learned = train[documents]
    gamma = 1 / (learned.shape[1] * learned.var())
    machine = SVC(C=10.0, kernel="precomputed").fit(_radial(learned, learned, gamma), labels)
    indicator: Array = np.eye(categories.shape[1])[
        machine.predict(_radial(test, learned, gamma))
    ]
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
    "Additive LR as printed": partial(_by_additive_regression, printed=True),
}

FEATURES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_QUICK = (4, 16)


class Other(NamedTuple):
    """Another reading of a selection: the treatment, the numbers of features, the classifiers."""

    selection: str
    choice: str
    words: dict[str, Any]
    neighbours: tuple[int, ...] = ()
    machine: tuple[int, ...] = ()


OTHERS = {
    "reuters-labelled": (
        Other(
            "OCFS",
            "all categories count alike; kNN gives documents without any of the words the first "
            "category",
            {"average": "mean", "empty": "first"},
            neighbours=(2, 4, 8, 16, 32, 64),
            machine=(2, 4, 8, 16, 32, 64),
        ),
        Other("OCFS", "raw counts", {"weighting": "tf"}, neighbours=(2, 8, 32)),
        Other(
            "CHI",
            "words of two documents or more",
            {"min_df": 2},
            neighbours=(16, 32, 128),
            machine=(16, 32),
        ),
    ),
    "20newsgroups": (
        Other(
            "OCFS",
            "raw counts times IDF, digits are parts of words; kNN gives documents without any the "
            "first category",
            {"weighting": "tf-idf", "characters": "words", "min_df": 1, "empty": "first"},
            neighbours=(2, 4, 8, 16, 32, 64),
            machine=(4, 16),
        ),
        Other("DF", "raw counts", {"weighting": "tf"}, neighbours=(16, 32), machine=(32, 128)),
        Other("CHI", "the mean over categories", {"average": "mean"}, neighbours=(1024,)),
    ),
}


COSTS = {  # other C of the SVM: selection, numbers of features, C, words
    "reuters-labelled": (),
    "20newsgroups": (("DF", (32, 128), 1.0, {}), ("DF", (32, 128), 1.0, {"weighting": "tf"})),
}
PRINTED_TOPICS = {"reuters-labelled": (512,), "20newsgroups": (8, 32, 128, 256)}


def _table(name: str, corpus: str, *, most_topics: int) -> Experiment:
    """Return a table with a row per classifier and selection, a column per number of features.

    More topics need a long run.
    """

    def grid(extent: Extent) -> Grid:
        found: Grid = {}
        for selection in (*SELECTIONS, "SNMF"):
            for features in FEATURES:
                for classifier in CLASSIFIERS if selection == "SNMF" else ("RCut kNN", "SVM"):
                    task = _task(corpus, selection, features, classifier, extent)
                    absent = _left_out(selection, features, most_topics, extent)
                    found[f"{classifier}, {selection}", str(features)] = absent or reading(
                        task, classifier
                    )
        return found

    def alternatives(extent: Extent) -> list[Alternative]:
        return [] if extent.quick else list(_others(corpus, extent))

    return Experiment(name, grid, alternatives)


def _others(corpus: str, extent: Extent) -> Iterator[Alternative]:
    for other in OTHERS[corpus]:
        for classifier, sizes in (("RCut kNN", other.neighbours), ("SVM", other.machine)):
            tasks = {
                str(k): _task(corpus, other.selection, k, classifier, extent, other.words)
                for k in sizes
            }
            readings = {k: reading(task, classifier) for k, task in tasks.items()}
            if readings:
                yield Alternative(f"{classifier}, {other.selection}", other.choice, readings)

    yield from _other_costs(corpus, extent)
    yield from _printed_topics(corpus, extent)


def _other_costs(corpus: str, extent: Extent) -> Iterator[Alternative]:
    for selection, sizes, cost, words in COSTS[corpus]:
        readings = {}
        for k in sizes:
            task = Task.of(
                measure_machine,
                f"topical: {corpus}, SVM with C = {cost:g} on {k} features by {selection}",
                corpora=(corpus,),
                corpus=corpus,
                selection=selection,
                features=k,
                cost=cost,
                words=words,
                **extent.settings,
            )
            readings[str(k)] = reading(task, "SVM")
        yield Alternative(
            f"SVM, {selection}", f"{'raw counts, ' if words else ''}C = {cost:g}", readings
        )


def _printed_topics(corpus: str, extent: Extent) -> Iterator[Alternative]:
    tasks = {
        str(k): Task.of(
            measure_printed_topics,
            f"topical: {corpus}, {k} topics by the printed rules",
            corpora=(corpus,),
            corpus=corpus,
            topics=k,
            **extent.settings,
        )
        for k in PRINTED_TOPICS[corpus]
    }
    for name in CLASSIFIERS:
        readings = {k: reading(task, name) for k, task in tasks.items()}
        yield Alternative(f"{name}, SNMF", "printed rules, random start", readings)


def _left_out(selection: str, features: int, most_topics: int, extent: Extent) -> Absent | None:
    if extent.quick:
        return None if features in _QUICK else Absent("left out of a quick run")
    if selection == "SNMF" and features > most_topics and not extent.long:
        return Absent(
            f"more than {most_topics} topics take minutes a cell: they are measured with --long"
        )
    return None


def _task(
    corpus: str,
    selection: str,
    features: int,
    classifier: str,
    extent: Extent,
    words: Mapping[str, Any] | None = None,
) -> Task:
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
        words=dict(words or {}),
        **extent.settings,
    )


EXPERIMENTS = [
    _table("topical:table-1", "reuters-labelled", most_topics=512),
    _table("topical:table-2", "20newsgroups", most_topics=256),
]
