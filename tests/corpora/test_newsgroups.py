import pytest
from sklearn.datasets import _twenty_newsgroups as theirs

from bayesift.corpora import load_newsgroups
from bayesift.corpora.newsgroups import strip_parts
from bayesift.errors import DataError

ARTICLE = (
    "From: a@b\nSubject: Re: x\n\nIn article <1> b writes:\n> Really?\nYes, "
    "na\xefve.\n\n--\nAnna\n"
)


@pytest.fixture
def sample(write, tmp_path):
    for split in ("train", "test"):
        write(
            f"20news-bydate/20news-bydate-{split}/comp.sys.mac/{split}7",
            ARTICLE.encode("latin-1"),
        )
    return tmp_path


def test_text_is_the_whole_file(sample):
    corpus = load_newsgroups(sample)
    assert {d.split for d in corpus} == {"train", "test"}
    assert corpus.documents[0].text == ARTICLE
    assert corpus.documents[0].categories == ("comp.sys.mac",)
    assert dict(corpus.parents) == {"comp.sys.mac": "comp.sys", "comp.sys": "comp"}


def test_parts_can_be_removed(sample):
    assert (
        load_newsgroups(sample, remove=["headers", "footers", "quotes"])
        .documents[0]
        .text.strip()
        == "Yes, naïve."
    )
    with pytest.raises(ValueError, match="cannot remove 'body'"):
        load_newsgroups(sample, remove=["body"])


def test_archive_of_something_else(write, tmp_path):
    write("20news-bydate/README", "about")
    with pytest.raises(DataError, match="holds no articles"):
        load_newsgroups(tmp_path)


@pytest.mark.corpus("20news-bydate.tar.gz")
def test_counts(corpus_named):
    corpus = corpus_named("20newsgroups")
    assert (len(corpus.split("train")), len(corpus.split("test")), len(corpus.categories)) == (
        11_314,
        7_532,
        20,
    )
    assert corpus.is_single_label
    assert corpus.parents["comp.sys.ibm.pc.hardware"] == "comp.sys.ibm.pc"


@pytest.mark.corpus("20news-bydate.tar.gz")
@pytest.mark.parametrize(
    ("part", "strip"),
    [
        ("headers", theirs.strip_newsgroup_header),
        ("footers", theirs.strip_newsgroup_footer),
        ("quotes", theirs.strip_newsgroup_quoting),
    ],
)
def test_strips_as_scikit_learn_does(corpus_named, part, strip):
    for document in corpus_named("20newsgroups").documents[::5]:
        assert strip_parts(document.text, [part]) == strip(document.text)
