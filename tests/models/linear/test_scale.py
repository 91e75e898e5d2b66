import json

import numpy as np
import pytest
from scipy import integrate, linalg, optimize, sparse
from scipy.special import expit, log_expit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from bayesift.errors import DataError
from bayesift.folds import deal_folds
from bayesift.models.linear import (
    CrossValidation,
    Evidence,
    GaussianPrior,
    JeffreysPrior,
    LaplacePrior,
    LinearProblem,
    Logit,
    NormBased,
    Probit,
    ScaleSearch,
    SparseBayesClassifier,
)
from bayesift.models.linear import (
    scale as scale_rules,
)
from bayesift.models.linear.scale import (
    HeldOutFolds,
    folds_of,
    log_evidence,
    mean_and_error,
    pick_scale,
)
from bayesift.models.linear.solvers import solve_all

FLAT = np.array([1.0, 0.0, 0.0])


def documents(n_documents=120, n_terms=10, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_documents, 10)) * (generator.random((n_documents, 10)) < 0.6)
    scores = X[:, :3] @ [[1.5, 0.3], [-1.0, 1.0], [0.5, 0.0]] + generator.logistic(
        size=(n_documents, 2)
    )
    return X[:, :n_terms], (scores > [0.0, 1.0]).astype(int)


def problem_of(X, Y, prior, link=None, intercept=FLAT, tolerance=1e-10):
    members = sparse.csr_array(np.atleast_2d(Y.T).astype(np.int8))
    rows = sparse.csr_array(np.asarray(X, dtype=float))
    return LinearProblem(
        rows, members, np.ones(len(X)), link or Logit(), prior, intercept, tolerance=tolerance
    )


def test_norm_is_terms_over_mean_squared_norm():
    X, Y = documents()
    variance = X.shape[1] / np.mean(np.sum(X**2, axis=1))  # BBR
    gaussian = SparseBayesClassifier(prior=GaussianPrior(variance=7.0), prior_scale="norm").fit(
        X, Y
    )
    np.testing.assert_allclose(7.0 * gaussian.prior_scale_**2, variance)
    laplace = SparseBayesClassifier(prior=LaplacePrior(gamma=0.3), prior_scale=NormBased()).fit(
        X, Y
    )
    np.testing.assert_allclose(np.sqrt(0.3) / laplace.prior_scale_, np.sqrt(2 / variance))


@pytest.mark.parametrize("laplace", [True, False])
def test_held_out_losses_are_those_of_a_plain_loop(laplace, monkeypatch):
    monkeypatch.setattr(scale_rules, "_LEAST_TOLERANCE", 1e-10)
    X, Y = documents()
    problem = problem_of(X, Y, LaplacePrior() if laplace else GaussianPrior())
    folds = folds_of(problem, 4, 0)
    np.testing.assert_array_equal(folds, deal_folds(Y.astype(bool), n_folds=4))
    held_out = HeldOutFolds(problem, "auto", folds, None)
    for scale in (0.2, 1.0):
        losses, weights = held_out.losses(np.array([scale, 2 * scale]), [0, 1])
        for fold in range(4):
            train, test = folds != fold, folds == fold
            for c, own in enumerate((scale, 2 * scale)):
                signs = 2 * Y[:, c] - 1.0
                weight, bias = reference_mode(X[train], signs[train], own, laplace=laplace)
                expected = -log_expit(signs[test] * (X[test] @ weight + bias)).sum()
                assert losses[fold, c] == pytest.approx(expected, rel=1e-4)
                assert weights[fold, c] == test.sum()


@pytest.mark.parametrize("prior", [LaplacePrior(), GaussianPrior()], ids=str)
def test_held_out_documents_leave_no_trace(prior):
    """Labels that say nothing of the documents: no weak prior may do better than the strongest."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 200))
    Y = (generator.random((60, 1)) < 0.5).astype(int)
    problem = problem_of(X, Y, prior, tolerance=0.001)
    scales = np.geomspace(0.01, 10, 25)[:, None]
    losses = CrossValidation(folds=3).along(scales, problem, "auto", None).validation.losses
    assert np.nanmin(losses) > 0.65
    assert np.isnan(losses[-1, 0])  # the rise ended the path


def reference_mode(X, signs, scale, *, laplace):
    """By scikit-learn (Gaussian.

    Its intercept is free too) or by L-BFGS-B on both signs (Laplace).
    """
    if not laplace:
        model = LogisticRegression(C=scale**2, tol=1e-10, max_iter=10000).fit(X, signs)
        return model.coef_[0], model.intercept_[0]
    n = X.shape[1]

    def objective(parts):
        weight, bias = parts[:n] - parts[n : 2 * n], parts[-1]
        margins = signs * (X @ weight + bias)
        pulls = signs * expit(-margins)
        gradient = np.r_[-X.T @ pulls + 1 / scale, X.T @ pulls + 1 / scale, -pulls.sum()]
        return -log_expit(margins).sum() + parts[:-1].sum() / scale, gradient

    bounds = [(0, None)] * (2 * n) + [(None, None)]
    options = {"maxiter": 10000, "maxfun": 100000, "ftol": 1e-15, "gtol": 1e-10}
    parts = optimize.minimize(
        objective, np.zeros(2 * n + 1), jac=True, bounds=bounds, options=options
    ).x
    return parts[:n] - parts[n : 2 * n], parts[-1]


def test_one_standard_error_by_hand():
    scales = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    losses, errors = (
        np.array([0.60, 0.53, 0.50, 0.52, np.nan]),
        np.array([0.01, 0.01, 0.04, 0.05, np.nan]),
    )
    assert pick_scale(scales, losses, errors, "best") == 4.0
    assert pick_scale(scales, losses, errors, "one-standard-error") == 2.0
    folds = np.array([[1.0], [2.0], [6.0]])
    mean, error = mean_and_error(folds, np.full((3, 1), 2.0))
    assert mean[0] == 1.5
    assert error[0] == pytest.approx(np.std([0.5, 1.0, 3.0], ddof=1) / np.sqrt(3))


@pytest.mark.parametrize("shared", [False, True])
def test_cross_validation_takes_the_best_of_its_path(shared):
    X, Y = documents()
    model = SparseBayesClassifier(
        prior_scale=CrossValidation(folds=5, shared=shared, n_scales=8)
    ).fit(X, Y)
    validation = model.validation_
    assert validation.losses.shape == (8, 1 if shared else 2)
    for c in range(validation.losses.shape[1]):
        best = np.nanargmin(validation.losses[:, c])
        assert validation.chosen[c] == validation.scales[best, c]
    np.testing.assert_array_equal(model.prior_scale_, np.broadcast_to(validation.chosen, 2))
    cautious = SparseBayesClassifier(
        prior_scale=CrossValidation(
            folds=5, shared=shared, n_scales=8, rule="one-standard-error"
        )
    ).fit(X, Y)
    for c, chosen in enumerate(cautious.validation_.chosen):
        losses, errors = validation.losses[:, c], validation.errors[:, c]
        best = np.nanargmin(losses)
        near = next(k for k in range(best + 1) if losses[k] <= losses[best] + errors[best])
        assert chosen == validation.scales[near, c]


@pytest.mark.parametrize("prior", ["laplace", "gaussian"])
@pytest.mark.parametrize("shared", [False, True])
def test_the_search_is_as_good_as_a_fine_grid(prior, shared):
    X, Y = documents()
    search = SparseBayesClassifier(
        prior=prior, prior_scale=ScaleSearch(folds=5, shared=shared)
    ).fit(X, Y)
    fine = CrossValidation(folds=5, shared=shared, n_scales=60)
    grid = SparseBayesClassifier(prior=prior, prior_scale=fine).fit(X, Y)
    found, losses = np.nanmin(search.validation_.losses, axis=0), grid.validation_.losses
    errors = grid.validation_.errors[np.nanargmin(losses, axis=0), np.arange(losses.shape[1])]
    assert (found <= np.nanmin(losses, axis=0) + 0.1 * errors).all()
    assert len(search.validation_.losses) <= 20


@pytest.mark.parametrize("link", [Logit(), Probit()])
@pytest.mark.parametrize("variance", [0.01, 1.0])
def test_evidence_in_one_dimension_is_the_integral(link, variance):
    X, Y = documents(60, 1, seed=3)
    problem = problem_of(X, Y[:, [0]], GaussianPrior(variance=variance), link, np.zeros(3))
    solution = solve_all(problem, "auto", [None], None)[0]
    signs = problem.signs(0)
    log_psi = log_expit if isinstance(link, Logit) else norm.logcdf
    top = log_psi(signs * (X[:, 0] * solution.coefficients[0])).sum()

    def density(beta):
        return np.exp(log_psi(signs * X[:, 0] * beta).sum() - top) * norm.pdf(
            beta, scale=np.sqrt(variance)
        )

    exact = top + np.log(
        integrate.quad(density, -3, 3, points=[solution.coefficients[0]], epsabs=1e-12)[0]
    )
    assert log_evidence(problem, 0, solution) == pytest.approx(exact, abs=0.02)


def test_evidence_with_an_intercept_is_the_double_integral():
    X, Y = documents(60, 1, seed=3)
    signs = 2.0 * Y[:, 0] - 1.0
    for intercept, weigh in (
        (FLAT, np.ones_like),
        (np.array([1.0, 0.5, 0.2]), lambda b: norm.pdf(b, 0.2, 2**0.5)),
    ):
        problem = problem_of(X, Y[:, [0]], GaussianPrior(variance=0.5), None, intercept)
        solution = solve_all(problem, "auto", [None], None)[0]
        grid = np.linspace(-4, 4, 401)
        margins = signs * (grid[:, None, None] * X[:, 0] + grid[None, :, None])
        values = (
            np.exp(log_expit(margins).sum(axis=2))
            * norm.pdf(grid, scale=0.5**0.5)[:, None]
            * weigh(grid)[None]
        )
        exact = np.log(integrate.trapezoid(integrate.trapezoid(values, grid, axis=1), grid))
        assert log_evidence(problem, 0, solution) == pytest.approx(exact, abs=0.02)


def test_evidence_by_the_whole_determinant_on_either_side_and_by_lanczos():
    generator = np.random.default_rng(0)
    for n_documents, n_terms in ((150, 60), (60, 150)):
        X = generator.normal(size=(n_documents, n_terms)) * (
            generator.random((n_documents, n_terms)) < 0.2
        )
        Y = (generator.random((n_documents, 1)) < 0.4).astype(int)
        problem = problem_of(X, Y, GaussianPrior(variance=0.7))
        solution = solve_all(problem, "auto", [None], None)[0]
        design = np.c_[X, np.ones(n_documents)]
        p = expit(design @ np.r_[solution.coefficients, solution.intercept])
        hessian = design.T @ (design * (p * (1 - p))[:, None]) + np.diag(
            np.r_[np.full(n_terms, 1 / 0.7), 0.0]
        )
        at_mode = log_expit(
            problem.signs(0) * (design @ np.r_[solution.coefficients, solution.intercept])
        ).sum()
        at_mode += norm.logpdf(solution.coefficients, scale=0.7**0.5).sum()
        whole = (
            at_mode + (n_terms + 1) / 2 * np.log(2 * np.pi) - np.linalg.slogdet(hessian)[1] / 2
        )
        assert log_evidence(problem, 0, solution) == pytest.approx(whole, abs=1e-8)
        roots = np.sqrt(p * (1 - p))[:, None]
        logarithm = linalg.logm(np.eye(n_documents) + 0.7 * roots * (X @ X.T) * roots.T)
        noise = (
            np.sqrt(2 * np.sum((logarithm - np.diag(np.diag(logarithm))) ** 2) / 7) / 2
        )  # of seven random signs
        assert noise < 0.05 * abs(whole)
        assert log_evidence(problem, 0, solution, largest=10) == pytest.approx(
            whole, abs=3 * noise
        )


@pytest.mark.parametrize("shared", [False, True])
def test_the_evidence_is_maximised(shared):
    X, Y = documents()
    model = SparseBayesClassifier(
        prior="gaussian", prior_scale=Evidence(shared=shared), tol=1e-6
    ).fit(X, Y)

    def evidence(scale, c):
        problem = problem_of(X, Y, GaussianPrior(variance=scale**2), tolerance=1e-6)
        return log_evidence(problem, c, solve_all(problem, "auto", [None, None], None)[c])

    for c in range(2):
        others = [
            sum(evidence(s, k) for k in ((0, 1) if shared else (c,)))
            for s in np.geomspace(0.05, 20, 40)
        ]
        ours = sum(evidence(model.prior_scale_[c], k) for k in ((0, 1) if shared else (c,)))
        assert ours >= max(others) - 0.01


@pytest.mark.parametrize(
    "rule",
    [None, 3, "norm", "search", CrossValidation(folds=3, n_scales=4), Evidence(shared=True)],
)
def test_stored_with_its_scale(rule):
    X, Y = documents()
    fitted = SparseBayesClassifier(prior="gaussian", prior_scale=rule, progress=print).fit(X, Y)
    parameters, arrays = fitted.get_state()
    restored = SparseBayesClassifier.from_state(json.loads(json.dumps(parameters)), arrays)
    assert restored.prior_scale == rule
    np.testing.assert_array_equal(restored.prior_scale_, fitted.prior_scale_)
    np.testing.assert_array_equal(restored.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize(
    "scale",
    [
        -1.0,
        True,
        "best",
        [],
        {"kind": "no"},
        {"kind": "search-scale", "fold": 3},
        {"kind": "cross-validation-scale", "rule": 3},
        {"kind": "laplace-prior"},
    ],
)
def test_stored_nonsense_is_refused(scale):
    X, Y = documents()
    parameters, arrays = SparseBayesClassifier().fit(X, Y).get_state()
    parameters["prior_scale"] = scale
    with pytest.raises(DataError):
        SparseBayesClassifier.from_state(parameters, arrays)


@pytest.mark.parametrize("scales", [np.ones(3), np.array([1.0, -1.0]), np.array([1.0, np.nan])])
def test_stored_scales_are_checked(scales):
    X, Y = documents()
    parameters, arrays = SparseBayesClassifier().fit(X, Y).get_state()
    with pytest.raises(DataError):
        SparseBayesClassifier.from_state(parameters, {**arrays, "prior_scale_": scales})


@pytest.mark.parametrize("scale", [0, -2.0, np.inf, "often", object(), True])
def test_bad_scales_are_refused(scale):
    X, Y = documents()
    with pytest.raises(ValueError, match="prior_scale"):
        SparseBayesClassifier(prior_scale=scale).fit(X, Y)


def test_jeffreys_has_no_scale():
    X, Y = documents()
    with pytest.raises(ValueError, match="no scale"):
        SparseBayesClassifier(prior=JeffreysPrior(), prior_scale=2.0).fit(X, Y)


def test_the_same_seed_gives_the_same_scale_and_threads_do_not_matter():
    X, Y = documents()
    one = SparseBayesClassifier(prior_scale="search").fit(X, Y)
    two = SparseBayesClassifier(prior_scale="search", n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(one.prior_scale_, two.prior_scale_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)


def dense(weights):
    return weights.toarray() if sparse.issparse(weights) else weights
