"""Softmax regression on 20 Newsgroups against scikit-learn's saga and lbfgs."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression

from bayesift.arrays import Array
from bayesift.corpora import load_newsgroups
from bayesift.models.linear import GaussianPrior, LaplacePrior, SparseBayesClassifier
from bayesift.text import TermVectorizer
from benchmarks.corpora import if_present
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset

RATE, VARIANCE = 0.1, 10.0
EPOCHS = 100  # of saga: minutes, and still far from the mode


@cache
@if_present
def newsgroups() -> tuple[Any, Array]:
    """Return unit-length ltc vectors and groups of the training documents (bydate), all words."""
    train = load_newsgroups().split("train")
    X = TermVectorizer(weighting="ltc").fit_transform(train.texts)
    return X, np.asarray(train.indicator.argmax(axis=1)).ravel()


def objective(
    X: Any, y: Array, coefficients: Array, intercepts: Array, *, laplace: bool
) -> float:
    """Return the sum over documents and the prior; intercepts have no prior."""
    scores = X @ coefficients.T + intercepts
    loss = np.sum(logsumexp(scores, axis=1) - scores[np.arange(len(y)), y])
    cost = (
        RATE * np.abs(coefficients).sum()
        if laplace
        else np.sum(coefficients**2) / (2 * VARIANCE)
    )
    return float(loss + cost)


def _fit(data: tuple[Any, Array], *, laplace: bool, tol: float) -> tuple[Array, Array]:
    prior = LaplacePrior(gamma=RATE**2) if laplace else GaussianPrior(variance=VARIANCE)
    model = SparseBayesClassifier(prior=prior, multiclass="softmax", tol=tol).fit(*data)
    return model.coef_.toarray() if sparse.issparse(
        model.coef_
    ) else model.coef_, model.intercept_


def _peer(data: tuple[Any, Array], **parameters: Any) -> tuple[Array, Array]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(random_state=0, **parameters).fit(
            sparse.csr_matrix(data[0]), data[1]
        )
    return model.coef_, model.intercept_


def _check(*, laplace: bool, precise: float) -> Any:
    def check(results: dict[str, Any]) -> None:
        """No objective of ours is above that of the peer.

        Gaps are relative to a far more precise run.
        """
        data = newsgroups()
        assert data is not None
        best = objective(*data, *_fit(data, laplace=laplace, tol=precise), laplace=laplace)
        reached = {
            name: objective(*data, *weights, laplace=laplace)
            for name, weights in results.items()
        }
        for name, value in reached.items():
            print(f"{name}: objective {value:.4f}, relative gap {value / best - 1:.1e}")
        peers = [value for name, value in reached.items() if not name.startswith("bayesift")]
        ours = [value for name, value in reached.items() if name.startswith("bayesift")]
        assert max(ours) <= min(peers)

    return check


_DATA = Dataset("20 Newsgroups bydate train, ltc, full vocabulary, 20 classes", newsgroups)
BENCHMARK = Benchmark(
    name="softmax_laplace",
    objective=f"softmax regression with a Laplace prior (lambda 0.1), an objective no worse than "
    f"saga's after {EPOCHS} "
    "epochs",
    datasets=[_DATA],
    contenders=[
        Contender("bayesift", lambda data: _fit(data, laplace=True, tol=20.0)),
        Contender("bayesift, far more precise", lambda data: _fit(data, laplace=True, tol=1.0)),
        Contender(
            "saga",
            lambda data: _peer(
                data, solver="saga", l1_ratio=1.0, C=1 / RATE, tol=0.0, max_iter=EPOCHS
            ),
        ),
    ],
    comparisons=[
        Comparison("bayesift", "saga", asked=20),
        Comparison("bayesift, far more precise", "saga"),
    ],
    check=_check(laplace=True, precise=1e-2),
    repeats=1,
)
BENCHMARK_GAUSSIAN = Benchmark(
    name="softmax_gaussian",
    objective="softmax regression with a Gaussian prior (variance 10), an objective no worse than "
    "that of lbfgs",
    datasets=[_DATA],
    contenders=[
        Contender("bayesift", lambda data: _fit(data, laplace=False, tol=9e-3)),
        Contender("lbfgs", lambda data: _peer(data, C=VARIANCE)),
    ],
    comparisons=[Comparison("bayesift", "lbfgs")],
    check=_check(laplace=False, precise=1e-6),
    repeats=1,
)
