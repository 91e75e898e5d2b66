"""The probability beside a record: right where scores and rates are those of its formula."""

import numpy as np
import pytest
from scipy.special import expit, logit

from bayesift.screening import chances


def test_the_rates_are_those_of_the_last_decisions():
    found = np.zeros(500, dtype=bool)
    found[[10, 320, 460, 470]] = True
    late, longer = expit(chances.rates(found))
    assert late == pytest.approx(2.5 / 60)
    assert longer == pytest.approx(3.5 / 210)
    # Before the first decision one record in twenty is presumed to be relevant.
    assert expit(chances.rates([])) == pytest.approx(0.05)


def test_probabilities_fall_with_the_score_from_the_rate_at_the_top():
    scores = np.linspace(-0.3, 0.1, 200)
    found = [True] * 30 + [False] * 70
    slope, intercept = chances.calibration(scores, found)
    constant, late, longer, per_spread = chances.CONSTANTS
    top, spread = scores[-10:].mean(), scores.std()
    level = constant + late * logit(0.5 / 30) + longer * logit(0.5 / 50)
    expected = level + per_spread * (scores - top) / spread
    np.testing.assert_allclose(slope * scores + intercept, expected)


def test_scores_in_other_units_give_the_same_probabilities():
    scores = np.random.default_rng(2).normal(size=80)
    found = [True, False] * 30
    slope, intercept = chances.calibration(scores, found)
    scaled, moved = chances.calibration(5.0 * scores - 3.0, found)
    np.testing.assert_allclose(
        slope * scores + intercept, scaled * (5.0 * scores - 3.0) + moved
    )


def test_nothing_open_gives_one_probability():
    slope, intercept = chances.calibration(np.zeros(0), [False] * 50)
    assert slope == 0.0
    assert expit(intercept) < 0.05
