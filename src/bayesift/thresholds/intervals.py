"""How sure a threshold is."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.thresholds.empirical import EmpiricalRule
from bayesift.thresholds.ranking import Ranking

Array = np.ndarray[Any, Any]


def threshold_intervals(
    rule: EmpiricalRule,
    Y: Any,
    scores: Any,
    *,
    n_resamples: int = 200,
    level: float = 0.95,
    random_state: int = 0,
) -> Array:
    """Bootstrap percentile interval of each category's threshold, lower and upper: categories x 2.

    Documents are drawn with replacement. Documents are sorted once; a resample is a pass with other weights. An upper
    end of +inf says that resamples without a positive, which say never, make up that tail.

    Parameters
    ----------
    rule : one that takes its thresholds from a sample, such as `MaxF1`
    Y, scores : the sample
    n_resamples, level, random_state : of the bootstrap

    Examples
    --------
    >>> from bayesift.thresholds import MaxF1
    >>> Y, scores = [0] * 50 + [1] * 50, np.linspace(-1, 1, 100)
    >>> threshold_intervals(MaxF1(), Y, scores).round(2)
    array([[-0.03,  0.02]])
    """
    ranking = Ranking.of(Y, scores)
    pooled = ranking.pooled() if rule.shrinkage else None
    random = np.random.default_rng(random_state)
    thresholds = np.empty((n_resamples, len(ranking.scores)))
    for resample in thresholds:
        drawn = random.integers(ranking.n_documents, size=ranking.n_documents)
        weights = np.bincount(drawn, minlength=ranking.n_documents).astype(np.int32)
        resample[:] = rule.cut(ranking, weights, pooled)
    tail = (1 - level) / 2
    # Nearest ranks: interpolation would make nan of two infinite neighbours.
    return np.quantile(thresholds, [tail, 1 - tail], axis=0, method="inverted_cdf").T
