import mpmath as mp
import numpy as np
import pytest
from scipy import integrate as quadrature
from scipy.special import expit, log_expit, log_ndtr, ndtr

from bayesift.errors import DataError
from bayesift.models.online.likelihoods import (
    FlipNoise,
    LogitNoise,
    ProbitNoise,
    likelihood_of,
)
from bayesift.state import decode, encode

NOISES = [
    ProbitNoise(0.5),
    ProbitNoise(3.0),
    LogitNoise(),
    LogitNoise(by="probit"),
    FlipNoise(0.1),
    FlipNoise(0.02),
]
FIELDS = [
    (0.0, 1.0),
    (1.3, 0.2),
    (-2.0, 4.0),
    (3.0, 0.01),
    (-6.0, 2.0),
    (5.0, 30.0),
    (-20.0, 25.0),
]


NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


def log_likelihood(noise, h):
    """log p(y = 1 | h) by its definition."""
    if isinstance(noise, FlipNoise):
        return np.log(np.where(h > 0, 1 - noise.kappa, noise.kappa))
    if isinstance(noise, ProbitNoise) or noise.by == "probit":
        return log_ndtr(h / (noise.sigma0 if isinstance(noise, ProbitNoise) else 1.6474))
    return log_expit(h)


def integrate(noise, y, mean, variance, of):
    """The integral of `of(log p(y | h), h)` against N(h.

    Mean, variance), by panels that meet at 0.
    """
    deviation = np.sqrt(variance)
    centres = mean, mean + y * variance  # the second is where a logit's tail has its mass
    low, high = min(0, *centres) - 14 * deviation, max(0, *centres) + 14 * deviation
    width = min(deviation, 0.5) / 2
    edges = np.concatenate([-np.arange(0, -low, width)[:0:-1], np.arange(0, high, width)])
    h = (edges[:-1, np.newaxis] + width * (NODES + 1) / 2).ravel()
    weights = np.tile(WEIGHTS * width / 2, len(edges) - 1)
    density = np.exp(-0.5 * (h - mean) ** 2 / variance) / np.sqrt(2 * np.pi * variance)
    return np.sum(weights * density * of(log_likelihood(noise, y * h), h))


def exact_moments(noise, y, mean, variance):
    z = integrate(noise, y, mean, variance, lambda p, h: np.exp(p))
    first = integrate(noise, y, mean, variance, lambda p, h: np.exp(p) * h) / z
    second = integrate(noise, y, mean, variance, lambda p, h: np.exp(p) * (h - first) ** 2) / z
    return np.log(z), (first - mean) / variance, (second / variance - 1) / variance


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize(("mean", "variance"), FIELDS)
def test_moments_are_those_of_numerical_integration(noise, mean, variance):
    for y in (-1, 1):
        ours = noise.moments(y, mean, variance)
        np.testing.assert_allclose(
            ours, exact_moments(noise, y, mean, variance), rtol=1e-9, atol=1e-11 / variance
        )


@pytest.mark.parametrize("u", [-40.0, -25.0, 25.0, 40.0])
def test_probit_moments_hold_far_out(u):
    noise, variance = ProbitNoise(0.5), 2.0
    with mp.workdps(60):
        sigma = mp.sqrt(variance + mp.mpf(noise.sigma0) ** 2)
        slope = mp.npdf(u) / mp.ncdf(u)
        logarithm = mp.log(mp.ncdf(u)) if u < 0 else mp.log1p(-mp.ncdf(-u))
        theirs = [
            float(part) for part in (logarithm, slope / sigma, -slope * (slope + u) / sigma**2)
        ]
    ours = noise.moments(1, u * float(sigma), variance)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("mean", [-60.0, -40.0, 40.0, 60.0])
def test_logit_moments_hold_far_out(mean):
    variance = 2.0
    with mp.workdps(50):

        def integral(power):  # of p(1-p)^power's unlikely side, where its mass is
            def integrand(h):
                return (
                    1
                    / (1 + mp.exp(-h))
                    * mp.npdf(h, -abs(mean), mp.sqrt(variance))
                    * (h + abs(mean)) ** power
                )

            centre = -abs(mean) + variance
            return mp.quad(
                integrand, [centre + k * mp.sqrt(variance) for k in (-18, -6, -2, 0, 2, 6, 18)]
            )

        rest, first, second = (integral(power) for power in range(3))
        slope, bend = first / variance, (second / variance - rest) / variance
        if mean < 0:
            theirs = mp.log(rest), slope / rest, bend / rest - (slope / rest) ** 2
        else:
            theirs = (
                mp.log1p(-rest),
                slope / (1 - rest),
                -bend / (1 - rest) - (slope / (1 - rest)) ** 2,
            )
        theirs = [float(part) for part in theirs]
    ours = LogitNoise().moments(1, mean, variance)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-13 if mean < 0 else 0)


def test_logit_probabilities_are_those_of_adaptive_integration_over_the_fields_of_a_corpus():
    generator = np.random.default_rng(0)
    means, variances = generator.uniform(-15, 20, 60), generator.uniform(0.01, 12, 60)
    ours = np.exp(LogitNoise(by="quadrature").log_evidence(1, means, variances))
    for probability, mean, variance in zip(ours, means, variances, strict=True):
        deviation = np.sqrt(variance)

        def integrand(z, mean=mean, deviation=deviation):
            return expit(mean + deviation * z) * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)

        theirs = quadrature.quad(integrand, -12, 16, epsabs=0, epsrel=1e-11, limit=200)[0]
        np.testing.assert_allclose(probability, theirs, rtol=1e-10)


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_slopes_are_finite_differences_and_both_labels_share_one_probability(noise):
    means, variances = np.linspace(-8, 8, 33), np.geomspace(0.05, 50, 33)
    step = 1e-5 * np.sqrt(variances)
    low, high = (noise.log_evidence(1, means + s, variances) for s in (-step, step))
    log_evidence, first, second = noise.moments(1, means, variances)
    np.testing.assert_allclose((high - low) / (2 * step), first, rtol=1e-6, atol=1e-8)
    slopes = [noise.moments(1, means + s, variances)[1] for s in (-step, step)]
    np.testing.assert_allclose(
        (slopes[1] - slopes[0]) / (2 * step), second, rtol=1e-5, atol=1e-7
    )
    np.testing.assert_allclose(
        np.exp(log_evidence) + np.exp(noise.log_evidence(-1, means, variances)), 1, rtol=1e-12
    )


def test_flip_noise_may_widen_the_field_but_no_update_makes_a_variance_negative():
    assert FlipNoise(0.1).moments(1, -3.0, 1.0)[2] > 0
    for noise in NOISES:
        for variance in (1e-6, 1.0, 1e4):
            second = noise.moments(1, np.linspace(-200, 200, 101), variance)[2]
            assert np.all(1 + second * variance > 0)


def test_wide_logit_fields_meet_the_quadrature():
    at = 299.9999**2, 300.0001**2
    for mean in (-900.0, 0.0, 450.0):
        near, far = (LogitNoise().moments(1, mean, variance) for variance in at)
        np.testing.assert_allclose(near, far, rtol=5e-6)


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize(("mean", "variance"), FIELDS)
def test_information_gain_is_the_distance_of_posterior_and_prior(noise, mean, variance):
    for y in (-1, 1):
        z = integrate(noise, y, mean, variance, lambda p, h: np.exp(p))
        gain = integrate(noise, y, mean, variance, lambda p, h: np.exp(p) * p) / z - np.log(z)
        ours = noise.information_gain(y, mean, variance)
        np.testing.assert_allclose(ours, gain / np.log(2), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize(("mean", "variance"), FIELDS)
def test_gaussian_and_papers_gain_follow_the_update(noise, mean, variance):
    log_evidence, first, second = (float(part) for part in noise.moments(1, mean, variance))
    after, spread = mean + first * variance, variance + second * variance**2
    average = integrate(noise, 1, after, spread, lambda p, h: p)
    distance = 0.5 * (
        spread / variance + (after - mean) ** 2 / variance - 1 - np.log(spread / variance)
    )
    paper = (average - log_evidence) / np.log(2)
    np.testing.assert_allclose(
        noise.information_gain(1, mean, variance, kind="paper"), paper, rtol=1e-7, atol=1e-10
    )
    np.testing.assert_allclose(
        noise.information_gain(1, mean, variance, kind="gaussian"),
        distance / np.log(2),
        rtol=1e-7,
        atol=1e-11,
    )


def test_the_papers_formula_of_flip_noise():
    kappa, mean, variance = 0.1, -0.7, 1.8
    log_evidence, g, q = FlipNoise(kappa).moments(1, mean, variance)
    after, spread = mean + g * variance, variance + q * variance**2
    printed = (
        np.log2(kappa)
        + ndtr(after / np.sqrt(spread)) * np.log2((1 - kappa) / kappa)
        - log_evidence / np.log(2)
    )
    np.testing.assert_allclose(
        FlipNoise(kappa).information_gain(1, mean, variance, kind="paper"), printed, rtol=1e-12
    )


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("kind", ["exact", "gaussian", "paper"])
def test_expected_gain_is_the_mean_over_both_labels(noise, kind):
    means, variances = np.array([-3.0, 0.0, 0.5, 6.0]), np.array([1.0, 0.3, 20.0, 2.0])
    p = noise.predictive(means, variances)
    gains = [noise.information_gain(y, means, variances, kind=kind) for y in (-1, 1)]
    expected = noise.expected_information_gain(means, variances, kind=kind)
    np.testing.assert_allclose(
        expected, (1 - p) * gains[0] + p * gains[1], rtol=1e-9, atol=1e-12
    )
    if kind == "exact":
        assert np.all((expected >= 0) & (expected <= 1))


def test_fields_without_variance_tell_nothing():
    for noise in NOISES:
        log_evidence, first, second = noise.moments([1, 1], [0.0, 2.0], 0.0)
        assert np.all(np.isfinite([log_evidence, first, second]))
        np.testing.assert_allclose(noise.information_gain(1, [0.5, -2.0], 0.0), 0.0, atol=1e-12)


def test_names_and_descriptions():
    for noise in NOISES:
        assert decode(encode(noise)) == noise
    assert likelihood_of("probit") == ProbitNoise(0.5)
    for wrong in ("cauchy", 3, None):
        with pytest.raises(ValueError, match="likelihood"):
            likelihood_of(wrong)
    for wrong in ({"kappa": 0.7}, {"rate": 0.1}, {"kappa": "often"}):
        with pytest.raises(DataError):
            decode({"kind": "flip-noise", **wrong})
    for make in (
        lambda: ProbitNoise(0.0),
        lambda: FlipNoise(0.5),
        lambda: LogitNoise(by="magic"),
    ):
        with pytest.raises(ValueError, match="must"):
            make()
    with pytest.raises(ValueError, match="labels"):
        ProbitNoise().log_evidence(0, 1.0, 1.0)
    with pytest.raises(ValueError, match="no information gain"):
        ProbitNoise().information_gain(1, 1.0, 1.0, kind="best")


def test_values_of_likelihoods():
    moments = ProbitNoise(1.0).moments([1.0], [0.0], [0.0])
    assert [part.round(4).tolist() for part in moments] == [[-0.6931], [0.7979], [-0.6366]]
    assert float(FlipNoise(0.1).log_evidence(-1, 0.0, 2.0).round(4)) == -0.6931
    assert ProbitNoise(0.5).predictive(0.0, 1.0).tolist() == 0.5
    assert LogitNoise().predictive(2.0, 1.0).round(6).tolist() == 0.844537
    assert FlipNoise(0.1).predictive(9.0, 1.0).round(6).tolist() == 0.9
    assert FlipNoise(0.1).expected_information_gain([0.0, 9.0], [1.0, 1.0]).round(
        3
    ).tolist() == [
        0.531,
        0.0,
    ]
