"""A file is looked at once and read once in a command, whatever its kind and size."""

import gzip
import json
import sys

import pytest

from bayesift.tables import loading, reader

WORDS = {"grain": "wheat corn harvest tonnes", "crude": "oil barrel opec tanker"}
_opened: list[str] | None = None


def _note_open(event, arguments):
    if event == "open" and _opened is not None:
        _opened.append(str(arguments[0]))


sys.addaudithook(_note_open)  # sees every open of Python: of builtins, io, os and pathlib


@pytest.fixture
def opened(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "_opened", [])
    return _opened


@pytest.fixture
def guesses(monkeypatch):
    counts = {"dialect": 0, "encoding": 0}

    def counted(name, function):
        def guess(*arguments, **options):
            counts[name] += 1
            return function(*arguments, **options)

        return guess

    monkeypatch.setattr(reader, "guess_dialect", counted("dialect", reader.guess_dialect))
    monkeypatch.setattr(loading, "guess_encoding", counted("encoding", loading.guess_encoding))
    return counts


def rows(n):
    labels = list(WORDS)
    return [(f"{WORDS[labels[i % 2]]} note{i}", labels[i % 2]) for i in range(n)]


def as_csv(n, delimiter=","):
    lines = [delimiter.join(row) for row in [("text", "label"), *rows(n)]]
    return "\n".join(lines).encode() + b"\n"


def as_json_lines(n):
    return "".join(json.dumps({"text": t, "label": c}) + "\n" for t, c in rows(n)).encode()


@pytest.mark.parametrize(
    ("name", "content", "opens", "dialects"),
    [
        ("my.csv", as_csv(60), 1, 1),
        ("my.csv", as_csv(8000), 2, 1),
        ("my.csv", as_csv(60, ";"), 1, 1),
        ("my.csv.gz", gzip.compress(as_csv(8000)), 2, 1),
        ("my.txt", as_csv(60, "\t"), 1, 1),
        ("my.jsonl", as_json_lines(60), 1, 0),
        ("my.jsonl", as_json_lines(6000), 2, 0),
        ("my.json", json.dumps([{"text": t, "label": c} for t, c in rows(60)]).encode(), 1, 0),
    ],
    ids=["small", "large", "semicolons", "gz", "txt", "lines", "many lines", "json"],
)
def test_fit_opens_its_file_at_most_twice(
    run, tmp_path, opened, guesses, name, content, opens, dialects
):
    path = tmp_path / name
    path.write_bytes(content)
    del opened[:]
    code, _, error = run("fit", path, "-o", tmp_path / "model", "--model", "naive-bayes")
    assert code == 0, error
    assert sum(each == str(path) for each in opened) == opens
    assert guesses == {"dialect": dialects, "encoding": 1}


def test_classify_opens_its_file_at_most_twice(run, tmp_path, opened, guesses):
    (tmp_path / "my.csv").write_bytes(as_csv(60))
    run("fit", tmp_path / "my.csv", "-o", tmp_path / "model", "--model", "naive-bayes")
    path = tmp_path / "new.csv"
    path.write_bytes(as_csv(8000))
    del opened[:]
    guesses.update(dialect=0, encoding=0)
    code, _, error = run("classify", tmp_path / "model", path, "-o", tmp_path / "answers.csv")
    assert code == 0, error
    assert sum(each == str(path) for each in opened) == 2
    assert guesses == {"dialect": 1, "encoding": 1}
