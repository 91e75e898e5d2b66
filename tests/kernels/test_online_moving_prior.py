"""Independent weights whose prior moves with counts, against moments recomputed each time."""

import numpy as np
import pytest

from bayesift.kernels import online_moving_prior as kernels
from bayesift.kernels.online_experts import count_tables
from bayesift.kernels.online_moments import PROBIT
from bayesift.kernels.online_moving_prior import MovingArrays
from tests.oracles.online_stack import RunningPerceptron
from tests.oracles.sparse import local_entries, random_rows

NOISE = PROBIT, np.array([0.5])
TABLES = count_tables(64)


@pytest.mark.parametrize(("n_documents", "n_terms"), [(0, 2), (1, 1), (40, 7)])
def test_updates_and_fields(n_documents, n_terms):
    X = random_rows(n_documents, n_terms)
    dense, documents = X.toarray(), local_entries(X)[1]
    labels = np.arange(n_documents) % 3 == 0
    oracle, expected = RunningPerceptron(n_terms), []
    for x, label in zip(dense, labels, strict=True):
        expected.append(oracle.field(x))
        oracle.learn(x, int(label))

    size = n_terms + 1
    posterior = MovingArrays(np.zeros((3, size)), np.zeros(size), np.zeros(2), np.array([64.0]))
    fields, room = np.empty((2, n_documents)), np.empty(size)
    signs = np.where(labels, 1.0, -1.0)
    kernels.learn_moving(*NOISE, documents, signs, TABLES, posterior, fields, room)
    np.testing.assert_allclose(fields.T, np.reshape(expected, (-1, 2)), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(posterior.frequencies[1:], (dense != 0).sum(axis=0))
    np.testing.assert_array_equal(posterior.totals, [n_documents, labels.sum()])

    after, spreads = np.empty((2, n_documents)), np.empty(size)
    kernels.moving_fields(documents, TABLES, posterior, after)
    expected = np.reshape([oracle.field(x) for x in dense], (-1, 2))
    np.testing.assert_allclose(after.T, expected, rtol=1e-9, atol=1e-12)
    kernels.moving_spreads(TABLES, posterior, spreads)
    np.testing.assert_allclose(spreads, oracle.variances(), rtol=1e-9)
