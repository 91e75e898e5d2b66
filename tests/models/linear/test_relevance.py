"""The gamma prior and automatic relevance determination against quadrature and plain NumPy."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.special import expit, log_expit

from bayesift.models.linear import (
    GammaPrior,
    GaussianPrior,
    JeffreysPrior,
    SparseBayesClassifier,
)


def documents(n=300, d=8, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, d))
    return X, (
        X @ np.r_[2.0, -1.5, np.zeros(d - 2)] + 0.5 + generator.logistic(size=n) > 0
    ).astype(int)


@pytest.mark.parametrize("distance", [0.3, -2.0])
def test_the_expected_precision_is_that_of_quadrature(distance):
    shape, rate = 1.5, 0.7
    gamma = stats.gamma(shape, scale=1 / rate)

    def mass(precision, power):
        return (
            precision**power
            * gamma.pdf(precision)
            * stats.norm.pdf(distance, scale=precision**-0.5)
        )

    expected = (
        integrate.quad(mass, 0, np.inf, (1,))[0] / integrate.quad(mass, 0, np.inf, (0,))[0]
    )
    prior = GammaPrior(shape=shape, rate=rate)
    assert prior.spread(np.array([distance]), 0)[0] ** -2 == pytest.approx(expected)
    student = stats.t(2 * shape, scale=np.sqrt(rate / shape))
    cost = prior.cost(np.array([distance]), 0) - prior.cost(np.array([1.0]), 0)
    assert cost == pytest.approx(student.logpdf(1.0) - student.logpdf(distance))


def test_em_finds_a_mode_under_student_t():
    X, y = documents()
    model = SparseBayesClassifier(
        prior=GammaPrior(shape=1.0, rate=0.3), solver="em", tol=1e-7
    ).fit(X, y)
    signs = 2 * y - 1

    def objective(weights):
        cost = 1.5 * np.sum(np.log1p(weights[:-1] ** 2 / 0.6))
        return cost - np.sum(log_expit(signs * (X @ weights[:-1] + weights[-1])))

    found = np.append(model.coef_.ravel(), model.intercept_)
    best = optimize.minimize(objective, found, method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(found, best.x, atol=1e-4)
    same = SparseBayesClassifier(prior=GammaPrior(), solver="em").fit(X, y)
    other = SparseBayesClassifier(prior=JeffreysPrior(), solver="em").fit(X, y)
    np.testing.assert_allclose(_dense(same.coef_), _dense(other.coef_), atol=1e-12)


def relevance_by_numpy(X, signs, shape, rate, rounds):
    """Tipping's updates as printed: modes by SciPy, the covariance by an inverse.

    The intercept has no prior.
    """
    design = np.column_stack([X, np.ones(len(X))])
    precisions = np.append(np.ones(X.shape[1]), 0.0)
    weights = np.zeros(X.shape[1] + 1)
    for _ in range(rounds):

        def objective(w, precisions=precisions):
            return 0.5 * precisions @ w**2 - np.sum(log_expit(signs * (design @ w)))

        def gradient(w, precisions=precisions):
            return precisions * w - design.T @ (signs * expit(-signs * (design @ w)))

        weights = optimize.minimize(
            objective, weights, jac=gradient, method="BFGS", options={"gtol": 1e-9}
        ).x
        p = expit(design @ weights)
        covariance = np.linalg.inv(
            design.T @ (design * (p * (1 - p))[:, None]) + np.diag(precisions)
        )
        determined = 1 - precisions[:-1] * np.diag(covariance)[:-1]
        precisions[:-1] = (determined + 2 * shape) / (weights[:-1] ** 2 + 2 * rate)
    return weights


def test_relevance_is_that_of_plain_numpy():
    X, y = documents(n=200, d=5)
    model = SparseBayesClassifier(prior=GammaPrior(shape=0.5, rate=0.1), tol=1e-6).fit(X, y)
    expected = relevance_by_numpy(X, 2.0 * y - 1, 0.5, 0.1, 60)
    np.testing.assert_allclose(
        np.append(model.coef_.ravel(), model.intercept_), expected, atol=1e-5
    )


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_relevance_drops_terms_that_say_nothing(link):
    X, y = documents(n=600, d=40)
    model = SparseBayesClassifier(link=link, prior="gamma").fit(X, y)
    weights = _dense(model.coef_).ravel()
    assert weights[0] > 0.5
    assert weights[1] < -0.5
    assert (
        np.count_nonzero(weights[2:]) < 38 / 2
    )  # of terms that say nothing q^2 > s in 32 of 100
    assert np.all(np.abs(weights[2:]) < 0.35)
    assert model.solutions_[0].objective[-1] < model.solutions_[0].objective[0]


def test_relevance_takes_feature_masks_weights_and_intercepts():
    X, y = documents(n=200, d=6)
    mask = np.ones((1, 6), dtype=bool)
    mask[0, 0] = False
    masked = SparseBayesClassifier(prior="gamma").fit(X, y, feature_mask=mask)
    alone = SparseBayesClassifier(prior="gamma").fit(X[:, 1:], y)
    np.testing.assert_allclose(_dense(masked.coef_)[:, 1:], _dense(alone.coef_), atol=1e-9)
    counts = np.r_[np.full(100, 2.0), np.ones(100)]
    weighted = SparseBayesClassifier(prior="gamma", intercept=GaussianPrior(2.0)).fit(
        X, y, sample_weight=counts
    )
    twice = SparseBayesClassifier(prior="gamma", intercept=GaussianPrior(2.0)).fit(
        np.r_[X[:100], X], np.r_[y[:100], y]
    )
    np.testing.assert_allclose(_dense(weighted.coef_), _dense(twice.coef_), atol=1e-7)
    none = SparseBayesClassifier(prior="gamma", intercept=None).fit(X, y)
    assert none.intercept_[0] == 0


def test_what_does_not_fit_together_is_refused():
    X, y = documents(n=20, d=2)
    for parameters, message in (
        ({"prior": "gaussian", "solver": "ard"}, "needs a gamma prior, not a gaussian"),
        ({"prior": "gamma", "solver": "newton"}, "needs a smooth prior"),
        ({"prior": "gamma", "solver": "coordinate"}, "needs a log-concave prior"),
        ({"prior": "gamma", "prior_scale": "search"}, "the gamma prior"),
        ({"prior": "gamma", "posterior": "normal"}, "log-concave"),
    ):
        with pytest.raises(ValueError, match=message):
            SparseBayesClassifier(**parameters).fit(X, y)
    with pytest.raises(ValueError, match="at most 2000 terms, got 2001"):
        SparseBayesClassifier(prior="gamma").fit(np.zeros((4, 2001)), [0, 1, 0, 1])
    for wrong in ({"shape": -1.0}, {"rate": np.inf}, {"rate": "1"}):
        with pytest.raises(ValueError, match="must be a number of at least 0"):
            GammaPrior(**wrong)


def _dense(weights):
    return weights.toarray() if hasattr(weights, "toarray") else weights
