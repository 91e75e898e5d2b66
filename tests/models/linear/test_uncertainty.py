"""How sure: `posterior="normal"` against the inverse Hessian by NumPy, quadrature, and draws."""

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from bayesift.errors import DataError
from bayesift.models.linear import GaussianPrior, LaplacePrior, LogF, SparseBayesClassifier
from bayesift.models.linear.links import link_of, log_likelihoods, probabilities
from tests.models.linear.test_classifier import documents, restored

LINKS = ["logit", "probit", LogF(shape=0.4)]


def dense(weights):
    return weights.toarray() if sparse.issparse(weights) else np.asarray(weights)


@pytest.mark.parametrize("link", LINKS, ids=str)
def test_standard_errors_without_a_prior_are_those_of_the_fisher_information(link):
    """As statsmodels' Logit and Probit give them.

    There the observed information is the inverse covariance.
    """
    X, Y, _ = documents(n=400, d=4, k=2)
    model = SparseBayesClassifier(
        link=link, prior=GaussianPrior(variance=1e8), tol=1e-10, posterior="normal"
    ).fit(X, Y)
    design = np.column_stack([X, np.ones(400)])
    for c in range(2):
        margins = (2 * Y[:, c] - 1) * model.decision_function(X)[:, c]
        curvature = log_likelihoods(link_of(link), margins)[2]
        covariance = np.linalg.inv(design.T * curvature @ design)
        np.testing.assert_allclose(
            model.coef_variance_.toarray()[c], np.diag(covariance)[:-1], rtol=1e-4
        )
        np.testing.assert_allclose(model.intercept_variance_[c], covariance[-1, -1], rtol=1e-4)
        np.testing.assert_allclose(
            model.score_std(X)[:, c],
            np.sqrt(np.einsum("ij,jk,ik->i", design, covariance, design)),
            rtol=1e-4,
        )


def test_logit_curvature_by_hand():
    X, Y, _ = documents(n=200, d=3, k=2)
    model = SparseBayesClassifier(
        prior=GaussianPrior(variance=2.0), tol=1e-10, posterior="normal"
    ).fit(X, Y)
    p = expit(X @ model.coef_[0] + model.intercept_[0])
    design = np.column_stack([X, np.ones(200)])
    precision = design.T * (p * (1 - p)) @ design + np.diag([0.5, 0.5, 0.5, 0.0])
    np.testing.assert_allclose(
        model.posteriors_[0].covariance, np.linalg.inv(precision), rtol=1e-6
    )


@pytest.mark.parametrize("link", LINKS, ids=str)
def test_variance_of_one_weight_against_quadrature(link):
    """With many documents the posterior is nearly normal, its moments near the approximation."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(500, 1))
    y = (generator.random(500) < probabilities(link_of(link), 0.8 * X[:, 0])).astype(int)
    model = SparseBayesClassifier(
        link=link,
        prior=GaussianPrior(variance=1.0),
        intercept=None,
        tol=1e-10,
        posterior="normal",
    ).fit(X, y)

    def log_posterior(weight):
        return (
            log_likelihoods(link_of(link), (2 * y - 1) * X[:, 0] * weight)[0].sum()
            - weight**2 / 2
        )

    mode, deviation = model.coef_[0, 0], np.sqrt(model.coef_variance_.toarray()[0, 0])
    grid = np.linspace(mode - 8 * deviation, mode + 8 * deviation, 801)
    density = np.array([log_posterior(w) for w in grid])
    density = np.exp(density - density.max())
    density /= density.sum()
    mean = density @ grid
    assert deviation**2 == pytest.approx(density @ (grid - mean) ** 2, rel=0.03)
    for x in (-1.0, 0.5, 3.0):
        exact = density @ probabilities(link_of(link), x * grid)
        assert model.predict_proba_integrated([[x]])[0, 1] == pytest.approx(exact, abs=0.004)
        low, high = (end[0, 1] for end in model.probability_interval([[x]], mass=0.9))
        ends = np.interp([0.05, 0.95], density.cumsum(), grid) * x
        np.testing.assert_allclose(
            sorted([low, high]), np.sort(probabilities(link_of(link), ends)), atol=0.01
        )


def test_two_weights_against_quadrature():
    X, Y, _ = documents(n=300, d=2, k=2)
    model = SparseBayesClassifier(
        link="probit",
        prior=GaussianPrior(variance=1.0),
        intercept=None,
        tol=1e-10,
        posterior="normal",
    ).fit(X, Y)
    spread = np.sqrt(model.coef_variance_.toarray()[0])
    first, second = (
        np.linspace(m - 6 * s, m + 6 * s, 61)
        for m, s in zip(model.coef_[0], spread, strict=True)
    )
    weights = np.array([(a, b) for a in first for b in second])
    margins = (weights @ X.T) * (2 * Y[:, 0] - 1)
    density = norm.logcdf(margins).sum(axis=1) - (weights**2).sum(axis=1) / 2
    density = np.exp(density - density.max())
    density /= density.sum()
    mean = density @ weights
    covariance = (weights - mean).T * density @ (weights - mean)
    np.testing.assert_allclose(
        model.posteriors_[0].covariance[:2, :2], covariance, rtol=0.06, atol=1e-4
    )
    new = np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 1.0]])
    exact = norm.cdf(new @ weights.T) @ density
    np.testing.assert_allclose(model.predict_proba_integrated(new)[:, 0], exact, atol=0.004)


@pytest.mark.parametrize("link", LINKS, ids=str)
def test_integrated_probabilities_are_the_mean_over_normal_scores(link):
    X, Y, labels = documents()
    model = SparseBayesClassifier(link=link, posterior="normal").fit(X, Y)
    scores, deviations = model.decision_function(X)[:5, 0], model.score_std(X)[:5, 0]
    exact = [
        quad(
            lambda z, f=f, s=s: (
                norm.pdf(z) * probabilities(link_of(link), np.array([f + s * z]))[0]
            ),
            -8,
            8,
        )[0]
        for f, s in zip(scores, deviations, strict=True)
    ]
    np.testing.assert_allclose(model.predict_proba_integrated(X)[:5, 0], exact, atol=0.02)
    several = SparseBayesClassifier(link=link, posterior="normal").fit(X, labels)
    np.testing.assert_allclose(several.predict_proba_integrated(X).sum(axis=1), 1)
    low, high = several.probability_interval(X)
    assert np.all(low <= several.predict_proba(X))
    assert np.all(several.predict_proba(X) <= high)


def test_two_classes_share_one_uncertainty():
    X, Y, _ = documents()
    model = SparseBayesClassifier(posterior="normal").fit(X, np.array(["no", "yes"])[Y[:, 0]])
    assert model.score_std(X).shape == (120,)
    low, high = model.probability_interval(X)
    np.testing.assert_allclose(low[:, 0], 1 - high[:, 1])
    np.testing.assert_array_equal(
        model.contribution_std(X, "no").toarray(), model.contribution_std(X, "yes").toarray()
    )
    expected = np.abs(X) * np.sqrt(model.coef_variance_.toarray()[0])
    np.testing.assert_allclose(model.contribution_std(X, "yes").toarray(), expected)


def test_weights_at_0_are_known_and_weights_at_a_given_mode_are_not():
    X, Y, _ = documents()
    X[:, 0] = 0
    mode = np.zeros(15)
    mode[:2] = 3.0
    model = SparseBayesClassifier(
        prior=LaplacePrior(gamma=400.0, mode=mode), posterior="normal"
    ).fit(X, Y)
    variances = model.coef_variance_.toarray()
    np.testing.assert_array_equal(variances[dense(model.coef_) == 0], 0.0)
    assert model.coef_.shape == variances.shape
    np.testing.assert_allclose(
        variances[:, 0], 2 / 400
    )  # no document holds the term: what the prior says
    assert np.all(variances[:, 1] > 0)


def test_weights_at_a_bound_are_known():
    X, Y, _ = documents()
    model = SparseBayesClassifier(prior=GaussianPrior(sign=1), posterior="normal").fit(X, Y)
    at_bound = dense(model.coef_) == 0
    assert at_bound.any()
    np.testing.assert_array_equal(model.coef_variance_.toarray() == 0, at_bound)


def test_very_many_terms_count_as_independent():
    X, Y, _ = documents(n=30, d=1001, k=2)
    model = SparseBayesClassifier(prior=GaussianPrior(variance=0.5), posterior="normal").fit(
        X, Y
    )
    design = np.column_stack([X, np.ones(30)])
    p = expit(X @ model.coef_[1] + model.intercept_[1])
    expected = 1 / ((design**2).T @ (p * (1 - p)) + np.append(np.full(1001, 2.0), 0.0))
    np.testing.assert_allclose(model.posteriors_[1].covariance, expected)
    np.testing.assert_allclose(model.score_std(X)[:, 1] ** 2, design**2 @ expected)
    np.testing.assert_array_equal(restored(model).score_std(X), model.score_std(X))


@pytest.mark.parametrize("prior", ["laplace", "gaussian", LaplacePrior(gamma=900.0)], ids=str)
@pytest.mark.parametrize("kind", ["indicator", "labels"])
def test_stored_and_restored(prior, kind):
    X, Y, labels = documents()
    model = SparseBayesClassifier(prior=prior, posterior="normal").fit(
        X, Y if kind == "indicator" else labels
    )
    again = restored(model)
    np.testing.assert_array_equal(again.score_std(X), model.score_std(X))
    np.testing.assert_array_equal(
        again.predict_proba_integrated(X), model.predict_proba_integrated(X)
    )
    np.testing.assert_array_equal(
        again.coef_variance_.toarray(), model.coef_variance_.toarray()
    )


def test_hostile_arrays_are_refused():
    X, Y, _ = documents()
    parameters, arrays = SparseBayesClassifier(posterior="normal").fit(X, Y).get_state()
    terms, values = (arrays[f"posteriors_.1.{name}"] for name in ("terms", "covariance"))
    for change in (
        {"terms": terms + np.int32(100)},
        {"terms": terms[::-1].copy()},
        {"terms": terms.astype(float)},
        {"terms": terms[:-1]},
        {"terms": -terms},
        {"terms": None},
        {"covariance": values[:-1]},
        {"covariance": values.ravel()},
        {"covariance": np.float64(1.0) * np.zeros(())},
        {"covariance": values * np.nan},
        {"covariance": -values},
        {"covariance": None},
    ):
        mutated = {
            **arrays,
            **{f"posteriors_.1.{name}": value for name, value in change.items()},
        }
        mutated = {name: value for name, value in mutated.items() if value is not None}
        with pytest.raises(DataError):
            SparseBayesClassifier.from_state(parameters, mutated)


def test_models_without_it_say_so_and_forget_it():
    X, Y, _ = documents()
    model = SparseBayesClassifier(posterior="normal").fit(X, Y)
    probabilities_at_mode = model.predict_proba(X)
    model.set_params(posterior="mode").fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), probabilities_at_mode)
    for method in (model.score_std, model.predict_proba_integrated, model.probability_interval):
        with pytest.raises(
            ValueError, match="fitted without its posterior; fit it with posterior='normal'"
        ):
            method(X)
    with pytest.raises(ValueError, match="must be 'mode' or 'normal', got 'laplace'"):
        SparseBayesClassifier(posterior="laplace").fit(X, Y)
    with pytest.raises(ValueError, match="needs a log-concave prior, not a jeffreys one"):
        SparseBayesClassifier(prior="jeffreys", posterior="normal").fit(X, Y)
    with pytest.raises(ValueError, match="mass must lie between 0 and 1"):
        SparseBayesClassifier(posterior="normal").fit(X, Y).probability_interval(X, mass=1.0)
