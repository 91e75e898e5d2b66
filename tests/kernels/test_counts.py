from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bayesift.kernels import counts

documents = st.lists(st.lists(st.integers(0, 400), max_size=80), min_size=1, max_size=6)


@pytest.fixture(autouse=True, scope="module", params=["NumPy", "kernels"])
def way(request):
    """Small inputs are counted by NumPy, and here by the kernels too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            counts,
            *(("SMALL", -1) if request.param == "kernels" else ("_TINY_INPUT", counts.SMALL)),
        )
        yield


def stream(rows):
    tokens = np.array([t for row in rows for t in row], dtype=np.int32)
    return tokens, np.cumsum([len(row) for row in rows], dtype=np.int64)


@given(documents, st.integers(1, 5))
@settings(deadline=None)
def test_counting_and_ordering(rows, modulus):
    tokens, ends = stream(rows)
    term_of = np.array(
        [t if t % modulus or modulus == 1 else -1 for t in range(401)], dtype=np.int32
    )
    indptr, indices, values, in_documents, in_collection = counts.count_terms(
        term_of[tokens], ends, 401
    )
    # Columns run backwards, and terms above 300 are dropped.
    column_of = np.array([1300 - t if t <= 300 else -1 for t in range(401)], dtype=np.int32)
    kept = counts.kept_per_row(indptr, indices, column_of)
    begins = np.concatenate([[0], np.cumsum(kept)])
    out_indices = np.zeros(begins[-1], dtype=np.int32)
    out_values = np.zeros(begins[-1])
    counts.order_rows(indptr, indices, values, column_of, begins[:-1], out_indices, out_values)
    for row, begin, end in zip(rows, begins[:-1], begins[1:], strict=True):
        expected = Counter(1300 - t for t in row if term_of[t] >= 0 and t <= 300)
        assert list(zip(out_indices[begin:end], out_values[begin:end], strict=True)) == sorted(
            expected.items()
        )
    everything = Counter(t for row in rows for t in row if term_of[t] >= 0)
    holding = Counter(t for row in rows for t in set(row) if term_of[t] >= 0)
    assert in_collection.tolist() == [everything[t] for t in range(401)]
    assert in_documents.tolist() == [holding[t] for t in range(401)]


@pytest.mark.parametrize("n_columns", [1, 33, 5_000, 200_000, 5_000_000])
def test_rows_sort_by_columns_of_any_number_of_bits(n_columns):
    columns = np.arange(n_columns, dtype=np.int32)
    indices = np.random.default_rng(0).permutation(n_columns)[:5_000].astype(np.int32)
    n = len(indices)
    values = np.arange(n, dtype=np.int32)
    out_indices, out_values = np.zeros(n, dtype=np.int32), np.zeros(n)
    counts.order_rows(
        np.array([0, n]), indices, values, columns, np.array([0]), out_indices, out_values
    )
    order = np.argsort(indices)
    np.testing.assert_array_equal(out_indices, indices[order])
    np.testing.assert_array_equal(out_values, values[order])


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), max_size=60))
@settings(deadline=None)
def test_pairs_are_numbered_as_a_dict_would(pairs):
    left = np.array([a for a, _ in pairs], dtype=np.int32)
    right = np.array([b for _, b in pairs], dtype=np.int32)
    ids, lefts, rights = counts.number_pairs(left, right)
    seen = {}
    expected = [-1 if min(pair) < 0 else seen.setdefault(pair, len(seen)) for pair in pairs]
    assert ids.tolist() == expected
    assert list(zip(lefts, rights, strict=True)) == list(seen)


def test_many_pairs():
    left, right = np.divmod(np.arange(10_000, dtype=np.int32), np.int32(100))
    ids, lefts, rights = counts.number_pairs(left, right)
    np.testing.assert_array_equal(ids, np.arange(10_000))
    np.testing.assert_array_equal(lefts, left)
    np.testing.assert_array_equal(rights, right)


def test_more_tokens_than_an_int32_can_number_are_refused():
    tokens = np.broadcast_to(np.int32(0), 2**31)
    with pytest.raises(ValueError, match="2,147,483,647 tokens in one batch"):
        counts.count_terms(tokens, np.array([2**31]), 1)


def test_sums_by_category():
    x = np.array([0, 2, 3]), np.array([0, 1, 1], dtype=np.int32), np.array([2.0, 1.0, 3.0])
    y = np.array([0, 2]), np.array([0, 1], dtype=np.int32)
    summed = counts.sum_by_category(x, np.ones(2), y, 2)
    assert [part.tolist() for part in summed] == [[0, 2], [0, 1], [2.0, 4.0], [1.0, 2.0]]


def test_sums_of_few_documents_are_those_of_the_kernels_to_the_bit(monkeypatch):
    draw = np.random.default_rng(0)
    X = sparse.random_array((30, 12), density=0.3, format="csr", rng=draw)
    Y = sparse.csr_array(draw.random((3, 30)) < 0.4)
    x, y, weights = (
        (X.indptr, X.indices, X.data),
        (Y.indptr, Y.indices),
        draw.integers(0, 3, 30) * 0.1,
    )
    found = []
    for small in (-1, 1000):
        monkeypatch.setattr(counts, "SMALL", small)
        earlier = counts.sum_by_category(x, weights, y, 12)
        by_term = np.ones(12), np.zeros(12)
        counts.sum_by_term(*x, weights, *by_term)
        found.append([*earlier, *counts.sum_by_category(x, weights, y, 12, earlier), *by_term])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(found[0][-2], 1 + weights @ X.toarray())
    table = sparse.csr_array((found[0][6], found[0][5], found[0][4]), shape=(3, 12)).toarray()
    np.testing.assert_allclose(table, 2 * (Y.toarray() * weights) @ X.toarray())


def test_sums_of_nothing_are_numbers_of_the_same_type():
    nothing = np.zeros(3, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty(0)
    parts = counts.sum_by_category(
        nothing, np.ones(2), (np.zeros(2, dtype=np.int32), np.empty(0, dtype=np.int32)), 4
    )
    assert [part.dtype.name for part in parts] == ["int32", "int32", "float64", "float64"]
