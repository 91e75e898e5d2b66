import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift.errors import DataError
from bayesift.thresholds import (
    THRESHOLD_RULES,
    Bayes,
    ThresholdRule,
    Utility,
    threshold_rule,
)

gain = st.floats(-5, 5)


@given(st.tuples(gain, gain, gain, gain), st.floats(0, 1))
def test_yes_exactly_when_it_gains_more(gains, p):
    rejected, alarm, missed, found = gains
    rule = Utility(gains=((rejected, alarm), (missed, found)))
    if rejected <= alarm or found <= missed:
        with pytest.raises(ValueError, match="a right decision must gain more"):
            rule.fit([1], [p])
        return
    yes, no = p * found + (1 - p) * alarm, p * missed + (1 - p) * rejected
    if abs(yes - no) > 1e-9:
        assert rule.fit([1], [p]).decide([p])[0] == (yes > no)


def test_the_default_is_that_of_trec_9():
    assert Utility().fit([1], [0.5]).thresholds_ == pytest.approx([1 / 3])


def test_bayes_is_strict():
    assert Bayes().fit([0, 1], [0.5, 0.6]).decide([0.5, np.nextafter(0.5, 1)]).tolist() == [
        False,
        True,
    ]


@pytest.mark.parametrize("rule", [Bayes(), Utility()])
def test_scores_are_refused_for_probabilities(rule):
    with pytest.raises(DataError, match="needs probabilities"):
        rule.fit([1], [2.0])


@pytest.mark.parametrize("name", THRESHOLD_RULES)
def test_every_named_rule_decides(name):
    random = np.random.default_rng(0)
    Y = random.random((50, 4)) < 0.3
    probabilities = (random.random(Y.shape) + Y) / 2
    rule = threshold_rule(name)
    assert isinstance(rule, ThresholdRule)
    decided = rule.fit(Y, probabilities).decide(probabilities)
    assert decided.dtype == bool
    assert decided.shape == Y.shape
    assert (decided & Y).sum() > 0.5 * Y.sum() or name == "rcut"


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="no threshold rule 'best'; there are: bayes, "):
        threshold_rule("best")
