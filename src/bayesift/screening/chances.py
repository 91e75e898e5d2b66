"""The probability that a record is relevant, from its score and from how often others were.

Scores are those of a model that balances its judgements, so that they are no log odds, and they
move with every fit. What carries over from review to review is how probable relevance is at the
top of the order, which the last decisions tell, and how it falls from there with the score:

    logit p = c0 + c1 logit(rate of late) + c2 logit(longer rate) + c3 (score - top) / spread

where top is the mean score of the ten best open records, spread the standard deviation of the
scores of all open ones, and the rates are the shares of relevant ones among the last tenth and the
last two fifths of the decisions, 20 at least. The four constants were learned on made pools
(`python -m benchmarks.chances`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logit

from bayesift.arrays import BoolArray, FloatArray

TOP = 10
WINDOWS = (0.1, 0.4)  # shares of the decisions, the last ones
CONSTANTS = (-0.08, 0.61, 0.54, 1.07)
_LEAST_WINDOW = 20
_PRESUMED, _PRESUMED_FOUND = 10.0, 0.5  # decisions, and relevant ones, before the first
_LEAST_SPREAD = 1e-9


def rates(found: Sequence[bool] | BoolArray) -> FloatArray:
    """Return the log odds of the rates of relevant records among the last decisions.

    Examples
    --------
    >>> rates([True] * 10 + [False] * 90).round(2).tolist()
    [-4.08, -4.6]
    """
    decisions = np.asarray(found, dtype=np.float64)
    shares = []
    for window in WINDOWS:
        last = decisions[-max(_LEAST_WINDOW, round(window * len(decisions))) :]
        shares.append((last.sum() + _PRESUMED_FOUND) / (len(last) + _PRESUMED))
    odds: FloatArray = logit(np.array(shares))
    return odds


def placing(open_scores: FloatArray) -> tuple[float, float]:
    """Return the mean score of the best open records, and the spread of all."""
    top = np.sort(open_scores)[-TOP:]
    return float(top.mean()), max(float(open_scores.std()), _LEAST_SPREAD)


def calibration(
    open_scores: FloatArray, found: Sequence[bool] | BoolArray
) -> tuple[float, float]:
    """Return slope and intercept from scores to log odds.

    Parameters
    ----------
    open_scores : of the records without a decision
    found : whether each decision found a relevant record, in their order

    Examples
    --------
    >>> slope, intercept = calibration(np.linspace(-1.0, 1.0, 50), [True] * 5 + [False] * 45)
    >>> slope > 0
    True
    """
    constant, late, longer, per_spread = CONSTANTS
    level = constant + np.array([late, longer]) @ rates(found)
    if not len(open_scores):
        return 0.0, float(level)
    top, spread = placing(open_scores)
    slope = per_spread / spread
    return slope, float(level - slope * top)
