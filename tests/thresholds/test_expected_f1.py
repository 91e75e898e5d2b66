from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bayesift.errors import DataError
from bayesift.thresholds import ExpectedF1, expected_f1_thresholds

probabilities = st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5, 1.0, 1e-300])


def expected_f1(p, chosen):
    """The paper's formula with the pieces that ERRATA puts back."""
    if not len(chosen):
        return np.prod([1 - q for q in p])
    return 2 * sum(p[i] for i in chosen) / (len(chosen) + sum(p))


def all_subsets(n):
    return chain.from_iterable(combinations(range(n), size) for size in range(n + 1))


@given(st.lists(probabilities, min_size=1, max_size=8))
@settings(deadline=None)
def test_no_subset_is_better(p):
    decided = ExpectedF1().fit(None, p).decide(p)
    best = max(expected_f1(p, subset) for subset in all_subsets(len(p)))
    assert expected_f1(p, np.flatnonzero(decided)) == pytest.approx(best, rel=1e-12)


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.integers(1, 4)),
        elements=st.sampled_from(np.linspace(0, 1, 6)),
    )
)
def test_equals_share_their_fate(p):
    decided = ExpectedF1().fit(None, p).decide(p)
    for values, yes in zip(p.T, decided.T, strict=True):
        for value in np.unique(values):
            assert len(set(yes[values == value])) == 1


def test_nothing_is_assigned_when_all_are_improbable():
    p = np.full((5, 1), 0.01)
    assert not ExpectedF1().fit(None, p).decide(p).any()
    assert not ExpectedF1().fit(None, np.zeros(3)).decide(np.zeros(3)).any()


def test_everything_is_assigned_when_all_are_certain():
    assert ExpectedF1().fit(None, np.ones(3)).decide(np.ones(3)).all()


def test_thresholds_follow_the_batch_unless_told_otherwise():
    fitted, batch = [0.9, 0.8, 0.1], [0.4, 0.35, 0.3]
    assert ExpectedF1().fit(None, fitted).decide(batch).tolist() == [True, True, True]
    assert ExpectedF1(batch=False).fit(None, fitted).decide(batch).tolist() == [
        False,
        False,
        False,
    ]


def test_an_empty_batch():
    assert ExpectedF1().fit(None, [[0.5, 0.5]]).decide(np.empty((0, 2))).shape == (0, 2)


def test_scores_are_refused():
    with pytest.raises(DataError, match="needs probabilities, but scores reach from -1 to 2"):
        expected_f1_thresholds([-1.0, 2.0])


def test_reuters_sized_optimum_is_that_of_every_cut():
    random = np.random.default_rng(0)
    p = 1 / (1 + np.exp(4 - 2 * random.normal(size=(3299, 90))))
    p[::7] = p[1::7][: len(p[::7])]
    thresholds = expected_f1_thresholds(p)
    for column, threshold in list(zip(p.T, thresholds, strict=True))[::10]:
        above = column[None, :] > np.append(column, -1.0)[:, None]
        size = above.sum(axis=1)
        expected = np.where(
            size > 0, 2 * (above @ column) / (size + column.sum()), np.prod(1 - column)
        )
        np.testing.assert_array_equal(column > threshold, above[np.argmax(expected)])
