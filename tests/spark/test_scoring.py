import numpy as np
import pytest

from bayesift import DataError, TextClassifier
from tests.spark.cluster import PATIENCE
from tests.spark.newsroom import make_documents

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)


def fitted(model, documents):
    _, texts, topics = zip(*documents, strict=True)
    return TextClassifier(model=model).fit(list(texts), [list(t) for t in topics])


@pytest.fixture(scope="module")
def classifier(documents):
    return fitted("naive-bayes", documents)


@pytest.mark.parametrize("model", ["naive-bayes", "logistic-laplace"])
def test_cluster_gives_local_answers(frame, model, documents):
    from bayesift.spark import score

    classifier = fitted(model, documents)
    rows = {
        row.id: row
        for row in score(frame, classifier, "text", "id", top=None, terms=2).collect()
    }
    ids, texts, _ = zip(*documents, strict=True)
    decisions, scores = classifier.decide(list(texts))
    assert sorted(rows) == sorted(ids)
    for i, name in enumerate(ids):
        row = rows[name]
        assert row.categories == [
            c for c, yes in zip(classifier.categories_, decisions[i], strict=True) if yes
        ]
        found = {pair.category: pair.probability for pair in row.probabilities}
        np.testing.assert_allclose(
            [found[c] for c in classifier.categories_], scores[i], rtol=0, atol=1e-12
        )
        ranked = [pair.probability for pair in row.probabilities]
        assert ranked == sorted(ranked, reverse=True)
        assert row.errors is None


def test_terms_are_those_of_explain(frame, classifier, documents):
    from bayesift.spark import score

    text_of = {name: text for name, text, _ in documents}
    for row in score(frame.limit(20), classifier, "text", "id", terms=3).collect():
        for category in row.categories:
            explained = classifier.explain(
                text_of[row.id], categories=[category], top=3
            ).categories[0]
            said = [term.contribution for term in row.terms if term.category == category]
            np.testing.assert_allclose(
                said, [term.contribution for term in explained.terms], atol=1e-12
            )


def test_poisoned_rows_are_reported(spark, documents):
    from bayesift.spark import score

    _, texts, topics = zip(*documents, strict=True)
    classifier = TextClassifier().fit(list(texts), [t[0] for t in topics])
    rows = [
        (0, b"crude oil"), (1, None), (2, b"corn " * 2_100_000), (3, b"caf\xe9 corn"), (4, b"  "),
        (5, b"go\0ld"),
        (6, "größe Öl".encode()),
    ]  # fmt: skip
    df = spark.createDataFrame(
        [(i, None if t is None else bytearray(t)) for i, t in rows], "id long, text binary"
    )
    found = {
        row.id: row for row in score(df.repartition(2), classifier, "text", "id").collect()
    }
    assert [found[i].errors for i, _ in rows] == [
        None,
        "the text is missing",
        "the text has more than the 5,000,000 characters allowed",
        "cannot be decoded as utf-8 (byte 0xe9)",
        "empty document",
        "holds a NUL byte; is it really utf-8 text?",
        None,
    ]
    assert [found[i].categories is None for i, _ in rows] == [
        False,
        True,
        True,
        True,
        True,
        True,
        False,
    ]
    assert found[0].categories == ["crude"]


def test_schema_is_checked_before_the_job(spark, frame, classifier):
    from bayesift.spark import score

    with pytest.raises(
        DataError, match=r"no column 'body' for the text; there are: 'id', 'text', 'topics'"
    ):
        score(frame, classifier, "body")
    with pytest.raises(
        DataError,
        match=r"column 'topics' for the text is of type array<string>, not string or binary",
    ):
        score(frame, classifier, "topics")
    with pytest.raises(DataError, match="a column 'errors' of its own"):
        score(frame.withColumnRenamed("id", "errors"), classifier, "text")


def test_streams(spark, classifier, tmp_path, documents):
    from bayesift.spark import score

    source, out = tmp_path / "in", tmp_path / "out"
    batch = spark.createDataFrame(
        [(i, t) for i, t, _ in documents[:100]], "id string, text string"
    )
    batch.coalesce(2).write.parquet(str(source))
    stream = spark.readStream.schema("id string, text string").parquet(str(source))
    query = (
        score(stream, classifier, "text", "id")
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(out))
    )
    assert query.awaitTermination(PATIENCE)
    streamed = {row.id: row for row in spark.read.parquet(str(out)).collect()}
    expected = {row.id: row for row in score(batch, classifier, "text", "id").collect()}
    assert streamed == expected
    assert len(expected) == 100


def test_killed_worker_changes_nothing(spark, cluster, classifier, tmp_path):
    from bayesift.spark import score
    from tests.spark.killing import killed_in_the_middle

    documents = make_documents(1000, seed=1)
    df = spark.createDataFrame(
        [(i, t) for i, t, _ in documents], "id string, text string"
    ).repartition(12)
    job = lambda gated: score(gated, classifier, "text", "id", top=None).collect()  # noqa: E731
    rows = killed_in_the_middle(spark, cluster, df, job, tmp_path / "killed")
    ids, texts, _ = zip(*documents, strict=True)
    decisions, scores = classifier.decide(list(texts))
    assert sorted(row.id for row in rows) == sorted(ids)
    place = {name: i for i, name in enumerate(ids)}
    for row in rows:
        i = place[row.id]
        assert row.categories == [
            c for c, yes in zip(classifier.categories_, decisions[i], strict=True) if yes
        ]
        found = {pair.category: pair.probability for pair in row.probabilities}
        np.testing.assert_allclose(
            [found[c] for c in classifier.categories_], scores[i], rtol=0, atol=1e-12
        )


def test_files_hold_what_a_frame_gives(spark, frame, classifier, tmp_path):
    import pyarrow.parquet as pq

    from bayesift.spark import score, score_files

    rows = frame.select("id", "text").toArrow()
    source = tmp_path / "in"
    source.mkdir()
    pq.write_table(rows.slice(0, 400), source / "a.parquet", row_group_size=50)
    pq.write_table(rows.slice(400), source / "b.parquet")
    n_rows, n_errors = score_files(
        spark, source, tmp_path / "out", classifier, "text", "id", terms=2
    )
    assert (n_rows, n_errors) == (rows.num_rows, 0)
    written = pq.read_table(tmp_path / "out").sort_by("id")
    expected = score(frame, classifier, "text", "id", terms=2).toArrow().sort_by("id")
    assert written.to_pylist() == expected.to_pylist()
    names = [path.name for path in (tmp_path / "out").iterdir()]
    assert "_SUCCESS" in names
    assert not any(name.startswith(".") for name in names)
    assert len(names) > 3


def test_files_that_cannot_be_scored_are_refused(spark, classifier, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    from bayesift.spark import score_files

    pq.write_table(pa.table({"id": [1], "text": [2.0]}), tmp_path / "a.parquet")
    (tmp_path / "none").mkdir()
    for source, target, text, message in (
        ("a.parquet", "new", "body", "no column 'body' for the text"),
        ("a.parquet", "new", "text", "of type double, not string"),
        ("a.parquet", "none", "text", "is there already"),
        ("none", "new", "text", "holds no Parquet files"),
        ("missing", "new", "text", "file or folder not found"),
    ):
        with pytest.raises(DataError, match=message):
            score_files(spark, tmp_path / source, tmp_path / target, classifier, text)
        assert not (tmp_path / "new").exists()


def test_workers_are_forked_with_kernels_loaded(spark):
    def loaded(_):
        import sys

        return "numba" in sys.modules and "bayesift.spark.scoring" in sys.modules

    assert spark.conf.get("spark.python.daemon.module") == "bayesift.spark.daemon"
    assert spark.sparkContext.parallelize([0, 1], 2).map(loaded).collect() == [True, True]
