"""The Bayesian online perceptron as the paper prints it, in NumPy, one document at a time."""

import numpy as np
from scipy.special import log_ndtr, ndtr


def probit_moments(y, mean, variance, sigma0=0.5):
    sigma = np.sqrt(sigma0**2 + variance)
    u = y * mean / sigma
    ratio = np.exp(-0.5 * u * u - 0.5 * np.log(2 * np.pi) - log_ndtr(u))
    return log_ndtr(u), y * ratio / sigma, -(u * ratio + ratio**2) / sigma**2


def flip_moments(y, mean, variance, kappa=0.1):
    sigma = np.sqrt(variance)
    u = y * mean / sigma
    density = np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)
    evidence = kappa + (1 - 2 * kappa) * ndtr(u)
    g = y * (1 - 2 * kappa) * density / (sigma * evidence)
    return np.log(evidence), g, -(1 - 2 * kappa) * u * density / (sigma**2 * evidence) - g**2


def full_recursion(X, signs, moments=probit_moments, prior=1.0, keep=1.0, start=None):
    """Mean, covariance, and log evidence of every document.

    X is dense and has the bias in column 0.
    """
    n_weights = X.shape[1]
    mean, covariance = (
        (np.zeros(n_weights), prior * np.eye(n_weights)) if start is None else start
    )
    evidence = []
    for x, y in zip(X, signs, strict=True):
        mean, covariance = (
            keep * mean,
            keep**2 * covariance + (1 - keep**2) * prior * np.eye(n_weights),
        )
        s = covariance @ x
        log_evidence, g, q = moments(y, mean @ x, x @ s)
        mean = mean + g * s
        covariance = covariance + q * np.outer(s, s)
        evidence.append(log_evidence)
    return mean, covariance, np.array(evidence)


def diagonal_recursion(X, signs, moments=probit_moments, prior=1.0):
    mean, variances = np.zeros(X.shape[1]), np.full(X.shape[1], prior)
    for x, y in zip(X, signs, strict=True):
        s = variances * x
        _, g, q = moments(y, mean @ x, x @ s)
        mean, variances = mean + g * s, variances + q * s * s
    return mean, variances
