"""Full and diagonal online updates, against the recursion in NumPy."""

import numpy as np
import pytest
from scipy import sparse

from bayesift.kernels import online_perceptron as kernels
from bayesift.kernels.entries import entries_of
from bayesift.kernels.online_moments import FLIP, PROBIT
from bayesift.kernels.online_perceptron import DiagonalArrays, FullArrays
from tests.oracles.online import (
    diagonal_recursion,
    flip_moments,
    full_recursion,
    probit_moments,
)
from tests.oracles.sparse import local_entries, random_rows

NOISE = {"probit": (PROBIT, np.array([0.5])), "flip": (FLIP, np.array([0.1]))}
MOMENTS = {"probit": probit_moments, "flip": flip_moments}


def full_prior(size, n_pending, prior=1.0):
    return FullArrays(
        np.zeros(size),
        prior * np.eye(size),
        np.zeros((n_pending, size)),
        np.zeros(n_pending),
        np.array([0.0, 1.0, 0.0, 1.0]),
    )


def covariance_of(posterior):
    _, covariance, pending, weights, clock = (array.copy() for array in posterior)
    count = int(clock[kernels.COUNT])
    covariance += pending[:count].T * weights[:count] @ pending[:count]
    return clock[kernels.SCALE] * covariance + clock[kernels.RIDGE] * np.eye(len(covariance))


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("keep", [1.0, 0.97])
@pytest.mark.parametrize(("n_documents", "n_terms"), [(0, 3), (1, 1), (30, 70)])
def test_full_updates(noise, keep, n_documents, n_terms):
    X = random_rows(n_documents, n_terms, density=0.5)
    wide, documents = local_entries(X)
    signs = np.where(np.arange(n_documents) % 3 == 0, 1.0, -1.0)
    posterior, fields = full_prior(n_terms + 1, 8, 2.0), np.empty((2, n_documents))
    total = kernels.learn_full(*NOISE[noise], documents, signs, keep, 2.0, posterior, fields)
    mean, covariance, evidence = full_recursion(wide, signs, MOMENTS[noise], 2.0, keep)
    np.testing.assert_allclose(total, evidence.sum(), atol=1e-9)
    np.testing.assert_allclose(
        posterior.clock[kernels.MEAN_SCALE] * posterior.mean, mean, atol=1e-9
    )
    np.testing.assert_allclose(covariance_of(posterior), covariance, atol=1e-9)

    found = np.empty((2, n_documents))
    kernels.full_fields(documents, posterior, found)
    np.testing.assert_allclose(found[0], wide @ mean, atol=1e-9)
    np.testing.assert_allclose(
        found[1], np.einsum("ij,jk,ik->i", wide, covariance, wide), atol=1e-9
    )


@pytest.mark.parametrize("size", [1, 2, 63, 65, 80])
def test_pending_terms_are_added_to_the_covariance(size):
    generator = np.random.default_rng(size)
    pending, weights = generator.normal(size=(8, size)), generator.normal(size=8)
    covariance, clock = np.eye(size), np.array([5.0, 1.0, 0.0, 1.0])
    expected = covariance + pending[:5].T * weights[:5] @ pending[:5]
    kernels.flush(covariance, pending, weights, clock)
    np.testing.assert_allclose(covariance, expected)
    np.testing.assert_array_equal(covariance, covariance.T)
    assert clock[kernels.COUNT] == 0.0


def test_scales_are_multiplied_into_the_stored_numbers():
    posterior = full_prior(3, 4)
    posterior.mean[:] = [1.0, 2.0, 3.0]
    posterior.clock[:] = [0.0, 0.5, 0.25, 0.1]
    kernels.apply_scales(*posterior)
    np.testing.assert_allclose(posterior.mean, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(posterior.covariance, 0.75 * np.eye(3))
    np.testing.assert_array_equal(posterior.clock, [0.0, 1.0, 0.0, 1.0])

    mean, variances, clock = np.array([2.0]), np.array([3.0]), np.array([0.0, 0.5, 0.25, 0.1])
    kernels.apply_diagonal_scales(mean, variances, clock)
    np.testing.assert_allclose([mean[0], variances[0]], [0.2, 1.75])
    np.testing.assert_array_equal(clock, [0.0, 1.0, 0.0, 1.0])


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize(("n_documents", "n_terms"), [(0, 3), (1, 1), (25, 6)])
def test_diagonal_updates(noise, n_documents, n_terms):
    wide, documents = local_entries(random_rows(n_documents, n_terms))
    signs = np.where(np.arange(n_documents) % 3 == 0, 1.0, -1.0)
    clock, fields = np.array([0.0, 1.0, 0.0, 1.0]), np.empty((2, n_documents))
    posterior = DiagonalArrays(np.zeros(n_terms + 1), np.ones(n_terms + 1), clock)
    kernels.learn_diagonal(*NOISE[noise], documents, signs, 1.0, 1.0, posterior, fields)
    mean, variances = diagonal_recursion(wide, signs, MOMENTS[noise])
    np.testing.assert_allclose(posterior.mean, mean, atol=1e-12)
    np.testing.assert_allclose(posterior.variances, variances, atol=1e-12)
    found = np.empty((2, n_documents))
    kernels.diagonal_fields(documents, posterior, found)
    np.testing.assert_allclose(found, [wide @ mean, wide**2 @ variances], atol=1e-12)


@pytest.mark.parametrize("scaled", [False, True])
def test_documents_in_a_models_own_columns(scaled):
    X = random_rows(4, 5)
    lookup = np.array([-1, 2, 1, -1, 3], dtype=np.int32)
    scales = np.array([2.0, 3.0, 4.0]) if scaled else np.empty(0)
    indptr = np.empty(5, dtype=np.int64)
    columns, values = kernels.restrict(entries_of(X), lookup, scales, 0.5, indptr)
    local = sparse.csr_array((values, columns, indptr), shape=(4, 4)).toarray()
    dense = X.toarray()
    expected = np.column_stack([np.full(4, 0.5), dense[:, 2], dense[:, 1], dense[:, 4]])
    expected[:, 1:] *= scales if scaled else 1.0
    np.testing.assert_array_equal(local, expected)


def test_no_documents_have_no_local_columns():
    indptr = np.empty(1, dtype=np.int64)
    empty = entries_of(sparse.csr_array((0, 2)))
    columns, values = kernels.restrict(
        empty, np.zeros(2, dtype=np.int32), np.empty(0), 1.0, indptr
    )
    assert len(columns) == len(values) == indptr[0] == 0
