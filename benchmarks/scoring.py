"""Scores of all documents under 90 sparse models, against SciPy's product with dense weights."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.arrays import Array
from bayesift.models.base import scores_of
from bayesift.models.linear import LaplacePrior, SparseBayesClassifier
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset
from benchmarks.linear import RATE, reuters

_PASSES = 10  # a turn


@cache
def models() -> dict[str, Any] | None:
    """Return the matrix and the weights of Laplace logistic regression, sparse and dense."""
    data = reuters()
    if data is None:
        return None
    fitted = SparseBayesClassifier(prior=LaplacePrior(gamma=RATE**2), tol=7e-3).fit(*data)
    weights = fitted.coef_
    return {
        "X": data[0],
        "sparse": weights,
        "dense": weights.toarray(),
        "intercepts": fitted.intercept_,
    }


def _ours(data: dict[str, Any]) -> Array:
    for _ in range(_PASSES):
        scores = scores_of(data["X"], data["sparse"], data["intercepts"])
    return scores


def _scipy(data: dict[str, Any]) -> Array:
    for _ in range(_PASSES):
        scores: Array = data["X"] @ data["dense"].T + data["intercepts"]
    return scores


def _check(results: dict[str, Array]) -> None:
    """Equal scores; says how fast that is, and how much of the memory's bandwidth it takes."""
    data = models()
    assert data is not None
    np.testing.assert_allclose(
        results["bayesift"], results["scipy, dense weights"], rtol=0, atol=1e-12
    )
    X: sparse.csr_array = data["X"]
    times = [_seconds(lambda: _ours(data)) / _PASSES for _ in range(5)]
    least = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + results["bayesift"].nbytes
    rate, bandwidth = least / np.median(times), copy_bandwidth()
    print(
        f"{X.shape[0] / np.median(times):,.0f} documents/s; {rate / 1e9:.2f} GB/s of matrix read "
        f"and scores written,"
    )
    print(
        f"{rate / bandwidth:.0%} of the {bandwidth / 1e9:.1f} GB/s that NumPy copies an array with"
    )


def copy_bandwidth(n_bytes: int = 1 << 28) -> float:
    """Bytes read and written a second by a copy of an array far larger than the caches."""
    source, target = np.ones(n_bytes // 8), np.zeros(n_bytes // 8)
    return (
        2
        * n_bytes
        / float(np.median([_seconds(lambda: np.copyto(target, source)) for _ in range(5)]))
    )


def _seconds(work: Any) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


BENCHMARK = Benchmark(
    name="scoring",
    objective=f"scores of all documents under 90 sparse models, {_PASSES} times over",
    datasets=[Dataset("Reuters-21578 ModApte, ltc, 90 categories", models)],
    contenders=[Contender("bayesift", _ours), Contender("scipy, dense weights", _scipy)],
    comparisons=[Comparison("bayesift", "scipy, dense weights", asked=3)],
    check=_check,
)
