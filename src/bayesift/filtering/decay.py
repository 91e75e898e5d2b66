"""How many relevant documents are left when a pool is read in ranked order, from how finds became rarer.

Finds are taken for a Poisson process over places in the order of reading, whose rate falls:

    rate(t) = a r(t),   r(t) = (1 + t / (c N))^-b,   b in [0, 6],   c in {0.01, 0.03, 0.1, 0.3}

b = 0 is a ranking that is worth nothing; large b with large c is nearly exponential. With R(n) = sum of r up to n and k
finds at places t_i among n read, the prior 1/a makes everything else a formula:

    p(b, c | finds)        ~ prod_i r(t_i) / R(n)^k
    left | b, c, finds     ~ negative binomial of k and R(n) / R(N)

so that the posterior is a mixture of negative binomials over a grid. Only places count, not texts: it assumes that the
order is no worse than a random one and that rarity goes on as it began. Its coverage is measured, not guaranteed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesift.filtering.stopping import RemainingRelevant

Array = np.ndarray[Any, Any]

_POWERS = np.linspace(0.0, 6.0, 25)
_REACHES = (0.01, 0.03, 0.1, 0.3)


class RankDecay:
    """The number of relevant documents still unseen, from when the others were found.

    Parameters
    ----------
    n_documents : to read in all, those the review started from left out

    Examples
    --------
    >>> early = RankDecay(1000).remaining([True] * 20 + [False] * 280, found_before=1)
    >>> early.probability_of_recall(0.95) > 0.95
    True
    >>> steady = RankDecay(1000).remaining(([True] + [False] * 14) * 20, found_before=1)
    >>> steady.probability_of_recall(0.95) < 0.05
    True
    """

    def __init__(self, n_documents: int) -> None:
        if n_documents < 1:
            raise ValueError(f"n_documents must be at least 1, got {n_documents}")
        self.n_documents = n_documents
        reaches, powers = (grid.reshape(-1, 1) for grid in np.meshgrid(_REACHES, _POWERS))
        self._log_rates = -powers * np.log1p(np.arange(1, n_documents + 1) / (reaches * n_documents))
        self._sums = np.cumsum(np.exp(self._log_rates), axis=1)

    def remaining(
        self, judgements: Sequence[bool], *, found_before: int = 0, draws: int = 2000, seed: int = 0
    ) -> RemainingRelevant:
        """The posterior of the number of relevant documents among those not read.

        Parameters
        ----------
        judgements : whether each document was relevant, in the order of reading; with no relevant one nothing is known
        found_before : relevant documents that the review started from
        draws : from the posterior
        seed : of the draws
        """
        n_read, places = len(judgements), np.flatnonzero(np.asarray(judgements, dtype=bool))
        unseen, k = self.n_documents - n_read, len(places)
        if unseen < 0:
            raise ValueError(f"{n_read} judgements of {self.n_documents} documents")
        if not k or not unseen:
            return RemainingRelevant(np.full(draws, unseen), found_before + k)
        rng = np.random.default_rng(seed)
        chosen = rng.choice(len(self._sums), size=draws, p=self._shares(places, n_read))
        left = rng.negative_binomial(k, self._sums[chosen, n_read - 1] / self._sums[chosen, -1])
        return RemainingRelevant(np.minimum(left, unseen), found_before + k)

    def _shares(self, places: Array, n_read: int) -> Array:
        """The posterior of the points of the grid."""
        fits = self._log_rates[:, places].sum(axis=1) - len(places) * np.log(self._sums[:, n_read - 1])
        shares = np.exp(fits - fits.max())
        weights: Array = shares / shares.sum()
        return weights
