import pytest

from bayesift.corpora import load_rcv1, load_reuters_descriptions, load_trec9_topics
from bayesift.corpora.directory import data_directory, find
from bayesift.errors import CorpusNotFoundError, DataError
from bayesift.records import Document
from bayesift.tables.loading import DocumentList, ProblemLog


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


def test_refuses_or_counts():
    with pytest.raises(DataError, match="a:3: bad"):
        ProblemLog().report("bad", file="a", line=3)
    log = ProblemLog(skip=True)
    log.report("bad", file="a")
    assert [str(problem) for problem in log.problems] == ["a: bad"]


def test_an_id_that_occurs_twice_is_reported_with_both_lines(tmp_path):
    documents = DocumentList(tmp_path / "news.csv", ProblemLog())
    documents.add(Document("a", "wheat"), line=2)
    with pytest.raises(DataError, match=r"news.csv:5: duplicate id 'a', first on line 2"):
        documents.add(Document("a", "corn"), line=5)


@pytest.mark.parametrize(
    ("load", "corpus"),
    [
        (load_rcv1, "rcv1"),
        (load_reuters_descriptions, "reuters"),
        (load_trec9_topics, "ohsumed-trec9"),
    ],
)
def test_a_missing_file_names_the_command_that_fetches_it(tmp_path, load, corpus):
    command = f"put it there, or run: bayesift datasets fetch {corpus} --data-dir {tmp_path}"
    with pytest.raises(CorpusNotFoundError, match=f"is not in {tmp_path}; {command}"):
        load(tmp_path)
