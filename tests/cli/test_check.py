import json

import pytest

CONTENT = "Body;desk\n" + "".join(
    f"the {'wheat' if k % 2 else 'oil'} <br> price "
    f"{k};{'grain' if k % 2 else 'crude|fuel' if k % 4 else 'crude'}\n"
    for k in range(60)
)


def test_check_prints_what_was_found_and_what_to_do(run, write):
    code, out, err = run("check", write("news.csv", CONTENT + ";crude\na;b;c\n"))
    assert (code, err) == (0, "")
    assert out.startswith("news.csv: 60 documents, 3 labels\n")
    assert max(map(len, out.splitlines())) <= 80
    for word in (
        "error",
        "--skip-bad",
        "warning",
        "--separator '|'",
        "--strip-html",
        "note",
        "--delimiter",
        "--label",
    ):
        assert word in out, word


def test_check_as_json(run, write):
    code, out, _ = run("check", write("news.csv", CONTENT), "--json", "--separator", "|")
    found = json.loads(out)
    assert (code, found["documents"], found["categories"]) == (0, 60, 3)
    assert [finding["name"] for finding in found["findings"]] == [
        "html",
        "guessed-delimiter",
        "guessed-text",
        "guessed-label",
    ]


def test_a_clean_corpus(run, write):
    rows = "".join(
        f"the {'wheat' if k % 2 else 'oil'} price {k},{'grain' if k % 2 else 'crude'}\n"
        for k in range(60)
    )
    assert run("check", write("a.csv", f"text,label\n{rows}"))[1].endswith(
        "no problems found\n"
    )


@pytest.mark.parametrize("content", ["", "wheat\n"])
def test_a_file_that_cannot_be_read(run, write, content):
    code, out, err = run("check", write("a.txt", content))
    assert (code, out, err.count("\n")) == (1, "", 1)


def test_fit_says_the_important_findings(run, write, tmp_path):
    path = write("news.csv", CONTENT)
    code, _, err = run("fit", path, "-o", tmp_path / "m", "--model", "naive-bayes")
    assert code == 0
    assert f"{path}: 1 of 3 labels look like several: 'crude|fuel'; --separator '|'\n" in err
    assert "--strip-html" in err
    assert len(err.splitlines()) == 3
    assert (
        "HTML"
        not in run("fit", path, "-o", tmp_path / "m", "--model", "naive-bayes", "--strip-html")[
            2
        ]
    )
    assert run("fit", path, "-o", tmp_path / "m", "--model", "naive-bayes", "-q")[2] == ""


def test_records_of_a_review_are_for_the_command_that_screens_them(run, write):
    path = write(
        "refs.ris",
        "".join(f"TY  - JOUR\nTI  - Triptans in migraine {k}\nER  - \n" for k in range(3)),
    )
    code, out, _ = run("check", path, "--json")
    findings = {finding["name"]: finding for finding in json.loads(out)["findings"]}
    assert code == 0
    assert findings["records"]["message"] == "bibliographic records (ris)"
    assert all(
        "bayesift screen refs.ris" in findings[name]["cure"]
        for name in ("records", "no-labels")
    )
    code, _, err = run("fit", path)
    assert code == 1
    assert "bayesift screen" in err.splitlines()[-1]
