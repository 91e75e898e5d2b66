"""Parts of softmax regression, against dense NumPy."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_softmax, softmax

from bayesift.kernels import softmax as kernels
from bayesift.kernels.entries import entries_of
from tests.oracles.sparse import random_rows

SHAPES = [(1, 1), (3, 7)]  # classes x documents


def scores_of(shape, seed=0):
    return 3.0 * np.random.default_rng(seed).normal(size=shape)


def exponentials_of(scores):
    reference, exponentials = np.empty(scores.shape[1]), np.empty(scores.shape)
    kernels.exponentiate(scores, reference, exponentials)
    return reference, exponentials


@pytest.mark.parametrize("shape", SHAPES)
def test_probabilities_and_likelihood(shape):
    scores = scores_of(shape)
    reference, exponentials = exponentials_of(scores)
    np.testing.assert_array_equal(reference, scores.max(axis=0))
    labels = np.arange(shape[1]) % shape[0]
    importance = 1.0 + np.arange(shape[1])
    probabilities, totals = np.empty(shape), np.empty(shape[1])
    loss = kernels.normalise(
        scores, reference, exponentials, labels, importance, probabilities, totals
    )
    np.testing.assert_allclose(probabilities, softmax(scores, axis=0))
    logs = log_softmax(scores, axis=0)[labels, np.arange(shape[1])]
    np.testing.assert_allclose(loss, -importance @ logs, atol=1e-12)

    residuals = np.zeros((shape[1], 4))
    kernels.residuals_of(probabilities, labels, importance, residuals)
    expected = importance * (np.eye(shape[0])[:, labels] - probabilities)
    np.testing.assert_allclose(residuals[:, : shape[0]], expected.T, atol=1e-12)


def test_a_class_as_a_binary_problem():
    scores = scores_of((3, 7))
    reference, exponentials = exponentials_of(scores)
    offsets, margins = np.empty((2, 7))
    kernels.to_binary(scores, reference, exponentials, 1, offsets, margins)
    others = np.logaddexp(scores[0], scores[2])
    np.testing.assert_allclose(offsets, others)
    np.testing.assert_allclose(margins, scores[1] - others)
    margins += 0.5
    before = scores[1].copy()
    kernels.from_binary(scores, reference, exponentials, 1, offsets, margins)
    np.testing.assert_allclose(scores[1], before + 0.5)
    np.testing.assert_allclose(exponentials[1], np.exp(scores[1] - reference))


def smallest_subgradient(weight, mode, l1, l2, neg_gradient):
    gradient = l2 * (weight - mode) - neg_gradient
    if weight != mode:
        return abs(gradient + l1 * np.sign(weight - mode))
    return max(abs(gradient) - l1, 0.0)


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("layers", [1, 3])
def test_violations(limited, layers):
    generator = np.random.default_rng(0)
    X = random_rows(8, 5)
    residuals = np.zeros((8, 4))
    residuals[:, :3] = generator.normal(size=(8, 3))
    bounds = np.full(5, np.inf)
    penalties = np.stack(
        [
            np.stack(
                [0.5 + generator.random(5), generator.random(5), np.zeros(5), -bounds, bounds]
            )
            for _ in range(layers)
        ]
    )
    weights = np.where(generator.random((3, 5)) < 0.5, generator.normal(size=(3, 5)), 0.0)
    allowed = generator.random((3, 5)) < 0.6 if limited else np.empty((0, 0), dtype=bool)
    terms = np.array([0, 2, 3, 4], dtype=np.int32)
    places = np.empty((3, 5), dtype=np.int32)
    violations, counts = np.empty((3, 5)), np.empty(3, dtype=np.int64)
    columns = entries_of(sparse.csc_array(X))
    given = columns, terms, residuals, penalties, allowed, weights, np.empty(4)
    largest = kernels.find_violations(*given, places, violations, counts)
    neg_gradient, found = X.toarray().T @ residuals, []
    for c in range(3):
        expected = {}
        for j in terms:
            l1, l2, mode = penalties[c if layers > 1 else 0, :3, j]
            amount = smallest_subgradient(weights[c, j], mode, l1, l2, neg_gradient[j, c])
            if (not limited or allowed[c, j]) and (amount > 0 or weights[c, j] != mode):
                expected[int(j)] = amount
        listed = places[c, : counts[c]].tolist()
        assert listed == list(expected)
        np.testing.assert_allclose(
            violations[c, : counts[c]], list(expected.values()), atol=1e-12
        )
        found += expected.values()
    np.testing.assert_allclose(largest, max(found))


def test_products_with_working_sets():
    X = random_rows(6, 5)
    columns, dense = sparse.csc_array(X), X.toarray()
    starts, terms = np.array([0, 2, 2, 5]), np.array([1, 4, 0, 2, 3], dtype=np.int32)
    generator = np.random.default_rng(0)
    vector, out = generator.normal(size=8), np.empty((3, 6))
    kernels.step_scores(*entries_of(columns), starts, terms, vector, out)
    values, transposed = generator.normal(size=(3, 6)), np.empty(8)
    kernels.transposed_product(*entries_of(columns), starts, terms, values, transposed)
    for c in range(3):
        part = slice(starts[c], starts[c + 1])
        np.testing.assert_allclose(out[c], dense[:, terms[part]] @ vector[part] + vector[5 + c])
        np.testing.assert_allclose(transposed[part], dense[:, terms[part]].T @ values[c])
        np.testing.assert_allclose(transposed[5 + c], values[c].sum())


@pytest.mark.parametrize("shape", SHAPES)
def test_hessian_product(shape):
    probabilities = softmax(scores_of(shape), axis=0)
    importance, values = 1.0 + np.arange(shape[1]), scores_of(shape, 1)
    expected = np.stack(
        [
            w * (np.diag(p) - np.outer(p, p)) @ d
            for w, p, d in zip(importance, probabilities.T, values.T, strict=True)
        ],
        axis=1,
    )
    kernels.hessian_product(probabilities, importance, np.empty(shape[1]), values)
    np.testing.assert_allclose(values, expected, atol=1e-12)


@pytest.mark.parametrize("n_rows", [0, 1, 6])
def test_products_with_blocks(n_rows):
    X = random_rows(n_rows, 5)
    block = scores_of((5, 8))
    out = np.empty((n_rows, 8))
    kernels.products(*entries_of(X), block, out)
    np.testing.assert_allclose(out, X.toarray() @ block, atol=1e-12)


def test_conjugate_gradients_solve_a_system():
    generator = np.random.default_rng(0)
    root = generator.normal(size=(4, 4))
    matrix, target = root @ root.T + np.eye(4), generator.normal(size=4)
    diagonal, step, residual = np.diag(matrix).copy(), np.zeros(4), target.copy()
    search, power = np.zeros(4), 1.0
    kernels.cg_direction(0.0, residual, diagonal, search)
    np.testing.assert_allclose(search, target / diagonal)
    power = residual @ search
    for _ in range(4):
        image = matrix @ search
        after = kernels.cg_step(
            power / (search @ image), search, image, diagonal, step, residual
        )
        np.testing.assert_allclose(after, residual**2 @ (1.0 / diagonal))
        kernels.cg_direction(after / power, residual, diagonal, search)
        power = after
    np.testing.assert_allclose(matrix @ step, target, atol=1e-8)
