import pytest

from bayesift.datasets.directory import data_directory, find
from bayesift.errors import CorpusNotFoundError


def test_argument_goes_before_variable_before_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESIFT_DATA", str(tmp_path / "variable"))
    assert data_directory(tmp_path / "argument") == tmp_path / "argument"
    assert data_directory() == tmp_path / "variable"
    monkeypatch.setenv("BAYESIFT_DATA", "")
    assert data_directory().name == "bayesift"


def test_find_takes_the_first_there(tmp_path):
    (tmp_path / "b").touch()
    (tmp_path / "c").touch()
    assert find("x", ["a", "b", "c"], tmp_path) == tmp_path / "b"


def test_missing_corpus_names_file_place_and_command(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESIFT_DATA", str(tmp_path))
    with pytest.raises(CorpusNotFoundError) as caught:
        find("reuters", ["reuters21578.tar.gz"])
    message = str(caught.value)
    assert message.endswith("or run: bayesift datasets fetch reuters")
    assert "reuters21578.tar.gz" in message
    assert str(tmp_path) in message
    assert "\n" not in message
    with pytest.raises(CorpusNotFoundError, match=r"put it there$"):
        find("rcv1-sample", ["rcv1-sample"], fetchable=False)
