"""Labels that a model does not know, and what an evaluation says of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score, log_loss

from bayesift.classifier import TextClassifier, evaluate
from bayesift.errors import DataError, DataWarning
from bayesift.evaluation import top_label_calibration_error
from bayesift.records import Corpus, Document
from bayesift.text import TermVectorizer
from tests.classifier.commodities import LABELS, SETS, TEXTS


def corpus_of(texts, sets):
    documents = (
        Document(str(i), t, categories=tuple(s))
        for i, (t, s) in enumerate(zip(texts, sets, strict=True))
    )
    return Corpus(tuple(documents), tuple(sorted({name for s in sets for name in s})))


def test_labels_the_model_does_not_know_count_as_errors():
    classifier = TextClassifier(model="naive-bayes").fit(TEXTS, LABELS)
    truth = [*LABELS[:-2], "sport", "trade"]
    evaluation = evaluate(classifier, corpus_of(TEXTS, [(label,) for label in truth]))
    assert evaluation.unknown_labels == {"sport": 1, "trade": 1}
    said = (
        "2 of 6 documents have labels the model does not know: 'sport' (1), 'trade' (1); they "
        "count as errors"
    )
    assert evaluation.describe_unknown() == said
    decided, measures = classifier.predict(TEXTS), evaluation.measures
    assert measures.accuracy == pytest.approx(accuracy_score(truth, decided))
    assert measures.micro.f1 == pytest.approx(f1_score(truth, decided, average="micro"))
    assert measures.macro.f1 == pytest.approx(
        f1_score(truth, decided, average="macro", zero_division=0)
    )
    known = classifier.predict_proba(TEXTS[:-2])
    assert measures.probabilities.log_loss == pytest.approx(
        log_loss(truth[:-2], known, labels=classifier.classes_)
    )
    right = [t == d for t, d in zip(truth, decided, strict=True)]
    top = top_label_calibration_error(right, classifier.predict_proba(TEXTS).max(axis=1))
    assert measures.probabilities.top_label_calibration_error_width == pytest.approx(top)
    assert evaluation.to_dict()["unknown_labels"] == {"sport": 1, "trade": 1}
    assert [row.category for row in measures.categories] == ["crude", "grain", "sport", "trade"]


def test_unknown_labels_of_several_per_document():
    classifier = TextClassifier(model="naive-bayes").fit(
        TEXTS, [("grain",) if "grain" in s else ("crude",) for s in SETS]
    )
    corpus = corpus_of(TEXTS, SETS)
    evaluation = evaluate(classifier, corpus)
    assert list(evaluation.unknown_labels) == ["trade"]
    decided = np.column_stack([evaluation.decisions, np.zeros(6, bool)])
    assert evaluation.measures.micro.f1 == pytest.approx(
        f1_score(corpus.indicator.toarray(), decided, average="micro")
    )


def test_documents_without_a_label_are_left_out():
    classifier = TextClassifier(model="naive-bayes").fit(TEXTS, LABELS)
    corpus = corpus_of([*TEXTS, "corn", "oil"], [*((label,) for label in LABELS), (), ()])
    with pytest.warns(DataWarning, match="2 of 8 documents without a label left out"):
        evaluation = evaluate(classifier, corpus)
    assert (
        evaluation.measures
        == evaluate(classifier, corpus_of(TEXTS, [(label,) for label in LABELS])).measures
    )


@pytest.mark.parametrize(
    ("categories", "message"),
    [(("sport",), "none of the labels"), ((), "no document has a label")],
)
def test_a_corpus_with_nothing_to_measure_is_refused(categories, message):
    classifier = TextClassifier(model="naive-bayes").fit(TEXTS, LABELS)
    with pytest.raises(DataError, match=message):
        evaluate(
            classifier, Corpus((Document("1", "text", categories=categories),), categories)
        )


@pytest.mark.parametrize("threshold", ["auto", "pcut"])
def test_progress_of_an_evaluation_does_not_change_it(threshold, monkeypatch):
    monkeypatch.setattr("bayesift.classifier.predictions._BATCH", 4)
    corpus, told = corpus_of(TEXTS, SETS), []
    classifier = TextClassifier(model="naive-bayes", threshold=threshold).fit_corpus(corpus)
    assert (
        evaluate(classifier, corpus, progress=told.append).measures
        == evaluate(classifier, corpus).measures
    )
    assert told == [4, 6]


@pytest.mark.parametrize(
    "labels",
    [
        LABELS,
        np.array(LABELS),
        pd.Series(LABELS, dtype="category"),
        [[name] for name in LABELS],
    ],
)
def test_texts_and_labels_are_measured_like_their_corpus(labels):
    classifier = TextClassifier(model="naive-bayes").fit(TEXTS, LABELS)
    expected = evaluate(classifier, corpus_of(TEXTS, [(label,) for label in LABELS]))
    for texts in (TEXTS, pd.Series(TEXTS), pd.DataFrame({"text": TEXTS}), iter(TEXTS)):
        found = evaluate(classifier, texts, labels)
        assert found.measures == expected.measures
        np.testing.assert_array_equal(found.scores, expected.scores)
    assert found.corpus.texts == TEXTS
    assert found.measures.accuracy == classifier.score(TEXTS, LABELS)


def test_several_labels_in_every_form():
    indicator = np.array([[name in s for name in ("crude", "grain", "trade")] for s in SETS])
    for fitted in (SETS, indicator.astype(int), pd.DataFrame(indicator.astype(int))):
        classifier = TextClassifier(model="naive-bayes").fit(TEXTS, fitted)
        found = evaluate(classifier, TEXTS, fitted).measures
        decided = classifier.decide(TEXTS)[0]
        assert found.macro.f1 == pytest.approx(f1_score(indicator, decided, average="macro"))
        assert classifier.score(TEXTS, fitted) == accuracy_score(indicator, decided)


def test_labels_missing_and_unknown():
    classifier = TextClassifier(model="naive-bayes").fit(TEXTS, LABELS)
    with pytest.warns(DataWarning, match="1 of 6 documents without a label left out"):
        evaluation = evaluate(classifier, TEXTS, [*LABELS[:4], None, "sport"])
    assert evaluation.measures.n_documents == 5
    assert evaluation.unknown_labels == {"sport": 1}
    assert "1 of 5 documents has" not in repr(evaluation)
    assert repr(evaluation).startswith("Evaluation(5 documents: accuracy 0.8000, macro F1 0.")
    assert "'sport' (1); they count as errors)" in repr(evaluation)


def test_a_model_of_vectors_is_measured_by_vectors():
    X = TermVectorizer().fit_transform(TEXTS)
    classifier = TextClassifier(model="naive-bayes").fit(X, LABELS)
    evaluation = evaluate(classifier, X, LABELS)
    assert evaluation.measures.accuracy == classifier.score(X, LABELS)
    assert evaluation.corpus.vectors.shape == X.shape


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (TEXTS, None, r"give evaluate\(classifier, texts, labels\)"),
        (TEXTS, LABELS[:-1], "6 texts, but 5 labels"),
        (corpus_of(TEXTS, SETS), LABELS, "a corpus has its own labels"),
        ([], [], "there are no labels"),
    ],
)
def test_texts_that_cannot_be_measured_are_refused(X, y, message):
    classifier = TextClassifier(model="naive-bayes").fit(TEXTS, LABELS)
    with pytest.raises(DataError, match=message):
        evaluate(classifier, X, y)
