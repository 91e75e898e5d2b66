"""Scanning of a stream with one profile, and likelihood-ratio tests of terms.

Terms are tested after every judgement.

A profile knows d weights with mean a and covariance C; `lookup[column]` is the weight of a column,
or -1. With flip noise both questions about a document x depend on u = h / s only, h = a x, s^2 = x'
C x:

    relevant   p = kappa + (1 - 2 kappa) Phi(u) > threshold   <=>   u > u_relevant
    queried    the expected information gain is at least theta, which needs u >= -u_query

A profile may ask about a region of interest instead (MacKay 1992): documents r that stand for those
to come. Then the gain is the mean over r of the mutual information of the label of x and of the
decision on r, the sign of its field. It is at most the exact gain about x itself, which the label
reaches only through the sign of h.

One pass over the document gives h and, because |x' C x| <= (sum_j |x_j| sqrt(C_jj))^2, a bound of
s. Where neither can hold for any s up to that bound the quadratic form is never computed; otherwise
all is computed exactly.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.compile import brief, inlined, kernel
from bayesift.kernels.online_moments import FLIP, information_gain, moments

RELEVANT, QUERIED, DRAWN = 1, 2, 3
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(24)
_TWO_PI = 2.0 * math.pi


@inlined
def _normal(u: float) -> float:
    return 0.5 * math.erfc(-u * math.sqrt(0.5))


@kernel
def both_positive(a: float, b: float, correlation: float) -> float:
    """P(h > 0, k > 0) of normal h, k with mean / standard deviation a, b.

    Drezner & Wesolowsky (1990): Phi(a) Phi(b) plus, over t from 0 to arcsin(correlation), the
    integral of exp(-(a^2 + b^2 - 2 a b sin t) / (2 cos^2 t)) / (2 pi).
    """
    end = math.asin(min(max(correlation, -1.0), 1.0))
    total = 0.0
    for k in range(len(_NODES)):
        t = 0.5 * end * (1.0 + _NODES[k])
        cosine = max(math.cos(t), 1e-12)
        total += _NODE_WEIGHTS[k] * math.exp(
            -(a * a + b * b - 2.0 * a * b * math.sin(t)) / (2.0 * cosine * cosine)
        )
    return _normal(a) * _normal(b) + 0.5 * end * total / _TWO_PI


@inlined
def _plogp(p: float) -> float:
    return p * math.log2(p) if p > 0.0 else 0.0


@kernel
def decision_gain(kappa: float, u: float, v: float, correlation: float) -> float:
    """Return the bits that a label tells about the sign of another document's field.

    The label is flipped with probability kappa.

    u and v are mean / standard deviation of the two fields: the mutual information of a 2 x 2
    table.
    """
    p, q = _normal(u), _normal(v)
    both = min(max(both_positive(u, v, correlation), max(p + q - 1.0, 0.0)), min(p, q))
    labelled = kappa + (1.0 - 2.0 * kappa) * p
    cell = kappa * q + (1.0 - 2.0 * kappa) * both
    table = (
        _plogp(cell)
        + _plogp(labelled - cell)
        + _plogp(q - cell)
        + _plogp(1.0 - labelled - q + cell)
    )
    margins = _plogp(labelled) + _plogp(1.0 - labelled) + _plogp(q) + _plogp(1.0 - q)
    return max(table - margins, 0.0)


@inlined
def _variance(
    columns: IntArray,
    values: FloatArray,
    n: int,
    covariance: FloatArray,
    pending: FloatArray,
    weights: FloatArray,
    count: int,
) -> float:
    """Return the quadratic form of known columns with covariance and pending updates."""
    total = 0.0
    for a in range(n):
        row = covariance[columns[a]]
        part = 0.5 * values[a] * row[columns[a]]
        for b in range(a):
            part += values[b] * row[columns[b]]
        total += 2.0 * values[a] * part
    for p in range(count):
        other = pending[p]
        product = 0.0
        for a in range(n):
            product += values[a] * other[columns[a]]
        total += weights[p] * product * product
    return total


@inlined
def _expected_gain(kind: int, parameters: FloatArray, h: float, variance: float) -> float:
    """Return the information gain averaged over both labels."""
    expected = 0.0
    for y in (-1.0, 1.0):
        probability = math.exp(moments(FLIP, parameters, y, h, variance)[0])
        expected += probability * information_gain(kind, FLIP, parameters, y, h, variance)
    return expected


@inlined
def _region_gain(
    columns: IntArray,
    values: FloatArray,
    n: int,
    h: float,
    deviation: float,
    kappa: float,
    region: FloatArray,
    ratios: FloatArray,
) -> float:
    """Return the mean of `decision_gain` over the documents of a region.

    Region[r] = C r / s_r, ratios[r] = h_r / s_r.
    """
    if deviation <= 0.0:
        return 0.0
    total = 0.0
    for r in range(len(ratios)):
        covariance = 0.0
        for a in range(n):
            covariance += values[a] * region[r, columns[a]]
        total += decision_gain(kappa, h / deviation, ratios[r], covariance / deviation)
    return total / len(ratios)


@inlined
def _known_part(
    first: int,
    last: int,
    indices: IntArray,
    data: FloatArray,
    lookup: IntArray,
    bias: float,
    mean: FloatArray,
    deviations: FloatArray,
    columns: IntArray,
    values: FloatArray,
) -> tuple[int, float, float, float]:
    """Write a document's known columns and values, bias first.

    Their number, unscaled h, bound of s, squared length.
    """
    columns[0], values[0] = 0, bias
    n, h, bound, length = 1, bias * mean[0], abs(bias) * deviations[0], bias * bias
    for k in range(first, last):
        local = lookup[indices[k]] if indices[k] < len(lookup) else -1
        if local >= 0:
            if n == len(columns):
                raise ValueError("a document holds a column twice")
            x = data[k]
            columns[n], values[n] = local, x
            n += 1
            h += x * mean[local]
            bound += abs(x) * deviations[local]
            length += x * x
    return n, h, bound, length


class ScannedPosterior(NamedTuple):
    """A full posterior (`bayesift.kernels.online_perceptron`) and the deviations of its weights."""

    mean: FloatArray
    covariance: FloatArray
    pending: FloatArray
    weights: FloatArray
    clock: FloatArray
    deviations: FloatArray


class ScanRoom(NamedTuple):
    """Arrays that a scan works with.

    `columns` and `values`, one entry per weight, are scratch; `found` receives probability and
    expected gain. `region` and `ratios` are those of `_region_gain`; without documents the gain is
    that about x itself.
    """

    columns: IntArray
    values: FloatArray
    found: Array
    region: FloatArray
    ratios: FloatArray


@brief
def scan(
    documents: tuple[Array, Array, Array],
    start: int,
    lookup: IntArray,
    bias: float,
    posterior: ScannedPosterior,
    kind: int,
    parameters: FloatArray,
    rule: Array,
    draws: FloatArray,
    room: ScanRoom,
) -> tuple[int, int]:
    """Find the next document from row `start` on that is to be retrieved, and why.

    (number of documents, 0) without one.

    `rule` is
    [u_relevant, u_query, theta, rate]: no gain is computed where u_query < 0; a document is drawn
    when its number in `draws` is below `rate`.
    """
    indptr, indices, data = documents
    mean, covariance, pending, weights, clock, deviations = posterior
    columns, values, found, region, ratios = room
    n_documents = len(indptr) - 1
    u_relevant, u_query, theta, rate = rule[0], rule[1], rule[2], rule[3]
    count, scale, ridge, mean_scale = int(clock[0]), clock[1], clock[2], clock[3]
    reach = max(u_query, -u_relevant)
    for i in range(start, n_documents):
        n, h, bound, length = _known_part(
            indptr[i],
            indptr[i + 1],
            indices,
            data,
            lookup,
            bias,
            mean,
            deviations,
            columns,
            values,
        )
        h *= mean_scale
        drawn = rate > 0.0 and draws[i] < rate
        if (
            not drawn
            and h <= 0.0
            and (-h > reach * bound * (1.0 + 1e-9) or (reach <= 0.0 and u_query < 0.0))
        ):
            continue
        variance = _variance(columns, values, n, covariance, pending, weights, count)
        variance = max(scale * variance + ridge * length, 0.0)
        deviation, why = math.sqrt(variance), 0
        near = u_query >= 0.0 and abs(h) <= u_query * deviation
        relevant, gain = h > u_relevant * deviation, 0.0
        if relevant or near or drawn:
            if len(ratios):
                gain = _region_gain(
                    columns, values, n, h, deviation, parameters[0], region, ratios
                )
            else:
                gain = _expected_gain(kind, parameters, h, variance)
        if relevant:
            why = RELEVANT
        elif near and gain >= theta:
            why = QUERIED
        elif drawn:
            why = DRAWN
        if why != 0:
            found[0], found[1] = math.exp(moments(FLIP, parameters, 1.0, h, variance)[0]), gain
            return i, why
    return n_documents, 0


@kernel
def informative_terms(
    relevant: Array,
    irrelevant: Array,
    n_relevant: int,
    n_irrelevant: int,
    lookup: IntArray,
    powers: FloatArray,
    cut: float,
) -> Array:
    """Columns without a weight whose -2 ln lambda (Dunning 1993) is above `cut`, in their order.

    Powers[n] = n ln n.
    """
    found = np.empty(len(relevant), dtype=np.int32)
    n_found = 0
    total = n_relevant + n_irrelevant
    constant = powers[total] - powers[n_relevant] - powers[n_irrelevant]
    for column in range(len(relevant)):
        a, c = relevant[column], irrelevant[column]
        if a + c == 0 or (column < len(lookup) and lookup[column] >= 0):
            continue
        cells = powers[a] + powers[c] + powers[n_relevant - a] + powers[n_irrelevant - c]
        if 2.0 * (cells + constant - powers[a + c] - powers[total - a - c]) > cut:
            found[n_found] = column
            n_found += 1
    return found[:n_found].copy()


@kernel
def scale_rows(indptr: IntArray, data: FloatArray) -> None:
    """Scale each row to length one in place, with the same bits whatever other rows are."""
    for i in range(len(indptr) - 1):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * data[k]
        if total > 0.0:
            length = math.sqrt(total)
            for k in range(indptr[i], indptr[i + 1]):
                data[k] /= length
