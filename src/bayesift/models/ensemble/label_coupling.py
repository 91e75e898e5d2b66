"""Label coupling: the log odds of a category corrected by the probabilities of the others.

With the log odds z(d, c) of the members, p = 1 / (1 + exp(-z)) and pi the relative frequencies of the categories,

    z'(d, c) = a z(d, c) + b log(e + sum_{k != c} p(d, k)) + g sum_k J(c, k) (p(d, k) - pi(k)) + h

J(c, k) is the log odds ratio of two categories among the training labels, with half a document added to each cell of
their table, and 0 for c = k. The second term is low for a document that belongs to no other category. a, b, g and h are
the same for all categories and maximise the posterior on out-of-fold scores under the priors a ~ N(1, 1) and
b, g, h ~ N(0, 1), so that without data z' = z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from bayesift.arrays import Array
from bayesift.state import expect_array, storable

PRIOR_MEANS = (1.0, 0.0, 0.0)  # of a, b and g

_LEAST_SUM = 1e-2  # e


@storable("label-coupling")
@dataclass(frozen=True, slots=True)
class LabelCoupling:
    """Maps the log odds z to z': `couplings` J, `rates` pi, `weights` a, b and g, `offset` h."""

    couplings: Array
    rates: Array
    weights: Array
    offset: float

    def __call__(self, scores: Any) -> Array:
        """Z' of z, documents x categories."""
        features = coupling_features(np.asarray(scores), self.couplings, self.rates)
        coupled: Array = np.tensordot(self.weights, features, 1)
        return coupled + self.offset

    def _post_load(self) -> None:
        n_models = len(expect_array(self.rates, "rates", np.float64, (None,)))
        expect_array(self.couplings, "couplings", np.float64, (n_models, n_models))
        expect_array(self.weights, "weights", np.float64, (3,))


def label_couplings(labels: sparse.csr_array, weights: Array) -> Array:
    """Log odds ratios of all pairs of categories, from documents x categories and the documents' weights."""
    counted = labels.astype(np.float64)
    together = (counted.T @ sparse.diags_array(weights) @ counted).toarray()
    sizes = np.diag(together)
    alone = sizes[:, np.newaxis] - together
    neither = weights.sum() - sizes[:, np.newaxis] - sizes + together
    ratios: Array = np.log((together + 0.5) * (neither + 0.5) / ((alone + 0.5) * (alone.T + 0.5)))
    np.fill_diagonal(ratios, 0.0)
    return ratios


def coupling_features(scores: Array, couplings: Array, rates: Array) -> Array:
    """The three terms that a, b and g multiply, 3 x documents x categories."""
    features, p = np.empty((3, *scores.shape)), expit(scores)
    features[0] = scores
    features[1] = np.log(_LEAST_SUM + np.maximum(p.sum(axis=1, keepdims=True) - p, 0.0))
    features[2] = (p - rates) @ couplings
    return features
