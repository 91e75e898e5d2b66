import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import f1_score

from bayesift.errors import DataError
from bayesift.models import STORABLE
from bayesift.models.baselines import KernelSVM, LinearSVM
from bayesift.models.ensemble import CommonRareClassifier
from bayesift.models.naive_bayes import NaiveBayesClassifier
from bayesift.models.online import OnlineGaussianProcess
from bayesift.thresholds import ThresholdedClassifier


class Oracle(ClassifierMixin, BaseEstimator):
    """Right about categories of certain sizes, which it reads off the first columns of X.

    No elsewhere.
    """

    def __init__(self, *, low=0, high=10**9):
        self.low = low
        self.high = high

    def fit(self, X, y):
        self.columns_ = np.flatnonzero(np.asarray(y).sum(axis=0) >= 0)
        Y = np.asarray(y)
        self.right_ = (Y.sum(axis=0) >= self.low) & (Y.sum(axis=0) < self.high)
        # Which column of X a category is, by what the training documents say.
        X = np.asarray(X.todense())
        self.column_ = [
            int(np.argmax([(X[:, j] == Y[:, c]).mean() for j in range(X.shape[1])]))
            for c in self.columns_
        ]
        return self

    def predict(self, X):
        X = np.asarray(X.todense())
        return np.column_stack(
            [X[:, j] * right for j, right in zip(self.column_, self.right_, strict=True)]
        )


def labelled(n_documents=200):
    generator = np.random.default_rng(0)
    rates = np.array([0.5, 0.3, 0.2, 0.08, 0.05, 0.03])
    Y = (generator.random((n_documents, len(rates))) < rates).astype(int)
    return np.column_stack([Y, np.zeros(n_documents)]).astype(float), Y


@pytest.mark.parametrize("criterion", ["macro", "micro"])
def test_the_boundary_is_found_where_it_lies(criterion):
    X, Y = labelled()
    sizes = Y.sum(axis=0)
    model = CommonRareClassifier(Oracle(low=25), Oracle(high=25), criterion=criterion).fit(X, Y)
    assert sizes[3] < model.boundary_ <= sizes[2]
    assert model.is_common_.tolist() == [True] * 3 + [False] * 3
    np.testing.assert_array_equal(model.predict(X), Y)


def test_criteria_are_those_of_decisions_on_documents_held_out():
    X, _ = documents()
    Y = documents()[1]
    model = CommonRareClassifier(OnlineGaussianProcess(n_epochs=1), svm(), cv=3).fit(X, Y)
    decided = {}
    for name in ("common", "rare"):
        decided[name] = np.zeros_like(Y)
        for train, held_out in model._splits(len(Y), None):
            part = clone(getattr(model, name)).fit(X[train], Y[train])
            decided[name][held_out] = part.predict(X[held_out])
    for boundary, measured in zip(model.boundaries_, model.criteria_, strict=True):
        both = np.where(Y.sum(axis=0) >= boundary, decided["common"], decided["rare"])
        assert measured == pytest.approx(f1_score(Y, both, average="macro", zero_division=0))
    assert (
        model.criteria_.max()
        == model.criteria_[model.boundaries_.tolist().index(model.boundary_)]
    )


def svm():
    return LinearSVM(loss="hinge", C="scale")


def documents(n_documents=90, n_terms=8):
    generator = np.random.default_rng(3)
    X = generator.random((n_documents, n_terms)) * (
        generator.random((n_documents, n_terms)) < 0.5
    )
    return X, np.column_stack(
        [X[:, 0] > 0.2, X[:, 1] > 0.3, X[:, 2] > 0.8, X[:, 3] > 0.9]
    ).astype(int)


@pytest.mark.parametrize("boundary", [0, 20, 1000])
def test_each_part_decides_its_categories(boundary):
    X, Y = documents()
    common, rare = ThresholdedClassifier(OnlineGaussianProcess(), rule="max-f1"), svm()
    model = CommonRareClassifier(common, rare, boundary=boundary).fit(X, Y)
    ours = clone(common).fit(X, Y)
    theirs = clone(rare).fit(X, Y)
    expected = np.where(Y.sum(axis=0) >= boundary, ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) > 0)
    assert not hasattr(model, "predict_proba")


def test_terms_of_the_common_part_may_be_a_function():
    X, Y = documents()
    asked = []

    def feature_mask(X, Y):
        asked.append(X.shape[0])
        return np.ones((Y.shape[1], X.shape[1]), dtype=bool)

    model = CommonRareClassifier(OnlineGaussianProcess(), svm(), cv=3).fit(
        X, Y, feature_mask=feature_mask
    )
    assert asked[:3] == [60, 60, 60]
    plain = CommonRareClassifier(OnlineGaussianProcess(), svm(), cv=3).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


@pytest.mark.parametrize("boundary", [0, 20, 1000])
def test_it_is_stored_when_its_parts_are(boundary):
    X, Y = documents()
    model = CommonRareClassifier(
        OnlineGaussianProcess(), NaiveBayesClassifier(), boundary=boundary
    ).fit(X, Y)
    parameters, arrays = model.get_state()
    restored = STORABLE["common-rare"].from_state(json.loads(json.dumps(parameters)), arrays)
    np.testing.assert_array_equal(restored.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(restored.predict(X), model.predict(X))


def test_parts_that_cannot_be_stored_are_named():
    X, Y = documents()
    model = CommonRareClassifier(
        OnlineGaussianProcess(), KernelSVM(kernel="rbf"), boundary=20
    ).fit(X, Y)
    with pytest.raises(DataError, match="a KernelSVM cannot be saved"):
        model.get_state()


@pytest.mark.parametrize(
    "change",
    [
        {
            "is_common_": {
                "kind": "array",
                "dtype": "|b1",
                "values": [True, False, False, False],
            }
        },
        {"is_common_": {"kind": "array", "dtype": "<i8", "values": [1, 1, 0, 0]}},
        {"is_common_": {"kind": "array", "dtype": "|b1", "values": []}},
        {"is_common_": [True, True, False, False]},
        {"common_": None},
        {"common_": {"kind": "common-rare"}},
        {"common_": {"kind": "naive-bayes"}},
        {"rare_": {"kind": "os.system"}},
        {"rare_": "naive-bayes"},
        {"boundary_": "20"},
        {"n_features_in_": 3},
    ],
)
def test_states_that_do_not_fit_are_refused(change):
    X, Y = documents()
    model = CommonRareClassifier(
        OnlineGaussianProcess(), NaiveBayesClassifier(), boundary=20
    ).fit(X, Y)
    parameters, arrays = model.get_state()
    with pytest.raises(DataError):
        CommonRareClassifier.from_state({**parameters, **change}, arrays)


def test_wrong_use_is_refused():
    X, Y = documents()
    with pytest.raises(ValueError, match="not class labels"):
        CommonRareClassifier(OnlineGaussianProcess(), svm()).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="criterion must be"):
        CommonRareClassifier(OnlineGaussianProcess(), svm(), criterion="accuracy").fit(X, Y)
