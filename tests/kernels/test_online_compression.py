"""Compression of a precision, against the eigenvectors of the dense matrix."""

import numpy as np
import pytest

from bayesift.kernels import online_compression as kernels
from tests.oracles.low_rank import dense_moments, random_posterior
from tests.oracles.sparse import local_entries, random_rows


def with_pending(size, rank, count, seed=0):
    """A posterior, and documents that wait to be compressed, with the factor L of all of them."""
    wide, documents = local_entries(random_rows(count, size - 1, seed=seed))
    posterior = random_posterior(size, rank, count, seed=seed)
    generator = np.random.default_rng(seed)
    posterior.roots[:] = 0.2 + generator.random(count)
    posterior.coefficients[:] = generator.normal(size=rank + count)
    Y = np.vstack([posterior.factors, wide * posterior.roots[:, np.newaxis]])
    gram = np.eye(rank + count) + Y / posterior.precision @ Y.T
    posterior.triangle[:] = np.linalg.cholesky(gram)
    return wide, documents, posterior, Y


def compressed(posterior, Y):
    """Precision and factors after compression, by the formulas of the module."""
    rank = len(posterior.factors)
    values, vectors = np.linalg.eigh(Y / posterior.precision @ Y.T)
    order = np.argsort(-values)
    components = vectors[:, order].T @ Y
    dropped = components[rank:] ** 2 / (1.0 + values[order][rank:, np.newaxis])
    variances = 1.0 / posterior.precision - dropped.sum(axis=0) / posterior.precision**2
    return 1.0 / variances, components[:rank]


@pytest.mark.parametrize(("size", "rank", "count"), [(2, 1, 1), (6, 2, 3), (700, 3, 4)])
def test_the_leading_components_stay(size, rank, count):
    wide, documents, posterior, Y = with_pending(size, rank, count)
    precision, factors = compressed(posterior, Y)
    mean = dense_moments(posterior, wide)[0]
    slots = np.zeros(size)
    kernels.compress(documents, 0, count, posterior, slots)
    np.testing.assert_allclose(posterior.precision, precision, rtol=1e-8)
    np.testing.assert_allclose(
        posterior.factors.T @ posterior.factors, factors.T @ factors, atol=1e-8
    )
    np.testing.assert_allclose(posterior.mean, mean, atol=1e-9)
    assert not slots.any()
    assert not posterior.coefficients.any()


@pytest.mark.parametrize("rank", [1, 4])
def test_cholesky_factor(rank):
    posterior = random_posterior(9, rank, 3)
    expected = posterior.triangle[:rank, :rank].copy()
    posterior.triangle[:] = np.eye(rank + 3)
    kernels.factorise(posterior.precision, posterior.factors, posterior.triangle)
    np.testing.assert_allclose(posterior.triangle[:rank, :rank], expected)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_pending_part_is_added_to_the_mean(count):
    wide, documents, posterior, _ = with_pending(5, 2, max(count, 1))
    posterior.coefficients[2 + count :] = 0.0
    expected = dense_moments(posterior, wide[:count])[0]
    kernels.apply_pending_mean(documents, 0, count, posterior)
    np.testing.assert_allclose(posterior.mean, expected)
    assert not posterior.coefficients.any()


def test_forgetting_is_a_step_towards_the_prior():
    posterior = random_posterior(6, 3, 2)
    posterior.coefficients[:] = 0.0
    mean, covariance = dense_moments(posterior, np.empty((0, 6)))
    kernels.forget_low_rank(0.9, 2.0, posterior)
    after = dense_moments(posterior, np.empty((0, 6)))
    np.testing.assert_allclose(after[0], 0.9 * mean)
    np.testing.assert_allclose(after[1], 0.81 * covariance + 0.19 * 2.0 * np.eye(6))
