"""Online updates of a normal posterior over weights, one document after another.

The covariance is full or diagonal.

    s = C x,  h = a x,  v = x s,  a += g s,  C += q s s'     (Opper; Solla & Winther)

for a document x, with g and q of `bayesift.kernels.online_moments`. Documents are rows of local
columns: column 0 is the bias.

**Forgetting.** Before each document the weights take a step of an Ornstein-Uhlenbeck process whose
stationary distribution is the prior: a <- keep a, C <- keep^2 C + (1 - keep^2) prior I. Nothing is
rescaled: the mean is `clock[3]` times the stored one, the covariance clock[1] times the stored one
plus clock[2] times the identity.

**Pending updates.** A rank-one change of C is bound by memory. The last `clock[0]` changes are kept
as rows s_k with weights w_k, C = stored + sum_k w_k s_k s_k'; when `pending` is full, all are added
in one pass over the lower triangle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.compile import inlined, kernel, tight, vectorised
from bayesift.kernels.entries import Entries
from bayesift.kernels.online_moments import moments

COUNT, SCALE, RIDGE, MEAN_SCALE = 0, 1, 2, 3
_SMALLEST_SCALE = 1e-60  # scale at which the scales are multiplied into the stored numbers
_TILE = 16
_WIDTH = 64
_ONE_ROW, _TWO_ROWS, _THREE_ROWS = (
    np.uint64(_WIDTH),
    np.uint64(2 * _WIDTH),
    np.uint64(3 * _WIDTH),
)


class FullArrays(NamedTuple):
    """The arrays of a normal posterior with the whole covariance."""

    mean: FloatArray
    covariance: FloatArray
    pending: FloatArray
    weights: FloatArray
    clock: FloatArray


class DiagonalArrays(NamedTuple):
    """The arrays of a normal posterior with independent weights."""

    mean: FloatArray
    variances: FloatArray
    clock: FloatArray


@kernel
def restrict(
    documents: Entries, lookup: IntArray, scales: FloatArray, bias: float, rows: Array
) -> tuple[Array, Array]:
    """Return the local columns and values of documents: the bias, then the known columns.

    `lookup`: the local column of a column, or -1; `scales`: factors of local columns, or none;
    `rows` gets the offsets.
    """
    indptr, indices, data = documents
    n_documents = len(indptr) - 1
    columns = np.empty(len(indices) + n_documents, dtype=np.int32)
    values = np.empty(len(indices) + n_documents)
    at = 0
    rows[0] = 0
    for i in range(n_documents):
        columns[at] = 0
        values[at] = bias
        at += 1
        for k in range(indptr[i], indptr[i + 1]):
            local = lookup[indices[k]]
            if local >= 0:
                columns[at] = local
                values[at] = data[k] if len(scales) == 0 else data[k] * scales[local - 1]
                at += 1
        rows[i + 1] = at
    return columns[:at].copy(), values[:at].copy()


@tight
def _add_to_rows(
    flat: FloatArray,
    place: int,
    size: int,
    width: int,
    pending: FloatArray,
    weights: FloatArray,
    panel: FloatArray,
    i: int,
    m: int,
) -> None:
    """Rows i and m = i + 1 of one panel."""
    upper, lower = np.uint64(place), np.uint64(place + size)
    for k in range(0, len(weights), 4):
        u, v, w, x = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        a, b, c, d = (
            u * pending[k, i],
            v * pending[k + 1, i],
            w * pending[k + 2, i],
            x * pending[k + 3, i],
        )
        e, f, g, h = (
            u * pending[k, m],
            v * pending[k + 1, m],
            w * pending[k + 2, m],
            x * pending[k + 3, m],
        )
        first = np.uint64(k * _WIDTH)
        for column in range(width):
            j = np.uint64(column)
            p, q, r, t = (
                panel[first + j],
                panel[first + j + _ONE_ROW],
                panel[first + j + _TWO_ROWS],
                panel[first + j + _THREE_ROWS],
            )
            flat[upper + j] += a * p + b * q + c * r + d * t
            flat[lower + j] += e * p + f * q + g * r + h * t


@tight
def _add_to_row(
    flat: FloatArray,
    place: int,
    width: int,
    pending: FloatArray,
    weights: FloatArray,
    panel: FloatArray,
    i: int,
) -> None:
    start = np.uint64(place)
    for k in range(len(weights)):
        factor, first = weights[k] * pending[k, i], np.uint64(k * _WIDTH)
        for column in range(width):
            j = np.uint64(column)
            flat[start + j] += factor * panel[first + j]


@tight
def _add_to_lower(
    flat: FloatArray, size: int, pending: FloatArray, weights: FloatArray, panel: FloatArray
) -> None:
    """Add all rank-one terms to the lower triangle and to the rest of its diagonal tiles.

    A panel of _WIDTH columns stays in the nearest cache; two rows and four terms at a time stay in
    registers.
    """
    for left in range(0, size, _WIDTH):
        width = min(_WIDTH, size - left)
        for k in range(len(weights)):
            for j in range(width):
                panel[k * _WIDTH + j] = pending[k, left + j]
        for i in range(left, size - 1, 2):
            _add_to_rows(flat, i * size + left, size, width, pending, weights, panel, i, i + 1)
        if (size - left) % 2 == 1:
            _add_to_row(
                flat, (size - 1) * size + left, width, pending, weights, panel, size - 1
            )


@tight
def _mirror(flat: FloatArray, size: int) -> None:
    """Copy the lower triangle to the upper one, by tiles that stay in the cache."""
    for top in range(0, size, _TILE):
        for left in range(0, top + 1, _TILE):
            for j in range(left, min(left + _TILE, size)):
                for i in range(max(top, j + 1), min(top + _TILE, size)):
                    flat[np.uint64(j * size + i)] = flat[np.uint64(i * size + j)]


@kernel
def flush(
    covariance: FloatArray, pending: FloatArray, weights: FloatArray, clock: FloatArray
) -> None:
    """Add all pending rank-one terms to the covariance.

    Unused places count as terms of weight 0.
    """
    count = int(clock[COUNT])
    for k in range(count, len(weights)):
        weights[k] = 0.0
    flat, size = covariance.reshape(-1), covariance.shape[0]
    _add_to_lower(flat, size, pending, weights, np.empty(len(weights) * _WIDTH))
    _mirror(flat, size)
    clock[COUNT] = 0.0


@kernel
def apply_scales(
    mean: FloatArray,
    covariance: FloatArray,
    pending: FloatArray,
    weights: FloatArray,
    clock: FloatArray,
) -> None:
    """Multiply the scales into the stored numbers, before they underflow."""
    flush(covariance, pending, weights, clock)
    size = len(mean)
    for i in range(size):
        mean[i] *= clock[MEAN_SCALE]
        for j in range(size):
            covariance[i, j] *= clock[SCALE]
        covariance[i, i] += clock[RIDGE]
    clock[SCALE], clock[RIDGE], clock[MEAN_SCALE] = 1.0, 0.0, 1.0


@inlined
def _forget(clock: FloatArray, keep: float, prior: float) -> None:
    clock[SCALE] *= keep * keep
    clock[RIDGE] = keep * keep * clock[RIDGE] + (1.0 - keep * keep) * prior
    clock[MEAN_SCALE] *= keep


@inlined
def _dot(indices: IntArray, data: FloatArray, start: int, end: int, dense: FloatArray) -> float:
    total = 0.0
    for k in range(start, end):
        total += data[k] * dense[indices[k]]
    return total


@tight
def _combine(
    target: Array,
    place: int,
    size: int,
    source: Array,
    picked: IntArray,
    factors: FloatArray,
    first: int,
    last: int,
) -> None:
    """Add picked rows of a matrix times factors to a row, four at a time."""
    to = np.uint64(place)
    k = first
    while k + 4 <= last:
        u, v, w, x = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
        a, b = np.uint64(picked[k] * size), np.uint64(picked[k + 1] * size)
        c, d = np.uint64(picked[k + 2] * size), np.uint64(picked[k + 3] * size)
        for column in range(size):
            j = np.uint64(column)
            target[to + j] += (u * source[a + j] + v * source[b + j]) + (
                w * source[c + j] + x * source[d + j]
            )
        k += 4
    while k < last:
        a, u = np.uint64(picked[k] * size), factors[k]
        for column in range(size):
            j = np.uint64(column)
            target[to + j] += u * source[a + j]
        k += 1


@tight
def _share(
    pending_flat: FloatArray,
    count: int,
    size: int,
    indices: IntArray,
    data: FloatArray,
    start: int,
    end: int,
    weights: FloatArray,
    shares: FloatArray,
) -> None:
    """w_k s_k x of the pending terms, four sums at a time."""
    p = 0
    while p + 4 <= count:
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for k in range(start, end):
            at, x = p * size + indices[k], data[k]
            a += x * pending_flat[at]
            b += x * pending_flat[at + size]
            c += x * pending_flat[at + 2 * size]
            d += x * pending_flat[at + 3 * size]
        shares[p], shares[p + 1] = weights[p] * a, weights[p + 1] * b
        shares[p + 2], shares[p + 3] = weights[p + 2] * c, weights[p + 3] * d
        p += 4
    while p < count:
        a = 0.0
        for k in range(start, end):
            a += data[k] * pending_flat[p * size + indices[k]]
        shares[p] = weights[p] * a
        p += 1


@kernel
def learn_full(
    code: int,
    parameters: FloatArray,
    documents: Entries,
    signs: FloatArray,
    keep: float,
    prior: float,
    posterior: FullArrays,
    fields: FloatArray,
) -> float:
    """Update with each document in turn.

    `fields` gets h and v before each update. Returns the sum of log evidence.
    """
    indptr, indices, data = documents
    mean, covariance, pending, weights, clock = posterior
    size = len(mean)
    shares, places = np.empty(len(weights)), np.arange(len(weights)).astype(np.int32)
    flat, pending_flat = covariance.reshape(-1), pending.reshape(-1)
    total = 0.0
    for i in range(len(signs)):
        start, end = indptr[i], indptr[i + 1]
        if keep < 1.0:
            if clock[SCALE] < _SMALLEST_SCALE:
                apply_scales(mean, covariance, pending, weights, clock)
            _forget(clock, keep, prior)
        count = int(clock[COUNT])
        s = pending[count]
        s[:] = 0.0
        _combine(pending_flat, count * size, size, flat, indices, data, start, end)
        _share(pending_flat, count, size, indices, data, start, end, weights, shares)
        _combine(pending_flat, count * size, size, pending_flat, places, shares, 0, count)
        if clock[SCALE] != 1.0 or clock[RIDGE] != 0.0:
            for j in range(size):
                s[j] *= clock[SCALE]
            for k in range(start, end):
                s[indices[k]] += clock[RIDGE] * data[k]
        h = clock[MEAN_SCALE] * _dot(indices, data, start, end, mean)
        v = max(_dot(indices, data, start, end, s), 0.0)
        fields[0, i], fields[1, i] = h, v
        log_evidence, g, q = moments(code, parameters, signs[i], h, v)
        total += log_evidence
        step = g / clock[MEAN_SCALE]
        for j in range(size):
            mean[j] += step * s[j]
        weights[count] = q / clock[SCALE]
        clock[COUNT] = count + 1.0
        if count + 1 == len(weights):
            flush(covariance, pending, weights, clock)
    return total


@kernel
def full_fields(documents: Entries, posterior: FullArrays, fields: FloatArray) -> None:
    """Write mean and variance of every document's field."""
    indptr, indices, data = documents
    mean, covariance, pending, weights, clock = posterior
    for i in range(len(indptr) - 1):
        start, end = indptr[i], indptr[i + 1]
        v = 0.0
        length = 0.0
        for k in range(start, end):
            v += data[k] * _dot(indices, data, start, end, covariance[indices[k]])
            length += data[k] * data[k]
        for p in range(int(clock[COUNT])):
            x = _dot(indices, data, start, end, pending[p])
            v += weights[p] * x * x
        fields[0, i] = clock[MEAN_SCALE] * _dot(indices, data, start, end, mean)
        fields[1, i] = max(clock[SCALE] * v + clock[RIDGE] * length, 0.0)


@vectorised
def learn_diagonal(
    code: int,
    parameters: FloatArray,
    documents: Entries,
    signs: FloatArray,
    keep: float,
    prior: float,
    posterior: DiagonalArrays,
    fields: FloatArray,
) -> float:
    """As `learn_full`, keeping only the variances of the weights.

    A document costs its non-zeros.
    """
    indptr, indices, data = documents
    mean, variances, clock = posterior
    total = 0.0
    for i in range(len(signs)):
        start, end = indptr[i], indptr[i + 1]
        if keep < 1.0:
            if clock[SCALE] < _SMALLEST_SCALE:
                apply_diagonal_scales(mean, variances, clock)
            _forget(clock, keep, prior)
        scale, ridge, mean_scale = clock[SCALE], clock[RIDGE], clock[MEAN_SCALE]
        h, v = 0.0, 0.0
        for k in range(start, end):
            j, x = indices[k], data[k]
            h += x * mean[j]
            v += x * x * (scale * variances[j] + ridge)
        h *= mean_scale
        fields[0, i], fields[1, i] = h, v
        log_evidence, g, q = moments(code, parameters, signs[i], h, v)
        total += log_evidence
        first, second = g / mean_scale, q / scale
        for k in range(start, end):
            j = indices[k]
            s = (scale * variances[j] + ridge) * data[k]
            mean[j] += first * s
            variances[j] += second * s * s
    return total


@kernel
def apply_diagonal_scales(mean: FloatArray, variances: FloatArray, clock: FloatArray) -> None:
    """Multiply the scales into the stored numbers."""
    for j in range(len(mean)):
        mean[j] *= clock[MEAN_SCALE]
        variances[j] = clock[SCALE] * variances[j] + clock[RIDGE]
    clock[SCALE], clock[RIDGE], clock[MEAN_SCALE] = 1.0, 0.0, 1.0


@kernel
def diagonal_fields(documents: Entries, posterior: DiagonalArrays, fields: FloatArray) -> None:
    """Write mean and variance of every document's field."""
    indptr, indices, data = documents
    mean, variances, clock = posterior
    for i in range(len(indptr) - 1):
        start, end = indptr[i], indptr[i + 1]
        v = 0.0
        for k in range(start, end):
            v += data[k] * data[k] * (clock[SCALE] * variances[indices[k]] + clock[RIDGE])
        fields[0, i] = clock[MEAN_SCALE] * _dot(indices, data, start, end, mean)
        fields[1, i] = v
