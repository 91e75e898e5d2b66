"""FTRL-proximal, against its formulas in NumPy."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from bayesift.kernels.entries import entries_of
from bayesift.kernels.online_laplace import run_laplace
from tests.oracles.sparse import random_rows

FACTOR, RATE = 0.2, 8.0


def weights_of(z, n, strength):
    soft = np.sign(z) * np.maximum(np.abs(z) - strength, 0.0)
    return -soft * RATE / (1.0 + np.sqrt(n))


class Ftrl:
    def __init__(self, n_terms, n_models):
        self.z, self.n = np.zeros((2, n_terms, n_models))
        self.bias_z, self.bias_n = np.zeros((2, n_models))
        self.seen = 0

    def scores(self, x, passes):
        weights = weights_of(self.z, self.n, passes * FACTOR)
        return x @ weights + weights_of(self.bias_z, self.bias_n, 0.0)

    def learn(self, x, labels, pass_size):
        passes = max(1.0, self.seen / pass_size) if pass_size else 1.0
        scores = self.scores(x, passes)
        error = expit(np.clip(scores, -30, 30)) - labels
        for z, n, slope, strength in (
            (self.bias_z, self.bias_n, error, 0.0),
            (self.z, self.n, np.outer(x, error), passes * FACTOR),
        ):
            after = n + passes * slope**2
            moved = weights_of(z, n, strength) * (np.sqrt(after) - np.sqrt(n)) / RATE
            z += slope - moved
            n[...] = after
        self.seen += 1
        return scores


@pytest.mark.parametrize(
    ("n_documents", "n_terms", "n_models"), [(0, 2, 1), (1, 1, 1), (20, 5, 3)]
)
@pytest.mark.parametrize("pass_size", [0, 7])
def test_every_document_before_its_labels(n_documents, n_terms, n_models, pass_size):
    X = random_rows(n_documents, n_terms)
    labels = np.random.default_rng(0).integers(0, 2, (n_documents, n_models)).astype(float)
    oracle = Ftrl(n_terms, n_models)
    sums, squares = np.zeros((2, n_terms, n_models))
    biases, scores = np.zeros((2, n_models)), np.empty((n_documents, n_models))
    state = sums, squares, biases
    run_laplace(entries_of(X), labels, 0, pass_size, FACTOR, RATE, *state, scores)
    expected = [oracle.learn(x, y, pass_size) for x, y in zip(X.toarray(), labels, strict=True)]
    np.testing.assert_allclose(scores, np.reshape(expected, scores.shape), atol=1e-10)
    np.testing.assert_allclose(sums, oracle.z, atol=1e-10)
    np.testing.assert_allclose(squares, oracle.n, atol=1e-10)
    np.testing.assert_allclose(biases, [oracle.bias_z, oracle.bias_n], atol=1e-10)


def test_nothing_is_learned_without_labels():
    X = sparse.csr_array(np.eye(2))
    generator = np.random.default_rng(1)
    sums, squares = generator.normal(size=(2, 1)), generator.random((2, 1))
    biases, scores = np.array([[0.4], [0.2]]), np.empty((2, 1))
    state = sums.copy(), squares.copy(), biases.copy()
    run_laplace(entries_of(X), np.empty((0, 1)), 5, 2, FACTOR, RATE, *state, scores)
    expected = weights_of(sums, squares, 2.5 * FACTOR) + weights_of(*biases, 0.0)
    np.testing.assert_allclose(scores, expected)
    for before, after in zip((sums, squares, biases), state, strict=True):
        np.testing.assert_array_equal(before, after)
