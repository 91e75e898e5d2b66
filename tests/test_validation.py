import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning

from bayesift.validation import (
    check_sample_weight,
    check_targets,
    check_terms,
    union_of_classes,
)


@pytest.mark.parametrize(
    "form", [np.array, sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csc_matrix]
)
@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64, bool])
def test_terms_take_one_form(form, dtype):
    X = np.array([[0, 1, 0], [1, 0, 1]], dtype=dtype)
    rows = check_terms(None, form(X))
    assert isinstance(rows, sparse.csr_array)
    assert (rows.dtype, rows.indices.dtype, rows.indptr.dtype) == (
        np.float64,
        np.int32,
        np.int32,
    )
    assert rows.has_canonical_format
    np.testing.assert_array_equal(rows.toarray(), X)


def test_untidy_rows_are_tidied_in_a_copy():
    untidy = sparse.csr_array(
        (np.array([1.0, 2.0, 0.0, 3.0]), np.array([2, 0, 1, 2]), np.array([0, 4])), shape=(1, 3)
    )
    rows = check_terms(None, untidy)
    assert rows.indices.tolist() == [0, 2]
    assert rows.data.tolist() == [2.0, 4.0]
    assert untidy.data.tolist() == [1.0, 2.0, 0.0, 3.0]


def test_wide_indices_become_int32():
    X = sparse.csr_array(np.eye(3))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert check_terms(None, X).indices.dtype == np.int32


def test_columns_may_grow_only_where_that_is_said():
    estimator = BaseEstimator()
    check_terms(estimator, np.ones((1, 2)))
    with pytest.raises(ValueError, match="X has 3 features"):
        check_terms(estimator, np.ones((1, 3)), reset=False)
    check_terms(estimator, np.ones((1, 3)), reset=False, may_grow=True)
    assert estimator.n_features_in_ == 3
    with pytest.raises(ValueError, match="X has 2 features"):
        check_terms(estimator, np.ones((1, 2)), reset=False, may_grow=True)


def test_negative_weights_are_refused_where_that_is_said():
    assert check_terms(None, [[-1.0]]).nnz == 1
    with pytest.raises(ValueError, match="Negative values in data passed to BaseEstimator"):
        check_terms(BaseEstimator(), [[-1.0]], non_negative=True)


@pytest.mark.parametrize(
    "form", [list, np.array, sparse.csr_array, sparse.csc_array, sparse.lil_array]
)
def test_indicators(form):
    Y = np.array([[1, 0, 0], [1, 1, 0]])
    targets = check_targets(Y.tolist() if form is list else form(Y))
    assert targets.multilabel
    assert targets.classes.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(targets.members.toarray(), Y.T)


def test_a_dense_column_is_labels_and_a_sparse_one_an_indicator():
    with pytest.warns(DataConversionWarning):
        assert not check_targets(np.array([[1], [0]])).multilabel
    assert check_targets(sparse.csr_array([[1], [0]])).multilabel


@pytest.mark.parametrize(
    "labels",
    [["b", "a", "b"], [3, 1, 3], [True, False, True], np.array(["b", "a", "b"], object)],
)
def test_labels(labels):
    targets = check_targets(labels)
    assert targets.classes.tolist() == sorted(set(labels))
    np.testing.assert_array_equal(targets.members.toarray(), [[0, 1, 0], [1, 0, 1]])


def test_members_over_more_classes():
    targets = check_targets(["b", "d"])
    np.testing.assert_array_equal(
        targets.members_over(np.array(list("abcd"))).toarray(), [[0, 0], [1, 0], [0, 0], [0, 1]]
    )


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "target y is None"),
        ([[2, 0], [0, 1]], "nothing but 0 and 1"),
        ([0.5, 1.5], "Unknown label type"),
        ([np.nan, 1.0], "NaN"),
        ([["a"], ["a", "b"]], "inhomogeneous"),
    ],
)
def test_other_targets_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        check_targets(y)


def test_names_and_numbers_do_not_mix():
    with pytest.raises(ValueError, match="both names and numbers"):
        union_of_classes(np.array([1]), np.array(["a"]))


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1.0], "each of the 2"), ([[1.0], [1.0]], "each of the 2"), ([1.0, -1.0], "Negative")],
)
def test_sample_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        check_sample_weight(weights, 2)


@pytest.mark.parametrize(
    "X", [np.eye(11), sparse.csr_array((3, 11)), sparse.csr_array(np.ones((4, 3)))]
)
def test_more_than_int32_can_address_is_refused(monkeypatch, X):
    monkeypatch.setattr("bayesift.validation.MAX_ENTRIES", 10)
    with pytest.raises(
        ValueError, match=r"X has 1[12] rows, columns or entries, at most 10 fit"
    ):
        check_terms(None, X)
    with pytest.raises(ValueError, match="y has"):
        check_targets(sparse.csr_array(np.ones((4, 3), dtype=int)))


def test_indices_are_int32_whatever_came_in():
    rows = sparse.csr_array(np.eye(3))
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    checked = check_terms(None, rows)
    assert (checked.indices.dtype, checked.indptr.dtype) == (np.int32, np.int32)
