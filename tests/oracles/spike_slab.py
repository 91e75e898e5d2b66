"""A Gibbs sampler of spike-and-slab models.

Truncated normals for probit (Albert & Chib), Polya-Gamma for logit.
"""

import numpy as np
from scipy.special import expit, ndtr, ndtri

_PARTS = 200  # of the sum that a Polya-Gamma number is


def polya_gamma(scores, generator):
    """Draw from PG(1, f) by its sum of exponentials, the rest replaced by its mean.

    Polson, Scott & Windle (2013).
    """
    shifts = (np.arange(_PARTS) + 0.5) ** 2 + (scores[:, np.newaxis] / (2 * np.pi)) ** 2
    parts = (generator.exponential(size=shifts.shape) / shifts).sum(axis=1)
    means = np.where(
        np.abs(scores) > 1e-6,
        np.tanh(scores / 2) / (2 * np.where(scores == 0, 1.0, scores)),
        0.25,
    )
    return parts / (2 * np.pi**2) + means - (1 / shifts).sum(axis=1) / (2 * np.pi**2)


def truncated_normals(scores, signs, generator):
    """Normal numbers about the scores, of the sign of each label."""
    return scores - signs * ndtri(generator.random(len(scores)) * ndtr(signs * scores))


def inclusion_by_gibbs(link, X, y, *, inclusion, slab, n_draws, n_burn=500, seed=0):
    """Inclusion probabilities and means of the weights; the intercept is flat."""
    generator, (n, p), signs = np.random.default_rng(seed), X.shape, 2.0 * y - 1.0
    weights, intercept = np.zeros(p), 0.0
    counts, totals = np.zeros(p), np.zeros(p)
    for draw in range(n_burn + n_draws):
        scores = X @ weights + intercept
        if link == "probit":
            curvatures, targets = np.ones(n), truncated_normals(scores, signs, generator)
        else:
            curvatures, targets = polya_gamma(scores, generator), signs / 2
        intercept = _draw_intercept(curvatures, targets - curvatures * (X @ weights), generator)
        for j in generator.permutation(p):
            rest = targets - curvatures * (X @ weights - X[:, j] * weights[j] + intercept)
            d, g = curvatures @ X[:, j] ** 2, X[:, j] @ rest
            variance = slab / (1 + d * slab)
            odds = (
                np.log(inclusion / (1 - inclusion))
                - 0.5 * np.log1p(d * slab)
                + 0.5 * variance * g**2
            )
            chance = expit(odds)
            weights[j] = (
                generator.normal(variance * g, np.sqrt(variance))
                if generator.random() < chance
                else 0.0
            )
            if draw >= n_burn:
                counts[j] += chance
                totals[j] += chance * variance * g
    return counts / n_draws, totals / n_draws


def _draw_intercept(curvatures, residuals, generator):
    total = curvatures.sum()
    return generator.normal(residuals.sum() / total, 1 / np.sqrt(total))
