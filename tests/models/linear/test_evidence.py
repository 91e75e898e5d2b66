"""The evidence of Laplace priors and softmax models against integrals on grids and NumPy."""

import numpy as np
import pytest
from scipy import integrate, linalg, sparse
from scipy.special import expit, log_expit, log_softmax, logsumexp

from bayesift.models.linear import (
    GaussianPrior,
    JeffreysPrior,
    LaplacePrior,
    LinearProblem,
    Logit,
    SparseBayesClassifier,
    log_evidence,
    softmax_log_evidence,
)
from bayesift.models.linear.evidence import KinkIntegrals, lanczos_spectra
from bayesift.models.linear.solvers import solve_all
from tests.oracles.bayesian_lasso import mean_size_by_gibbs

NO_INTERCEPT, FLAT, NORMAL = np.zeros(3), np.array([1.0, 0.0, 0.0]), np.array([1.0, 2.0, 0.3])


def binary_problem(gamma, *, n=60, d=1, intercept=NO_INTERCEPT, strength=1.0, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, d))
    labels = strength * X[:, 0] + generator.logistic(size=n) > 0
    members = sparse.csr_array(labels[None].astype(np.int8))
    return LinearProblem(
        sparse.csr_array(X),
        members,
        np.ones(n),
        Logit(),
        LaplacePrior(gamma=gamma),
        intercept,
        tolerance=1e-9,
    )


def log_integral(logs, cell):
    return float(logsumexp(logs) + np.log(cell))


@pytest.mark.parametrize("distance", [0.0, 0.05, -0.7, 3.0])
def test_integrals_along_a_weight_are_those_of_quadrature(distance):
    rate, curvature = 1.7, 2.3
    for slope in [rate * np.sign(distance)] if distance else [-1.6, 0.0, 1.0]:

        def density(u, slope=slope):
            kink = np.abs(distance + u) - np.abs(distance)
            return np.exp(slope * u - curvature * u**2 / 2 - rate * kink)

        exact = integrate.quad(density, -30, 30, points=[-distance, 0], limit=500)[0]
        ours = KinkIntegrals(
            *(np.array([x]) for x in (distance, slope, curvature, rate))
        ).log_total
        scaled = 0.5 * np.log1p(2 * curvature / rate**2)
        assert ours - scaled == pytest.approx(np.log(rate / 2 * exact), abs=1e-9)


def test_a_term_without_documents_adds_nothing():
    nothing = KinkIntegrals(np.zeros(1), np.zeros(1), np.zeros(1), np.array([3.0]))
    assert nothing.log_total == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("strength", [0.0, 0.6, 2.0], ids=["at the kink", "near it", "far"])
@pytest.mark.parametrize("gamma", [0.5, 20.0])
def test_one_weight_under_a_laplace_prior_is_its_integral(gamma, strength):
    problem = binary_problem(gamma, strength=strength)
    solution = solve_all(problem, "auto", [None], None)[0]
    grid = np.linspace(-8, 8, 4001)
    logs = log_expit(problem.signs(0)[:, None] * problem.rows.toarray() * grid).sum(axis=0)
    logs += 0.5 * np.log(gamma) - np.log(2) - np.sqrt(gamma) * np.abs(grid)
    assert log_evidence(problem, 0, solution) == pytest.approx(
        log_integral(logs, grid[1] - grid[0]), abs=0.03
    )


@pytest.mark.parametrize("intercept", [FLAT, NORMAL], ids=["flat", "normal"])
def test_a_weight_and_an_intercept_are_the_double_integral(intercept):
    problem = binary_problem(4.0, intercept=intercept)
    solution = solve_all(problem, "auto", [None], None)[0]
    grid = np.linspace(-5, 5, 401)
    margins = problem.rows.toarray()[:, 0, None, None] * grid[:, None] + grid
    logs = log_expit(problem.signs(0)[:, None, None] * margins).sum(axis=0)
    logs += np.log(2.0 / 2) - 2.0 * np.abs(grid[:, None])
    if intercept[1]:
        logs += (
            0.5 * np.log(intercept[1] / (2 * np.pi))
            - 0.5 * intercept[1] * (grid - intercept[2]) ** 2
        )
    exact = log_integral(logs, (grid[1] - grid[0]) ** 2)
    assert log_evidence(problem, 0, solution) == pytest.approx(exact, abs=0.05)


def test_correlated_weights_are_the_double_integral():
    generator = np.random.default_rng(4)
    first = generator.normal(size=120)
    X = np.column_stack([first, 0.7 * first + 0.7 * generator.normal(size=120)])
    labels = X @ [1.2, 0.8] + generator.logistic(size=120) > 0
    members = sparse.csr_array(labels[None].astype(np.int8))
    problem = LinearProblem(
        sparse.csr_array(X), members, np.ones(120), Logit(), LaplacePrior(1.0), NO_INTERCEPT
    )
    solution = solve_all(problem, "auto", [None], None)[0]
    grid = np.linspace(-4, 6, 301)
    margins = X[:, 0, None, None] * grid[:, None] + X[:, 1, None, None] * grid
    logs = log_expit(problem.signs(0)[:, None, None] * margins).sum(axis=0)
    logs += 2 * np.log(0.5) - np.abs(grid[:, None]) - np.abs(grid)
    exact = log_integral(logs, (grid[1] - grid[0]) ** 2)
    assert log_evidence(problem, 0, solution) == pytest.approx(exact, abs=0.1)


def test_many_weights_prefer_the_scale_that_gibbs_sampling_does():
    """The derivative by the log rate is terms - rate E sum |weights|.

    The mean is that of a long run at each rate.
    """
    generator = np.random.default_rng(3)
    X = (generator.random((300, 60)) < 0.1).astype(float)
    weights = np.zeros(60)
    weights[:10] = generator.normal(scale=2.0, size=10)
    y = (generator.random(300) < expit(X @ weights - 0.5)).astype(float)
    rates, ours, slopes = np.array([0.8, 1.2, 1.8, 2.7, 4.0]), [], []
    for rate in rates:
        prior, intercept = LaplacePrior(gamma=rate**2), np.array([1.0, 1e-3, 0.0])
        members = sparse.csr_array(y[None].astype(np.int8))
        problem = LinearProblem(
            sparse.csr_array(X),
            members,
            np.ones(300),
            Logit(),
            prior,
            intercept,
            tolerance=1e-6,
        )
        ours.append(log_evidence(problem, 0, solve_all(problem, "auto", [None], None)[0]))
        slopes.append(60 - rate * mean_size_by_gibbs(X, y, rate=rate, n_draws=300))
    rises = np.diff(np.log(rates)) * (np.array(slopes)[1:] + np.array(slopes)[:-1]) / 2
    np.testing.assert_allclose(np.diff(ours), rises, atol=0.8)
    assert np.argmax(ours) == np.argmax(np.append(0.0, np.cumsum(rises)))


@pytest.mark.parametrize(
    "eigenvalues",
    [np.geomspace(1.0, 1e3, 300), np.repeat([1.0, 2.0, 50.0], 100), np.full(300, 3.0)],
)
def test_lanczos_quadrature_is_the_form_with_scipys_functions_of_the_matrix(eigenvalues):
    generator = np.random.default_rng(0)
    basis = np.linalg.qr(generator.normal(size=(300, 300)))[0]
    matrix, starts = (
        (basis * eigenvalues) @ basis.T,
        generator.choice([-1.0, 1.0], size=(300, 4)),
    )
    spectra = lanczos_spectra(lambda columns: matrix @ columns, starts)
    logs = np.diagonal(starts.T @ linalg.logm(matrix).real @ starts)
    np.testing.assert_allclose([spectrum.form(np.log) for spectrum in spectra], logs, atol=0.1)
    inverses = np.diagonal(starts.T @ linalg.inv(matrix) @ starts)
    np.testing.assert_allclose(
        [spectrum.form(np.reciprocal) for spectrum in spectra], inverses, rtol=0.01
    )


def test_equal_columns_have_a_finite_evidence():
    problem = binary_problem(1.0, n=100)
    twice = problem.varied(rows=sparse.csr_array(sparse.hstack([problem.rows, problem.rows])))
    solution = solve_all(twice, "auto", [None], None)[0]
    assert log_evidence(twice, 0, solution) == pytest.approx(log_evidence(problem, 0, solve_all(
        problem, "auto", [None], None)[0]), abs=1.0)  # fmt: skip


def softmax_problem(prior, *, n=40, d=1, k=3, intercept=NO_INTERCEPT, seed=1):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, d))
    scores = X @ generator.normal(size=(d, k)) + generator.gumbel(size=(n, k))
    members = sparse.csr_array(np.eye(k, dtype=np.int8)[np.argmax(scores, axis=1)].T)
    return LinearProblem(
        sparse.csr_array(X),
        members,
        np.ones(n),
        Logit(),
        prior,
        intercept,
        tolerance=1e-9,
        coupled=True,
    )


def test_softmax_of_one_term_is_the_triple_integral():
    problem = softmax_problem(GaussianPrior(), n=30)
    grid = np.linspace(-5, 5, 51)
    weights = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1)
    labels, likelihood = (
        np.argmax(problem.members.toarray(), axis=0),
        np.zeros(weights.shape[:-1]),
    )
    for x, label in zip(problem.rows.toarray()[:, 0], labels, strict=True):
        likelihood += log_softmax(x * weights, axis=-1)[..., label]

    def error(prior, density):
        at_prior = problem.varied(prior=prior)
        ours = softmax_log_evidence(at_prior, solve_all(at_prior, "auto", [None] * 3, None))
        return ours - log_integral(likelihood + density.sum(axis=-1), (grid[1] - grid[0]) ** 3)

    for v in (0.3, 0.7):
        assert (
            abs(error(GaussianPrior(v), -0.5 * weights**2 / v - 0.5 * np.log(2 * np.pi * v)))
            < 0.15
        )
    errors = [
        error(LaplacePrior(g), 0.5 * np.log(g / 4) - np.sqrt(g) * np.abs(weights))
        for g in (2.0, 5.0, 15.0)
    ]
    assert max(np.abs(errors)) < 0.3
    assert max(errors) - min(errors) < 0.2


@pytest.mark.parametrize(
    "intercept", [FLAT, NORMAL, NO_INTERCEPT], ids=["flat", "normal", "no"]
)
def test_softmax_evidence_under_a_gaussian_prior_is_numpys_determinant(intercept):
    problem = softmax_problem(GaussianPrior(2.0), n=150, d=12, k=4, intercept=intercept)
    solutions = solve_all(problem, "auto", [None] * 4, None)
    weights = np.array(
        [np.append(solution.coefficients, solution.intercept) for solution in solutions]
    )
    X = np.column_stack([problem.rows.toarray(), np.ones(150)])
    logs = log_softmax(X @ weights.T, axis=1)
    shares, labels = np.exp(logs), np.argmax(problem.members.toarray(), axis=0)
    whole = np.zeros((52, 52))
    for x, p in zip(X, shares, strict=True):
        whole += np.kron(np.diag(p) - np.outer(p, p), np.outer(x, x))
    free, precision, centre = intercept
    whole += np.kron(np.eye(4), np.diag(np.append(np.full(12, 0.5), precision)))
    value = (
        logs[np.arange(150), labels].sum() - np.sum(weights[:, :-1] ** 2) / 4 - 24 * np.log(2.0)
    )
    value -= 0.5 * precision * np.sum((weights[:, -1] - centre) ** 2)
    if not free:
        kept = np.arange(52) % 13 < 12
        whole = whole[np.ix_(kept, kept)]
    elif precision:
        value += 2 * np.log(precision)
    else:
        common = np.where(np.arange(52) % 13 == 12, 0.5, 0.0)
        whole += np.outer(common, common)
        value += 1.5 * np.log(2 * np.pi)
    expected = value - 0.5 * np.linalg.slogdet(whole)[1]
    assert softmax_log_evidence(problem, solutions) == pytest.approx(expected, abs=1e-8)
    assert softmax_log_evidence(problem, solutions, largest=10) == pytest.approx(
        expected, abs=3.0
    )


@pytest.mark.parametrize(
    "prior", [GaussianPrior(), LaplacePrior()], ids=lambda prior: prior.kind
)
@pytest.mark.parametrize("multiclass", ["softmax", "one-vs-rest"])
def test_the_chosen_scale_has_the_highest_evidence(prior, multiclass):
    generator = np.random.default_rng(7)
    X = generator.poisson(0.7, size=(150, 15)).astype(float)
    weights = np.where(generator.random((15, 3)) < 0.3, generator.normal(size=(15, 3)), 0.0)
    y = np.argmax(X @ weights + generator.gumbel(size=(150, 3)), axis=1)
    model = SparseBayesClassifier(
        prior=prior, multiclass=multiclass, prior_scale="evidence", tol=1e-6
    ).fit(X, y)

    def total(scale):
        problem = model.problem(X, y)
        problem = problem.varied(prior=prior.rescaled(scale))
        found = solve_all(problem, "auto", [None] * 3, None)
        return (
            softmax_log_evidence(problem, found)
            if problem.coupled
            else log_evidence(problem, 0, found[0])
        )

    others = max(total(scale) for scale in np.geomspace(0.05, 10, 12))
    assert total(model.prior_scale_[0]) >= others - 0.05


def test_what_has_no_evidence_is_refused():
    X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]], [0, 1, 0, 1]
    with pytest.raises(ValueError, match="needs a Gaussian or Laplace prior, not a jeffreys"):
        SparseBayesClassifier(prior=JeffreysPrior(), prior_scale="evidence").fit(X, y)
    with pytest.raises(ValueError, match="with sign constraints is not known"):
        SparseBayesClassifier(prior=LaplacePrior(sign=1), prior_scale="evidence").fit(X, y)
