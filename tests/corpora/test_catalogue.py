import pytest

import bayesift.corpora
from bayesift.corpora import CATALOGUE, find_entry, load
from bayesift.errors import CorpusNotFoundError, DataError, RequestError
from bayesift.tables import Columns


def test_every_entry_says_what_it_is():
    for entry in CATALOGUE.values():
        assert len(entry.description) <= 50
        assert entry.terms
        assert all(file.url.startswith(("https://", "http://")) for file in entry.files)
        assert all(file.sha256 is None or len(file.sha256) == 64 for file in entry.files)


def test_what_is_fetched_is_what_is_looked_for(tmp_path):
    for entry in CATALOGUE.values():
        assert not entry.files or {file.path for file in entry.files} & set(entry.paths)


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name != "pydocs"])
def test_missing_corpora_say_what_to_do(tmp_path, name):
    assert not CATALOGUE[name].is_present(tmp_path)
    with pytest.raises(CorpusNotFoundError, match="put it there") as caught:
        load(name, data_dir=tmp_path)
    fetched = (
        f"fetch {name.removesuffix('-labelled')}"  # a part of a corpus comes with the whole
    )
    assert (fetched in str(caught.value)) == bool(CATALOGUE[name].files)


def test_paths_by_their_kind(write, tmp_path):
    assert load(write("a.csv", "text,label\nx,y\n")).categories == ("y",)
    assert load(write("a.svm", "1 1:1\n")).categories == ("1",)
    write("folder/grain/1", "x")
    assert load(tmp_path / "folder").categories == ("grain",)


def test_unknown_names_and_kinds(write, tmp_path):
    with pytest.raises(RequestError, match="did you mean reuters"):
        load("Reuter")
    with pytest.raises(RequestError, match="no corpus 'xyzzy'; see"):
        find_entry("xyzzy")
    with pytest.raises(DataError, match="no such file or folder"):
        load(tmp_path / "a.csv")
    with pytest.raises(DataError, match="unknown kind of file"):
        load(write("a.docx", "x"))


@pytest.mark.parametrize(
    "option", [{"columns": Columns(text="x")}, {"separator": ";"}, {"encoding": "utf-8"}]
)
def test_options_that_do_not_apply(write, option):
    with pytest.raises(RequestError, match="takes no"):
        load("reuters", **option)
    with pytest.raises(RequestError, match="takes no"):
        load(write("a.svm", "1 1:1\n"), **option)


def test_exported_names_exist():
    assert all(hasattr(bayesift.corpora, name) for name in bayesift.corpora.__all__)
    assert list(bayesift.corpora.__all__) == sorted(bayesift.corpora.__all__)
