"""Plots are charts of what was measured."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix

from bayesift import (
    DataError,
    TextClassifier,
    plot_confusion,
    plot_learning_curve,
    plot_reliability,
    plot_top_terms,
)
from bayesift.charts import Chart
from bayesift.report import plots
from tests.classifier.commodities import LABELS, SETS, TEXTS

RNG = np.random.default_rng(0)
WORDS = {
    "grain": ["wheat", "corn", "barley", "oats"],
    "crude": ["oil", "petrol", "tanker", "barrel"],
}


def labelled(n):
    """Texts that share few words but those of their category, some of them wrong."""
    labels = RNG.choice(["grain", "crude"], size=n)
    texts = []
    for k, label in enumerate(labels):
        name = label if RNG.random() < 0.9 else "grain"
        texts.append(f"{RNG.choice(WORDS[name])} no{k} case{k} file{k}")
    return texts, labels


def texts_of(chart):
    """All texts that a chart shows; its file is well-formed."""
    root = ElementTree.fromstring(chart.to_svg())
    return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.fixture(scope="module")
def classifier():
    return TextClassifier().fit(TEXTS, LABELS)


def test_reliability_is_that_of_held_out_or_given_texts(classifier):
    chart = plot_reliability(classifier)
    assert isinstance(chart, Chart)
    counts = sum(map(int, re.findall(r"of (\d+) forecasts", chart.description)))
    assert counts == classifier.expected_quality_.n_documents == 6
    given = plot_reliability(classifier, TEXTS[:4], LABELS[:4])
    assert sum(map(int, re.findall(r"of (\d+) forecasts", given.description))) == 4
    several = TextClassifier().fit(TEXTS, SETS)
    pooled = plot_reliability(several, TEXTS, SETS)
    assert sum(map(int, re.findall(r"of (\d+) forecasts", pooled.description))) == 18


def test_confusion_counts_are_those_of_scikit_learn(tmp_path):
    texts, labels = labelled(80)
    classifier = TextClassifier(model="naive-bayes").fit(texts[:40], labels[:40])
    chart = plot_confusion(classifier, texts[40:], labels[40:])
    expected = confusion_matrix(labels[40:], classifier.predict(texts[40:]))
    shown = [text for text in texts_of(chart) if text.isdigit()]
    counts = [str(count) for row in expected for count in row if count]
    assert sorted(shown) == sorted(["1", "2", *counts])
    assert "crude (1)" in texts_of(chart)
    chart.save(tmp_path / "confusion.svg")
    assert (tmp_path / "confusion.svg").read_text("utf-8") == chart._repr_svg_()
    assert chart._repr_html_().startswith("<img ")
    assert repr(chart) == "Figure('Confusion matrix, true categories in rows')"


def test_only_the_most_confused_categories_are_shown():
    texts = [f"word{k} topic{k % 20}" for k in range(60)]
    labels = [f"category {k % 20}" for k in range(60)]
    classifier = TextClassifier(model="naive-bayes").fit(texts, labels)
    chart = plot_confusion(classifier, texts, labels, n_categories=3)
    assert len(chart.panels[0].layers[0].names) == 3
    assert "the 3 most confused of 20" in chart.caption


def test_words_are_those_of_the_classifier(classifier):
    shown = texts_of(plot_top_terms(classifier, 2))
    for row in classifier.top_terms(2):
        assert {row.category, *(word.word for word in row.words)} <= set(shown)
    assert "grain" not in texts_of(plot_top_terms(classifier, 2, categories=["crude"]))


def test_learning_curves_measure_larger_and_larger_parts(monkeypatch):
    texts, labels = labelled(64)
    seen = []

    def spy(classifier, given, target, train, test):
        seen.append((set(train), set(test)))
        return original(classifier, given, target, train, test)

    original = plots._measured
    monkeypatch.setattr(plots, "_measured", spy)
    classifier = TextClassifier(model="naive-bayes")
    chart = plot_learning_curve(classifier, texts, labels, n_folds=2)
    assert [panel.y.name for panel in chart.panels] == ["accuracy", "log loss"]
    sizes = [len(train) for train, _ in seen[:5]]
    assert sizes == sorted(sizes)
    assert sizes[-1] == len(seen[0][1]) == 32
    for (smaller, test), (larger, _) in pairwise(seen[:5]):
        assert smaller < larger
        assert not larger & test
    first, _, last = (point[1] for point in chart.panels[0].layers[0].points[::2])
    assert 0.5 < first <= last
    assert not hasattr(classifier, "estimator_")
    train, test = map(sorted, seen[4])
    model = TextClassifier(model="naive-bayes").fit([texts[i] for i in train], labels[train])
    accuracies = [accuracy_score(labels[test], model.predict([texts[i] for i in test]))]
    train, test = map(sorted, seen[9])
    model.fit([texts[i] for i in train], labels[train])
    accuracies.append(accuracy_score(labels[test], model.predict([texts[i] for i in test])))
    assert last == pytest.approx(np.mean(accuracies))


def test_learning_curves_hold_out_repeats_and_groups_together(monkeypatch):
    texts, labels = labelled(48)
    texts = [*texts, *(text.upper() for text in texts)]
    groups = np.arange(96) % 12
    labels = np.tile(labels, 2)
    seen = []
    original = plots._measured
    monkeypatch.setattr(
        plots, "_measured", lambda *given: seen.append(given[3:]) or original(*given)
    )
    plot_learning_curve(
        TextClassifier(model="naive-bayes"), texts, labels, groups=groups, n_folds=3
    )
    assert seen
    for train, test in seen:
        assert not set(train % 48) & set(test % 48)
        assert not set(groups[train]) & set(groups[test])


def test_learning_curves_of_several_labels_and_of_vectors():
    texts, labels = labelled(48)
    sets = [[label, "odd"] if k % 3 else [label] for k, label in enumerate(labels)]
    chart = plot_learning_curve(TextClassifier(model="naive-bayes"), texts, sets, n_folds=2)
    assert chart.panels[0].y.name == "micro F1"
    vectors = TextClassifier(model="svm").fit(texts, labels).vectors(texts)
    chart = plot_learning_curve(TextClassifier(model="svm"), vectors, labels, n_folds=2)
    assert [panel.y.name for panel in chart.panels] == ["accuracy"]


def test_what_cannot_be_drawn_is_refused(classifier):
    bayes = TextClassifier(model="naive-bayes").fit(TEXTS, LABELS)
    with pytest.raises(DataError, match="no documents were held out in fit: give labelled tex"):
        plot_reliability(bayes)
    with pytest.raises(DataError, match="a LinearSVM has no probabilities"):
        plot_reliability(TextClassifier(model="svm").fit(TEXTS, LABELS), TEXTS, LABELS)
    with pytest.raises(DataError, match="a confusion matrix needs one label per text"):
        plot_confusion(TextClassifier(model="naive-bayes").fit(TEXTS, SETS), TEXTS, SETS)
    with pytest.raises(DataError, match="no category 'sport' with words; there are: crude, gr"):
        plot_top_terms(classifier, categories=["sport"])
    with pytest.raises(DataError, match="4 folds need 8 texts that do not repeat others"):
        plot_learning_curve(bayes, ["corn oil"] * 20, LABELS[:2] * 10)
