"""Zipf's law: terms by rank of their frequency, and the zones at both ends of the curve."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def frequency_ranks(frequencies: Array) -> Array:
    """Rank of each term, 0 for the most frequent; of equals the earlier one ranks first.

    Examples
    --------
    >>> frequency_ranks(np.array([3, 9, 3, 1])).tolist()
    [1, 0, 2, 3]
    """
    ranks = np.empty(len(frequencies), dtype=np.int64)
    ranks[np.argsort(-np.asarray(frequencies), kind="stable")] = np.arange(len(frequencies))
    return ranks


def moderate_zone(frequencies: Array, *, drop_frequent: float = 0, drop_rare: float = 0) -> Array:
    """Which terms lie between the very frequent and the very rare.

    Parameters
    ----------
    frequencies : of each term in the collection
    drop_frequent, drop_rare : how many ranks to drop at each end: a number of terms (int), or a share of all
        terms (float below 1)

    Examples
    --------
    >>> moderate_zone(np.array([3, 9, 3, 1]), drop_frequent=1, drop_rare=0.25).tolist()
    [True, False, True, False]
    """
    n_terms = len(frequencies)
    ranks = frequency_ranks(frequencies)
    first = _number_of_terms("drop_frequent", drop_frequent, n_terms)
    last = n_terms - _number_of_terms("drop_rare", drop_rare, n_terms)
    return (ranks >= first) & (ranks < last)


def _number_of_terms(name: str, wanted: float, n_terms: int) -> int:
    if wanted < 0 or (isinstance(wanted, float) and wanted >= 1):
        raise ValueError(f"{name} must be a number of terms (int) or a share of them (float below 1), got {wanted!r}")
    return int(wanted) if not isinstance(wanted, float) else int(wanted * n_terms)
