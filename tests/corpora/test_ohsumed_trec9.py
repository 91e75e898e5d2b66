import datetime
import io
import tarfile

import pytest

from bayesift.corpora import Topic, load_ohsumed_trec9, load_trec9_topics
from bayesift.errors import DataError

RECORD = (
    ".I {0}\n.U\n{0}\n.S\nHeart 8703; 1:2\n.M\nHuman.\n.T\nTitle {0}.\n.P\nREVIEW.\n.W\n"
    "Abstract.\n.A\nAnna A.\n"
)
TOPICS = (
    "<top>\n<num> Number: OHSU1\n<title> a man\n<desc> Description:\nwhat helps?\n</top>\n\n"
)
FILES = {
    "trec9-train/ohsumed.87": RECORD.format(1) + RECORD.format(2),
    "trec9-test/ohsumed.88-91": RECORD.format(3),
    "trec9-train/query.ohsu.1-63": TOPICS,
    "trec9-train/qrels.ohsu.batch.87": "OHSU1\t1\t2\nOHSU2\t1\t1\nOHSU1\t2\t0\n",
    "trec9-train/qrels.ohsu.adapt.87": "garbage that is not read\n",
    "trec9-test/qrels.ohsu.88-91": "OHSU1\t3\t1\n",
}


@pytest.fixture
def archive(tmp_path):
    with tarfile.open(tmp_path / "t9.filtering.tar.gz", "w:gz") as stream:
        for name, content in FILES.items():
            member = tarfile.TarInfo(f"ohsu-trec/{name}")
            member.size = len(content)
            stream.addfile(member, io.BytesIO(content.encode()))
    return tmp_path


def test_the_public_archive(archive):
    corpus = load_ohsumed_trec9(archive)
    assert [(d.id, d.split, d.categories) for d in corpus] == [
        ("1", "train", ("OHSU1", "OHSU2")),
        ("2", "train", ()),
        ("3", "test", ("OHSU1",)),
    ]
    first = corpus.documents[0]
    assert (first.title, first.text) == ("Title 1.", "Abstract.\nAnna A.\nHeart 8703; 1:2")
    assert first.date == datetime.datetime(1987, 3, 1)
    assert load_trec9_topics(archive) == (Topic("OHSU1", "a man", "what helps?"),)


def test_fields_of_the_text(archive):
    assert (
        load_ohsumed_trec9(archive, fields=["mesh", "publication"]).documents[0].text
        == "Human.\nREVIEW."
    )
    with pytest.raises(ValueError, match="no field 'title'"):
        load_ohsumed_trec9(archive, fields=["title"])


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (RECORD.format(1) + ".I 2\n.T\nNo number.\n", 16, r"no \.U"),
        ("stray\n" + RECORD.format(1), 1, r"no \.U"),
        (RECORD.format(1) + RECORD.format(1), 16, "duplicate id '1', first on line 1"),
    ],
)
def test_broken_records(write, tmp_path, content, line, message):
    write("ohsumed-trec9/ohsumed.87", content)
    with pytest.raises(DataError, match=message) as caught:
        load_ohsumed_trec9(tmp_path)
    assert caught.value.line == line
    assert caught.value.file.endswith("ohsumed.87")
    corpus = load_ohsumed_trec9(tmp_path, skip_bad=True)
    assert (corpus.ids, len(corpus.problems)) == (["1"], 1)


def test_bad_judgement_and_nothing_there(write, tmp_path):
    write("ohsumed-trec9/qrels.ohsu.88-91", "OHSU1 7\n")
    with pytest.raises(DataError, match="88-91:1: not a judgement"):
        load_ohsumed_trec9(tmp_path)
    with pytest.raises(DataError, match="holds no documents"):
        load_ohsumed_trec9(tmp_path, skip_bad=True)
    with pytest.raises(DataError, match="holds no query"):
        load_trec9_topics(tmp_path)


@pytest.mark.corpus("ohsumed-trec9/ohsumed.87.sample")
def test_the_sample(corpus_named):
    corpus = corpus_named("ohsumed-trec9")
    assert (len(corpus), corpus.splits, len(corpus.categories)) == (444, ("train",), 63)
    assert all(document.title and document.date for document in corpus)


@pytest.mark.corpus("ohsumed-trec9/query.ohsu.1-63")
def test_topics():
    topics = load_trec9_topics()
    assert [topic.number for topic in topics] == [f"OHSU{i}" for i in range(1, 64)]
    assert all(topic.title and topic.description for topic in topics)
