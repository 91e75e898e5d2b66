"""A Gibbs sampler of logistic regression under a Laplace prior, by Polya-Gamma numbers."""

import numpy as np

from tests.oracles.spike_slab import polya_gamma


def mean_size_by_gibbs(X, y, *, rate, n_draws, n_burn=100, precision=1e-3, seed=0):
    """The posterior mean of sum |weights|.

    Park & Casella (2008) with a normal prior of the intercept.
    """
    generator, (n, p) = np.random.default_rng(seed), X.shape
    design, weights, variances = (
        np.column_stack([X, np.ones(n)]),
        np.zeros(p + 1),
        np.full(p, 2 / rate**2),
    )
    total = 0.0
    for draw in range(n_burn + n_draws):
        curvatures = polya_gamma(design @ weights, generator)
        inverse = design.T @ (design * curvatures[:, np.newaxis]) + np.diag(
            np.append(1 / variances, precision)
        )
        mean, root = np.linalg.solve(inverse, design.T @ (y - 0.5)), np.linalg.cholesky(inverse)
        weights = mean + np.linalg.solve(root.T, generator.normal(size=p + 1))
        sizes = np.maximum(np.abs(weights[:-1]), 1e-10)
        variances = 1 / np.maximum(generator.wald(rate / sizes, rate**2), 1e-12)
        total += sizes.sum() if draw >= n_burn else 0.0
    return total / n_draws
