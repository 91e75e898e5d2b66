"""The experts of an online stack: five kinds of evidence about every category.

Each is learned in one pass.

Terms of a document count x_j, rows of length one. n documents were seen before it, n_c of them in
category c, d_j with term j, d_jc both; N, N_c count pairs of document and term, T - 1 the distinct
terms. Log odds of the experts, in order:

    perceptron     logit Phi(h / sqrt(1/4 + v)),  h = sum x_j eta_j s_j,  v = sum x_j^2 s_j,
                   s = W / (1 + W lambda)
    SGD            w x + b, one for each rate r:  w += r (y - p) x,  b += 0.1 (y - p)
    naive Bayes    log (n_c + .5)/(n - n_c + .5) + sum x_j (log (d_jc + .1)/(d_j - d_jc + .1)
                       + log (N - N_c + .1 T)/(N_c + .1 T)) over the terms seen before
    naive Bayes    the same with 1 / sqrt(terms seen before) instead of x_j

The weight of a term has the prior variance W = V (f + (1 - f) R / (R + 50)), R the likelihood ratio
of term and category over the documents before (`likelihood_ratio`). Its posterior has natural
parameters: precision 1/W + lambda, mean eta s, so that W may move while what documents said
(lambda, eta) stays. With g and q of `online_moments`

    delta = -q x^2 / (1 + q s x^2),  eta <- (eta + g x)(1 + s delta),  lambda <- lambda + delta

is the update of `learn_diagonal` if W stays.

`weights` is terms x (COUNT, PRECISION, SHIFT, one for each rate) x categories, so that a document
reads whole rows; `intercepts` is the same without terms, and its counts are n_c; `pairs` is N_c;
`totals` is n, N, T. Columns of `tables` are k log k and log(k + 0.1) of whole numbers. A document
costs its terms x categories, in one pass over its terms to predict and one to learn.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.compile import inlined, inlined_tight, tight
from bayesift.kernels.likelihoods import probit_parts

COUNT, PRECISION, SHIFT, FIRST_RATE = 0, 1, 2, 3
DOCUMENTS, PAIRS, TERMS = 0, 1, 2
FLOOR, SOFTNESS = 0.03, 50.0
ADDED = 0.1  # to every count of naive Bayes
NOISE = np.array([0.5])  # standard deviation of the probit noise
INTERCEPT_RATE = 0.1
CLIP = 12.0  # of log odds
_SQRT_HALF, _DENSITY = math.sqrt(0.5), 1.0 / math.sqrt(2.0 * math.pi)
_TAIL_BEGINS = 5.0  # beyond it the tail is too small for a quotient


class ExpertArrays(NamedTuple):
    """What experts have learned; see the module."""

    weights: FloatArray
    frequencies: FloatArray
    intercepts: FloatArray
    pairs: FloatArray
    totals: FloatArray


class Prediction(NamedTuple):
    """What experts say of one document: room for one after another.

    `fields`: of every category u = h / sqrt(1/4 + v), 1/4 + v and Phi(-|u|); `spreads`: the
    variance s of every term (the intercept last) and category; `odds`: of experts x categories.
    """

    fields: FloatArray
    spreads: FloatArray
    odds: FloatArray


def count_tables(size: int = 1 << 16) -> Array:
    """Columns of k log k and log(k + 0.1) of the numbers below `size`."""
    counts = np.arange(size, dtype=np.float64)
    return np.stack([counts * np.log(np.maximum(counts, 1.0)), np.log(counts + ADDED)], axis=1)


@inlined
def whole_log_power(count: float, tables: FloatArray) -> float:
    """Return k log k."""
    if count < len(tables):
        value: float = tables[int(count), 0]
        return value
    return count * math.log(count)


@inlined
def _log_count(count: float, tables: FloatArray) -> float:
    """Return log(k + 0.1)."""
    if count < len(tables):
        value: float = tables[int(count), 1]
        return value
    return math.log(count + ADDED)


@inlined_tight
def likelihood_ratio(
    n: float, inside: float, with_term: float, both: float, margins: float, tables: FloatArray
) -> float:
    """Dunning's -2 ln lambda of a term and a category.

    `margins`: n log n less those of the four margins.
    """
    ratio = margins + whole_log_power(both, tables) + whole_log_power(inside - both, tables)
    ratio += whole_log_power(with_term - both, tables) + whole_log_power(
        n - inside - with_term + both, tables
    )
    return max(2.0 * ratio, 0.0)


@inlined_tight
def split_log_power(n: float, part: float, tables: FloatArray) -> float:
    """Return what a margin of n documents in two parts takes from the ratio."""
    return whole_log_power(part, tables) + whole_log_power(n - part, tables)


@inlined_tight
def posterior_variance(largest: float, ratio: float, precision: float) -> float:
    """Return the posterior variance of a weight by the likelihood ratio of its term."""
    share = largest * (ratio + FLOOR * SOFTNESS)
    return share / (ratio + SOFTNESS + share * precision)


@inlined_tight
def _tail_log_odds(u: float, tail: float) -> float:
    """Return the log odds of Phi(u), clipped; the tail is Phi(-|u|)."""
    odds = CLIP if tail < 1e-7 else min(math.log((1.0 - tail) / tail), CLIP)
    return odds if u > 0.0 else -odds


@inlined_tight
def _tail_moments(label: float, u: float, tail: float, total: float) -> tuple[float, float]:
    """Return the derivatives of log Phi(y u) by the mean of the field.

    See `online_moments`.
    """
    t = u if label > 0.0 else -u
    if t < -_TAIL_BEGINS:
        slope, curvature = probit_parts(t)[1:]
    else:
        slope = math.exp(-0.5 * t * t) * _DENSITY / (tail if t < 0.0 else 1.0 - tail)
        curvature = slope * (slope + t)
    slope /= math.sqrt(total)
    return slope if label > 0.0 else -slope, -curvature / total


@inlined_tight
def _start_scores(
    size: int, largest: float, experts: ExpertArrays, tables: FloatArray, prediction: Prediction
) -> None:
    """Write what intercepts say, and what category sizes take from likelihood ratios."""
    fields, spreads, odds = prediction
    intercepts, n, n_rates = experts.intercepts, experts.totals[DOCUMENTS], len(odds) - 3
    for c in range(odds.shape[1]):
        spread = largest / (1.0 + largest * intercepts[PRECISION, c])
        spreads[size, c] = spread
        fields[0, c], fields[1, c] = intercepts[SHIFT, c] * spread, spread
        fields[2, c] = split_log_power(n, intercepts[COUNT, c], tables)
        for r in range(n_rates):
            odds[1 + r, c] = intercepts[FIRST_RATE + r, c]
        odds[n_rates + 1, c], odds[n_rates + 2, c] = 0.0, 0.0


@inlined_tight
def _finish_scores(
    length: float, known: float, experts: ExpertArrays, prediction: Prediction
) -> None:
    """Turn sums over terms into clipped log odds.

    `length` and `known` are the terms seen before, by x and number.
    """
    _, _, intercepts, pairs, totals = experts
    fields, _, odds = prediction
    n, n_pairs, added = totals[DOCUMENTS], totals[PAIRS], ADDED * totals[TERMS]
    share, bayes = 1.0 / math.sqrt(max(known, 1.0)), len(odds) - 2
    for c in range(len(pairs)):
        inside = intercepts[COUNT, c]
        prior = math.log((inside + 0.5) / (n - inside + 0.5))
        size = math.log((n_pairs - pairs[c] + added) / (pairs[c] + added))
        odds[bayes, c] += prior + length * size
        odds[bayes + 1, c] = prior + share * (odds[bayes + 1, c] + known * size)
        fields[1, c] += NOISE[0] * NOISE[0]
        fields[0, c] /= math.sqrt(fields[1, c])
        fields[2, c] = 0.5 * math.erfc(abs(fields[0, c]) * _SQRT_HALF)
        odds[0, c] = _tail_log_odds(fields[0, c], fields[2, c])
        for e in range(1, len(odds)):
            odds[e, c] = min(max(odds[e, c], -CLIP), CLIP)


@tight
def expert_odds(
    columns: IntArray,
    values: FloatArray,
    largest: float,
    experts: ExpertArrays,
    tables: FloatArray,
    prediction: Prediction,
) -> None:
    """Write the clipped log odds of every expert and category."""
    weights, frequencies, intercepts, pairs, totals = experts
    fields, spreads, odds = prediction
    n, n_categories, n_rates, bayes = (
        totals[DOCUMENTS],
        len(pairs),
        len(odds) - 3,
        len(odds) - 2,
    )
    whole, length, known = whole_log_power(n, tables), 0.0, 0.0
    _start_scores(len(columns), largest, experts, tables, prediction)
    for k in range(len(columns)):
        j, x = columns[k], values[k]
        frequency = frequencies[j]
        margin = whole - split_log_power(n, frequency, tables)
        seen = 1.0 if frequency > 0.0 else 0.0
        length += seen * x
        known += seen
        for c in range(n_categories):
            inside, both = intercepts[COUNT, c], weights[j, COUNT, c]
            ratio = likelihood_ratio(n, inside, frequency, both, margin - fields[2, c], tables)
            spread = posterior_variance(largest, ratio, weights[j, PRECISION, c])
            spreads[k, c] = spread
            fields[0, c] += x * weights[j, SHIFT, c] * spread
            fields[1, c] += x * x * spread
            term = seen * (_log_count(both, tables) - _log_count(frequency - both, tables))
            odds[bayes, c] += x * term
            odds[bayes + 1, c] += term
        for r in range(n_rates):
            for c in range(n_categories):
                odds[1 + r, c] += x * weights[j, FIRST_RATE + r, c]
    _finish_scores(length, known, experts, prediction)


@tight
def learn_experts(
    columns: IntArray,
    values: FloatArray,
    labels: Array,
    rates: FloatArray,
    experts: ExpertArrays,
    prediction: Prediction,
) -> None:
    """Update all experts with the labels (0 or 1) of one document.

    `odds` and `fields` of the prediction are overwritten.
    """
    weights, frequencies, intercepts, pairs, totals = experts
    fields, spreads, odds = prediction
    size, n_categories = len(columns), len(pairs)
    for c in range(n_categories):
        first, second = _tail_moments(labels[c], fields[0, c], fields[2, c], fields[1, c])
        fields[0, c], fields[1, c] = first, second
        shift, change = changed_weight(
            1.0, first, second, spreads[size, c], intercepts[SHIFT, c]
        )
        intercepts[SHIFT, c] = shift
        intercepts[PRECISION, c] += change
        for r in range(len(rates)):
            error = labels[c] - 1.0 / (1.0 + math.exp(-odds[1 + r, c]))
            intercepts[FIRST_RATE + r, c] += INTERCEPT_RATE * error
            odds[1 + r, c] = rates[r] * error
        intercepts[COUNT, c] += labels[c]
        pairs[c] += labels[c] * size
    for k in range(size):
        j, x = columns[k], values[k]
        for c in range(n_categories):
            shift, change = changed_weight(
                x, fields[0, c], fields[1, c], spreads[k, c], weights[j, SHIFT, c]
            )
            weights[j, SHIFT, c] = shift
            weights[j, PRECISION, c] += change
            weights[j, COUNT, c] += labels[c]
        for r in range(len(rates)):
            for c in range(n_categories):
                weights[j, FIRST_RATE + r, c] += x * odds[1 + r, c]
        if frequencies[j] == 0.0:
            totals[TERMS] += 1.0
        frequencies[j] += 1.0
    totals[DOCUMENTS] += 1.0
    totals[PAIRS] += size


@inlined_tight
def changed_weight(
    x: float, first: float, second: float, spread: float, shift: float
) -> tuple[float, float]:
    """Return the changed shift eta of a weight, and what is added to its precision."""
    change = -second * x * x / (1.0 + second * spread * x * x)
    return (shift + first * x) * (1.0 + spread * change), change
