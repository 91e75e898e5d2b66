"""The main job by its commands, on a small corpus of our own, as a new user would do it."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest

from bayesift.classifier import TextClassifier
from bayesift.cli import main

GRAIN = [
    "wheat and corn harvest",
    "corn exports rose",
    "wheat prices fell",
    "the corn crop",
    "barley and wheat",
    "oats",
]
CRUDE = ["crude oil prices", "oil tankers wait", "crude exports", "barrels of oil", "oil wells", "pipelines for crude"]


@pytest.fixture
def run(capsysbinary):
    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        captured = capsysbinary.readouterr()
        return ended.value.code or 0, captured.out.decode(), captured.err.decode()

    return run


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "news.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["body", "desk"])
        writer.writerows([[text, "grain"] for text in GRAIN] + [[text, "crude"] for text in CRUDE])
    return path


@pytest.fixture
def topics(tmp_path):
    path = tmp_path / "topics.jsonl"
    records = [{"text": f"{g} {c}", "labels": ["grain", "crude"]} for g, c in zip(GRAIN, CRUDE, strict=True)]
    records += [{"text": text, "labels": ["grain"]} for text in GRAIN]
    records += [{"text": text, "labels": ["crude"]} for text in CRUDE]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def model(run, corpus, tmp_path):
    code, out, err = run("fit", corpus, "-o", tmp_path / "model.zip", "--text", "body", "--label", "desk")
    assert (code, err) == (0, "")
    assert "learned from 12 documents, 2 categories" in out
    return tmp_path / "model.zip"


def test_classify_a_table(run, model, corpus, tmp_path):
    code, out, err = run("classify", model, corpus, "--text", "body", "--top", 1)
    assert (code, err) == (0, "")
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["id"] for answer in answers] == [str(line) for line in range(2, 14)]
    assert [answer["categories"] for answer in answers] == [["grain"]] * 6 + [["crude"]] * 6
    assert all(len(answer["scores"]) == 1 for answer in answers)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_classify_into_every_kind_of_file(run, model, tmp_path, suffix):
    (tmp_path / "new.jsonl").write_text(
        '{"id": "a \\"b\\"", "text": "corn"}\n{"id": "c,d", "text": "oil"}\n{"id": "é\\n", "text": "crude wheat"}\n'
    )
    code, out, err = run("classify", model, tmp_path / "new.jsonl", "-o", tmp_path / f"out.{suffix}")
    assert (code, out) == (0, ""), err
    assert "3 documents classified" in err
    text = None if suffix == "parquet" else (tmp_path / f"out.{suffix}").read_text()
    if suffix == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        found = [(row["id"], row["categories"].split(";"), row["category_1"]) for row in rows]
    elif suffix == "jsonl":
        rows = [json.loads(line) for line in text.splitlines()]
        found = [(row["id"], row["categories"], next(iter(row["scores"]))) for row in rows]
    else:
        rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
        found = [(row["id"], row["categories"], row["top"][0]["category"]) for row in rows]
    assert [row[0] for row in found] == ['a "b"', "c,d", "é"]
    assert found[0][1:] == (["grain"], "grain")
    assert found[1][1:] == (["crude"], "crude")


class Stdin:
    def __init__(self, content):
        self.buffer = io.BytesIO(content)

    def read(self):
        return self.buffer.read().decode()


@pytest.mark.parametrize("stream", [[], ["--stream"]])
@pytest.mark.parametrize("content", [b"corn\n\noil\n", b'{"text": "corn"}\n\n{"text": "oil"}'])
def test_classify_standard_input(run, model, monkeypatch, stream, content):
    monkeypatch.setattr("sys.stdin", Stdin(content))
    code, out, err = run("classify", model, "-", *stream)
    answers = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert [(answer["id"], answer["categories"]) for answer in answers] == [("1", ["grain"]), ("3", ["crude"])]


def test_bad_lines_are_refused_or_counted(run, model, tmp_path):
    bad = tmp_path / "bad.jsonl"
    good = "".join(json.dumps({"id": i, "text": "corn"}) + "\n" for i in range(5))
    bad.write_text(good + "not json\n" + good + '{"id": 6, "text": " "}\n{"id": 7}\n')
    code, out, err = run("classify", model, bad, "-o", tmp_path / "out.jsonl")
    assert (code, out) == (1, "")
    assert err.startswith(f"bayesift: {bad}:6: not JSON")
    assert not (tmp_path / "out.jsonl").exists()
    assert not list(tmp_path.glob(".out*"))
    code, out, err = run("classify", model, bad, "--skip-bad")
    assert (code, len(out.splitlines())) == (0, 10)
    assert "records skipped: 3" in err
    assert f"{bad}:12: empty document" in err
    assert f"{bad}:13: no column 'text'" in err


def test_evaluate(run, model, corpus, tmp_path):
    arguments = ("evaluate", model, corpus, "--text", "body", "--label", "desk")
    code, out, err = run(*arguments, "--report", tmp_path / "report.html")
    assert code == 0, err
    assert "12 documents" in out
    assert "trained on: the scores say little" in err
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    code, out, _ = run(*arguments, "--json")
    assert (code, json.loads(out)["n_documents"]) == (0, 12)


def test_compare_with_the_terms_of_each_category(run, topics):
    terms = ("--terms", 3, "--score-above", 0.1, "--per-category", "--threshold", "max-f1")
    code, out, err = run("compare", topics, "--models", "online-gp,online-gp-rbf,svm-linear,svm-rbf", *terms, "--json")
    assert (code, err) == (0, "")
    systems = json.loads(out)["systems"]
    assert [system["model"] for system in systems] == ["online-gp", "online-gp-rbf", "svm-linear", "svm-rbf"]


def test_soft_terms_for_the_online_perceptron(run, topics, tmp_path):
    code, _, err = run("fit", topics, "--model", "online-perceptron", "--soft", 5, "-o", tmp_path / "model")
    assert code == 0, err
    classifier = TextClassifier.load(tmp_path / "model")
    assert (classifier.selection_.soft, classifier.selection_.per_category) == (5.0, True)
    code, _, err = run("fit", topics, "--model", "online-perceptron", "--soft", -1, "-o", tmp_path / "other")
    assert (code, err.count("\n")) == (2, 1)
    assert "soft must be above 0" in err


def test_compare(run, topics, tmp_path):
    models = "naive-bayes, naive-bayes-dirichlet"
    arguments = ("compare", topics, "--models", models, "--threshold", "max-f1:shrinkage=2")
    code, out, err = run(*arguments, "--report", tmp_path / "report.html")
    assert code == 0, err
    assert "naive-bayes-dirichlet" in out
    assert "Significance" in out
    assert (tmp_path / "report.html").exists()
    first, second = (json.loads(run(*arguments, "--json", "--seed", 1)[1]) for _ in range(2))
    for systems in (first["systems"], second["systems"]):
        for system in systems:
            system.pop("fit_seconds")
    assert first == second


def test_compare_a_model_with_options_of_its_own(run, topics):
    def scores(*arguments):
        code, out, err = run("compare", topics, *arguments, "--json")
        assert (code, err) == (0, "")
        return {system["model"]: system["scores"] for system in json.loads(out)["systems"]}

    both = scores("--models", "svm,nbsvm,nbsvm:ngrams=2:weighting=tf")
    assert list(both) == ["svm", "nbsvm", "nbsvm:ngrams=2:weighting=tf"]
    alone = scores("--models", "nbsvm", "--ngrams", 2, "--weighting", "tf")
    assert both["nbsvm:ngrams=2:weighting=tf"] == alone["nbsvm"]


def test_explain_and_inspect(run, model, monkeypatch):
    code, out, err = run("explain", model, "corn by zeppelin")
    assert (code, err) == (0, "")
    assert "grain: assigned" in out
    assert "zeppelin" in out
    monkeypatch.setattr("sys.stdin", Stdin(b"crude oil"))
    code, out, _ = run("explain", model, "--json")
    assert json.loads(out)["categories"][0]["category"] == "crude"
    code, out, _ = run("explain", model, "corn", "--category", "crude", "--top", 1)
    assert "crude: not assigned" in out
    code, out, _ = run("inspect", model)
    assert "corn" in out
    code, out, _ = run("inspect", model, "--json")
    assert [row["category"] for row in json.loads(out)["categories"]] == ["crude", "grain"]


def test_models_are_listed(run):
    code, out, _ = run("models")
    assert code == 0
    assert "naive-bayes-jelinek-mercer" in out


def test_quiet_prints_nothing(run, corpus, tmp_path):
    assert run("fit", corpus, "-o", tmp_path / "m", "--text", "body", "--label", "desk", "-q") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["fit", "{corpus}", "-o", "{out}", "--model", "oracle"], 2, "no 'oracle'; there are: naive-bayes"),
        (["fit", "{corpus}", "-o", "{out}", "--model", "complement-naive-bayes"], 2, "cannot be saved, only compared"),
        (["fit", "{corpus}", "-o", "{out}", "--threshold", "coin"], 2, "no 'coin'"),
        (["fit", "{corpus}", "-o", "{out}", "--threshold", "max-f1:luck=1"], 2, "luck"),
        (["fit", "{corpus}", "-o", "{out}", "--threshold", "max-f1:shrinkage=much"], 2, "max-f1:shrinkage=much"),
        (["fit", "{corpus}", "-o", "{out}", "--weighting", "bm25"], 2, "no 'bm25'"),
        (["fit", "{corpus}", "-o", "{out}", "--label", "desk", "--stemmer", "klingon"], 2, "no stemmer 'klingon'"),
        (["fit", "{corpus}", "-o", "{out}", "--label", "nothing"], 1, "no column 'nothing'"),
        (["fit", "{corpus}", "-o", "{corpus}"], 1, "is a file"),
        (["fit", "{corpus}", "-o", "{out}"], 1, "no document has a category"),
        (["fit", "{corpus}"], 2, "output"),
        (["fit", "no-such-corpus", "-o", "{out}"], 2, "no corpus 'no-such-corpus'"),
        (["classify", "{corpus}", "{corpus}"], 1, "not a model file"),
        (["classify", "{nothing}", "{corpus}"], 1, "no such model"),
        (["classify", "{model}", "{nothing}.csv"], 1, "no such file"),
        (["classify", "{model}", "{corpus}", "-o", "out.xlsx"], 2, "must end in"),
        (["compare", "{corpus}", "--models", ","], 2, "names no model"),
        (["compare", "{corpus}", "--models", "svm:n-grams=2"], 2, "no option 'n_grams'"),
        (["compare", "{corpus}", "--models", "svm:ngrams=two"], 2, "ngrams cannot be 'two'"),
        (["explain", "{model}", "corn", "--category", "sport"], 1, "no category 'sport'"),
        (["explain", "{model}", "corn", "--top", "0"], 2, "--top"),
    ],
)
def test_mistakes_get_one_line(run, model, corpus, tmp_path, arguments, code, message):
    places = {"corpus": corpus, "out": tmp_path / "out", "model": model, "nothing": tmp_path / "nothing"}
    columns = ["--text", "body"] if arguments[0] in ("fit", "compare") else []
    found, out, err = run(*(argument.format(**places) for argument in arguments), *columns)
    assert (found, out, err.count("\n")) == (code, "", 1), err
    assert message in err


@pytest.mark.corpus("sms-spam/SMSSpamCollection")
def test_four_commands_on_messages(run, tmp_path):
    assert run("fit", "sms-spam", "-o", tmp_path / "spam", "-q")[0] == 0
    _, out, _ = run("evaluate", tmp_path / "spam", "sms-spam", "--json")
    assert json.loads(out)["accuracy"] > 0.98
    _, out, _ = run("explain", tmp_path / "spam", "win a free prize, call now")
    assert "spam: assigned" in out
