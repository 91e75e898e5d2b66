import numpy as np
import pytest
from scipy import sparse

from bayesift.kernels.linear import LOWER, UPPER
from bayesift.models import GaussianPrior, LaplacePrior, SparseBayesClassifier
from bayesift.models.linear.links import link_of
from bayesift.models.linear.priors import penalty_rows
from bayesift.models.linear.quasi_newton import Settings, Terms, minimise
from bayesift.spark.blocks import Block, Questioner


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(sparse.random_array((300, 60), density=0.15, rng=rng))
    scores = X @ rng.normal(size=(60, 3)) * 3
    return X, sparse.csr_array((scores + rng.normal(size=scores.shape) > 0.5).astype(np.int8))


def fit_blocks(X, Y, link, prior, tolerance):
    """As Spark does, with three blocks in this process."""
    blocks = [Block(sparse.csr_array(X[a:b]), sparse.csr_array(Y[a:b])) for a, b in ((0, 90), (90, 91), (91, 300))]
    n_terms, n_models = X.shape[1], Y.shape[1]

    def ask(weights, models):
        answers = [Questioner(link_of(link), weights, models, n_models).answer(block) for block in blocks]
        return sum(a[0] for a in answers), sum(a[1] for a in answers)

    penalty = np.zeros((5, n_terms + 1, n_models))
    penalty[LOWER], penalty[UPPER] = -np.inf, np.inf
    for c in range(n_models):
        penalty[:, :-1, c] = penalty_rows(prior, c, n_terms)
    squares = np.append(np.asarray(X.power(2).sum(axis=0)), X.shape[0])
    terms = Terms(penalty, np.repeat(squares[:, None] / 4, n_models, axis=1))
    return minimise(ask, np.vstack([penalty[2, :-1], np.zeros((1, n_models))]), terms, Settings(tolerance, 3000))


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
def test_modes_are_those_of_the_local_solvers(data, link, prior):
    X, Y = data
    local = SparseBayesClassifier(link=link, prior=prior, tol=1e-9, max_iter=100_000).fit(X, Y)
    problem = local.problem(X, Y)
    least = np.array([problem.objective(c, s.coefficients, s.intercept) for c, s in enumerate(local.solutions_)])
    found, bounds = fit_blocks(X, Y, link, prior, 1e-8)
    got = np.array([problem.objective(c, s.coefficients, s.intercept) for c, s in enumerate(found)])
    gaps = (got - least) / least
    assert np.max(gaps) < 1e-7
    assert np.all(bounds >= gaps - 1e-10)
    assert all(np.all(np.diff(s.objective) <= 0) for s in found)


def test_a_loose_tolerance_is_met_early(data):
    X, Y = data
    prior = LaplacePrior(gamma=1.0)
    loose, bounds = fit_blocks(X, Y, "logit", prior, 1e-2)
    strict, _ = fit_blocks(X, Y, "logit", prior, 1e-7)
    assert np.all(bounds <= 1e-2)
    assert all(a.iterations < b.iterations for a, b in zip(loose, strict, strict=True))
