import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, precision_recall_curve

from bayesift.errors import DataError
from bayesift.thresholds import (
    MaxF1,
    MinimumErrors,
    PrecisionTarget,
    RecallTarget,
    SCut,
    Utility,
)

GAINS = ((0.5, -1.0), (-0.25, 2.0))

scored_labels = st.lists(
    st.tuples(
        st.booleans(),
        st.sampled_from([-2.0, -0.1, 0.0, 0.3, 0.5, 1.0, 7.0]) | st.floats(-10, 10),
    ),
    min_size=1,
    max_size=25,
)


def f1(y, yes):
    return f1_score(y, yes, zero_division=0)


def minus_errors(y, yes):
    return -np.sum(y != yes)


def utility(y, yes):
    return sum(GAINS[int(truth)][int(decided)] for truth, decided in zip(y, yes, strict=True))


def every_cut(scores):
    return [scores > cut for cut in [*np.unique(scores), -math.inf]]


@given(scored_labels)
@settings(deadline=None)
@pytest.mark.parametrize(
    ("rule", "measure"),
    [
        (MaxF1(), f1),
        (MinimumErrors(), minus_errors),
        (SCut(), f1),
        (Utility(gains=GAINS, calibrated=False), utility),
    ],
)
def test_no_cut_is_better(rule, measure, sample):
    y, scores = map(np.array, zip(*sample, strict=True))
    decided = clone(rule).fit(y, scores).decide(scores)
    best = max(measure(y, yes) for yes in every_cut(scores))
    if y.any():
        assert measure(y, decided) == pytest.approx(best)
    else:
        assert not decided.any()


@given(scored_labels, st.sampled_from([0.07, 0.3, 0.5, 0.9, 1.0]))
@settings(deadline=None)
def test_precision_target(sample, target):
    y, scores = map(np.array, zip(*sample, strict=True))
    decided = PrecisionTarget(precision=target).fit(y, scores).decide(scores)
    good = [yes for yes in every_cut(scores) if (y & yes).sum() >= target * yes.sum() - 1e-9]
    assert any(np.array_equal(decided, yes) for yes in good)
    if y.any():
        most, fewest = max(((y & yes).sum(), -yes.sum()) for yes in good)
        assert ((y & decided).sum(), decided.sum()) == (most, -fewest)


@given(scored_labels, st.sampled_from([0.07, 0.3, 0.5, 0.9, 1.0]))
@settings(deadline=None)
def test_recall_target(sample, target):
    y, scores = map(np.array, zip(*sample, strict=True))
    decided = RecallTarget(recall=target).fit(y, scores).decide(scores)
    if not y.any():
        assert not decided.any()
        return
    assert (y & decided).sum() >= target * y.sum() - 1e-9
    good = [yes for yes in every_cut(scores) if (y & yes).sum() >= target * y.sum() - 1e-9]
    assert (y & decided).sum() / decided.sum() == max(
        (y & yes).sum() / yes.sum() for yes in good
    )


def test_max_f1_is_that_of_scikit_learns_curve():
    random = np.random.default_rng(0)
    Y = random.random((400, 6)) < [0.5, 0.3, 0.1, 0.05, 0.02, 0.9]
    scores = random.normal(size=Y.shape) + Y
    decided = MaxF1().fit(Y, scores).decide(scores)
    for y, s, yes in zip(Y.T, scores.T, decided.T, strict=True):
        precision, recall, _ = precision_recall_curve(y, s)
        assert f1(y, yes) == pytest.approx(
            np.max(2 * precision * recall / np.maximum(precision + recall, 1e-12))
        )


def test_of_equal_cuts_the_widest_gap_wins():
    # F1 is 2/3 above 8 (one of two found), and 2/3 above 1 (both found in four).
    y, scores = [1, 0, 0, 1, 0], [9.0, 8.0, 7.0, 3.0, 0.5]
    assert MaxF1().fit(y, scores).thresholds_ == pytest.approx([1.75])
    assert MaxF1().fit(y, [9.0, 1.0, 0.7, 0.6, 0.5]).thresholds_ == pytest.approx([5.0])


def test_of_cuts_alike_in_everything_the_higher_wins():
    assert MinimumErrors().fit([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]).thresholds_ == pytest.approx(
        [3.5]
    )


def test_thresholds_at_the_ends_and_for_a_category_without_positives():
    Y = [[1, 0, 0], [1, 0, 0], [1, 1, 0]]
    scores = [[0.2, 0.9, 0.1], [0.3, 0.8, 0.2], [0.4, 0.1, 0.3]]
    all_of_them, none, unknown = MinimumErrors().fit(Y, scores).thresholds_
    assert np.nextafter(0.2, 0) == all_of_them
    assert none == 0.9
    assert unknown == math.inf


def test_neighbouring_floats_are_parted():
    low = 1.0
    high = np.nextafter(low, 2)
    assert MaxF1().fit([1, 0], [high, low]).decide([high, low]).tolist() == [True, False]
    assert MaxF1().fit([1, 0], [1.7e308, -1.7e308]).decide([1.7e308, -1.7e308]).tolist() == [
        True,
        False,
    ]


def test_shrinkage_moves_rare_categories_towards_the_pooled_threshold():
    Y = np.zeros((40, 3), dtype=int)
    scores = np.tile(np.linspace(0, 1, 40)[:, None], (1, 3))
    Y[20:, 0] = 1
    Y[-1, 1] = 1
    own = MaxF1().fit(Y, scores).thresholds_
    (pooled,) = MaxF1().fit(Y.ravel(), scores.ravel()).thresholds_
    shrunk = MaxF1(shrinkage=5).fit(Y, scores).thresholds_
    assert shrunk == pytest.approx(
        [20 / 25 * own[0] + 5 / 25 * pooled, 1 / 6 * own[1] + 5 / 6 * pooled, pooled], rel=1e-12
    )


def test_shrinkage_without_any_positive():
    assert MaxF1(shrinkage=5).fit([[0, 0]], [[0.5, 0.6]]).thresholds_.tolist() == [
        math.inf,
        math.inf,
    ]


def test_scut_falls_back_where_f1_is_poor():
    Y, scores = (
        [[1, 0], [0, 0], [0, 1], [0, 0]],
        [[0.9, 0.4], [0.4, 0.3], [0.6, 0.2], [0.2, 0.2]],
    )
    assert SCut().fit(Y, scores).thresholds_ == pytest.approx([0.75, np.nextafter(0.2, 0)])
    assert SCut(minimum_f1=0.5, fallback="never").fit(Y, scores).thresholds_ == pytest.approx(
        [0.75, math.inf]
    )


def test_sparse_labels():
    Y, scores = np.eye(3), np.eye(3)
    sparse_fit = MaxF1().fit(sparse.csr_array(Y), scores)
    np.testing.assert_array_equal(sparse_fit.thresholds_, MaxF1().fit(Y, scores).thresholds_)


def test_manners():
    rule = MaxF1(shrinkage=3)
    with pytest.raises(NotFittedError):
        rule.decide([0.5])
    rule.fit([1, 0], [0.7, 0.1])
    again = pickle.loads(pickle.dumps(rule))
    np.testing.assert_array_equal(again.thresholds_, rule.thresholds_)
    assert repr(clone(rule)) == "MaxF1(shrinkage=3)"


@pytest.mark.parametrize(
    ("rule", "Y", "scores", "message"),
    [
        (MaxF1(), [[1, 0]], [[0.5]], "labels are 1 x 2, scores 1 x 1"),
        (MaxF1(), [2, 0], [0.5, 0.1], "labels must be 0 or 1"),
        (MaxF1(), [1, 0], [0.5, math.nan], "NaN"),
        (MaxF1(), [], [], "no documents"),
        (MaxF1(), np.zeros((1, 1, 1)), [0.5], "3 dimensions"),
        (MaxF1(shrinkage=-1), [1], [0.5], "shrinkage must be at least 0"),
        (SCut(fallback="sometimes"), [1], [0.5], "fallback must be one of never, highest"),
        (PrecisionTarget(precision=0), [1], [0.5], "precision must be above 0"),
        (RecallTarget(recall=1.5), [1], [0.5], "recall must be above 0"),
    ],
)
def test_bad_input_is_refused(rule, Y, scores, message):
    with pytest.raises(ValueError, match=message):
        rule.fit(Y, scores)


def test_scores_of_other_categories_are_refused():
    with pytest.raises(DataError, match="scores of 3 categories, but thresholds of 2"):
        MaxF1().fit([[1, 0]], [[0.5, 0.4]]).decide([[0.1, 0.2, 0.3]])
