import numpy as np
import pytest
from sklearn.base import clone

from bayesift.classifier import TextClassifier
from bayesift.cli.console import stdout
from bayesift.cli.explain import print_explanation
from bayesift.errors import DataError
from bayesift.features import FeatureBlock, SelectTerms
from bayesift.knowledge import TermKnowledge
from bayesift.models.ensemble import AutoClassifier
from bayesift.models.linear import SparseBayesClassifier
from bayesift.text import TextEmbedder, WordVectors

GRAIN = ["wheat", "corn", "barley", "oats", "rye", "maize", "sorghum", "millet"]
CRUDE = ["oil", "petrol", "diesel", "tanker", "barrel", "refinery", "kerosene", "naphtha"]
RNG = np.random.default_rng(0)
VECTORS = WordVectors.of(
    [*GRAIN, *CRUDE],
    RNG.normal(scale=0.1, size=(16, 3)) + np.repeat([[1.0, 0, 0.2], [0, 1.0, 0.2]], 8, axis=0),
)
TEXTS = [
    f"{RNG.choice(words[:5])} and {RNG.choice(words[:5])} number {k}"
    for k in range(12)
    for words in (GRAIN, CRUDE)
]
LABELS = ["grain", "crude"] * 12
NEW = ["millet prices", "naphtha prices", "sorghum", "kerosene", ""]


@pytest.fixture(scope="module")
def classifier():
    return TextClassifier(embedder=TextEmbedder(VECTORS)).fit(TEXTS, LABELS)


def test_words_that_were_never_seen_have_a_meaning(classifier):
    assert classifier.predict(NEW[:4]).tolist() == ["grain", "crude"] * 2
    assert classifier.embedder_ is not None
    assert "vectors" in classifier.model_.describe()
    plain = TextClassifier(embedder=None).fit(TEXTS, LABELS)
    assert plain.embedder_ is None
    probabilities = plain.predict_proba(NEW[:4])
    np.testing.assert_allclose(probabilities, np.tile(probabilities[0], (4, 1)))


def test_without_vectors_the_model_is_that_of_words_alone():
    """Columns of vectors that say nothing are left out, and the rest is as without them."""
    noise = WordVectors.of(["number", "and"], [[1.0, 0.0], [0.0, 1.0]])
    with_noise = TextClassifier(embedder=TextEmbedder(noise)).fit(TEXTS, LABELS)
    plain = TextClassifier(embedder=None).fit(TEXTS, LABELS)
    assert with_noise.terms() == plain.terms()
    if with_noise.embedder_ is None:
        np.testing.assert_array_equal(
            with_noise.predict_proba(TEXTS), plain.predict_proba(TEXTS)
        )


@pytest.mark.parametrize(
    "labels",
    [LABELS, [["grain"], ["crude", "trade"], [], ["trade"]] * 6],
    ids=["one", "several"],
)
def test_contributions_and_prior_add_up_to_the_log_odds(labels):
    classifier = TextClassifier(embedder=TextEmbedder(VECTORS)).fit(TEXTS, labels)
    explanation = classifier.explain("millet and wheat", categories=["grain"], top=99)
    (grain,) = explanation.categories
    total = grain.prior + sum(term.contribution for term in grain.terms)
    np.testing.assert_allclose(total, np.log(grain.score) - np.log1p(-grain.score), atol=1e-6)


def test_the_meaning_of_an_unseen_word_is_explained_by_known_ones(classifier, capsys):
    explanation = classifier.explain("millet prices")
    first = explanation.categories[0].terms[0]
    assert (explanation.categories[0].category, first.term, first.weight) == (
        "grain",
        "millet",
        0.0,
    )
    assert first.meaning == first.contribution > 0
    assert set(first.like) <= set(GRAIN)
    assert {"millet", "prices"} <= set(explanation.unseen_terms)
    # Where the model uses word pairs, the pair of both is unseen too.
    n_unseen = 3 if "pairs" in classifier.model_.kinds_ else 2
    assert (explanation.unseen, explanation.by_meaning) == (n_unseen, 1)
    print_explanation(stdout(), explanation)
    assert "by meaning, like" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", ["model", "model.zip"])
def test_a_saved_model_needs_its_vectors_or_holds_them(classifier, name, tmp_path):
    classifier.save(tmp_path / name)
    with pytest.raises(DataError, match="fitted with other vectors"):
        TextClassifier.load(
            tmp_path / name, vectors=WordVectors.of(["corn"], [[1.0, 2.0, 3.0]])
        )
    again = TextClassifier.load(tmp_path / name, vectors=VECTORS)
    np.testing.assert_array_equal(again.predict_proba(NEW), classifier.predict_proba(NEW))
    classifier.save(tmp_path / f"bundled-{name}", bundle_vectors=True)
    bundled = TextClassifier.load(tmp_path / f"bundled-{name}")
    np.testing.assert_array_equal(bundled.predict_proba(TEXTS), classifier.predict_proba(TEXTS))
    assert bundled.explain(TEXTS[0]) == classifier.explain(TEXTS[0])


def test_a_model_whose_vectors_are_not_here(classifier, tmp_path, monkeypatch):
    classifier.save(tmp_path / "model")
    monkeypatch.setattr(WordVectors, "installed", classmethod(lambda cls: None))
    with pytest.raises(DataError, match="needs the word vectors given"):
        TextClassifier.load(tmp_path / "model")


def test_doubts_evaluation_and_abstention_know_columns_of_words(classifier):
    doubts = classifier.doubts(["corn and oil", "millet"])
    assert doubts.unseen[0] < 0.5 < doubts.unseen[1]
    assert len(classifier.predict(NEW, abstain=0.2)) == len(NEW)


def test_other_models_take_vectors_too():
    classifier = TextClassifier(model="logistic-gaussian", embedder=TextEmbedder(VECTORS)).fit(
        TEXTS, LABELS
    )
    assert classifier.predict(NEW[:2]).tolist() == ["grain", "crude"]
    assert classifier.estimator_.n_features_in_ == len(classifier.terms()) + 3
    assert clone(classifier).embedder.vectors is VECTORS


def test_what_is_refused():
    with pytest.raises(ValueError, match="embedder must be"):
        TextClassifier(embedder="words").fit(TEXTS, LABELS)
    with pytest.raises(DataError, match="an embedder needs texts"):
        TextClassifier(embedder=TextEmbedder(VECTORS)).fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    online = TextClassifier(model="online-perceptron", embedder=TextEmbedder(VECTORS))
    with pytest.raises(DataError, match="embedder"):
        online.partial_fit(TEXTS, LABELS)


def test_columns_of_vectors_are_kept_only_where_they_lower_the_loss():
    rng = np.random.default_rng(1)
    X, y = np.abs(rng.normal(size=(200, 10))), rng.integers(0, 2, size=200)
    X[y == 1, 0] += 1.0
    rows = np.hstack([X, rng.normal(size=(200, 40))])
    blocks = (
        FeatureBlock("words", "words", np.arange(10)),
        FeatureBlock("vectors", "vectors", np.arange(10, 50)),
    )
    assert "vectors" not in AutoClassifier().fit(rows, y, blocks=blocks).kinds_
    rows[y == 1, 10:14] += 2.0
    rows[:, 0] = 1.0
    assert "vectors" in AutoClassifier().fit(rows, y, blocks=blocks).kinds_


def test_where_nothing_can_be_held_out_vectors_are_used():
    one_each = TextClassifier(embedder=TextEmbedder(VECTORS)).fit(
        ["wheat", "oil"], ["grain", "crude"]
    )
    assert one_each.predict(["millet", "naphtha"]).tolist() == ["grain", "crude"]


def test_knowledge_of_words_and_vectors_together():
    knowledge = TermKnowledge.from_keywords({"grain": {"wheat": 9.0}})
    model = SparseBayesClassifier(prior="gaussian")
    both = TextClassifier(model=model, knowledge=knowledge, embedder=TextEmbedder(VECTORS)).fit(
        TEXTS, LABELS
    )
    plain = TextClassifier(model=model, embedder=TextEmbedder(VECTORS)).fit(TEXTS, LABELS)
    place = both.terms().index("wheat")
    assert both.model_.coef_[0, place] > plain.model_.coef_[0, place]
    assert both.predict(["millet", "naphtha"]).tolist() == ["grain", "crude"]


def test_selected_terms_of_each_category_and_vectors():
    selection = SelectTerms(k=3, per_category=True)
    labels = ["grain", "crude", "ship"] * 8
    fitted = TextClassifier(
        model="logistic-gaussian", selection=selection, embedder=TextEmbedder(VECTORS)
    )
    fitted.fit(TEXTS, labels)
    assert fitted.estimator_.n_features_in_ == len(fitted.terms()) + 3
    assert np.all(fitted.model_.coef_[:, -3:] != 0)
