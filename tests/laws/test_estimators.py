"""Laws every estimator obeys: scikit-learn's own, and ours."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter

from bayesift.models.baselines import NaiveBayesLogisticClassifier
from bayesift.models.ensemble import AutoClassifier, StackedClassifier
from tests.laws.estimators import (
    CHECKED,
    CLASSIFIERS,
    ESTIMATORS,
    LIBLINEAR,
    ORDERED_CLASSIFIERS,
    STORED,
)

pytestmark = pytest.mark.filterwarnings("error")


def checks_that_fail(estimator):
    """The checks of scikit-learn that an estimator fails, each with the reason."""
    if isinstance(estimator, NaiveBayesLogisticClassifier):
        # The other checks respect the tag `positive_only`.
        return {"check_decision_proba_consistency": "fits to negative numbers"}
    if estimator not in ORDERED_CLASSIFIERS or not isinstance(
        estimator, AutoClassifier | StackedClassifier
    ):
        return {}
    # As scikit-learn's stack does: repeated documents move its folds.
    names = ["equivalence_on_dense_data", "equivalence_on_sparse_data"]
    return dict.fromkeys(
        [f"check_sample_weight_{name}" for name in names], "no exact sample weights"
    )


@pytest.mark.filterwarnings("default")
@parametrize_with_checks(CHECKED, expected_failed_checks=checks_that_fail)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def documents(n_documents=60, n_terms=25, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.poisson(0.4, size=(n_documents, n_terms)).astype(float)
    X[0] = 0
    labels = np.array(["crude", "earn", "grain"])[
        np.r_[0, 1, 2, generator.integers(0, 3, n_documents - 3)]
    ]
    indicator = (generator.random((n_documents, 4)) < [0.6, 0.3, 0.1, 0.05]).astype(int)
    indicator[:4] = np.eye(4)
    return X, labels, indicator


def outputs(estimator, X, Y, more, **fit_parameters):
    """What an estimator gives after a fit: probabilities, or scores and the terms it kept."""
    fitted = clone(estimator).fit(X, Y, **fit_parameters)
    if hasattr(fitted, "predict_proba"):
        return fitted.predict_proba(more), fitted.predict_log_proba(more), fitted.predict(more)
    if hasattr(fitted, "decision_function"):
        return fitted.decision_function(more), fitted.predict(more)
    scores = fitted.scores_.toarray() if sparse.issparse(fitted.scores_) else fitted.scores_
    kept = fitted.transform(more)
    return scores, fitted.get_support(), kept.toarray() if sparse.issparse(kept) else kept


def assert_same(ours, others, rtol=1e-10):
    for left, right in zip(ours, others, strict=True):
        if left.dtype.kind == "f":
            np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol / 100)
        else:
            np.testing.assert_array_equal(left, right)


def precision_of(estimator):
    """Sums come in another order; liblinear's solver does not go further than this."""
    return 1e-4 if type(estimator) in LIBLINEAR else 1e-10


targets = pytest.mark.parametrize("kind", ["labels", "indicator"])


def target_of(kind, labels, indicator):
    return labels if kind == "labels" else indicator


@targets
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix]
)
def test_sparse_and_dense_give_the_same(estimator, kind, form):
    X, labels, indicator = documents()
    y = target_of(kind, labels, indicator)
    sparse_y = y if kind == "labels" else form(y)
    assert_same(outputs(estimator, X, y, X), outputs(estimator, form(X), sparse_y, form(X)))


@targets
@pytest.mark.parametrize(
    "estimator", [e for e in ESTIMATORS if e not in ORDERED_CLASSIFIERS], ids=str
)
def test_order_of_documents_does_not_matter(estimator, kind):
    X, labels, indicator = documents()
    y = target_of(kind, labels, indicator)
    order = np.random.default_rng(1).permutation(len(X))
    assert_same(
        outputs(estimator, X, y, X),
        outputs(estimator, X[order], y[order], X),
        rtol=precision_of(estimator),
    )


@targets
@pytest.mark.parametrize(
    "estimator", [e for e in CLASSIFIERS if has_fit_parameter(e, "sample_weight")], ids=str
)
def test_weights_are_repetitions(estimator, kind):
    X, labels, indicator = documents()
    y = target_of(kind, labels, indicator)
    times = np.random.default_rng(2).integers(0, 3, len(X))
    times[:4] = 1
    repeated = np.repeat(np.arange(len(X)), times)
    weighted = outputs(estimator, X, y, X, sample_weight=times.astype(float))
    assert_same(
        weighted, outputs(estimator, X[repeated], y[repeated], X), rtol=precision_of(estimator)
    )


@targets
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_float64_comes_out_and_input_stays(estimator, kind):
    X, labels, indicator = documents()
    y = target_of(kind, labels, indicator)
    rows = sparse.csr_array(X.astype(np.float32))
    before = rows.copy()
    first = outputs(estimator, rows, y, rows)
    assert first[0].dtype == np.float64
    assert (rows != before).nnz == 0


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_explicit_zeros_and_duplicates_say_nothing(estimator):
    X, labels, _ = documents()
    rows, columns = np.nonzero(X)
    halves = np.r_[X[rows, columns] / 2, X[rows, columns] / 2, 0.0, 0.0]
    places = np.r_[rows, rows, 0, 1], np.r_[columns, columns, 3, 3]
    order = np.argsort(places[0], kind="stable")
    indptr = np.searchsorted(places[0][order], np.arange(len(X) + 1))
    untidy = sparse.csr_array((halves[order], places[1][order], indptr), shape=X.shape)
    assert_same(outputs(estimator, X, labels, X), outputs(estimator, untidy, labels, untidy))


@targets
@pytest.mark.parametrize("estimator", STORED, ids=str)
def test_stored_and_restored_models_are_identical(estimator, kind):
    X, labels, indicator = documents()
    fitted = clone(estimator).fit(X * 0.37, target_of(kind, labels, indicator))
    parameters, arrays = fitted.get_state()
    restored = type(fitted).from_state(
        json.loads(json.dumps(parameters)), {k: v.copy() for k, v in arrays.items()}
    )
    score = "predict_log_proba" if hasattr(fitted, "predict_log_proba") else "decision_function"
    np.testing.assert_array_equal(getattr(restored, score)(X), getattr(fitted, score)(X))
    np.testing.assert_array_equal(restored.predict(X), fitted.predict(X))
    assert str(restored.get_params()) == str(fitted.get_params())
