import numpy as np
import pytest
from scipy import sparse

from bayesift.kernels.linear import LOWER, UPPER
from bayesift.models.linear import GaussianPrior, LaplacePrior, SparseBayesClassifier
from bayesift.models.linear.links import link_of
from bayesift.models.linear.priors import is_shared, penalty_rows
from bayesift.spark import newton
from bayesift.spark.blocks import LossEvaluator, LossSums, RowBlock
from bayesift.spark.descent import DescentLimits, Penalty, WeightedSet, minimise_by_lbfgs
from bayesift.spark.newton import minimise_by_newton, packed_size


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(sparse.random_array((300, 60), density=0.15, rng=rng))
    scores = X @ rng.normal(size=(60, 3)) * 3
    return X, sparse.csr_array((scores + rng.normal(size=scores.shape) > 0.5).astype(np.int8))


class Oracle:
    """As Spark does, with three blocks in this process."""

    def __init__(self, X, Y, link):
        edges = ((0, 90), (90, 91), (91, 300))
        self.blocks = [
            RowBlock(sparse.csr_array(X[a:b]), sparse.csr_array(Y[a:b])) for a, b in edges
        ]
        self.link, self.n_models, self.calls = link_of(link), Y.shape[1], []

    def evaluate(self, weights, models, *more):
        evaluator = LossEvaluator(
            self.link, np.ascontiguousarray(weights), models, self.n_models, *more
        )
        batches = [
            evaluator.evaluate(block).to_batch(part) for part, block in enumerate(self.blocks)
        ]
        return LossSums.of(
            [row for batch in batches for row in batch.to_pylist()], weights.shape
        )

    def loss_and_gradient(self, weights, models):
        self.calls.append("gradient")
        return self.evaluate(weights, models)[:2]

    def hessian_diagonal(self, weights, models):
        self.calls.append("diagonal")
        return self.evaluate(weights, models, True).hessians.reshape(weights.shape)

    def loss_and_hessians(self, weights, models, sets):
        self.calls.append("hessians")
        losses, gradients, packed = self.evaluate(weights, models, False, sets)
        return (
            losses,
            gradients,
            np.split(packed, np.cumsum([packed_size(len(held.terms)) for held in sets])[:-1]),
        )


def fit_blocks(X, Y, link, prior, tolerance, method):
    documents = Oracle(X, Y, link)
    n_terms, n_models = X.shape[1], Y.shape[1]
    penalty = np.zeros((5, n_terms + 1, n_models))
    penalty[LOWER], penalty[UPPER] = -np.inf, np.inf
    for c in range(n_models):
        penalty[:, :-1, c] = penalty_rows(prior, c, n_terms)
    if is_shared(prior):
        penalty = penalty[:, :, :1]
    squares = np.append(np.asarray(X.power(2).sum(axis=0)), X.shape[0])
    block = Penalty(penalty, np.repeat(squares[:, None] / 4, n_models, axis=1))
    start = np.zeros((n_terms + 1, n_models))
    start[:-1] = penalty[2, :-1]
    found, bounds = method(documents, start, block, DescentLimits(tolerance, 3000))
    return found, bounds, documents.calls


@pytest.mark.parametrize(
    "method", [minimise_by_lbfgs, minimise_by_newton], ids=["quasi-newton", "sets"]
)
@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize(
    "prior",
    [
        LaplacePrior(gamma=1.0),
        GaussianPrior(variance=2.0),
        LaplacePrior(gamma=np.array([[0.5], [1.0], [4.0]]), mode=0.3),
        LaplacePrior(gamma=1.0, sign=np.arange(60) % 3 - 1),
        GaussianPrior(variance=1.0, sign=1),
    ],
    ids=["laplace", "gaussian", "modes", "signs", "positive"],
)
def test_modes_are_those_of_the_local_solvers(data, link, prior, method):
    X, Y = data
    local = SparseBayesClassifier(link=link, prior=prior, tol=1e-9, max_iter=100_000).fit(X, Y)
    problem = local.problem(X, Y)
    least = np.array(
        [
            problem.objective(c, s.coefficients, s.intercept)
            for c, s in enumerate(local.solutions_)
        ]
    )
    found, bounds, _ = fit_blocks(X, Y, link, prior, 1e-8, method)
    got = np.array(
        [problem.objective(c, s.coefficients, s.intercept) for c, s in enumerate(found)]
    )
    gaps = (got - least) / least
    assert np.max(gaps) < 1e-7
    assert np.all(bounds >= gaps - 1e-10)
    assert all(np.all(np.diff(s.objective) <= 1e-12 * s.objective[0]) for s in found)


@pytest.mark.parametrize(
    "method", [minimise_by_lbfgs, minimise_by_newton], ids=["quasi-newton", "sets"]
)
def test_a_loose_tolerance_is_met_early(data, method):
    X, Y = data
    prior = LaplacePrior(gamma=1.0)
    loose, bounds, _ = fit_blocks(X, Y, "logit", prior, 1e-2, method)
    strict, *_ = fit_blocks(X, Y, "logit", prior, 1e-7, method)
    assert np.all(bounds <= 1e-2)
    assert all(a.iterations < b.iterations for a, b in zip(loose, strict, strict=True))


def test_sets_need_far_fewer_evaluations(data):
    X, Y = data
    few, many = (
        fit_blocks(X, Y, "logit", LaplacePrior(gamma=1.0), 1e-8, m)[2]
        for m in (minimise_by_newton, minimise_by_lbfgs)
    )
    assert len(few) < len(many) / 2


def test_a_set_that_is_too_large_goes_on_without(data, monkeypatch):
    X, Y = data
    prior = LaplacePrior(gamma=1.0)
    whole, *_ = fit_blocks(X, Y, "logit", prior, 1e-9, minimise_by_newton)
    monkeypatch.setattr(newton, "LARGEST_SET", 8)
    found, bounds, asked = fit_blocks(X, Y, "logit", prior, 1e-5, minimise_by_newton)
    assert asked[-1] == "gradient"
    assert np.all(bounds <= 1e-5)
    for a, b in zip(found, whole, strict=True):
        assert a.objective[-1] == pytest.approx(b.objective[-1], rel=1e-7)
        assert len(a.objective) == a.iterations + 1
        assert np.all(np.diff(a.objective) <= 1e-12)


def test_second_derivatives_are_those_of_dense_matrices(data):
    X, Y = data
    rng = np.random.default_rng(1)
    weights, chosen = (
        rng.normal(size=(61, 3)),
        [np.array([3, 7, 50]), np.arange(60), np.array([], dtype=int)],
    )
    documents = Oracle(X, Y, "logit")
    *_, packed = documents.loss_and_hessians(
        weights, [0, 1, 2], [WeightedSet(terms, False) for terms in chosen]
    )
    ones = np.hstack([X.toarray(), np.ones((300, 1))])
    p = 1 / (1 + np.exp(-ones @ weights))
    hessians = [ones.T @ (ones * (p * (1 - p))[:, [c]]) for c in range(3)]
    diagonals = documents.hessian_diagonal(weights, [0, 1, 2])
    for c, terms in enumerate(chosen):
        here = np.append(terms, 60)
        expected = np.tril(hessians[c][np.ix_(here, here)])
        np.testing.assert_allclose(
            newton.unpacked_gram(packed[c], len(terms)), expected, rtol=1e-6, atol=1e-7
        )
        np.testing.assert_allclose(diagonals[:, c], np.diag(hessians[c]), rtol=1e-6)


class WrongGradients(Oracle):
    """Gradients that point uphill: no step decreases the objective."""

    def loss_and_gradient(self, weights, models):
        losses, gradients = super().loss_and_gradient(weights, models)
        return losses, -gradients

    def loss_and_hessians(self, weights, models, sets):
        losses, gradients, hessians = super().loss_and_hessians(weights, models, sets)
        return losses, -gradients, hessians


@pytest.mark.parametrize(
    "method", [minimise_by_lbfgs, minimise_by_newton], ids=["quasi-newton", "sets"]
)
def test_models_whose_line_search_fails_have_not_converged(data, method):
    X, Y = data
    penalty = np.zeros((5, 61, 1))
    penalty[LOWER], penalty[UPPER], penalty[0, :-1] = -np.inf, np.inf, 1.0
    curvatures = np.repeat(np.append(X.power(2).sum(axis=0), 300)[:, None] / 4, 3, axis=1)
    found, bounds = method(
        WrongGradients(X, Y, "logit"),
        np.zeros((61, 3)),
        Penalty(penalty, curvatures),
        DescentLimits(),
    )
    assert np.all(bounds > 1e-2)
    assert not any(solution.converged for solution in found)
