import gzip

import numpy as np
import pytest

from bayesift.corpora import load_rcv1
from bayesift.errors import CorpusNotFoundError, DataError

TRAIN = "10  1:0.5 47236:0.25\n11  3:1\n"
QRELS = "CCAT 10 1\nC11 10 1\nGCAT 12 1\n"
HIERARCHY = (
    "parent: None child: Root         child-description: Root\n"
    "parent: Root child: CCAT child-description: CORPORATE/INDUSTRIAL\n"
    "parent: CCAT child: C11 child-description: STRATEGY/PLANS\n"
)


@pytest.fixture
def sample(write, tmp_path):
    write("rcv1/lyrl2004_vectors_train.dat", TRAIN)
    write("rcv1/lyrl2004_vectors_test_pt2.dat.gz", gzip.compress(b"12  2:1\n"))
    write("rcv1/rcv1v2.topics.qrels.gz", gzip.compress(QRELS.encode()))
    return tmp_path


def test_vectors_topics_and_splits(sample):
    corpus = load_rcv1(sample)
    assert [(d.id, d.split, d.categories) for d in corpus] == [
        ("10", "train", ("C11", "CCAT")),
        ("11", "train", ()),
        ("12", "test", ("GCAT",)),
    ]
    assert corpus.vectors.shape == (3, 47_236)
    assert corpus.vectors.nnz == 4
    assert (corpus.vectors[0, 0], corpus.vectors[0, 47_235], corpus.vectors[2, 1]) == (
        0.5,
        0.25,
        1,
    )
    assert corpus.vectors.indices.dtype == np.int32
    assert dict(corpus.parents) == {}


@pytest.mark.parametrize(
    ("name", "content"),
    [("rcv1.topics.hier.orig", HIERARCHY), ("rcv1.taxonomy", "Root\tCCAT\nCCAT\tC11\n")],
)
def test_hierarchies(sample, write, name, content):
    write(f"rcv1/{name}", content)
    assert dict(load_rcv1(sample).parents) == {"C11": "CCAT"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x  1:1", "no document number"),
        ("12  1:1 2", "not a term:weight pair: '2'"),
        ("12  47237:1", "not between 1 and 47,236"),
        ("12  0:1", "not between 1 and 47,236"),
        ("12  2:1 1:1", "terms must ascend"),
    ],
)
def test_bad_vectors(sample, write, line, message):
    write("rcv1/lyrl2004_vectors_train.dat", f"10  1:1\n{line}\n11  1:1\n")
    with pytest.raises(DataError, match=message) as caught:
        load_rcv1(sample)
    assert caught.value.line == 2
    corpus = load_rcv1(sample, skip_bad=True)
    assert corpus.split("train").ids == ["10", "11"]
    assert len(corpus.problems) == 1
    assert corpus.vectors.shape[0] == 3


def test_bad_judgement_edge_and_missing_judgements(sample, write):
    write("rcv1/rcv1.topics.hier.orig", "CCAT over C11\n")
    with pytest.raises(DataError, match="orig:1: not an edge"):
        load_rcv1(sample)
    (sample / "rcv1" / "rcv1v2.topics.qrels.gz").unlink()
    with pytest.raises(CorpusNotFoundError, match="qrels"):
        load_rcv1(sample)
    write("rcv1/rcv1-v2.topics.qrels", "CCAT 10\n")
    with pytest.raises(DataError, match="qrels:1: not a judgement"):
        load_rcv1(sample)


@pytest.mark.corpus("rcv1-sample")
def test_counts(corpus_named):
    corpus = corpus_named("rcv1-sample")
    assert (len(corpus), len(corpus.split("train")), len(corpus.split("test"))) == (
        27_613,
        14_361,
        13_252,
    )
    assert (len(corpus.categories), corpus.vectors.shape[1]) == (102, 47_236)
    assert all(document.categories for document in corpus)
    np.testing.assert_allclose(np.sqrt(corpus.vectors.power(2).sum(axis=1)), 1, atol=1e-4)
    assert corpus.parents["C1511"] == "C151"
    assert "CCAT" not in corpus.parents
