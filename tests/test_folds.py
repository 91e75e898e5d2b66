"""Folds keep groups together, spread categories, and find the latest documents."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold

from bayesift.folds import (
    NEVER_HELD_OUT,
    deal_folds,
    join_groups,
    latest_documents,
    split_by_groups,
)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=8, max_size=40))
def test_no_group_is_on_both_sides_of_a_fold(documents):
    groups = np.array([group for group, _ in documents])
    labels = np.array([label for _, label in documents])
    if len(np.unique(groups)) < 3:
        return
    positive = labels[:, None] == np.arange(3)
    folds = deal_folds(positive, n_folds=3, groups=groups)
    for group in np.unique(groups):
        assert len(set(folds[groups == group])) == 1
    for fold in range(3):
        for column in positive.T:
            # A category that exists can be learned without the fold.
            assert not column.any() or column[folds != fold].any()


def test_groups_of_one_are_dealt_as_documents_are():
    positive = np.random.default_rng(0).random((60, 4)) < 0.3
    alone = deal_folds(positive, n_folds=5, random_state=3)
    np.testing.assert_array_equal(
        deal_folds(positive, n_folds=5, random_state=3, groups=np.arange(60)), alone
    )


def test_folds_of_groups_have_about_as_many_documents():
    groups = np.repeat(np.arange(50), 3)
    positive = (groups % 2 == 0)[:, None] == np.array([[True, False]])
    folds = deal_folds(positive, n_folds=5, groups=groups)
    assert np.bincount(folds).tolist() == [30] * 5


def test_a_category_of_one_group_is_never_held_out():
    groups = np.array([0, 0, 1, 2, 3, 4])
    positive = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 1]], dtype=bool)
    folds = deal_folds(positive, n_folds=2, groups=groups)
    assert folds[:2].tolist() == [NEVER_HELD_OUT] * 2


def test_splitters_split_whole_groups():
    groups = np.array(["a", "b", "a", "c", "b", "d"])
    seen = np.zeros(6, dtype=int)
    for train, test in split_by_groups(KFold(2, shuffle=True, random_state=0), 6, groups):
        assert not set(groups[train]) & set(groups[test])
        seen[test] += 1
    assert seen.tolist() == [1] * 6


def test_joined_groups_are_connected_components():
    joined = join_groups(np.array([0, 0, 1, 1, 2]), np.array([5, 6, 6, 7, 8]))
    assert joined[0] == joined[1] == joined[2] == joined[3] != joined[4]
    assert join_groups(None, np.array([1, 2])).tolist() == [1, 2]


def test_latest_documents_have_no_earlier_member_in_their_group():
    times = np.arange(200.0)
    times[:5] = np.nan
    groups = np.arange(200)
    groups[190] = groups[10]
    latest = latest_documents(times, groups)
    assert 190 not in latest
    assert set(latest) <= set(range(160, 200))
    assert len(latest) >= 35
    assert len(latest_documents(np.full(100, np.nan))) == 0
    assert len(latest_documents(np.ones(100))) == 0


def test_too_few_groups_are_refused():
    with pytest.raises(ValueError, match="at most n_samples = 1"):
        deal_folds(np.ones((4, 1), dtype=bool), n_folds=2, groups=np.zeros(4))
