"""Calibration of the log odds of categories that do not exclude one another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.models.ensemble.stacking import stacking_weights
from bayesift.state import storable

_PRIOR_MEANS = (1.0, 1.0, 0.0)
_LARGEST = 30.0  # log odds; beyond it probabilities are 0 or 1 anyway
_LARGEST_WEIGHT = 1e6  # in a file; more than any that is fitted
_FLOOR = 1e-6  # odds of all other categories, at least


@storable("beta-calibration")
@dataclass(frozen=True)
class BetaCalibration:
    """Corrects log odds z of a category by a beta calibration and by the odds of the other categories.

        z'(c) = positive ln p(c) - negative ln(1 - p(c)) - others ln sum_(k != c) p(k) / (1 - p(k)) + offset

    with p = 1 / (1 + exp(-z)). The first two terms are beta calibration (Kull, Silva Filho & Flach 2017): one slope
    where the category is unlikely and another where it is likely. The third lowers a category where others are likely.
    """

    positive: float
    negative: float
    others: float
    offset: float

    @classmethod
    def fit(cls, scores: Array, labels: Array, importance: Array) -> BetaCalibration:
        """The calibration with the highest posterior on scores of documents held out, documents x categories."""
        found, offset = stacking_weights(
            _features(scores), labels, importance, exclusive=False, prior_means=_PRIOR_MEANS
        )
        positive, negative, others = map(float, found)
        return cls(positive, negative, others, offset)

    def __call__(self, scores: Array) -> Array:
        """Calibrated log odds, documents x categories."""
        weights = np.array([self.positive, self.negative, self.others])
        calibrated: Array = np.tensordot(weights, _features(scores), 1) + self.offset
        return calibrated

    def _post_load(self) -> None:
        numbers = self.positive, self.negative, self.others, self.offset
        if not all(abs(number) <= _LARGEST_WEIGHT for number in numbers):
            raise DataError("a weight of its calibration is no such number")


def _features(scores: Array) -> Array:
    z = np.clip(scores, -_LARGEST, _LARGEST)
    odds = np.exp(z)
    others = np.maximum(odds.sum(axis=1, keepdims=True) - odds, _FLOOR) if z.shape[1] > 1 else np.ones_like(z)
    return np.stack([-np.logaddexp(0.0, -z), np.logaddexp(0.0, z), -np.log(others)])
