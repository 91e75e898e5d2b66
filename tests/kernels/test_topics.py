"""Non-negative matrix factorisation, against dense NumPy."""

import numpy as np
import pytest
from scipy import sparse

from bayesift.kernels import topics as kernels
from bayesift.kernels.entries import entries_of
from tests.oracles.sparse import random_rows

N_TOPICS = 3


def factors(n_documents, n_terms, seed=0):
    """Counts, codes and basis, all positive but for some zeros."""
    generator = np.random.default_rng(seed)
    V = abs(random_rows(n_documents, n_terms, density=0.6))
    return V, generator.random((n_documents, N_TOPICS)), generator.random((n_terms, N_TOPICS))


def ratios_of(V, H, W):
    products = H @ W.T
    return np.divide(V.toarray(), products, out=np.zeros(products.shape), where=products > 0)


def objective(V, H, W, importance, slopes=0.0, curvature=0.0):
    """The divergence without constants, for values w_j V_ij, plus a penalty of H."""
    products, values = H @ W.T, V.toarray()
    entries = values > 0
    likelihood = np.sum(values[entries] * np.log(products[entries]))
    return (
        np.sum(importance * products) - likelihood + np.sum(slopes * H + curvature / 2 * H**2)
    )


@pytest.mark.parametrize(("n_documents", "n_terms"), [(0, 2), (1, 1), (7, 5)])
def test_shares_and_likelihood(n_documents, n_terms):
    V, H, W = factors(n_documents, n_terms)
    shares = np.empty(H.shape)
    kernels.gather_shares(*entries_of(V), H, W, shares)
    np.testing.assert_allclose(shares, H * (ratios_of(V, H, W) @ W))
    products = H @ W.T
    expected = np.sum(V.toarray() * np.log(np.where(products > 0, products, 1.0)))
    np.testing.assert_allclose(kernels.log_likelihood(*entries_of(V), H, W), expected)


@pytest.mark.parametrize("curvature", [0.0, 0.7])
def test_multiplicative_updates_of_codes(curvature):
    V, H, W = factors(7, 5)
    slopes = W.sum(axis=0) + 0.1
    shares = H * (ratios_of(V, H, W) @ W)
    kernels.update_codes(*entries_of(V), W, slopes, curvature, H)
    np.testing.assert_allclose(slopes * H + curvature * H**2, shares)


def test_quotients_of_shares():
    generator = np.random.default_rng(0)
    shares, importance = generator.random((5, N_TOPICS)), generator.random(5)
    masses, offsets = generator.random((2, N_TOPICS))
    bottom = importance[:, np.newaxis] * masses + offsets
    totals, squares = np.empty((2, N_TOPICS))
    kernels.sum_quotients(shares, importance, masses, offsets, totals, squares)
    np.testing.assert_allclose(totals, (shares / bottom).sum(axis=0))
    np.testing.assert_allclose(squares, (shares / bottom**2).sum(axis=0))
    scales, basis = np.array([2.0, 0.0, 0.5]), np.ones((5, N_TOPICS))
    kernels.divide_shares(shares, importance, masses, offsets, scales, basis)
    np.testing.assert_allclose(basis[:, [0, 2]], (shares / bottom)[:, [0, 2]] / scales[[0, 2]])
    np.testing.assert_array_equal(basis[:, 1], 1.0)


@pytest.mark.parametrize("curvature", [0.0, 0.7])
def test_descent_of_codes_ends_at_the_optimum(curvature):
    V, H, W = factors(7, 5)
    slopes = W.sum(axis=0) + 0.1
    before = objective(V, H, W, np.ones(5), 0.1, curvature)
    given = *entries_of(V), W, slopes, curvature, H
    assert kernels.descend_codes(*given, 1, 0.0) == 1
    after = objective(V, H, W, np.ones(5), 0.1, curvature)
    assert after <= before
    most = kernels.descend_codes(*given, 2000, 1e-12)
    assert 1 <= most <= 2000
    gradient = slopes + curvature * H - ratios_of(V, H, W) @ W
    assert np.all(gradient >= -1e-6)
    np.testing.assert_allclose(gradient * H, 0.0, atol=1e-6)


def test_descent_of_the_basis_lowers_the_objective():
    V, H, W = factors(7, 5)
    importance, masses, offsets = np.ones(5), H.sum(axis=0), np.full(N_TOPICS, 0.1)
    curvatures, sums = np.array([0.0, 0.2, 0.5]), W.sum(axis=0)
    by_term = sparse.csr_array(V.T)

    def penalised():
        squares = 0.5 * curvatures @ W.sum(axis=0) ** 2
        return objective(V, H, W, importance) + np.sum(offsets * W) + squares

    values = [penalised()]
    for _ in range(300):
        kernels.descend_basis(
            *entries_of(by_term), H, importance, masses, offsets, curvatures, sums, W
        )
        values.append(penalised())
    np.testing.assert_allclose(sums, W.sum(axis=0))
    assert np.all(np.diff(values) <= 1e-9)
    gradient = masses + offsets + curvatures * sums - ratios_of(V, H, W).T @ H
    assert np.all(gradient >= -1e-3)
    np.testing.assert_allclose(gradient * W, 0.0, atol=1e-3)


def test_a_term_without_importance_stays():
    V, H, W = factors(4, 3)
    before, sums = W.copy(), W.sum(axis=0)
    importance = np.array([1.0, 0.0, 1.0])
    arrays = H.sum(axis=0), np.zeros(N_TOPICS), np.zeros(N_TOPICS), sums, W
    kernels.descend_basis(*entries_of(sparse.csr_array(V.T)), H, importance, *arrays)
    np.testing.assert_array_equal(W[1], before[1])
    assert not np.array_equal(W[0], before[0])
