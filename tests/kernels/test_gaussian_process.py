"""Covariances and updates of online Gaussian processes, against dense NumPy."""

import numpy as np
import pytest
from scipy import sparse

from bayesift.kernels import gaussian_process as kernels
from bayesift.kernels.gaussian_process import LINEAR, POLYNOMIAL, RBF, DocumentBlock
from bayesift.kernels.online_moments import PROBIT
from tests.oracles.online_gp import JITTER, Basis, gram
from tests.oracles.sparse import entries_of, random_rows

KINDS = {"linear": LINEAR, "polynomial": POLYNOMIAL, "rbf": RBF}
PARAMETERS = {
    "linear": np.array([1.0, 0.0, JITTER]),
    "polynomial": np.array([1.0, 2.0, JITTER]),
    "rbf": np.array([0.0, 1.0, JITTER]),
}


def documents(n_documents, n_terms):
    """Rows, the last of which equals the first."""
    X = random_rows(n_documents, n_terms)
    return sparse.csr_array(sparse.vstack([X, X[:1]])) if n_documents > 1 else X


def norms_of(X):
    norms = np.empty(X.shape[0])
    kernels.squared_norms(X.indptr, X.data, norms)
    return norms


def test_squared_norms():
    X = random_rows(5, 3)
    np.testing.assert_allclose(norms_of(X), (X.toarray() ** 2).sum(axis=1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_documents", "n_terms"), [(1, 1), (6, 4)])
def test_covariances(kind, n_documents, n_terms):
    X = documents(n_documents, n_terms)
    norms, dense, n = norms_of(X), X.toarray(), X.shape[0]
    expected = gram(kind, dense, dense)
    code, parameters = KINDS[kind], PARAMETERS[kind]
    work, found = np.zeros(n_terms), np.empty((n, n))
    kernels.covariances(code, parameters, *entries_of(X), norms, 0, n, work, found)
    np.testing.assert_allclose(found, expected)
    assert not work.any()
    before = np.zeros((n, n))
    kernels.covariances(code, parameters, *entries_of(X), norms, 0, -1, work, before)
    np.testing.assert_allclose(before, np.tril(expected, -1))
    diagonal = np.empty(n)
    kernels.own_covariances(code, parameters, norms, diagonal)
    np.testing.assert_allclose(diagonal, np.diag(expected))


def test_equal_rows_get_more():
    X = documents(4, 3)
    table = np.zeros((2, 5))
    kernels.add_to_equal(*entries_of(X), 3, 0.5, table)
    dense = X.toarray()
    equal = (dense[3:, np.newaxis] == dense).all(axis=2)
    np.testing.assert_array_equal(table, 0.5 * equal)


@pytest.mark.parametrize("rows", [[], [2], [3, 0, 3]])
def test_rows_are_taken(rows):
    X = random_rows(4, 3)
    indptr, indices, data = kernels.take_rows(*entries_of(X), np.array(rows, dtype=np.int64))
    found = sparse.csr_array((data, indices, indptr), shape=(len(rows), 3))
    np.testing.assert_array_equal(found.toarray(), X.toarray()[rows])


@pytest.mark.parametrize("kept", [[False] * 3, [True, False, True]])
def test_columns_are_kept(kept):
    X = random_rows(4, 3)
    indptr, indices, data = kernels.keep_columns(*entries_of(X), np.array(kept))
    found = sparse.csr_array((data, indices, indptr), shape=X.shape)
    np.testing.assert_array_equal(found.toarray(), X.toarray() * kept)


@pytest.mark.parametrize(("tolerance", "least_error"), [(1e-3, 0.0), (0.2, 0.0), (1e-3, 0.3)])
@pytest.mark.parametrize("budget", [1, 3, 30])
def test_a_block_of_documents(budget, tolerance, least_error):
    X = documents(12, 5)
    dense, n = X.toarray(), X.shape[0]
    labels = np.where(dense.sum(axis=1) > 0, 1.0, -1.0)
    oracle = Basis("rbf", 5)
    for x, y in zip(dense, labels, strict=True):
        oracle.learn(x, y, budget, tolerance, least_error=least_error)

    room = min(budget, n)
    posterior = np.zeros(room), np.zeros((room, room)), np.zeros((room, room))
    columns, evidences = np.arange(room), np.empty(n)
    whole = gram("rbf", dense, dense)
    block = DocumentBlock(whole, np.diag(whole).copy(), labels, evidences)
    limits = budget, tolerance, least_error
    size = kernels.learn_block(
        block, columns, posterior, np.zeros((12, room)), 0, *limits, PROBIT, np.array([0.5])
    )
    alpha, C, Q = posterior
    basis = columns[:size]
    assert size == len(oracle.alpha) <= budget
    order = [
        np.flatnonzero((dense[basis] == vector).all(axis=1))[0] for vector in oracle.vectors
    ]
    np.testing.assert_allclose(alpha[order], oracle.alpha, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(C[np.ix_(order, order)], oracle.C, rtol=1e-5, atol=1e-7)
    inverse = np.linalg.inv(whole[np.ix_(basis, basis)])
    np.testing.assert_allclose(Q[:size, :size], inverse, rtol=1e-6, atol=1e-8)
