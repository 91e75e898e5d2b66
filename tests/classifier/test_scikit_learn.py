"""The manners of a scikit-learn estimator."""

import inspect
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesift import DataError, DataWarning, TermVectorizer, TextClassifier
from bayesift.features import SelectTerms
from bayesift.models import LEARNERS, make_learner, weighting_of
from bayesift.models.baselines import LinearSVM, NBSVMClassifier
from bayesift.models.linear import GaussianPrior, SparseBayesClassifier
from bayesift.models.naive_bayes import NaiveBayesClassifier
from bayesift.text import TextEmbedder, WordVectors
from tests.classifier.test_labels import CODES, INDICATOR, NAMES, SINGLE, TEXTS, coded, sets

LABELS = coded("grain", "crude")
WEIGHTS = np.random.default_rng(0).integers(1, 4, len(TEXTS))


def not_ours(estimator):
    """Checks that do not apply.

    The checks give vectors to the classifier. A column of labels is taken as it is, without a
    warning.
    """
    return {"check_supervised_y_2d": "no warning"}


@parametrize_with_checks(
    [
        TextClassifier(
            model=SparseBayesClassifier(prior=GaussianPrior(variance=2.0), tol=1e-13)
        ),
        TextClassifier(model=LinearSVM(dual=False, tol=1e-12)),
    ],
    expected_failed_checks=not_ours,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", ["svm", LinearSVC(), "rocchio", "nbsvm"])
def test_learners_without_probabilities_have_none(model):
    classifier = TextClassifier(model=model)
    for _ in range(2):
        assert not hasattr(classifier, "predict_proba")
        assert not hasattr(classifier, "predict_log_proba")
        assert "predict_proba" not in dir(classifier)
        assert hasattr(classifier, "decision_function")
        classifier.fit(TEXTS, LABELS)
    with pytest.raises(AttributeError, match="has no probabilities; decision_function gives"):
        classifier.predict_proba(TEXTS)
    scores = classifier.decision_function(TEXTS)
    assert scores.shape == (len(TEXTS),)
    np.testing.assert_array_equal(
        scores > 0, classifier.predict(TEXTS) == classifier.classes_[1]
    )


def test_learners_with_probabilities_have_both():
    classifier = TextClassifier(model="naive-bayes")
    assert hasattr(classifier, "predict_proba")
    assert "predict_proba" in dir(classifier)
    assert "classes_" not in dir(classifier)
    three = [
        "ship" if "tankers" in text else label
        for text, label in zip(TEXTS, LABELS, strict=True)
    ]
    classifier.fit(TEXTS, three)
    assert "classes_" in dir(classifier)
    scores = classifier.decision_function(TEXTS)
    assert scores.shape == (len(TEXTS), 3)
    np.testing.assert_array_equal(
        classifier.classes_[scores.argmax(axis=1)], classifier.predict(TEXTS)
    )
    np.testing.assert_allclose(
        classifier.predict_log_proba(TEXTS), np.log(classifier.predict_proba(TEXTS))
    )


def test_scorers_find_what_they_need():
    names = ["roc_auc", "neg_log_loss", "accuracy", "f1_macro", "average_precision"]
    found = cross_validate(TextClassifier(), TEXTS, CODES, cv=3, scoring=names)
    assert all(np.isfinite(found[f"test_{name}"]).all() for name in names)
    assert np.isfinite(
        cross_validate(TextClassifier(model="svm"), TEXTS, CODES, cv=3, scoring="roc_auc")[
            "test_score"
        ]
    ).all()
    several = cross_validate(
        TextClassifier(), TEXTS, INDICATOR, cv=3, scoring=["f1_micro", "accuracy"]
    )
    assert np.isfinite(several["test_f1_micro"]).all()
    classifier = TextClassifier().fit(TEXTS, CODES)
    assert roc_auc_score(CODES, classifier.decision_function(TEXTS)) > 0.9


def test_parameters_of_parts_that_are_not_there_yet():
    classifier = TextClassifier(model="logistic-gaussian")
    deep = classifier.get_params()
    assert {"vectorizer__min_df", "model__prior_scale", "vectorizer", "model"} <= set(deep)
    assert deep["vectorizer"] is None
    assert deep["model"] == "logistic-gaussian"
    classifier.set_params(vectorizer__min_df=2)
    assert classifier.vectorizer.min_df == 2
    assert classifier.model == "logistic-gaussian"
    assert TextClassifier().vectorizer is None
    classifier.set_params(model__prior_scale=2.0)
    assert classifier.model.prior_scale == 2.0
    assert classifier.model.prior == make_learner("logistic-gaussian").prior
    named = TextClassifier().set_params(model="svm", model__C=3.0)
    assert isinstance(named.model, LinearSVM)
    assert named.model.C == 3.0
    with pytest.raises(ValueError, match="Invalid parameter 'min_dff'"):
        TextClassifier().set_params(vectorizer__min_dff=2)
    assert clone(named).get_params()["model__C"] == 3.0


def test_a_grid_over_the_parts():
    grid = {
        "vectorizer__min_df": [1, 2],
        "vectorizer__ngram_range": [(1, 1), (1, 2)],
        "model__C": [0.1, 1.0],
    }
    search = GridSearchCV(TextClassifier(model="svm"), grid, cv=3).fit(TEXTS, LABELS)
    assert set(search.best_params_) == set(grid)
    assert len(search.cv_results_["params"]) == 8
    assert search.best_estimator_.vectorizer_.weighting == LEARNERS["svm"].weighting
    assert search.predict(TEXTS).tolist() == LABELS
    best = search.best_params_
    alone = TextClassifier(
        model=LinearSVM(C=best["model__C"]),
        vectorizer=TermVectorizer(
            ngram_range=best["vectorizer__ngram_range"], min_df=best["vectorizer__min_df"]
        ),
    ).fit(TEXTS, LABELS)
    np.testing.assert_array_equal(
        alone.decision_function(TEXTS), search.decision_function(TEXTS)
    )
    models = GridSearchCV(
        TextClassifier(), {"model": ["naive-bayes", "svm", LogisticRegression()]}, cv=3
    )
    assert models.fit(TEXTS, LABELS).score(TEXTS, LABELS) > 0.8


@pytest.mark.parametrize(
    "name",
    [name for name in LEARNERS if name in ("svm", "nbsvm", "naive-bayes", "knn", "jury")],
)
def test_an_instance_gets_the_weighting_of_its_learner(name):
    instance = make_learner(name)
    assert weighting_of(instance) == LEARNERS[name].weighting
    classifier = TextClassifier(model=instance).fit(TEXTS, LABELS)
    assert classifier.vectorizer_.weighting == LEARNERS[name].weighting
    own = TextClassifier(model=instance, vectorizer=TermVectorizer(min_df=2)).fit(TEXTS, LABELS)
    assert own.vectorizer_.weighting == LEARNERS[name].weighting
    fixed = TextClassifier(model=instance, vectorizer=TermVectorizer(weighting="log-tf")).fit(
        TEXTS, LABELS
    )
    assert fixed.vectorizer_.weighting == "log-tf"
    named = TextClassifier(model=name).fit(TEXTS, LABELS)
    np.testing.assert_array_equal(
        classifier.decision_function(TEXTS), named.decision_function(TEXTS)
    )


def test_weightings_of_other_peoples_classifiers():
    linear = LEARNERS["logistic-gaussian"].weighting
    assert weighting_of(LogisticRegression()) == linear
    assert weighting_of(OneVsRestClassifier(LinearSVC())) == linear
    assert weighting_of(MultinomialNB()) == "tf"
    assert weighting_of(make_pipeline(TfidfTransformer(), LogisticRegression())) == "tf"
    assert weighting_of(GridSearchCV(NBSVMClassifier(), {"C": [1.0]})) == "binary"
    with pytest.raises(ValueError, match="no learner 'oracle'"):
        weighting_of("oracle")


def test_sample_weights_are_repetitions():
    repeated = np.repeat(np.arange(len(TEXTS)), WEIGHTS)
    expected = TextClassifier(model="naive-bayes").fit(
        [TEXTS[i] for i in repeated], [LABELS[i] for i in repeated]
    )
    classifier = TextClassifier(model="naive-bayes").fit(TEXTS, LABELS, sample_weight=WEIGHTS)
    np.testing.assert_allclose(
        classifier.predict_proba(TEXTS), expected.predict_proba(TEXTS), rtol=1e-12
    )
    held_out = TextClassifier(model="naive-bayes", threshold="max-f1", threshold_cv=3)
    assert held_out.fit(TEXTS, LABELS, sample_weight=WEIGHTS).predict(TEXTS).tolist() == LABELS
    with pytest.raises(DataError, match="OnlinePerceptron takes no sample_weight"):
        TextClassifier(model="online-perceptron").fit(TEXTS, LABELS, sample_weight=WEIGHTS)
    with pytest.raises(ValueError, match="one sample weight for each of the 12"):
        TextClassifier(model="naive-bayes").fit(TEXTS, LABELS, sample_weight=WEIGHTS[1:])


def test_weights_of_classes():
    balance = {"grain": 1.0, "crude": 5.0}
    plain = TextClassifier(model="logistic-gaussian").fit(TEXTS, LABELS)
    heavy = TextClassifier(model="logistic-gaussian", class_weight=balance).fit(TEXTS, LABELS)
    inside = TextClassifier(model=make_learner("logistic-gaussian", class_weight=balance)).fit(
        TEXTS, LABELS
    )
    np.testing.assert_array_equal(heavy.predict_proba(TEXTS), inside.predict_proba(TEXTS))
    assert (heavy.predict_proba(TEXTS)[:, 0] > plain.predict_proba(TEXTS)[:, 0]).all()
    # naive Bayes has sample weights only
    counted = TextClassifier(model="naive-bayes", class_weight=balance).fit(TEXTS, LABELS)
    weighed = TextClassifier(model="naive-bayes").fit(
        TEXTS, LABELS, sample_weight=[balance[label] for label in LABELS]
    )
    np.testing.assert_array_equal(counted.predict_proba(TEXTS), weighed.predict_proba(TEXTS))
    numbers = TextClassifier(model="svm", class_weight={2: 1.0, 10: 3.0}).fit(
        TEXTS, SINGLE["int"]
    )
    assert numbers.model_.class_weight == {2: 1.0, 10: 3.0}
    TextClassifier(model="svm", class_weight="balanced").fit(TEXTS, INDICATOR)
    with pytest.raises(DataError, match="class_weight names 'rye', which no text has"):
        TextClassifier(class_weight={"rye": 2.0}).fit(TEXTS, LABELS)
    with pytest.raises(DataError, match="a OnlinePerceptron takes no class_weight"):
        TextClassifier(model="online-perceptron", class_weight="balanced").fit(TEXTS, LABELS)


FORMS = {
    "str": LABELS,
    "int": SINGLE["int"],
    "lists": sets(list, NAMES),
    "indicator": INDICATOR,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model", ["naive-bayes", "online-perceptron", "online-gp"])
def test_batches_with_new_words(model, form, tmp_path):
    labels = FORMS[form]
    classifier = TextClassifier(model=model, vectorizer=TermVectorizer(weighting="binary"))
    assert classifier.partial_fit(TEXTS[:5], labels[:5]) is classifier
    n_terms = len(classifier.terms())
    classifier.save(tmp_path / "model")
    for again in (classifier, TextClassifier.load(tmp_path / "model")):
        again.partial_fit(pd.Series(TEXTS[5:]), labels[5:])
        assert len(again.terms()) > n_terms
        assert again.score(TEXTS, labels) > 0.7
        np.testing.assert_array_equal(
            again.predict_proba(TEXTS), classifier.predict_proba(TEXTS)
        )
    if model == "naive-bayes":  # exact
        whole = TextClassifier(model=model, vectorizer=TermVectorizer(weighting="binary")).fit(
            TEXTS, labels
        )
        np.testing.assert_allclose(
            classifier.predict_proba(TEXTS), whole.predict_proba(TEXTS), rtol=1e-12
        )
        assert classifier.classes_.tolist() == whole.classes_.tolist()


def test_labels_that_come_later():
    classifier = TextClassifier(model="naive-bayes").partial_fit(TEXTS[:2], [1, 1])
    assert classifier.classes_.tolist() == [1]
    classifier.partial_fit(TEXTS[2:4], [3, 3]).partial_fit(
        TEXTS[4:6], [2, 3], sample_weight=[1, 2]
    )
    assert classifier.classes_.tolist() == [1, 2, 3]
    assert classifier.predict(TEXTS[:1]).tolist() == [1]
    lists = TextClassifier(model="online-perceptron").partial_fit(TEXTS[:2], [["b"], ["c"]])
    assert lists.partial_fit(TEXTS[2:4], [["a", "b"], []]).categories_ == ("b", "c", "a")
    named = TextClassifier(model="online-perceptron").partial_fit(
        TEXTS[:2], [1, 2], classes=[3, 2, 1]
    )
    named.partial_fit(TEXTS[2:4], [3, 3])
    assert named.classes_.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match=r"new classes \[4\]: name all in the first call"):
        named.partial_fit(TEXTS[4:5], [4])
    with pytest.warns(DataWarning, match="1 text without a label left out"):
        named.partial_fit(TEXTS[:2], [1, None])


def test_what_cannot_be_learned_in_batches():
    assert not hasattr(TextClassifier(model="svm"), "partial_fit")
    assert not hasattr(TextClassifier(model=SGDClassifier()), "partial_fit")
    for options, message in (
        ({"selection": SelectTerms(k=2)}, "no selection"),
        ({"threshold": "max-f1"}, "cannot fit a MaxF1 rule"),
        ({"class_weight": "balanced"}, "class_weight"),
    ):
        with pytest.raises(DataError, match=message):
            TextClassifier(model="naive-bayes", **options).partial_fit(TEXTS, LABELS)
    with pytest.raises(ValueError, match="partial_fit keeps every term"):
        TextClassifier(model="naive-bayes", vectorizer=TermVectorizer(min_df=2)).partial_fit(
            TEXTS, LABELS
        )
    with pytest.raises(
        DataError, match="OnlinePerceptron takes no sample_weight in partial_fit"
    ):
        TextClassifier(model="online-perceptron").partial_fit(
            TEXTS, LABELS, sample_weight=WEIGHTS
        )
    fitted = TextClassifier(model="naive-bayes", threshold="max-f1").fit(TEXTS, LABELS)
    with pytest.raises(DataError, match="cannot fit a MaxF1 rule"):
        fitted.partial_fit(TEXTS, LABELS)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), LinearSVC(), MultinomialNB(), NaiveBayesClassifier()]
)
def test_other_peoples_models_and_several_labels(model):
    classifier = TextClassifier(model=model).fit(TEXTS, sets(list, NAMES))
    assert classifier.score(TEXTS, sets(list, NAMES)) > 0.3
    assert classifier.decision_function(TEXTS).shape == (len(TEXTS), 3)


def test_metadata_is_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = TextClassifier(model="naive-bayes").set_fit_request(sample_weight=True)
        search = GridSearchCV(
            weighted.set_score_request(sample_weight=True), {"vectorizer__min_df": [1]}, cv=3
        )
        search.fit(TEXTS, LABELS, sample_weight=WEIGHTS)
    expected = TextClassifier(model="naive-bayes").fit(TEXTS, LABELS, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(search.predict_proba(TEXTS), expected.predict_proba(TEXTS))
    for method in ("fit", "score", "partial_fit"):
        requests = getattr(TextClassifier().get_metadata_routing(), method).requests
        assert {"sample_weight"} <= set(requests)
        assert not {"X", "y", "texts", "labels"} & set(requests)


def test_in_pipelines_and_ensembles():
    shout = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    pipeline = Pipeline([("lower", shout), ("classify", TextClassifier())]).fit(TEXTS, LABELS)
    assert pipeline.predict(TEXTS).tolist() == LABELS
    assert pipeline.classes_.tolist() == ["crude", "grain"]
    voting = VotingClassifier(
        [("bayes", TextClassifier()), ("prior", DummyClassifier())],
        voting="soft",
        weights=[9, 1],
    )
    assert voting.fit(np.array(TEXTS), LABELS).predict(np.array(TEXTS)).tolist() == LABELS


def test_is_a_classifier_that_is_fitted_or_not():
    classifier = TextClassifier()
    assert is_classifier(classifier)
    for method in ("predict", "decide", "decision_function", "vectors", "explain"):
        with pytest.raises(NotFittedError):
            getattr(classifier, method)(TEXTS)
    with pytest.raises(NotFittedError):
        classifier.score(TEXTS, LABELS)
    assert classifier.fit(TEXTS, LABELS) is classifier
    assert list(inspect.signature(TextClassifier.fit).parameters)[:3] == ["self", "X", "y"]


@pytest.fixture
def routing():
    """Let scikit-learn hand groups and weights to those that ask for them."""
    with sklearn.config_context(enable_metadata_routing=True):
        yield


class Recorder(TextClassifier):
    """Keeps what its last fit was told."""

    told: ClassVar[list[dict]] = []

    def fit(self, X, y=None, *, sample_weight=None, groups=None):
        self.told.append({"n": len(X), "sample_weight": sample_weight, "groups": groups})
        return super().fit(X, y, sample_weight=sample_weight, groups=groups)


def routed():
    """Texts, labels, and the groups and weights to hand on."""
    words = {"grain": ["wheat", "corn"], "crude": ["oil", "tanker"]}
    labels = np.array(["grain", "crude"] * 12)
    texts = [f"{words[label][k % 2]} no{k} file{k}" for k, label in enumerate(labels)]
    return texts, labels, {"groups": np.arange(24) // 4, "sample_weight": np.arange(1.0, 25.0)}


@pytest.mark.parametrize("model", ["auto", "naive-bayes"])
@pytest.mark.usefixtures("routing")
def test_groups_and_weights_are_routed(model):
    asked = Recorder(model=model).set_fit_request(groups=True, sample_weight=True)
    asked.set_score_request(sample_weight=True)
    texts, labels, more = routed()
    runs = {
        "cross_validate": lambda: cross_validate(
            asked, texts, labels, params=more, cv=GroupKFold(2), error_score="raise"
        ),
        "search": lambda: GridSearchCV(
            asked, {"random_state": [1]}, cv=GroupKFold(2), error_score="raise"
        ).fit(texts, labels, **more),
        "pipeline": lambda: make_pipeline(FunctionTransformer(), asked).fit(
            texts, labels, **more
        ),
    }
    for name, run in runs.items():
        Recorder.told.clear()
        run()
        assert Recorder.told, name
        for told in Recorder.told:
            assert len(told["sample_weight"]) == len(told["groups"]) == told["n"], name
            # The weights are those of the same texts as the groups.
            rows = np.asarray(told["sample_weight"], int) - 1
            np.testing.assert_array_equal(told["groups"], rows // 4)


@pytest.mark.usefixtures("routing")
def test_what_is_not_asked_for_is_refused_by_scikit_learn():
    classifier = TextClassifier(model="naive-bayes")
    texts, labels, more = routed()
    with pytest.raises(UnsetMetadataPassedError, match="groups"):
        make_pipeline(FunctionTransformer(), classifier).fit(texts, labels, **more)
    # Routing changes nothing for a classifier of its own.
    assert classifier.fit(texts, labels, **more).score(texts, labels) == 1.0
    several = [[label] for label in labels]
    TextClassifier(model="bernoulli-naive-bayes").fit(texts, several, groups=more["groups"])
    TextClassifier(threshold="pcut", threshold_cv=2).fit(texts, several, **more)


@pytest.mark.parametrize("model", ["auto", "naive-bayes", "topics-svm", "knn"])
def test_output_as_frames_changes_nothing_within(model):
    classifier = TextClassifier(
        model=model, selection=SelectTerms(k=5), characters=True, embedder=None
    )
    expected = classifier.fit(TEXTS, LABELS).decision_function(TEXTS)
    with sklearn.config_context(transform_output="pandas"):
        found = classifier.fit(TEXTS, LABELS).decision_function(TEXTS)
        rows = TermVectorizer().fit_transform(TEXTS)
        explained = TextClassifier(model="naive-bayes").fit(TEXTS, LABELS).explain(TEXTS[0])
    np.testing.assert_array_equal(found, expected)
    assert sparse.issparse(rows)
    assert explained.categories


def test_dense_rows_can_be_frames_and_sparse_ones_say_why_not():
    vectors = WordVectors.of(["corn", "wheat", "oil"], np.eye(3))
    frame = TextEmbedder(vectors).set_output(transform="pandas")
    rows = frame.fit_transform(TEXTS)
    assert isinstance(rows, pd.DataFrame)
    assert len(rows) == len(TEXTS)
    assert list(rows.columns) == frame.get_feature_names_out().tolist()
    assert not hasattr(TermVectorizer(), "set_output")
    counts = TermVectorizer().fit_transform(TEXTS)
    selection = SelectTerms(k=3).set_output(transform="pandas")
    with pytest.raises(ValueError, match="outputs a scipy sparse matrix"):
        selection.fit(counts, LABELS).transform(counts)
    dense = selection.fit(counts.toarray(), LABELS).transform(counts.toarray())
    assert dense.shape == (len(TEXTS), 3)
