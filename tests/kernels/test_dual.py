"""Dual coordinate ascent, against roots found by SciPy."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from bayesift.kernels import dual as kernels
from bayesift.kernels.dual import DualArrays, DualDocuments
from bayesift.kernels.entries import entries_of
from bayesift.kernels.likelihoods import LOGIT, PROBIT, SQUARED_HINGE, parts
from tests.oracles.sparse import random_rows

LINKS = [LOGIT, PROBIT, SQUARED_HINGE]
PARAMETERS = np.zeros(3)
SPREAD, VARIANCE = 0.3, 2.0


def derivative(link, t):
    return 2.0 * max(1.0 - t, 0.0) if link == SQUARED_HINGE else parts(link, PARAMETERS, t)[1]


def loss(link, t):
    return max(1.0 - t, 0.0) ** 2 if link == SQUARED_HINGE else -parts(link, PARAMETERS, t)[0]


def visit_slowly(dense, order, link, counts, offsets, variances, weights, intercepts, duals):
    """One document and category after another: the margin t where a = c derivative(t)."""
    variances = np.broadcast_to(variances, weights.shape)
    for i in order:
        reaches = dense[i] ** 2 @ variances + SPREAD
        scores = dense[i] @ weights + intercepts + offsets[i]
        for c in range(weights.shape[1]):
            weight, sign, reach = abs(counts[i, c]), np.sign(counts[i, c]), reaches[c]
            base = sign * scores[c] - reach * duals[i, c]

            def excess(t, base=base, weight=weight, reach=reach):
                return t - base - reach * weight * derivative(link, t)

            high = base + reach * weight * derivative(link, base) + 1e-9
            after = weight * derivative(link, brentq(excess, base, high, xtol=1e-13))
            change = sign * (after - duals[i, c])
            duals[i, c] = after
            intercepts[c] += SPREAD * change
            weights[:, c] += variances[:, c] * change * dense[i]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("width", [1, 4, 8])
@pytest.mark.parametrize(("n_documents", "n_terms"), [(1, 1), (9, 11)])
@pytest.mark.parametrize("one_variance", [True, False])
def test_visits(link, width, n_documents, n_terms, one_variance):
    generator, X = np.random.default_rng(width), random_rows(n_documents, n_terms, density=0.7)
    dense = X.toarray()
    signs = np.where(generator.random((n_documents, width)) < 0.5, 1.0, -1.0)
    counts = signs * (0.5 + generator.random((n_documents, width)))
    offsets = 0.3 * generator.normal(size=counts.shape)
    weights, intercepts = np.zeros((n_terms, width)), np.zeros(width)
    duals, moves = np.zeros(counts.shape), np.zeros(counts.shape)
    expected = weights.copy(), intercepts.copy(), duals.copy()
    variances = np.full((1, 1), VARIANCE)
    if not one_variance:
        variances = VARIANCE * (0.5 + generator.random(weights.shape))
    spread = np.full(width, SPREAD)
    reach = dense**2 @ np.broadcast_to(variances, weights.shape) + spread
    documents = DualDocuments(entries_of(X), counts, offsets, reach)
    model = DualArrays(weights, intercepts, duals, moves, np.empty(width))
    for _ in range(3):
        order = generator.permutation(n_documents).astype(np.int32)
        before = duals.copy()
        kernels.visit(
            documents, order, link, PARAMETERS, spread, variances, np.zeros(width), model
        )
        visit_slowly(dense, order, link, counts, offsets, variances, *expected)
        np.testing.assert_allclose(moves, (duals - before) ** 2, atol=1e-12)
    # A Newton step below 0.1 is the last one: its error is of the order of its square.
    for found, wanted in zip((weights, intercepts, duals), expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=5e-3)


def test_no_visit_and_small_changes_leave_the_model():
    X = random_rows(3, 2)
    arrays = np.zeros((2, 1)), np.zeros(1), np.zeros((3, 1)), np.zeros((3, 1)), np.empty(1)
    model = DualArrays(*arrays)
    documents = DualDocuments(entries_of(X), np.ones((3, 1)), np.zeros((3, 1)), np.ones((3, 1)))
    for order, least in ((np.empty(0), 0.0), (np.arange(3), 1e9)):
        given = (
            documents,
            order.astype(np.int32),
            LOGIT,
            PARAMETERS,
            np.ones(1),
            np.ones((1, 1)),
        )
        kernels.visit(*given, np.array([least]), model)
        assert not (model.weights.any())
        assert not (model.intercepts.any())
        assert not (model.duals.any())


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("precision", [0.0, 2.0])
def test_best_intercepts(link, precision):
    generator = np.random.default_rng(0)
    scores = generator.normal(size=(12, 2))
    signs = np.where(generator.random((12, 2)) < 0.4, 1.0, -1.0)
    counts = signs * (0.5 + generator.random((12, 2)))
    intercepts = np.zeros(2)
    kernels.best_intercepts(link, PARAMETERS, counts, scores, precision, 0.3, intercepts)
    for c in range(2):

        def objective(b, c=c):
            margins = signs[:, c] * (scores[:, c] + b)
            total = sum(
                abs(n) * loss(link, t) for n, t in zip(counts[:, c], margins, strict=True)
            )
            return total + 0.5 * precision * (b - 0.3) ** 2

        best = minimize_scalar(
            objective, bounds=(-20, 20), method="bounded", options={"xatol": 1e-9}
        )
        np.testing.assert_allclose(intercepts[c], best.x, atol=1e-5)
