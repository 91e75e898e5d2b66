"""Corrections of log odds where documents may have several categories, fitted to held-out ones.

Both look at the other categories of the document and have a few numbers, the same for all
categories, that maximise the posterior of the labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from bayesift.arrays import Array, FloatArray
from bayesift.errors import DataError
from bayesift.models.ensemble.members import Sample
from bayesift.models.ensemble.stacking import OutOfFold, stacking_weights
from bayesift.state import expect_array, storable

_LEAST_SUM = 1e-2  # e of label coupling
_LARGEST = 30.0  # log odds; beyond it probabilities are 0 or 1 anyway
_LARGEST_WEIGHT = 1e6  # in a file; more than any that is fitted
_FLOOR = 1e-6  # odds of all other categories, at least


@storable("label-coupling")
@dataclass(frozen=True, slots=True)
class LabelCoupling:
    """The log odds z of a category corrected by the probabilities of the others.

        z'(d, c) = a z(d, c) + b log(e + sum_{k != c} p(d, k)) + g sum_k J(c, k) (p(d, k) - pi(k)) +
        h

    with p = 1 / (1 + exp(-z)) and the relative frequencies pi of the categories. J(c, k) is the log
    odds ratio of two categories among the training labels, with half a document added to each cell
    of their table, and 0 for c = k. The second term is low for a document that belongs to no other
    category. The priors are a ~ N(1, 1) and b, g, h ~ N(0, 1), so that without data z' = z.

    Parameters
    ----------
    couplings, rates : J and pi
    weights, offset : a, b and g; h
    """

    couplings: FloatArray
    rates: FloatArray
    weights: FloatArray
    offset: float

    @classmethod
    def fit(cls, scores: FloatArray, held_out: OutOfFold, sample: Sample) -> LabelCoupling:
        """Find the coupling with the highest posterior on log odds of documents held out."""
        couplings = label_couplings(sample.labels, sample.weights)
        rates = (sample.weights / sample.weights.sum()) @ sample.labels
        weights, offset = stacking_weights(
            _coupling_features(scores, couplings, rates), held_out.labels, held_out.weights,
            exclusive=False, signed=True, prior_means=(1.0, 0.0, 0.0),
        )  # fmt: skip
        return cls(couplings, rates, weights, offset)

    def __call__(self, scores: Any) -> FloatArray:
        """Z' of z, documents x categories."""
        features = _coupling_features(np.asarray(scores), self.couplings, self.rates)
        coupled: FloatArray = np.tensordot(self.weights, features, 1)
        return coupled + self.offset

    def _post_load(self) -> None:
        n_models = len(expect_array(self.rates, "rates", np.float64, (None,)))
        expect_array(self.couplings, "couplings", np.float64, (n_models, n_models))
        expect_array(self.weights, "weights", np.float64, (3,))


def label_couplings(labels: sparse.csr_array, weights: FloatArray) -> FloatArray:
    """Return the log odds ratios of all pairs of categories in weighted documents x categories."""
    counted = labels.astype(np.float64)
    together = (counted.T @ sparse.diags_array(weights) @ counted).toarray()
    sizes = np.diag(together)
    alone = sizes[:, np.newaxis] - together
    neither = weights.sum() - sizes[:, np.newaxis] - sizes + together
    ratios: FloatArray = np.log(
        (together + 0.5) * (neither + 0.5) / ((alone + 0.5) * (alone.T + 0.5))
    )
    np.fill_diagonal(ratios, 0.0)
    return ratios


def _coupling_features(
    scores: FloatArray, couplings: FloatArray, rates: FloatArray
) -> FloatArray:
    """Return the three terms that a, b and g multiply, 3 x documents x categories."""
    features, p = np.empty((3, *scores.shape)), expit(scores)
    features[0] = scores
    features[1] = np.log(_LEAST_SUM + np.maximum(p.sum(axis=1, keepdims=True) - p, 0.0))
    features[2] = (p - rates) @ couplings
    return features


@storable("beta-calibration")
@dataclass(frozen=True)
class BetaCalibration:
    """Corrects log odds z by a beta calibration and by the odds of the other categories.

        z'(c) = positive ln p(c) - negative ln(1 - p(c)) - others ln sum_(k != c) p(k) / (1 - p(k))
        + offset

    with p = 1 / (1 + exp(-z)). The first two terms are beta calibration (Kull, Silva Filho & Flach
    2017): one slope where the category is unlikely and another where it is likely. The third lowers
    a category where others are likely.
    """

    positive: float
    negative: float
    others: float
    offset: float

    @classmethod
    def fit(cls, scores: Array, labels: Array, importance: Array) -> BetaCalibration:
        """Find the calibration with the highest posterior on scores of documents held out."""
        found, offset = stacking_weights(
            _beta_features(scores),
            labels,
            importance,
            exclusive=False,
            prior_means=(1.0, 1.0, 0.0),
        )
        positive, negative, others = map(float, found)
        return cls(positive, negative, others, offset)

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Calibrated log odds, documents x categories."""
        weights = np.array([self.positive, self.negative, self.others])
        calibrated: FloatArray = np.tensordot(weights, _beta_features(scores), 1) + self.offset
        return calibrated

    def _post_load(self) -> None:
        numbers = self.positive, self.negative, self.others, self.offset
        if not all(abs(number) <= _LARGEST_WEIGHT for number in numbers):
            raise DataError("a weight of its calibration is not a number, or too large")


def _beta_features(scores: FloatArray) -> FloatArray:
    z = np.clip(scores, -_LARGEST, _LARGEST)
    odds = np.exp(z)
    others = np.ones_like(z)
    if z.shape[1] > 1:
        others = np.maximum(odds.sum(axis=1, keepdims=True) - odds, _FLOOR)
    return np.stack([-np.logaddexp(0.0, -z), np.logaddexp(0.0, z), -np.log(others)])
