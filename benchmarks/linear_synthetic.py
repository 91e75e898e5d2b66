"""Laplace logistic regression on a synthetic corpus of the shape of RCV1.

It is compared with liblinear, and time is measured against size.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.charts import Axis, Figure, Line, Panel
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset, machine
from benchmarks.linear_laplace import RATE, check_gap, fit, liblinear

DOCUMENTS, TERMS, CATEGORIES = 23_149, 47_236, 101
LENGTH = 86  # words of a document, of which about 76 differ
NOISE = 0.02  # the scale of that of the labels
RACED = 10  # categories, every tenth by size from the largest
FACTORS = (1, 2, 5, 10)
SCALED = 5  # categories of the scaling measurement
PLOT = Path(__file__).parent.parent / "out" / "benchmarks" / "linear_scaling.svg"


@cache
def corpus(factor: int = 1) -> tuple[Any, Any]:
    """Return unit rows of about 76 terms drawn by Zipf's law with values like log TF x IDF.

    Labels by sparse planted weights.

    Category c holds a share of about 0.4 / (c + 1) of the documents: those of the largest planted
    score, whose standard deviation is about 0.25, plus logistic noise of scale 0.02.
    """
    X = vectors(factor * DOCUMENTS, TERMS, LENGTH)
    return X, _labels(X)


def vectors(n: int, terms: int, length: int) -> Any:
    """Return unit rows of `length` words drawn by Zipf's law, log TF x IDF."""
    generator = np.random.default_rng(0)
    probability = 1.0 / np.arange(3, terms + 3)
    draws = generator.choice(terms, size=(n, length), p=probability / probability.sum())
    indptr = np.arange(0, n * length + 1, length, dtype=np.int32)
    X = sparse.csr_array(
        (np.ones(n * length), draws.ravel().astype(np.int32), indptr), shape=(n, terms)
    )
    X.sum_duplicates()
    idf = np.log(n / np.maximum(np.bincount(X.indices, minlength=terms), 1))
    X.data = (1 + np.log(X.data)) * idf[X.indices]
    X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1)), np.diff(X.indptr))
    return X


def _labels(X: Any, categories: int = CATEGORIES) -> Any:
    generator = np.random.default_rng(
        1
    )  # the same planted weights whatever the number of documents
    members = []
    for c in range(categories):
        weights = np.zeros(TERMS)
        chosen = generator.choice(2000, size=40, replace=False)
        weights[chosen] = generator.normal(size=40) * 4
        noise = np.random.default_rng(100 + c).logistic(scale=NOISE, size=X.shape[0])
        scores = X @ weights + noise
        size = max(int(0.4 / (c + 1) * X.shape[0]), 5)
        members.append(scores >= np.partition(scores, -size)[-size])
    return sparse.csr_array(np.array(members).T.astype(np.int8))


def whole() -> tuple[Any, Any]:
    """Return a corpus of the shape of all of RCV1: 804,414 documents, 103 categories."""
    X = vectors(804_414, TERMS, LENGTH)
    return X, _labels(X, 103)


def raced() -> tuple[Any, Any]:
    """Return a corpus of the shape of RCV1 itself with every tenth category."""
    X, Y = corpus()
    return X, sparse.csr_array(Y[:, ::10][:, :RACED])


BENCHMARK = Benchmark(
    name="linear_laplace_rcv1",
    objective="logistic regression with a Laplace prior (lambda 0.1), total relative gap of the "
    "objective at most 1e-6",
    datasets=[
        Dataset(
            f"shape of RCV1 (23,149 x 47,236), every tenth of {CATEGORIES} categories", raced
        )
    ],
    contenders=[Contender("bayesift", fit), Contender("liblinear", liblinear)],
    comparisons=[Comparison("bayesift", "liblinear", asked=10)],
    check=check_gap(raced),
    repeats=1,
)


def _category(c: int) -> Callable[[], tuple[Any, Any]]:
    @cache
    def load() -> tuple[Any, Any]:
        X, Y = corpus(10)
        return X, sparse.csr_array(Y[:, [c]])

    return load


def _ten_times(c: int) -> Benchmark:
    """Both stop at a gap below 1e-5; lambda is the same, a tenth of the penalty per document."""
    load = _category(c)
    return Benchmark(
        name=f"linear_laplace_rcv1_x10_{c}",
        objective=BENCHMARK.objective.replace("1e-6", "1e-5"),
        datasets=[Dataset(f"shape of RCV1 x 10 (231,490 x 47,236), category {c}", load)],
        contenders=[
            Contender("bayesift", partial(fit, tol=0.04)),
            Contender("liblinear", partial(liblinear, tol=5e-5)),
        ],
        comparisons=[Comparison("bayesift", "liblinear", asked=10)],
        check=check_gap(load, 1e-5),
        repeats=1,
    )


BENCHMARKS_TEN_TIMES = [_ten_times(2), _ten_times(30)]

NAME = "linear_scaling"


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """CPU seconds of our fit at 1, 2, 5 and 10 times the documents, lambda in proportion.

    Writes a plot.
    """
    points = []
    for factor in FACTORS:
        X, Y = corpus(factor)
        Y = sparse.csr_array(Y[:, :: CATEGORIES // SCALED][:, :SCALED])
        fit((X[:1000], Y[:1000]))
        start = time.process_time()
        fit((X, Y), rate=factor * RATE)
        points.append(
            {
                "documents": X.shape[0],
                "entries": int(X.nnz),
                "seconds": time.process_time() - start,
            }
        )
        say(f"{NAME}: {points[-1]}")
    entries, seconds = (
        np.log([float(point[name]) for point in points]) for name in ("entries", "seconds")
    )
    slope = float(np.polyfit(entries, seconds, 1)[0])
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    PLOT.write_text(draw(points, slope))
    command, date = f"python -m benchmarks {NAME}", datetime.date.today().isoformat()
    return {
        "command": command,
        "date": date,
        "machine": machine(),
        "points": points,
        "slope": slope,
    }


def render(measured: dict[str, Any]) -> list[str]:
    """Return the rows of the report."""
    lines = [
        (
            f"Laplace logistic regression, {SCALED} categories of the synthetic corpus of the "
            f"shape "
            f"of RCV1, lambda {RATE}"
        ),
        (
            f"for each {DOCUMENTS:,} documents (a constant penalty per document): time grows as "
            f"entries to the power"
        ),
        f"{measured['slope']:.2f} (plot: out/benchmarks/{PLOT.name}).",
        "",
        "| documents | entries | CPU s |",
        "|---|---|---|",
    ]
    return lines + [
        f"| {p['documents']:,} | {p['entries']:,} | {p['seconds']:.2f} |"
        for p in measured["points"]
    ]


def draw(points: list[dict[str, Any]], slope: float) -> str:
    """Seconds against entries, with the straight line through the first point."""
    found = [(float(point["entries"]), float(point["seconds"])) for point in points]
    most, per_entry = found[-1][0], found[0][1] / found[0][0]
    x = Axis.over("entries", [0.0, most])
    y = Axis.over("CPU seconds", [0.0, most * per_entry, *(seconds for _, seconds in found)])
    straight = Line([(0.0, 0.0), (most, most * per_entry)], "ideal", "in proportion")
    lines = [
        Line(found, name=f"bayesift, slope of logarithms {slope:.2f}", marked=True),
        straight,
    ]
    return str(Figure("Time against size", [Panel(x, y, lines)]).to_svg())
