"""The lecture on naive Bayes and logistic regression: smoothings and solvers, on 20 Newsgroups."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from bayesift.evaluation import bootstrap_f1, bootstrap_mean
from bayesift.features import SelectTerms
from bayesift.models.linear import GaussianPrior, SparseBayesClassifier
from bayesift.models.naive_bayes import (
    AbsoluteDiscounting,
    Dirichlet,
    HierarchicalShrinkage,
    JelinekMercer,
    Laplace,
    MaximumLikelihood,
    NaiveBayesClassifier,
)
from bayesift.text import TermVectorizer
from papers.corpora import corpus_part
from papers.experiment import Experiment, Extent, Grid, Task, TimeRatio, reading

SMOOTHINGS: dict[str, Callable[[Any], Any]] = {
    "none (maximum likelihood)": lambda parents: MaximumLikelihood(),
    "Laplace, α = 1": lambda parents: Laplace(),
    "Laplace, α = 0.01": lambda parents: Laplace(0.01),
    "Dirichlet, μ = 2000": lambda parents: Dirichlet(),
    "Dirichlet, μ = 30000": lambda parents: Dirichlet(30_000.0),
    "Jelinek-Mercer, λ = 0.5": lambda parents: JelinekMercer(),
    "Jelinek-Mercer, λ = 0.95": lambda parents: JelinekMercer(0.95),
    "absolute discounting, δ = 0.7": lambda parents: AbsoluteDiscounting(),
    "hierarchical": HierarchicalShrinkage,
}


@lru_cache(maxsize=1)
def _counts(quick: bool) -> tuple[Any, Any, Any, Any, Any]:
    corpus = corpus_part("20newsgroups", quick)
    train, test = corpus.split("train"), corpus.split("test")
    vectorizer = TermVectorizer()
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    return X, np.array(train.labels), X_test, np.array(test.labels), dict(corpus.parents)


def measure_smoothing(*, smoothing: str, quick: bool, seed: int) -> dict[str, Any]:
    """Accuracy and macro F1 in per cent, and log loss in nats, over all 20 groups."""
    X, y, X_test, y_test, parents = _counts(quick)
    model = NaiveBayesClassifier(smoothing=SMOOTHINGS[smoothing](parents)).fit(X, y)
    probabilities = model.predict_proba(X_test)
    predicted = model.classes_[np.argmax(probabilities, axis=1)]
    columns = np.searchsorted(model.classes_, y_test)
    each = -np.log(np.maximum(probabilities[np.arange(len(y_test)), columns], 1e-15))
    accuracy, macro = (
        bootstrap_mean(predicted == y_test, random_state=seed),
        bootstrap_f1(y_test, predicted).macro,
    )
    return {
        "accuracy": accuracy.times(100),
        "macro F1": macro.times(100),
        "log loss": list(bootstrap_mean(each, random_state=seed)),
    }


# Solvers of logistic regression: Newton's method, a quasi-Newton method and the variational bound
# reach one mode.
SOLVERS = {
    "Newton's method": "newton",
    "quasi-Newton (L-BFGS)": "lbfgs",
    "variational bound, to the mode": "variational-mode",
    "variational bound, its own posterior": "variational",
    "dual ascent": "dual",
}
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
    """Measure the objective that a solver reaches and the F1 of its decisions at 1/2.

    Each of the 20 groups is fitted against the rest.
    """
    X, Y, X_test, Y_test = _vectors(quick)
    start = time.process_time()
    model = SparseBayesClassifier(
        prior=GaussianPrior(variance=VARIANCE), solver=solver, tol=1e-4
    ).fit(X, Y)
    seconds = time.process_time() - start
    found = bootstrap_f1(Y_test, model.predict(X_test), random_state=seed)
    return {
        "objective": float(
            sum(_objective(solution, X, Y[:, c]) for c, solution in enumerate(model.solutions_))
        ),
        "rounds": int(max(solution.iterations for solution in model.solutions_)),
        "micro F1": found.micro.times(100),
        "macro F1": found.macro.times(100),
        "seconds": {"fit": seconds},
    }


def _objective(solution: Any, X: Any, y: Any) -> float:
    """Return minus the log posterior without constants, in plain NumPy."""
    margins = np.where(y > 0, 1.0, -1.0) * (X @ solution.coefficients + solution.intercept)
    return float(
        np.logaddexp(0, -margins).sum() + (solution.coefficients**2).sum() / (2 * VARIANCE)
    )


def _smoothings_grid(extent: Extent) -> Grid:
    grid: Grid = {}
    for smoothing in SMOOTHINGS:
        label = f"lecture: smoothing, {smoothing}"
        task = Task.of(
            measure_smoothing,
            label,
            corpora=("20newsgroups",),
            smoothing=smoothing,
            **extent.settings,
        )
        grid |= {
            (smoothing, column): reading(task, column)
            for column in ("accuracy", "macro F1", "log loss")
        }
    return grid


def _solver_tasks(extent: Extent) -> dict[str, Task]:
    return {
        row: Task.of(
            measure_solver,
            f"lecture: {row}",
            corpora=("20newsgroups",),
            solver=solver,
            **extent.settings,
        )
        for row, solver in SOLVERS.items()
    }


def _solvers_grid(extent: Extent) -> Grid:
    columns = ("objective", "rounds", "micro F1", "macro F1")
    return {
        (row, column): reading(task, column)
        for row, task in _solver_tasks(extent).items()
        for column in columns
    }


def _solver_ratios(extent: Extent) -> dict[str, TimeRatio]:
    tasks = _solver_tasks(extent)
    return {
        row: TimeRatio(task, tasks["quasi-Newton (L-BFGS)"], "fit")
        for row, task in tasks.items()
    }


EXPERIMENTS = [
    Experiment("lecture:smoothings", _smoothings_grid),
    Experiment("lecture:solvers", _solvers_grid, ratios=_solver_ratios),
]
