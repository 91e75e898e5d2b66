"""The main job by its commands, on a small corpus of our own, as a new user would do it."""

import csv
import io
import json
import re

import pyarrow.parquet as pq
import pytest

from bayesift.classifier import TextClassifier
from bayesift.cli.evaluate import DEFAULT_MODELS, _train_and_test
from bayesift.cli.options import split_names
from bayesift.records import Corpus, Document


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
        '{"id": "a \\"b\\"", "text": "corn"}\n{"id": "c,d", "text": "oil"}\n{"id": "é\\n", '
        '"text": "crude wheat"}\n'
    )
    code, out, err = run(
        "classify", model, tmp_path / "new.jsonl", "-o", tmp_path / f"out.{suffix}"
    )
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
    assert [(answer["id"], answer["categories"]) for answer in answers] == [
        ("1", ["grain"]),
        ("3", ["crude"]),
    ]


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
    answers = [json.loads(line) for line in out.splitlines()]
    assert (code, len(answers)) == (0, 11)
    assert (answers[-1]["id"], answers[-1]["categories"]) == ("6", [])
    assert "records skipped: 2" in err
    assert f"{bad}:13: no column 'text'" in err
    assert "documents without text: 1; they have no category" in err


@pytest.mark.parametrize("options", [[], ["--stream"], ["--abstain", 0]])
def test_a_document_without_text_keeps_its_row_and_has_no_category(run, model, write, options):
    if "--stream" in options:
        text = write("a.jsonl", '{"body": "corn"}\n{"body": ""}\n{"body": "oil"}\n')
    else:
        text = write("a.csv", 'id,body\n1,corn\n2,"  "\n3,oil\n')
    code, out, err = run("classify", model, text, "--text", "body", *options)
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [answer["categories"] for answer in answers] == [["grain"], [], ["crude"]]
    assert sum(answers[1]["scores"].values()) == pytest.approx(1)
    assert "documents without text: 1; they have no category" in err


def test_the_sheet_that_a_model_knows_is_classified_and_never_the_cover(run, model, tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.title = "Cover"
    for row in [("text", "label"), ("all about this report", "x"), ("and more of it", "x")]:
        book.active.append(row)
    sheet = book.create_sheet("Data")
    for row in [("Body", "n"), ("corn", 1), ("oil", 2)]:
        sheet.append(row)
    book.save(tmp_path / "new.xlsx")
    code, out, err = run("classify", model, tmp_path / "new.xlsx")
    answers = [json.loads(line) for line in out.splitlines()]
    assert (code, [answer["categories"] for answer in answers]) == (0, [["grain"], ["crude"]])
    assert "sheet: 'Data'" in err


@pytest.mark.parametrize("command", ["fit", "evaluate", "compare"])
def test_documents_without_text_are_left_out_counted_and_said(
    run, model, corpus, write, tmp_path, command
):
    path = write("holes.csv", corpus.read_text() + ",grain\n ,crude\n")
    arguments = {
        "fit": [path, "-o", tmp_path / "m.zip", "--model", "naive-bayes"],
        "evaluate": [model, path],
        "compare": [path, "--models", "naive-bayes"],
    }
    code, _, err = run(command, *arguments[command], "--text", "body", "--label", "desk")
    assert code == 0, err
    assert "documents without text, left out: 2\n" in err
    assert f"{path}:14: empty document" in err


def test_evaluate(run, model, corpus, tmp_path):
    arguments = ("evaluate", model, corpus, "--text", "body", "--label", "desk")
    code, out, err = run(*arguments, "--report", tmp_path / "report.html")
    assert code == 0, err
    assert "12 documents" in out
    assert "trained on these documents, so the scores are too good" in err
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    code, out, _ = run(*arguments, "--json")
    assert (code, json.loads(out)["n_documents"]) == (0, 12)


def test_compare_with_the_terms_of_each_category(run, topics):
    terms = ("--terms", 3, "--score-above", 0.1, "--per-category", "--threshold", "max-f1")
    code, out, err = run(
        "compare",
        topics,
        "--models",
        "online-gp,online-gp-rbf,svm-linear,svm-rbf",
        *terms,
        "--json",
    )
    assert (code, err) == (0, "")
    systems = json.loads(out)["systems"]
    assert [system["model"] for system in systems] == [
        "online-gp",
        "online-gp-rbf",
        "svm-linear",
        "svm-rbf",
    ]


def test_soft_terms_for_the_online_perceptron(run, topics, tmp_path):
    code, _, err = run(
        "fit", topics, "--model", "online-perceptron", "--soft", 5, "-o", tmp_path / "model"
    )
    assert code == 0, err
    classifier = TextClassifier.load(tmp_path / "model")
    assert (classifier.selection_.soft, classifier.selection_.per_category) == (5.0, True)
    code, _, err = run(
        "fit", topics, "--model", "online-perceptron", "--soft", -1, "-o", tmp_path / "other"
    )
    assert (code, err.count("\n")) == (2, 1)
    assert "soft must be above 0" in err


def test_compare(run, topics, tmp_path):
    models = "naive-bayes, naive-bayes-dirichlet"
    arguments = ("compare", topics, "--models", models, "--threshold", "max-f1:shrinkage=2")
    code, out, err = run(*arguments, "--report", tmp_path / "report.html")
    assert code == 0, err
    assert "naive-bayes-dirichlet" in out
    assert "Significance" in out
    assert "Best micro F1: naive-bayes" in " ".join(out.split())
    assert (tmp_path / "report.html").exists()
    first, second = (json.loads(run(*arguments, "--json", "--seed", 1)[1]) for _ in range(2))
    for systems in (first["systems"], second["systems"]):
        for system in systems:
            system.pop("fit_seconds")
    assert first == second


def test_compare_the_default_models(run, corpus):
    arguments = ("compare", corpus, "--text", "body", "--label", "desk")
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    for name in split_names(DEFAULT_MODELS):
        assert f"\n{name} " in out
    said = " ".join(out.split())
    assert "9 documents to train on, 3 to test" in said
    assert "Best accuracy: " in said
    assert "no significant difference to the others." in said
    found = json.loads(run(*arguments, "--json")[1])
    measured = {system["model"]: system["scores"] for system in found["systems"]}
    assert measured[found["best"]["model"]]["accuracy"] == max(
        scores["accuracy"] for scores in measured.values()
    )
    assert len(found["best"]["no_significant_difference"]) == len(measured) - 1
    assert "top_label_calibration_error_width" in measured["naive-bayes"]["probabilities"]


def test_unknown_labels_are_said(run, model, write):
    held_out = write(
        "held-out.csv",
        "body,desk\ncorn and wheat,grain\ncrude oil,oil\nbarrels,oil\noats,cereal\n",
    )
    arguments = ("evaluate", model, held_out, "--text", "body", "--label", "desk")
    code, out, err = run(*arguments)
    assert code == 0
    said = (
        "3 of 4 documents have labels the model does not know: 'oil' (2), 'cereal' (1); they "
        "count as errors\n"
    )
    assert err == said
    assert "accuracy 0.2500" in out
    found = json.loads(run(*arguments, "--json")[1])
    assert (found["unknown_labels"], found["n_unknown_documents"]) == (
        {"oil": 2, "cereal": 1},
        3,
    )
    report = held_out.with_name("report.html")
    run(*arguments, "--report", report)
    assert "3 of 4 documents have labels the model does not know" in report.read_text()


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


def test_models_of_files_of_the_same_name_are_told_apart(run, write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"text": f"{word} {k}", "label": word} for k in range(6) for word in ("corn", "oil")
    ]
    files = [
        write("q.jsonl", "".join(json.dumps(row) + "\n" for row in rows)),
        write(
            "q.csv", "text,label\n" + "".join(f"{row['text']},{row['label']}\n" for row in rows)
        ),
    ]
    for path in files:
        assert run("fit", path, "--model", "naive-bayes")[0] == 0
    assert sorted(path.name for path in tmp_path.glob("*.model.zip")) == [
        "q.jsonl.model.zip",
        "q.model.zip",
    ]


def test_settings_of_a_learner_are_listed_and_set(run, corpus, tmp_path):
    code, out, _ = run("models", "logistic-laplace")
    assert code == 0
    assert "exp(-sqrt(gamma) |beta - mode|)" in out
    assert re.search(r"^gamma +0\.04 +prior +the square", out, re.MULTILINE)
    saved = tmp_path / "one.zip"
    settings = ["--set", "gamma=2.5", "--set", "link=probit", "--drop-frequent", "2"]
    run(
        "fit",
        corpus,
        "-o",
        saved,
        "--text",
        "body",
        "--label",
        "desk",
        "--model",
        "logistic-laplace",
        *settings,
    )
    classifier = TextClassifier.load(saved)
    assert (classifier.model.prior.gamma, classifier.model.link) == (2.5, "probit")
    assert classifier.vectorizer.drop_frequent == 2


def test_settings_and_options_follow_the_name_of_a_learner(run, corpus):
    models = "svm:C=0.1:drop-frequent=1,svm:drop-frequent=0.1"
    code, out, err = run(
        "compare", corpus, "--text", "body", "--label", "desk", "--models", models, "-q"
    )
    assert (code, err) == (0, "")
    assert all(name in out for name in models.split(","))


def test_models_are_listed(run):
    code, out, _ = run("models")
    assert code == 0
    assert "naive-bayes-jelinek-mercer" in out


def test_fit_names_the_model_after_the_file_and_says_what_comes_next(
    run, corpus, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("fit", corpus, "--text", "body", "--label", "desk")
    assert code == 0, err
    assert (tmp_path / "news.model.zip").is_file()
    assert out.endswith("next: bayesift classify news.model.zip NEW_TEXTS -o answers.csv\n")
    code, _, err = run(
        "classify",
        "news.model.zip",
        corpus,
        "--text",
        "body",
        "--abstain",
        "1",
        "-o",
        "answers.csv",
    )
    assert code == 0
    assert err.endswith("answers.csv: 12 documents classified, 12 of them unsure\n")


def test_quiet_prints_nothing(run, corpus, tmp_path):
    assert run(
        "fit", corpus, "-o", tmp_path / "m", "--text", "body", "--label", "desk", "-q"
    ) == (
        0,
        "",
        "",
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["fit", "{corpus}", "-o", "{out}", "--model", "oracle"],
            2,
            "no 'oracle'; there are: ",
        ),
        (
            ["fit", "{corpus}", "-o", "{out}", "--model", "complement-naive-bayes"],
            2,
            "cannot be saved, only compared",
        ),
        (["fit", "{corpus}", "-o", "{out}", "--threshold", "coin"], 2, "no 'coin'"),
        (["fit", "{corpus}", "-o", "{out}", "--threshold", "max-f1:luck=1"], 2, "luck"),
        (
            ["fit", "{corpus}", "-o", "{out}", "--threshold", "max-f1:shrinkage=much"],
            2,
            "max-f1:shrinkage=much",
        ),
        (["fit", "{corpus}", "-o", "{out}", "--weighting", "bm25"], 2, "no 'bm25'"),
        (
            ["fit", "{corpus}", "-o", "{out}", "--label", "desk", "--stemmer", "klingon"],
            2,
            "no stemmer 'klingon'",
        ),
        (
            ["fit", "{corpus}", "-o", "{out}", "--label", "desk", "--analyzer", "charr"],
            2,
            "did you mean 'char'",
        ),
        (
            ["fit", "{corpus}", "-o", "{out}", "--label", "desk", "--unspaced", "no"],
            2,
            "there are: ngrams, words",
        ),
        (["fit", "{corpus}", "-o", "{out}", "--label", "nothing"], 1, "no column 'nothing'"),
        (["fit", "{corpus}", "-o", "{corpus}"], 1, "is a file"),
        (
            ["fit", "{unlabelled}", "-o", "{out}", "--label", "desk"],
            1,
            "no document has a category",
        ),
        (["fit", "no-such-corpus", "-o", "{out}"], 2, "no corpus 'no-such-corpus'"),
        (["classify", "{corpus}", "{corpus}"], 1, "not a model file"),
        (["classify", "{nothing}", "{corpus}"], 1, "no such model"),
        (["classify", "{model}", "{nothing}.csv"], 1, "no such file"),
        (["classify", "{model}", "{corpus}", "-o", "out.docx"], 2, "must end in"),
        (["compare", "{corpus}", "--models", ","], 2, "names no model"),
        (["compare", "{corpus}", "--models", "svm:n-grams=2"], 2, "no setting 'n_grams'"),
        (["compare", "{corpus}", "--models", "svm:2"], 2, "'2' is not NAME=VALUE"),
        (["compare", "{corpus}", "--models", "svm:PANEL=2"], 2, "no setting 'PANEL'"),
        (["fit", "{corpus}", "--model", "svm", "--effort", "quick"], 2, "auto does"),
        (["fit", "{corpus}", "--model", "svm", "--set", "C"], 2, "'C' is not NAME=VALUE"),
        (["fit", "{corpus}", "--model", "svm", "--set", "D=1"], 2, "svm: no setting 'D'"),
        (
            ["fit", "{corpus}", "--model", "logistic-laplace", "--set", "gamma=-1"],
            2,
            "gamma must be positive",
        ),
        (["models", "naive-bays"], 2, "did you mean 'naive-bayes'"),
        (["compare", "{corpus}", "--models", "svm:ngrams=two"], 2, "ngrams cannot be 'two'"),
        (["compare", "{corpus}", "--models", "naive-bays"], 2, "did you mean 'naive-bayes'"),
        (["evaluate", "{model}", "{unlabelled}"], 1, "no document has a label"),
        (
            ["evaluate", "{model}", "{strange}", "--label", "desk"],
            1,
            "the model knows none of the labels ('a', 'b', ...)",
        ),
        (["explain", "{model}", "corn", "--category", "sport"], 1, "no category 'sport'"),
        (["explain", "{model}", "corn", "--top", "0"], 2, "--top"),
        (["explain", "{corpus}", "corn"], 1, "not a model file; `bayesift fit` saves one"),
        (["fit", "{corpus}", "-o", "{out}", "--model", "SVM"], 2, "did you mean 'svm'"),
        (["fit", "{corpus}", "-o", "{out}", "--jobs", "-2"], 2, "--jobs"),
        (["fit", "{corpus}", "-o", "{nowhere}/model"], 1, "cannot be written"),
        (["fit", "{corpus}", "-o", "{archive}"], 1, "is a file with something else in it"),
        (["classify", "{model}", "{table}", "-o", "{table}"], 2, "is the input"),
        (["evaluate", "{model}", "{corpus}", "--report", "{table}"], 2, "must end in .html"),
        (
            ["evaluate", "{model}", "{corpus}", "--report", "{nowhere}/report.html"],
            1,
            "cannot be written",
        ),
        (
            ["compare", "{corpus}", "--label", "desk", "--test-folds", "100"],
            2,
            "12 texts that do not repeat others are too few for",
        ),
        (["fitt", "{corpus}"], 2, "Did you mean 'fit'"),
        (["fit"], 2, "Missing argument 'CORPUS'; see bayesift fit --help"),
        (["classify", "{model}", "corn and oil"], 1, "pipe it in"),
        (["explain", "{model}", " "], 2, "the text is empty"),
    ],
)
def test_mistakes_get_one_line(run, model, corpus, write, tmp_path, arguments, code, message):
    places = {
        "corpus": corpus,
        "out": tmp_path / "out",
        "model": model,
        "nothing": tmp_path / "nothing",
    }
    places["unlabelled"] = write(
        "unlabelled.csv", "body,desk\nwheat and corn,\nbarrels of oil,\n"
    )
    places["strange"] = write("strange.csv", "body,desk\ncorn,a\noil,b\n")
    places["table"] = write("table.csv", "text\ncorn\n")
    places["archive"] = write("texts.zip", b"PK")
    places["nowhere"] = places["table"] / "folder"
    columns = ["--text", "body"] if arguments[0] in ("fit", "compare", "evaluate") else []
    columns += ["--label", "desk"] if columns and "--label" not in arguments else []
    found, out, err = run(*(argument.format(**places) for argument in arguments), *columns)
    assert (found, out, err.count("\n")) == (code, "", 1), err
    assert message in err
    assert places["table"].read_text() == "text\ncorn\n"


BLANK = "".join(f"wheat and corn {k},grain\noil and gas {k},crude\n" for k in range(6))
BLANK += "a stray text,\nand another one,\n"


def test_rows_without_a_label_are_left_out_and_said_once(run, write, tmp_path):
    path = write("blank.csv", f"text,label\n{BLANK}")
    code, out, err = run("fit", path, "-o", tmp_path / "m")
    assert (code, err) == (
        0,
        (
            "bayesift: 2 texts without a label left out; --multilabel keeps them as texts of no "
            "category\n"
        ),
    )
    assert "12 documents" in out
    code, out, err = run("fit", path, "-o", tmp_path / "m", "--multilabel")
    assert "14 documents" in out
    code, out, err = run("compare", path, "--models", "naive-bayes,svm", "--test-folds", "2")
    assert err.count("without a label left out") == 1


@pytest.mark.parametrize("command", ["fit", "classify", "evaluate"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_a_table_on_standard_input(run, model, monkeypatch, tmp_path, command, encoding):
    content = (
        "Desk;Body\ngrain;wheat, corn, é\ncrude;crude oil\ngrain;barley, wheat\ncrude;oil "
        "wells\n"
    )
    monkeypatch.setattr("sys.stdin", Stdin(content.encode(encoding)))
    given = {
        "fit": ["-", "-o", tmp_path / "m"],
        "classify": [model, "-"],
        "evaluate": [model, "-"],
    }[command]
    code, out, err = run(command, *given)
    assert code == 0, err
    assert "4 documents" in out or out.count('"categories"') == 4
    # A model knows its columns.
    guessed = ["--delimiter"] + ["--text", "--label"] * (command == "fit")
    assert err.startswith("stdin: ")
    assert all(option in err for option in guessed + ["--encoding"] * (encoding != "utf-8"))


@pytest.mark.corpus("sms-spam/SMSSpamCollection")
def test_four_commands_on_messages(run, tmp_path):
    assert run("fit", "sms-spam", "-o", tmp_path / "spam", "-q")[0] == 0
    _, out, _ = run("evaluate", tmp_path / "spam", "sms-spam", "--json")
    assert json.loads(out)["accuracy"] > 0.98
    _, out, _ = run("explain", tmp_path / "spam", "win a free prize, call now")
    assert "spam: assigned" in out


def test_fit_out_of_core(run, corpus, topics, tmp_path, monkeypatch):
    monkeypatch.setattr("bayesift.tables.arrow.BLOCK_BYTES", 64)
    place = tmp_path / "model.zip"
    monkeypatch.setattr("sys.stdin", Stdin(corpus.read_bytes()))
    code, out, err = run(
        "fit", "-", "--text", "body", "--label", "desk", "--out-of-core", "-o", place
    )
    assert code == 0, err
    assert "naive-bayes, learned from 12 documents in 2 categories" in out
    assert TextClassifier.load(place).predict(["corn", "oil"]).tolist() == ["grain", "crude"]
    code, _, err = run(
        "fit", topics, "--out-of-core", "--model", "online-perceptron", "-o", place
    )
    assert (code, "several labels" in err) == (1, True)
    code, out, err = run("fit", topics, "--multilabel", "--out-of-core", "-o", place)
    assert "18 documents" in out
    code, _, err = run("fit", topics, "--out-of-core", "--model", "svm", "-o", place)
    assert (code, "needs all documents at once" in err) == (2, True)


def test_compare_holds_repeated_texts_out_together():
    documents = []
    for number in range(48):
        text = f"word{number % 12} corn{number % 12} price{number % 12}"
        category = "grain" if number % 2 else "crude"
        documents.append(Document(str(number), text, categories=(category,)))
    corpus = Corpus(tuple(documents), ("crude", "grain"))
    train, test = _train_and_test(corpus, 4, 0, multilabel=False)
    assert len(train) == 36
    assert not set(train.texts) & set(test.texts)


def test_compare_refuses_texts_that_are_all_the_same(run, write):
    path = write("same.csv", "text,label\n" + "corn prices,grain\noil prices,crude\n" * 10)
    code, _, err = run("compare", path, "--models", "naive-bayes")
    assert (code, err.count("\n")) == (2, 1)
    assert "2 texts that do not repeat others are too few for 4 folds" in err
    code, _, err = run("compare", path, "--models", "naive-bayes", "--test-folds", 2)
    assert (code, err.count("\n")) == (2, 1)
    assert "no text can be held out" in err
