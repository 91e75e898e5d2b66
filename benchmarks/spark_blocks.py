"""Linear models of row blocks of the RCV1 sample on Spark against the local solver."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.corpora import load
from bayesift.models.linear import GaussianPrior, LaplacePrior, SparseBayesClassifier
from bayesift.models.linear.problem import LinearProblem, Solution
from bayesift.spark.blocks import LossEvaluator, LossSums
from bayesift.spark.row_blocks import RowBlocks, Totals, blocks_of, fit_row_blocks

PRIORS = {"gaussian": GaussianPrior(variance=10.0), "laplace": LaplacePrior(gamma=0.04)}


class _Counted(RowBlocks):
    """Row blocks that count their evaluations, and of how many models."""

    jobs = 0
    models = 0

    def evaluate(self, evaluator: LossEvaluator, n_parts: int) -> LossSums:
        """Evaluate, and count it."""
        self.jobs += 1
        self.models += len(evaluator.models)
        return super().evaluate(evaluator, n_parts)


def blocks(spark: Any, n_models: int | None = None, n_blocks: int = 4) -> dict[str, Any]:
    """Objective gaps and evaluations of row blocks on the training part of the RCV1 sample.

    All its categories with two documents or more; or so many of them, from the largest to the
    smallest.
    """
    corpus = load("rcv1-sample").split("train")
    X, Y = corpus.vectors, corpus.indicator
    assert X is not None
    sizes = np.asarray(Y.sum(axis=0)).ravel()
    kept = np.argsort(-sizes)[: np.count_nonzero(sizes >= 2)]
    Y = Y[:, kept[np.linspace(0, len(kept) - 1, n_models or len(kept)).astype(int)]]
    measured: dict[str, Any] = {
        "documents": X.shape[0], "terms": X.shape[1], "categories": Y.shape[1], "blocks": n_blocks,
        "entries_per_document": X.nnz / X.shape[0],
    }  # fmt: skip
    for name in PRIORS:
        measured[name] = _compared(spark, name, X, Y, n_blocks)
        print(name, measured[name], file=sys.stderr, flush=True)
    return measured


def _compared(spark: Any, name: str, X: Any, Y: Any, n_blocks: int) -> dict[str, float]:
    learner = SparseBayesClassifier(prior=PRIORS[name], tol=1e-5, max_iter=2000)
    start = time.perf_counter()
    learner.fit(X, Y)
    local_seconds = time.perf_counter() - start
    positives, squares = (
        np.asarray(M.sum(axis=0), dtype=float).ravel() for M in (Y, X.power(2))
    )
    asked: list[int] = []
    with _Counted(blocks_of(spark, X, Y, n_blocks=n_blocks), X.shape[1], Y.shape[1]) as held:
        held.sizes()  # keeps the blocks in memory
        start = time.perf_counter()
        models = list(range(Y.shape[1]))
        margins = Totals(X.shape[0], positives, squares)
        found, bounds = fit_row_blocks(
            held, learner, margins, models, progress=lambda _, n: asked.append(n)
        )
        seconds = time.perf_counter() - start
        jobs, passes = held.jobs, held.models
    problem = learner.problem(X, Y)
    got, best = _objectives(problem, found), _objectives(problem, learner.solutions_)
    return {
        "largest_gap": float(np.max((got - best) / best)),
        "gap_of_the_sum": float(got.sum() / best.sum() - 1.0),
        "largest_bound": float(bounds.max()), "median_bound": float(np.median(bounds)),
        "questions": len(asked),
        "jobs": jobs, "passes_per_model": passes / Y.shape[1], "seconds": seconds,
        "local_seconds": local_seconds,
    }  # fmt: skip


def _objectives(problem: LinearProblem, solutions: list[Solution]) -> Array:
    return np.array(
        [problem.objective(c, s.coefficients, s.intercept) for c, s in enumerate(solutions)]
    )
