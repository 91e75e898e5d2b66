"""What the other categories of a document say of each: the second round of a jury.

With log odds z(d, c) of the first round, p = 1 / (1 + exp(-z)) and pi the shares of the categories, the second says

    z'(d, c) = a z(d, c) + b log(e + sum_{k != c} p(d, k)) + g sum_k J(c, k) (p(d, k) - pi(k)) + h

J(c, k) is the log odds ratio of two categories among the labels known, half a document added to each cell of their
table: what a pairwise model of labels would start from, 0 for a category and itself. The second term is low for a
document that belongs nowhere else. The four numbers, the same for all categories, foretell best the documents held out,
under the priors a ~ N(1, 1) and b, g, h ~ N(0, 1): without documents to go by the first round stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from bayesift.models.committee.hearing import Hearing
from bayesift.models.committee.stacking import shares_of

Array = np.ndarray[Any, Any]

_NOWHERE = 1e-2


@dataclass(frozen=True, slots=True)
class Consultation:
    """The second round.

    Parameters
    ----------
    couplings : J, categories x categories
    rates : pi
    shares : a, b and g
    offset : h

    Examples
    --------
    >>> Consultation(np.zeros((2, 2)), np.full(2, 0.5), np.array([1.0, 0.0, 0.0]), 0.0)([[3.0, -1.0]]).tolist()
    [[3.0, -1.0]]
    """

    couplings: Array
    rates: Array
    shares: Array
    offset: float

    def __call__(self, scores: Any) -> Array:
        """Log odds of the second round from those of the first, documents x categories."""
        said: Array = np.tensordot(self.shares, _voices(np.asarray(scores), self.couplings, self.rates), 1)
        return said + self.offset


def consultation_of(hearing: Hearing, scores: Array, members: sparse.csr_array) -> Consultation:
    """The second round that foretells best the documents of a hearing.

    Parameters
    ----------
    hearing : documents held out
    scores : their log odds in the first round
    members : the labels of all training documents, documents x categories
    """
    couplings, rates = couplings_of(members), members.mean(axis=0)
    shares, offset = shares_of(
        _voices(scores, couplings, rates),
        hearing.labels,
        hearing.importance,
        exclusive=False,
        signed=True,
        expected=(1.0, 0.0, 0.0),
    )
    return Consultation(couplings, rates, shares, offset)


def couplings_of(members: sparse.csr_array) -> Array:
    """Log odds ratios of all pairs of categories.

    Examples
    --------
    >>> couplings_of(sparse.csr_array([[1, 1], [1, 1], [0, 0], [0, 0]])).round(2).tolist()
    [[0.0, 3.22], [3.22, 0.0]]
    """
    counted = members.astype(np.float64)
    n_documents, together = counted.shape[0], (counted.T @ counted).toarray()
    sizes = np.diag(together)
    alone = sizes[:, np.newaxis] - together
    neither = n_documents - sizes[:, np.newaxis] - sizes + together
    found: Array = np.log((together + 0.5) * (neither + 0.5) / ((alone + 0.5) * (alone.T + 0.5)))
    np.fill_diagonal(found, 0.0)
    return found


def _voices(scores: Array, couplings: Array, rates: Array) -> Array:
    """What is weighed: the first round, whether the document belongs elsewhere, what its other categories speak for."""
    p = expit(scores)
    elsewhere = np.log(_NOWHERE + np.maximum(p.sum(axis=1, keepdims=True) - p, 0.0))
    return np.stack([scores, elsewhere, (p - rates) @ couplings])
