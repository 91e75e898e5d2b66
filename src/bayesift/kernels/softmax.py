"""Parts of the posterior of softmax (polytomous logistic) regression.

    objective = sum_i w_i (log sum_c exp f_ic - f_i,y_i) + sum_cj P_cj(beta_cj) + sum_c Q(b_c),
    f_ic = x_i beta_c + b_c

with the penalties of `bayesift.kernels.linear`: `penalties` has one layer of its rows per class, or
one for all. Scores, exponentials and probabilities are classes x documents; residuals w_i (1[y_i =
c] - p_ic) are documents x classes (filled up with zeros to a multiple of four), so that a column of
X serves all classes in one pass.

With the other classes fixed, the scores of class c have the likelihood of a binary logistic model
with the offset o_i = log sum_{k != c} exp f_ik: a class is improved by the binary solver's Newton
steps on f_ic - o_i.
"""

from __future__ import annotations

import math

import numpy as np

from bayesift.arrays import Array, BoolArray, FloatArray, IntArray
from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.entries import Entries
from bayesift.kernels.linear import L1, MODE, column_dot, violation

_TINY = 1e-300


@kernel
def exponentiate(scores: FloatArray, reference: FloatArray, exponentials: FloatArray) -> None:
    """Write exp(f_ic - r_i), with the reference r_i the largest score of document i."""
    reference[:] = -np.inf
    for c in range(len(scores)):
        for i in range(len(reference)):
            reference[i] = max(reference[i], scores[c, i])
    for c in range(len(scores)):
        for i in range(len(reference)):
            exponentials[c, i] = math.exp(scores[c, i] - reference[i])


@kernel
def to_binary(
    scores: FloatArray,
    reference: FloatArray,
    exponentials: FloatArray,
    c: int,
    offsets: FloatArray,
    margins: FloatArray,
) -> None:
    """Write the offsets o_i of class c, and the scores f_ic - o_i of its binary problem."""
    offsets[:] = 0.0
    for k in range(len(scores)):
        if k != c:
            for i in range(len(offsets)):
                offsets[i] += exponentials[k, i]
    for i in range(len(offsets)):
        offsets[i] = reference[i] + math.log(max(offsets[i], _TINY))
        margins[i] = scores[c, i] - offsets[i]


@kernel
def from_binary(
    scores: FloatArray,
    reference: FloatArray,
    exponentials: FloatArray,
    c: int,
    offsets: FloatArray,
    margins: FloatArray,
) -> None:
    """Write the scores of class c from those of its binary problem."""
    for i in range(len(offsets)):
        scores[c, i] = margins[i] + offsets[i]
        exponentials[c, i] = math.exp(min(scores[c, i] - reference[i], 600.0))


@kernel
def normalise(
    scores: FloatArray,
    reference: FloatArray,
    exponentials: FloatArray,
    labels: Array,
    importance: FloatArray,
    probabilities: FloatArray,
    totals: FloatArray,
) -> float:
    """Write the probabilities.

    Returns minus the log-likelihood. `totals` is scratch, one per document.
    """
    totals[:] = 0.0
    for c in range(len(scores)):
        for i in range(len(totals)):
            totals[i] += exponentials[c, i]
    loss = 0.0
    for i in range(len(totals)):
        loss += importance[i] * (math.log(totals[i]) + reference[i] - scores[labels[i], i])
        totals[i] = 1.0 / totals[i]
    for c in range(len(scores)):
        for i in range(len(totals)):
            probabilities[c, i] = exponentials[c, i] * totals[i]
    return loss


@kernel
def residuals_of(
    probabilities: FloatArray, labels: Array, importance: FloatArray, residuals: FloatArray
) -> None:
    """Write the residuals, documents x classes."""
    for i in range(len(labels)):
        for c in range(len(probabilities)):
            residuals[i, c] = -importance[i] * probabilities[c, i]
        others = 0.0
        for c in range(len(probabilities)):
            if c != labels[i]:
                others += probabilities[c, i]
        residuals[i, labels[i]] = importance[i] * others


@inlined
def _column_sums(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    j: int,
    values: FloatArray,
    sums: FloatArray,
) -> None:
    """Write the products of column j with four columns of values at a time.

    Their sums stay in one register.
    """
    for first in range(0, values.shape[1], 4):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for k in range(indptr[j], indptr[j + 1]):
            value, i = data[k], np.uint32(indices[k])
            a += value * values[i, first]
            b += value * values[i, first + 1]
            c += value * values[i, first + 2]
            d += value * values[i, first + 3]
        sums[first], sums[first + 1], sums[first + 2], sums[first + 3] = a, b, c, d


@kernel
def find_violations(
    columns: Entries,
    terms: IntArray,
    residuals: FloatArray,
    penalties: FloatArray,
    allowed: BoolArray,
    weights: FloatArray,
    sums: FloatArray,
    places: IntArray,
    violations: FloatArray,
    counts: Array,
) -> float:
    """Write counts[c] terms of each class c off their mode, or that should be, and violations.

    Returns the largest.

    `allowed` says which terms a class may use, and is empty when it may use all. Cost: entries of
    the terms x classes.
    """
    indptr, indices, data = columns
    largest = 0.0
    counts[:] = 0
    for place in range(len(terms)):
        j = terms[place]
        _column_sums(indptr, indices, data, j, residuals, sums)
        for c in range(len(weights)):
            if len(allowed) and not allowed[c, j]:
                continue
            layer = c if len(penalties) > 1 else 0
            at_mode = weights[c, j] == penalties[layer, MODE, j]
            if at_mode and abs(sums[c]) <= penalties[layer, L1, j]:
                continue
            amount = violation(penalties[layer], j, weights[c, j], sums[c])
            if amount > 0.0 or not at_mode:
                places[c, counts[c]], violations[c, counts[c]] = j, amount
                counts[c] += 1
                largest = max(largest, amount)
    return largest


@kernel
def step_scores(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    starts: IntArray,
    terms: IntArray,
    vector: FloatArray,
    out: Array,
) -> None:
    """Write x_i v_c + v_bc, classes x documents.

    V: weights of `terms` (class c from starts[c] on), then intercepts.
    """
    for c in range(len(out)):
        out[c] = vector[len(terms) + c]
        for place in range(starts[c], starts[c + 1]):
            j, value = terms[place], vector[place]
            if value != 0.0:
                for k in range(indptr[j], indptr[j + 1]):
                    out[c, indices[k]] += value * data[k]


@kernel
def transposed_product(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    starts: IntArray,
    terms: IntArray,
    values: FloatArray,
    out: Array,
) -> None:
    """Write the transposed product of each class: sums over x_ij times values, and of values."""
    for c in range(len(values)):
        for place in range(starts[c], starts[c + 1]):
            out[place] = column_dot(
                indptr[terms[place]], indptr[terms[place] + 1], indices, data, values[c]
            )
        out[len(terms) + c] = values[c].sum()


@kernel
def hessian_product(
    probabilities: FloatArray, importance: FloatArray, mean: FloatArray, values: FloatArray
) -> None:
    """Replace changes d of the scores by w_i p_ic (d_ic - sum_k p_ik d_ik).

    `mean` is scratch, one per document.
    """
    mean[:] = 0.0
    for c in range(len(values)):
        for i in range(len(mean)):
            mean[i] += probabilities[c, i] * values[c, i]
    for c in range(len(values)):
        for i in range(len(mean)):
            values[c, i] = importance[i] * probabilities[c, i] * (values[c, i] - mean[i])


@kernel
def products(
    indptr: IntArray, indices: IntArray, data: FloatArray, block: Array, out: Array
) -> None:
    """Write X block of X by rows, or X' block of X by columns.

    Blocks have a multiple of four columns.
    """
    for place in range(len(indptr) - 1):
        _column_sums(indptr, indices, data, place, block, out[place])


@kernel
def cg_step(
    length: float,
    search: FloatArray,
    image: FloatArray,
    diagonal: FloatArray,
    step: FloatArray,
    residual: FloatArray,
) -> float:
    """One step of preconditioned conjugate gradients.

    Returns the new r' D^-1 r. Arrays are flat.
    """
    power = 0.0
    for k in range(len(search)):
        step[k] += length * search[k]
        residual[k] -= length * image[k]
        power += residual[k] * residual[k] / diagonal[k]
    return power


@kernel
def cg_direction(
    ratio: float, residual: FloatArray, diagonal: FloatArray, search: FloatArray
) -> None:
    """Write the next conjugate direction, D^-1 r + ratio search."""
    for k in range(len(search)):
        search[k] = residual[k] / diagonal[k] + ratio * search[k]
