"""Choose the thresholds of 90 categories over 3,299 documents, from probabilities and by sample."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import precision_recall_curve

from bayesift.arrays import Array
from bayesift.thresholds import MaxF1, expected_f1_thresholds
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset


class Sample(NamedTuple):
    """Labels drawn from probabilities, documents x categories."""

    labels: Array
    probabilities: Array


@cache
def reuters_shaped() -> Sample:
    """Categories with 30% down to 0.1% positives; every tenth document has an equal."""
    random = np.random.default_rng(0)
    priors = np.clip(0.3 / np.arange(1, 91) ** 1.3, 0.001, 1)
    log_odds = np.log(priors / (1 - priors)) + 3 * random.normal(size=(3299, 90)) - 2
    log_odds[::10] = log_odds[1::10]
    probabilities = 1 / (1 + np.exp(-log_odds))
    return Sample(random.random(probabilities.shape) < probabilities, probabilities)


def _expected_f1_of_every_cut(sample: Sample) -> Array:
    """Look at the set above every probability, each by itself."""
    decisions = np.empty(sample.probabilities.shape, dtype=bool)
    for j, p in enumerate(sample.probabilities.T):
        above = p[None, :] > np.append(p, -1.0)[:, None]
        assigned = above.sum(axis=1)
        expected = np.where(
            assigned > 0, 2 * (above @ p) / (assigned + p.sum()), np.prod(1 - p)
        )
        decisions[:, j] = above[np.argmax(expected)]
    return decisions


def _max_f1_by_scikit_learn(sample: Sample) -> Array:
    best = []
    for y, p in zip(sample.labels.T, sample.probabilities.T, strict=True):
        precision, recall, _ = precision_recall_curve(y, p)
        best.append(np.max(2 * precision * recall / np.maximum(precision + recall, 1e-300)))
    return np.array(best)


def _max_f1(sample: Sample) -> Array:
    decisions = MaxF1().fit(*sample).decide(sample.probabilities)
    true = (decisions & sample.labels).sum(axis=0)
    best: Array = 2 * true / (decisions.sum(axis=0) + sample.labels.sum(axis=0))
    return best


def _check(results: dict[str, Any]) -> None:
    np.testing.assert_array_equal(results["ExpectedF1"], results["every cut"])
    np.testing.assert_allclose(
        results["MaxF1"], results["precision_recall_curve per category"], rtol=1e-12
    )


BENCHMARK = Benchmark(
    name="thresholds",
    objective="decide by the highest expected F1 (asked: under 0.050 s), and by the highest F1 on "
    "the sample",
    datasets=[Dataset("3,299 x 90", reuters_shaped)],
    contenders=[
        Contender(
            "ExpectedF1",
            lambda sample: sample.probabilities > expected_f1_thresholds(sample.probabilities),
        ),
        Contender("every cut", _expected_f1_of_every_cut),
        Contender("MaxF1", _max_f1),
        Contender("precision_recall_curve per category", _max_f1_by_scikit_learn),
    ],
    comparisons=[
        Comparison("ExpectedF1", "every cut", clock="wall"),
        Comparison("MaxF1", "precision_recall_curve per category"),
    ],
    check=_check,
)
