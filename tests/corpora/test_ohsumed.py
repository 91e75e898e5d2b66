import pytest

from bayesift.corpora import load_ohsumed
from bayesift.errors import DataError

HOME = "ohsumed-first-20000-docs"


def test_document_in_several_folders_is_one(write, tmp_path):
    for place in ("training/C02/7", "training/C01/7", "test/C01/7"):
        write(f"{HOME}/{place}", "Heart." if "training" in place else "Lung.")
    corpus = load_ohsumed(tmp_path)
    assert {(d.id, d.categories, d.split) for d in corpus} == {
        ("train/7", ("C01", "C02"), "train"),
        ("test/7", ("C01",), "test"),
    }


def test_copies_that_differ(write, tmp_path):
    write(f"{HOME}/training/C01/7", "Heart.")
    write(f"{HOME}/training/C02/7", "Lung.")
    with pytest.raises(DataError, match="another document has this number"):
        load_ohsumed(tmp_path)
    assert len(load_ohsumed(tmp_path, skip_bad=True).problems) == 1


def test_nothing_there(write, tmp_path):
    write(f"{HOME}/README", "about")
    with pytest.raises(DataError, match="holds no OHSUMED documents"):
        load_ohsumed(tmp_path)


@pytest.mark.corpus("ohsumed-first-20000-docs.tar.gz")
def test_counts(corpus_named):
    corpus = corpus_named("ohsumed")
    train, test = corpus.split("train"), corpus.split("test")
    assert (len(corpus), len(train), len(test), len(corpus.categories)) == (
        13_929,
        6_286,
        7_643,
        23,
    )
    assert (train.indicator.sum(), test.indicator.sum()) == (10_433, 12_733)
