"""Moments of likelihoods under a normal field, against quadrature."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, log_expit, log_ndtr, ndtr

from bayesift.kernels import online_moments as kernels
from bayesift.kernels.online_moments import EXACT, FLIP, GAUSSIAN, LOGIT, PAPER, PROBIT

CODES = {PROBIT: np.array([0.7]), LOGIT: np.array([1.0]), FLIP: np.array([0.1])}
FIELDS = [(0.0, 1.0), (-1.3, 0.4), (2.0, 3.0), (0.2, 1e-3)]


def likelihood(code, y, h):
    if code == PROBIT:
        return ndtr(y * h / CODES[PROBIT][0])
    if code == LOGIT:
        return expit(y * h)
    return np.where(y * h > 0, 0.9, 0.1)


def log_likelihood(code, y, h):
    if code == PROBIT:
        return log_ndtr(y * h / CODES[PROBIT][0])
    return log_expit(y * h) if code == LOGIT else np.log(likelihood(code, y, h))


def mean_of(function, mean, variance):
    """E function(h), h normal."""
    deviation = np.sqrt(variance)

    def integrand(h):
        density = np.exp(-0.5 * ((h - mean) / deviation) ** 2) / (
            deviation * np.sqrt(2 * np.pi)
        )
        return function(h) * density

    ends = mean - 12 * deviation, mean + 12 * deviation
    points = [0.0] if ends[0] < 0 < ends[1] else None
    return quad(integrand, *ends, points=points, limit=400, epsabs=1e-13, epsrel=1e-12)[0]


def evidence(code, y, mean, variance):
    return mean_of(lambda h: likelihood(code, y, h), mean, variance)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("y", [-1.0, 1.0])
@pytest.mark.parametrize(("mean", "variance"), FIELDS)
def test_moments_are_derivatives_of_the_log_evidence(code, y, mean, variance):
    log_evidence, g, q = kernels.moments(code, CODES[code], y, mean, variance)
    np.testing.assert_allclose(
        np.exp(log_evidence), evidence(code, y, mean, variance), rtol=1e-8
    )
    step = 1e-3 * np.sqrt(variance)
    left, middle, right = (
        kernels.moments(code, CODES[code], y, mean + shift, variance)[0]
        for shift in (-step, 0.0, step)
    )
    np.testing.assert_allclose(g, (right - left) / (2 * step), rtol=1e-4, atol=1e-6)
    second = (right - 2 * middle + left) / step**2
    np.testing.assert_allclose(q, second, rtol=1e-3, atol=1e-3 * abs(q) + 1e-4)


@pytest.mark.parametrize("code", CODES)
def test_arrays_of_moments_are_those_of_their_entries(code):
    means, variances = np.array(FIELDS).T
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    logs, first, second = np.empty((3, 4))
    kernels.evaluate_moments(code, CODES[code], signs, means, variances, logs, first, second)
    each = [
        kernels.moments(code, CODES[code], *given)
        for given in zip(signs, means, variances, strict=True)
    ]
    np.testing.assert_array_equal(np.stack([logs, first, second], axis=1), each)


def test_a_field_without_variance_has_the_likelihood_itself():
    for code in (PROBIT, LOGIT):
        log_evidence = kernels.moments(code, CODES[code], 1.0, 0.3, 0.0)[0]
        np.testing.assert_allclose(log_evidence, log_likelihood(code, 1.0, 0.3), rtol=1e-12)


def bits(kind, code, y, mean, variance):
    """The information of a label about the field."""
    log_evidence, g, q = kernels.moments(code, CODES[code], y, mean, variance)
    after, spread = mean + g * variance, variance + q * variance**2
    if kind == GAUSSIAN:
        ratio = spread / variance
        return 0.5 * (ratio - 1 - np.log(ratio) + (after - mean) ** 2 / variance) / np.log(2)
    if kind == EXACT:
        total = mean_of(
            lambda h: likelihood(code, y, h) * log_likelihood(code, y, h), mean, variance
        )
        return (total / np.exp(log_evidence) - log_evidence) / np.log(2)
    mean_log = mean_of(lambda h: log_likelihood(code, y, h), after, spread)
    return (mean_log - log_evidence) / np.log(2)


@pytest.mark.parametrize("kind", [EXACT, GAUSSIAN, PAPER])
@pytest.mark.parametrize("code", CODES)
def test_information_gains(kind, code):
    means, variances = np.array(FIELDS[:3]).T
    signs, gains = np.array([1.0, -1.0, 1.0]), np.empty(3)
    kernels.information_gains(kind, code, CODES[code], signs, means, variances, gains)
    expected = [bits(kind, code, *given) for given in zip(signs, means, variances, strict=True)]
    np.testing.assert_allclose(gains, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        kernels.information_gain(kind, code, CODES[code], signs[0], means[0], variances[0]),
        gains[0],
    )


@pytest.mark.parametrize("code", CODES)
def test_expected_gains_average_over_both_labels(code):
    means, variances = np.array(FIELDS[:3]).T
    gains = np.empty(3)
    kernels.expected_gains(EXACT, code, CODES[code], means, variances, gains)
    expected = [
        sum(
            evidence(code, y, mean, variance) * bits(EXACT, code, y, mean, variance)
            for y in (-1, 1)
        )
        for mean, variance in zip(means, variances, strict=True)
    ]
    np.testing.assert_allclose(gains, expected, rtol=1e-6, atol=1e-9)
