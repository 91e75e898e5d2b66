"""Probit models with a Laplace prior in the paper's setting: time, and how near EM is to the mode.

Eyheramendy et al.: the ten largest categories of Reuters (7,770 labelled training documents), log
TF, 300 terms a category by Pearson's correlation, gamma = 10. Coordinate descent has to meet the
optimality conditions within 1e-3 of the prior's slope, EM the same objective within 0.02 nats a
category; both are checked, then raced.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.models.linear import LaplacePrior, SparseBayesClassifier
from bayesift.models.linear.links import Probit, log_likelihoods
from benchmarks.corpora import if_present
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset
from papers.sparse_bayes import TEN, Setting, feature_mask_of, vectors_of

GAMMA, VIOLATION, NATS, SECONDS = 10.0, 1e-3, 0.02, 2.0


@cache
@if_present
def paper() -> dict[str, Any]:
    """Return the paper's training documents, labels and terms."""
    vectors = vectors_of(Setting())
    return {
        "X": vectors.train,
        "Y": vectors.train_categories,
        "feature_mask": feature_mask_of(Setting(), vectors),
    }


def _fit(data: dict[str, Any], *, solver: str, tol: float) -> SparseBayesClassifier:
    model = SparseBayesClassifier(
        link="probit", prior=LaplacePrior(gamma=GAMMA), solver=solver, tol=tol, max_iter=20_000
    )
    return model.fit(data["X"], data["Y"], feature_mask=data["feature_mask"])


def violation(data: dict[str, Any], model: SparseBayesClassifier) -> float:
    """Return the largest violation of the optimality conditions, as a share of the prior's slope.

    Written out in NumPy.
    """
    worst, slope = 0.0, np.sqrt(GAMMA)
    feature_mask = np.asarray(
        data["feature_mask"].toarray()
        if hasattr(data["feature_mask"], "toarray")
        else data["feature_mask"]
    )
    for place, solution in enumerate(model.solutions_):
        signs = 2.0 * data["Y"][:, place] - 1.0
        scores = data["X"] @ solution.coefficients + solution.intercept
        residuals = signs * log_likelihoods(Probit(), signs * scores)[1]
        weights, gradient = (
            solution.coefficients[feature_mask[place]],
            (data["X"].T @ residuals)[feature_mask[place]],
        )
        off = np.where(
            weights == 0,
            np.maximum(np.abs(gradient) - slope, 0.0),
            np.abs(gradient - slope * np.sign(weights)),
        )
        worst = max(worst, float(off.max()) / slope, abs(float(residuals.sum())) / slope)
    return worst


def objectives(data: dict[str, Any], model: SparseBayesClassifier) -> Array:
    """Minus the log posterior of each category."""
    found = []
    for place, solution in enumerate(model.solutions_):
        scores = data["X"] @ solution.coefficients + solution.intercept
        likelihood = log_likelihoods(Probit(), (2.0 * data["Y"][:, place] - 1.0) * scores)[
            0
        ].sum()
        found.append(np.sqrt(GAMMA) * np.abs(solution.coefficients).sum() - likelihood)
    return np.array(found)


def _check(results: dict[str, SparseBayesClassifier]) -> None:
    data = paper()
    assert data is not None
    exact, em = results["bayesift, coordinate"], results["bayesift, EM"]
    worst, differences = violation(data, exact), objectives(data, em) - objectives(data, exact)
    print(f"coordinate: largest violation {worst:.1e} of the prior's slope")
    for name, difference in zip(TEN, differences, strict=True):
        print(f"EM - coordinate, {name}: {difference:+.4f} nats")
    assert worst <= VIOLATION
    assert np.abs(differences).max() <= NATS


BENCHMARK = Benchmark(
    name="probit_paper",
    objective=f"the modes of ten probit models with a Laplace prior; all ten in at most "
    f"{SECONDS:g} s of CPU time",
    datasets=[Dataset("Reuters-21578, 7,770 documents, 300 terms a category", paper)],
    contenders=[
        Contender("bayesift, coordinate", partial(_fit, solver="coordinate", tol=VIOLATION)),
        Contender("bayesift, EM", partial(_fit, solver="em", tol=1e-3)),
    ],
    comparisons=[Comparison("bayesift, coordinate", "bayesift, EM")],
    check=_check,
    repeats=1,
)
