import numpy as np
import pytest

from bayesift.errors import DataError
from bayesift.knowledge import Coverage, TermIndex, TermKnowledge, apply_knowledge, prior_for
from bayesift.models import make_learner
from bayesift.models.linear import GaussianPrior, JeffreysPrior, LaplacePrior, LogF, Probit
from bayesift.text import TermVectorizer

TEXTS = [
    "wheat exports rose",
    "the exporting of corn",
    "corn, corn and wheat",
    "gold exports",
    "gold",
]
CATEGORIES = ("corn", "gold", "wheat")


def index_of(**options):
    vectorizer = TermVectorizer(**options)
    X = vectorizer.fit_transform(TEXTS)
    return TermIndex.of(vectorizer, X), X, vectorizer


def keywords(**words):
    return TermKnowledge.from_keywords(words)


def test_a_strength_is_the_log_odds_of_a_typical_text():
    index, X, vectorizer = index_of(weighting="ltc")
    prior, coverage = prior_for(
        keywords(corn={"corn": 3.0}), GaussianPrior(variance=7.0), CATEGORIES, index
    )
    column = vectorizer.vocabulary_["corn"]
    values = X.toarray()[:, column]
    assert prior.mode[0, column] * values[values > 0].mean() == pytest.approx(3.0)
    assert np.count_nonzero(prior.mode) == 1
    assert (prior.variance, prior.sign, coverage.used) == (7.0, 0, 1)


@pytest.mark.parametrize(
    ("link", "factor"), [(Probit(), np.sqrt(np.pi / 8)), (LogF(shape=1.0), 1.0)]
)
def test_scores_of_other_links_have_other_units(link, factor):
    base = prior_for(keywords(corn={"corn": 3.0}), "laplace", CATEGORIES, ["corn"])[0]
    other = prior_for(keywords(corn={"corn": 3.0}), "laplace", CATEGORIES, ["corn"], link=link)[
        0
    ]
    np.testing.assert_allclose(other.mode, factor * base.mode)


@pytest.mark.parametrize("word", ["Exports", "EXPORTING", "export"])
def test_words_pass_through_the_vectorizer(word):
    index, _, vectorizer = index_of(stemmer="porter", stop_words="english")
    prior, _ = prior_for(keywords(gold={word: 2.0}), "laplace", CATEGORIES, index)
    assert np.flatnonzero(prior.mode[1]).tolist() == [vectorizer.vocabulary_["export"]]


def test_the_words_of_a_phrase_share_its_strength_unless_it_is_a_term():
    index, _, vectorizer = index_of(weighting="binary")
    prior, _ = prior_for(keywords(wheat={"Wheat exports": 3.0}), "laplace", CATEGORIES, index)
    assert (
        prior.mode[2, vectorizer.vocabulary_["wheat"]]
        == prior.mode[2, vectorizer.vocabulary_["exports"]]
        == 1.5
    )
    index, _, vectorizer = index_of(weighting="binary", ngram_range=(1, 2))
    prior, _ = prior_for(keywords(wheat={"Wheat exports": 3.0}), "laplace", CATEGORIES, index)
    assert np.flatnonzero(prior.mode[2]).tolist() == [vectorizer.vocabulary_["wheat exports"]]


def test_rare_words_of_a_description_say_more():
    index, _, vectorizer = index_of(weighting="binary")
    knowledge = TermKnowledge.from_descriptions(
        {"wheat": "Wheat, rose wheat and maize"}, strength=4.0
    )
    prior, coverage = prior_for(knowledge, "gaussian", CATEGORIES, index)
    mode = {term: prior.mode[2, column] for term, column in vectorizer.vocabulary_.items()}
    assert mode["rose"] == pytest.approx(4.0)
    assert mode["wheat"] == pytest.approx(4.0 * (1 + np.log(2)) * np.log(5 / 2) / np.log(5))
    assert mode["gold"] == 0
    assert coverage.missing == {"wheat": ("maize",)}


def test_beliefs_go_before_descriptions_and_the_strongest_before_others():
    index, _, vectorizer = index_of(weighting="binary", stemmer="porter")
    knowledge = TermKnowledge.from_descriptions(
        {"gold": "Gold exports"}, strength=50.0
    ) | keywords(gold={"export": 1.0, "exporting": -2.0})
    prior, _ = prior_for(knowledge, "laplace", CATEGORIES, index)
    assert prior.mode[1, vectorizer.vocabulary_["export"]] == -2.0
    assert prior.mode[1, vectorizer.vocabulary_["gold"]] > 20


def test_a_sign_leaves_what_the_description_says():
    knowledge = TermKnowledge.from_descriptions({"gold": "Gold"}, strength=4.0) | keywords(
        gold=["+gold"]
    )
    prior, coverage = prior_for(knowledge, "laplace", CATEGORIES, ["corn", "gold"])
    np.testing.assert_array_equal(prior.mode[1], [0.0, 4.0])
    np.testing.assert_array_equal(prior.sign[1], [0, 1])
    assert coverage.used == 1


def test_scales_and_signs_stand_where_they_were_said():
    knowledge = keywords(corn={"corn": {"mode": 2.0, "scale": 3.0}, "gold": "-"})
    laplace, _ = prior_for(knowledge, LaplacePrior(gamma=5.0), CATEGORIES, ["corn", "gold"])
    np.testing.assert_allclose(laplace.gamma, [[2 / 9, 5.0], [5.0, 5.0], [5.0, 5.0]])
    assert LaplacePrior.of_variance(9.0).gamma == pytest.approx(2 / 9)
    gaussian, _ = prior_for(
        knowledge, GaussianPrior(variance=[[1.0], [2.0], [3.0]]), CATEGORIES, ["corn", "gold"]
    )
    np.testing.assert_allclose(gaussian.variance, [[9.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    np.testing.assert_array_equal(gaussian.sign, [[0, -1], [0, 0], [0, 0]])
    np.testing.assert_array_equal(gaussian.mode, [[2, 0], [0, 0], [0, 0]])


def test_nothing_that_meets_the_vocabulary_leaves_the_prior_as_it_is():
    base = LaplacePrior(gamma=3.0)
    prior, coverage = prior_for(
        keywords(corn=["maize", "the"]), base, CATEGORIES, ["corn", "gold"]
    )
    assert prior is base
    assert (coverage.used, coverage.n_missing) == (0, 2)
    assert str(coverage) == "0 words used, 2 not in the vocabulary: maize (corn), the (corn)"


def test_what_speaks_for_one_of_two_categories_speaks_against_the_other():
    knowledge = keywords(
        ham={"dear": 2.0, "both": 1.0, "a": "+"}, spam={"win": 3.0, "both": 5.0}
    )
    prior, _ = prior_for(
        knowledge, "laplace", ("ham", "spam"), ["a", "both", "dear", "win"], one_model=True
    )
    np.testing.assert_array_equal(prior.mode, [[0, 4, -2, 3]])
    np.testing.assert_array_equal(prior.sign, [[-1, 0, 0, 0]])


def test_refusals():
    with pytest.raises(ValueError, match="not a jeffreys one"):
        prior_for(keywords(corn=["corn"]), JeffreysPrior(), CATEGORIES, ["corn"])
    with pytest.raises(DataError, match="did you mean 'corn'"):
        prior_for(keywords(corm=["corn"]), "laplace", CATEGORIES, ["corn"])


def test_an_index_holds_typical_weights_and_rarities():
    vectorizer = TermVectorizer(weighting="tf")
    index = TermIndex.of(
        vectorizer, vectorizer.fit_transform(["corn corn", "corn oil", "oil", "gold"])
    )
    assert index.typical.tolist() == [1.5, 1.0, 1.0]
    assert index.rarity.tolist() == [0.5, 1.0, 0.5]


def test_two_categories_share_one_model():
    learner, terms = make_learner("logistic-gaussian"), TermIndex.of_names(["corn", "gold"])
    model, coverage = apply_knowledge(
        learner, keywords(gold={"gold": 3}), ["corn", "gold"], terms, one_model=True
    )
    assert model.prior.mode.tolist() == [[0.0, 3.0]]
    assert coverage.used == 1


def test_coverage_names_the_missing_words():
    assert (
        str(Coverage(3, {"corn": ("maise",)}))
        == "3 words used, 1 not in the vocabulary: maise (corn)"
    )
