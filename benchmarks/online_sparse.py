"""The Laplace mode learned online, after 1, 3, 10 and 30 passes.

Run with `python -m benchmarks.online_sparse [STREAM ...]`.

The first 70% of a stream are learned by `SparseBayesClassifier.fit` and, in their order, by its
`partial_fit`; log loss on the other documents, weights that are not 0, and how far the objective is
above its minimum.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.arrays import Array
from bayesift.models.linear import LaplacePrior, SparseBayesClassifier
from benchmarks.online_streams import STREAMS, Stream, log_loss, stream

GAMMAS = (0.04, 1.0)
PASSES = (1, 3, 10, 30)


def objective(model: Any, X: Any, Y: Array, gamma: float) -> float:
    """Minus the log posterior of all categories, without constants."""
    coefficients = sparse.csr_array(model.coef_)
    margins = (2.0 * Y - 1.0) * ((X @ coefficients.T).toarray() + model.intercept_)
    return float(
        np.logaddexp(0.0, -margins).sum() + np.sqrt(gamma) * np.abs(coefficients).sum()
    )


def print_passes(documents: Stream, gamma: float) -> None:
    """Print a row for the batch mode, and one for each number of passes."""
    first = int(0.7 * len(documents.Y))
    X, Y, rest, truth = (
        documents.X[:first],
        documents.Y[:first],
        documents.X[first:],
        documents.Y[first:],
    )
    labels = sparse.csr_array(Y.astype(int))
    batch = SparseBayesClassifier(prior=LaplacePrior(gamma)).fit(X, labels)
    lowest, name = objective(batch, X, Y, gamma), f"{documents.name}, gamma {gamma:g}"
    loss = log_loss(truth, batch.predict_proba(rest))
    print(
        f"| {name} | batch | {loss:.4f} | | {sparse.csr_array(batch.coef_).nnz:,} | |",
        flush=True,
    )
    model = SparseBayesClassifier(prior=LaplacePrior(gamma))
    for number in range(1, PASSES[-1] + 1):
        model.partial_fit(X, labels, new_pass=number > 1)
        if number in PASSES:
            own, gap = (
                log_loss(truth, model.predict_proba(rest)),
                objective(model, X, Y, gamma) / lowest - 1.0,
            )
            size = sparse.csr_array(model.coef_).nnz
            print(
                f"| {name} | {number} | {own:.4f} | {own / loss - 1:+.1%} | {size:,} | {gap:.1%} |",
                flush=True,
            )


def main(names: list[str]) -> None:
    """Print a table."""
    print("| stream | passes | log loss | to batch | non-zeros | objective above its minimum |")
    print("|---|---|---|---|---|---|")
    for name in names or STREAMS:
        documents = stream(name)
        for gamma in GAMMAS if documents is not None else ():
            assert documents is not None
            print_passes(documents, gamma)


if __name__ == "__main__":
    main(sys.argv[1:])
