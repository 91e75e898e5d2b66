"""Covariances of documents, and the sparse online Gaussian process of Csató & Opper.

    LINEAR       x.x' + constant
    POLYNOMIAL   (x.x' + constant)^degree
    RBF          exp(-|x - x'|^2 / 2 length^2),  |x - x'|^2 = |x|^2 + |x'|^2 - 2 x.x'

`parameters` holds (constant, degree or length, jitter); jitter is added where two rows are equal.
The process has mean k(x)' a and covariance k0(x, x') + k(x)' C k(x'), where k(x) holds the
covariances of x with the m basis vectors; Q is the inverse of those among the basis vectors. With
the field's moments

    mean = k'a,  variance = k* + k'Ck,
    g, q = first and second derivative of the log evidence by the mean,

and e = Qk, gamma = k* - k'e (the part of x outside the span of the basis), there are three kinds of
update:

    projected   gamma is small:        s = Ck + e;  a += g s;  C += q ss'
    appended    there is room for it:  s = (Ck, 1), e = (e, -1);  a += g s;  C += q ss';
                                       Q += ee' / gamma
    replacing   otherwise:             appended, then the basis vector r of the lowest score
                                       a_r^2 / (Q_rr + C_rr) is deleted

Deletion keeps the marginal of every other basis vector (the least Kullback-Leibler distance between
the processes). With Q* and C* the columns of r without their diagonal q* and c*:

    a -= a* Q*/q*;   C += c* Q*Q*'/q*^2 - (Q*C*' + C*Q*')/q*;   Q -= Q*Q*'/q*

A new example takes the index of the one that it replaces. Both changes of C and Q are made in one
sweep, which also multiplies the new matrices by the next example's k: an example costs one pass
over C and one over Q. Covariances of a block of documents with the basis vectors, then with the
block itself, come as one matrix; `columns` says which of its columns each basis vector is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array, BoolArray, FloatArray, IntArray
from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.online_moments import moments

LINEAR, POLYNOMIAL, RBF = 0, 1, 2


@kernel
def squared_norms(indptr: IntArray, data: FloatArray, norms: FloatArray) -> None:
    """Write |x|^2 of every row."""
    for i in range(len(norms)):
        total = 0.0
        for n in range(indptr[i], indptr[i + 1]):
            total += data[n] * data[n]
        norms[i] = total


@inlined
def _covariance(
    code: int, parameters: FloatArray, dot: float, left: float, right: float
) -> float:
    """Return the covariance of two documents by their product and squared norms."""
    if code == RBF:
        return math.exp(
            -0.5 * max(left + right - 2.0 * dot, 0.0) / (parameters[1] * parameters[1])
        )
    value: float = dot + parameters[0]
    if code == POLYNOMIAL:
        value = value ** parameters[1]
    return value


@inlined
def _same_row(
    indices: IntArray, data: FloatArray, first: int, n_first: int, second: int, n_second: int
) -> bool:
    if n_first != n_second:
        return False
    for n in range(n_first):
        if indices[first + n] != indices[second + n] or data[first + n] != data[second + n]:
            return False
    return True


@kernel
def covariances(
    code: int,
    parameters: FloatArray,
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    norms: FloatArray,
    first: int,
    n_others: int,
    work: Array,
    gram: FloatArray,
) -> None:
    """Write covariances of rows first.. with rows 0 .. n_others, or (-1) all rows before each.

    `work`, a zero for every column, is left so. Sums run in the order of columns: the same bits in
    any block.
    """
    for i in range(gram.shape[0]):
        start, stop = indptr[first + i], indptr[first + i + 1]
        for n in range(start, stop):
            work[indices[n]] = data[n]
        for j in range(n_others if n_others >= 0 else first + i):
            dot = 0.0
            for n in range(indptr[j], indptr[j + 1]):
                dot += work[indices[n]] * data[n]
            gram[i, j] = _covariance(code, parameters, dot, norms[first + i], norms[j])
            if norms[first + i] == norms[j] and _same_row(
                indices, data, start, stop - start, indptr[j], indptr[j + 1] - indptr[j]
            ):
                gram[i, j] += parameters[2]
        for n in range(start, stop):
            work[indices[n]] = 0.0


@kernel
def add_to_equal(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    first: int,
    amount: float,
    gram: FloatArray,
) -> None:
    """Add an amount to the covariances of rows first.. with rows that are equal to them."""
    for i in range(gram.shape[0]):
        start = indptr[first + i]
        for j in range(gram.shape[1]):
            if _same_row(
                indices,
                data,
                start,
                indptr[first + i + 1] - start,
                indptr[j],
                indptr[j + 1] - indptr[j],
            ):
                gram[i, j] += amount


@kernel
def own_covariances(
    code: int, parameters: FloatArray, norms: FloatArray, diagonal: FloatArray
) -> None:
    """Write the covariance of every row with itself."""
    for i in range(len(norms)):
        diagonal[i] = (
            _covariance(code, parameters, norms[i], norms[i], norms[i]) + parameters[2]
        )


@kernel
def take_rows(
    indptr: IntArray, indices: IntArray, data: FloatArray, rows: Array
) -> tuple[Array, Array, Array]:
    """Return the named rows of a sparse matrix, in that order."""
    chosen = np.zeros(len(rows) + 1, dtype=np.int64)
    for i in range(len(rows)):
        chosen[i + 1] = chosen[i] + indptr[rows[i] + 1] - indptr[rows[i]]
    columns = np.empty(chosen[-1], dtype=np.int32)
    values = np.empty(chosen[-1])
    for i in range(len(rows)):
        start = indptr[rows[i]]
        for n in range(chosen[i + 1] - chosen[i]):
            columns[chosen[i] + n] = indices[start + n]
            values[chosen[i] + n] = data[start + n]
    return chosen, columns, values


@kernel
def keep_columns(
    indptr: IntArray, indices: IntArray, data: FloatArray, kept: BoolArray
) -> tuple[Array, Array, Array]:
    """Return the entries of a sparse matrix in the kept columns; the numbers of columns stay."""
    starts = np.zeros(len(indptr), dtype=np.int64)
    for i in range(len(indptr) - 1):
        starts[i + 1] = starts[i]
        for n in range(indptr[i], indptr[i + 1]):
            if kept[indices[n]]:
                starts[i + 1] += 1
    columns = np.empty(starts[-1], dtype=np.int32)
    values = np.empty(starts[-1])
    place = 0
    for n in range(indptr[0], indptr[-1]):
        if kept[indices[n]]:
            columns[place], values[place] = indices[n], data[n]
            place += 1
    return starts, columns, values


Triple = tuple[float, float, float]

_LEAST_VARIANCE_SHARE = (
    1e-12  # of a document's own covariance: the least variance that is not rounding
)


@kernel
def _multiply(matrix: Array, size: int, k: FloatArray, product: FloatArray) -> None:
    """Write the product of a symmetric matrix and k."""
    product[:size] = 0.0
    for i in range(size):
        factor = k[i]
        for j in range(size):
            product[j] += factor * matrix[i, j]


@kernel
def _sweep_one(
    matrix: Array, size: int, left: Array, right: Array, k: FloatArray, product: FloatArray
) -> None:
    """Add left right', then multiply by k."""
    product[:size] = 0.0
    for i in range(size):
        factor, of_right = k[i], left[i]
        for j in range(size):
            value = matrix[i, j] + of_right * right[j]
            matrix[i, j] = value
            product[j] += factor * value


@kernel
def _sweep_two(
    matrix: Array,
    size: int,
    left: Array,
    right: Array,
    left2: FloatArray,
    right2: FloatArray,
    k: FloatArray,
    product: FloatArray,
) -> None:
    """Add left right' + left2 right2', then multiply by k."""
    product[:size] = 0.0
    for i in range(size):
        factor, of_right, of_right2 = k[i], left[i], left2[i]
        for j in range(size):
            value = matrix[i, j] + of_right * right[j] + of_right2 * right2[j]
            matrix[i, j] = value
            product[j] += factor * value


@kernel
def _sweep_three(
    matrix: Array,
    size: int,
    lefts: FloatArray,
    s: FloatArray,
    a: Array,
    b: Array,
    k: FloatArray,
    product: FloatArray,
) -> None:
    """Add lefts[0] s' + lefts[1] a' + lefts[2] b', then multiply by k."""
    product[:size] = 0.0
    for i in range(size):
        factor, of_s, of_a, of_b = k[i], lefts[0, i], lefts[1, i], lefts[2, i]
        for j in range(size):
            value = matrix[i, j] + of_s * s[j] + of_a * a[j] + of_b * b[j]
            matrix[i, j] = value
            product[j] += factor * value


@kernel
def _covariances_with_basis(
    gram: FloatArray, document: int, columns: IntArray, size: int, k: FloatArray
) -> None:
    """Write k of a document of the block; zeros after the last one."""
    for i in range(size):
        k[i] = gram[document, columns[i]] if document < gram.shape[0] else 0.0


@kernel
def _lowest_score(
    alpha: FloatArray,
    C: FloatArray,
    Q: FloatArray,
    size: int,
    s: FloatArray,
    e: FloatArray,
    moment: Triple,
) -> int:
    """Return the basis vector whose deletion after appending costs least.

    `size` stands for the appended one.
    """
    g, q, gamma = moment
    lowest, place = g * g / (1.0 / gamma + q), size
    for i in range(size):
        moved = alpha[i] + g * s[i]
        score = moved * moved / (Q[i, i] + e[i] * e[i] / gamma + C[i, i] + q * s[i] * s[i])
        if score < lowest:
            lowest, place = score, i
    return place


@kernel
def _append(
    alpha: FloatArray,
    C: FloatArray,
    Q: FloatArray,
    place: int,
    size: int,
    s: FloatArray,
    e: FloatArray,
) -> None:
    """Append an empty row and column for a new basis vector at `place`."""
    for i in range(size):
        C[i, place], C[place, i], Q[i, place], Q[place, i] = 0.0, 0.0, 0.0, 0.0
    alpha[place], s[place], e[place] = 0.0, 1.0, -1.0


@kernel
def _deletion(
    alpha: FloatArray,
    C: FloatArray,
    Q: FloatArray,
    r: int,
    size: int,
    s: FloatArray,
    e: FloatArray,
    moment: Triple,
    d: Array,
) -> Triple:
    """Write columns r of Q and C after appending; returns a*, q*, c*.

    The new vector takes the position of r.
    """
    g, q, gamma = moment
    e_r, s_r = e[r], s[r]
    for i in range(size):
        d[0, i] = Q[i, r] + e[i] * e_r / gamma
        d[1, i] = C[i, r] + q * s[i] * s_r
    heads = alpha[r] + g * s_r, d[0, r], d[1, r]
    d[0, r], d[1, r] = -e_r / gamma, q * s_r
    return heads


@kernel
def _replace(
    alpha: FloatArray,
    C: FloatArray,
    Q: FloatArray,
    size: int,
    vectors: FloatArray,
    heads: Triple,
    moment: Triple,
) -> None:
    """Append and delete at once.

    The new vector has the index of the deleted one in every vector.
    """
    k, s, e, next_s, next_e = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    a, b, lefts, left, left2 = vectors[5], vectors[6], vectors[7:10], vectors[10], vectors[11]
    g, q, gamma = moment
    alpha_star, q_star, c_star = heads
    for i in range(size):
        alpha[i] += g * s[i] - alpha_star * a[i] / q_star
        lefts[0, i] = q * s[i]
        lefts[1, i] = (c_star * a[i] / q_star - b[i]) / q_star
        lefts[2, i] = -a[i] / q_star
        left[i], left2[i] = e[i] / gamma, -a[i] / q_star
    _sweep_three(C, size, lefts, s, a, b, k, next_s)
    _sweep_two(Q, size, left, e, left2, a, k, next_e)


@kernel
def _extend(
    alpha: FloatArray,
    C: FloatArray,
    Q: FloatArray,
    size: int,
    vectors: FloatArray,
    moment: Triple,
) -> None:
    """Make the appended update, after `_append`."""
    k, s, e, next_s, next_e = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    left, left2 = vectors[10], vectors[11]
    g, q, gamma = moment
    for i in range(size):
        alpha[i] += g * s[i]
        left[i], left2[i] = q * s[i], e[i] / gamma
    _sweep_one(C, size, left, s, k, next_s)
    _sweep_one(Q, size, left2, e, k, next_e)


@kernel
def _project(
    alpha: FloatArray,
    C: FloatArray,
    Q: FloatArray,
    size: int,
    vectors: FloatArray,
    moment: Triple,
) -> None:
    """Make the projected update; the basis stays."""
    k, s, e, next_s, next_e, left = (
        vectors[0],
        vectors[1],
        vectors[2],
        vectors[3],
        vectors[4],
        vectors[10],
    )
    for i in range(size):
        s[i] += e[i]
        alpha[i] += moment[0] * s[i]
        left[i] = moment[1] * s[i]
    _sweep_one(C, size, left, s, k, next_s)
    _multiply(Q, size, k, next_e)


@kernel
def _field(alpha: FloatArray, size: int, own: float, vectors: FloatArray) -> Triple:
    """Mean and variance of the field of a document, and gamma.

    Rounding does not make a variance vanish.
    """
    k, s, e = vectors[0], vectors[1], vectors[2]
    mean, explained, spanned = 0.0, 0.0, 0.0
    for i in range(size):
        mean += k[i] * alpha[i]
        explained += k[i] * s[i]
        spanned += k[i] * e[i]
    return mean, max(own + explained, _LEAST_VARIANCE_SHARE * own), own - spanned


class DocumentBlock(NamedTuple):
    """A block of documents: covariances with basis and block, own variances, labels.

    `log_evidences` gets the log evidence of every label before it is learned.
    """

    gram: FloatArray
    diagonal: FloatArray
    labels: Array
    log_evidences: FloatArray


@kernel
def learn_block(
    block: DocumentBlock,
    columns: IntArray,
    posterior: tuple[Array, Array, Array],
    vectors: FloatArray,
    size: int,
    budget: int,
    tolerance: float,
    least_error: float,
    code: int,
    parameters: FloatArray,
) -> int:
    """Update `posterior` (alpha, C, Q) and `columns` with the documents of a block in turn.

    Returns the basis size.

    `vectors` is scratch. A document enters the basis when gamma is above `tolerance` times its own
    covariance and the error of leaving it out, |gamma g|, is at least `least_error`.
    """
    gram, diagonal, labels, log_evidences = block
    alpha, C, Q = posterior
    k, s, e, next_s, next_e = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    n_basis = gram.shape[1] - gram.shape[0]
    _covariances_with_basis(gram, 0, columns, size, k)
    _multiply(C, size, k, s)
    _multiply(Q, size, k, e)
    for t in range(gram.shape[0]):
        mean, variance, gamma = _field(alpha, size, diagonal[t], vectors)
        log_evidences[t], g, q = moments(code, parameters, labels[t], mean, variance)
        moment = g, q, gamma
        place, heads = -1, (0.0, 1.0, 0.0)
        if gamma > tolerance * diagonal[t] and abs(gamma * g) >= least_error:
            place = size if size < budget else _lowest_score(alpha, C, Q, size, s, e, moment)
        if 0 <= place < size:
            heads = _deletion(alpha, C, Q, place, size, s, e, moment, vectors[5:7])
        if 0 <= place < budget:
            is_new = place == size
            size = max(size, place + 1)
            _append(alpha, C, Q, place, size, s, e)
            columns[place] = n_basis + t
            _covariances_with_basis(gram, t + 1, columns, size, k)
            if is_new:
                _extend(alpha, C, Q, size, vectors, moment)
            else:
                _replace(alpha, C, Q, size, vectors, heads, moment)
        else:
            _covariances_with_basis(gram, t + 1, columns, size, k)
            _project(alpha, C, Q, size, vectors, moment)
        for i in range(size):
            s[i], e[i] = next_s[i], next_e[i]
    return size
