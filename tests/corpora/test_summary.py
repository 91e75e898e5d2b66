import datetime
import json

import numpy as np
from scipy import sparse

from bayesift.corpora import summarise
from bayesift.records import Corpus, Document, ReadingProblem


def test_numbers():
    corpus = Corpus(
        (
            Document(
                "1",
                "x",
                categories=("a", "b"),
                split="test",
                date=datetime.datetime(2000, 1, 1),
            ),
            Document("2", "", title="t", categories=("b",), split="train"),
            Document("3", " ", split="train"),
        ),
        ("a", "b", "c"),
        problems=(ReadingProblem("f", 1, "bad"),),
    )
    summary = summarise(corpus)
    train, test = summary.splits
    assert (train.name, train.documents, train.labelled, train.title_only, train.empty) == (
        "train",
        2,
        1,
        1,
        1,
    )
    assert (test.name, test.assignments) == ("test", 2)
    assert (
        summary.categories,
        summary.shared_categories,
        summary.without_date,
        summary.skipped,
    ) == (
        3,
        1,
        2,
        1,
    )
    assert [(c.name, c.documents, c.by_split) for c in summary.largest] == [
        ("b", 2, {"train": 1, "test": 1}),
        ("a", 1, {"train": 0, "test": 1}),
        ("c", 0, {"train": 0, "test": 0}),
    ]
    assert json.loads(json.dumps(summary.as_dict()))["fingerprint"] == corpus.fingerprint


def test_vectors_and_no_splits():
    corpus = Corpus(
        (Document("1", ""),), (), vectors=sparse.csr_array(np.array([[1.0, 0.0, 2.0]]))
    )
    summary = summarise(corpus)
    assert (
        summary.terms,
        summary.nonzeros,
        summary.shared_categories,
        summary.without_date,
    ) == (
        3,
        2,
        None,
        None,
    )
    assert (summary.splits[0].name, summary.splits[0].empty) == (None, 0)
