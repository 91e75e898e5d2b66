import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesift import DataError
from bayesift.models import HierarchicalShrinkage, NaiveBayesClassifier
from bayesift.models.naive_bayes import SMOOTHINGS
from bayesift.models.naive_bayes.kinds import describe_smoothing, smoothing_of
from bayesift.models.state import classes_of, describe_classes

X = np.random.default_rng(0).poisson(0.8, size=(30, 9)) * 0.3
LABELS = np.resize(["crude", "earn", "grain"], 30)


def state():
    parameters, arrays = NaiveBayesClassifier().fit(X, LABELS).get_state()
    return json.loads(json.dumps(parameters)), {name: array.copy() for name, array in arrays.items()}


@pytest.mark.parametrize("kind", SMOOTHINGS.values())
def test_smoothings_survive_json(kind):
    assert smoothing_of(json.loads(json.dumps(describe_smoothing(kind())))) == kind()


def test_trees_of_numbers_survive_json():
    tree = HierarchicalShrinkage({1: 10, 2: 10})
    assert smoothing_of(json.loads(json.dumps(describe_smoothing(tree)))) == tree


def test_foreign_smoothings_are_refused():
    class Mine:
        kind = "mine"

    with pytest.raises(DataError, match="cannot be stored"):
        describe_smoothing(Mine())


@pytest.mark.parametrize(
    "classes",
    [np.array(["a", "bé"]), np.array([0, 1]), np.array([False, True]), np.array(["a", "b"], dtype=object)],
    ids=str,
)
def test_classes_survive_json(classes):
    restored = classes_of(json.loads(json.dumps(describe_classes(classes))), len(classes))
    np.testing.assert_array_equal(restored, classes)
    assert restored.dtype == classes.dtype


def test_learning_goes_on_after_a_restart():
    first = NaiveBayesClassifier().partial_fit(X[:10], LABELS[:10])
    restored = NaiveBayesClassifier.from_state(*first.get_state())
    restored.partial_fit(X[10:], LABELS[10:])
    whole = NaiveBayesClassifier().fit(X, LABELS)
    np.testing.assert_array_equal(restored.predict_log_proba(X), whole.predict_log_proba(X))


def test_a_restored_model_is_independent_of_the_arrays():
    parameters, arrays = state()
    model = NaiveBayesClassifier.from_state(parameters, arrays)
    before = model.partial_fit(X, LABELS).predict_log_proba(X)
    for array in arrays.values():
        array[:] = 0
    np.testing.assert_array_equal(NaiveBayesClassifier.from_state(*model.get_state()).predict_log_proba(X), before)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("indices", lambda a: a + 100),
        ("indices", lambda a: -a),
        ("indices", lambda a: a[::-1].copy()),
        ("indices", lambda a: a.astype(float)),
        ("indices", lambda a: a[:-1]),
        ("indptr", lambda a: a[::-1].copy()),
        ("indptr", lambda a: a[:-1]),
        ("indptr", lambda a: a * 1000),
        ("counts", lambda a: -a),
        ("counts", lambda a: a * np.nan),
        ("counts", lambda a: a.reshape(1, -1)),
        ("counts", lambda a: a.astype(np.float32)),
        ("documents", lambda a: a[1:]),
        ("documents", lambda a: a * 0),
        ("counts", lambda a: a * 0),
        ("counts", lambda a: np.full_like(a, 1e308)),
        ("category_documents", lambda a: a[1:]),
        ("term_counts", lambda a: a[1:]),
        ("term_documents", lambda a: np.r_[a, 1.0]),
        ("n_documents", lambda a: np.r_[a, 1.0]),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name, change):
    parameters, arrays = state()
    arrays[name] = change(arrays[name])
    with pytest.raises(DataError):
        NaiveBayesClassifier.from_state(parameters, arrays)


def test_unsorted_classes_are_refused():
    parameters, arrays = state()
    parameters["classes"]["labels"].reverse()
    with pytest.raises(DataError, match="not sorted"):
        NaiveBayesClassifier.from_state(parameters, arrays)


@pytest.mark.parametrize("name", state()[1])
def test_missing_arrays_are_named(name):
    parameters, arrays = state()
    del arrays[name]
    with pytest.raises(DataError, match=f"lack {name}"):
        NaiveBayesClassifier.from_state(parameters, arrays)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(["smoothing", "priors", "classes", "multilabel"]), json_values)
@settings(deadline=None, max_examples=200)
def test_other_parameters_are_refused_or_make_a_valid_model(name, value):
    parameters, arrays = state()
    parameters[name] = value
    try:
        model = NaiveBayesClassifier.from_state(parameters, arrays)
    except DataError:
        return
    assert not np.any(np.isnan(model.predict_proba(X)))


@given(st.sampled_from(["kind", "alpha", "extra"]), json_values)
@settings(deadline=None, max_examples=100)
def test_other_smoothings_are_refused_or_make_a_valid_model(name, value):
    parameters, arrays = state()
    parameters["smoothing"][name] = value
    try:
        model = NaiveBayesClassifier.from_state(parameters, arrays)
    except DataError:
        return
    assert not np.any(np.isnan(model.predict_proba(X)))
