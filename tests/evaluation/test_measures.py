import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from bayesift.errors import DataError
from bayesift.evaluation import Contingency, accuracy, f1, precision, recall

pairs = st.tuples(st.integers(1, 12), st.integers(2, 5)).flatmap(
    lambda shape: st.tuples(
        arrays(np.int8, shape, elements=st.integers(0, 1)), arrays(bool, shape)
    )
)


@given(pairs, st.sampled_from(["micro", "macro", None]), st.sampled_from([0.0, 1.0]))
@settings(deadline=None)
def test_measures_are_those_of_scikit_learn(pair, average, zero_division):
    Y, decided = pair
    options = {"average": average, "zero_division": zero_division}
    for ours, theirs in ((precision, precision_score), (recall, recall_score), (f1, f1_score)):
        assert ours(Y, decided, **options) == pytest.approx(
            theirs(Y, decided, **options), rel=1e-12
        )
    assert accuracy(Y, decided) == accuracy_score(Y, decided)


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=1, max_size=20
    )
)
@settings(deadline=None)
def test_class_labels_are_read_as_by_scikit_learn(pairs):
    y, predicted = map(list, zip(*pairs, strict=True))
    for average in ("micro", "macro"):
        assert f1(y, predicted, average=average) == pytest.approx(
            f1_score(y, predicted, average=average, zero_division=0), rel=1e-12
        )
        assert f1(y, predicted, average=average, labels=list("dcbae")) == pytest.approx(
            f1_score(y, predicted, average=average, zero_division=0, labels=list("dcbae")),
            rel=1e-12,
        )
    assert accuracy(y, predicted) == accuracy_score(y, predicted)


@given(pairs)
def test_sparse_is_dense(pair):
    Y, decided = pair
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        assert f1(form(Y), decided) == f1(Y, form(decided)) == f1(Y, decided)


def test_stored_zeros_do_not_count():
    Y = sparse.csr_array(np.array([[1, 1], [1, 1]]))
    Y.data[:] = [1, 0, 0, 1]
    assert Contingency.of(Y, np.eye(2)).true_positives.tolist() == [1, 1]
    assert f1(Y, np.eye(2)) == 1


def test_counts_by_hand():
    counts = Contingency.of([[1, 0], [1, 1], [0, 0], [1, 0]], [[1, 1], [0, 0], [1, 0], [0, 0]])
    assert counts.true_positives.tolist() == [1, 0]
    assert counts.false_positives.tolist() == [1, 1]
    assert counts.false_negatives.tolist() == [2, 1]
    assert counts.true_negatives.tolist() == [0, 2]
    pooled = counts.pooled()
    assert (pooled.true_positives[0], pooled.true_negatives[0], pooled.n_documents) == (1, 2, 8)


def test_macro_f1_is_the_mean_of_f1():
    Y, decided = [[1, 0], [1, 0], [0, 1]], [[1, 1], [0, 1], [0, 1]]
    assert f1(Y, decided, average="macro") == pytest.approx((2 / 3 + 1 / 2) / 2)


@pytest.mark.parametrize(
    ("Y", "decided", "options", "message"),
    [
        ([[1, 0]], [[1, 0, 0]], {}, "labels are 1 x 2, decisions 1 x 3"),
        ([[2, 0]], [[1, 0]], {}, "labels must be 0 or 1"),
        (np.zeros((1, 1, 1)), [[1]], {}, "got 3 dimensions"),
        (np.zeros((0, 2)), np.zeros((0, 2)), {}, "no documents"),
        (["a"], ["z"], {"labels": ["a", "b"]}, "not among the labels: z"),
        ([[1]], [[1]], {"average": "weighted"}, "average must be"),
    ],
)
def test_bad_input_is_refused(Y, decided, options, message):
    with pytest.raises(ValueError, match=message):
        f1(Y, decided, **options)


def test_refusals_are_data_errors():
    with pytest.raises(DataError):
        f1([[1, 0]], [[1]])
