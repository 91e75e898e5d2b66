"""Probabilities, decisions and reasons in node are those of Python."""

import math

import numpy as np
import pytest

from bayesift import TextClassifier
from bayesift.errors import DataError
from bayesift.export import scorer_page, scorer_script, write_scorer
from bayesift.features import SelectTerms
from bayesift.models import make_learner
from bayesift.models.linear import LogF, SparseBayesClassifier
from bayesift.text import TermVectorizer, TextEmbedder, WordVectors
from bayesift.thresholds import ExpectedF1, MaxF1, RCut
from tests.scorer.worlds import NEW_TEXTS, TOPICS, VECTORIZERS, fitted, labelled

FORMS = ("two", "three", "several")
LEARNERS = (
    "auto",
    "committee",
    "naive-bayes",
    "naive-bayes-maximum-likelihood",
    "logistic-laplace",
    "logistic-gaussian",
    "logistic-spike-slab",
    "probit-laplace",
    "probit-gaussian",
    "svm",
    "nbsvm",
    "hybrid",
)


def expect_same(classifier, scorer, texts, columns=None):
    """The same decisions, scores and reasons."""
    given = texts
    if columns is not None:
        given = [{"text": text, **row} for text, row in zip(texts, columns, strict=True)]
    decisions, scores = classifier.decide(given)
    for index, text in enumerate(texts):
        row = {} if columns is None else columns[index]
        answer = scorer("classify", text, row)
        assert list(answer["scores"]) == list(classifier.categories_)
        found = [float(score) for score in answer["scores"].values()]
        np.testing.assert_allclose(found, scores[index], atol=1e-6, rtol=1e-6)
        assigned = [classifier.categories_[j] for j in np.flatnonzero(decisions[index])]
        assert answer["categories"] == assigned
        expect_same_reasons(classifier, scorer, given[index], text, row)


def expect_same_reasons(classifier, scorer, given, text, row):
    for categories in (None, list(classifier.categories_)):
        explained = classifier.explain(given, categories=categories, top=100_000)
        answer = scorer(
            "explain", text, {"columns": row, "categories": categories, "top": 100_000}
        )
        assert (answer["known"], answer["unseen"]) == (explained.known, explained.unseen)
        assert set(answer["unseen_terms"]) == set(explained.unseen_terms)
        assert answer["unseen_share"] == pytest.approx(explained.unseen_share)
        pairs = zip(answer["categories"], explained.categories, strict=True)
        for found, expected in pairs:
            assert found["category"] == expected.category
            assert found["assigned"] == expected.assigned
            same_number(found["prior"], expected.prior)
            same_number(found["threshold"], expected.threshold)
            terms = {term["term"]: term for term in found["terms"]}
            assert set(terms) == {term.term for term in expected.terms}
            for term in expected.terms:
                for name in ("weight", "contribution", "spelling"):
                    same_number(terms[term.term].get(name), getattr(term, name))


def same_number(found, expected):
    if found is None or expected is None:
        assert found is expected
    elif math.isfinite(expected):
        assert float(found) == pytest.approx(expected, rel=1e-6, abs=1e-6)
    else:
        assert float(found) == expected


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LEARNERS)
def test_learners(scorer_of, name, form):
    classifier = fitted(form, model=name)
    expect_same(classifier, scorer_of(classifier), NEW_TEXTS)


@pytest.mark.parametrize("form", FORMS)
def test_auto_with_pairs_and_characters(scorer_of, form):
    words = TermVectorizer(ngram_range=(1, 2), separate_ngrams=True)
    classifier = fitted(form, model="logistic-gaussian", vectorizer=words, characters=True)
    assert classifier.features_.characters is not None
    expect_same(classifier, scorer_of(classifier), NEW_TEXTS)


def test_characters_across_words(scorer_of):
    across = TermVectorizer(analyzer="char", ngram_range=(2, 3), weighting="ltc")
    classifier = fitted("three", model="logistic-gaussian", characters=across)
    expect_same(classifier, scorer_of(classifier), NEW_TEXTS)


@pytest.mark.parametrize("options", VECTORIZERS.values(), ids=VECTORIZERS)
def test_vectorizers(scorer_of, options):
    classifier = fitted("three", model="logistic-laplace", vectorizer=TermVectorizer(**options))
    expect_same(classifier, scorer_of(classifier), NEW_TEXTS)


@pytest.mark.parametrize("cosine", [False, True])
@pytest.mark.parametrize(
    "weighting", ["binary", "tf", "log-tf", "tf-idf", "sublinear-tf-idf", "ltc"]
)
def test_weightings(scorer_of, weighting, cosine):
    words = TermVectorizer(weighting=weighting, cosine=cosine)
    classifier = fitted("two", model="logistic-gaussian", vectorizer=words)
    expect_same(classifier, scorer_of(classifier), NEW_TEXTS)


def test_selected_terms(scorer_of):
    classifier = fitted("several", model="logistic-gaussian", selection=SelectTerms(k=9))
    expect_same(classifier, scorer_of(classifier), NEW_TEXTS)


def test_softmax(scorer_of):
    model = SparseBayesClassifier(prior="gaussian", multiclass="softmax")
    classifier = fitted("three", model=model)
    expect_same(classifier, scorer_of(classifier), NEW_TEXTS)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", [MaxF1(), ExpectedF1(batch=False)])
def test_rules(scorer_of, rule, form):
    classifier = fitted(form, model="naive-bayes", threshold=rule)
    expect_same(classifier, scorer_of(classifier), NEW_TEXTS)


def test_columns_of_a_table(scorer_of):
    texts, labels = labelled(TOPICS)
    # The price decides, the country does not.
    rows = [
        {
            "price": None if number % 7 == 0 else len(label) + number / 100,
            "country": ["DE", "AT", None][number % 3],
        }
        for number, label in enumerate(labels)
    ]
    table = [{"text": text, **row} for text, row in zip(texts, rows, strict=True)]
    model = make_learner("logistic-gaussian")
    classifier = TextClassifier(model=model, columns=["price", "country"])
    classifier.fit(table, labels)
    scorer = scorer_of(classifier)
    new = [
        {"price": 3.5, "country": "AT"},
        {"price": None, "country": None},
        {"price": -1, "country": "FR"},
    ]
    expect_same(classifier, scorer, NEW_TEXTS[:3], new)
    strings = [{"price": "3,5", "country": "AT"}, {"price": "1e2", "country": "DE"}]
    expect_same(classifier, scorer, NEW_TEXTS[:2], strings)
    with pytest.raises(ValueError, match="no column"):
        scorer("classify", "corn", {"price": 1})
    with pytest.raises(ValueError, match="not a number"):
        scorer("classify", "corn", {"price": "1,234", "country": "AT"})


def test_saved_models_give_the_same_scorer(tmp_path):
    classifier = fitted("three", model="auto")
    classifier.save(tmp_path / "model.zip")
    loaded = TextClassifier.load(tmp_path / "model.zip")
    assert scorer_script(loaded) == scorer_script(classifier)


def test_names_cannot_end_the_script(scorer_of):
    texts, labels = labelled(TOPICS)
    names = {"grain": "</script><b>", "crude": "__proto__", "money": "1\u2028"}
    classifier = TextClassifier(model="naive-bayes")
    classifier.fit(texts, [names[label] for label in labels])
    page = scorer_page(classifier, name="</title><script>")
    assert page.count("<script>") == 2
    assert page.count("</title>") == 1
    answer = scorer_of(classifier)("explain", NEW_TEXTS[0], {})
    assert answer["categories"][0]["category"] in names.values()


EMBEDDER = TextEmbedder(WordVectors.of(["corn", "oil"], [[1.0, 0.0], [0.0, 1.0]]))
REFUSED = {
    "jury": {"model": "jury"},
    "knn": {"model": "knn"},
    "online-gp": {"model": "online-gp"},
    "bernoulli-naive-bayes": {"model": "bernoulli-naive-bayes"},
    "log-F": {"model": SparseBayesClassifier(link=LogF(0.5), prior="gaussian")},
    "stems": {"model": "naive-bayes", "vectorizer": TermVectorizer(stemmer="english")},
    "HTML": {"model": "naive-bayes", "vectorizer": TermVectorizer(strip_html=True)},
    "tokenizer": {"model": "naive-bayes", "vectorizer": TermVectorizer(tokenizer=str.split)},
    "naive Bayes with other": {"model": "naive-bayes", "characters": True},
    "RCut": {"model": "naive-bayes", "threshold": RCut(t=1)},
    "ExpectedF1": {"model": "naive-bayes", "threshold": ExpectedF1()},
}


@pytest.mark.parametrize("options", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_exported_is_refused(options, tmp_path):
    classifier = fitted("three", **options)
    with pytest.raises(DataError, match="can") as refused:
        write_scorer(classifier, tmp_path / "scorer.js")
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_vectors_are_refused():
    texts, labels = labelled(TOPICS)
    classifier = TextClassifier(model="logistic-gaussian", embedder=EMBEDDER).fit(texts, labels)
    with pytest.raises(DataError, match="word vectors cannot be exported"):
        scorer_script(classifier)
    classifier = TextClassifier(model="naive-bayes").fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    with pytest.raises(DataError, match="vectors cannot be exported"):
        scorer_script(classifier)


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"\.html or \.js"):
        write_scorer(fitted("two", model="naive-bayes"), tmp_path / "scorer.py")
    assert not list(tmp_path.iterdir())
