"""The whole online stack, against its oracle in NumPy."""

import numpy as np
import pytest
from scipy import sparse

from bayesift.kernels import online_stack as kernels
from bayesift.kernels.entries import entries_of
from bayesift.kernels.online_experts import count_tables
from bayesift.kernels.online_mixers import KNOTS
from bayesift.kernels.online_stack import StackSettings
from bayesift.models.online.stack_state import StackState
from tests.oracles.online_stack import Stack, unit
from tests.oracles.sparse import random_rows

RATES = np.array([4.0, 16.0])


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize(("n_documents", "n_terms", "n_categories"), [(1, 1, 1), (25, 5, 3)])
def test_every_document_before_its_labels(idf, n_documents, n_terms, n_categories):
    X = abs(random_rows(n_documents, n_terms))
    labels = np.random.default_rng(1).integers(0, 2, (n_documents, n_categories)).astype(float)
    stack, state = (
        Stack(n_terms, n_categories, idf=idf),
        StackState.empty(n_terms, n_categories, 2),
    )
    settings, tables = StackSettings(idf, 64.0, RATES), count_tables(64)
    scores = np.empty((n_documents, n_categories))
    details = np.empty((n_documents, 5, n_categories))
    arrays = tables, KNOTS, state.experts, state.mixers
    kernels.run_stack(entries_of(X), labels, settings, *arrays, scores, details)
    expected = [stack.learn(x, y) for x, y in zip(X.toarray(), labels, strict=True)]
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-7)

    again = np.empty_like(scores)
    before = state.weights.copy()
    none = np.empty((0, n_categories))
    kernels.run_stack(entries_of(X), none, settings, *arrays, again, details)
    expected = [stack.scores(stack.weigh(x))[0] for x in X.toarray()]
    np.testing.assert_allclose(again, expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(state.weights, before)


@pytest.mark.parametrize("idf", [False, True])
def test_weights_of_documents(idf):
    X = random_rows(6, 4)
    frequencies, totals = np.array([0.0, 1.0, 3.0, 5.0]), np.array([5.0, 9.0, 4.0])
    values = np.empty(X.nnz)
    kernels.weigh_rows(entries_of(X), idf, frequencies, totals, values)
    factors = np.log(6.0 / (frequencies + 1.0)) + 1.0 if idf else np.ones(4)
    expected = np.array([unit(x * factors) for x in X.toarray()])
    found = sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)
    np.testing.assert_allclose(found.toarray(), expected)
    first = np.empty(X.indptr[1])
    part = slice(0, X.indptr[1])
    kernels.weigh_document(X.indices[part], X.data[part], idf, frequencies, totals, first)
    np.testing.assert_array_equal(first, values[part])


@pytest.mark.parametrize("lengths", [[], [0], [2, 0, 5, 1]])
def test_longest_row(lengths):
    indptr = np.cumsum([0, *lengths]).astype(np.int32)
    assert kernels.longest_row(indptr) == max(lengths, default=0)
