"""Labels that a model does not know, and what an evaluation says of them."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, log_loss

from bayesift.classifier import TextClassifier, evaluate
from bayesift.errors import DataError, DataWarning
from bayesift.evaluation import top_label_calibration_error
from bayesift.records import Corpus, Document
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
