import json
from types import SimpleNamespace

import pytest

from bayesift.cli import main
from bayesift.corpora import catalogue
from bayesift.corpora.fetch import FetchedFile


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command; returns its exit code and what it printed."""
    monkeypatch.setenv("BAYESIFT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "80")

    def run_command(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["datasets", *map(str, arguments)])
        out, err = capsys.readouterr()
        return SimpleNamespace(code=ended.value.code or 0, out=out, err=err)

    return run_command


def test_list_fits_in_eighty_columns(run, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "reuters21578.tar.gz").touch()
    result = run("list")
    assert result.code == 0
    lines = result.out.splitlines()
    assert [line.split()[-1] for line in lines if line.startswith(("reuters ", "rcv1 "))] == [
        "yes",
        "no",
    ]
    assert max(map(len, lines[: len(catalogue.CATALOGUE) + 1])) <= 80


def test_show_json_is_one_object(run, write):
    path = write("a.csv", "text,label,split\nx,a;b,train\ny,a,test\nbad\n")
    result = run("show", path, "--json", "--separator", ";", "--skip-bad")
    summary = json.loads(result.out)
    assert (summary["documents"], summary["categories"], summary["skipped"]) == (2, 2, 1)
    assert result.err.splitlines() == [
        "records skipped: 1",
        f"  {path}:4: number of fields is 1; in the header it is 3",
    ]


def test_show_tables(run, write):
    rows = "".join(f"{'[red]' * i},news\n" for i in range(1, 4))
    result = run(
        "show",
        write("[b]a.csv", f"words,desk[1]\n{rows}"),
        "--text",
        "words",
        "--label",
        "desk[1]",
    )
    assert result.code == 0
    assert "[b]a.csv: 3 documents, 1 category" in result.out
    assert "(none)" in result.out
    assert result.err == ""


def test_only_the_first_problems_are_printed(run, write):
    result = run("show", write("a.csv", "text,b\nx,y\n" + "bad\n" * 9), "--skip-bad")
    assert result.err.splitlines()[0] == "records skipped: 9"
    assert result.err.splitlines()[-1] == "  and 4 more"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["show", "reuter"], 2, "did you mean reuters"),
        (["show", "reuters"], 1, "bayesift datasets fetch reuters"),
        (["show", "reuters", "--text", "x"], 2, "takes no columns"),
        (["show", "no/such.csv"], 1, "no/such.csv: no such file"),
        (["show"], 2, "Missing argument"),
        (["fetch", "reuter"], 2, "did you mean reuters"),
        (["fetch", "pydocs"], 2, "needs no download"),
        (["fetch", "rcv1-sample"], 2, "is not published"),
    ],
)
def test_bad_use_and_bad_data_end_in_a_line(run, arguments, code, message):
    result = run(*arguments)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        (
            "a.csv",
            "words\nx\n",
            ["--text", "body"],
            "a.csv:1: no column 'body'; there are: 'words'",
        ),
        ("a.jsonl", '{"text": "x"}\nx\n', [], "a.jsonl:2: not JSON"),
        ("a.csv", "text\nx\n", ["--encoding", "klingon"], "unknown encoding 'klingon'"),
        (
            "a.csv",
            b"text\ncaf\xe9\n",
            ["--encoding", "utf-8"],
            "a.csv:2: column 'text': cannot be decoded as utf-8",
        ),
        ("a.csv", "id,text\n1,x\n1,y\n", [], "a.csv:3: duplicate id '1', first on line 2"),
        ("a.csv", "id,text\n1,\n", [], "a.csv: holds no text: every document is empty"),
        (
            "a.jsonl",
            json.dumps({"text": "x" * 10_000_000}),
            [],
            "a.jsonl:1: column 'text': 10,000,000 characters",
        ),
        ("a.tar.gz", "no archive", [], "a.tar.gz: damaged"),
    ],
)
def test_bad_input_is_one_line(run, write, name, content, options, message):
    result = run("show", write(name, content), *options)
    assert (result.code, result.out) == (1, "")
    assert message in result.err
    assert result.err.count("\n") == 1
    assert result.err.count(name) <= 1


@pytest.mark.parametrize(
    ("downloaded", "verified", "message"),
    [
        (True, True, "fetched; SHA-256 as published"),
        (False, False, "already there; SHA-256 abc is not the published one"),
        (True, None, "no published checksum; SHA-256 is abc"),
    ],
)
def test_fetch_reports_what_it_did(run, monkeypatch, tmp_path, downloaded, verified, message):
    def fetch(files, directory, progress):
        progress(files[0], 5, 10)
        progress(files[0], 10, 10)
        assert directory == tmp_path / "data"
        return [FetchedFile(directory / files[0].path, "abc", downloaded, verified)]

    monkeypatch.setattr("bayesift.corpora.fetch", fetch)
    result = run("fetch", "sms-spam")
    assert result.code == 0
    assert message in result.out
    assert "terms of use: free" in result.out


@pytest.mark.corpus("sms-spam/SMSSpamCollection")
def test_show_of_a_public_corpus(capsys):
    with pytest.raises(SystemExit):
        main(["datasets", "show", "sms-spam", "--json"])
    assert json.loads(capsys.readouterr().out)["documents"] == 5_574
