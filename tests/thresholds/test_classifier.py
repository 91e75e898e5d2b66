import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesift.errors import DataError
from bayesift.thresholds import THRESHOLD_RULES, MaxF1, RCut, ThresholdedClassifier, Utility


# scikit-learn's checks want the class with probability above 0.5 predicted, so that other rules
# stand on scores here.
@parametrize_with_checks(
    [
        ThresholdedClassifier(LogisticRegression(), rule="bayes"),
        ThresholdedClassifier(LinearSVC()),
        ThresholdedClassifier(LinearSVC(), rule="minimum-errors", cv=3),
        ThresholdedClassifier(
            DecisionTreeClassifier(random_state=0), rule=Utility(calibrated=False)
        ),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def multilabel():
    X, Y = make_multilabel_classification(
        200, n_features=15, n_classes=6, allow_unlabeled=True, random_state=0
    )
    Y[:, 5] = 0
    Y[[3, 60], 5] = 1
    Y[:, 4] = 0
    Y[7, 4] = 1
    return X, Y


MULTILABEL = [
    OneVsRestClassifier(LogisticRegression()),
    OneVsRestClassifier(LinearSVC()),
    MultiOutputClassifier(LogisticRegression()),
    KNeighborsClassifier(),
    DecisionTreeClassifier(max_depth=3, random_state=0),
]


@pytest.mark.parametrize("estimator", MULTILABEL, ids=str)
@pytest.mark.parametrize("cv", [None, 3])
def test_multilabel_decisions_are_scores_above_thresholds(multilabel, estimator, cv):
    X, Y = multilabel
    model = ThresholdedClassifier(estimator, cv=cv).fit(X, Y)
    decided = model.predict(X)
    assert decided.shape == Y.shape
    assert set(np.unique(decided)) <= {0, 1}
    np.testing.assert_array_equal(decided, model.decision_scores(X) > model.rule_.thresholds_)
    np.testing.assert_array_equal(decided, model.decision_function(X) > 0)
    if cv is None:
        assert f1_score(Y, decided, average="macro") >= f1_score(
            Y, clone(estimator).fit(X, Y).predict(X), average="macro", zero_division=0
        )


def test_training_thresholds_are_those_of_the_rule_on_training_scores(multilabel):
    X, Y = multilabel
    inner = OneVsRestClassifier(LogisticRegression())
    model = ThresholdedClassifier(inner, rule=MaxF1(shrinkage=2)).fit(X, Y)
    expected = MaxF1(shrinkage=2).fit(Y, inner.fit(X, Y).predict_proba(X))
    np.testing.assert_allclose(model.rule_.thresholds_, expected.thresholds_)


def test_held_out_thresholds_are_those_of_cross_validated_scores():
    X, y = make_classification(120, random_state=0)
    folds = KFold(4)
    model = ThresholdedClassifier(LogisticRegression(), cv=folds).fit(X, y)
    scores = cross_val_predict(LogisticRegression(), X, y, cv=folds, method="predict_proba")[
        :, 1
    ]
    np.testing.assert_allclose(model.rule_.thresholds_, MaxF1().fit(y, scores).thresholds_)


def test_sparse_labels_and_features(multilabel):
    X, Y = multilabel
    inner = OneVsRestClassifier(LogisticRegression())
    dense = ThresholdedClassifier(inner, cv=2).fit(X, Y)
    lean = ThresholdedClassifier(inner, cv=2).fit(sparse.csr_matrix(X), sparse.csr_matrix(Y))
    np.testing.assert_array_equal(dense.predict(X), lean.predict(sparse.csr_matrix(X)))


@pytest.mark.parametrize("rule", THRESHOLD_RULES)
def test_every_rule_on_every_kind_of_labels(multilabel, rule):
    X, Y = multilabel
    inner = OneVsRestClassifier(LogisticRegression())
    assert ThresholdedClassifier(inner, rule=rule).fit(X, Y).predict(X).shape == Y.shape
    X, y = make_classification(90, n_informative=4, n_classes=3, random_state=0)
    names = np.array(["corn", "oil", "wheat"])[y]
    predicted = ThresholdedClassifier(LogisticRegression(), rule=rule).fit(X, names).predict(X)
    assert np.mean(predicted == names) > 0.6
    if rule == "rcut":
        with pytest.raises(ValueError, match="t must be"):
            ThresholdedClassifier(LogisticRegression(), rule=rule).fit(X, names == "oil")
    else:
        predicted = (
            ThresholdedClassifier(LogisticRegression(), rule=rule)
            .fit(X, names == "oil")
            .predict(X)
        )
        assert predicted.dtype == bool


def test_rcut_of_one_is_the_largest_score():
    X, y = make_classification(90, n_informative=4, n_classes=3, random_state=0)
    inner = LogisticRegression().fit(X, y)
    np.testing.assert_array_equal(
        ThresholdedClassifier(inner, rule=RCut(t=1)).fit(X, y).predict(X), inner.predict(X)
    )


def test_texts_go_through_a_pipeline():
    texts = [
        "corn and wheat",
        "wheat harvest",
        "oil tanker",
        "crude oil",
        "corn price",
        "oil price",
    ]
    model = ThresholdedClassifier(make_pipeline(CountVectorizer(), MultinomialNB()), cv=2)
    model.fit(texts, ["grain", "grain", "crude", "crude", "grain", "crude"])
    assert model.predict(["wheat corn", "tanker of crude oil"]).tolist() == ["grain", "crude"]


def test_one_class_is_always_predicted():
    assert ThresholdedClassifier(DummyClassifier()).fit([[0], [1]], ["ham", "ham"]).predict(
        [[2]]
    ).tolist() == ["ham"]


def test_probabilities_pass_through():
    X, y = make_classification(60, random_state=0)
    inner = LogisticRegression().fit(X, y)
    model = ThresholdedClassifier(LogisticRegression()).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), inner.predict_proba(X))
    assert not hasattr(ThresholdedClassifier(LinearSVC()), "predict_proba")


def test_folds_depend_only_on_the_seed():
    X, y = make_classification(80, flip_y=0.3, random_state=0)
    models = [
        ThresholdedClassifier(LogisticRegression(), cv=4, random_state=seed).fit(X, y)
        for seed in (1, 1, 2)
    ]
    first, again, other = (model.rule_.thresholds_[0] for model in models)
    assert first == again != other


def test_copies():
    X, y = make_classification(60, random_state=0)
    model = ThresholdedClassifier(LogisticRegression(C=2), rule=MaxF1(shrinkage=3), cv=2).fit(
        X, y
    )
    assert model.get_params()["rule__shrinkage"] == 3
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (
            ThresholdedClassifier(LinearSVC(), rule="bayes"),
            TypeError,
            "LinearSVC has no predict_proba, which its rule",
        ),
        (
            ThresholdedClassifier(RidgeClassifier(), response="predict_proba"),
            TypeError,
            "has no predict_proba",
        ),
        (
            ThresholdedClassifier(LogisticRegression(), response="votes"),
            ValueError,
            "response must be one of",
        ),
        (
            ThresholdedClassifier(LogisticRegression(), rule="best"),
            ValueError,
            "no threshold rule 'best'",
        ),
        (
            ThresholdedClassifier(LogisticRegression(), cv=KFold(3)),
            DataError,
            "every training part must hold every",
        ),
    ],
)
def test_what_cannot_work_is_refused(model, error, message):
    X = np.arange(12.0)[:, None]
    with pytest.raises(error, match=message):
        model.fit(X, np.repeat(["a", "b", "c"], 4))


@pytest.mark.parametrize("rule", ["bayes", "sign", "utility", "pcut"])
@pytest.mark.parametrize("cv", [None, 3])
def test_rules_that_learn_nothing_from_scores_do_not_score_the_training_documents(
    multilabel, monkeypatch, rule, cv
):
    X, Y = multilabel
    fitted = ThresholdedClassifier(KNeighborsClassifier(), rule=rule, cv=cv)
    expected = ThresholdedClassifier(KNeighborsClassifier(), rule=rule).fit(X, Y).predict(X)
    with monkeypatch.context() as patched:
        patched.setattr(KNeighborsClassifier, "predict_proba", _never)
        fitted.fit(X, Y)
    np.testing.assert_array_equal(fitted.predict(X), expected)


def _never(self, X):
    raise AssertionError("scored for nothing")
