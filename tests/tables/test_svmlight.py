import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from bayesift.errors import DataError
from bayesift.tables import load_svmlight
from bayesift.tables.svmlight import parse_pairs


def test_labels_comments_queries_and_blank_lines(write):
    path = write(
        "a.svm", "# head\n+1 qid:3 1:0.5 3:1e-2 # note\n\n-1 2:-4.\n1,3 1:1\n 2:1\n7\n"
    )
    corpus = load_svmlight(path)
    assert [(d.id, d.categories) for d in corpus] == [
        ("2", ("1",)),
        ("4", ("-1",)),
        ("5", ("1", "3")),
        ("6", ()),
        ("7", ("7",)),
    ]
    expected = [[0.5, 0, 0.01], [0, -4, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]]
    np.testing.assert_array_equal(corpus.vectors.toarray(), expected)


def test_terms_from_zero_and_gzip(write):
    corpus = load_svmlight(write("a.svm.gz", gzip.compress(b"1 0:2 2:3\n")))
    assert corpus.vectors.toarray().tolist() == [[2, 0, 3]]


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_agrees_with_scikit_learn(tmp_path_factory, seed, zero_based):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(6, 9)) * (generator.random((6, 9)) < 0.3)
    X[0, 0] = X[0, 8] = 1.0
    path = tmp_path_factory.mktemp("svm") / "a.svm"
    dump_svmlight_file(X, generator.integers(0, 3, 6), str(path), zero_based=zero_based)
    theirs, labels = load_svmlight_file(str(path))
    corpus = load_svmlight(path)
    np.testing.assert_array_equal(corpus.vectors.toarray(), theirs.toarray())
    assert corpus.labels == [str(int(label)) for label in labels]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 1:0.5 2;3", "not a term:weight pair: '2;3'"),
        ("1 1:0.5:3", "not a term:weight pair"),
        ("1 1:nan", "not a term:weight pair"),
        ("1 -1:3", "not a term:weight pair"),
        ("1 2:1 1:1", "terms must ascend"),
        ("1 1:1 1:1", "terms must ascend"),
        ("1 4000000000:1", "terms must ascend"),
        ("1,,2 1:1", "not a label"),
        ("wh?t 1:1", "not a label"),
    ],
)
def test_bad_lines(write, line, message):
    path = write("a.svm", f"1 1:1\n{line}\n2 2:1\n")
    with pytest.raises(DataError, match=message) as caught:
        load_svmlight(path)
    assert caught.value.line == 2
    corpus = load_svmlight(path, skip_bad=True)
    assert ([d.id for d in corpus], len(corpus.problems)) == (["1", "3"], 1)


def test_empty_file(write):
    with pytest.raises(DataError, match="holds no documents"):
        load_svmlight(write("a.svm", ""))


def test_lines_without_pairs_between_others():
    block = parse_pairs([b"", b"5:1", b"", b"3:1 4:1", b""])
    assert block.counts.tolist() == [0, 1, 0, 2, 0]
    assert block.terms.tolist() == [5, 3, 4]
