"""Moments of a likelihood under a normal field.

log Z, g = d log Z / d mean and q = d2 log Z / d mean2.

    Z = E[p(y | h)],  h ~ N(mean, variance),  y in {-1, +1}

    PROBIT   p = Phi(y h / sigma0): closed form, Z = Phi(u), u = y mean / sqrt(sigma0^2 + variance)
    LOGIT    p = 1 / (1 + exp(-y h)): the trapezoidal rule
    FLIP     p = kappa + (1 - 2 kappa) [y h > 0]: closed form; q may be positive

An update moves the field's mean by g variance, its variance by q variance^2. `parameters[0]` is the
scale or the rate. The trapezoidal rule over the whole line converges like exp(-2 pi w / step), w
the distance of the integrand's nearest singularity from the real line (pi for the logit, about 2.4
sigma0 for log Phi), and like exp(-2 pi^2 variance / step^2) for the normal density: the steps below
reach rounding error. Nodes surround the mode of p(y | h) N(h), and only margins on the unlikely
side are integrated (Z(+) = 1 - Z(-)), so that nothing is lost in the tails. A logit field of
standard deviation above 300 is treated as a probit field of variance pi^2 / 3: the error of Z is
below 1e-10.
"""

from __future__ import annotations

import math

from bayesift.arrays import Array, FloatArray
from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.likelihoods import logit_parts, probit_parts

Triple = tuple[float, float, float]

PROBIT, LOGIT, FLIP = 0, 1, 2
EXACT, GAUSSIAN, PAPER = 0, 1, 2
_LOGISTIC_SCALE = math.pi / math.sqrt(3.0)
_WIDEST_LOGIT_DEVIATION = (
    300.0  # standard deviation from which a logit field counts as a probit field
)
_REACH_DEVIATIONS = 9.0  # standard deviations of the field on either side of the mode
_SQRT_HALF = math.sqrt(0.5)
_LOG_TWO = math.log(2.0)


@inlined
def _probit_moments(margin: float, total: float) -> Triple:
    """With respect to the margin; total = sigma0^2 + variance."""
    scale = 1.0 / math.sqrt(total)
    logarithm, slope, curvature = probit_parts(margin * scale)
    return logarithm, slope * scale, -curvature / total


@inlined
def _flip_moments(kappa: float, margin: float, variance: float) -> Triple:
    if variance <= 0.0:
        above = 0.5 if margin == 0.0 else (1.0 if margin > 0.0 else 0.0)
        return math.log(kappa + (1.0 - 2.0 * kappa) * above), 0.0, 0.0
    scale = 1.0 / math.sqrt(variance)
    u = margin * scale
    evidence = kappa + (1.0 - 2.0 * kappa) * 0.5 * math.erfc(-u * _SQRT_HALF)
    slope = (
        (1.0 - 2.0 * kappa)
        * math.exp(-0.5 * u * u)
        / math.sqrt(2.0 * math.pi)
        * scale
        / evidence
    )
    return math.log(evidence), slope, -u * scale * slope - slope * slope


@kernel
def _mode(code: int, scale: float, margin: float, variance: float) -> float:
    """Find the mode of log p(h) - (h - margin)^2 / 2 variance, roughly, to place nodes."""
    low = margin
    slope = logit_parts(margin)[1] if code == LOGIT else probit_parts(margin / scale)[1] / scale
    high = margin + variance * slope
    tolerance = 0.1 * min(math.sqrt(variance), scale)
    h = low
    for _ in range(200):
        if code == LOGIT:
            _, slope, curvature = logit_parts(h)
        else:
            _, slope, curvature = probit_parts(h / scale)
            slope, curvature = slope / scale, curvature / (scale * scale)
        excess = h - margin - variance * slope
        if excess > 0.0:
            high = h
        else:
            low = h
        step = -excess / (1.0 + variance * curvature)
        following = h + step
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - h) <= tolerance or high - low <= tolerance:
            return following
        h = following
    return h


@kernel
def _unlikely_logit_moments(margin: float, variance: float) -> Triple:
    """Moments of the logit for margin <= 0."""
    deviation = math.sqrt(variance)
    centre = _mode(LOGIT, 1.0, margin, variance)
    step = min(0.7 * deviation, 0.5)
    count = math.ceil(_REACH_DEVIATIONS * deviation / step)
    peak = (
        min(centre, 0.0)
        - math.log1p(math.exp(-abs(centre)))
        - 0.5 * (centre - margin) ** 2 / variance
    )
    total = 0.0
    first = 0.0
    second = 0.0
    for k in range(-count, count + 1):
        h = centre + k * step
        logarithm, slope, curvature = logit_parts(h)
        weight = math.exp(logarithm - 0.5 * (h - margin) ** 2 / variance - peak)
        total += weight
        first += weight * slope
        second += weight * (slope * slope - curvature)
    g = first / total
    log_evidence = peak + math.log(total * step / (deviation * math.sqrt(2.0 * math.pi)))
    return log_evidence, g, second / total - g * g


@kernel
def _logit_moments(margin: float, variance: float) -> Triple:
    if variance <= 0.0:
        logarithm, slope, curvature = logit_parts(margin)
        return logarithm, slope, -curvature
    if variance > _WIDEST_LOGIT_DEVIATION * _WIDEST_LOGIT_DEVIATION:
        return _probit_moments(margin, variance + _LOGISTIC_SCALE * _LOGISTIC_SCALE)
    log_evidence, g, q = _unlikely_logit_moments(-abs(margin), variance)
    if margin <= 0.0:
        return log_evidence, g, q
    rest = math.exp(log_evidence)
    odds = rest / (1.0 - rest)
    slope = odds * g
    return math.log1p(-rest), slope, -odds * (q + g * g) - slope * slope


@inlined
def moments(
    code: int, parameters: FloatArray, y: float, mean: float, variance: float
) -> Triple:
    """Return log evidence of a label y (-1 or +1), and its derivatives by the mean field."""
    margin = y * mean
    if code == PROBIT:
        log_evidence, slope, curvature = _probit_moments(
            margin, parameters[0] * parameters[0] + variance
        )
    elif code == LOGIT:
        log_evidence, slope, curvature = _logit_moments(margin, variance)
    else:
        log_evidence, slope, curvature = _flip_moments(parameters[0], margin, variance)
    return log_evidence, y * slope, curvature


@kernel
def evaluate_moments(
    code: int,
    parameters: FloatArray,
    y: Array,
    means: FloatArray,
    variances: FloatArray,
    logs: FloatArray,
    first: Array,
    second: Array,
) -> None:
    """Write log Z, g and q of every label and field."""
    for i in range(len(means)):
        logs[i], first[i], second[i] = moments(code, parameters, y[i], means[i], variances[i])


@inlined
def _mean_log_likelihood(
    code: int, parameters: FloatArray, y: float, mean: float, variance: float, tilted: bool
) -> float:
    """Return the mean of log p(y | h) over a normal h, or (`tilted`) over its posterior.

    Mean, variance) / Z.
    """
    margin = y * mean
    if code == FLIP:
        return _mean_log_flip(parameters[0], margin, variance, tilted)
    scale = parameters[0] if code == PROBIT else 1.0
    if variance <= 0.0:
        return logit_parts(margin)[0] if code == LOGIT else probit_parts(margin / scale)[0]
    if code == LOGIT and variance > _WIDEST_LOGIT_DEVIATION * _WIDEST_LOGIT_DEVIATION:
        code, scale = PROBIT, _LOGISTIC_SCALE
    return _mean_log_by_nodes(code, scale, margin, variance, tilted)


@inlined
def _mean_log_flip(kappa: float, margin: float, variance: float, tilted: bool) -> float:
    above = 0.5 if margin == 0.0 else (1.0 if margin > 0.0 else 0.0)
    if variance > 0.0:
        above = 0.5 * math.erfc(-margin / math.sqrt(variance) * _SQRT_HALF)
    if tilted:
        above = (1.0 - kappa) * above / (kappa + (1.0 - 2.0 * kappa) * above)
    return above * math.log(1.0 - kappa) + (1.0 - above) * math.log(kappa)


@kernel
def _mean_log_by_nodes(
    code: int, scale: float, margin: float, variance: float, tilted: bool
) -> float:
    """Integrate log p by nodes where it is not 0.

    Their number does not grow with the upper tail of a wide field.
    """
    deviation = math.sqrt(variance)
    centre = _mode(code, scale, margin, variance) if tilted else margin
    step = min(0.7 * deviation, 0.5 if code == LOGIT else 0.4 * scale)
    count = math.ceil(_REACH_DEVIATIONS * deviation / step)
    furthest = 40.0 if code == LOGIT else 9.0 * scale  # log p is 0 beyond
    upper = min(count, max(-count, math.ceil((furthest - centre) / step)))
    peak = (
        _log_likelihood(code, scale, centre) - 0.5 * (centre - margin) ** 2 / variance
        if tilted
        else 0.0
    )
    total = 0.0
    for k in range(-count, upper + 1):
        h = centre + k * step
        logarithm = _log_likelihood(code, scale, h)
        exponent = -0.5 * (h - margin) ** 2 / variance
        total += math.exp(exponent + logarithm - peak if tilted else exponent) * logarithm
    mean = total * step / (deviation * math.sqrt(2.0 * math.pi))
    if not tilted:
        return mean
    if code == LOGIT:
        log_evidence = _logit_moments(margin, variance)[0]
    else:
        log_evidence = _probit_moments(margin, scale * scale + variance)[0]
    return mean * math.exp(peak - log_evidence)


@inlined
def _log_likelihood(code: int, scale: float, h: float) -> float:
    return logit_parts(h)[0] if code == LOGIT else probit_parts(h / scale)[0]


@kernel
def information_gain(
    kind: int, code: int, parameters: FloatArray, y: float, mean: float, variance: float
) -> float:
    """Return what a label tells about the field, in bits.

    EXACT      KL(p(h | y) || p(h)) = E[log p(y | h) | y] - log Z
    GAUSSIAN   KL(N(mean', variance') || N(mean, variance)) after the update
    PAPER      the mean of log p(y | h) over N(mean', variance'), minus log Z; it may be negative
    """
    log_evidence, g, q = moments(code, parameters, y, mean, variance)
    if kind == GAUSSIAN:
        change = q * variance
        return 0.5 * (change - math.log1p(change) + g * g * variance) / _LOG_TWO
    if kind == EXACT:
        gain = _mean_log_likelihood(code, parameters, y, mean, variance, True) - log_evidence
        return max(gain, 0.0) / _LOG_TWO
    after, spread = mean + g * variance, variance + q * variance * variance
    return (
        _mean_log_likelihood(code, parameters, y, after, spread, False) - log_evidence
    ) / _LOG_TWO


@kernel
def information_gains(
    kind: int,
    code: int,
    parameters: FloatArray,
    y: Array,
    means: FloatArray,
    variances: FloatArray,
    gains: FloatArray,
) -> None:
    """Write the information gain of every label and field."""
    for i in range(len(means)):
        gains[i] = information_gain(kind, code, parameters, y[i], means[i], variances[i])


@kernel
def expected_gains(
    kind: int,
    code: int,
    parameters: FloatArray,
    means: FloatArray,
    variances: FloatArray,
    gains: FloatArray,
) -> None:
    """Write the information gain of every field, averaged over both labels."""
    for i in range(len(means)):
        expected = 0.0
        for y in (-1.0, 1.0):
            weight = math.exp(moments(code, parameters, y, means[i], variances[i])[0])
            if weight > 0.0:
                expected += weight * information_gain(
                    kind, code, parameters, y, means[i], variances[i]
                )
        gains[i] = expected
