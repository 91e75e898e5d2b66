"""Solvers of logistic regression: Newton's method, a quasi-Newton method and the variational bound reach one mode."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np

from bayesift.evaluation import bootstrap_f1
from bayesift.features import SelectTerms
from bayesift.models import GaussianPrior, SparseBayesClassifier
from bayesift.reproduce.corpora import corpus_part
from bayesift.reproduce.experiment import Experiment, Extent, Grid, Task, TimeRatio, reading
from bayesift.text import TermVectorizer

SOLVERS = {
    "Newton's method": "newton",
    "quasi-Newton (L-BFGS)": "lbfgs",
    "variational bound, to the mode": "variational-mode",
    "variational bound, its own posterior": "variational",
    "dual ascent": "dual",
}
COLUMNS = ("objective", "rounds", "micro F1", "macro F1")
TERMS, QUICK_TERMS, VARIANCE = 200, 50, 10.0


@lru_cache(maxsize=1)
def _vectors(quick: bool) -> tuple[Any, Any, Any, Any]:
    corpus = corpus_part("20newsgroups", quick)
    train, test = corpus.split("train"), corpus.split("test")
    vectorizer = TermVectorizer(weighting="ltc", stop_words="english", min_df=3)
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    Y, Y_test = train.indicator.toarray(), test.indicator.toarray()
    chosen = SelectTerms(by="information-gain", k=QUICK_TERMS if quick else TERMS).fit(X, Y)
    return chosen.transform(X), Y, chosen.transform(X_test), Y_test


def measure_solver(*, solver: str, quick: bool, seed: int) -> dict[str, Any]:
    """Where a solver ends, over the 20 groups each against the rest, and what its decisions at 1/2 are worth."""
    X, Y, X_test, Y_test = _vectors(quick)
    start = time.process_time()
    model = SparseBayesClassifier(prior=GaussianPrior(variance=VARIANCE), solver=solver, tol=1e-4).fit(X, Y)
    seconds = time.process_time() - start
    found = bootstrap_f1(Y_test, model.predict(X_test), random_state=seed)
    return {
        "objective": float(sum(_objective(solution, X, Y[:, c]) for c, solution in enumerate(model.solutions_))),
        "rounds": int(max(solution.iterations for solution in model.solutions_)),
        "micro F1": [100 * part for part in found.micro if part is not None],
        "macro F1": [100 * part for part in found.macro if part is not None],
        "seconds": {"fit": seconds},
    }


def _objective(solution: Any, X: Any, y: Any) -> float:
    """Minus the log posterior at the weights, without constants; by plain NumPy, whatever the solver says."""
    margins = np.where(y > 0, 1.0, -1.0) * (X @ solution.coefficients + solution.intercept)
    return float(np.logaddexp(0, -margins).sum() + (solution.coefficients**2).sum() / (2 * VARIANCE))


def _tasks(extent: Extent) -> dict[str, Task]:
    return {
        row: Task.of(measure_solver, f"lecture: {row}", corpora=("20newsgroups",), solver=solver, **extent.settings)
        for row, solver in SOLVERS.items()
    }


def _grid(extent: Extent) -> Grid:
    return {(row, column): reading(task, column) for row, task in _tasks(extent).items() for column in COLUMNS}


def _ratios(extent: Extent) -> dict[str, TimeRatio]:
    tasks = _tasks(extent)
    return {row: TimeRatio(task, tasks["quasi-Newton (L-BFGS)"], "fit") for row, task in tasks.items()}


EXPERIMENT = Experiment("lecture:solvers", _grid, ratios=_ratios)
