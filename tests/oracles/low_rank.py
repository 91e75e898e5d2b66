"""Posteriors with a precision P + W'W and pending documents, as dense matrices."""

import numpy as np

from bayesift.kernels.online_compression import LowRankArrays


def random_posterior(size, rank, waiting, *, seed=0):
    """A proper posterior that has compressed documents, and none that wait."""
    generator = np.random.default_rng(seed)
    precision, factors = 0.5 + generator.random(size), generator.normal(size=(rank, size))
    triangle = np.eye(rank + waiting)
    gram = np.eye(rank) + factors / precision @ factors.T
    triangle[:rank, :rank] = np.linalg.cholesky(gram)
    coefficients = np.zeros(rank + waiting)
    coefficients[:rank] = generator.normal(size=rank)
    mean = generator.normal(size=size)
    return LowRankArrays(mean, precision, factors, triangle, np.zeros(waiting), coefficients)


def dense_moments(posterior, pending):
    """Mean and covariance with these pending documents (dense rows)."""
    mean, precision, factors, _, roots, coefficients = posterior
    count, rank = len(pending), len(factors)
    whole = np.diag(precision) + factors.T @ factors
    whole += pending.T * roots[:count] ** 2 @ pending
    shift = coefficients[:rank] @ factors + coefficients[rank : rank + count] @ pending
    return mean + shift / precision, np.linalg.inv(whole)
