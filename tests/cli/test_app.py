import pytest

import bayesift
from bayesift.cli import main


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    captured = capsys.readouterr()
    return ended.value.code or 0, captured.out, captured.err


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"bayesift {bayesift.__version__}\n", "")


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["demo", "--nonsense"], ["datasets", "show"]]
)
def test_bad_use_is_one_line_and_code_2(capsys, arguments):
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("bayesift: ")


def test_no_arguments_shows_help(capsys):
    code, out, err = run(capsys)
    assert code == 2
    assert "Usage" in out
    assert err == ""


def test_interruption_is_one_line_and_code_130(capsys, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("bayesift.corpora.load_pydocs", interrupt)
    code, _, err = run(capsys, "demo")
    assert (code, err) == (130, "bayesift: interrupted\n")


def test_demo_shows_the_corpus_and_draws_a_picture(capsys, tmp_path):
    code, out, err = run(capsys, "demo", "--out", str(tmp_path))
    assert code == 0, err
    assert "documentation strings" in out
    assert (tmp_path / "zipf.svg").read_text().startswith("<svg ")


def test_completion_is_offered(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "--install-completion" in out
