"""The parts of the working-set solver against NumPy written out."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from bayesift.kernels.documents import (
    Matrix,
    Model,
    arrange_rows,
    assign_places,
    evaluate,
    group_documents,
    working_set,
)
from bayesift.kernels.entries import entries_of
from bayesift.kernels.lazy_gradient import empty_gradient, exact_gradient, update_gradient
from bayesift.kernels.likelihoods import LOGIT, PROBIT
from bayesift.kernels.linear import differentiate, differentiate_logit, squared_lengths
from bayesift.kernels.newton_steps import (
    InterceptModel,
    WeighedColumns,
    least_curvature,
    minimise_by_columns,
    weigh_columns,
)
from bayesift.models.linear import LaplacePrior, LinearProblem, Logit
from bayesift.models.linear.solvers import proximal_newton, solve_all
from bayesift.models.linear.solvers.proximal_newton import Descent

FLAT = np.array([1.0, 0.0, 0.0])


def posterior(n=60, d=10, link=LOGIT, seed=0):
    generator = np.random.default_rng(seed)
    X = sparse.csr_array(generator.poisson(0.2, size=(n, d)) * generator.random((n, d)))
    columns = sparse.csc_array(X)
    importance = generator.integers(1, 4, n).astype(float)
    norms = np.sqrt(squared_lengths(columns.indptr, columns.data))
    matrix = Matrix(entries_of(columns), entries_of(X), norms)
    members = np.flatnonzero(generator.random(n) < 0.3).astype(np.int32)
    penalty = np.stack(
        [np.ones(d), np.zeros(d), np.zeros(d), np.full(d, -np.inf), np.full(d, np.inf)]
    )
    terms = np.arange(d, dtype=np.int32)
    return (
        X.toarray(),
        matrix,
        Model(members, importance, X.T @ importance, terms, link, np.zeros(3), penalty, FLAT),
    )


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
    out, totals = np.empty((3, len(scores))), np.empty(2)
    loss = differentiate_logit(signs, importance, scores, *out, totals, False)
    t = signs * scores
    assert loss == pytest.approx(importance @ np.logaddexp(0, -t), rel=1e-13)
    np.testing.assert_allclose(out[0], importance * signs * expit(-t), rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(
        out[1], importance * expit(t) * expit(-t), rtol=1e-14, atol=1e-300
    )
    np.testing.assert_allclose(totals, out[:2].sum(axis=1), rtol=1e-13)


def test_cautious_curvature_is_that_of_the_bound_below_zero():
    scores = np.array([-6.0, -1.0, 1.0])
    out = np.empty((3, 3))
    differentiate_logit(np.ones(3), np.ones(3), scores, *out, np.empty(2), True)
    np.testing.assert_allclose(
        out[1, :2], np.tanh(scores[:2] / 2) / (2 * scores[:2]), rtol=1e-14
    )
    np.testing.assert_allclose(out[1, 2], expit(1.0) * expit(-1.0), rtol=1e-14)


@pytest.mark.parametrize("link", [LOGIT, PROBIT])
def test_documents_without_a_place_are_counted_together(link):
    X, matrix, model = posterior(link=link)
    documents = group_documents(model, -0.7)
    alone = evaluate(model, documents, False)
    assign_places(matrix, model, documents, np.array([1, 4], dtype=np.int32))
    assert documents.filled[0] == 2 + np.count_nonzero(X[:, [1, 4]].any(axis=1))
    assert evaluate(model, documents, False) == pytest.approx(alone, rel=1e-13)
    signs = np.full(len(X), -1.0)
    signs[model.members] = 1.0
    expected, totals = np.empty((2, len(X))), np.empty(2)
    loss = differentiate(
        link, np.zeros(3), signs, model.importance, np.full(len(X), -0.7), *expected, totals
    )
    assert loss == pytest.approx(alone, rel=1e-13)
    np.testing.assert_allclose(documents.totals, totals, rtol=1e-12)
    np.testing.assert_allclose(totals, expected.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(
        by_document(model, documents, documents.residuals), expected[0], rtol=1e-12
    )


def test_the_lazy_gradient_is_exact_up_to_its_bound():
    X, matrix, model = posterior()
    documents, lazy, generator = (
        group_documents(model, -0.2),
        empty_gradient(matrix, model),
        np.random.default_rng(1),
    )
    for round_, threshold in enumerate((0.0, 0.05, 0.3, 0.0)):
        assign_places(matrix, model, documents, np.array([round_, 5], dtype=np.int32))
        n = documents.filled[0]
        documents.scores[:n] += 0.1
        documents.scores[2:n] += generator.normal(size=n - 2)
        evaluate(model, documents, False)
        update_gradient(matrix, model, documents, lazy, threshold)
        rho, expected = lazy.rho[0], X.T @ by_document(model, documents, documents.residuals)
        assert np.all(np.abs(lazy.neg_gradient - expected) <= rho * matrix.norms + 1e-12)
        assert (rho == 0.0) == (threshold == 0.0)
        found = exact_gradient(
            matrix, model, documents, np.array([7, 0, 2], dtype=np.int32), np.empty(len(X))
        )
        np.testing.assert_allclose(found, expected[[7, 0, 2]], rtol=1e-12)


def test_gram_matrix_without_the_intercept():
    X, matrix, model = posterior()
    documents, chosen = group_documents(model, 0.1), np.array([0, 3, 8], dtype=np.int32)
    assign_places(matrix, model, documents, chosen)
    terms = working_set(matrix, documents, chosen)
    arrange_rows(terms)
    evaluate(model, documents, False)
    product = np.empty((3, 3))
    total = Descent(matrix, model, documents, np.zeros(10), np.zeros(1))._reduced_gram(
        terms, product
    )
    h = by_document(model, documents, documents.curvatures)
    sums = X[:, chosen].T @ h
    assert total == pytest.approx(h.sum())
    np.testing.assert_allclose(
        product, X[:, chosen].T * h @ X[:, chosen] - np.outer(sums, sums) / h.sum(), atol=1e-12
    )


def test_documents_of_little_curvature_hold_a_share_at_most():
    curvatures = np.random.default_rng(6).exponential(size=50) ** 3
    for share in (0.0, 0.01, 0.2, 1.0):
        least = least_curvature(curvatures, share)
        assert curvatures[curvatures < least].sum() <= share * curvatures.sum()
        assert curvatures[curvatures <= least].sum() > min(share, 0.999) * curvatures.sum()


@pytest.mark.parametrize("weakest", [0.0, 0.2])
def test_descent_along_columns_meets_the_conditions_of_the_model(weakest):
    generator = np.random.default_rng(4)
    X = generator.normal(size=(40, 5)) * (generator.random((40, 5)) < 0.6)
    columns, h, gradient, bias_gradient = (
        sparse.csc_array(X),
        generator.random(40),
        4 * generator.normal(size=5),
        0.7,
    )
    size, chosen, strong = X.shape[1], np.arange(X.shape[1], dtype=np.int32), h >= weakest
    slots = np.where(strong, np.cumsum(strong) - 1, -1).astype(np.int32)
    places, scaled = (
        np.empty(columns.nnz, dtype=np.int32),
        np.empty(columns.nnz, dtype=np.float32),
    )
    starts, (squares, rest, sums) = np.empty(size + 1, dtype=np.int64), np.empty((3, size))
    by_document = np.where(strong, np.sqrt(h), h)
    matrix = entries_of(columns)
    weighed = WeighedColumns(starts, places, scaled, squares, rest, sums)
    weigh_columns(matrix, chosen, by_document, slots, weighed)
    np.testing.assert_allclose(sums, X[strong].T @ h[strong])
    penalty = np.stack(
        [
            np.full(size, 2.0),
            np.ones(size),
            np.zeros(size),
            np.full(size, -9.0),
            np.full(size, 9.0),
        ]
    )
    weights, step, moved = (
        np.r_[0.5, np.zeros(size - 1)],
        np.zeros(size),
        np.zeros(strong.sum()),
    )
    minimise_by_columns(
        chosen, weighed, gradient, InterceptModel(h.sum(), bias_gradient), penalty, weights, step,
        moved, 1e-12, 3,
    )  # fmt: skip
    metric = X[strong].T * h[strong] @ X[strong] + np.diag(h[~strong] @ X[~strong] ** 2)
    common, found = (bias_gradient - sums @ step) / h.sum(), weights + step
    slack = gradient - metric @ step - sums * common - found
    assert 0 < np.count_nonzero(found) < size
    np.testing.assert_allclose(slack[found != 0], 2.0 * np.sign(found[found != 0]), atol=1e-6)
    assert np.all(np.abs(slack) <= 2.0 + 1e-6)


@pytest.mark.parametrize("copied", [30, 0])
def test_more_terms_than_documents_meet_their_conditions(copied, monkeypatch):
    monkeypatch.setattr(proximal_newton, "_PASS", copied)  # 0: steps along columns
    generator = np.random.default_rng(5)
    X, inside = generator.normal(size=(40, 300)), generator.random(40) < 0.4
    members, prior = sparse.csr_array(inside[None].astype(np.int8)), LaplacePrior(gamma=0.01)
    problem = LinearProblem(
        sparse.csr_array(X), members, np.ones(40), Logit(), prior, FLAT, tolerance=1e-6
    )
    found = solve_all(problem, "coordinate", [None], None)[0]
    signs = np.where(inside, 1.0, -1.0)
    residuals = signs * expit(-signs * (X @ found.coefficients + found.intercept))
    violations = np.where(
        found.coefficients == 0,
        np.maximum(np.abs(X.T @ residuals) - 0.1, 0),
        np.abs(X.T @ residuals - 0.1 * np.sign(found.coefficients)),
    )
    assert found.converged
    assert violations.max() <= 1.01e-7
    assert abs(residuals.sum()) <= 1.01e-7


def test_empty_documents_weigh_as_much_as_one_of_their_importance():
    generator = np.random.default_rng(2)
    X = np.vstack([generator.random((30, 6)), np.zeros((20, 6))])
    inside = np.r_[generator.random(30) < 0.5, np.resize([True, False], 20)]
    merged = np.vstack([X[:30], np.zeros((2, 6))])
    inside_merged, importance = np.r_[inside[:30], True, False], np.r_[np.ones(30), 10.0, 10.0]

    def solution(X, inside, importance):
        members = sparse.csr_array(inside[None].astype(np.int8))
        prior = LaplacePrior(gamma=0.1)
        problem = LinearProblem(
            sparse.csr_array(X), members, importance, Logit(), prior, FLAT, tolerance=1e-9
        )
        return solve_all(problem, "coordinate", [None], None)[0]

    left, right = solution(X, inside, np.ones(50)), solution(merged, inside_merged, importance)
    np.testing.assert_allclose(left.coefficients, right.coefficients, atol=1e-6)
    assert left.objective[-1] == pytest.approx(right.objective[-1])


def test_threads_are_identical_to_the_last_bit():
    generator = np.random.default_rng(3)
    X = sparse.csr_array(generator.poisson(0.1, size=(300, 80)) * generator.random((300, 80)))
    members = sparse.csr_array((generator.random((6, 300)) < 0.2).astype(np.int8))
    problem = LinearProblem(X, members, np.ones(300), Logit(), LaplacePrior(gamma=0.05), FLAT)
    for one, two in zip(
        *(solve_all(problem, "coordinate", [None] * 6, jobs) for jobs in (1, 2)), strict=True
    ):
        np.testing.assert_array_equal(one.coefficients, two.coefficients)
        assert one.intercept == two.intercept
