import json
import os
import subprocess
import sys

import pytest
from pyarrow import parquet

from bayesift import TextClassifier
from bayesift.classifier.labels import read_labels
from bayesift.cli import main

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return ended.value.code or 0, said.out, said.err


@pytest.fixture(scope="module")
def news(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("lake") / "news"
    frame.write.parquet(str(path))
    return path


def test_fit_classify_evaluate(capsys, news, documents, tmp_path):
    model, out = tmp_path / "model.zip", tmp_path / "sorted"
    code, said, _ = run(
        capsys, "fit", news, "-o", model, "--label", "topics", "--engine", "spark"
    )
    assert code == 0
    assert "naive-bayes, learned from 600 documents in 4 categories" in said
    code, _, noted = run(capsys, "classify", model, news, "-o", out, "--engine", "spark")
    assert code == 0
    assert "600 documents classified, 0 could not be read" in noted
    scored = {row["id"]: row["categories"] for row in parquet.read_table(out).to_pylist()}
    ids, texts, topics = zip(*documents, strict=True)
    local = TextClassifier(model="naive-bayes").fit(list(texts), [list(t) for t in topics])
    assert scored == {
        name: list(found) for name, found in zip(ids, local.predict(list(texts)), strict=True)
    }
    code, said, _ = run(
        capsys, "evaluate", model, news, "--label", "topics", "--engine", "spark", "--json"
    )
    assert code == 0
    from bayesift.evaluation import evaluate_decisions

    decisions, scores = local.decide(list(texts))
    expected = evaluate_decisions(
        read_labels(topics, categories=local.categories_).y,
        decisions,
        scores,
        categories=local.categories_,
    )
    found = json.loads(said)
    assert found["micro"]["f1"] == pytest.approx(expected.micro.f1, abs=1e-12)
    assert found["accuracy"] == pytest.approx(expected.accuracy, abs=1e-12)
    assert found["log_loss"] == pytest.approx(expected.probabilities.log_loss, rel=1e-10)
    assert found["brier_score"] == pytest.approx(expected.probabilities.brier_score, rel=1e-10)
    code, _, noted = run(capsys, "classify", model, news, "-o", out, "--engine", "spark")
    assert code == 1
    assert "exists; Spark" in noted


def test_titles_are_read_as_they_are_in_one_process(capsys, spark, tmp_path):
    lake, out, local = tmp_path / "lake", tmp_path / "sorted", tmp_path / "sorted.jsonl"
    rows = [
        ("a", "Wheat", "prices rise", "grain"),
        ("b", "", "crude oil", "oil"),
        ("c", "Oil", "", "oil"),
    ]
    rows += [("d", None, "wheat harvest", "grain")]
    spark.createDataFrame(
        rows, "id string, title string, text string, label string"
    ).write.parquet(str(lake))
    model, peer = tmp_path / "model.zip", tmp_path / "peer.zip"
    assert run(capsys, "fit", lake, "-o", model, "--engine", "spark")[0] == 0
    files = sorted(lake.glob("*.parquet"))
    table = tmp_path / "lake.parquet"
    parquet.write_table(parquet.ParquetDataset(files).read(), table)
    assert run(capsys, "fit", table, "-o", peer)[0] == 0
    terms = [
        TextClassifier.load(path).vectorizer_.get_feature_names_out().tolist()
        for path in (model, peer)
    ]
    assert terms[0] == terms[1]
    assert run(capsys, "classify", model, lake, "-o", out, "--engine", "spark")[0] == 0
    assert run(capsys, "classify", peer, table, "-o", local)[0] == 0
    scored = {row["id"]: row["categories"] for row in parquet.read_table(out).to_pylist()}
    records = map(json.loads, local.read_text().splitlines())
    assert scored == {record["id"]: record["categories"] for record in records}


def test_bad_use(capsys, news, tmp_path):
    code, _, noted = run(capsys, "fit", news, "-o", tmp_path / "m.zip", "--engine", "sparc")
    assert code == 2
    assert "no 'sparc'; did you mean 'spark'?" in noted
    code, _, noted = run(
        capsys, "fit", tmp_path / "nowhere", "-o", tmp_path / "m.zip", "--engine", "spark"
    )
    assert code == 1
    assert "nowhere" in noted
    assert noted.count("\n") == 1
    code, _, noted = run(
        capsys, "fit", news, "-o", tmp_path / "m.zip", "--engine", "spark", "--label", "desk"
    )
    assert code == 1
    assert "no column 'desk'" in noted


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            "sys.modules['pyspark'] = None",
            'this needs pyspark, not installed yet; run: pip install "bayesift[spark]"',
        ),
        (
            "os.environ.pop('JAVA_HOME', None); os.environ['PATH'] = '/nowhere'",
            "Spark needs Java 17 or newer",
        ),
    ],
    ids=["pyspark", "java"],
)
def test_what_is_missing_is_said_in_one_line(program, message, tmp_path):
    if "JAVA" in program:
        pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    code = f"import os, sys; {program}; from bayesift.cli import main; main(sys.argv[1:])"
    command = ["fit", "news", "-o", str(tmp_path / "m.zip"), "--engine", "spark"]
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        capture_output=True,
        text=True,
        env=dict(os.environ),
    )
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
