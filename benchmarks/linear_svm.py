"""Support vector machines with the squared hinge, one per category, against liblinear."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from bayesift.arrays import Array
from bayesift.models.baselines import LinearSVM
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset
from benchmarks.linear import reuters
from benchmarks.linear_synthetic import raced

Data = tuple[Any, Any]
Weights = tuple[Array, Array]
GAP = 1e-7


def objective(data: Data, weights: Weights) -> float:
    """Total over the categories, C = 1; the intercept is penalised like a weight."""
    (X, Y), (coefficients, intercepts) = data, weights
    below = np.maximum(1.0 - (2.0 * Y.toarray() - 1.0) * (X @ coefficients.T + intercepts), 0.0)
    return float((below**2).sum() + 0.5 * (coefficients**2).sum() + 0.5 * (intercepts**2).sum())


def _ours(data: Data, *, tol: float = 1e-3) -> Weights:
    model = LinearSVM(tol=tol).fit(*data)
    return model.coef_.toarray() if sparse.issparse(
        model.coef_
    ) else model.coef_, model.intercept_


def _peer(data: Data) -> Weights:
    X = sparse.csr_matrix(data[0])
    fitted = [
        LinearSVC(tol=3e-3, random_state=0, max_iter=20_000).fit(X, column)
        for column in data[1].toarray().T
    ]
    return np.vstack([m.coef_ for m in fitted]), np.concatenate([m.intercept_ for m in fitted])


def _check(load: Any, results: dict[str, Weights]) -> None:
    data = load()
    best = objective(data, _ours(data, tol=1e-5))
    for name, weights in results.items():
        gap = objective(data, weights) / best - 1
        print(f"{name}: relative gap {gap:.1e}")
        assert not name.startswith("bayesift") or gap <= GAP, name


def _race(name: str, dataset: Dataset) -> Benchmark:
    return Benchmark(
        name=name,
        objective="support vector machines with the squared hinge (C = 1), total relative gap <= "
        "1e-7",
        datasets=[dataset],
        contenders=[Contender("bayesift", _ours), Contender("liblinear, dual", _peer)],
        comparisons=[Comparison("bayesift", "liblinear, dual")],
        check=partial(_check, dataset.load),
        repeats=3,
    )


BENCHMARK = _race("linear_svm", Dataset("Reuters-21578 ModApte, ltc, 90 categories", reuters))
BENCHMARK_RCV1 = _race(
    "linear_svm_rcv1", Dataset("shape of RCV1 (23,149 x 47,236), every tenth category", raced)
)
