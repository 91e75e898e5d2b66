"""Bayesian logistic regressions that mix the log odds of experts.

They go from what all categories share to each one's own.

With z_c the log odds of the experts and 1, and u_c = (g_c, log of the sum of exp g over the other
categories, 1):

    shared         a_c = m z_c                               one for all categories
    by size        g_c = a_c + m z_c                         one per size, by powers of 2
    competition    b_c = m (u_c, u_c if c is the likeliest)  one for all categories
    own            e_c = b_c + m u_c                         one for each category
    calibration    e_c + m k(e_c), k linear between knots    one for the likeliest, one for others

With fewer than three categories nothing competes: g_c = a_c, b_c = g_c and the second entry of u is
0. Each regression is normal with mean m and covariance S, kept as rows (m_i, S_i) of one array. Its
output is h / sqrt(1 + pi v / 8), h the offset and m z, v = z S z: MacKay's approximation of the log
odds under the posterior. A label y in {0, 1} moves it by one Newton step at the mean:

    p = sigmoid(h),  w = p (1 - p),  m += (y - p) S z / (1 + w v),  S -= w S z z' S / (1 + w v)

All categories are predicted before any of them is learned.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array, FloatArray
from bayesift.kernels.compile import inlined, inlined_tight, tight

OWN, OTHERS, ONE = 0, 1, 2
N_SIZES = 16
KNOTS = np.array([-6.0, -4.0, -2.5, -1.2, 0.0, 1.2, 2.5, 4.0, 6.0])
_LARGEST_LOG_ODDS = 30.0  # log odds beyond which a probability counts as 0 or 1


class Mixers(NamedTuple):
    """The regressions of each kind, groups x inputs x (mean, covariance); see the module."""

    shared: FloatArray
    by_size: FloatArray
    competition: FloatArray
    own: FloatArray
    calibration: FloatArray


class MixerInputs(NamedTuple):
    """Inputs of the regressions for one document, categories x inputs, and their offsets."""

    experts: FloatArray
    rivals: FloatArray
    bent: FloatArray
    offsets: FloatArray


# Kernels below take whole arrays and an index: a view would cost as much as a regression.


@inlined_tight
def _mixed(
    inputs: FloatArray, c: int, size: int, offset: float, mixers: FloatArray, g: int
) -> float:
    """Return the moderated log odds of regression g for row c of the inputs."""
    h, v = offset, 0.0
    for i in range(size):
        x = inputs[c, i]
        if x != 0.0:
            h += mixers[g, i, 0] * x
            row = 0.5 * mixers[g, i, 1 + i] * x
            for k in range(i):
                row += mixers[g, i, 1 + k] * inputs[c, k]
            v += x * row
    return h / math.sqrt(1.0 + math.pi / 4.0 * max(v, 0.0))


@inlined_tight
def learn_row(
    inputs: FloatArray,
    c: int,
    size: int,
    offset: float,
    label: float,
    mixers: FloatArray,
    g: int,
    work: Array,
) -> None:
    """One Newton step of regression g for row c of the inputs."""
    h, v = offset, 0.0
    for i in range(size):
        work[i] = 0.0
    for k in range(size):
        x = inputs[c, k]
        if x != 0.0:
            h += mixers[g, k, 0] * x
            for i in range(size):
                work[i] += mixers[g, k, 1 + i] * x
    for i in range(size):
        v += inputs[c, i] * work[i]
    p = 1.0 / (1.0 + math.exp(-min(max(h, -_LARGEST_LOG_ODDS), _LARGEST_LOG_ODDS)))
    w = p * (1.0 - p)
    scale = 1.0 / (1.0 + w * max(v, 0.0))
    step = (label - p) * scale
    for i in range(size):
        mixers[g, i, 0] += step * work[i]
        change = w * scale * work[i]
        for k in range(size):
            mixers[g, i, 1 + k] -= change * work[k]


@tight
def learn_mixer(
    inputs: FloatArray,
    c: int,
    offset: float,
    label: float,
    mixers: FloatArray,
    g: int,
    work: Array,
) -> None:
    """One Newton step of regression g for row c of the inputs."""
    learn_row(inputs, c, inputs.shape[1], offset, label, mixers, g, work)


@inlined_tight
def _log_sum_of_others(rows: Array, c: int) -> float:
    top, total = -math.inf, 0.0
    for k in range(len(rows)):
        if k != c and rows[k, OWN] > top:
            top = rows[k, OWN]
    for k in range(len(rows)):
        if k != c:
            total += math.exp(rows[k, OWN] - top)
    return top + math.log(total)


@tight
def compete(rows: Array) -> int:
    """Complete u of every category, whose first entries are there; gives the likeliest category."""
    n_categories, best, total = len(rows), 0, 0.0
    for c in range(n_categories):
        rows[c, OTHERS], rows[c, ONE] = 0.0, 1.0
        if rows[c, OWN] > rows[best, OWN]:
            best = c
    if n_categories < 3:
        return best
    top = rows[best, OWN]
    for c in range(n_categories):
        total += math.exp(rows[c, OWN] - top)
    for c in range(n_categories):
        rest = total - math.exp(rows[c, OWN] - top)
        rows[c, OTHERS] = (
            _log_sum_of_others(rows, c) if c == best or rest < 0.5 else top + math.log(rest)
        )
    return best


@inlined_tight
def _bend(x: float, knots: FloatArray, inputs: FloatArray, c: int) -> None:
    """Write into row c the weights of the knots on both sides of x."""
    last = len(knots) - 1
    for k in range(last + 1):
        inputs[c, k] = 0.0
    if x <= knots[0]:
        inputs[c, 0] = 1.0
    elif x >= knots[last]:
        inputs[c, last] = 1.0
    else:
        k = 0
        while x > knots[k + 1]:
            k += 1
        inputs[c, k + 1] = (x - knots[k]) / (knots[k + 1] - knots[k])
        inputs[c, k] = 1.0 - inputs[c, k + 1]


@inlined
def size_group(count: float) -> int:
    """Return the group of a category of this size: log2(size + 1), rounded down."""
    rest, group = count + 1.0, 0
    if rest >= 256.0:
        rest, group = rest / 256.0, 8
    if rest >= 16.0:
        rest, group = rest / 16.0, group + 4
    if rest >= 4.0:
        rest, group = rest / 4.0, group + 2
    return group + 1 if rest >= 2.0 else group


@tight
def mix(
    odds: FloatArray,
    counts: Array,
    knots: FloatArray,
    mixers: Mixers,
    inputs: MixerInputs,
    scores: FloatArray,
) -> int:
    """Write the mixed log odds of every category and the inputs; gives the likeliest category."""
    shared, by_size, competition, own, calibration = mixers
    experts, rivals, bent, offsets = inputs
    n_experts, n_categories = odds.shape
    many = n_categories > 2
    for c in range(n_categories):
        for e in range(n_experts):
            experts[c, e] = odds[e, c]
        experts[c, n_experts] = 1.0
        value = _mixed(experts, c, n_experts + 1, 0.0, shared, 0)
        offsets[0, c] = value
        if many:
            value = _mixed(experts, c, n_experts + 1, value, by_size, size_group(counts[c]))
        rivals[c, OWN] = value
    best = compete(rivals)
    for c in range(n_categories):
        for k in range(3):
            rivals[c, 3 + k] = rivals[c, k] if c == best else 0.0
        value = (
            _mixed(rivals, c, 6 if c == best else 3, 0.0, competition, 0)
            if many
            else rivals[c, OWN]
        )
        offsets[1, c] = value
        value = _mixed(rivals, c, 3, value, own, c)
        offsets[2, c] = value
        _bend(value, knots, bent, c)
        scores[c] = _mixed(bent, c, len(knots), value, calibration, 1 if c == best else 0)
    return best


@tight
def learn_mixers(
    best: int,
    labels: Array,
    counts: Array,
    mixers: Mixers,
    inputs: MixerInputs,
    work: Array,
) -> None:
    """Update all mixers with the labels of one document, category after category."""
    shared, by_size, competition, own, calibration = mixers
    experts, rivals, bent, offsets = inputs
    n_inputs, n_knots = experts.shape[1], bent.shape[1]
    many = len(labels) > 2
    for c in range(len(labels)):
        y = labels[c]
        learn_row(experts, c, n_inputs, 0.0, y, shared, 0, work)
        if many:
            learn_row(
                experts, c, n_inputs, offsets[0, c], y, by_size, size_group(counts[c]), work
            )
            learn_row(rivals, c, 6, 0.0, y, competition, 0, work)
        learn_row(rivals, c, 3, offsets[1, c], y, own, c, work)
        learn_row(bent, c, n_knots, offsets[2, c], y, calibration, 1 if c == best else 0, work)
