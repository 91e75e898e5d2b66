import pytest

import bayesift
from bayesift.cli import main
from bayesift.cli.app import _SYNONYMS, app


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


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("train", "fit"),
        ("Predict", "classify"),
        ("test", "evaluate"),
        ("label", "classify"),
        ("web", "serve"),
        ("download", "datasets fetch"),
        ("help", "--help"),
        ("evalute", "'evaluate'"),
        ("clasify", "'classify'"),
    ],
)
def test_a_command_that_does_not_exist_is_answered_with_one_that_does(capsys, typed, meant):
    code, out, err = run(capsys, typed, "reviews.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"bayesift: No such command '{typed}'. Did you mean")
    assert meant in err


def test_what_is_meant_exists_and_no_command_is_hidden():
    names = [command.name or command.callback.__name__ for command in app.registered_commands]
    names += [group.typer_instance.info.name for group in app.registered_groups]
    meant = {command.partition(" ")[0] for command in _SYNONYMS.values()}
    assert meant <= {*names, "--help", "--version"}
    assert not set(names) & _SYNONYMS.keys()


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
