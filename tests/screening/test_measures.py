"""Measures of a simulated review, beside ASReview's formulas written out."""

import numpy as np
import pytest

from bayesift.errors import DataError
from bayesift.screening import ReviewCurve, recall_curves


def asreview(labels):
    """WSS@95, RRF@10, loss and NDCG as `asreview-insights` 1.6 and `asreview` 3.0 compute them.

    They are computed from whole orders.
    """
    n, found = len(labels), int(np.sum(labels))
    seen = np.cumsum(labels)
    by_chance = np.round(np.linspace(0, found, n))
    counts = np.arange(1, found + 1)
    earlier = np.searchsorted(by_chance, counts) - np.searchsorted(seen, counts)
    at = lambda x, y, value: y[np.searchsorted(x, value, side="right") - 1]  # noqa: E731
    return {
        "atd": np.mean(np.flatnonzero(labels) + 1),
        "wss": at((counts / found).tolist(), (earlier / n).tolist(), 0.95),
        "rrf": at((np.arange(1, n + 1) / n).tolist(), (seen / found).tolist(), 0.1),
        "loss": (found * (n - (found - 1) / 2) - seen.sum()) / (found * (n - found)),
        "ndcg": np.sum(labels / np.log2(np.arange(2, n + 2)))
        / np.sum(1 / np.log2(np.arange(2, found + 2))),
    }


@pytest.mark.parametrize("seed", range(8))
def test_measures_are_those_of_asreview(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 400))
    labels = rng.random(n) < 0.1 + 0.3 * (np.arange(n) < n // 4)
    labels[:2] = True
    curve = ReviewCurve.of(range(n), labels)
    expected = asreview(labels.astype(int))
    assert curve.average_time_to_discovery == pytest.approx(expected["atd"])
    assert curve.work_saved_over_sampling() == pytest.approx(expected["wss"])
    assert curve.relevant_found(0.1) == pytest.approx(expected["rrf"])
    assert curve.loss == pytest.approx(expected["loss"])
    assert curve.ndcg == pytest.approx(expected["ndcg"])


def test_the_best_and_the_worst_order():
    labels = np.array([1] * 5 + [0] * 45)
    best, worst = ReviewCurve.of(range(50), labels), ReviewCurve.of(range(50)[::-1], labels)
    assert (best.loss, worst.loss) == (0.0, 1.0)
    assert best.ndcg == 1.0 > worst.ndcg
    with pytest.raises(DataError, match="loss is not defined"):
        _ = ReviewCurve.of(range(5), np.ones(5)).loss


def test_curves_are_drawn_beside_the_best_and_a_random_order():
    labels = np.array([1, 0, 1, 0, 0, 1, 0, 0, 0, 0])
    figure = recall_curves({"start 0": ReviewCurve.of(range(10), labels)})
    assert [key.name for key in figure.legend] == ["start 0", "best order", "random"]
    assert figure.to_svg().startswith("<svg")
