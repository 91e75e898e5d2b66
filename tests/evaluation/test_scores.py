import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    log_loss,
    precision_recall_fscore_support,
)

from bayesift import evaluation
from bayesift.evaluation import Contingency, evaluate_decisions
from bayesift.evaluation.scores import evaluate_counts


@pytest.fixture(scope="module")
def outcome():
    random = np.random.default_rng(0)
    p = random.random((60, 4)) * [1.0, 0.5, 0.3, 0.0]
    return random.random(p.shape) < p, p > 0.3, p


def test_scores_are_those_of_scikit_learn(outcome):
    Y, decided, p = outcome
    scores = evaluate_decisions(
        sparse.csr_array(Y), decided, p, categories=["a", "b", "c", "d"]
    )
    # No document has the category "d": it has no part in macro averages.
    for average, found in (("micro", scores.micro), ("macro", scores.macro)):
        labels = [0, 1, 2] if average == "macro" else None
        expected = precision_recall_fscore_support(
            Y, decided, average=average, labels=labels, zero_division=0
        )[:3]
        assert (found.precision, found.recall, found.f1) == pytest.approx(expected)
    rows = zip(*precision_recall_fscore_support(Y, decided, zero_division=0), strict=True)
    for row, (precision, recall, f1, positives) in zip(scores.categories, rows, strict=True):
        assert (row.precision, row.recall, row.f1, row.positives) == pytest.approx(
            (precision, recall, f1, positives)
        )
    assert scores.accuracy == accuracy_score(Y, decided)
    assert scores.categories[0].average_precision == pytest.approx(
        average_precision_score(Y[:, 0], p[:, 0])
    )
    assert scores.probabilities.log_loss == pytest.approx(log_loss(Y.ravel(), p.ravel()))
    assert [row.category for row in scores.categories] == ["a", "b", "c", "d"]


def test_macro_averages_are_over_the_categories_that_have_documents():
    truth = ["ham", "ham", "spam"]
    decided = ["ham", "news", "spam"]
    p = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.1, 0.1, 0.8]])
    scores = evaluate_decisions(truth, decided, p, categories=["ham", "news", "spam"])
    assert scores.macro.f1 == f1_score(truth, decided, labels=["ham", "spam"], average="macro")
    assert scores.micro.f1 == f1_score(truth, decided, average="micro")
    assert scores.probabilities.average_precision == 1.0
    assert scores.categories_without_documents == ("news",)
    assert scores.to_dict()["categories_without_documents"] == ["news"]
    assert scores.describe_absent() == (
        "1 of 3 categories has no documents here and no part in macro averages: 'news'"
    )
    assert repr(scores).startswith("Scores(3 documents: accuracy 0.6667, macro F1 0.8333, log")
    nothing = evaluate_decisions(np.zeros((2, 2)), np.ones((2, 2)))
    assert nothing.macro.f1 == 0


def test_scores_are_ready_for_json(outcome):
    scores = evaluate_decisions(*outcome)
    written = json.loads(json.dumps(scores.to_dict(), allow_nan=False))
    assert written["micro"]["f1"] == scores.micro.f1
    assert written["categories"][1]["category"] == "1"
    assert written["probabilities"]["brier_score"] == scores.probabilities.brier_score


def test_class_labels_with_probabilities():
    y, predicted = ["ham", "spam", "ham", "ham"], ["ham", "spam", "spam", "ham"]
    p = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.7, 0.3]])
    scores = evaluate_decisions(y, predicted, p)
    assert [row.category for row in scores.categories] == ["ham", "spam"]
    assert scores.micro.f1 == scores.accuracy == 0.75
    assert scores.probabilities.log_loss == pytest.approx(log_loss(y, p))


def test_without_probabilities(outcome):
    Y, decided, _ = outcome
    scores = evaluate_decisions(Y, decided)
    assert scores.probabilities is None
    assert scores.categories[0].average_precision is None


def test_wrong_names_are_refused(outcome):
    Y, decided, _ = outcome
    with pytest.raises(ValueError, match="2 names for 4 categories"):
        evaluate_decisions(Y, decided, categories=["a", "b"])


def test_every_public_name_is_there():
    for name in evaluation.__all__:
        assert getattr(evaluation, name).__doc__


def test_decisions_counted_elsewhere():
    counts = Contingency(np.array([1]), np.array([2]), np.array([1]), 4)
    assert evaluate_counts(counts, 0.75, ["corn"]).micro.precision == 0.5
