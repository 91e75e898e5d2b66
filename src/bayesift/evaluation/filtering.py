"""Measures of filtering, as TREC-9 defined them: one value a topic (column), averaged over topics.

R+ and N+ are the relevant and the other documents retrieved, R the relevant documents in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse

from bayesift.arrays import Array
from bayesift.evaluation.measures import Contingency, averaged, indicator, quotient

Gains = Sequence[Sequence[float]]
Scaling = Literal["trec-9", "unit"]

T9U_GAINS: Gains = ((0.0, -1.0), (0.0, 2.0))


def t9p(Y: Any, decisions: Any, *, target: int = 50, average: Literal["macro"] | None = "macro") -> Any:
    """T9P, precision with a penalty for retrieving fewer than `target`: R+ / max(target, R+ + N+).

    Examples
    --------
    >>> t9p([1, 1, 0, 0], [1, 0, 1, 0], target=4)
    0.25
    """
    if target < 1:
        raise ValueError(f"target must be at least 1, got {target!r}")
    counts = Contingency.of(_topics(Y), _topics(decisions))
    return averaged(counts.true_positives / np.maximum(target, counts.assigned), average)


def linear_utility(
    Y: Any, decisions: Any, *, gains: Gains = T9U_GAINS, average: Literal["macro"] | None = "macro"
) -> Any:
    """The sum of gains [[true negative, false positive], [false negative, true positive]]; 2 R+ - N+ by default.

    Examples
    --------
    >>> linear_utility([1, 1, 0, 0], [1, 0, 1, 0])
    1.0
    """
    return averaged(_utility(Contingency.of(_topics(Y), _topics(decisions)), gains), average)


def t9u(
    Y: Any,
    decisions: Any,
    *,
    floor: float = -100.0,
    gains: Gains = T9U_GAINS,
    average: Literal["macro"] | None = "macro",
) -> Any:
    """T9U, the utility max(2 R+ - N+, MinU), so that no topic outweighs all others.

    Parameters
    ----------
    floor : MinU; TREC-9 took -100 for the OHSUMED topics and -400 for the MeSH topics

    Examples
    --------
    >>> t9u([1, 0, 0, 0], [1, 1, 1, 1], floor=-0.5)
    -0.5
    """
    return averaged(np.maximum(_utility(Contingency.of(_topics(Y), _topics(decisions)), gains), floor), average)


def scaled_utility(
    Y: Any,
    decisions: Any,
    *,
    floor: float = -100.0,
    gains: Gains = T9U_GAINS,
    scaling: Scaling = "trec-9",
    zero_division: float = 0.0,
    average: Literal["macro"] | None = "macro",
) -> Any:
    """Utility relative to MaxU, that of retrieving exactly the relevant documents (2 R by default).

    Parameters
    ----------
    floor : MinU, as in `t9u`
    scaling : "trec-9" is T9U / MaxU, which may be negative; "unit" maps MinU to 0 and MaxU to 1,
        (T9U - MinU) / (MaxU - MinU), as TREC-8 did
    zero_division : the value of a topic without relevant documents under "trec-9"

    Examples
    --------
    >>> scaled_utility([1, 1, 0, 0], [1, 0, 1, 0])
    0.25
    >>> scaled_utility([1, 1, 0, 0], [1, 0, 1, 0], floor=-2, scaling="unit")
    0.5
    """
    if scaling not in get_args(Scaling):
        raise ValueError(f"scaling must be one of {', '.join(get_args(Scaling))}, got {scaling!r}")
    counts = Contingency.of(_topics(Y), _topics(decisions))
    best = Contingency(counts.positives, counts.positives, counts.positives, counts.n_documents)
    highest = _utility(best, gains)
    bounded = np.maximum(_utility(counts, gains), floor)
    lowest = 0.0 if scaling == "trec-9" else floor
    return averaged(quotient(bounded - lowest, highest - lowest, zero_division), average)


def zero_returns(decisions: Any) -> int:
    """How many topics retrieve nothing."""
    return int(np.sum(_topics(decisions).sum(axis=0) == 0))


def _utility(counts: Contingency, gains: Gains) -> Array:
    (rejected, alarm), (missed, found) = gains
    outcome: Array = (
        found * counts.true_positives
        + alarm * counts.false_positives
        + missed * counts.false_negatives
        + rejected * counts.true_negatives
    )
    return outcome


def _topics(matrix: Any) -> sparse.csr_array:
    """One topic may come as a vector of 0 and 1."""
    return indicator(np.asarray(matrix)[:, None] if np.ndim(matrix) == 1 else matrix)
