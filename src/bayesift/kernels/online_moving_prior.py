"""Online updates of independent weights with a moving prior.

Prior variances follow the likelihood ratio of terms.

The update and the prior variance W of a weight are those of the perceptron in `online_experts`;
here of one category, for every likelihood. Column 0 is the bias, whose variance is the largest one.
`naturals` is (COUNT, PRECISION, SHIFT) x weights, `frequencies` the documents with each term,
`totals` the documents and those of the category, all counted before the document that is predicted.
While the prior stays, what documents said stays: at any time the posterior is that of the present
prior times the likelihood terms that the documents left.
"""

from __future__ import annotations

from typing import NamedTuple

from bayesift.arrays import FloatArray
from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.entries import Entries
from bayesift.kernels.online_experts import (
    COUNT,
    PRECISION,
    SHIFT,
    changed_weight,
    likelihood_ratio,
    posterior_variance,
    split_log_power,
    whole_log_power,
)
from bayesift.kernels.online_moments import moments


class MovingArrays(NamedTuple):
    """The arrays of independent weights with a moving prior; `largest` is its largest variance."""

    naturals: FloatArray
    frequencies: FloatArray
    totals: FloatArray
    largest: FloatArray


@inlined
def _margins(totals: FloatArray, tables: FloatArray) -> float:
    return whole_log_power(totals[0], tables) - split_log_power(totals[0], totals[1], tables)


@inlined
def _spread(j: int, posterior: MovingArrays, margins: float, tables: FloatArray) -> float:
    """Return the posterior variance of a weight."""
    naturals, frequencies, totals, _ = posterior
    largest: float = posterior.largest[0]
    precision: float = naturals[PRECISION, j]
    if j == 0:
        return largest / (1.0 + largest * precision)
    rest = margins - split_log_power(totals[0], frequencies[j], tables)
    ratio = likelihood_ratio(
        totals[0], totals[1], frequencies[j], naturals[COUNT, j], rest, tables
    )
    return posterior_variance(largest, ratio, precision)


@kernel
def learn_moving(
    code: int,
    parameters: FloatArray,
    documents: Entries,
    signs: FloatArray,
    tables: FloatArray,
    posterior: MovingArrays,
    fields: FloatArray,
    spreads: FloatArray,
) -> float:
    """Update with each document in turn.

    `fields` gets mean and variance before each. Returns the sum of log evidence.

    `spreads` has room for the longest document.
    """
    indptr, indices, data = documents
    naturals, frequencies, totals, _ = posterior
    total = 0.0
    for i in range(len(signs)):
        start, end, margins = indptr[i], indptr[i + 1], _margins(totals, tables)
        h, v = 0.0, 0.0
        for k in range(start, end):
            spread = _spread(indices[k], posterior, margins, tables)
            spreads[k - start] = spread
            h += data[k] * naturals[SHIFT, indices[k]] * spread
            v += data[k] * data[k] * spread
        fields[0, i], fields[1, i] = h, v
        log_evidence, first, second = moments(code, parameters, signs[i], h, v)
        total += log_evidence
        label = 1.0 if signs[i] > 0.0 else 0.0
        for k in range(start, end):
            j = indices[k]
            shift, change = changed_weight(
                data[k], first, second, spreads[k - start], naturals[SHIFT, j]
            )
            naturals[SHIFT, j] = shift
            naturals[PRECISION, j] += change
            naturals[COUNT, j] += label
            frequencies[indices[k]] += 1.0
        totals[0] += 1.0
        totals[1] += label
    return total


@kernel
def moving_fields(
    documents: Entries, tables: FloatArray, posterior: MovingArrays, fields: FloatArray
) -> None:
    """Write mean and variance of every document's field."""
    indptr, indices, data = documents
    naturals, margins = posterior.naturals, _margins(posterior.totals, tables)
    for i in range(len(indptr) - 1):
        fields[0, i], fields[1, i] = 0.0, 0.0
        for k in range(indptr[i], indptr[i + 1]):
            spread = _spread(indices[k], posterior, margins, tables)
            fields[0, i] += data[k] * naturals[SHIFT, indices[k]] * spread
            fields[1, i] += data[k] * data[k] * spread


@kernel
def moving_spreads(tables: FloatArray, posterior: MovingArrays, spreads: FloatArray) -> None:
    """Write the posterior variance of every weight."""
    margins = _margins(posterior.totals, tables)
    for j in range(len(spreads)):
        spreads[j] = _spread(j, posterior, margins, tables)
