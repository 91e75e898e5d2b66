from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from bayesift.classifier import TextClassifier, evaluate
from bayesift.evaluation import evaluate_decisions, significance_table
from bayesift.records import Corpus, Document
from bayesift.report import (
    comparison_content,
    comparison_report,
    evaluation_report,
    report_content,
)
from bayesift.report.gather import worst_mistakes
from tests.report.reading import read

TRAIN = {
    "wheat and corn": ("grain",),
    "corn exports and corn oats": ("grain", "trade"),
    "crude oil prices": ("crude",),
    "oil tankers and gas": ("crude",),
    "exports of cars": ("trade",),
}
TEST = {
    "corn corn corn is not oil": ("crude",),
    "oil from wells": ("crude",),
    "unheard matters": (),
    "oats, wheat, corn": ("grain",),
}


def corpus_of(texts, name="commodities", split="test", single=False):
    documents = [
        Document(f"{name}/{i}", text, categories=labels, split=split)
        for i, (text, labels) in enumerate(texts.items())
    ]
    if single:
        documents = [document for document in documents if len(document.categories) == 1]
    return Corpus(tuple(documents), ("crude", "grain", "trade"), name=name)


def content_of(classifier, corpus, **options):
    return report_content(classifier, evaluate(classifier, corpus), **options)


@pytest.fixture(scope="module")
def several():
    return content_of(
        TextClassifier(model="naive-bayes").fit_corpus(corpus_of(TRAIN)), corpus_of(TEST)
    )


@pytest.fixture(scope="module")
def single():
    classifier = TextClassifier(model="naive-bayes").fit_corpus(corpus_of(TRAIN, single=True))
    return content_of(classifier, corpus_of(TEST, single=True), title="Mine")


def test_several_categories_a_document(several):
    assert several.title == "naive-bayes on commodities"
    assert [measure.name for measure in several.measures[:4]] == [
        "micro F1",
        "precision",
        "recall",
        "macro F1",
    ]
    assert several.confusion is None
    assert list(several.curves) == ["all decisions", "crude", "grain"]
    assert [curve.count.sum() for curve in several.reliability.values()] == [12, 4]
    assert several.mistakes[0].category in ("crude", "grain")
    read(evaluation_report(several))


def test_one_category_a_document(single):
    assert single.title == "Mine"
    assert [measure.name for measure in single.measures[:2]] == ["accuracy", "macro F1"]
    assert single.confusion.categories == ("crude", "grain", "trade")
    assert single.confusion.counts == ((1, 1, 0), (0, 1, 0), (0, 0, 0))
    (mistake,) = single.mistakes
    assert (mistake.category, mistake.assigned, mistake.truth, mistake.decided) == (
        "grain",
        True,
        ("crude",),
        ("grain",),
    )
    assert mistake.words[0].word == "corn"
    assert (
        mistake.words[0].weight
        > 0
        > next(word.weight for word in mistake.words if word.word == "oil")
    )
    read(evaluation_report(single))


def test_words_of_the_excerpt_carry_their_contributions(single):
    (mistake,) = single.mistakes
    assert "".join(span.text for span in mistake.excerpt) == "corn corn corn is not oil"
    weights = {word.word: word.weight for word in mistake.words}
    assert {
        span.text: span.contribution for span in mistake.excerpt if span.contribution
    } == weights


def test_stemmed_words_are_found_in_the_excerpt():
    from bayesift.text import TermVectorizer

    classifier = TextClassifier(vectorizer=TermVectorizer(stemmer="porter"))
    classifier.fit(["exports", "tankers"], ["trade", "ship"])
    corpus = Corpus(
        (Document("1", "Exported exporting", categories=("ship",)),), ("ship", "trade")
    )
    (mistake,) = worst_mistakes(classifier, corpus, *classifier.decide(corpus.texts))
    assert [span.text for span in mistake.excerpt if span.contribution] == [
        "Exported",
        "exporting",
    ]


def test_characters_of_the_excerpt_share_the_contributions_of_ngrams():
    classifier = TextClassifier(model="naive-bayes").fit(
        ["小麦和玉米 wheat", "石油价格 oil"], ["grain", "crude"]
    )
    corpus = Corpus(
        (Document("1", "Wheat: 小麦。", categories=("crude",)),), ("crude", "grain")
    )
    (mistake,) = worst_mistakes(classifier, corpus, *classifier.decide(corpus.texts))
    assert [span.text for span in mistake.excerpt if span.contribution] == ["Wheat", "小", "麦"]
    assert "".join(span.text for span in mistake.excerpt) == "Wheat: 小麦。"
    shared = sum(span.contribution for span in mistake.excerpt if span.contribution)
    assert shared == pytest.approx(sum(word.weight for word in mistake.words))


def test_wrapped_lines_run_on_in_the_excerpt():
    classifier = TextClassifier(model="naive-bayes").fit(["corn", "oil"], ["grain", "crude"])
    text = "\n\nTitle\nCorn\n  and corn.\n\nnew\nOil"
    corpus = Corpus((Document("1", text, categories=("crude",)),), ("crude", "grain"))
    (mistake,) = worst_mistakes(classifier, corpus, *classifier.decide(corpus.texts))
    assert "".join(span.text for span in mistake.excerpt) == "Title\nCorn and corn.\n\nnew\nOil"


def test_the_surest_mistakes_come_first_one_a_document():
    classifier = TextClassifier(model="naive-bayes").fit_corpus(corpus_of(TRAIN))
    corpus = corpus_of(TEST)
    scores = np.array([[0.1, 0.9, 0.6], [0.4, 0.2, 0.0], [0.0, 0.0, 0.95], [0.0, 1.0, 0.0]])
    found = worst_mistakes(classifier, corpus, scores > 0.5, scores, 2)
    assert [(mistake.document, mistake.category, mistake.assigned) for mistake in found] == [
        ("commodities/2", "trade", True),
        ("commodities/0", "crude", False),
    ]
    assert [mistake.confidence for mistake in found] == [0.95, 0.9]


def test_scores_that_are_no_probabilities():
    classifier = TextClassifier(model=LinearSVC(), threshold="max-f1").fit_corpus(
        corpus_of(TRAIN, single=True)
    )
    content = content_of(classifier, corpus_of(TEST, single=True))
    assert content.reliability == {}
    assert content.curves
    assert content.words
    assert all(mistake.confidence is None and not mistake.words for mistake in content.mistakes)


def test_models_that_explain_nothing():
    classifier = TextClassifier(model=KNeighborsClassifier(1)).fit_corpus(
        corpus_of(TRAIN, single=True)
    )
    content = content_of(classifier, corpus_of(TEST, single=True))
    assert content.words == ()
    assert all(mistake.prior is None for mistake in content.mistakes)


def test_vectors_instead_of_texts():
    vectors = sparse.csr_array([[2.0, 0.0], [0.0, 3.0], [1.0, 0.0]])
    documents = tuple(
        Document(str(i), "", categories=(c,)) for i, c in enumerate(("corn", "oil", "oil"))
    )
    corpus = Corpus(documents, ("corn", "oil"), vectors=vectors)
    content = content_of(
        TextClassifier(model="naive-bayes").fit_corpus(corpus), corpus, title=None
    )
    assert content.title == "naive-bayes on a corpus"
    assert content.words[0].words[0].word.startswith("term ")
    assert "(no text)" in read(evaluation_report(content)).text or not content.mistakes


def test_categories_the_model_never_saw():
    classifier = TextClassifier(model="naive-bayes").fit(["corn", "oil"], ["grain", "crude"])
    content = content_of(classifier, corpus_of({"corn": ("grain",), "exports": ("trade",)}))
    assert content.confusion.categories == ("crude", "grain", "trade")
    assert sum(content.confusion.counts[2]) == 1
    assert any(fact.name == "unknown labels" for fact in content.facts)
    assert content.mistakes[0].truth == ("trade",)


def test_only_the_most_confused_categories_are_shown():
    names = [f"c{i:02d}" for i in range(40)]
    classifier = TextClassifier(model="naive-bayes").fit(
        [f"word{i}" for i in range(40)] * 2, names * 2
    )
    texts = {
        f"word{i}" + (f" word{i + 1}" * 3 if i < 10 else ""): (name,)
        for i, name in enumerate(names)
    }
    documents = tuple(Document(text, text, categories=labels) for text, labels in texts.items())
    confusion = content_of(classifier, Corpus(documents, tuple(names))).confusion
    assert len(confusion.categories) == 30
    assert confusion.n_categories == 40
    assert set(names[:11]) <= set(confusion.categories)


def test_the_decisions_lie_on_the_curves(several):
    recall, precision = several.decided["all decisions"]
    curve = several.curves["all decisions"]
    assert any(
        np.allclose((recall, precision), point)
        for point in zip(curve.recall, curve.precision, strict=True)
    )


def test_a_given_evaluation_is_shown_as_it_is():
    classifier = TextClassifier(model="naive-bayes").fit_corpus(corpus_of(TRAIN))
    measured = evaluate_decisions([[1, 1]], [[1, 0]], categories=["x", "y"])
    evaluation = replace(evaluate(classifier, corpus_of(TEST)), measures=measured)
    content = report_content(classifier, evaluation)
    assert [row.category for row in content.categories] == ["x", "y"]


def test_systems_are_compared():
    Y, good, bad = [[1, 0]] * 9, [[1, 0]] * 9, [[0, 1]] * 9
    scores = {
        name: evaluate_decisions(Y, made, categories=["a", "b"])
        for name, made in (("good", good), ("bad", bad))
    }
    content = comparison_content(
        scores, corpus_of(TEST), significance_table(Y, {"good": good, "bad": bad})
    )
    assert content.symbols[0][1] == (">>", "~")
    assert "Holm" in content.note
    assert ">> / ~" in read(comparison_report(content)).text


@pytest.mark.corpus("sms-spam")
def test_real_messages(corpus_named):
    corpus = corpus_named("sms-spam")
    train, test = (
        corpus.select(np.flatnonzero(np.arange(len(corpus)) % 3 != 0)),
        corpus.select(range(0, len(corpus), 3)),
    )
    content = content_of(TextClassifier(model="naive-bayes").fit_corpus(train), test)
    reader = read(evaluation_report(content))
    assert len(content.mistakes) == 10
    assert content.measures[0].value > 0.97
    assert {"claim", "free", "txt"} <= {word.word for word in content.words[1].words}
    assert reader.tags.count("article") == 10


def test_a_loaded_model_has_its_own_name(tmp_path):
    classifier = TextClassifier(model="logistic-laplace").fit(
        ["corn", "oil"] * 4, ["grain", "crude"] * 4
    )
    classifier.save(tmp_path / "model.zip")
    documents = (
        Document("1", "corn", categories=("grain",)),
        Document("2", "oil", categories=("crude",)),
    )
    corpus = Corpus(documents, ("crude", "grain"), name="news")
    assert (
        content_of(TextClassifier.load(tmp_path / "model.zip"), corpus).title
        == "sparse-bayes on news"
    )
