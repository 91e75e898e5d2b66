import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import f1_score

from bayesift.errors import DataError
from bayesift.thresholds import PCut, RCut

tied = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(-5, 5)
matrices = arrays(np.float64, st.tuples(st.integers(1, 10), st.integers(2, 6)), elements=tied)


@given(matrices, st.integers(1, 5))
def test_rcut_assigns_exactly_t_of_the_highest(scores, t):
    t = min(t, scores.shape[1] - 1)
    decided = RCut(t=t).fit(np.zeros(scores.shape), scores).decide(scores)
    assert (decided.sum(axis=1) == t).all()
    for row, yes in zip(scores, decided, strict=True):
        assert row[yes].min() >= row[~yes].max()


def test_rcut_breaks_ties_by_column():
    assert RCut(t=2).fit([[0, 0, 0]], [[1.0, 1.0, 1.0]]).decide([[1.0, 1.0, 1.0]]).tolist() == [
        [True, True, False]
    ]


def test_rcut_chooses_t_by_micro_f1():
    random = np.random.default_rng(0)
    Y = np.zeros((50, 6), dtype=int)
    for row in Y:
        row[random.choice(6, size=random.integers(1, 4), replace=False)] = 1
    scores = Y + random.normal(size=Y.shape)
    chosen = RCut(t=None).fit(Y, scores).t_
    by_t = [
        f1_score(Y, RCut(t=t).fit(Y, scores).decide(scores), average="micro")
        for t in range(1, 6)
    ]
    assert by_t[chosen - 1] == max(by_t)


def test_rcut_thresholds_agree_without_ties():
    scores = np.random.default_rng(0).normal(size=(20, 5))
    rule = RCut(t=2).fit(np.zeros(scores.shape), scores)
    np.testing.assert_array_equal(scores > rule.thresholds_for(scores), rule.decide(scores))


@given(matrices, st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.randoms(use_true_random=False))
def test_pcut_assigns_its_share(scores, proportion, random):
    n, k = scores.shape
    Y = np.array([[random.random() < 0.3 for _ in range(k)] for _ in range(n)], dtype=int)
    rule = PCut(proportion=proportion).fit(Y)
    decided = rule.decide(scores)
    wanted = [min(n, round(proportion * share * n)) for share in Y.mean(axis=0)]
    assert decided.sum(axis=0).tolist() == wanted
    for column, yes in zip(scores.T, decided.T, strict=True):
        if yes.any() and not yes.all():
            assert column[yes].min() >= column[~yes].max()


def test_pcut_thresholds_agree_without_ties():
    random = np.random.default_rng(0)
    scores, Y = random.normal(size=(20, 3)), random.random((20, 3)) < [0.2, 0.5, 1.0]
    rule = PCut().fit(Y, scores)
    np.testing.assert_array_equal(scores > rule.thresholds_for(scores), rule.decide(scores))


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (RCut(t=0), "t must be at least 1"),
        (RCut(t=2), "below the number of categories 2"),
        (PCut(proportion=-1), "proportion must be"),
    ],
)
def test_bad_parameters_are_refused(rule, message):
    with pytest.raises(ValueError, match=message):
        rule.fit([[1, 0]], [[0.5, 0.1]])


@pytest.mark.parametrize("rule", [RCut(), PCut()])
def test_scores_of_other_categories_are_refused(rule):
    with pytest.raises(DataError, match="scores of 3 categories"):
        rule.fit([[1, 0]], [[0.5, 0.4]]).decide([[0.1, 0.2, 0.3]])
