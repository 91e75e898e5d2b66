"""Laplace and Gaussian logistic regression, 90 categories, against scikit-learn's liblinear at an equal objective."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from bayesift.datasets import load_reuters
from bayesift.errors import CorpusNotFoundError
from bayesift.models import GaussianPrior, LaplacePrior, SparseBayesClassifier
from bayesift.text import TermVectorizer
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset

Array = np.ndarray[Any, Any]

RATE, VARIANCE = 0.1, 10.0
GAP = 1e-6
_PRIOR_OF_BIAS = GaussianPrior(variance=VARIANCE)  # liblinear counts the intercept among the weights


@cache
def reuters() -> tuple[Any, Any] | None:
    """Unit-length ltc vectors of the training documents of Reuters-21578 (ModApte), words in at least three of them."""
    try:
        train = load_reuters(subset="modapte").split("train")
    except CorpusNotFoundError:
        return None
    return TermVectorizer(weighting="ltc", min_df=3).fit_transform(train.texts), train.indicator


def objective(X: Any, Y: Any, coefficients: Array, intercepts: Array, *, laplace: bool) -> float:
    """Total over the categories; liblinear's own, which penalises the intercept like a weight, in the Gaussian case."""
    signs = 2.0 * Y.toarray() - 1.0
    loss = np.logaddexp(0.0, -signs * (X @ coefficients.T + intercepts)).sum()
    if laplace:
        return float(loss + RATE * np.abs(coefficients).sum())
    return float(loss + ((coefficients**2).sum() + (intercepts**2).sum()) / (2 * VARIANCE))


def _fit(data: tuple[Any, Any], *, laplace: bool, tol: float, n_jobs: int = 1) -> tuple[Array, Array]:
    X, Y = data
    prior = LaplacePrior(gamma=RATE**2) if laplace else GaussianPrior(variance=VARIANCE)
    intercept = "flat" if laplace else _PRIOR_OF_BIAS
    model = SparseBayesClassifier(prior=prior, intercept=intercept, tol=tol, n_jobs=n_jobs).fit(X, Y)
    weights = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    return weights, model.intercept_


def _peer(data: tuple[Any, Any], **parameters: Any) -> tuple[Array, Array]:
    X, Y = sparse.csr_matrix(data[0]), data[1].toarray()
    fitted = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for column in Y.T:
            model = LogisticRegression(solver="liblinear", random_state=0, max_iter=5000, **parameters)
            fitted.append(model.fit(X, column))
    return np.vstack([m.coef_ for m in fitted]), np.concatenate([m.intercept_ for m in fitted])


def _check(*, laplace: bool) -> Any:
    def check(results: dict[str, Any]) -> None:
        """Ours lies within the gap of the mode, which a run to a far smaller tolerance gives."""
        data = reuters()
        assert data is not None
        best = objective(*data, *_fit(data, laplace=laplace, tol=1e-7), laplace=laplace)
        for name, (coefficients, intercepts) in results.items():
            gap = objective(*data, coefficients, intercepts, laplace=laplace) / best - 1
            print(f"{name}: relative gap {gap:.1e}")
            assert not name.startswith("bayesift") or gap <= GAP, name

    return check


_DATA = Dataset("Reuters-21578 ModApte, ltc, 90 categories", reuters)
BENCHMARK_GAUSSIAN = Benchmark(
    name="linear_gaussian",
    objective="logistic regression with a Gaussian prior (variance 10), total relative gap of the objective <= 1e-6",
    datasets=[_DATA],
    contenders=[
        Contender("bayesift", lambda data: _fit(data, laplace=False, tol=5e-4)),
        Contender("liblinear, dual", lambda data: _peer(data, dual=True, C=VARIANCE, tol=1e-3)),
    ],
    comparisons=[Comparison("bayesift", "liblinear, dual", asked=5)],
    check=_check(laplace=False),
    repeats=3,
)
