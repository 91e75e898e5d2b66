"""Commands in this process, two small corpora, and models fitted to them once in a session."""

import contextlib
import csv
import io
import json

import pytest

from bayesift.cli import main

GRAIN = [
    "wheat and corn harvest",
    "corn exports rose",
    "wheat prices fell",
    "the corn crop",
    "barley and wheat",
    "oats",
]
CRUDE = [
    "crude oil prices",
    "oil tankers wait",
    "crude exports",
    "barrels of oil",
    "oil wells",
    "pipelines for crude",
]
WORDS = """
words:
  grain: {corn: 3, maise: 2}
descriptions:
  crude: Crude oil (CRUDE)
"""


@pytest.fixture
def run(capsysbinary):
    """Run a command; returns its exit code, stdout and stderr."""

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        captured = capsysbinary.readouterr()
        return ended.value.code or 0, captured.out.decode(), captured.err.decode()

    return run


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """A table with the columns body and desk."""
    path = tmp_path_factory.mktemp("corpus") / "news.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["body", "desk"])
        writer.writerows(
            [[text, "grain"] for text in GRAIN] + [[text, "crude"] for text in CRUDE]
        )
    return path


@pytest.fixture(scope="session")
def topics(tmp_path_factory):
    """JSON lines with one or two categories per text."""
    path = tmp_path_factory.mktemp("topics") / "topics.jsonl"
    records = [
        {"text": f"{g} {c}", "labels": ["grain", "crude"]}
        for g, c in zip(GRAIN, CRUDE, strict=True)
    ]
    records += [{"text": text, "labels": ["grain"]} for text in GRAIN]
    records += [{"text": text, "labels": ["crude"]} for text in CRUDE]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def fit(*arguments):
    """Run `bayesift fit`; returns stdout and stderr."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
        pytest.raises(SystemExit) as ended,
    ):
        main(["fit", *map(str, arguments)])
    assert not ended.value.code, err.getvalue()
    return out.getvalue(), err.getvalue()


@pytest.fixture(name="fit", scope="session")
def fit_command():
    """The function that runs `bayesift fit`."""
    return fit


@pytest.fixture(scope="session")
def model(corpus, tmp_path_factory):
    """A model of the table."""
    path = tmp_path_factory.mktemp("model") / "model.zip"
    out, err = fit(corpus, "-o", path, "--text", "body", "--label", "desk")
    assert err == ""
    assert "learned from 12 documents in 2 categories" in out
    return path


@pytest.fixture(scope="session")
def model_with_knowledge(topics, tmp_path_factory):
    """A linear model with knowledge of words and its posterior."""
    folder = tmp_path_factory.mktemp("knowledge")
    (folder / "words.yaml").write_text(WORDS)
    options = (
        "--model",
        "logistic-laplace",
        "--knowledge",
        folder / "words.yaml",
        "--posterior",
    )
    _, err = fit(topics, "-o", folder / "model.zip", *options)
    assert "knowledge: 3 words used, 1 not in the vocabulary: maise (grain)" in err
    return folder / "model.zip"
