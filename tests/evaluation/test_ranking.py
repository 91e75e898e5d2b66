import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, precision_recall_curve

from bayesift.evaluation import PrecisionRecallCurve, average_precision, r_precision

ranked = st.lists(
    st.tuples(st.booleans(), st.sampled_from([0.1, 0.2, 0.5]) | st.floats(-3, 3)),
    min_size=1,
    max_size=20,
)


@given(ranked)
@settings(deadline=None)
def test_average_precision_is_that_of_scikit_learn(sample):
    y, scores = map(np.array, zip(*sample, strict=True))
    expected = average_precision_score(y, scores) if y.any() else 0
    assert average_precision(y, scores) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("average", ["micro", "macro", None])
def test_averages_are_those_of_scikit_learn(average):
    random = np.random.default_rng(0)
    Y = random.random((80, 5)) < [0.5, 0.3, 0.1, 0.05, 0.9]
    scores = random.random(Y.shape).round(1)
    assert average_precision(Y, scores, average=average) == pytest.approx(
        average_precision_score(Y, scores, average=average)
    )


@given(
    ranked.filter(lambda sample: len(sample) <= 6 and any(positive for positive, _ in sample))
)
@settings(deadline=None)
def test_r_precision_is_the_mean_over_orders_of_equals(sample):
    wanted = sum(positive for positive, _ in sample)
    orders = [
        order
        for order in itertools.permutations(sample)
        if all(a[1] >= b[1] for a, b in itertools.pairwise(order))
    ]
    found = [sum(positive for positive, _ in order[:wanted]) / wanted for order in orders]
    y, scores = zip(*sample, strict=True)
    assert r_precision(y, scores) == pytest.approx(np.mean(found), rel=1e-12)


def test_a_category_without_positives():
    assert average_precision([[1, 0]], [[0.5, 0.5]], average=None).tolist() == [1, 0]
    assert r_precision([[1, 0]], [[0.5, 0.5]], average=None, zero_division=1).tolist() == [1, 1]


def test_the_curve_is_that_of_scikit_learn():
    random = np.random.default_rng(0)
    y, scores = random.random(50) < 0.4, random.random(50).round(1)
    curve = PrecisionRecallCurve.of(y, scores)
    precision, recall, thresholds = precision_recall_curve(y, scores)
    np.testing.assert_allclose(curve.precision, precision[-2::-1])
    np.testing.assert_allclose(curve.recall, recall[-2::-1])
    np.testing.assert_array_equal(curve.thresholds, thresholds[::-1])


def test_class_labels():
    assert average_precision(["b", "a"], [[0.2, 0.8], [0.9, 0.1]], labels=["a", "b"]) == 1


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="labels are 1 x 2, scores 1 x 1"):
        average_precision([[1, 0]], [[0.5]])
    with pytest.raises(ValueError, match="finite"):
        average_precision([1], [np.nan])
    with pytest.raises(ValueError, match="no documents"):
        average_precision(np.zeros((0, 1)), np.zeros((0, 1)))
    with pytest.raises(ValueError, match="average must be"):
        r_precision([1], [0.5], average="samples")
