"""The online stack, one document after another.

Running weights, experts (`online_experts`) and mixers (`online_mixers`).

With `idf` the values of a document are term weights without it, which are multiplied by log((n + 1)
/ (d_j + 1)) + 1, n documents before it and d_j of them with the term. Rows are scaled to length
one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.compile import inlined_tight, tight
from bayesift.kernels.entries import Entries
from bayesift.kernels.online_experts import (
    COUNT,
    DOCUMENTS,
    ExpertArrays,
    Prediction,
    expert_odds,
    learn_experts,
)
from bayesift.kernels.online_mixers import MixerInputs, Mixers, learn_mixers, mix


class StackSettings(NamedTuple):
    """Whether values are multiplied by idf, the largest prior variance, the rates of SGD."""

    idf: bool
    largest: float
    rates: FloatArray


@tight
def weigh_document(
    columns: IntArray,
    data: FloatArray,
    idf: bool,
    frequencies: FloatArray,
    totals: FloatArray,
    values: FloatArray,
) -> None:
    """Write the weights of a document, of length one."""
    length = 0.0
    for k in range(len(columns)):
        x = data[k]
        if idf:
            x *= math.log((totals[DOCUMENTS] + 1.0) / (frequencies[columns[k]] + 1.0)) + 1.0
        values[k] = x
        length += x * x
    scale = 1.0 / math.sqrt(length) if length > 0.0 else 0.0
    for k in range(len(columns)):
        values[k] *= scale


@inlined_tight
def _touch(columns: IntArray, weights: FloatArray, frequencies: FloatArray) -> float:
    """Read both ends of every row that a document needs.

    So they come from memory together, not one by one.
    """
    total, field, category = 0.0, weights.shape[1] - 1, weights.shape[2] - 1
    for k in range(len(columns)):
        j = columns[k]
        total += frequencies[j] + weights[j, 0, 0] + weights[j, field, category]
    return total


@tight
def run_stack(
    documents: Entries,
    labels: Array,
    settings: StackSettings,
    tables: FloatArray,
    knots: FloatArray,
    experts: ExpertArrays,
    mixers: Mixers,
    scores: FloatArray,
    details: FloatArray,
) -> None:
    """Write the log odds of every document and category, before its labels are learned.

    Labels are 0 or 1.

    Without rows of `labels` nothing is learned. `details` gets the log odds of the experts if it
    has rows.
    """
    indptr, indices, data = documents
    idf, largest, rates = settings
    weights, frequencies, intercepts, pairs, totals = experts
    n_categories, n_experts, longest = len(pairs), 3 + len(rates), longest_row(indptr)
    values, spreads = np.empty(longest), np.empty((longest + 1, n_categories))
    fields, odds = np.empty((3, n_categories)), np.empty((n_experts, n_categories))
    prediction = Prediction(fields, spreads, odds)
    log_odds, rivals = np.empty((n_categories, n_experts + 1)), np.empty((n_categories, 6))
    bent, offsets = np.empty((n_categories, len(knots))), np.empty((3, n_categories))
    inputs = MixerInputs(log_odds, rivals, bent, offsets)
    work, counts = np.empty(max(n_experts + 1, len(knots))), intercepts[COUNT]
    for i in range(len(indptr) - 1):
        columns = indices[indptr[i] : indptr[i + 1]]
        x = values[: len(columns)]
        work[0] = _touch(columns, weights, frequencies)
        weigh_document(columns, data[indptr[i] : indptr[i + 1]], idf, frequencies, totals, x)
        expert_odds(columns, x, largest, experts, tables, prediction)
        best = mix(odds, counts, knots, mixers, inputs, scores[i])
        if len(details):
            details[i] = odds
        if len(labels):
            learn_mixers(best, labels[i], counts, mixers, inputs, work)
            learn_experts(columns, x, labels[i], rates, experts, prediction)


@tight
def weigh_rows(
    documents: Entries,
    idf: bool,
    frequencies: FloatArray,
    totals: FloatArray,
    values: FloatArray,
) -> None:
    """Write the weights of documents, each of length one, as of the documents learned so far."""
    indptr, indices, data = documents
    for i in range(len(indptr) - 1):
        part = slice(indptr[i], indptr[i + 1])
        weigh_document(indices[part], data[part], idf, frequencies, totals, values[part])


@tight
def longest_row(indptr: IntArray) -> int:
    """Return the number of terms of the longest document."""
    longest = 0
    for i in range(len(indptr) - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    return longest
