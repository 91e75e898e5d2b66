import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as log_loss_of_scikit_learn

from bayesift.evaluation import (
    brier_score,
    expected_calibration_error,
    log_loss,
    reliability_curve,
    top_label_calibration_error,
    top_label_curve,
)
from bayesift.evaluation.calibration import wilson_interval

forecasts = st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=40)


@given(forecasts)
@settings(deadline=None)
def test_one_category_as_in_scikit_learn(sample):
    y, p = map(np.array, zip(*sample, strict=True))
    assert log_loss(y, p) == pytest.approx(
        log_loss_of_scikit_learn(y, p, labels=[False, True]), rel=1e-9, abs=1e-12
    )
    assert brier_score(y, p) == pytest.approx(np.mean((p - y) ** 2), rel=1e-12)


def test_class_labels_as_in_scikit_learn():
    random = np.random.default_rng(0)
    y = random.choice(["corn", "oil", "wheat"], 30)
    p = random.dirichlet([1, 1, 1], 30)
    assert log_loss(y, p) == pytest.approx(log_loss_of_scikit_learn(y, p))
    assert brier_score(y, p) == pytest.approx(
        brier_score_loss(y, p, labels=["corn", "oil", "wheat"], scale_by_half=False)
    )


def test_an_indicator_matrix_is_averaged_over_decisions():
    random = np.random.default_rng(0)
    p = random.random((20, 4))
    Y = random.random(p.shape) < p
    assert log_loss(Y, p) == pytest.approx(log_loss_of_scikit_learn(Y.ravel(), p.ravel()))
    assert brier_score(Y, p) == pytest.approx(brier_score_loss(Y.ravel(), p.ravel()))


@pytest.mark.parametrize(("bins", "strategy"), [("width", "uniform"), ("mass", "quantile")])
def test_curve_as_in_scikit_learn(bins, strategy):
    random = np.random.default_rng(0)
    p = random.random(1000)
    y = random.random(1000) < p
    curve = reliability_curve(y, p, n_bins=8, bins=bins)
    share, mean = calibration_curve(y, p, n_bins=8, strategy=strategy)
    np.testing.assert_allclose(curve.share_positive, share, atol=0.01)
    np.testing.assert_allclose(curve.mean_probability, mean, atol=0.002)
    assert curve.count.sum() == 1000
    if bins == "mass":
        assert curve.count.tolist() == [125] * 8


@given(
    arrays(np.float64, st.integers(1, 30), elements=st.sampled_from([0.0, 0.1, 0.5, 1.0])),
    st.integers(1, 12),
)
def test_bins_of_equal_mass_keep_equals_together(p, n_bins):
    curve = reliability_curve(np.zeros(len(p), dtype=int), p, n_bins=n_bins, bins="mass")
    assert curve.count.sum() == len(p)
    assert len(curve.count) <= min(n_bins, len(np.unique(p)))


@pytest.mark.parametrize("average", ["micro", "macro", None])
def test_calibration_error_by_hand(average):
    # First category: bins {0.1, 0.3} with share 1/2 and {0.9} with share 1: (2 * 0.3 + 0.1) / 3.
    # Second: all 0.4, share 1/3.
    p = np.array([[0.1, 0.4], [0.3, 0.4], [0.9, 0.4]])
    Y = [[0, 1], [1, 0], [1, 0]]
    one, two = 0.7 / 3, abs(0.4 - 1 / 3)
    low = (0.1 + 0.3 + 0.4 * 3) / 5
    expected = {
        "micro": (5 * abs(low - 2 / 5) + 0.1) / 6,
        "macro": (one + two) / 2,
        None: [one, two],
    }[average]
    assert expected_calibration_error(Y, p, n_bins=2, average=average) == pytest.approx(
        expected
    )


def error_of_top_labels(right, confidence, edges):
    """ECE as Guo et al. (2017) define it, bin by bin over (lower, upper]."""
    error = 0.0
    for low, high in pairwise(edges):
        inside = [i for i, p in enumerate(confidence) if low < p <= high]
        if inside:
            accuracy = sum(right[i] for i in inside) / len(inside)
            error += (
                len(inside)
                / len(confidence)
                * abs(accuracy - sum(confidence[i] for i in inside) / len(inside))
            )
    return error


@pytest.mark.parametrize("form", ["labels", "indicator", "several"])
@pytest.mark.parametrize("bins", ["width", "mass"])
def test_top_label_error_as_papers_define_it(form, bins):
    random = np.random.default_rng(3)
    names = np.array(["corn", "oil", "rice", "wheat"])
    p = random.dirichlet([0.5] * 4, 600)
    y = np.array([random.choice(4, p=row**0.7 / (row**0.7).sum()) for row in p])
    Y = np.eye(4, dtype=int)[y]
    if form == "several":
        Y |= random.random(Y.shape) < 0.2
        Y[:10] = 0
    top, confidence = p.argmax(axis=1), p.max(axis=1)
    right = [bool(row[j]) for row, j in zip(Y, top, strict=True)]
    ordered = np.sort(confidence)
    edges = np.linspace(0, 1, 16) if bins == "width" else [0.0, *ordered[39::40]]
    expected = error_of_top_labels(right, confidence, edges)
    given, labels = (names[y], names) if form == "labels" else (Y, None)
    assert top_label_calibration_error(given, p, bins=bins, labels=labels) == pytest.approx(
        expected, abs=1e-12
    )
    assert len(top_label_curve(given, p, bins="mass", labels=labels).count) == 15


def test_top_label_error_of_one_column_is_that_of_two_classes():
    random = np.random.default_rng(0)
    p = random.random(300)
    y = random.random(300) < p**2
    two = top_label_calibration_error(np.where(y, "yes", "no"), np.column_stack([1 - p, p]))
    assert top_label_calibration_error(y, p) == pytest.approx(two)
    assert two > 0.05
    assert top_label_calibration_error([1, 0, 1, 1], [0.75, 0.75, 0.75, 0.75]) == 0


@given(
    st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.sampled_from([0.8, 0.95]),
)
@settings(deadline=None)
def test_wilson_as_in_scipy(counts, level):
    expected = binomtest(*counts).proportion_ci(level, method="wilson")
    lower, upper = wilson_interval(np.array(counts[0]), np.array(counts[1]), level=level)
    assert (lower, upper) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_the_curve_is_ready_for_json():
    written = json.loads(json.dumps(reliability_curve([0, 1], [0.2, 0.9]).to_dict()))
    assert written["count"] == [1, 1]


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\], but they reach from -1 to 2"):
        log_loss([1, 0], [-1, 2])
    with pytest.raises(ValueError, match="n_bins must be at least 1"):
        reliability_curve([1], [0.5], n_bins=0)
    with pytest.raises(ValueError, match="bins must be one of width, mass"):
        reliability_curve([1], [0.5], bins="size")
