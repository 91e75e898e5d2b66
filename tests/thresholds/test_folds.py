import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from bayesift.thresholds import category_folds


@given(
    arrays(bool, st.tuples(st.integers(5, 30), st.integers(1, 6))),
    st.integers(2, 5),
    st.integers(0, 3),
)
@settings(deadline=None)
def test_every_category_can_be_learned_in_every_fold(Y, n_folds, seed):
    folds = category_folds(Y, n_folds=n_folds, random_state=seed)
    for fold in range(n_folds):
        assert (Y[folds != fold].any(axis=0) == Y.any(axis=0)).all()


@given(st.lists(st.integers(0, 4), min_size=10, max_size=60), st.integers(2, 5))
@settings(deadline=None)
def test_classes_are_spread_evenly(labels, n_folds):
    Y = np.array(labels)[:, None] == np.arange(5)
    folds = category_folds(Y, n_folds=n_folds)
    held_out = np.array([Y[folds == fold].sum(axis=0) for fold in range(n_folds)])
    assert (held_out.max(axis=0) - held_out.min(axis=0) <= 1).all()
    sizes = np.bincount(folds[folds >= 0], minlength=n_folds)
    assert sizes.max() - sizes.min() <= 2


def test_folds_are_those_of_the_seed():
    Y = sparse.csr_array(np.random.default_rng(0).random((50, 5)) < 0.2)
    np.testing.assert_array_equal(category_folds(Y, n_folds=3), category_folds(Y, n_folds=3))
    assert (category_folds(Y, n_folds=3) != category_folds(Y, n_folds=3, random_state=1)).any()


@pytest.mark.parametrize("n_folds", [1, 4])
def test_a_bad_number_of_folds_is_refused(n_folds):
    with pytest.raises(
        ValueError, match="n_folds must be at least 2 and at most n_samples = 3"
    ):
        category_folds([1, 0, 1], n_folds=n_folds)
