import json
from contextlib import suppress

import numpy as np
import pytest

from bayesift.classifier import TextClassifier
from bayesift.errors import DataError
from bayesift.features import SelectTerms
from bayesift.knowledge import TermKnowledge
from bayesift.models import make_learner
from bayesift.models.linear import GaussianPrior, LaplacePrior, SparseBayesClassifier
from bayesift.text import TermVectorizer
from tests.classifier.test_saving import mutated
from tests.classifier.test_text_classifier import LABELS, NEW, SETS, TEXTS

KNOWLEDGE = TermKnowledge.from_keywords(
    {
        "grain": {"wheat": 4, "zeppelin": 1, "oil": "-"},
        "crude": {"oil": {"mode": 3.0, "scale": 0.5}},
    }
)
SURE = SparseBayesClassifier(prior=LaplacePrior(gamma=0.05), posterior="normal")
LTC = TermVectorizer(weighting="ltc")


@pytest.mark.parametrize("labels", [LABELS, SETS])
@pytest.mark.parametrize(
    "knowledge", [TermKnowledge(), TermKnowledge.from_keywords({"grain": ["zeppelin"]})]
)
def test_with_no_knowledge_the_fit_is_bit_identical(labels, knowledge):
    plain = TextClassifier(model="logistic-laplace").fit(TEXTS, labels)
    informed = TextClassifier(model="logistic-laplace", knowledge=knowledge).fit(TEXTS, labels)
    np.testing.assert_array_equal(plain.predict_proba(NEW), informed.predict_proba(NEW))
    ours, theirs = (c.model_ for c in (plain, informed))
    assert ours.get_params() == theirs.get_params()
    np.testing.assert_array_equal(ours.intercept_, theirs.intercept_)


@pytest.mark.parametrize("model", ["logistic-laplace", "logistic-gaussian", "probit-laplace"])
def test_a_word_no_text_of_training_tells_apart_speaks_for_its_category(model):
    texts = ["wheat sale maize", "oil sale maize", "wheat", "oil"]
    labels = [("grain",), ("crude",), ("grain",), ("crude",)]
    plain = TextClassifier(model=model).fit(texts, labels)
    knowledge = TermKnowledge.from_keywords({"grain": {"maize": 3}})
    informed = TextClassifier(model=model, knowledge=knowledge).fit(texts, labels)
    column = informed.categories_.index("grain")
    gain = (
        informed.predict_proba(["maize"])[0, column] - plain.predict_proba(["maize"])[0, column]
    )
    assert gain > 0.2


def test_signs_hold():
    X, labels = ["oil gold", "oil", "gold", "wheat"], [("grain",), ("grain",), (), ("grain",)]
    knowledge = TermKnowledge.from_keywords({"grain": ["-oil"]})
    for model in ("logistic-laplace", "logistic-gaussian"):
        free = TextClassifier(model=model).fit(X, labels)
        held = TextClassifier(model=model, knowledge=knowledge).fit(X, labels)
        column = held.terms().index("oil")
        weights = [c.model_.coef_[[0]] for c in (free, held)]
        free_weight, held_weight = (
            np.asarray(w.toarray() if hasattr(w, "toarray") else w)[0, column] for w in weights
        )
        assert free_weight > 0 >= held_weight


def test_selection_keeps_knowledge_with_its_terms():
    classifier = TextClassifier(
        model="logistic-gaussian", selection=SelectTerms(k=3), knowledge=KNOWLEDGE
    )
    classifier.fit(TEXTS, SETS)
    prior, names = classifier.model_.prior, classifier.terms()
    assert prior.mode.shape == (3, 3)
    row = classifier.categories_.index("crude")
    if "oil" in names:
        assert prior.mode[row, names.index("oil")] == 3.0
    assert classifier.coverage_.used + classifier.coverage_.n_missing == 4


@pytest.mark.parametrize(
    "model", [SURE, "logistic-gaussian", make_learner("probit-laplace", posterior="normal")]
)
@pytest.mark.parametrize("labels", [LABELS, SETS])
@pytest.mark.parametrize("name", ["model", "model.zip"])
def test_saved_and_loaded(tmp_path, model, labels, name):
    classifier = TextClassifier(model=model, vectorizer=LTC, knowledge=KNOWLEDGE).fit(
        TEXTS, labels
    )
    classifier.save(tmp_path / name)
    again = TextClassifier.load(tmp_path / name)
    np.testing.assert_array_equal(again.predict_proba(NEW), classifier.predict_proba(NEW))
    assert again.explain("corn oil") == classifier.explain("corn oil")
    assert (again.knowledge, again.coverage_) == (KNOWLEDGE, classifier.coverage_)
    ours, theirs = again.model_.prior, classifier.model_.prior
    assert type(ours) is type(theirs)
    for parameter, value in vars(theirs).items():
        np.testing.assert_array_equal(getattr(ours, parameter), value)


def test_the_header_holds_it_for_people_to_read(tmp_path):
    TextClassifier(model=SURE, vectorizer=LTC, knowledge=KNOWLEDGE).fit(TEXTS, SETS).save(
        tmp_path / "model"
    )
    header = json.loads((tmp_path / "model" / "model.json").read_text())["model"]
    assert header["knowledge"]["words"] == KNOWLEDGE.as_dict()["words"]
    assert header["knowledge"]["missing"] == {"grain": ["zeppelin"]}


@pytest.mark.parametrize("labels", [LABELS, SETS])
def test_mutated_headers_are_refused_or_valid(tmp_path, labels):
    TextClassifier(model=SURE, vectorizer=LTC, knowledge=KNOWLEDGE).fit(TEXTS, labels).save(
        tmp_path / "model"
    )
    header = json.loads((tmp_path / "model" / "model.json").read_text())
    rng = np.random.default_rng(0)
    for _ in range(150):
        (tmp_path / "model" / "model.json").write_text(json.dumps(mutated(header, rng)))
        with suppress(DataError):
            loaded = TextClassifier.load(tmp_path / "model")
            assert loaded.predict_proba(NEW).shape == (len(NEW), len(loaded.categories_))
            loaded.explain("corn")


def test_explanations_say_how_sure():
    classifier = TextClassifier(model=SURE, vectorizer=LTC).fit(TEXTS, SETS)
    model, X = classifier.model_, classifier.vectors(["corn oil"])
    for explained in classifier.explain(
        "corn oil", categories=classifier.categories_
    ).categories:
        j = classifier.categories_.index(explained.category)
        low, high = explained.interval
        assert low <= explained.score <= high
        assert explained.integrated == model.predict_proba_integrated(X)[0, j]
        for term in explained.terms:
            variance = model.coef_variance_[[j], [classifier.terms().index(term.term)]].item()
            assert term.deviation == pytest.approx(abs(term.weight) * np.sqrt(variance))
    for plain in ("logistic-laplace", "naive-bayes"):
        explained = (
            TextClassifier(model=plain).fit(TEXTS, SETS).explain("corn oil").categories[0]
        )
        assert (explained.integrated, explained.interval, explained.terms[0].deviation) == (
            None,
            None,
            None,
        )


@pytest.mark.parametrize("labels", [LABELS, SETS])
def test_an_earlier_posterior_becomes_the_prior(labels):
    first = TextClassifier(model=SURE, vectorizer=LTC).fit(TEXTS, labels)
    knowledge = TermKnowledge.from_model(first, inflate=4.0)
    old = first.model_
    second = TextClassifier(model="logistic-gaussian", knowledge=knowledge).fit(TEXTS, labels)
    prior = second.model_.prior
    assert isinstance(prior, GaussianPrior)
    varies = old.coef_variance_.toarray() > 0
    coefficients = old.coef_.toarray() if hasattr(old.coef_, "toarray") else old.coef_
    np.testing.assert_allclose(prior.mode[varies], coefficients[varies])
    np.testing.assert_allclose(
        prior.variance[varies], 4.0 * old.coef_variance_.toarray()[varies]
    )
    np.testing.assert_array_equal(prior.mode[~varies], 0.0)
    assert max(map(len, TermKnowledge.from_model(first, terms=1).words.values())) == 1


def test_refusals():
    with pytest.raises(ValueError, match="keeps no posterior"):
        TermKnowledge.from_model(TextClassifier(model="logistic-laplace").fit(TEXTS, LABELS))
    with pytest.raises(ValueError, match="keeps no posterior"):
        TermKnowledge.from_model(TextClassifier().fit(TEXTS, LABELS))
    with pytest.raises(ValueError, match="inflate must be positive"):
        TermKnowledge.from_model(TextClassifier(model=SURE).fit(TEXTS, LABELS), inflate=0)
    for model, name in (("naive-bayes", "NaiveBayesClassifier"), ("auto", "AutoClassifier")):
        with pytest.raises(ValueError, match=f"{name} has no prior of weights"):
            TextClassifier(model=model, knowledge=KNOWLEDGE).fit(TEXTS, LABELS)
    with pytest.raises(DataError, match="did you mean 'grain'"):
        TextClassifier(model=SURE, knowledge=TermKnowledge.from_keywords({"grian": ["x"]})).fit(
            TEXTS, LABELS
        )
    with pytest.raises(DataError, match="documents are vectors"):
        TextClassifier(model=SURE, knowledge=KNOWLEDGE).fit(LTC.fit_transform(TEXTS), LABELS)
