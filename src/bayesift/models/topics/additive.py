"""Pairs of documents, and additive logistic regression on differences of their topics.

    F(x) = sum_m a_m f_m(x_m),    f_m(x) = log N(x; 0, v+_m) - log N(x; 0, v-_m)

A stage estimates the variances of same-category (+) and different-category (-) differences under weights e^{-yF} (y is
+1 or -1), then the factor a_m that minimises sum e^{-y(F + a f_m)} by Newton's method. F estimates half the log odds:
P(same) = 1/(1 + e^{-2F}) (Friedman, Hastie & Tibshirani 2000; the paper's eq. 23 lacks the 2, its eq. 26 a minus).
The paper has one stage per topic; further rounds correct each topic given all others.

Each stage adds a constant and a multiple of x_m^2. A stage after which the multiples of a topic would sum to more than
0 is left out: documents would become more similar the more they differ.

Pairs are drawn without listing all n^2. Same: a document uniformly among those that have a partner, one of its
categories with a partner uniformly, another document of that category uniformly. Different: uniformly from all pairs
of documents that share no category. Documents without a category are not drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bayesift.arrays import Array

_TOLERANCE = 1e-10
_NEWTON_STEPS = 50
_LEAST_VARIANCE = 1e-9  # relative to the topic's variance in all pairs
_LARGEST_SCORE = 30.0  # of |F|, so that weights stay within e^30
_MOST_DRAWS = 1000  # times the number of pairs, before giving up


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of documents by their rows; as many share a category (`same`) as do not.

    `same_share` is the share of pairs with a common category among pairs drawn uniformly.
    """

    left: Array
    right: Array
    same: Array
    same_share: float


def draw_pairs(members: sparse.csr_array, n_pairs: int, random: np.random.RandomState) -> Pairs:
    """Draw half of the pairs from the same category, half from different ones; `members` is categories x documents."""
    half = max(1, n_pairs // 2)
    same = _draw_same(members, half, random)
    different, same_share = _draw_different(members, half, random)
    left, right = np.concatenate([same, different], axis=1)
    return Pairs(left, right, np.repeat([True, False], half), same_share)


def _draw_same(members: sparse.csr_array, n_pairs: int, random: np.random.RandomState) -> Array:
    sizes = np.diff(members.indptr)
    usable = members[np.flatnonzero(sizes > 1)]
    by_document = sparse.csr_array(usable.T)
    degrees = np.diff(by_document.indptr)
    candidates = np.flatnonzero(degrees)
    if not len(candidates):
        raise ValueError("no category has two documents; there is nothing to learn similarity from")
    documents = random.choice(candidates, n_pairs)
    categories = by_document.indices[by_document.indptr[documents] + _below(degrees[documents], random)]
    starts, last = usable.indptr[categories], usable.indptr[categories + 1] - 1
    partners = usable.indices[starts + _below(last - starts, random)]
    # The index of the document itself stands for the last one, which is not drawn.
    return np.stack([documents, np.where(partners == documents, usable.indices[last], partners)])


def _draw_different(members: sparse.csr_array, n_pairs: int, random: np.random.RandomState) -> tuple[Array, float]:
    by_document = sparse.csr_array(members.T)
    candidates = np.flatnonzero(np.diff(by_document.indptr))
    found, n_found, n_drawn = [], 0, 0
    while n_found < n_pairs:
        if n_drawn > _MOST_DRAWS * n_pairs:
            raise ValueError("hardly any two documents differ in category; there is nothing to learn similarity from")
        pairs = random.choice(candidates, (2, n_pairs))
        pairs = pairs[:, pairs[0] != pairs[1]]
        shared = by_document[pairs[0]].multiply(by_document[pairs[1]]).sum(axis=1) > 0
        found.append(pairs[:, ~shared])
        n_found += found[-1].shape[1]
        n_drawn += max(pairs.shape[1], 1)
    return np.concatenate(found, axis=1)[:, :n_pairs], 1 - n_found / n_drawn


def _below(limits: Array, random: np.random.RandomState) -> Array:
    """Integers from 0 to below each limit, uniformly."""
    drawn: Array = np.minimum((random.uniform(size=len(limits)) * limits).astype(np.int64), limits - 1)
    return drawn


@dataclass(frozen=True, eq=False)
class AdditiveModel:
    """F(x) = offset - sum_m weights_m x_m^2; a_m (0 where it was left out) and variances of the first stages.

    `variances` are those of same- and different-category differences, 2 x topics.
    """

    offset: float
    weights: Array
    factors: Array
    variances: Array


def fit_additive(codes: Array, left: Array, right: Array, same: Array, *, rounds: int = 1) -> AdditiveModel:
    """Fit `rounds` stages per topic on pairs of rows of `codes`, round by round in the order of columns."""
    signs, columns = np.where(same, 1.0, -1.0), np.ascontiguousarray(codes.T)
    scores, offset = np.zeros(len(left)), 0.0
    weights, factors, variances = np.zeros(len(columns)), np.zeros(len(columns)), np.zeros((2, len(columns)))
    for round_ in range(rounds):
        for m, column in enumerate(columns):
            squares = np.square(column[left] - column[right])
            importance = np.exp(-signs * np.clip(scores, -_LARGEST_SCORE, _LARGEST_SCORE))
            intra, extra = _variances(squares, importance, same)
            if intra == extra:  # the topic is the same in all documents
                continue
            constant, slope = 0.5 * np.log(extra / intra), 0.5 * (1 / intra - 1 / extra)
            ratios = constant - slope * squares
            factor = best_factor(signs * ratios, importance)
            if round_ == 0:
                variances[:, m] = intra, extra
            if weights[m] + factor * slope < 0:
                continue
            scores += factor * ratios
            offset += factor * constant
            weights[m] += factor * slope
            if round_ == 0:
                factors[m] = factor
    return AdditiveModel(float(offset), weights, factors, variances)


def fit_naive_bayes(codes: Array, left: Array, right: Array, same: Array) -> AdditiveModel:
    """All factors 1 and all pairs of weight 1: naive Bayes on topics (eq. 28), F being the log odds themselves.

    As in `fit_additive`, a topic on which documents of one category differ more than others is left out.
    """
    columns, everything = np.ascontiguousarray(codes.T), np.ones(len(left))
    squares = (np.square(column[left] - column[right]) for column in columns)
    variances = np.array([_variances(square, everything, same) for square in squares]).T
    factors = (variances[0] < variances[1]).astype(np.float64)
    safe = np.where(factors > 0, variances, 1.0)
    weights = 0.5 * (1.0 / safe[0] - 1.0 / safe[1])
    return AdditiveModel(float(0.5 * np.sum(np.log(safe[1] / safe[0]))), weights, factors, variances)


def best_factor(margins: Array, importance: Array) -> float:
    """The a that minimises sum importance e^{-a margins}, by Newton's method from 0 with halved steps."""
    factor, losses = 0.0, importance
    total = float(losses.sum())
    for _ in range(_NEWTON_STEPS):
        gain, curvature = float(losses @ margins), float(losses @ margins**2)
        if curvature <= 0.0:
            break
        step = gain / curvature
        while True:
            with np.errstate(over="ignore"):
                new_losses = importance * np.exp(-(factor + step) * margins)
            new_total = float(new_losses.sum())
            if new_total <= total or abs(step) <= _TOLERANCE:
                break
            step *= 0.5
        factor, losses, total = factor + step, new_losses, new_total
        if abs(step) <= _TOLERANCE * max(1.0, abs(factor)):
            break
    return factor


def _variances(squares: Array, importance: Array, same: Array) -> tuple[float, float]:
    least = _LEAST_VARIANCE * float(squares.mean())
    intra, extra = (float(np.average(squares[part], weights=importance[part])) for part in (same, ~same))
    return max(intra, least), max(extra, least)
