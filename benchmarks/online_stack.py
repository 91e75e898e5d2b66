"""One pass of the online stack over streams.

Run with `python -m benchmarks.online_stack [--curves FILE | --race | --batch] [STREAM ...]`.

Every document is predicted before its labels are learned, with all settings at their defaults: the
stack on the vectors that the peers get, the stack with its own running idf on log-tf vectors, and
the perceptron with prior variances by the running likelihood ratio. `python -m
benchmarks.online_peers` measures the peers. --curves draws the mean log loss so far; --race times
the stack, river and Vowpal Wabbit in turn (needs `pip install river vowpalwabbit`).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.charts import Axis, Figure, Frame, Line, Panel
from bayesift.charts.svg import series
from bayesift.models.online import OnlinePerceptron, OnlineStackedClassifier
from bayesift.text import TermVectorizer
from benchmarks.online_peers import (
    _ftrl,
    _sgd,
    compiled,
    river,
    vowpal_wabbit_from_cache,
    write_cache,
)
from benchmarks.online_streams import STREAMS, Stream, line_of, stream
from papers.leaderboards import REFERENCE, measure_contender

RIVER_DOCUMENTS = 1_000
BATCH, BATCH_CORPORA = (
    ("online_stack", REFERENCE),
    ("reuters", "20newsgroups", "rcv1-sample", "ohsumed", "sms-spam"),
)
CURVES = ("Reuters, 10", "20 Newsgroups", "enron1")


def stack(documents: Stream) -> Array:
    """Progressive probabilities of the stack on the vectors of the stream."""
    return _positive(OnlineStackedClassifier(), documents.X, documents.Y)


def stack_with_running_idf(documents: Stream) -> Array:
    """Run the stack on term frequencies, without a corpus beforehand."""
    stop_words = None if documents.name == "TREC questions" else "english"
    vectorizer = TermVectorizer(weighting="log-tf", stop_words=stop_words, stemmer="porter")
    assert documents.texts is not None
    return _positive(
        OnlineStackedClassifier(idf=True),
        vectorizer.fit_transform(documents.texts),
        documents.Y,
    )


def perceptron(documents: Stream) -> Array:
    """Progressive probabilities of the perceptron with moving priors.

    The first two documents start it.
    """
    model = OnlinePerceptron(
        covariance="diagonal", prior="likelihood-ratio", prior_variance=64.0
    )
    Y = documents.Y if documents.Y.shape[1] > 1 else np.hstack([1 - documents.Y, documents.Y])
    model.partial_fit(documents.X[:2], Y[:2])
    learned = model.progressive_proba(documents.X[2:], Y[2:])
    return np.vstack(
        [np.full((2, documents.Y.shape[1]), 0.5), learned[:, -documents.Y.shape[1] :]]
    )


def _positive(model: Any, X: Any, Y: Array) -> Array:
    """Return the probabilities of the columns of Y; one column is learned as two classes."""
    if Y.shape[1] > 1:
        return np.asarray(model.progressive_proba(X, Y))
    return np.asarray(model.progressive_proba(X, Y[:, 0].astype(int), classes=[0, 1])[:, [1]])


def draw_curves(path: Path) -> None:
    """Draw the mean log loss of all documents so far against their number."""
    learners: dict[str, Callable[[Stream], Array]] = {
        "online stack": stack,
        "perceptron, moving priors": perceptron,
        "SGD, rate 4": lambda documents: compiled(_sgd, documents, 4.0, 0.1),
        "SGD, rate 16": lambda documents: compiled(_sgd, documents, 16.0, 0.1),
        "FTRL, rate 16": lambda documents: compiled(_ftrl, documents, 16.0, 0.1, 0.0),
    }
    panels = []
    for place, name in enumerate(CURVES):
        documents = stream(name)
        if documents is None:
            continue
        curves = [_curve(documents.Y, run(documents)) for run in learners.values()]
        x = Axis.over(
            "documents learned", [point[0] for curve in curves for point in curve], log=True
        )
        title = "mean log loss so far" if not place else ""
        y = Axis.over(title, [0.0, *(point[1] for curve in curves for point in curve)])
        lines = [
            Line(curve, series(k), label)
            for k, (label, curve) in enumerate(zip(learners, curves, strict=True))
        ]
        left = 60 + 300 * place
        panels.append(
            Panel(x, y, lines, Frame(left=left, top=40, right=left + 240, bottom=260), name)
        )
    title = "Learning curves: one pass, each document predicted before it is learned"
    Figure(title, panels, width=940, height=310).save(path)


def _curve(Y: Array, probabilities: Array) -> list[tuple[float, float]]:
    clipped = np.clip(probabilities, 1e-15, 1 - 1e-15)
    losses = -np.where(Y > 0, np.log(clipped), np.log1p(-clipped)).mean(axis=1)
    means = np.cumsum(losses) / np.arange(1, len(losses) + 1)
    places = np.unique(np.geomspace(50, len(losses), 60).astype(int)) - 1
    return [(float(place + 1), float(means[place])) for place in places]


def _plain(X: Any, labels: Array) -> OnlinePerceptron:
    return OnlinePerceptron(covariance="diagonal").partial_fit(X, labels)


def race(documents: Stream) -> dict[str, float]:
    """Return updates per CPU second of the stack, river and Vowpal Wabbit.

    An update is a document and a category; rates are medians of three interleaved runs.
    """
    from river import optim

    few = Stream(
        documents.name, documents.X[:RIVER_DOCUMENTS], documents.Y[:RIVER_DOCUMENTS], None
    )
    with TemporaryDirectory() as folder:
        cache = write_cache(documents, Path(folder))
        labels = documents.Y if documents.Y.shape[1] > 1 else documents.Y[:, 0]
        runs: dict[str, tuple[int, Callable[[], Any]]] = {
            "online stack": (documents.Y.size, lambda: stack(documents)),
            "plain perceptron": (documents.Y.size, lambda: _plain(documents.X, labels)),
            "river SGD": (few.Y.size, lambda: river(few, partial(optim.SGD, 4.0), 0.1)),
            "Vowpal Wabbit, cache": (
                documents.Y.size,
                lambda: vowpal_wabbit_from_cache(documents, cache),
            ),
        }
        rates: dict[str, list[float]] = {title: [] for title in runs}
        stack(few)  # compiles
        _plain(few.X, labels[:RIVER_DOCUMENTS])
        for _ in range(3):
            for title, (updates, run) in runs.items():
                start = time.process_time()
                run()
                rates[title].append(updates / (time.process_time() - start))
    return {title: float(np.median(values)) for title, values in rates.items()}


def print_races(names: Sequence[str]) -> None:
    """Print the speeds of all learners as a table."""
    print(
        "| stream | online stack | plain perceptron | river SGD | VW, cache | stack / river | "
        "stack / VW |"
    )
    print("|---|---|---|---|---|---|---|")
    for name in names:
        documents = stream(name)
        if documents is None:
            continue
        rates = race(documents)
        ours, _, by_river, by_vw = rates.values()
        speeds = " | ".join(f"{rate / 1000:,.0f} k/s" for rate in rates.values())
        print(f"| {name} | {speeds} | {ours / by_river:.1f} | {ours / by_vw:.2f} |", flush=True)


def print_batch(names: Sequence[str]) -> None:
    """Print micro F1 on the leaderboards' test documents after one pass and of LogisticRegression.

    LogisticRegression is tuned.
    """
    print("| corpus | online stack | LogisticRegression, tuned |\n|---|---|---|")
    for name in names:
        measured = [
            measure_contender(corpus=name, name=model, quick=False, seed=0) for model in BATCH
        ]
        print(
            f"| {name} | "
            + " | ".join(f"{each['micro F1'].value:.2f}" for each in measured)
            + " |",
            flush=True,
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--curves", type=Path, help="draw learning curves into this SVG file")
    parser.add_argument(
        "--race", action="store_true", help="speeds of river and Vowpal Wabbit in the same run"
    )
    parser.add_argument(
        "--batch", action="store_true", help="test documents of the leaderboards after one pass"
    )
    parser.add_argument(
        "streams",
        nargs="*",
        metavar="STREAM",
        help=f"of {', '.join(STREAMS)}; corpora with --batch",
    )
    given = parser.parse_args()
    if given.curves is not None:
        draw_curves(given.curves)
        return
    if given.batch:
        print_batch(given.streams or BATCH_CORPORA)
        return
    if given.race:
        print_races(given.streams or STREAMS)
        return
    print(
        "| stream | learner | log loss | micro F1 | ECE, second half | updates/ms |\n"
        "|---|---|---|---|---|---|"
    )
    for name in given.streams or STREAMS:
        documents = stream(name)
        if documents is None:
            continue
        runs: dict[str, Callable[[Stream], Array]] = {
            "online stack": stack,
            "perceptron, moving priors": perceptron,
        }
        if documents.texts is not None:
            runs["online stack, running idf"] = stack_with_running_idf
        for title, run in runs.items():
            start = time.process_time()
            probabilities = run(documents)
            print(
                line_of(name, title, documents.Y, probabilities, time.process_time() - start),
                flush=True,
            )


if __name__ == "__main__":
    main()
