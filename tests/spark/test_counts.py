import numpy as np
import pytest

from bayesift import DataError, TermVectorizer, TextClassifier
from bayesift.features import SCORES, SelectTerms, TermTables
from tests.spark.newsroom import TOPICS

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "parameters",
    [
        {"min_df": 3, "stop_words": "english"},
        {"drop_rare": 0.2, "stemmer": "porter", "ngram_range": (1, 2)},
        pytest.param({}, marks=SLOW),
        pytest.param({"max_df": 0.5}, marks=SLOW),
    ],
    ids=["rare", "zipf", "plain", "frequent"],
)
def test_vocabulary_is_that_of_a_local_fit(frame, documents, parameters):
    from bayesift.spark import vocabulary

    local = TermVectorizer(**parameters).fit([text for _, text, _ in documents])
    found = vocabulary(frame, vectorizer=TermVectorizer(**parameters))
    assert found.vocabulary_.names == local.vocabulary_.names
    assert found.n_documents_ == local.n_documents_
    np.testing.assert_array_equal(found.document_frequencies_, local.document_frequencies_)
    np.testing.assert_array_equal(found.collection_frequencies_, local.collection_frequencies_)


@pytest.mark.parametrize("weighting", ["tf", "ltc"])
def test_tables_and_scores_are_local_ones(frame, documents, weighting):
    from bayesift.spark import term_scores

    _, texts, topics = zip(*documents, strict=True)
    X = TermVectorizer(weighting=weighting).fit_transform(texts)
    Y = np.array([[t in topic for t in TOPICS] for topic in topics], dtype=int)
    local = TermTables.of(X, Y)
    found = term_scores(
        frame, label_col="topics", by="chi2", vectorizer=TermVectorizer(weighting=weighting)
    )
    assert found.categories == TOPICS
    assert found.tables.n_documents == local.n_documents
    for name in ("category_sizes", "document_frequencies"):
        np.testing.assert_array_equal(getattr(found.tables, name), getattr(local, name))
    np.testing.assert_array_equal(found.tables.joint.toarray(), local.joint.toarray())
    # Sums of whole numbers are exact; those of other weights depend on their order in the last
    # digits.
    same = (
        np.testing.assert_array_equal
        if weighting == "tf"
        else lambda a, b: np.testing.assert_allclose(a, b, 1e-12)
    )
    same(found.tables.sums, local.sums)
    same(found.tables.squares, local.squares)
    same(found.tables.cross.toarray(), local.cross.toarray())
    np.testing.assert_allclose(found.scores, SCORES["chi2"](local), rtol=1e-12)


@pytest.mark.parametrize(
    ("several", "selection"),
    [(False, SelectTerms("chi2", k=12)), (True, None)],
    ids=["one-category-twelve-terms", "several-all-terms"],
)
def test_naive_bayes_is_the_local_one(frame, documents, several, selection):
    from pyspark.sql import functions

    from bayesift.spark import fit_naive_bayes

    _, texts, topics = zip(*documents, strict=True)
    labels = [list(t) for t in topics] if several else [t[0] for t in topics]
    df = frame if several else frame.withColumn("topics", functions.col("topics")[0])
    local = TextClassifier(model="naive-bayes", selection=selection).fit(list(texts), labels)
    found = fit_naive_bayes(df, label_col="topics", selection=selection)
    expected, counted = (c.model_.get_state()[1] for c in (local, found))
    for name, array in expected.items():
        np.testing.assert_array_equal(counted[name], array, err_msg=name)
    np.testing.assert_array_equal(
        found.predict_proba(list(texts)), local.predict_proba(list(texts))
    )
    assert list(found.predict(list(texts))) == list(local.predict(list(texts)))


def test_saved_like_any_other(frame, documents, tmp_path):
    from bayesift.spark import fit_naive_bayes

    found = fit_naive_bayes(frame, label_col="topics")
    found.save(tmp_path / "model.zip")
    text = documents[0][1]
    np.testing.assert_array_equal(
        TextClassifier.load(tmp_path / "model.zip").predict_proba([text]),
        found.predict_proba([text]),
    )


def test_unreadable_texts_are_refused_or_left_out(spark):
    from bayesift.spark import fit_naive_bayes

    rows = [("corn", "grain"), ("oil", "crude"), (None, "crude")]
    df = spark.createDataFrame(rows, "text string, label string")
    with pytest.raises(DataError, match="1 of 3 texts cannot be read"):
        fit_naive_bayes(df)
    assert fit_naive_bayes(df, skip_bad=True).model_.counted_.n_documents == 2


def test_separators_and_missing_labels(spark):
    from bayesift.spark import fit_naive_bayes

    rows = [("corn wheat", " grain;wheat "), ("oil", "crude"), ("gold", None), ("tin", "")]
    df = spark.createDataFrame(rows, "text string, label string")
    found = fit_naive_bayes(df, separator=";")
    assert found.categories_ == ("crude", "grain", "wheat")
    assert found.multilabel_
    with pytest.raises(DataError, match="learns from the scores"):
        fit_naive_bayes(df, separator=";", threshold="scut")
