import json

import pytest

from papers.__main__ import main


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    captured = capsys.readouterr()
    return ended.value.code or 0, captured.out, captured.err


def test_experiments_are_listed(capsys):
    code, out, _ = run(capsys, "--list")
    assert code == 0
    assert "sparse-bayes:table-3" in out
    assert "leaderboard:sms-spam" in out


@pytest.mark.parametrize("names", [["sparse-bayes:table-33"], []])
def test_bad_names_are_refused_in_a_line(capsys, names):
    code, _, err = run(capsys, *names)
    assert code == 2
    assert len(err.strip().splitlines()) == 1


def test_two_runs_write_the_same_json(capsys, tmp_path):
    names = ["sparse-bayes:figure-1", "sparse-bayes:figure-3", "online:figure-1"]
    texts = []
    for folder in ("a", "b"):
        code, out, _ = run(
            capsys,
            *names,
            "--quick",
            "--json",
            "--jobs",
            "1",
            "--quiet",
            "--out",
            str(tmp_path / folder),
        )
        assert code == 0
        assert (tmp_path / folder / "results-quick.json").read_text() == out
        texts.append(out)
    assert texts[0] == texts[1]
    assert [each["name"] for each in json.loads(texts[0])["experiments"]] == names


@pytest.mark.corpus("reuters21578.tar.gz")
def test_a_quick_table_with_its_report(capsys, tmp_path):
    report, page = tmp_path / "report.html", tmp_path / "results.md"
    where = [
        "--jobs",
        "1",
        "--quiet",
        "--out",
        str(tmp_path / "out"),
        "--report",
        str(report),
        "--markdown",
        str(page),
    ]
    code, out, _ = run(
        capsys, "sparse-bayes:table-1", "sparse-bayes:figure-2", "--quick", *where
    )
    assert code == 0
    assert "48 not comparable" in out
    assert "boxes" not in out
    assert "Box plots of Table 1" in report.read_text()
    assert (tmp_path / "results" / "sparse-bayes-figure-2.svg").exists()
    again, out_again, err = run(
        capsys, "sparse-bayes:table-1", "sparse-bayes:figure-2", "--quick", *where
    )
    assert (again, out_again) == (0, out)
    assert "4 of them done before" in err
