"""Nandanwar & Murty (2013): pairs of newsgroups, classified by an SVM, naive Bayes, and both mixed.

The paper does not say which texts, cuts of Zipf's curve, C or split it took. Here: the by-date
split; terms in at least three training documents and not among the 50 most frequent; C = 1; alpha
by five-fold cross-validation on the training part. Beside it, a random fifth to test on, as many
documents as the printed percentages imply.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bayesift.arrays import Array
from bayesift.evaluation import Estimate, bootstrap_mean
from bayesift.models.baselines import HybridClassifier, LinearSVM, NBSVMClassifier
from bayesift.models.baselines.hybrid import heaviest, hyperplanes_of
from bayesift.models.naive_bayes import NaiveBayesClassifier
from bayesift.text import TermVectorizer
from papers.corpora import corpus_part
from papers.experiment import (
    Alternative,
    Experiment,
    Extent,
    Grid,
    PlotReading,
    Reading,
    Task,
    reading,
)
from papers.pictures import LinePlot
from papers.printed import printed_table

SYSTEMS = {
    "SVM": LinearSVM,
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
def pair_of(
    first: str, second: str, weighting: Any, body: bool, random: int | None, quick: bool
) -> Pair:
    """Two groups as vectors.

    `body` leaves the headers out, `random` seeds a split with a fifth to test on.
    """
    corpus, parts = corpus_part("20newsgroups", quick), []
    halves = [
        [d for d in corpus.split(split) if d.categories[0] in (first, second)]
        for split in ("train", "test")
    ]
    if random is not None:
        everything = halves[0] + halves[1]
        order = np.random.default_rng(random).permutation(len(everything))
        halves = [
            [everything[i] for i in part]
            for part in (order[len(order) // 5 :], order[: len(order) // 5])
        ]
    for documents in halves:
        texts = [d.text.partition("\n\n")[2] if body else d.text for d in documents]
        parts.append((texts, np.array([d.categories[0] for d in documents])))
    (train_texts, y), (test_texts, y_test) = parts
    vectorizer = TermVectorizer(weighting=weighting, min_df=3, drop_frequent=50)
    return Pair(
        vectorizer.fit_transform(train_texts),
        y,
        vectorizer.transform(test_texts),
        y_test,
        vectorizer,
    )


def measure_pair(
    *,
    first: str,
    second: str,
    weighting: str,
    body: bool,
    hinge: bool,
    n_splits: int,
    quick: bool,
    seed: int,
) -> dict[str, Any]:
    """Accuracy of every system in per cent, on the split by date (0) or over random ones.

    NBSVM sees presence.
    """
    seeds: list[int | None] = list(range(seed, seed + n_splits)) if n_splits else [None]
    pairs = [pair_of(first, second, weighting, body, random, quick) for random in seeds]
    result: dict[str, Any] = {}
    for name, make in SYSTEMS.items():
        parameters = {"loss": "hinge"} if hinge and name in ("SVM", "Hybrid") else {}
        right = np.concatenate(
            [_right(make(**parameters), pair, present=name == "NBSVM") for pair in pairs]
        )
        result[name] = bootstrap_mean(right, random_state=seed).times(100)
    return result


def _right(model: Any, pair: Pair, *, present: bool) -> Array:
    """Whether each test document is classified as it should be.

    On presence of terms, or on their weights.
    """
    X, X_test = (pair.X.sign(), pair.X_test.sign()) if present else (pair.X, pair.X_test)
    return np.asarray(model.fit(X, pair.y).predict(X_test) == pair.y_test)


def curves_of_pair(*, first: str, second: str, quick: bool, seed: int) -> dict[str, Any]:
    """Measure Zipf's curve, and accuracy by alpha and by the share of features, on raw counts."""
    pair = pair_of(first, second, "tf", True, None, quick)
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
    def accuracy(model: Any) -> float:
        return 100 * float(
            np.mean(model.fit(pair.X, pair.y).predict(pair.X_test) == pair.y_test)
        )

    lines = {
        "hybrid": [
            [a, accuracy(HybridClassifier(alpha=a))] for a in np.linspace(0, 1, 21).tolist()
        ]
    }
    for name in ("SVM", "NBC"):
        found = accuracy(SYSTEMS[name]())
        lines[name] = [[0.0, found], [1.0, found]]
    return lines


def _by_share(pair: Pair) -> dict[str, Any]:
    classes, lines = np.unique(pair.y), {}
    for name in ("SVM", "NBC"):
        weights, intercepts = hyperplanes_of(SYSTEMS[name]().fit(pair.X, pair.y))
        kept = [
            pair.X_test @ heaviest(weights, share)[0] + intercepts[0] > 0 for share in SHARES
        ]
        right = [100 * float(np.mean(classes[k.astype(int)] == pair.y_test)) for k in kept]
        lines[name] = [[share, found] for share, found in zip(SHARES, right, strict=True)]
    return lines


# Table 1: accuracy on fifteen pairs of newsgroups.
TREATMENTS: dict[str, dict[str, Any]] = {
    "body, raw counts": {"weighting": "tf", "body": True, "hinge": False, "n_splits": 0},
    "body, raw counts, hinge loss": {
        "weighting": "tf",
        "body": True,
        "hinge": True,
        "n_splits": 0,
    },
    "whole text, raw counts": {"weighting": "tf", "body": False, "hinge": False, "n_splits": 0},
    "whole text, log TF-IDF": {
        "weighting": "ltc",
        "body": False,
        "hinge": False,
        "n_splits": 0,
    },
    "body, raw counts, a random fifth to test on (3 splits)": {
        "weighting": "tf",
        "body": True,
        "hinge": False,
        "n_splits": 3,
    },
}
CHOSEN, RANDOM = "body, raw counts", "body, raw counts, a random fifth to test on (3 splits)"
MEAN, GAIN = "mean of the pairs", "hybrid less the better of both"


def _pairs(extent: Extent) -> list[str]:
    """Return the pairs as the table names them; a quick run takes three."""
    rows = [row for row in printed_table("hybrid:table-1").rows if " vs " in row]
    return rows[:3] if extent.quick else rows


def _pair_task(pair: str, treatment: str, extent: Extent) -> Task:
    first, second = pair.split(" vs ")
    label = f"hybrid: {pair}, {treatment}"
    settings = {"first": first, "second": second, **TREATMENTS[treatment], **extent.settings}
    return Task.of(measure_pair, label, corpora=("20newsgroups",), **settings)


def _mean(system: str) -> Callable[..., Estimate]:
    def pick(*results: Any) -> Estimate:
        """Return the mean; its interval treats test documents of given pairs as independent."""
        values, spreads = zip(
            *((r[system][0], (r[system][2] - r[system][1]) / 2) for r in results), strict=True
        )
        half = float(np.sqrt(np.sum(np.square(spreads)))) / len(values)
        centre = float(np.mean(values))
        return Estimate(centre, centre - half, centre + half)

    return pick


def _gain(*results: Any) -> Estimate:
    return Estimate(
        float(np.mean([r["Hybrid"][0] - max(r["SVM"][0], r["NBC"][0]) for r in results]))
    )


def _averages(treatment: str, extent: Extent) -> dict[str, Reading]:
    tasks = tuple(_pair_task(pair, treatment, extent) for pair in _pairs(extent))
    return {system: Reading(tasks, _mean(system)) for system in SYSTEMS} | {
        GAIN: Reading(tasks, _gain)
    }


def _pairs_grid(extent: Extent) -> Grid:
    grid: Grid = {}
    for pair in _pairs(extent):
        task = _pair_task(pair, CHOSEN, extent)
        grid |= {(pair, system): reading(task, system) for system in SYSTEMS}
    averages = _averages(CHOSEN, extent)
    return grid | {(MEAN, system): averages[system] for system in SYSTEMS}


def _pairs_alternatives(extent: Extent) -> list[Alternative]:
    """Return the means by treatment, and each pair by the treatment that explains most."""
    means = [
        Alternative(MEAN, treatment, _averages(treatment, extent)) for treatment in TREATMENTS
    ]
    tasks = {pair: _pair_task(pair, RANDOM, extent) for pair in _pairs(extent)}
    readings = {
        pair: {system: reading(task, system) for system in SYSTEMS}
        for pair, task in tasks.items()
    }
    return means + [Alternative(pair, RANDOM, found) for pair, found in readings.items()]


# Figures 1 to 3: Zipf's curve, accuracy over the share of the SVM, accuracy over the share of
# features kept.
def _figure(
    number: int, curve: str, names: tuple[str, ...], title: str, x: str, y: str, **look: bool
) -> Experiment:
    first, second = "alt.atheism", "soc.religion.christian"

    def draw(result: Any) -> LinePlot:
        return LinePlot(title, x, y, {name: result[curve][name] for name in names}, **look)

    def plots(extent: Extent) -> list[PlotReading]:
        label = f"hybrid: curves of {first} vs {second}"
        settings = {"first": first, "second": second, **extent.settings}
        return [
            PlotReading(
                (Task.of(curves_of_pair, label, corpora=("20newsgroups",), **settings),), draw
            )
        ]

    return Experiment(f"hybrid:figure-{number}", plots=plots)


EXPERIMENTS = [
    Experiment("hybrid:table-1", _pairs_grid, _pairs_alternatives),
    _figure(
        1,
        "zipf",
        ("terms", "f = k / r"),
        "Zipf's curve of the first pair",
        "rank of the term",
        "how often it stands in the texts",
        x_log=True,
        y_log=True,
    ),
    _figure(
        2,
        "alpha",
        ("hybrid", "SVM", "NBC"),
        "Accuracy on the test documents by α",
        "share of the SVM, α",
        "accuracy",
    ),
    _figure(
        3,
        "kept",
        ("SVM", "NBC"),
        "Accuracy on the test documents by the share of features kept",
        "share of the features kept",
        "accuracy",
        marked=True,
    ),
]
