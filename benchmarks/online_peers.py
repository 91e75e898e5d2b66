"""Run river and Vowpal Wabbit on the streams, at several learning rates.

Run with `python -m benchmarks.online_peers [STREAM ...]`.

One model for each category, predicted before it learns. SGD and FTRL-proximal run as compiled
copies of river's updates, which are first compared with river itself on 1,000 documents; Vowpal
Wabbit runs itself. Needs `pip install river vowpalwabbit`.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np

from bayesift.arrays import Array
from benchmarks.online_streams import STREAMS, Stream, line_of, stream

# A rate and the rate of the intercept; river's defaults come first.
SGD_RATES = ((0.01, 0.01), (1.0, 0.1), (4.0, 0.1), (16.0, 0.1), (64.0, 0.1))
# For FTRL also the ridge l2; without it rates can be larger.
FTRL_RATES = (
    (0.05, 0.01, 1.0),
    (16.0, 0.1, 1.0),
    *((rate, 0.1, 0.0) for rate in (4.0, 8.0, 16.0, 32.0, 64.0)),
)
VW_RATES = (0.5, 2.0, 8.0, 32.0)  # the default first


@numba.njit(nogil=True)
def _sgd(
    indptr: Array,
    indices: Array,
    data: Array,
    labels: Array,
    rate: float,
    intercept_rate: float,
    out: Array,
) -> None:
    weights, intercept = np.zeros(indices.max() + 1), 0.0
    for i in range(len(labels)):
        score = intercept
        for k in range(indptr[i], indptr[i + 1]):
            score += weights[indices[k]] * data[k]
        out[i] = 1.0 / (1.0 + math.exp(-score))
        error = labels[i] - out[i]
        for k in range(indptr[i], indptr[i + 1]):
            weights[indices[k]] += rate * error * data[k]
        intercept += intercept_rate * error


@numba.njit(nogil=True)
def _ftrl(
    indptr: Array,
    indices: Array,
    data: Array,
    labels: Array,
    rate: float,
    intercept_rate: float,
    l2: float,
    out: Array,
) -> None:
    """Run river's FTRLProximal with beta 1 and l1 0.

    A weight is renewed when its term occurs, before the document is learned.
    """
    size = indices.max() + 1
    weights, sums, squares, intercept = np.zeros(size), np.zeros(size), np.zeros(size), 0.0
    for i in range(len(labels)):
        score = intercept
        for k in range(indptr[i], indptr[i + 1]):
            score += weights[indices[k]] * data[k]
        out[i] = 1.0 / (1.0 + math.exp(-score))
        error = labels[i] - out[i]
        intercept += intercept_rate * error
        for k in range(indptr[i], indptr[i + 1]):
            j, slope = indices[k], -error * data[k]
            if sums[j] != 0.0:
                weights[j] = -sums[j] / ((1.0 + math.sqrt(squares[j])) / rate + l2)
            change = (math.sqrt(squares[j] + slope * slope) - math.sqrt(squares[j])) / rate
            sums[j] += slope - change * weights[j]
            squares[j] += slope * slope


def compiled(update: Callable[..., None], documents: Stream, *rates: float) -> Array:
    """Probabilities of a compiled copy."""
    X, probabilities = documents.X, np.empty(documents.Y.shape)
    for c, labels in enumerate(documents.Y.T):
        out = np.empty(len(labels))
        update(X.indptr, X.indices, X.data, np.ascontiguousarray(labels), *rates, out)
        probabilities[:, c] = out
    return probabilities


def dictionaries(X: Any) -> list[dict[int, float]]:
    """Documents as river takes them."""
    rows = [slice(X.indptr[i], X.indptr[i + 1]) for i in range(X.shape[0])]
    return [
        dict(zip(X.indices[row].tolist(), X.data[row].tolist(), strict=True)) for row in rows
    ]


def river(documents: Stream, optimizer: Any, intercept_rate: float) -> Array:
    """Probabilities of river's logistic regression; `optimizer` makes one."""
    from river import linear_model

    rows, probabilities = dictionaries(documents.X), np.empty(documents.Y.shape)
    for c, labels in enumerate(documents.Y.T.astype(bool).tolist()):
        model = linear_model.LogisticRegression(
            optimizer=optimizer(), intercept_lr=intercept_rate
        )
        for i, (x, y) in enumerate(zip(rows, labels, strict=True)):
            probabilities[i, c] = model.predict_proba_one(x)[True]
            model.learn_one(x, y)
    return probabilities


def vowpal_wabbit(documents: Stream, rate: float) -> Array:
    """Probabilities of Vowpal Wabbit's logistic regression."""
    from vowpalwabbit import Workspace

    lines = [
        " ".join(f"{j}:{x:.9g}" for j, x in row.items()) for row in dictionaries(documents.X)
    ]
    margins = np.empty(documents.Y.shape)
    for c, labels in enumerate(documents.Y.T):
        workspace = Workspace(f"--loss_function logistic --quiet --learning_rate {rate} -b 20")
        for i, line in enumerate(lines):
            example = workspace.parse(f"{2 * int(labels[i]) - 1} | {line}")
            workspace.learn(example)
            margins[i, c] = example.get_simplelabel_prediction()
            workspace.finish_example(example)
        workspace.finish()
    return np.asarray(1.0 / (1.0 + np.exp(-margins)))


def write_cache(documents: Stream, folder: Path) -> Path:
    """Write Vowpal Wabbit's cache of a stream, with one label of 1 or -1 or category numbers."""
    from vowpalwabbit import Workspace

    several, data, cache = (
        documents.Y.shape[1] > 1,
        folder / "stream.txt",
        folder / "stream.cache",
    )
    with data.open("w") as stream:
        for row, labels in zip(dictionaries(documents.X), documents.Y, strict=True):
            # A document without a label would be skipped: it gets a category of its own.
            names = ",".join(map(str, np.flatnonzero(labels))) or str(len(labels))
            label = names if several else str(2 * int(labels[0]) - 1)
            stream.write(f"{label} | {' '.join(f'{j}:{x:.9g}' for j, x in row.items())}\n")
    Workspace(f"{_vw_options(documents)} --data {data} --cache_file {cache}").finish()
    data.unlink()
    return cache


def vowpal_wabbit_from_cache(documents: Stream, cache: Path) -> None:
    """Run one pass of Vowpal Wabbit over the cache of `write_cache`, all categories together."""
    from vowpalwabbit import Workspace

    # Without --data nothing is read; with it, the cache is read instead.
    workspace = Workspace(
        f"{_vw_options(documents)} --data {cache.with_suffix('.txt')} --cache_file {cache}"
    )
    assert workspace.get_weighted_examples() == len(documents.Y), "the cache was not read"
    workspace.finish()


def _vw_options(documents: Stream) -> str:
    n = documents.Y.shape[1]
    reduction = f"--multilabel_oaa {n + 1} -b 24" if n > 1 else "-b 20"
    return f"{reduction} --loss_function logistic --quiet --holdout_off"


def check_copies(documents: Stream) -> None:
    """Compare the compiled copies with river on the first documents of one category."""
    from river import optim

    part = Stream("", documents.X[:1000], documents.Y[:1000, :1], None)
    for update, make, rates in (
        (_sgd, optim.SGD, (4.0, 0.1)),
        (_ftrl, optim.FTRLProximal, (4.0, 0.1, 1.0)),
    ):
        np.testing.assert_allclose(
            compiled(update, part, *rates), river(part, partial(make, 4.0), 0.1), rtol=1e-9
        )


def main(names: list[str]) -> None:
    """Print log loss, F1, calibration error and speed of every peer and learning rate.

    Speed is in thousands of updates per second.
    """
    checked = False
    for name in names or STREAMS:
        documents = stream(name)
        if documents is None:
            continue
        if not checked:
            check_copies(documents)
            checked = True
        runs = {
            f"river SGD {rate[0]:g}": partial(compiled, _sgd, documents, *rate)
            for rate in SGD_RATES
        }
        for rates in FTRL_RATES:
            runs[f"river FTRL {rates[0]:g}, l2 {rates[2]:g}"] = partial(
                compiled, _ftrl, documents, *rates
            )
        runs |= {
            f"Vowpal Wabbit {rate:g}": partial(vowpal_wabbit, documents, rate)
            for rate in VW_RATES
        }
        for title, run in runs.items():
            start = time.process_time()
            probabilities = run()
            print(
                line_of(name, title, documents.Y, probabilities, time.process_time() - start),
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
