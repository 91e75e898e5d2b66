"""One term score of every category and term of a corpus."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_selection import chi2 as sklearn_chi2

from bayesift.features import TermTables, chi2, count_chi2, likelihood_ratio, pearson
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset
from benchmarks.naive_bayes import reuters


def _scores(score: Any) -> Any:
    def run(data: tuple[Any, Any]) -> Any:
        return np.concatenate([score(block) for block in TermTables.of(*data).blocks()])

    return run


def _sklearn_per_category(data: tuple[Any, Any]) -> Any:
    X, Y = data
    return np.array([sklearn_chi2(X, category)[0] for category in Y.T.toarray()])


def _one_pass(data: tuple[Any, Any]) -> Any:
    """Return the sums of every category and term as one sparse product, the yardstick."""
    X, Y = data
    return Y.T @ X


def _check(results: dict[str, Any]) -> None:
    np.testing.assert_allclose(
        results["bayesift, chi2 of counts"], results["scikit-learn, chi2 per category"]
    )


BENCHMARK = Benchmark(
    name="term_scores",
    objective="one score of all 90 categories x the full vocabulary",
    datasets=[Dataset("Reuters-21578 ModApte", reuters)],
    contenders=[
        Contender("bayesift, chi2 of counts", _scores(count_chi2)),
        Contender("bayesift, chi2 of presence", _scores(chi2)),
        Contender("bayesift, likelihood ratio", _scores(likelihood_ratio)),
        Contender("bayesift, Pearson", _scores(pearson)),
        Contender("scikit-learn, chi2 per category", _sklearn_per_category),
        Contender("one sparse product Y'X", _one_pass),
    ],
    comparisons=[
        *(
            Comparison(f"bayesift, {name}", "scikit-learn, chi2 per category")
            for name in ("chi2 of counts", "chi2 of presence", "likelihood ratio", "Pearson")
        ),
        Comparison("one sparse product Y'X", "bayesift, chi2 of counts"),
    ],
    check=_check,
)
