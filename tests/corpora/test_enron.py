import datetime

import pytest

from bayesift.corpora import load_enron
from bayesift.errors import DataError


def test_order_of_the_stream(write, tmp_path):
    write("enron1/Summary.txt", "about")
    write("enron1/ham/0001.1999-12-10.farmer.ham.txt", "Subject: trees\n")
    write("enron1/ham/0003.1999-12-14.farmer.ham.txt", "Subject: gas\n")
    write("enron1/spam/0002.2003-12-18.GP.spam.txt", "Subject: £ now\n".encode("latin-1"))
    corpus = load_enron(tmp_path)
    assert [(d.id, d.text, d.categories) for d in corpus] == [
        ("0001", "Subject: trees\n", ("ham",)),
        ("0002", "Subject: £ now\n", ("spam",)),
        ("0003", "Subject: gas\n", ("ham",)),
    ]
    assert corpus.documents[1].date == datetime.datetime(2003, 12, 18)


def test_archive_of_something_else(write, tmp_path):
    write("enron1/Summary.txt", "about")
    with pytest.raises(DataError, match="holds no messages"):
        load_enron(tmp_path)


@pytest.mark.corpus("enron1.tar.gz")
def test_counts(corpus_named):
    corpus = corpus_named("enron1")
    assert corpus.category_counts() == {"ham": 3_672, "spam": 1_500}
    assert corpus.ids == sorted(corpus.ids)
