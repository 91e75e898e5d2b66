"""Five kinds of evidence about every category of a document, each learned in one pass: the experts of an online stack.

Terms of a document count x_j, rows of length one. n documents were seen before it, n_c of them in category c, d_j with
term j, d_jc both; N, N_c count pairs of document and term, T - 1 the distinct terms. Log odds of the experts, in order:

    perceptron     logit Phi(h / sqrt(1/4 + v)),  h = sum x_j eta_j s_j,  v = sum x_j^2 s_j,  s = W / (1 + W lambda)
    SGD            w x + b, one for each rate r:  w += r (y - p) x,  b += 0.1 (y - p)
    naive Bayes    log (n_c + .5)/(n - n_c + .5) + sum x_j (log (d_jc + .1)/(d_j - d_jc + .1)
                       + log (N - N_c + .1 T)/(N_c + .1 T)) over the terms seen before
    naive Bayes    the same with 1 / sqrt(terms seen before) in place of x_j

The weight of a term has the prior variance W = V (f + (1 - f) R / (R + 50)), R the likelihood ratio of term and
category over the documents before (`likelihood_ratio`). Its posterior has natural parameters: precision 1/W + lambda,
mean eta s, so that W may move while what documents said (lambda, eta) stays. With g and q of `online_moments`

    delta = -q x^2 / (1 + q s x^2),  eta <- (eta + g x)(1 + s delta),  lambda <- lambda + delta

is the update of `learn_diagonal` if W stays.

`weights` is terms x (COUNT, PRECISION, SHIFT, one for each rate) x categories, so that a document reads whole rows;
`intercepts` is the same without terms, and its counts are n_c; `pairs` is N_c; `totals` is n, N, T. Rows of `tables`
are k log k and log(k + 0.1) of whole numbers. A document costs its terms x categories.
"""

from __future__ import annotations

import math

import numpy as np

from bayesift.arrays import Array
from bayesift.kernels.compile import inlined, inlined_tight, tight
from bayesift.kernels.online_moments import PROBIT, moments

COUNT, PRECISION, SHIFT, FIRST_RATE = 0, 1, 2, 3
DOCUMENTS, PAIRS, TERMS = 0, 1, 2
FLOOR, SOFTNESS = 0.03, 50.0
ADDED = 0.1  # to every count of naive Bayes
NOISE = np.array([0.5])  # standard deviation of the probit noise
INTERCEPT_RATE = 0.1
CLIP = 12.0  # of log odds
_SQRT_HALF = math.sqrt(0.5)


def count_tables(size: int = 1 << 16) -> Array:
    """Rows of k log k and log(k + 0.1) of the numbers below `size`."""
    counts = np.arange(size, dtype=np.float64)
    return np.stack([counts * np.log(np.maximum(counts, 1.0)), np.log(counts + ADDED)])


@inlined
def whole_log_power(count: float, tables: Array) -> float:
    """The value of k log k."""
    if count < tables.shape[1]:
        value: float = tables[0, int(count)]
        return value
    return count * math.log(count)


@inlined
def _log_count(count: float, tables: Array) -> float:
    """The value of log(k + 0.1)."""
    if count < tables.shape[1]:
        value: float = tables[1, int(count)]
        return value
    return math.log(count + ADDED)


@inlined_tight
def likelihood_ratio(n: float, inside: float, with_term: float, both: float, margins: float, tables: Array) -> float:
    """Dunning's -2 ln lambda of a term and a category; `margins`: n log n less those of the four margins."""
    ratio = margins + whole_log_power(both, tables) + whole_log_power(inside - both, tables)
    ratio += whole_log_power(with_term - both, tables) + whole_log_power(n - inside - with_term + both, tables)
    return max(2.0 * ratio, 0.0)


@inlined_tight
def split_log_power(n: float, part: float, tables: Array) -> float:
    """What a margin of n documents in two parts takes from the ratio."""
    return whole_log_power(part, tables) + whole_log_power(n - part, tables)


@inlined_tight
def posterior_variance(largest: float, ratio: float, precision: float) -> float:
    """The variance s = W / (1 + W lambda) of a weight, W the prior variance of its likelihood ratio."""
    share = largest * (ratio + FLOOR * SOFTNESS)
    return share / (ratio + SOFTNESS + share * precision)


@inlined_tight
def probit_log_odds(u: float) -> float:
    """The log odds of Phi(u), clipped."""
    tail = 0.5 * math.erfc(abs(u) * _SQRT_HALF)
    odds = CLIP if tail < 1e-7 else min(math.log((1.0 - tail) / tail), CLIP)
    return odds if u > 0.0 else -odds


@tight
def perceptron_fields(
    columns: Array,
    values: Array,
    largest: float,
    weights: Array,
    frequencies: Array,
    intercepts: Array,
    totals: Array,
    tables: Array,
    fields: Array,
    spreads: Array,
) -> None:
    """Write mean and variance of every category's field, and the variance s of every term and category."""
    n, n_categories = totals[DOCUMENTS], intercepts.shape[1]
    whole = whole_log_power(n, tables)
    for c in range(n_categories):
        spread = largest / (1.0 + largest * intercepts[PRECISION, c])
        spreads[len(columns), c] = spread
        fields[0, c], fields[1, c] = intercepts[SHIFT, c] * spread, spread
        fields[2, c] = split_log_power(n, intercepts[COUNT, c], tables)
    for k in range(len(columns)):
        j, x = columns[k], values[k]
        margin = whole - split_log_power(n, frequencies[j], tables)
        for c in range(n_categories):
            ratio = likelihood_ratio(
                n, intercepts[COUNT, c], frequencies[j], weights[j, COUNT, c], margin - fields[2, c], tables
            )
            spread = posterior_variance(largest, ratio, weights[j, PRECISION, c])
            spreads[k, c] = spread
            fields[0, c] += x * weights[j, SHIFT, c] * spread
            fields[1, c] += x * x * spread


@tight
def naive_bayes_scores(
    columns: Array,
    values: Array,
    weights: Array,
    frequencies: Array,
    intercepts: Array,
    pairs: Array,
    totals: Array,
    tables: Array,
    odds: Array,
) -> None:
    """Write the log odds of both forms of naive Bayes into two rows."""
    n, n_pairs, n_terms = totals[DOCUMENTS], totals[PAIRS], totals[TERMS]
    length, known = 0.0, 0.0
    odds[:] = 0.0
    for k in range(len(columns)):
        j, x = columns[k], values[k]
        frequency = frequencies[j]
        if frequency == 0.0:
            continue
        length += x
        known += 1.0
        for c in range(len(pairs)):
            count = weights[j, COUNT, c]
            term = _log_count(count, tables) - _log_count(frequency - count, tables)
            odds[0, c] += x * term
            odds[1, c] += term
    share = 1.0 / math.sqrt(max(known, 1.0))
    for c in range(len(pairs)):
        inside = intercepts[COUNT, c]
        prior = math.log((inside + 0.5) / (n - inside + 0.5))
        size = math.log((n_pairs - pairs[c] + ADDED * n_terms) / (pairs[c] + ADDED * n_terms))
        odds[0, c] += prior + length * size
        odds[1, c] = prior + share * (odds[1, c] + known * size)


@tight
def linear_scores(columns: Array, values: Array, weights: Array, intercepts: Array, odds: Array) -> None:
    """Write w x + b of every rate and category."""
    for r in range(len(odds)):
        for c in range(odds.shape[1]):
            odds[r, c] = intercepts[FIRST_RATE + r, c]
    for k in range(len(columns)):
        j, x = columns[k], values[k]
        for r in range(len(odds)):
            for c in range(odds.shape[1]):
                odds[r, c] += x * weights[j, FIRST_RATE + r, c]


@tight
def expert_odds(
    columns: Array,
    values: Array,
    largest: float,
    weights: Array,
    frequencies: Array,
    intercepts: Array,
    pairs: Array,
    totals: Array,
    tables: Array,
    fields: Array,
    spreads: Array,
    odds: Array,
) -> None:
    """Write the clipped log odds of every expert and category; `learn_experts` needs `fields` and `spreads`."""
    n_experts = len(odds)
    perceptron_fields(columns, values, largest, weights, frequencies, intercepts, totals, tables, fields, spreads)
    linear_scores(columns, values, weights, intercepts, odds[1 : n_experts - 2])
    naive_bayes_scores(columns, values, weights, frequencies, intercepts, pairs, totals, tables, odds[n_experts - 2 :])
    for c in range(len(pairs)):
        odds[0, c] = probit_log_odds(fields[0, c] / math.sqrt(NOISE[0] * NOISE[0] + fields[1, c]))
        for e in range(1, n_experts):
            odds[e, c] = min(max(odds[e, c], -CLIP), CLIP)


@tight
def learn_experts(
    columns: Array,
    values: Array,
    labels: Array,
    rates: Array,
    weights: Array,
    frequencies: Array,
    intercepts: Array,
    pairs: Array,
    totals: Array,
    fields: Array,
    spreads: Array,
    odds: Array,
) -> None:
    """Update all experts with the labels (0 or 1) of one document; `odds` (clipped) and `fields` are overwritten."""
    size, n_categories = len(columns), len(pairs)
    for c in range(n_categories):
        _, first, second = moments(PROBIT, NOISE, 2.0 * labels[c] - 1.0, fields[0, c], fields[1, c])
        fields[0, c], fields[1, c] = first, second
        shift, change = changed_weight(1.0, first, second, spreads[size, c], intercepts[SHIFT, c])
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
            shift, change = changed_weight(x, fields[0, c], fields[1, c], spreads[k, c], weights[j, SHIFT, c])
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
def changed_weight(x: float, first: float, second: float, spread: float, shift: float) -> tuple[float, float]:
    """The shift eta of a weight after the derivatives of the log evidence, and what they add to its precision."""
    change = -second * x * x / (1.0 + second * spread * x * x)
    return (shift + first * x) * (1.0 + spread * change), change
