import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.stats import binomtest, chi2, false_discovery_control
from sklearn.metrics import f1_score

from bayesift.evaluation import (
    PairedTest,
    holm,
    macro_sign_test,
    mcnemar_test,
    micro_sign_test,
    significance_table,
)

triples = st.tuples(st.integers(1, 10), st.integers(1, 6)).flatmap(
    lambda shape: st.tuples(arrays(bool, shape), arrays(bool, shape), arrays(bool, shape))
)


def p_of(wins, losses, alternative):
    n = wins + losses
    if n == 0:
        return 1.0
    if alternative == "two-sided":
        return binomtest(wins, n).pvalue
    return binomtest(max(wins, losses), n, alternative="greater").pvalue


@given(triples, st.sampled_from(["one-sided", "two-sided"]))
@settings(deadline=None)
def test_micro_sign_test(triple, alternative):
    Y, a, b = triple
    wins, losses = np.sum((a == Y) & (b != Y)), np.sum((a != Y) & (b == Y))
    found = micro_sign_test(Y, sparse.csr_array(a), b, alternative=alternative)
    assert (found.wins, found.losses) == (wins, losses)
    assert found.p_value == pytest.approx(p_of(wins, losses, alternative))


@given(triples, st.sampled_from(["one-sided", "two-sided"]))
@settings(deadline=None)
def test_macro_sign_test(triple, alternative):
    Y, a, b = triple
    ours = [f1_score(y, d, zero_division=0) for y, d in zip(Y.T, a.T, strict=True)]
    theirs = [f1_score(y, d, zero_division=0) for y, d in zip(Y.T, b.T, strict=True)]
    wins, losses = np.sum(np.greater(ours, theirs)), np.sum(np.less(ours, theirs))
    found = macro_sign_test(Y, a, b, alternative=alternative)
    assert (found.wins, found.losses) == (wins, losses)
    assert found.p_value == pytest.approx(p_of(wins, losses, alternative))


def test_mcnemar_by_hand():
    Y = np.ones(40, dtype=int)
    a, b = Y.copy(), Y.copy()
    a[:4], b[10:26] = 0, 0
    exact, approximate = mcnemar_test(Y, a, b), mcnemar_test(Y, a, b, exact=False)
    assert (exact.wins, exact.losses) == (16, 4)
    assert exact.p_value == pytest.approx(binomtest(4, 20).pvalue)
    assert approximate.p_value == pytest.approx(chi2.sf((12 - 1) ** 2 / 20, 1))
    assert mcnemar_test(Y, a, a, exact=False).p_value == 1


def test_mcnemar_over_decisions_is_the_two_sided_s_test():
    random = np.random.default_rng(0)
    Y, a, b = random.random((3, 30, 4)) < 0.4
    assert mcnemar_test(Y, a, b, unit="decisions") == micro_sign_test(
        Y, a, b, alternative="two-sided"
    )
    documents = mcnemar_test(Y, a, b)
    right_a, right_b = (a == Y).all(axis=1), (b == Y).all(axis=1)
    assert (documents.wins, documents.losses) == (
        np.sum(right_a & ~right_b),
        np.sum(right_b & ~right_a),
    )


def test_systems_with_different_class_labels():
    found = micro_sign_test(["a", "b", "a"], ["a", "c", "a"], ["b", "b", "a"])
    assert (found.wins, found.losses) == (2, 2)
    assert macro_sign_test(["a", "b", "a"], ["a", "c", "a"], ["b", "b", "a"]).wins == 1


@pytest.mark.parametrize(
    ("wins", "losses", "p_value", "expected"),
    [
        (9, 1, 0.01, ">>"),
        (1, 9, 0.01, "<<"),
        (9, 1, 0.0100001, ">"),
        (1, 9, 0.05, "<"),
        (9, 1, 0.0500001, "~"),
        (5, 5, 0.001, "~"),
    ],
)
def test_symbols(wins, losses, p_value, expected):
    assert PairedTest(wins, losses, p_value).symbol == expected


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_holm_by_its_definition(p_values):
    m = len(p_values)
    for p, corrected in zip(p_values, holm(p_values), strict=True):
        smaller = sorted(q for q in p_values if q <= p)
        assert corrected == pytest.approx(
            min(1, max((m - i) * q for i, q in enumerate(smaller)))
        )
        assert corrected >= p
    assert (holm(p_values) >= false_discovery_control(p_values) - 1e-12).all()


def test_holm_of_nothing():
    assert holm([]).tolist() == []


@pytest.fixture(scope="module")
def systems():
    random = np.random.default_rng(0)
    Y = random.random((300, 20)) < 0.2
    flip = random.random(Y.shape)
    return Y, {
        "best": Y ^ (flip < 0.02),
        "good": Y ^ (flip > 0.9),
        "bad": Y ^ (np.abs(flip - 0.5) < 0.1),
    }


def test_the_table_holds_the_tests_of_each_pair(systems):
    Y, decided = systems
    table = significance_table(Y, decided, correction=None)
    for (a, b), test in table.micro.items():
        assert test == micro_sign_test(Y, decided[a], decided[b])
        assert table.macro[a, b] == macro_sign_test(Y, decided[a], decided[b])
    assert table.symbols("best", "bad") == (">>", ">>")
    assert table.symbols("bad", "best") == ("<<", "<<")


def test_the_table_is_corrected_over_pairs(systems):
    Y, decided = systems
    plain, corrected = (significance_table(Y, decided, correction=c) for c in (None, "holm"))
    for kind in ("micro", "macro"):
        expected = holm([test.p_value for test in getattr(plain, kind).values()])
        found = [test.p_value for test in getattr(corrected, kind).values()]
        assert found == pytest.approx(expected.tolist())


def test_the_table_over_documents_is_mcnemars_test():
    random = np.random.default_rng(0)
    y = random.integers(0, 4, 60)
    systems = {
        name: np.where(random.random(60) < share, y, 3 - y)
        for name, share in (("a", 0.9), ("b", 0.6))
    }
    as_rows = {name: np.eye(4, dtype=int)[decided] for name, decided in systems.items()}
    table = significance_table(
        np.eye(4, dtype=int)[y],
        as_rows,
        alternative="two-sided",
        unit="documents",
        correction=None,
    )
    wins = int(np.sum((systems["a"] == y) & (systems["b"] != y)))
    losses = int(np.sum((systems["a"] != y) & (systems["b"] == y)))
    expected = PairedTest(wins, losses, pytest.approx(binomtest(wins, wins + losses).pvalue))
    assert table.micro["a", "b"] == expected
    assert mcnemar_test(y, systems["a"], systems["b"]) == expected


def test_the_table_as_text_and_json(systems):
    Y, decided = systems
    table = significance_table(Y, decided)
    lines = table.render().splitlines()
    assert len({line.find("/") for line in lines[2:]}) == 1
    assert lines[0].split() == ["best", "good", "bad"]
    assert lines[1].split() == ["best", ">>", "/", ">>", ">>", "/", ">>"]
    written = json.loads(json.dumps(table.to_dict()))
    assert [(pair["a"], pair["b"]) for pair in written["pairs"]] == [
        ("best", "good"),
        ("best", "bad"),
        ("good", "bad"),
    ]
    assert written["pairs"][0]["micro"]["symbol"] == ">>"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: micro_sign_test([1], [1], [0], alternative="less"),
            "alternative must be one of one-sided, two-sided",
        ),
        (lambda: mcnemar_test([1], [1], [0], unit="words"), "unit must be"),
        (
            lambda: significance_table([1], {"a": [1]}, correction="bonferroni"),
            "correction must be",
        ),
    ],
)
def test_bad_parameters_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
