import pytest

from bayesift.cli import main


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--database", "mysql://x/y"], "must be postgresql"),
        (["--database", "postgresql://127.0.0.1:1/x"], "the database cannot be opened"),
        (["--data", "/dev/null/nowhere"], "cannot be written"),
    ],
)
def test_what_cannot_be_opened_is_told_in_one_line(tmp_path, capsys, options, said):
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--data", str(tmp_path), *options])
    error = capsys.readouterr().err
    assert ended.value.code == 1
    assert said in error
    assert len(error.strip().splitlines()) == 1


def test_bad_use(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--port", "0"])
    assert ended.value.code == 2
