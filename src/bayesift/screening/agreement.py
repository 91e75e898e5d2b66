"""How far reviewers agree, beyond what chance would give.

With the share of agreement p_a and the agreement by chance p_e, all three coefficients are (p_a -
p_e) / (1 - p_e):

    Cohen's kappa (1960)        p_e = sum_k p_k q_k, from the shares of two reviewers
    Gwet's AC1 (2008)           p_e = sum_k pi_k (1 - pi_k) / (K - 1),
                                pi_k the mean share of category k
    Krippendorff's alpha (1970) p_e = sum_k n_k (n_k - 1) / (n (n - 1)),
                                of all ratings that can be paired

Kappa falls when nearly all records are excluded, although reviewers agree on most; AC1 does not. A
record that only one reviewer judged counts for AC1's shares and for nothing else.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesift.arrays import FloatArray


@dataclass(frozen=True)
class Agreement:
    """Agreement of reviewers.

    Parameters
    ----------
    n_records : judged by two reviewers or more
    agreement : share of pairs of ratings that are the same
    kappa : Cohen's; not a number unless there are two reviewers
    ac1 : Gwet's
    alpha : Krippendorff's, for categories
    prevalence : of each category among all ratings

    Examples
    --------
    >>> ann = {"1": "included", "2": "excluded", "3": "excluded", "4": "excluded"}
    >>> ben = {"1": "included", "2": "excluded", "3": "excluded", "4": "included", "5": "excluded"}
    >>> found = Agreement.of([ann, ben])
    >>> found.n_records, found.agreement, found.kappa
    (4, 0.75, 0.5)
    """

    n_records: int
    agreement: float
    kappa: float
    ac1: float
    alpha: float
    prevalence: Mapping[str, float]

    @classmethod
    def of(cls, ratings: Sequence[Mapping[str, str]]) -> Agreement:
        """Measure the agreement of reviewers, each given by categories of records.

        Records may be missing.
        """
        records = sorted({record for rated in ratings for record in rated})
        categories = sorted({category for rated in ratings for category in rated.values()})
        counts = np.zeros((len(records), len(categories)))
        for rated in ratings:
            for row, record in enumerate(records):
                if record in rated:
                    counts[row, categories.index(rated[record])] += 1
        paired = counts[counts.sum(axis=1) >= 2]
        shares = counts.sum(axis=0) / max(counts.sum(), 1.0)
        return cls(
            len(paired),
            _observed(paired),
            cohen_kappa(*ratings) if len(ratings) == 2 else math.nan,
            _ac1(counts, paired),
            _alpha(paired),
            dict(zip(categories, shares.tolist(), strict=True)),
        )


def cohen_kappa(first: Mapping[str, str], second: Mapping[str, str]) -> float:
    """Compute Cohen's kappa of two reviewers over the records that both judged.

    Examples
    --------
    >>> judged = {"1": "in", "2": "out", "3": "out"}
    >>> cohen_kappa(judged, {**judged, "4": "in"})
    1.0
    """
    both = [(first[record], second[record]) for record in first if record in second]
    if not both:
        return math.nan
    same = sum(a == b for a, b in both) / len(both)
    of_first = Counter(a for a, _ in both)
    of_second = Counter(b for _, b in both)
    by_chance = sum(count * of_second[kind] for kind, count in of_first.items())
    return _beyond(same, by_chance / len(both) ** 2)


def _observed(paired: FloatArray) -> float:
    """Compute the share of equal pairs of ratings of one record, averaged over records."""
    if not len(paired):
        return math.nan
    ratings = paired.sum(axis=1)
    return float(np.mean((paired * (paired - 1)).sum(axis=1) / (ratings * (ratings - 1))))


def _ac1(counts: FloatArray, paired: FloatArray) -> float:
    if not len(paired):
        return math.nan
    if counts.shape[1] < 2:
        return 1.0
    shares = np.mean(counts / counts.sum(axis=1, keepdims=True), axis=0)
    chance = float(np.sum(shares * (1.0 - shares)) / (counts.shape[1] - 1))
    return _beyond(_observed(paired), chance)


def _alpha(paired: FloatArray) -> float:
    """Compute alpha by the coincidence matrix, in which a record with m ratings counts m."""
    if not len(paired):
        return math.nan
    ratings = paired.sum(axis=1)
    total = paired.sum()
    same = float(np.sum((paired * (paired - 1)).sum(axis=1) / (ratings - 1)) / total)
    of_kind = paired.sum(axis=0)
    chance = float(np.sum(of_kind * (of_kind - 1)) / (total * (total - 1)))
    return _beyond(same, chance)


def _beyond(same: float, chance: float) -> float:
    if chance < 1.0:
        return (same - chance) / (1.0 - chance)
    return math.nan
