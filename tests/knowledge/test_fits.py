"""Fits under priors made of knowledge, against scipy's optimum of the same posterior."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from bayesift.knowledge import TermKnowledge, prior_for
from bayesift.models.linear import GaussianPrior, LaplacePrior, SparseBayesClassifier

CATEGORIES, TERMS = ("corn", "gold"), ["bullion", "corn", "crop", "gold", "maize", "mine"]
KNOWLEDGE = TermKnowledge.from_keywords(
    {
        "corn": {
            "corn": 2.0,
            "maize": {"mode": 1.5, "scale": 0.3},
            "gold": "-",
            "crop": {"scale": 3.0},
        },
        "gold": {
            "gold": 2.5,
            "bullion": {"strength": 1.0, "sign": "+"},
            "mine": "-",
            "maize": -1.0,
        },
    }
)


def documents():
    generator = np.random.default_rng(3)
    X = generator.poisson(0.7, size=(60, len(TERMS))).astype(float)
    scores = X @ generator.normal(size=(len(TERMS), 2)) + generator.logistic(size=(60, 2))
    return X, (scores > 0.5).astype(int)


def loss(X, y, weights, intercept):
    margins = (2 * y - 1) * (X @ weights + intercept)
    return (
        np.logaddexp(0.0, -margins).sum(),
        -(X.T @ ((2 * y - 1) / (1 + np.exp(margins)))),
        -np.sum((2 * y - 1) / (1 + np.exp(margins))),
    )


def optimum(X, y, *, mode, square, absolute, bounds):
    """Weights mode + up - down with up, down >= 0, so that the absolute value is smooth."""
    d = X.shape[1]

    def objective(z):
        move = z[:d] - z[d : 2 * d]
        value, slope, slope_of_intercept = loss(X, y, mode + move, z[-1])
        value += np.sum(square * move**2) / 2 + np.sum(absolute * (z[:d] + z[d : 2 * d]))
        slope = slope + square * move
        return value, np.concatenate(
            [slope + absolute, -slope + absolute, [slope_of_intercept]]
        )

    most_up, most_down = np.maximum(bounds[1] - mode, 0), np.maximum(mode - bounds[0], 0)
    limits = [(0, up) for up in most_up] + [(0, down) for down in most_down] + [(None, None)]
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 20_000, "maxfun": 100_000}
    found = minimize(
        objective,
        np.zeros(2 * d + 1),
        jac=True,
        method="L-BFGS-B",
        bounds=limits,
        options=options,
    )
    return mode + found.x[:d] - found.x[d : 2 * d], found.x[-1]


@pytest.mark.parametrize(
    "base", [GaussianPrior(variance=0.8), LaplacePrior(gamma=4.0)], ids=str
)
def test_every_entry_of_the_prior_counts(base):
    X, Y = documents()
    prior, coverage = prior_for(KNOWLEDGE, base, CATEGORIES, TERMS)
    assert coverage.n_missing == 0
    model = SparseBayesClassifier(prior=prior, tol=1e-9).fit(X, Y)
    weights = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    for c in range(2):
        sign = np.broadcast_to(prior.sign, (2, len(TERMS)))[c]
        bounds = np.where(sign > 0, 0.0, -np.inf), np.where(sign < 0, 0.0, np.inf)
        gaussian = base.kind == "gaussian"
        square = 1 / prior.variance[c] if gaussian else np.zeros(len(TERMS))
        absolute = np.zeros(len(TERMS)) if gaussian else np.sqrt(prior.gamma[c])
        expected, intercept = optimum(
            X, Y[:, c], mode=prior.mode[c], square=square, absolute=absolute, bounds=bounds
        )
        np.testing.assert_allclose(weights[c], expected, atol=2e-5)
        np.testing.assert_allclose(model.intercept_[c], intercept, atol=2e-5)
