"""Likelihoods of a margin t = y f: log psi(t), its first derivative and minus its second.

    LOGIT    psi(t) = 1 / (1 + exp(-t))
    PROBIT   psi(t) = Phi(t)
    LOG_F    psi(t) = I_x(m, m),  x = 1 / (1 + exp(-c t)),  c = sqrt(2 / (m + 1));
             parameters = (m, c, log 2B(1/2, m))

LOG_F is Prentice's (1976) symmetric link, with the regularised incomplete beta function I. Its
shape a = 1/m runs from 0 (probit, in the limit) to 1 (logit); its density is log-concave for every
shape, so that the posterior mode is unique.

The derivative r = psi' / psi comes in the lower tail from a continued fraction in which the
vanishing factors cancel (Mills' ratio for probit, the incomplete beta function for the family).
Minus the second derivative is r (r - (log psi')'), which lies between 0 and `curvature_bound`.
"""

from __future__ import annotations

import math

from bayesift.arrays import FloatArray
from bayesift.kernels.compile import inlined, kernel

Triple = tuple[float, float, float]

LOGIT, PROBIT, LOG_F, SQUARED_HINGE = (
    0,
    1,
    2,
    3,
)  # the last is a loss of margins, no likelihood; not in `parts`
_SQRT_HALF = math.sqrt(0.5)
_LOG_SQRT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_FRACTION_BEGINS = 3.0  # beyond it Mills' ratio comes from its continued fraction
_FRACTION_TERMS = 70  # of that fraction, enough for full precision at _FRACTION_BEGINS
_TINY = 1e-300


@inlined
def logit_parts(t: float) -> Triple:
    """Log-likelihood, derivative and curvature of the logit link."""
    small = math.exp(-abs(t))
    near = 1.0 / (1.0 + small)
    far = small * near
    derivative = far if t > 0.0 else near
    return min(t, 0.0) - math.log1p(small), derivative, near * far


@kernel
def probit_parts(t: float) -> Triple:
    """Log-likelihood, derivative and curvature of the probit link."""
    if t < -_FRACTION_BEGINS:
        x = -t
        excess = x
        for k in range(_FRACTION_TERMS, 1, -1):  # r = x + 1/(x + 2/(x + ...))
            excess = x + k / excess
        excess = 1.0 / excess
        derivative = x + excess
        return (
            -0.5 * t * t - _LOG_SQRT_TWO_PI - math.log(derivative),
            derivative,
            derivative * excess,
        )
    tail = 0.5 * math.erfc(abs(t) * _SQRT_HALF)
    below = tail if t < 0.0 else 1.0 - tail
    logarithm = math.log(tail) if t < 0.0 else math.log1p(-tail)
    derivative = math.exp(-0.5 * t * t - _LOG_SQRT_TWO_PI) / below
    return logarithm, derivative, derivative * (derivative + t)


@inlined
def _beta_fraction(x: float, m: float) -> tuple[float, float]:
    """Return g and e = g - 1 of I_x(m, m) = x^m (1 - x)^m / (m B(m, m) g), x <= 1/2."""
    first = -x * (2.0 * m) / (m + 1.0)
    value, upper, lower = 1.0, 1.0, 0.0
    for k in range(2, 100_000):
        half = k // 2
        if k % 2 == 0:
            d = half * (m - half) * x / ((m + 2 * half - 1.0) * (m + 2 * half))
        else:
            d = -(m + half) * (2.0 * m + half) * x / ((m + 2 * half) * (m + 2 * half + 1.0))
        lower = 1.0 + d * lower
        lower = 1.0 / (lower if lower != 0.0 else _TINY)
        upper = 1.0 + d / upper
        upper = upper if upper != 0.0 else _TINY
        value *= upper * lower
        if abs(upper * lower - 1.0) < 1e-16:
            break
    excess = first / value
    return 1.0 + excess, excess


@inlined
def _log_cosh(u: float) -> float:
    u = abs(u)
    if u < 1.0:
        half = math.sinh(0.5 * u)
        return math.log1p(2.0 * half * half)
    return u - math.log(2.0) + math.log1p(math.exp(-2.0 * u))


@kernel
def log_f_parts(t: float, parameters: FloatArray) -> Triple:
    """Log-likelihood, derivative and curvature of the log-F link."""
    m, c, log_beta = parameters[0], parameters[1], parameters[2]
    small = math.exp(-c * abs(t))
    x = small / (1.0 + small)  # the smaller of the two tails' arguments
    fraction, excess = _beta_fraction(x, m)
    bent = -2.0 * m * _log_cosh(0.5 * c * t) - log_beta  # log (x (1 - x))^m / B(m, m)
    log_tail = bent - math.log(m * fraction)
    if t < 0.0:
        derivative = c * m * fraction
        # (log f)' = c m (1 - 2x), hence r - (log f)' = c m (e + 2x)
        return log_tail, derivative, derivative * c * m * (excess + 2.0 * x)
    below = -math.expm1(log_tail)
    derivative = c * math.exp(bent) / below
    return (
        math.log1p(-math.exp(log_tail)),
        derivative,
        derivative * (derivative + c * m * math.tanh(0.5 * c * t)),
    )


@inlined
def parts(link: int, parameters: FloatArray, t: float) -> Triple:
    """Log-likelihood, derivative and curvature of any link."""
    if link == LOGIT:
        return logit_parts(t)
    if link == PROBIT:
        return probit_parts(t)
    return log_f_parts(t, parameters)


@kernel
def evaluate(
    link: int,
    parameters: FloatArray,
    margins: FloatArray,
    logarithms: FloatArray,
    derivatives: FloatArray,
    curvatures: FloatArray,
) -> None:
    """Write log psi, its derivative and minus its second derivative of every margin."""
    for i in range(len(margins)):
        logarithms[i], derivatives[i], curvatures[i] = parts(link, parameters, margins[i])


@kernel
def derivative_at(link: int, parameters: FloatArray, margin: float) -> float:
    """Return the derivative of the log-likelihood at one margin."""
    return parts(link, parameters, margin)[1]
