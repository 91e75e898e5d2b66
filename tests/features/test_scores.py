from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.feature_selection import chi2 as sklearn_chi2
from sklearn.metrics import mutual_info_score

from bayesift.features import (
    SCORES,
    TermTables,
    absolute_pearson,
    chi2,
    count_chi2,
    document_frequency,
    information_gain,
    likelihood_ratio,
    mutual_information,
    ocfs,
    pearson,
    yule_q,
)


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(3)
    X = generator.poisson(0.5, size=(80, 12)) * generator.random((80, 12))
    Y = (generator.random((80, 5)) < [0.7, 0.4, 0.2, 0.1, 0.05]).astype(int)
    Y[0] = 1
    Y[1] = 0
    return X, Y


def by_pair(X, Y, function):
    """A score from the columns of a term and a category, one pair after the other."""
    return np.array([[function(x, y) for x in X.T] for y in Y.T])


def table_of(x, y):
    return np.array(
        [
            [np.sum((x != 0) & (y == a)) for a in (1, 0)],
            [np.sum((x == 0) & (y == a)) for a in (1, 0)],
        ]
    )


def independence_test(statistic):
    def score(x, y):
        return stats.chi2_contingency(
            table_of(x, y), correction=False, lambda_=statistic
        ).statistic

    return score


def test_pearson_is_scipys(data):
    X, Y = data
    expected = by_pair(X, Y, lambda x, y: stats.pearsonr(x, y).statistic)
    np.testing.assert_allclose(pearson(TermTables.of(X, Y)), expected, atol=1e-13)
    np.testing.assert_allclose(
        SCORES["pearson"](TermTables.of(X, Y)), np.abs(expected), atol=1e-13
    )


def test_likelihood_ratio_is_scipys(data):
    X, Y = data
    expected = by_pair(X, Y, independence_test("log-likelihood"))
    np.testing.assert_allclose(
        likelihood_ratio(TermTables.of(X, Y)), expected, rtol=1e-9, atol=1e-10
    )


def test_chi2_is_scipys(data):
    X, Y = data
    np.testing.assert_allclose(
        chi2(TermTables.of(X, Y)), by_pair(X, Y, independence_test("pearson")), atol=1e-12
    )


def test_yules_q_is_a_function_of_scipys_odds_ratio(data):
    X, Y = data
    found = by_pair(
        X, Y, lambda x, y: stats.contingency.odds_ratio(table_of(x, y), kind="sample").statistic
    )
    expected = np.where(np.isfinite(found), np.abs(found - 1) / (found + 1), 1.0)
    np.testing.assert_allclose(yule_q(TermTables.of(X, Y)), expected, atol=1e-12)


def test_chi2_of_counts_is_scikit_learns(data):
    X, Y = data
    expected = np.array([sklearn_chi2(X, y)[0] for y in Y.T])
    np.testing.assert_allclose(count_chi2(TermTables.of(X, Y)), expected, rtol=1e-12)


def test_information_gain_is_scikit_learns_mutual_information(data):
    X, Y = data
    expected = by_pair(X, Y, lambda x, y: mutual_info_score(x != 0, y))
    np.testing.assert_allclose(information_gain(TermTables.of(X, Y)), expected, atol=1e-13)


def test_mutual_information_is_pointwise(data):
    X, Y = data

    def score(x, y):
        together = np.mean((x != 0) & (y == 1))
        return np.log(together / (np.mean(x != 0) * np.mean(y == 1))) if together else -np.inf

    np.testing.assert_allclose(
        mutual_information(TermTables.of(X, Y)), by_pair(X, Y, score), atol=1e-13
    )


def test_document_frequency(data):
    X, Y = data
    np.testing.assert_array_equal(
        document_frequency(TermTables.of(X, Y)), by_pair(X, Y, lambda x, y: np.sum(x != 0))
    )


def test_ocfs_weighted_by_size_is_the_trace_of_the_scatter_between_classes():
    generator = np.random.default_rng(5)
    X, labels = generator.random((40, 6)), generator.integers(0, 3, 40)
    tables = TermTables.of(X, labels)
    means = np.array([X[labels == c].mean(axis=0) for c in range(3)])
    shares = np.bincount(labels) / 40
    between = sum(
        s * np.outer(m - X.mean(axis=0), m - X.mean(axis=0))
        for s, m in zip(shares, means, strict=True)
    )
    np.testing.assert_allclose(shares @ ocfs(tables), np.diag(between), atol=1e-14)


@given(
    st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6)
)
@settings(deadline=None, max_examples=100)
def test_likelihood_ratio_stays_accurate_for_large_and_empty_cells(a, b, c, d):
    getcontext().prec = 50
    n = a + b + c + d
    if n == 0:
        return

    def term(cell, row, column):
        return (
            Decimal(cell) * (Decimal(cell) * n / (Decimal(row) * column)).ln()
            if cell
            else Decimal(0)
        )

    exact = 2 * (
        term(a, a + b, a + c)
        + term(b, a + b, b + d)
        + term(c, c + d, a + c)
        + term(d, c + d, b + d)
    )
    one = np.array([0], dtype=np.int32), np.array([0, 1], dtype=np.int32)
    joint = sparse.csr_array((np.array([float(a)]), *one), shape=(1, 1))
    margins = np.array([float(a + b)]), np.array([float(a + c)])
    tables = TermTables(
        n, *margins, sums=np.zeros(1), squares=np.zeros(1), joint=joint, cross=joint
    )
    rounding = 1e-13 * n * np.log(n + 1)
    assert likelihood_ratio(tables)[0, 0] == pytest.approx(float(exact), abs=rounding)


@pytest.mark.parametrize("name", [name for name in SCORES if name != "document-frequency"])
def test_what_does_not_vary_says_nothing(name):
    X = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 2.0]])
    Y = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 1]])
    scores = SCORES[name](TermTables.of(X, Y))
    assert not np.any(np.isnan(scores))
    nothing = [0.0, -np.inf] if name == "mutual-information" else [0.0]
    assert np.all(np.isin(scores[:, :2], nothing))
    assert np.all(np.isin(scores[:2], nothing))


@pytest.mark.parametrize("name", SCORES)
def test_blocks_and_forms_of_input_change_nothing(data, name, monkeypatch):
    X, Y = data
    whole = SCORES[name](TermTables.of(X, Y))
    monkeypatch.setattr("bayesift.features.scores._BLOCK_CELLS", 2 * X.shape[1])
    tables = TermTables.of(sparse.csc_array(X), sparse.csr_array(Y))
    blocks = [SCORES[name](block) for block in tables.blocks()]
    assert [len(block) for block in blocks] == [2, 2, 1]
    np.testing.assert_array_equal(np.concatenate(blocks), whole)


def test_labels_are_an_indicator_of_each_class(data):
    X, _ = data
    labels = np.arange(len(X)) % 3
    np.testing.assert_array_equal(
        chi2(TermTables.of(X, labels)), chi2(TermTables.of(X, np.eye(3)[labels]))
    )


@pytest.mark.corpus("reuters21578.tar.gz")
def test_reuters_terms_that_speak_for_grain(corpus_named):
    from bayesift.text import TermVectorizer

    train = corpus_named("reuters").split("train")
    vectorizer = TermVectorizer()
    tables = TermTables.of(vectorizer.fit_transform(train.texts), train.indicator)
    best = np.argmax(likelihood_ratio(tables), axis=1)
    names = vectorizer.get_feature_names_out()
    top = dict(zip(train.categories, names[best], strict=True))
    assert [top[category] for category in ("wheat", "corn", "coffee", "gold")] == [
        "wheat",
        "corn",
        "coffee",
        "gold",
    ]


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (likelihood_ratio, [[1.726, 5.545], [1.726, 5.545]]),
        (information_gain, [[0.216, 0.693], [0.216, 0.693]]),
        (mutual_information, [[0.288, -np.inf], [-0.405, 0.693]]),
        (chi2, [[1.333, 4.0], [1.333, 4.0]]),
        (count_chi2, [[0.333, 3.0], [0.333, 3.0]]),
        (yule_q, [[1.0, 1.0], [1.0, 1.0]]),
        (document_frequency, [[3.0, 2.0], [3.0, 2.0]]),
        (pearson, [[0.577, -0.905], [-0.577, 0.905]]),
        (absolute_pearson, [[0.577, 0.905], [0.577, 0.905]]),
        (ocfs, [[0.062, 0.562], [0.062, 0.562]]),
    ],
)
def test_values_of_a_small_example(score, expected):
    tables = TermTables.of(
        [[1, 2], [0, 1], [1, 0], [1, 0]], ["grain", "grain", "crude", "crude"]
    )
    assert score(tables).round(3).tolist() == expected
