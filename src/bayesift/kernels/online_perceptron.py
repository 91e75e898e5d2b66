"""Online updates of a normal posterior over weights, one document after another: full and diagonal covariance.

A document x with label y (-1 or +1) moves mean a and covariance C by (Opper; Solla & Winther)

    s = C x,  h = a x,  v = x s,  a += g s,  C += q s s'

with g and q of `bayesift.kernels.online_moments`. Documents are rows of local columns: column 0 is the bias.

**Forgetting.** Before each document the weights take a step of an Ornstein-Uhlenbeck process whose stationary
distribution is the prior: a <- keep a, C <- keep^2 C + (1 - keep^2) prior I. Nothing is rescaled for it: the mean is
`clock[3]` times the stored one, the covariance clock[1] times the stored one plus clock[2] times the identity.

**Pending updates.** A rank-one change of C is bound by memory. The last few (`clock[0]` of them) wait as rows s_k with
weights w_k, C = stored + sum_k w_k s_k s_k'; when `pending` is full, all are added in one pass over the lower triangle.
A document costs (non-zeros + pending) d for s, and its share of that pass, d^2 / 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.online_moments import moments

Array = np.ndarray[Any, Any]

COUNT, SCALE, RIDGE, MEAN_SCALE = 0, 1, 2, 3
_SMALLEST = 1e-60  # scale at which forgetting is written into the stored numbers
_TILE = 32


@kernel
def restrict(
    indptr: Array, indices: Array, data: Array, lookup: Array, bias: float, rows: Array
) -> tuple[Array, Array]:
    """The local columns and values of documents: the bias first, then the known columns in their order.

    `lookup` gives the local column of a column, or -1; `rows` (documents + 1) receives the offsets.
    """
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
                values[at] = data[k]
                at += 1
        rows[i + 1] = at
    return columns[:at].copy(), values[:at].copy()


@kernel
def _add_eight(covariance: Array, terms: Array, weights: Array) -> None:
    """Add eight rank-one terms to the lower triangle: one pass over memory instead of eight."""
    size = covariance.shape[0]
    a, b, c, d, e, f, g, h = terms[0], terms[1], terms[2], terms[3], terms[4], terms[5], terms[6], terms[7]
    for i in range(size):
        row = covariance[i]
        ai, bi, ci, di = weights[0] * a[i], weights[1] * b[i], weights[2] * c[i], weights[3] * d[i]
        ei, fi, gi, hi = weights[4] * e[i], weights[5] * f[i], weights[6] * g[i], weights[7] * h[i]
        for j in range(i + 1):
            row[j] += ((ai * a[j] + bi * b[j]) + (ci * c[j] + di * d[j])) + (
                (ei * e[j] + fi * f[j]) + (gi * g[j] + hi * h[j])
            )


@inlined
def _mirror(covariance: Array) -> None:
    """Copy the lower triangle to the upper one, by tiles that stay in the cache."""
    size = covariance.shape[0]
    for top in range(0, size, _TILE):
        for left in range(0, top + 1, _TILE):
            for i in range(top, min(top + _TILE, size)):
                for j in range(left, min(left + _TILE, i)):
                    covariance[j, i] = covariance[i, j]


@kernel
def flush(covariance: Array, pending: Array, weights: Array, clock: Array) -> None:
    """Add all waiting rank-one terms to the covariance; unused places count as terms of weight 0."""
    count = int(clock[COUNT])
    for k in range(count, len(weights)):
        weights[k] = 0.0
    for start in range(0, count, 8):
        _add_eight(covariance, pending[start : start + 8], weights[start : start + 8])
    _mirror(covariance)
    clock[COUNT] = 0.0


@kernel
def settle_scales(mean: Array, covariance: Array, pending: Array, weights: Array, clock: Array) -> None:
    """Write what was forgotten into the stored numbers, before its factors underflow."""
    flush(covariance, pending, weights, clock)
    size = len(mean)
    for i in range(size):
        mean[i] *= clock[MEAN_SCALE]
        for j in range(size):
            covariance[i, j] *= clock[SCALE]
        covariance[i, i] += clock[RIDGE]
    clock[SCALE], clock[RIDGE], clock[MEAN_SCALE] = 1.0, 0.0, 1.0


@inlined
def _forget(clock: Array, keep: float, prior: float) -> None:
    clock[SCALE] *= keep * keep
    clock[RIDGE] = keep * keep * clock[RIDGE] + (1.0 - keep * keep) * prior
    clock[MEAN_SCALE] *= keep


@inlined
def _dot(indices: Array, data: Array, start: int, end: int, dense: Array) -> float:
    total = 0.0
    for k in range(start, end):
        total += data[k] * dense[indices[k]]
    return total


@kernel
def _combine(s: Array, rows: Array, picked: Array, factors: Array) -> None:
    """Add the picked rows times their factors to s, four at a time."""
    size, count = len(s), len(picked)
    k = 0
    while k + 4 <= count:
        a, b, c, d = rows[picked[k]], rows[picked[k + 1]], rows[picked[k + 2]], rows[picked[k + 3]]
        u, v, w, x = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
        for j in range(size):
            s[j] += (u * a[j] + v * b[j]) + (w * c[j] + x * d[j])
        k += 4
    while k < count:
        row, x = rows[picked[k]], factors[k]
        for j in range(size):
            s[j] += x * row[j]
        k += 1


@kernel
def learn_full(
    code: int,
    parameters: Array,
    indptr: Array,
    indices: Array,
    data: Array,
    signs: Array,
    keep: float,
    prior: float,
    mean: Array,
    covariance: Array,
    pending: Array,
    weights: Array,
    clock: Array,
    fields: Array,
) -> float:
    """Update mean and covariance with each document in turn; `fields` gets h and v of each before its update.

    Gives the sum of the documents' log evidence, each given those before it.
    """
    size = len(mean)
    shares, places = np.empty(len(weights)), np.arange(len(weights)).astype(np.int32)
    total = 0.0
    for i in range(len(signs)):
        start, end = indptr[i], indptr[i + 1]
        if keep < 1.0:
            if clock[SCALE] < _SMALLEST:
                settle_scales(mean, covariance, pending, weights, clock)
            _forget(clock, keep, prior)
        count = int(clock[COUNT])
        s = pending[count]
        s[:] = 0.0
        _combine(s, covariance, indices[start:end], data[start:end])
        for p in range(count):
            shares[p] = weights[p] * _dot(indices, data, start, end, pending[p])
        _combine(s, pending, places[:count], shares[:count])
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
def full_fields(
    indptr: Array,
    indices: Array,
    data: Array,
    mean: Array,
    covariance: Array,
    pending: Array,
    weights: Array,
    clock: Array,
    fields: Array,
) -> None:
    """Write mean and variance of every document's field."""
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


@kernel
def learn_diagonal(
    code: int,
    parameters: Array,
    indptr: Array,
    indices: Array,
    data: Array,
    signs: Array,
    keep: float,
    prior: float,
    mean: Array,
    variances: Array,
    clock: Array,
    fields: Array,
) -> float:
    """As `learn_full`, keeping only the variances of the weights; a document costs its non-zeros."""
    total = 0.0
    for i in range(len(signs)):
        start, end = indptr[i], indptr[i + 1]
        if keep < 1.0:
            if clock[SCALE] < _SMALLEST:
                settle_diagonal(mean, variances, clock)
            _forget(clock, keep, prior)
        v = 0.0
        for k in range(start, end):
            v += data[k] * data[k] * (clock[SCALE] * variances[indices[k]] + clock[RIDGE])
        h = clock[MEAN_SCALE] * _dot(indices, data, start, end, mean)
        fields[0, i], fields[1, i] = h, v
        log_evidence, g, q = moments(code, parameters, signs[i], h, v)
        total += log_evidence
        for k in range(start, end):
            j = indices[k]
            s = (clock[SCALE] * variances[j] + clock[RIDGE]) * data[k]
            mean[j] += g * s / clock[MEAN_SCALE]
            variances[j] += q * s * s / clock[SCALE]
    return total


@kernel
def settle_diagonal(mean: Array, variances: Array, clock: Array) -> None:
    """Write what was forgotten into the stored numbers."""
    for j in range(len(mean)):
        mean[j] *= clock[MEAN_SCALE]
        variances[j] = clock[SCALE] * variances[j] + clock[RIDGE]
    clock[SCALE], clock[RIDGE], clock[MEAN_SCALE] = 1.0, 0.0, 1.0


@kernel
def diagonal_fields(
    indptr: Array, indices: Array, data: Array, mean: Array, variances: Array, clock: Array, fields: Array
) -> None:
    """Write mean and variance of every document's field."""
    for i in range(len(indptr) - 1):
        start, end = indptr[i], indptr[i + 1]
        v = 0.0
        for k in range(start, end):
            v += data[k] * data[k] * (clock[SCALE] * variances[indices[k]] + clock[RIDGE])
        fields[0, i] = clock[MEAN_SCALE] * _dot(indices, data, start, end, mean)
        fields[1, i] = v
