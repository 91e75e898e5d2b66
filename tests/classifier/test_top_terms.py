import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier

from bayesift.classifier import TextClassifier
from bayesift.errors import DataError
from bayesift.models import LEARNERS, make_learner
from bayesift.models.naive_bayes import NaiveBayesClassifier
from bayesift.text import TermVectorizer

TEXTS = [
    "wheat and corn and the harvest",
    "corn and the exports",
    "the crude oil and gas",
    "oil and the tankers",
] * 3
LABELS = ["grain", "grain", "crude", "crude"] * 3
SETS = [["grain"], ["grain", "trade"], ["crude"], ["crude", "ship"]] * 3


def first_words(classifier):
    return {
        category.category: category.words[0].word
        for category in classifier.top_terms(3)
        if category.words
    }


# Naive Bayes takes the surest word, a linear model may do with another that only these documents
# have.
OWN_WORDS = {
    "crude": {"oil", "crude", "gas", "tankers"},
    "grain": {"corn", "wheat", "harvest", "exports"},
    "ship": {"tankers"},
    "trade": {"exports"},
}


# Neighbours, kernels and topics have no weights of words; those of the online stack depend on the
# document.
SILENT = {"knn", "topics-similarity", "topics-svm", "online-stack"}
SILENT |= {
    f"{machine}{kernel}"
    for machine in ("online-gp", "svm")
    for kernel in ("-polynomial", "-rbf")
}
SILENT |= {"online-gp"}
TELLING = [name for name in LEARNERS if name not in SILENT]
# So sparse a prior may keep words that speak against a category only, or none of so few documents.
SPARSEST = {"probit-jeffreys", "logistic-spike-slab", "probit-spike-slab"}


@pytest.mark.parametrize("model", [name for name in LEARNERS if name in SILENT])
def test_learners_without_weights_of_words_say_so(model):
    with pytest.raises(DataError, match="has no weights of words"):
        TextClassifier(model=model).fit(TEXTS, LABELS).top_terms()


@pytest.mark.parametrize("model", TELLING)
def test_every_learner_tells_its_words(model):
    found = first_words(TextClassifier(model=model).fit(TEXTS, LABELS))
    assert all(word in OWN_WORDS[category] for category, word in found.items())
    assert model in SPARSEST or set(found) == {"crude", "grain"}


@pytest.mark.parametrize("model", TELLING)
def test_every_learner_tells_its_words_of_several_categories(model):
    learner, vectorizer = (
        make_learner(model, multilabel=True),
        TermVectorizer(weighting=LEARNERS[model].weighting),
    )
    found = first_words(TextClassifier(model=learner, vectorizer=vectorizer).fit(TEXTS, SETS))
    assert all(word in OWN_WORDS[category] for category, word in found.items())
    assert model in SPARSEST or set(found) == set(OWN_WORDS)


@pytest.mark.parametrize(
    ("model", "labels"),
    [(LogisticRegression(), LABELS), (OneVsRestClassifier(LogisticRegression()), SETS)],
)
def test_linear_models_show_coefficients(model, labels):
    found = first_words(
        TextClassifier(model=model, vectorizer=TermVectorizer(weighting="tf")).fit(
            TEXTS, labels
        )
    )
    assert (found["crude"], found["grain"]) == ("oil", "corn")


def test_weights_are_the_formula():
    classifier = TextClassifier(model="naive-bayes").fit(TEXTS, LABELS)
    model = classifier.model_
    crude, grain = np.exp(model.feature_log_prob_)
    word = classifier.top_terms(1)[0].words[0]
    j = classifier.terms().index(word.word)
    assert word.weight == pytest.approx(np.sqrt(crude[j]) * np.log(crude[j] / grain[j]))


def test_neither_the_rarest_nor_the_commonest_words_win():
    texts = [
        "the oil price and the rare1",
        "the oil of the sea",
        "the corn in the field",
        "the corn and the hay",
    ] * 5
    texts.append("the oil rare2")
    labels = ["crude", "crude", "grain", "grain"] * 5 + ["crude"]
    found = TextClassifier(model="naive-bayes").fit(texts, labels).top_terms(2)
    assert found[0].words[0].word == "oil"
    assert "the" not in [word.word for word in found[0].words]


def test_impossible_words_have_finite_weights():
    classifier = TextClassifier(model="naive-bayes-maximum-likelihood").fit(TEXTS, SETS)
    assert all(
        np.isfinite(word.weight)
        for category in classifier.top_terms()
        for word in category.words
    )


def test_one_category_has_nothing_to_stand_against():
    classifier = TextClassifier(model=NaiveBayesClassifier()).fit(
        ["corn", "oats"], ["grain", "grain"]
    )
    assert [category.category for category in classifier.top_terms()] == ["grain"]


def test_models_without_words_are_refused():
    classifier = TextClassifier(model=KNeighborsClassifier(1)).fit(TEXTS, LABELS)
    with pytest.raises(DataError, match="KNeighborsClassifier has no weights of words"):
        classifier.top_terms()
    with pytest.raises(ValueError, match="at least 1"):
        classifier.top_terms(0)
