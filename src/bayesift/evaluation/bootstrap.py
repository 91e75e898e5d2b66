"""Intervals of F1 and of means by resampling documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesift.arrays import Array
from bayesift.evaluation.measures import Classes, aligned, quotient

_BLOCK_DRAWS = 1 << 20


class Estimate(NamedTuple):
    """A measured value with its interval; its ends are missing (None) without resamples."""

    value: float
    lower: float | None = None
    upper: float | None = None

    def times(self, factor: float) -> Estimate:
        """Return the estimate in another unit; the factor is above 0."""
        return Estimate(*(None if part is None else factor * part for part in self))  # type: ignore[arg-type]


class F1Estimates(NamedTuple):
    """F1 of every category, micro and macro, each with its interval."""

    categories: tuple[Estimate, ...]
    micro: Estimate
    macro: Estimate


def bootstrap_f1(
    Y: Any,
    decisions: Any,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    random_state: int = 0,
    labels: Classes = None,
) -> F1Estimates:
    """F1 of one system with percentile intervals over resamples of the documents.

    A category whose positives a resample has all lost takes no part in its macro F1: rare
    categories would else pull the whole interval below what was measured. Its interval then lies
    more above the value than below, as the truth does: F1 of a category with few positives is low
    on average. Of draws of 500, 1,000 and 2,000 of Reuters' test documents, with 90 categories, it
    held the macro F1 of all of them in 97.5%, 98.3% and 94.2%; centred on the value in 88% to 97%.
    Where most categories have one to three positives it may hold in far less.

    Examples
    --------
    >>> Y = np.tile([[1, 0], [0, 1]], (50, 1))
    >>> decided = Y.copy()
    >>> decided[:20] = 0
    >>> found = bootstrap_f1(Y, decided, n_resamples=500)
    >>> round(found.micro.value, 3), found.micro.lower < found.micro.value < found.micro.upper
    (0.889, True)
    """
    truth, decided = aligned(Y, decisions, labels=labels)
    parts = (2 * truth.multiply(decided), truth + decided, truth)
    counts = sparse.csr_array(sparse.hstack(parts, format="csr"), dtype=np.float64)
    whole = np.ones((1, truth.shape[0])) @ counts
    known = whole[:, -truth.shape[1] :] > 0
    observed = _all_f1(whole, known)[0]
    drawn = [
        _all_f1(weights @ counts, known)
        for weights in resamples(truth.shape[0], n_resamples, random_state)
    ]
    lower, upper = np.quantile(np.vstack(drawn), _tails(level), axis=0)
    *categories, micro, macro = (
        Estimate(*row)
        for row in zip(observed.tolist(), lower.tolist(), upper.tolist(), strict=True)
    )
    return F1Estimates(tuple(categories), micro, macro)


def bootstrap_mean(
    values: Any, *, n_resamples: int = 1000, level: float = 0.95, random_state: int = 0
) -> Estimate:
    """Return a mean over documents with its percentile interval.

    Examples
    --------
    >>> found = bootstrap_mean([1.0] * 80 + [0.0] * 20)
    >>> found.value, round(found.lower, 1), round(found.upper, 1)
    (0.8, 0.7, 0.9)
    """
    each = np.asarray(values, dtype=np.float64)
    drawn = [
        weights @ each / len(each)
        for weights in resamples(len(each), n_resamples, random_state)
    ]
    lower, upper = np.quantile(np.concatenate(drawn), _tails(level))
    return Estimate(float(each.mean()), float(lower), float(upper))


def resamples(n_documents: int, n_resamples: int, random_state: int) -> Iterator[Array]:
    """Blocks of resamples, each row how often every document was drawn."""
    random = np.random.default_rng(random_state)
    block = max(1, _BLOCK_DRAWS // n_documents)
    for start in range(0, n_resamples, block):
        n_rows = min(block, n_resamples - start)
        drawn = (
            random.integers(n_documents, size=(n_rows, n_documents))
            + n_documents * np.arange(n_rows)[:, None]
        )
        multiplicities = np.bincount(drawn.ravel(), minlength=n_rows * n_documents)
        yield multiplicities.reshape(n_rows, n_documents).astype(np.float64)


def _tails(level: float) -> list[float]:
    return [(1 - level) / 2, (1 + level) / 2]


def _all_f1(counts: Array, known: Array) -> Array:
    """For each row of counts F1 of the categories, then micro and macro F1.

    `known` are those that have positives.
    """
    above, below, positives = np.split(counts, 3, axis=1)
    each = quotient(above, below, 0.0)
    micro = quotient(above.sum(axis=1), below.sum(axis=1), 0.0)
    kept = (positives > 0) | ~known
    macro = quotient((each * kept).sum(axis=1), kept.sum(axis=1), 0.0)
    return np.column_stack([each, micro, macro])
