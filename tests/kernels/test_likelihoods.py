"""Likelihood kernels against mpmath, near and far."""

import numpy as np
import pytest
from scipy.special import betaln

from bayesift.kernels.likelihoods import LOG_F, LOGIT, PROBIT, evaluate

mpmath = pytest.importorskip("mpmath")

FAR = [
    -1e4,
    -300.0,
    -40.0,
    -38.5,
    -10.0,
    -3.0001,
    -2.9999,
    -0.5,
    -1e-9,
    0.0,
    1e-3,
    0.7,
    3.0,
    8.0,
    20.0,
    36.0,
]
LINKS = [
    (LOGIT, 1.0),
    (PROBIT, 1.0),
    (LOG_F, 1.0),
    (LOG_F, 1.5),
    (LOG_F, 4.0),
    (LOG_F, 20.0),
    (LOG_F, 1000.0),
]


def parameters_of(m):
    return np.array([m, np.sqrt(2.0 / (m + 1.0)), np.log(2.0) + betaln(0.5, m)])


def ours(link, m, margins):
    margins = np.asarray(margins, dtype=float)
    parts = np.empty((3, len(margins)))
    evaluate(link, parameters_of(m), margins, *parts)
    return parts


def exact(link, m, t):
    """Log psi, psi'/psi and minus the second derivative, with hundreds of digits.

    The last one is r (r - (log psi')').
    """
    t, m = mpmath.mpf(t), mpmath.mpf(m)
    if link == PROBIT:
        upper = mpmath.erfc(abs(t) / mpmath.sqrt(2)) / 2
        density, bend = mpmath.exp(-t * t / 2) / mpmath.sqrt(2 * mpmath.pi), -t
    else:
        c = mpmath.sqrt(2 / (m + 1))
        x = 1 / (1 + mpmath.exp(c * abs(t)))
        upper = x if link == LOGIT else mpmath.betainc(m, m, 0, x, regularized=True)
        density = c * (x * (1 - x)) ** m / mpmath.beta(m, m)
        bend = -c * m * mpmath.tanh(c * t / 2)
    below, logarithm = (
        (upper, mpmath.log(upper)) if t < 0 else (1 - upper, mpmath.log1p(-upper))
    )
    slope = density / below
    return logarithm, slope, slope * (slope - bend)


# farther out mpmath's incomplete beta function takes too long
CASES = [(link, m, t) for link, m in LINKS for t in FAR if link != LOG_F or abs(t) <= 300]


@pytest.mark.parametrize(("link", "m", "t"), CASES)
def test_margins_near_and_far_against_mpmath(link, m, t):
    with mpmath.workdps(450):
        expected = [float(value) for value in exact(link, m, t)]
    np.testing.assert_allclose(ours(link, m, [t])[:, 0], expected, rtol=1e-11, atol=1e-300)


def test_ends_of_the_family_are_logit_and_probit():
    margins = np.linspace(-12, 12, 49)
    np.testing.assert_allclose(ours(LOG_F, 1.0, margins), ours(LOGIT, 1.0, margins), rtol=1e-12)
    near = [
        np.abs(ours(LOG_F, m, margins)[0] / ours(PROBIT, 1.0, margins)[0] - 1).max()
        for m in (1e2, 1e4, 1e6)
    ]
    assert near[0] > 50 * near[1] > 2500 * near[2]


@pytest.mark.parametrize(
    ("link", "m", "bound"), [(LOGIT, 1.0, 0.25), (PROBIT, 1.0, 1.0), (LOG_F, 4.0, 0.8)]
)
def test_curvature_is_bounded_and_never_negative(link, m, bound):
    logarithms, slopes, curvatures = ours(link, m, np.linspace(-500, 500, 4001))
    assert np.all(curvatures >= 0)
    assert curvatures.max() <= bound * (1 + 1e-12)
    assert np.all(slopes >= 0)
    assert np.all(np.diff(logarithms) >= 0)
    assert np.all(np.isfinite(logarithms))
