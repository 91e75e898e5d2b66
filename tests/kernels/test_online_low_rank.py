"""Low-rank online updates: exact until documents are compressed, and after it with enough rank."""

import numpy as np
import pytest

from bayesift.kernels import online_low_rank as kernels
from bayesift.kernels.entries import Entries
from bayesift.kernels.online_moments import PROBIT
from tests.oracles.low_rank import dense_moments, random_posterior
from tests.oracles.online import full_recursion
from tests.oracles.sparse import local_entries, random_rows

NOISE = PROBIT, np.array([0.5])


def pending_rows(wide, left):
    return wide[len(wide) - left :] if left else wide[:0]


@pytest.mark.parametrize(("n_documents", "n_terms", "rank"), [(0, 3, 2), (1, 1, 1), (7, 5, 3)])
def test_updates_without_compression_are_exact(n_documents, n_terms, rank):
    wide, documents = local_entries(random_rows(n_documents, n_terms))
    signs = np.where(np.arange(n_documents) % 2 == 0, 1.0, -1.0)
    posterior = random_posterior(n_terms + 1, rank, 8)
    start = dense_moments(posterior, wide[:0])
    fields, workspace = np.empty((2, n_documents)), np.zeros(n_terms + 1)
    total, left = kernels.learn_low_rank(
        *NOISE, documents, signs, 0, 1.0, 1.0, posterior, workspace, fields
    )
    mean, covariance, evidence = full_recursion(wide, signs, start=start)
    assert left == n_documents
    np.testing.assert_allclose(total, evidence.sum(), atol=1e-9)
    found = dense_moments(posterior, wide)
    np.testing.assert_allclose(found[0], mean, atol=1e-9)
    np.testing.assert_allclose(found[1], covariance, atol=1e-9)
    assert not workspace.any()


def test_updates_with_enough_rank_stay_exact():
    wide, documents = local_entries(random_rows(20, 4))
    signs = np.where(np.arange(20) % 3 == 0, 1.0, -1.0)
    posterior = random_posterior(5, 5, 4)
    start = dense_moments(posterior, wide[:0])
    fields = np.empty((2, 20))
    _, left = kernels.learn_low_rank(
        *NOISE, documents, signs, 0, 1.0, 1.0, posterior, np.zeros(5), fields
    )
    mean, covariance, _ = full_recursion(wide, signs, start=start)
    assert left == 0
    found = dense_moments(posterior, wide[:0])
    np.testing.assert_allclose(found[0], mean, atol=1e-8)
    np.testing.assert_allclose(found[1], covariance, atol=1e-8)


@pytest.mark.parametrize("count", [0, 3])
def test_fields_count_pending_documents(count):
    wide, documents = local_entries(random_rows(6, 5))
    posterior = random_posterior(6, 2, 8)
    signs, waiting = np.ones(count), Entries(documents.indptr[: count + 1], *documents[1:])
    learned = np.empty((2, count))
    kernels.learn_low_rank(*NOISE, waiting, signs, 0, 1.0, 1.0, posterior, np.zeros(6), learned)
    fields = np.empty((2, 6 - count))
    kernels.low_rank_fields(documents, count, posterior, np.zeros(6), fields)
    mean, covariance = dense_moments(posterior, wide[:count])
    rest = wide[count:]
    np.testing.assert_allclose(fields[0], rest @ mean, atol=1e-9)
    np.testing.assert_allclose(
        fields[1], np.einsum("ij,jk,ik->i", rest, covariance, rest), atol=1e-9
    )
