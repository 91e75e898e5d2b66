import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesift import DataError
from bayesift.models.naive_bayes import SMOOTHINGS, HierarchicalShrinkage, NaiveBayesClassifier
from bayesift.state import decode, encode

X = np.random.default_rng(0).poisson(0.8, size=(30, 9)) * 0.3
LABELS = np.resize(["crude", "earn", "grain"], 30)


def state():
    parameters, arrays = NaiveBayesClassifier().fit(X, LABELS).get_state()
    return json.loads(json.dumps(parameters)), {
        name: array.copy() for name, array in arrays.items()
    }


@pytest.mark.parametrize("kind", SMOOTHINGS.values())
def test_smoothings_survive_json(kind):
    assert decode(json.loads(json.dumps(encode(kind())))) == kind()


def test_trees_of_numbers_survive_json():
    tree = HierarchicalShrinkage({1: 10, 2: 10})
    assert decode(json.loads(json.dumps(encode(tree)))) == tree


def test_foreign_smoothings_are_refused():
    class Mine:
        kind = "mine"

        def __call__(self, bags):
            return np.log(np.full((bags.n_terms, len(bags.classes)), 1 / bags.n_terms))

    with pytest.raises(DataError, match="a Mine cannot be saved"):
        NaiveBayesClassifier(smoothing=Mine()).fit(X, LABELS).get_state()


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["a", "bé"]),
        np.array([0, 1]),
        np.array([False, True]),
        np.array(["a", "b"], dtype=object),
    ],
    ids=str,
)
def test_classes_come_back_in_the_form_they_came(classes):
    fitted = NaiveBayesClassifier().fit(X, np.resize(classes, 30))
    parameters, arrays = fitted.get_state()
    restored = NaiveBayesClassifier.from_state(json.loads(json.dumps(parameters)), arrays)
    np.testing.assert_array_equal(restored.classes_, fitted.classes_)
    assert restored.classes_.dtype == fitted.classes_.dtype


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
    np.testing.assert_array_equal(
        NaiveBayesClassifier.from_state(*model.get_state()).predict_log_proba(X), before
    )


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("counts.indices", lambda a: a + 100),
        ("counts.indices", lambda a: -a),
        ("counts.indices", lambda a: a[::-1].copy()),
        ("counts.indices", lambda a: a.astype(float)),
        ("counts.indices", lambda a: a[:-1]),
        ("counts.indptr", lambda a: a[::-1].copy()),
        ("counts.indptr", lambda a: a[:-1]),
        ("counts.indptr", lambda a: a * 1000),
        ("counts.data", lambda a: -a),
        ("counts.data", lambda a: a * np.nan),
        ("counts.data", lambda a: a.reshape(1, -1)),
        ("counts.data", lambda a: a.astype(np.float32)),
        ("documents", lambda a: a[1:]),
        ("documents", lambda a: a * 0),
        ("counts.data", lambda a: a * 0),
        ("counts.data", lambda a: np.full_like(a, 1e308)),
        ("category_documents", lambda a: a[1:]),
        ("term_counts", lambda a: a[1:]),
        ("term_documents", lambda a: np.r_[a, 1.0]),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name, change):
    parameters, arrays = state()
    arrays[f"counted_.{name}"] = change(arrays[f"counted_.{name}"])
    with pytest.raises(DataError):
        NaiveBayesClassifier.from_state(parameters, arrays)


def test_unsorted_classes_are_refused():
    parameters, arrays = state()
    parameters["classes_"]["values"].reverse()
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
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(
    st.sampled_from(["smoothing", "priors", "classes_", "multilabel_", "counted_", "kind"]),
    json_values,
)
@settings(deadline=None, max_examples=200)
def test_other_parameters_are_refused_or_make_a_valid_model(name, value):
    parameters, arrays = state()
    parameters[name] = value
    try:
        model = NaiveBayesClassifier.from_state(parameters, arrays)
    except DataError:
        return
    assert not np.any(np.isnan(model.predict_proba(X)))


@given(st.sampled_from(["counts", "documents", "n_documents", "kind"]), json_values)
@settings(deadline=None, max_examples=200)
def test_other_counts_are_refused_or_make_a_valid_model(name, value):
    parameters, arrays = state()
    parameters["counted_"][name] = value
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
