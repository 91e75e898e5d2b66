"""A refused batch changes nothing: the same answers, the same file."""

import numpy as np
import pandas as pd
import pytest

from bayesift.classifier import TextClassifier
from bayesift.errors import DataError
from bayesift.text import TermVectorizer

FIRST = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"]
LABELS = ["grain", "grain", "crude", "crude"]
LEARNERS = ["naive-bayes", "online-perceptron", "online-stack"]


def state_of(classifier, folder):
    classifier.save(folder / "model")
    files = sorted((folder / "model").iterdir())
    return {file.name: file.read_bytes() for file in files}


def refused_batches():
    return {
        "too few labels": (["maize", "gas"], ["grain"], {}),
        "a number for a text": (["new words here", 3.5], ["grain", "crude"], {}),
        "vectors": (np.eye(2), ["grain", "crude"], {}),
        "labels of another form": (["maize", "gas"], [["grain"], ["crude"]], {}),
        "numbers for names": (["maize", "gas"], [1, 2], {}),
        "negative weights": (["maize", "gas"], ["grain", "crude"], {"sample_weight": [1, -1]}),
        "too few weights": (["maize", "gas"], ["grain", "crude"], {"sample_weight": [1]}),
    }


@pytest.mark.parametrize("batch", refused_batches())
@pytest.mark.parametrize("model", LEARNERS)
def test_a_refused_batch_changes_nothing(model, batch, tmp_path):
    classifier = TextClassifier(model=model).partial_fit(FIRST, LABELS)
    before = state_of(classifier, tmp_path)
    answers = classifier.predict_proba(FIRST)
    texts, labels, options = refused_batches()[batch]
    with pytest.raises((DataError, ValueError, TypeError)):
        classifier.partial_fit(texts, labels, **options)
    np.testing.assert_array_equal(classifier.predict_proba(FIRST), answers)
    assert state_of(classifier, tmp_path) == before
    classifier.partial_fit(["maize exports", "gas prices"], ["grain", "crude"])
    assert "maize" in classifier.terms()


def test_a_new_class_that_the_model_refuses_leaves_no_words_behind(tmp_path):
    classifier = TextClassifier(model="online-perceptron").partial_fit(FIRST, LABELS)
    before = state_of(classifier, tmp_path)
    with pytest.raises((DataError, ValueError)):
        classifier.partial_fit(["gold and silver coins"], ["metal"])
    assert state_of(classifier, tmp_path) == before
    loaded = TextClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(FIRST), classifier.predict_proba(FIRST))


def test_a_first_batch_that_is_refused_leaves_the_classifier_unfitted():
    classifier = TextClassifier(model="online-perceptron")
    with pytest.raises((DataError, ValueError)):
        classifier.partial_fit(["corn", 1], ["grain", "crude"])
    assert not classifier.__sklearn_is_fitted__()
    assert classifier.partial_fit(FIRST, LABELS).predict(["corn"]).tolist() == ["grain"]


def test_a_refused_text_leaves_a_vectorizer_as_it_was():
    vectorizer = TermVectorizer().partial_fit(["corn wheat", "corn"])
    names = vectorizer.get_feature_names_out().tolist()
    frequencies = vectorizer.document_frequencies_.tolist()
    with pytest.raises(DataError, match="text 300"):
        vectorizer.partial_fit([f"new{i}" for i in range(300)] + [None])
    assert vectorizer.get_feature_names_out().tolist() == names
    assert vectorizer.document_frequencies_.tolist() == frequencies
    assert vectorizer.n_documents_ == 2
    assert vectorizer.transform(["corn"]).toarray().tolist() == [[1.0, 0.0]]
    assert vectorizer.partial_fit(["oil"]).get_feature_names_out().tolist() == [*names, "oil"]
    unfitted = TermVectorizer()
    with pytest.raises(DataError):
        unfitted.partial_fit(["corn", None])
    assert not unfitted.__sklearn_is_fitted__()


def test_a_table_of_one_column_is_its_texts():
    frame = pd.DataFrame({"text": ["wheat corn", "oil"], "more": ["a", "b"]})
    expected = TermVectorizer().fit_transform(frame["text"]).toarray()
    for table in (frame[["text"]], frame[["text"]].to_numpy(dtype=object)):
        np.testing.assert_array_equal(TermVectorizer().fit_transform(table).toarray(), expected)
    with pytest.raises(DataError, match="one column, not a table of 2"):
        TermVectorizer().fit_transform(frame)


def test_models_without_partial_fit_name_those_that_have_it():
    classifier = TextClassifier()
    for _ in range(2):
        assert not hasattr(classifier, "partial_fit")
        message = (
            "AutoClassifier has no partial_fit; models that have: naive-bayes, .*online-stack"
        )
        with pytest.raises(AttributeError, match=message):
            classifier.partial_fit(FIRST, LABELS)
        classifier.fit(FIRST, LABELS)
    with pytest.raises(AttributeError, match="no learner 'naive_bayes'; did you mean 'naive-b"):
        TextClassifier(model="naive_bayes").partial_fit(FIRST, LABELS)
    with pytest.raises(
        ValueError, match="no learner 'naive_bayes'; did you mean 'naive-bayes'"
    ):
        TextClassifier(model="naive_bayes").fit(FIRST, LABELS)
