import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from bayesift.classifier import TextClassifier, evaluate
from bayesift.errors import DataError, DataWarning
from bayesift.features import SelectTerms
from bayesift.models.online import OnlinePerceptron
from bayesift.records import Corpus, Document
from bayesift.text import TermVectorizer
from bayesift.thresholds import MaxF1
from tests.classifier.commodities import LABELS, SETS, TEXTS

NEW = ["corn and oil", "tankers", "exports of wheat", "nothing known here", ""]


def test_labels_agree_with_scikit_learn():
    counts = CountVectorizer()
    expected = MultinomialNB().fit(counts.fit_transform(TEXTS), LABELS)
    classifier = TextClassifier(model="naive-bayes").fit(TEXTS, LABELS)
    assert classifier.categories_ == ("crude", "grain")
    np.testing.assert_allclose(
        classifier.predict_proba(NEW), expected.predict_proba(counts.transform(NEW)), atol=1e-12
    )
    assert (
        classifier.predict(NEW[:3]).tolist()
        == expected.predict(counts.transform(NEW[:3])).tolist()
    )


def test_predictions_come_in_the_form_labels_were_given():
    indicator = np.array([[int(c in s) for c in ("crude", "grain", "trade")] for s in SETS])
    sets = TextClassifier().fit(TEXTS, SETS)
    dense = TextClassifier().fit(TEXTS, indicator, categories=["crude", "grain", "trade"])
    rare = TextClassifier().fit(TEXTS, sparse.csr_array(indicator))
    np.testing.assert_array_equal(sets.predict_proba(NEW), dense.predict_proba(NEW))
    np.testing.assert_array_equal(sets.predict_proba(NEW), rare.predict_proba(NEW))
    assert rare.categories_ == ("0", "1", "2")
    decided = dense.predict(NEW)
    assert [tuple(np.array(dense.categories_)[row == 1]) for row in decided] == sets.predict(
        NEW
    )


def test_decisions_agree_with_predictions():
    single, several = (
        TextClassifier().fit(TEXTS, LABELS),
        TextClassifier(threshold="max-f1").fit(TEXTS, SETS),
    )
    decisions, scores = single.decide(NEW)
    assert [single.categories_[j] for j in decisions.argmax(axis=1)] == single.predict(
        NEW
    ).tolist()
    assert (decisions.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(scores, single.predict_proba(NEW))
    decisions, _ = several.decide(NEW)
    assert [tuple(np.array(several.categories_)[row]) for row in decisions] == several.predict(
        NEW
    )


def test_three_classes_decide_by_the_largest_probability():
    labels = ["grain", "trade", "crude", "crude", "grain", "ship"]
    classifier = TextClassifier().fit(TEXTS, labels)
    decisions, scores = classifier.decide(TEXTS)
    np.testing.assert_array_equal(decisions.argmax(axis=1), scores.argmax(axis=1))
    assert classifier.predict(TEXTS).tolist() == [
        classifier.categories_[j] for j in scores.argmax(axis=1)
    ]


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()])
def test_any_classifier_of_scikit_learn_may_stand_inside(model):
    threshold = "bayes" if hasattr(model, "predict_proba") else "minimum-errors"
    classifier = TextClassifier(
        model=model, vectorizer=TermVectorizer(weighting="ltc"), threshold=threshold
    )
    assert classifier.fit(TEXTS, LABELS).predict(TEXTS).tolist() == LABELS
    with pytest.raises(DataError, match="cannot explain"):
        classifier.explain("corn")
    with pytest.raises(DataError, match="cannot be saved"):
        classifier.save("nowhere")


def test_cross_validated_thresholds_are_reproducible():
    options = {"threshold": MaxF1(), "threshold_cv": 2, "random_state": 3}
    first, second = (TextClassifier(**options).fit(TEXTS, SETS) for _ in range(2))
    np.testing.assert_array_equal(
        first.estimator_.rule_.thresholds_, second.estimator_.rule_.thresholds_
    )


def test_explanation_adds_up_to_the_log_odds():
    classifier = TextClassifier().fit(TEXTS, SETS)
    text = "corn exports by oil tankers of Panama"
    explanation = classifier.explain(text, categories=["grain", "crude"], top=100)
    probabilities = dict(
        zip(classifier.categories_, classifier.predict_proba([text])[0], strict=True)
    )
    for category in explanation.categories:
        log_odds = category.prior + sum(term.contribution for term in category.terms)
        p = probabilities[category.category]
        assert log_odds == pytest.approx(np.log(p / (1 - p)))
        assert category.score == p
        assert category.assigned == (p > category.threshold)
    assert explanation.unseen_terms == ("panama",)
    assert explanation.unseen_share == pytest.approx(1 / 7)
    assert explanation.categories[0].score >= explanation.categories[1].score


def test_explanation_of_labels_is_against_the_best_rival():
    classifier = TextClassifier().fit(TEXTS, LABELS)
    (category,) = classifier.explain("corn exports", top=100).categories
    assert (category.category, category.threshold, category.assigned) == ("grain", None, True)
    p = classifier.predict_proba(["corn exports"])[0, 1]
    total = category.prior + sum(term.contribution for term in category.terms)
    assert total == pytest.approx(np.log(p / (1 - p)))


def test_selected_terms_only():
    classifier = TextClassifier(selection=SelectTerms(k=3)).fit(TEXTS, LABELS)
    assert len(classifier.terms()) == 3
    assert set(classifier.terms()) <= set(classifier.vectorizer_.vocabulary_)
    explanation = classifier.explain("corn wheat japan", top=10)
    assert explanation.known + explanation.unseen == 3


def corpus_of(texts, sets, **options):
    documents = tuple(
        Document(str(i), t, categories=tuple(s))
        for i, (t, s) in enumerate(zip(texts, sets, strict=True))
    )
    return Corpus(documents, ("crude", "grain", "trade"), **options)


def test_corpus_in_measures_out():
    corpus = corpus_of(TEXTS, SETS, name="news")
    classifier = TextClassifier().fit_corpus(corpus)
    assert classifier.corpus_ == {
        "name": "news",
        "documents": 6,
        "fingerprint": corpus.fingerprint,
    }
    evaluation = evaluate(classifier, corpus)
    np.testing.assert_array_equal(evaluation.truth.toarray(), corpus.indicator.toarray())
    assert evaluation.measures.n_documents == 6
    assert evaluation.unknown_labels == {}


def test_corpora_of_vectors():
    X = CountVectorizer().fit_transform(TEXTS)
    corpus = corpus_of([""] * 6, SETS, vectors=sparse.csr_array(X))
    classifier = TextClassifier().fit_corpus(corpus)
    assert evaluate(classifier, corpus).measures.n_documents == 6
    assert classifier.terms()[:2] == ["term 0", "term 1"]
    with pytest.raises(DataError, match="not trained on texts"):
        classifier.predict(["corn"])
    with pytest.raises(DataError, match="not trained on vectors"):
        TextClassifier().fit(TEXTS, LABELS).predict(X)


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (TEXTS, LABELS[:-1], "6 texts, but 5 labels"),
        (TEXTS, [*LABELS[:-1], ["grain"]], "label 0 is 'grain', others are collections"),
        (TEXTS, [], "no labels"),
        ([None] * 6, LABELS, "no text with a label holds any text"),
    ],
)
def test_bad_input_is_refused(texts, labels, message):
    with pytest.raises(DataError, match=message):
        TextClassifier().fit(texts, labels)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="no learner 'oracle'"):
        TextClassifier(model="oracle").fit(TEXTS, LABELS)
    with pytest.raises(ValueError, match="no threshold rule"):
        TextClassifier(threshold="coin").fit(TEXTS, LABELS)
    with pytest.raises(DataError, match="no category 'sport'"):
        TextClassifier().fit(TEXTS, LABELS).explain("corn", categories=["sport"])
    with pytest.raises(DataError, match="2 categories are named for 3 columns"):
        TextClassifier().fit(TEXTS, np.ones((6, 3)), categories=["a", "b"])


def test_manners_of_scikit_learn():
    classifier = TextClassifier(model="naive-bayes", threshold="max-f1")
    with pytest.raises(NotFittedError):
        clone(classifier).predict(TEXTS)
    assert clone(classifier).get_params()["threshold"] == "max-f1"


@pytest.mark.parametrize("model", ["naive-bayes", "logistic-gaussian"])
@pytest.mark.parametrize("threshold_cv", [None, 2])
def test_one_category_that_documents_have_or_have_not(model, threshold_cv, tmp_path):
    relevant = [("relevant",) if label == "grain" else () for label in LABELS]
    classifier = TextClassifier(model=model, threshold="max-f1", threshold_cv=threshold_cv).fit(
        TEXTS, relevant
    )
    assert classifier.categories_ == ("relevant",)
    assert classifier.predict_proba(TEXTS).shape == (6, 1)
    if threshold_cv is None:
        assert classifier.predict(TEXTS) == relevant
    classifier.save(tmp_path / "model")
    again = TextClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(NEW), classifier.predict_proba(NEW))
    assert again.explain("corn").categories[0].category == "relevant"
    documents = tuple(
        Document(str(i), t, categories=c)
        for i, (t, c) in enumerate(zip(TEXTS, relevant, strict=True))
    )
    assert evaluate(classifier, Corpus(documents, ("relevant",))).measures.n_documents == 6


def test_soft_terms_are_the_scales_of_the_models_priors():
    texts = [
        "wheat corn",
        "corn wheat export",
        "crude oil",
        "oil tanker export",
        "gold mine",
        "mine gold export",
    ]
    selection = SelectTerms(soft=3.0, per_category=True)
    classifier = TextClassifier(model="online-perceptron", selection=selection)
    classifier.fit(texts, ["grain", "grain", "crude", "crude", "gold", "gold"])
    scales = classifier.selection_.feature_mask_.toarray()
    model = classifier.model_
    X = classifier.vectorizer_.transform(texts)
    expected = OnlinePerceptron(covariance="diagonal", prior_variance=4.0)
    expected.fit(X, ["grain", "grain", "crude", "crude", "gold", "gold"], feature_mask=scales)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    explained = classifier.explain("corn and oil").categories[0]
    assert explained.category in ("grain", "crude")


def test_terms_selected_for_each_category_are_those_its_model_uses():
    texts = [
        "wheat corn",
        "corn wheat export",
        "crude oil",
        "oil tanker export",
        "gold mine",
        "mine gold export",
    ]
    for labels in (
        ["grain", "grain", "crude", "crude", "gold", "gold"],
        ["a", "a", "b", "b", "b", "b"],
    ):
        selection = SelectTerms(k=2, per_category=True)
        classifier = TextClassifier(model="online-gp", selection=selection).fit(texts, labels)
        model, selected = (
            classifier.model_,
            classifier.selection_.feature_mask_.toarray(),
        )
        kept = selected[:, classifier.selection_.get_support()]
        kept = kept if len(set(labels)) > 2 else kept[[1]]
        assert [terms.tolist() for terms in model.terms_] == [
            np.flatnonzero(row).tolist() for row in kept
        ]
        assert classifier.predict(texts).tolist() == labels


@pytest.mark.parametrize("multilabel", [False, True])
def test_chunks_teach_naive_bayes_what_the_whole_corpus_does(multilabel):
    documents = [
        Document(
            str(k),
            f"word{k % 7} word{k % 5}",
            categories=("a", "b")[: 1 + (multilabel and k % 2)] if k % 3 else (),
        )
        for k in range(40)
    ]
    documents += [Document("new", "later words", categories=("c",))]
    names = ("a", "b", "c")
    whole = TextClassifier(model="naive-bayes")
    parts = TextClassifier(model="naive-bayes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        whole.fit_corpus(Corpus(documents, names), multilabel=multilabel)
        for start in range(0, len(documents), 8):
            chunk = documents[start : start + 8]
            held = tuple(sorted({name for document in chunk for name in document.categories}))
            parts.partial_fit_corpus(Corpus(chunk, held), multilabel=multilabel)
    assert parts.categories_ == whole.categories_
    texts = [document.text for document in documents]
    np.testing.assert_allclose(
        parts.predict_proba(texts), whole.predict_proba(texts), rtol=1e-12
    )
