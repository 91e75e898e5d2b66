import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import SelectKBest
from sklearn.feature_selection import chi2 as sklearn_chi2
from sklearn.pipeline import make_pipeline

from bayesift import DataError
from bayesift.features import SCORES, SelectTerms, TermTables
from bayesift.models.naive_bayes import NaiveBayesClassifier


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(11)
    X = sparse.csr_array(generator.poisson(0.4, size=(70, 30)).astype(float))
    Y = (generator.random((70, 4)) < [0.6, 0.4, 0.2, 0.1]).astype(int)
    Y[0] = 1
    return X, Y


@pytest.mark.parametrize("name", SCORES)
def test_shared_selection_by_the_highest_score(data, name):
    X, Y = data
    selected = SelectTerms(by=name, k=7).fit(X, Y)
    scores = SCORES[name](TermTables.of(X, Y)).max(axis=0)
    np.testing.assert_array_equal(selected.scores_, scores)
    np.testing.assert_array_equal(
        selected.get_support(indices=True), np.sort(np.argsort(-scores, kind="stable")[:7])
    )


def test_two_classes_select_as_scikit_learn_does(data):
    X, Y = data
    theirs = SelectKBest(sklearn_chi2, k=9).fit(X, Y[:, 1])
    ours = SelectTerms(by="count-chi2", k=9).fit(X, Y[:, 1])
    np.testing.assert_array_equal(ours.get_support(), theirs.get_support())
    assert (ours.transform(X) != theirs.transform(X)).nnz == 0


def test_weighted_average(data):
    X, Y = data
    sizes = Y.sum(axis=0)
    expected = sizes / sizes.sum() @ SCORES["chi2"](TermTables.of(X, Y))
    np.testing.assert_allclose(
        SelectTerms(by="chi2", average="weighted").fit(X, Y).scores_, expected, rtol=1e-12
    )
    plain = SCORES["chi2"](TermTables.of(X, Y)).mean(axis=0)
    np.testing.assert_allclose(
        SelectTerms(by="chi2", average="mean").fit(X, Y).scores_, plain, rtol=1e-12
    )


def test_pairs_that_never_meet_have_no_part_in_the_mean():
    X, y = [[1, 0], [1, 1], [0, 1]], ["a", "b", "b"]
    assert np.all(
        np.isfinite(SelectTerms(by="mutual-information", average="weighted").fit(X, y).scores_)
    )


@pytest.mark.parametrize(("k", "threshold"), [(5, None), (None, 2.0), (5, 2.0), (1000, None)])
def test_a_set_for_each_category(data, k, threshold):
    X, Y = data
    selected = SelectTerms(by="chi2", k=k, threshold=threshold, per_category=True).fit(X, Y)
    scores = SCORES["chi2"](TermTables.of(X, Y))
    for c, row in enumerate(scores):
        best = np.argsort(-row, kind="stable")[:k]
        expected = sorted(j for j in best if threshold is None or row[j] > threshold)
        assert np.flatnonzero(selected.feature_mask_[[c]].toarray()).tolist() == expected
        assert selected.scores_[[c]].toarray()[0, expected].tolist() == row[expected].tolist()
    np.testing.assert_array_equal(
        selected.get_support(), selected.feature_mask_.toarray().any(axis=0)
    )


def test_soft_sets_hold_scales_that_grow_with_the_score(data):
    X, Y = data
    selected = SelectTerms(by="chi2", per_category=True, soft=2.5).fit(X, Y)
    scores = SCORES["chi2"](TermTables.of(X, Y))
    np.testing.assert_allclose(
        selected.feature_mask_.toarray(), np.sqrt(scores / (scores + 2.5)), rtol=1e-12
    )
    negative = SelectTerms(
        by=lambda tables: -SCORES["chi2"](tables), per_category=True, soft=2.5
    ).fit(X, Y)
    assert not negative.feature_mask_.toarray().any()


@pytest.mark.parametrize("wrong", [{"soft": 1.0}, {"soft": 0.0, "per_category": True}])
def test_soft_sets_need_a_number_and_a_set_for_each_category(data, wrong):
    with pytest.raises(ValueError, match="soft must be"):
        SelectTerms(**wrong).fit(*data)


def test_of_equals_the_earlier_column_is_kept():
    X = np.array([[1, 1, 1, 1], [0, 0, 0, 0]])
    assert SelectTerms(by="chi2", k=2).fit(X, [1, 0]).get_support().tolist() == [
        True,
        True,
        False,
        False,
    ]


def test_a_score_of_ones_own(data):
    X, Y = data
    rare = SelectTerms(by=lambda tables: -SCORES["document-frequency"](tables), k=3).fit(X, Y)
    kept = np.sort(np.argsort(np.diff(X.tocsc().indptr), kind="stable")[:3])
    assert rare.get_support(indices=True).tolist() == kept.tolist()


def test_names_and_pipelines(data):
    X, Y = data
    names = np.array([f"term{j}" for j in range(30)], dtype=object)
    selected = SelectTerms(k=4).fit(X, Y)
    assert (
        selected.get_feature_names_out(names).tolist() == names[selected.get_support()].tolist()
    )
    model = make_pipeline(SelectTerms(k=4), NaiveBayesClassifier()).fit(X, Y)
    assert model.predict_proba(X).shape == Y.shape


def test_fitting_again_without_per_category_forgets_the_sets(data):
    X, Y = data
    selected = SelectTerms(k=4, per_category=True).fit(X, Y)
    assert not hasattr(selected.set_params(per_category=False).fit(X, Y), "feature_mask_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"by": "nonsense"}, "no score 'nonsense'; there are: pearson"),
        ({"k": 0}, "k must be at least 1"),
        ({"average": "median"}, "average must be one of max, mean, weighted"),
    ],
)
def test_wrong_parameters_are_named(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        SelectTerms(**parameters).fit(*data)


@pytest.mark.parametrize("per_category", [False, True])
def test_stored_selections_keep_the_same_terms(data, per_category):
    X, Y = data
    selected = SelectTerms(by=SCORES["chi2"], k=4, per_category=per_category).fit(X, Y)
    parameters, arrays = selected.get_state()
    restored = SelectTerms.from_state(json.loads(json.dumps(parameters)), arrays)
    assert (restored.transform(X) != selected.transform(X)).nnz == 0
    assert restored.by == "chi2"


@pytest.mark.parametrize(
    ("parameters", "arrays"),
    [
        ({}, {}),
        ({}, {"_mask": np.ones(3)}),
        ({}, {"_mask": np.ones((3, 1), dtype=bool)}),
        ({"nonsense": 1}, {"_mask": np.ones(3, dtype=bool)}),
        ({"k": "ten"}, {"_mask": np.ones(3, dtype=bool)}),
        ({"_mask": None}, {}),
    ],
)
def test_other_states_are_refused(parameters, arrays):
    with pytest.raises(DataError):
        SelectTerms.from_state(
            {"kind": "term-selection", "_mask": {"kind": "array"}, **parameters}, arrays
        )


def test_documents_and_labels_must_be_as_many(data):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SelectTerms().fit(data[0], [0, 1])
