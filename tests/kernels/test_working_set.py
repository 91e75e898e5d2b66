"""The parts of the working-set solver against NumPy written out."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from bayesift.kernels.documents import Matrix, Model, evaluate, single_out, stand_in
from bayesift.kernels.lazy_pulls import exact_pulls, no_pulls, take_in
from bayesift.kernels.likelihoods import LOGIT, PROBIT
from bayesift.kernels.linear import differentiate
from bayesift.kernels.newton_steps import reduced_gram, working_set
from bayesift.models.linear import LaplacePrior, Logit, Problem
from bayesift.models.linear.solvers import solve_all

FLAT = np.array([1.0, 0.0, 0.0])


def posterior(n=60, d=10, link=LOGIT, seed=0):
    generator = np.random.default_rng(seed)
    X = sparse.csr_array(generator.poisson(0.2, size=(n, d)) * generator.random((n, d)))
    columns = sparse.csc_array(X)
    importance = generator.integers(1, 4, n).astype(float)
    norms = np.sqrt(X.multiply(X).sum(axis=0))
    matrix = Matrix(columns.indptr, columns.indices, columns.data, X.indptr, X.indices, X.data, norms)
    members = np.flatnonzero(generator.random(n) < 0.3).astype(np.int32)
    penalty = np.stack([np.ones(d), np.zeros(d), np.zeros(d), np.full(d, -np.inf), np.full(d, np.inf)])
    terms = np.arange(d, dtype=np.int32)
    return X.toarray(), matrix, Model(members, importance, X.T @ importance, terms, link, np.zeros(3), penalty, FLAT)


def by_document(model, documents, values):
    """Values of all documents, of importance 1 without a place."""
    full = np.where(documents.places < 2, 0.0, values[documents.places])
    for group in (0, 1):
        alike = documents.places == group
        total = model.importance[alike].sum()
        full[alike] = values[group] * model.importance[alike] / total if total else 0.0
    return full


def test_logit_derivatives_far_out_and_in_blocks():
    scores = np.r_[np.linspace(-45, 45, 701), 0.0, -700.0, 700.0, 1e4, -1e4]
    signs = np.resize([1.0, -1.0, -1.0], len(scores))
    importance = np.resize([1.0, 1.0, 2.5, 1.0, 0.0], len(scores))
    out = np.empty((3, len(scores)))
    loss = differentiate(LOGIT, np.zeros(3), signs, importance, scores, *out, False)
    t = signs * scores
    assert loss == pytest.approx(importance @ np.logaddexp(0, -t), rel=1e-13)
    np.testing.assert_allclose(out[0], importance * signs * expit(-t), rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(out[1], importance * expit(t) * expit(-t), rtol=1e-14, atol=1e-300)


def test_cautious_curvature_is_that_of_the_bound_below_zero():
    scores = np.array([-6.0, -1.0, 1.0])
    out = np.empty((3, 3))
    differentiate(LOGIT, np.zeros(3), np.ones(3), np.ones(3), scores, *out, True)
    np.testing.assert_allclose(out[1, :2], np.tanh(scores[:2] / 2) / (2 * scores[:2]), rtol=1e-14)
    np.testing.assert_allclose(out[1, 2], expit(1.0) * expit(-1.0), rtol=1e-14)


@pytest.mark.parametrize("link", [LOGIT, PROBIT])
def test_documents_without_a_place_are_counted_together(link):
    X, matrix, model = posterior(link=link)
    documents = stand_in(model, -0.7)
    alone = evaluate(model, documents, False)
    single_out(matrix, model, documents, np.array([1, 4], dtype=np.int32))
    assert documents.filled[0] == 2 + np.count_nonzero(X[:, [1, 4]].any(axis=1))
    assert evaluate(model, documents, False) == pytest.approx(alone, rel=1e-13)
    signs = np.full(len(X), -1.0)
    signs[model.members] = 1.0
    expected = np.empty((3, len(X)))
    loss = differentiate(link, np.zeros(3), signs, model.importance, np.full(len(X), -0.7), *expected, False)
    assert loss == pytest.approx(alone, rel=1e-13)
    np.testing.assert_allclose(by_document(model, documents, documents.pulls), expected[0], rtol=1e-12)


def test_lazy_pulls_are_exact_but_for_what_they_leave_out():
    X, matrix, model = posterior()
    documents, lazy, generator = stand_in(model, -0.2), no_pulls(matrix, model), np.random.default_rng(1)
    for round_, threshold in enumerate((0.0, 0.05, 0.3, 0.0)):
        single_out(matrix, model, documents, np.array([round_, 5], dtype=np.int32))
        n = documents.filled[0]
        documents.scores[:n] += 0.1
        documents.scores[2:n] += generator.normal(size=n - 2)
        evaluate(model, documents, False)
        rho = take_in(matrix, model, documents, lazy, threshold)
        expected = X.T @ by_document(model, documents, documents.pulls)
        assert np.all(np.abs(lazy.pulls - expected) <= rho * matrix.norms + 1e-12)
        assert (rho == 0.0) == (threshold == 0.0)
        found = np.empty(3)
        exact_pulls(matrix, model, documents, np.array([7, 0, 2], dtype=np.int32), np.empty(len(X)), found)
        np.testing.assert_allclose(found, expected[[7, 0, 2]], rtol=1e-12)


def test_gram_matrix_without_the_intercept():
    X, matrix, model = posterior()
    documents, chosen = stand_in(model, 0.1), np.array([0, 3, 8], dtype=np.int32)
    terms = working_set(matrix, model, documents, chosen)
    evaluate(model, documents, False)
    product = np.empty((3, 3))
    total = reduced_gram(model, documents, terms, product)
    h = by_document(model, documents, documents.curvatures)
    sums = X[:, chosen].T @ h
    assert total == pytest.approx(h.sum())
    np.testing.assert_allclose(product, X[:, chosen].T * h @ X[:, chosen] - np.outer(sums, sums) / h.sum(), atol=1e-12)


def test_empty_documents_weigh_as_much_as_one_of_their_importance():
    generator = np.random.default_rng(2)
    X = np.vstack([generator.random((30, 6)), np.zeros((20, 6))])
    inside = np.r_[generator.random(30) < 0.5, np.resize([True, False], 20)]
    merged = np.vstack([X[:30], np.zeros((2, 6))])
    inside_merged, importance = np.r_[inside[:30], True, False], np.r_[np.ones(30), 10.0, 10.0]

    def solution(X, inside, importance):
        members = sparse.csr_array(inside[None].astype(np.int8))
        prior = LaplacePrior(gamma=0.1)
        problem = Problem(sparse.csr_array(X), members, importance, Logit(), prior, FLAT, tolerance=1e-9)
        return solve_all(problem, "coordinate", [None], None)[0]

    left, right = solution(X, inside, np.ones(50)), solution(merged, inside_merged, importance)
    np.testing.assert_allclose(left.coefficients, right.coefficients, atol=1e-6)
    assert left.objective[-1] == pytest.approx(right.objective[-1])


def test_threads_are_identical_to_the_last_bit():
    generator = np.random.default_rng(3)
    X = sparse.csr_array(generator.poisson(0.1, size=(300, 80)) * generator.random((300, 80)))
    members = sparse.csr_array((generator.random((6, 300)) < 0.2).astype(np.int8))
    problem = Problem(X, members, np.ones(300), Logit(), LaplacePrior(gamma=0.05), FLAT)
    for one, two in zip(*(solve_all(problem, "coordinate", [None] * 6, jobs) for jobs in (1, 2)), strict=True):
        np.testing.assert_array_equal(one.coefficients, two.coefficients)
        assert one.intercept == two.intercept
