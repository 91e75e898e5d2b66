import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bayesift.classifier import TextClassifier
from bayesift.classifier.table_columns import TableColumns
from bayesift.classifier.word_parts import spelling_parts
from bayesift.errors import DataError
from bayesift.models.linear import BlockScales, SparseBayesClassifier
from bayesift.text import TermVectorizer, TextEmbedder, WordVectors

RNG = np.random.default_rng(0)
LABELS = np.array(["grain", "crude"] * 20)
WORDS = {"grain": ["wheat", "corn", "barley"], "crude": ["oil", "petrol", "tanker"]}
TEXTS = [f"{RNG.choice(WORDS[label])} report, number {k}" for k, label in enumerate(LABELS)]
NOISE = [f"{RNG.choice(['a plain', 'some other', 'one more'])} note {k % 7}" for k in range(40)]
TABLE = pd.DataFrame(
    {
        "text": NOISE,
        "price": np.where(LABELS == "grain", 2.0, 9.0) + RNG.normal(size=40),
        "country": RNG.choice(["DE", "AT", "CH"], size=40),
    }
)
FORMS = {
    "pandas": lambda table: table,
    "arrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
    "dictionaries": lambda table: table.to_dict("records"),
}


def test_columns_are_those_of_scikit_learn():
    table = [("price", [1.0, 4.0, None, 7.0]), ("country", ["DE", "AT", "DE", None])]
    rows = TableColumns.learn(["price", "country"], table).rows(table).toarray() * np.sqrt(2)
    numbers = StandardScaler().fit_transform(np.array([[1.0], [4.0], [np.nan], [7.0]]))
    categories = (
        OneHotEncoder().fit_transform(np.array([["DE"], ["AT"], ["DE"], [""]])).toarray()[:, 1:]
    )
    np.testing.assert_allclose(rows[:, 0], np.nan_to_num(numbers[:, 0]))
    np.testing.assert_array_equal(rows[:, 1], [0, 0, 1, 0])
    np.testing.assert_allclose(rows[:, 2:], categories)


@pytest.mark.parametrize("form", FORMS)
def test_columns_of_a_table_decide_where_words_say_nothing(form, tmp_path):
    table = FORMS[form](TABLE)
    classifier = TextClassifier(columns=["price", "country"], embedder=None).fit(table, LABELS)
    model = classifier.model_
    assert "columns" in model.kinds_
    assert classifier.text_columns_ == ("text",)
    assert classifier.score(table, LABELS) > 0.9
    explanation = classifier.explain(
        {"text": "a plain note", "price": 2.0, "country": "DE"}, categories=["grain"], top=99
    )
    (grain,) = explanation.categories
    assert grain.terms[0].term == "price"
    np.testing.assert_allclose(
        grain.prior + sum(term.contribution for term in grain.terms),
        np.log(grain.score) - np.log1p(-grain.score),
    )
    classifier.save(tmp_path / "model.zip")
    again = TextClassifier.load(tmp_path / "model.zip")
    np.testing.assert_array_equal(again.predict_proba(table), classifier.predict_proba(table))


def test_columns_that_say_nothing_are_left_out():
    rng, labels = np.random.default_rng(3), np.tile(LABELS, 5)
    # No two texts are alike: copies would be held out together, unless their columns differ.
    names = rng.permutation(1000)
    texts = [
        f"{text.partition(',')[0]} {a}a {b}b"
        for text, a, b in zip(TEXTS * 5, names, names[500:], strict=False)
    ]
    labels[:30] = rng.permutation(labels[:30])
    noise = pd.DataFrame({"text": texts, "price": rng.normal(size=200)})
    classifier = TextClassifier(columns=["price"], embedder=None).fit(noise, labels)
    plain = TextClassifier(embedder=None).fit(texts, labels)
    assert classifier.features_.table is None
    np.testing.assert_array_equal(classifier.predict_proba(TEXTS), plain.predict_proba(TEXTS))
    # Prediction is the same with the column, without it, and with anything in it.
    expected = plain.predict_proba(texts)
    for table in (noise, noise[["text"]], noise.assign(price="dear")):
        np.testing.assert_array_equal(classifier.predict_proba(table), expected)
        records = table.to_dict("records")
        np.testing.assert_array_equal(classifier.predict_proba(records), expected)


def test_a_table_without_the_columns_is_refused():
    table = TABLE[["text", "price"]]
    classifier = TextClassifier(columns=["price"], embedder=None).fit(table, LABELS)
    with pytest.raises(DataError, match="no column 'price'"):
        classifier.predict(TABLE[["text", "country"]])
    with pytest.raises(DataError, match="no column 'price'; give a table"):
        classifier.predict(["a text"])
    with pytest.raises(DataError, match="'dear' in the column 'price' is not a number"):
        classifier.predict([{"text": "a note", "country": "DE", "price": "dear"}])
    with pytest.raises(DataError, match="no column 'cost'"):
        TextClassifier(columns=["cost"]).fit(TABLE[["text"]], LABELS)
    with pytest.raises(DataError, match="partial_fit takes no"):
        TextClassifier(model="online-perceptron", columns=["price"]).partial_fit(
            TABLE[["text"]], LABELS
        )


def test_misspelt_words_are_known_by_their_characters(tmp_path):
    classifier = TextClassifier(characters=True, embedder=None).fit(
        TEXTS * 2, np.tile(LABELS, 2)
    )
    plain = TextClassifier(model="logistic-gaussian", characters=True).fit(
        TEXTS * 2, np.tile(LABELS, 2)
    )
    new = ["wheatt", "petroll!"]
    assert plain.predict(new).tolist() == ["grain", "crude"]
    for fitted in (plain, classifier):
        fitted.save(tmp_path / "model")
        again = TextClassifier.load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict_proba(new), fitted.predict_proba(new))
    (grain,) = plain.explain("Wheatt, number.", categories=["grain"], top=99).categories
    first = grain.terms[0]
    assert (first.term, first.spelling) == ("wheatt", first.contribution)
    np.testing.assert_allclose(
        grain.prior + sum(term.contribution for term in grain.terms),
        np.log(grain.score) - np.log1p(-grain.score),
    )


def test_emoji_and_punctuation_are_tried_from_some_hundred_texts_on():
    generator = np.random.default_rng(0)
    words = [f"word{index}" for index in range(30)]
    ends = {"glad": "\N{GRINNING FACE}", "sad": "?!", "calm": "."}
    texts = []
    labels = generator.choice(list(ends), 330).tolist()
    for label in labels:
        texts.append(f"{' '.join(generator.choice(words, 5))} {ends[label]}")
    classifier = TextClassifier(embedder=None).fit(texts, labels)
    assert classifier.model_.kinds_ == ("words", "characters")
    tried = classifier.model_.tried_
    assert tried["characters"] < 0.5 * tried["words"]
    (glad,) = classifier.explain("word1 \N{GRINNING FACE}", categories=["glad"]).categories
    assert glad.terms[0].term == "\N{GRINNING FACE}"
    few = TextClassifier(embedder=None).fit(texts[:299], labels[:299])
    assert few.model_.kinds_ == ("words",)
    without = TextClassifier(embedder=None, characters=False).fit(texts, labels)
    assert without.model_.kinds_ == ("words",)


def test_n_grams_that_no_two_texts_share_are_kept():
    texts = ["ab", "cd", "ef", "gh"]
    classifier = TextClassifier(characters=True).fit(texts, ["x", "y", "x", "y"])
    assert np.all(np.isfinite(classifier.predict_proba(texts)))


def test_parts_of_words_add_up_to_the_n_grams_of_the_text():
    vectorizer = TermVectorizer(
        analyzer="char_wb", ngram_range=(3, 5), weighting="sublinear-tf-idf"
    ).fit(TEXTS)
    parts = spelling_parts(vectorizer, "Wheat wheat, OIL tankers")
    assert parts.words == ["wheat", "wheat", "oil", "tankers"]
    row = vectorizer.transform(["Wheat wheat, OIL tankers"]).toarray()[0]
    np.testing.assert_allclose(parts.rows.sum(axis=0), row, atol=1e-12)
    assert not parts.rows[[0]].nnz or np.abs(parts.rows[[0]].data).max() < 1e-12
    theirs = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5)).fit(TEXTS)
    assert set(theirs.vocabulary_) == set(vectorizer.vocabulary_.names)


def test_block_scales_take_the_blocks_of_the_classifier():
    vectors = WordVectors.of(["wheat", "oil"], RNG.normal(size=(2, 3)))
    model = SparseBayesClassifier(prior="gaussian", prior_scale=BlockScales(folds=3))
    classifier = TextClassifier(
        model=model, embedder=TextEmbedder(vectors), characters=True, columns=["price"]
    ).fit(pd.DataFrame({"text": TEXTS, "price": TABLE["price"]}), LABELS)
    sizes = dict(classifier.model_.prior_scale.blocks)
    assert list(sizes) == ["words", "vectors", "characters", "columns"]
    assert (sizes["vectors"], sizes["columns"]) == (3, 1)
    assert len(classifier.model_.column_scales_) == sum(sizes.values())


def test_what_is_refused():
    with pytest.raises(ValueError, match="characters must be True, False, 'auto', or a"):
        TextClassifier(characters=TermVectorizer()).fit(TEXTS, LABELS)
    with pytest.raises(DataError, match="n-grams of characters need texts"):
        TextClassifier(characters=True).fit([[1.0], [0.0]], ["a", "b"])
