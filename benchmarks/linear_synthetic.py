"""A synthetic corpus of the shape of RCV1: Laplace logistic regression against liblinear, and time against size."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.harness import Benchmark, Comparison, Contender, Dataset, machine
from benchmarks.linear_laplace import RATE, _check, fit, liblinear

DOCUMENTS, TERMS, CATEGORIES = 23_149, 47_236, 101
LENGTH = 86  # words of a document, of which about 76 differ
NOISE = 0.02  # the scale of that of the labels
RACED = 10  # categories, every tenth by size from the largest
FACTORS = (1, 2, 5, 10)
SCALED = 5  # categories of the scaling measurement
PLOT = Path(__file__).parent.parent / "out" / "benchmarks" / "linear_scaling.svg"


@cache
def corpus(factor: int = 1) -> tuple[Any, Any]:
    """Unit rows of about 76 terms drawn by Zipf's law, log TF x IDF like values; labels by sparse planted weights.

    Category c holds a share of about 0.4 / (c + 1) of the documents: those of the largest planted score, whose standard
    deviation is about 0.25, plus logistic noise of scale 0.02.
    """
    generator = np.random.default_rng(0)
    n = factor * DOCUMENTS
    probability = 1.0 / np.arange(3, TERMS + 3)
    draws = generator.choice(TERMS, size=(n, LENGTH), p=probability / probability.sum())
    indptr = np.arange(0, n * LENGTH + 1, LENGTH, dtype=np.int32)
    X = sparse.csr_array((np.ones(n * LENGTH), draws.ravel().astype(np.int32), indptr), shape=(n, TERMS))
    X.sum_duplicates()
    idf = np.log(n / np.maximum(np.bincount(X.indices, minlength=TERMS), 1))
    X.data = (1 + np.log(X.data)) * idf[X.indices]
    X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1)), np.diff(X.indptr))
    return X, _labels(X)


def _labels(X: Any) -> Any:
    generator = np.random.default_rng(1)  # the same planted weights whatever the number of documents
    members = []
    for c in range(CATEGORIES):
        weights = np.zeros(TERMS)
        chosen = generator.choice(2000, size=40, replace=False)
        weights[chosen] = generator.normal(size=40) * 4
        noise = np.random.default_rng(100 + c).logistic(scale=NOISE, size=X.shape[0])
        scores = X @ weights + noise
        size = max(int(0.4 / (c + 1) * X.shape[0]), 5)
        members.append(scores >= np.partition(scores, -size)[-size])
    return sparse.csr_array(np.array(members).T.astype(np.int8))


def _raced() -> tuple[Any, Any]:
    X, Y = corpus()
    return X, sparse.csr_array(Y[:, ::10][:, :RACED])


BENCHMARK = Benchmark(
    name="linear_laplace_rcv1",
    objective="logistic regression with a Laplace prior (lambda 0.1), total relative gap of the objective at most 1e-6",
    datasets=[Dataset(f"shape of RCV1 (23,149 x 47,236), every tenth of {CATEGORIES} categories", _raced)],
    contenders=[Contender("bayesift", fit), Contender("liblinear", liblinear)],
    comparisons=[Comparison("bayesift", "liblinear", asked=10)],
    check=_check(_raced),
    repeats=1,
)

NAME = "linear_scaling"


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """CPU seconds of our fit at 1, 2, 5 and 10 times the documents, lambda in proportion; writes a plot."""
    points = []
    for factor in FACTORS:
        X, Y = corpus(factor)
        Y = sparse.csr_array(Y[:, :: CATEGORIES // SCALED][:, :SCALED])
        fit((X[:1000], Y[:1000]))
        start = time.process_time()
        fit((X, Y), rate=factor * RATE)
        points.append({"documents": X.shape[0], "entries": int(X.nnz), "seconds": time.process_time() - start})
        say(f"{NAME}: {points[-1]}")
    entries, seconds = (np.log([float(point[name]) for point in points]) for name in ("entries", "seconds"))
    slope = float(np.polyfit(entries, seconds, 1)[0])
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    PLOT.write_text(draw(points, slope))
    command, date = f"python -m benchmarks {NAME}", datetime.date.today().isoformat()
    return {"command": command, "date": date, "machine": machine(), "points": points, "slope": slope}


def render(measured: dict[str, Any]) -> list[str]:
    """The rows of the report."""
    lines = [
        f"Laplace logistic regression, {SCALED} categories of the synthetic corpus of the shape of RCV1, lambda {RATE}",
        f"for each {DOCUMENTS:,} documents (a constant penalty per document): time grows as entries to the power",
        f"{measured['slope']:.2f} (plot: out/benchmarks/{PLOT.name}).",
        "",
        "| documents | entries | CPU s |",
        "|---|---|---|",
    ]
    return lines + [f"| {p['documents']:,} | {p['entries']:,} | {p['seconds']:.2f} |" for p in measured["points"]]


def draw(points: list[dict[str, Any]], slope: float) -> str:
    """An SVG of seconds against entries, with the straight line through the first point."""
    width, height, edge = 480, 320, 50
    most_entries, most_seconds = points[-1]["entries"], 1.1 * max(point["seconds"] for point in points)

    def at(entries: float, seconds: float) -> tuple[float, float]:
        across = edge + (width - 2 * edge) * entries / most_entries
        return across, height - edge - (height - 2 * edge) * seconds / most_seconds

    dots = [at(point["entries"], point["seconds"]) for point in points]
    first = points[0]["seconds"] / points[0]["entries"]
    end = at(min(most_entries, most_seconds / first), min(most_entries * first, most_seconds))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">',
        f'<text x="{edge}" y="20" font-size="13">CPU seconds against entries, slope of logs {slope:.2f}</text>',
        f'<path d="M{edge},{edge}V{height - edge}H{width - edge}" fill="none" stroke="black"/>',
        f'<path d="M{edge},{height - edge}L{end[0]:.1f},{end[1]:.1f}" stroke="gray" stroke-dasharray="4"/>',
        f'<text x="{edge}" y="{edge - 6}" font-size="11">{most_seconds:.1f} s</text>',
        f'<text x="{width - 2 * edge}" y="{height - edge + 16}" font-size="11">{most_entries:,} entries</text>',
        *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="steelblue"/>' for x, y in dots),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"
