import numpy as np
import pytest
from sklearn.metrics import f1_score

from bayesift.evaluation import Estimate, bootstrap_f1, bootstrap_mean


@pytest.fixture
def labelled():
    random = np.random.default_rng(0)
    Y = (random.random((400, 5)) < [0.4, 0.2, 0.1, 0.05, 0.02]).astype(int)
    wrong = random.random(Y.shape) < 0.05
    return Y, np.where(wrong, 1 - Y, Y)


def test_values_are_those_of_scikit_learn(labelled):
    Y, decided = labelled
    found = bootstrap_f1(Y, decided)
    assert found.micro.value == pytest.approx(f1_score(Y, decided, average="micro"))
    assert found.macro.value == pytest.approx(f1_score(Y, decided, average="macro"))
    np.testing.assert_allclose(
        [c.value for c in found.categories], f1_score(Y, decided, average=None)
    )


def test_intervals_are_those_of_resampling_by_hand(labelled):
    Y, decided = labelled
    found = bootstrap_f1(Y, decided, n_resamples=3000)
    random = np.random.default_rng(1)
    rows = [random.integers(len(Y), size=len(Y)) for _ in range(600)]
    micro = np.quantile(
        [f1_score(Y[r], decided[r], average="micro") for r in rows], [0.025, 0.975]
    )
    assert [found.micro.lower, found.micro.upper] == pytest.approx(micro.tolist(), abs=0.012)
    first = np.quantile([f1_score(Y[r, 0], decided[r, 0]) for r in rows], [0.025, 0.975])
    assert [found.categories[0].lower, found.categories[0].upper] == pytest.approx(
        first.tolist(), abs=0.012
    )


def test_rare_categories_do_not_pull_the_macro_interval_down():
    Y = np.zeros((200, 20), dtype=int)
    Y[np.arange(20), np.arange(20)] = 1  # one document each, all decided right
    found = bootstrap_f1(Y, Y)
    assert found.macro == (1.0, 1.0, 1.0)
    assert found.micro == (1.0, 1.0, 1.0)


def test_categories_without_positives_count_as_they_do_in_the_value():
    Y, decided = np.array([[1, 0], [1, 0], [0, 0]]), np.array([[1, 0], [1, 0], [0, 0]])
    found = bootstrap_f1(Y, decided, n_resamples=200)
    assert found.macro.value == 0.5
    assert found.macro.upper == 0.5


def test_a_mean_has_the_interval_of_the_central_limit():
    values = np.random.default_rng(2).normal(3.0, 2.0, size=2000)
    found = bootstrap_mean(values, n_resamples=2000)
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert found.value == pytest.approx(values.mean())
    assert [found.lower, found.upper] == pytest.approx(
        [found.value - half, found.value + half], abs=0.01
    )


def test_an_estimate_in_another_unit():
    assert Estimate(0.5, 0.25, 0.75).times(100) == (50.0, 25.0, 75.0)
    assert Estimate(0.5).times(100) == (50.0, None, None)
