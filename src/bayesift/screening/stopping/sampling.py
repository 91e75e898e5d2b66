"""What a random sample of the unseen documents proves.

From some moment on the reviewer reads unseen documents in random order. With K relevant ones among
the N unseen at that moment, the number of hits in n draws is hypergeometric, whatever the model did
before. `recall_p_value` is the test of Callaghan & Müller-Hansen (2020) at one n fixed beforehand.
`SampleCheck` may be looked at after every draw: for any distribution p over K that is fixed before
the sample,

    R_n(K) = p(K) / p(K | hits) = sum_k p(k) h(hits | k) / h(hits | K)

is a martingale of mean 1 under the true K (Waudby-Smith & Ramdas 2020), so that the true K ever has
R >= 1/alpha with probability at most alpha (Ville). All K with a smaller R form the confidence set,
at all n simultaneously. p may be the model's posterior: a good one makes the sample short, a bad
one long; neither invalidates the bound.
"""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np
from scipy.special import gammaln, logsumexp

from bayesift.arrays import BoolArray, FloatArray, IntArray
from bayesift.screening.stopping.remaining import (
    RemainingRelevant,
    allowed_missing,
    check_share,
)

# Weight of the model's posterior in the prior of a sample check; the rest has a heavy tail.
_TRUST = 0.9
_RUNS = 100  # that are tested, at most


def recall_p_value(
    *, n_unseen: int, n_sample: int, n_hits: int, n_found: int, recall: float
) -> float:
    """Bound the probability of so few hits if less than this recall was reached.

    For a sample size fixed beforehand.

    Parameters
    ----------
    n_unseen : documents unseen before the sample
    n_sample, n_hits : documents drawn from them at random, and the relevant ones among these
    n_found : relevant documents found before the sample
    recall : the share that is aimed at, of which the hits count as found

    Examples
    --------
    >>> recall_p_value(n_unseen=100, n_sample=78, n_hits=0, n_found=19, recall=0.95) < 0.05
    True
    """
    if not 0 <= n_hits <= n_sample <= n_unseen:
        raise ValueError("hits, sample and unseen documents must not fall short of one another")
    least = n_hits + allowed_missing(n_found + n_hits, recall) + 1
    if least - n_hits > n_unseen - n_sample:
        return 0.0
    p = _so_few_hits(
        np.array([n_sample]),
        np.array([n_hits]),
        n_unread=n_unseen - n_sample,
        missing=least - n_hits,
    )
    return float(p[0])


def run_p_value(
    counts: IntArray, *, n_read: int, n_documents: int, missing: int, every: int = 10
) -> float:
    """Compute the smallest p-value over all runs of documents read last, taken for random samples.

    Parameters
    ----------
    counts : relevant documents among the first 0, 1, 2, ... read; later ones are irrelevant
    n_read : documents read
    n_documents : to read in all
    missing : the number of relevant documents left that the test would exclude
    every : documents between the beginnings of two runs

    Examples
    --------
    >>> counts = np.arange(21)
    >>> round(run_p_value(counts, n_read=70, n_documents=100, missing=2), 2)
    0.14
    """
    if missing > n_documents - n_read:
        return 0.0
    begins = np.arange(0, n_read, every)
    hits = counts[-1] - counts[np.minimum(begins, len(counts) - 1)]
    p = _so_few_hits(n_read - begins, hits, n_unread=n_documents - n_read, missing=missing)
    return float(p.min(initial=1.0))


def _so_few_hits(
    n_drawn: IntArray, hits: IntArray, *, n_unread: int, missing: int
) -> FloatArray:
    """Compute the probability of at most so many hits in each sample.

    Of the documents drawn and those unread together, hits + missing are relevant. At most so many
    hits are at least `missing` relevant documents unread: one minus the sum over fewer has few
    terms, and needs none of scipy's distributions, whose loops hold all threads up.
    """
    relevant = (hits + missing)[:, None]
    drawn = n_drawn[:, None]
    unread = np.arange(missing)
    ways = _log_choose(n_unread, unread) + _log_choose(drawn, relevant - unread)
    shares = np.exp(ways - _log_choose(drawn + n_unread, relevant))
    p: FloatArray = np.clip(1.0 - shares.sum(axis=1), 0.0, 1.0)
    return p


def _log_choose(n: int | IntArray, k: IntArray) -> FloatArray:
    """Compute ln C(n, k), which is -inf where k is below 0 or above n."""
    ways: FloatArray = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return ways


def safe_reading(
    judgements: BoolArray, n_documents: int, *, missing: int, confidence: float = 0.95
) -> int:
    """Count further irrelevant documents until the rule of Callaghan & Müller-Hansen stops.

    Parameters
    ----------
    judgements : in the order of reading
    n_documents : to read in all
    missing : the number of relevant documents left that is excluded then
    confidence : of the test

    Examples
    --------
    >>> safe_reading(np.array([True] * 20 + [False] * 50), 100, missing=2)
    12
    """
    check_share("confidence", confidence)
    counts = np.concatenate([[0], np.cumsum(judgements)])
    n_read = len(judgements)
    every = max(10, n_read // _RUNS)

    def excluded(n: int) -> bool:
        p = run_p_value(counts, n_read=n, n_documents=n_documents, missing=missing, every=every)
        return p <= 1.0 - confidence

    return bisect_left(range(n_documents), True, lo=n_read, key=excluded) - n_read


class SampleCheck:
    """A bound on the missing relevant documents that holds at all draws of a sample together.

    Parameters
    ----------
    n_unseen : documents unseen before the first draw
    n_found : relevant documents found before it
    expected : `RemainingRelevant` of the model at that moment, or None; makes the sample short when
        it is right
    confidence : that the bound is never below the truth, as long as draws go on

    Examples
    --------
    >>> check = SampleCheck(n_unseen=100, n_found=40)
    >>> check.missing_bound
    100
    >>> for _ in range(80):
    ...     check.draw(relevant=False)
    >>> check.missing_bound, check.reaches(0.95)
    (2, True)
    """

    def __init__(
        self,
        *,
        n_unseen: int,
        n_found: int,
        expected: RemainingRelevant | None = None,
        confidence: float = 0.95,
    ) -> None:
        check_share("confidence", confidence)
        self.n_unseen = n_unseen
        self.n_found = n_found
        self.confidence = confidence
        self.n_drawn = 0
        self.n_hits = 0
        self._possible = np.arange(n_unseen + 1)
        self._log_factorials = gammaln(self._possible + 1.0)
        self._log_prior = np.log(_prior(n_unseen, expected))
        self._kept = np.ones(n_unseen + 1, dtype=bool)

    def draw(self, *, relevant: bool) -> None:
        """Take in the judgement of the next document of the sample."""
        if self.n_drawn == self.n_unseen:
            raise ValueError("all documents are drawn")
        self.n_drawn += 1
        self.n_hits += int(relevant)
        likelihood = self._log_likelihood()
        total = logsumexp(self._log_prior + likelihood)
        self._kept &= likelihood > total + math.log(1.0 - self.confidence)

    @property
    def missing_bound(self) -> int:
        """At most so many relevant documents are neither found before the sample nor hit by it."""
        left = np.flatnonzero(self._kept)
        # With all numbers excluded the improbable has happened; then nothing is known.
        most = int(left[-1]) if len(left) else self.n_unseen
        return max(0, min(most - self.n_hits, self.n_unseen - self.n_drawn))

    def reaches(self, recall: float) -> bool:
        """Whether the sample proves that at least this share is found."""
        return self.missing_bound <= allowed_missing(self.n_found + self.n_hits, recall)

    def _log_likelihood(self) -> FloatArray:
        """Compute ln C(n, h) C(N - n, K - h) / C(N, K) of every K, up to a constant."""
        K = self._possible
        N = self.n_unseen
        n = self.n_drawn
        h = self.n_hits
        likelihood = np.full(N + 1, -np.inf)
        some = (h <= K) & (K - h <= N - n)
        k = K[some]
        likelihood[some] = self._log_choose(N - n, k - h) - self._log_choose(N, k)
        return likelihood

    def _log_choose(self, n: int, k: IntArray) -> FloatArray:
        ways: FloatArray = (
            self._log_factorials[n] - self._log_factorials[k] - self._log_factorials[n - k]
        )
        return ways


def sample_size(*, n_unseen: int, n_found: int, recall: float, confidence: float = 0.95) -> int:
    """Compute how many random documents without a hit prove this recall by `recall_p_value`.

    Examples
    --------
    >>> sample_size(n_unseen=1000, n_found=100, recall=0.95)
    393
    """
    check_share("confidence", confidence)
    low = 0
    high = n_unseen
    while low < high:
        middle = (low + high) // 2
        p = recall_p_value(
            n_unseen=n_unseen, n_sample=middle, n_hits=0, n_found=n_found, recall=recall
        )
        low, high = (low, middle) if p <= 1.0 - confidence else (middle + 1, high)
    return low


def _prior(n_unseen: int, expected: RemainingRelevant | None) -> FloatArray:
    """Compute p(K): what the model expects, mixed with 1 / ((K + 1) (K + 2))."""
    K = np.arange(n_unseen + 1.0)
    heavy = 1.0 / ((K + 1.0) * (K + 2.0))
    heavy /= heavy.sum()
    if expected is None:
        return heavy
    numbers = np.minimum(expected.draws, n_unseen)
    return (
        _TRUST * np.bincount(numbers, minlength=n_unseen + 1) / len(numbers)
        + (1.0 - _TRUST) * heavy
    )
