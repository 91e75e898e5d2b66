"""Estimate the number of relevant documents left from how they become rarer while reading."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import betainc, gammaln

from bayesift.arrays import BoolArray, FloatArray, IntArray
from bayesift.screening.stopping.remaining import (
    RemainingRelevant,
    allowed_missing,
    check_share,
)

LEAST_FOUND = 10  # relevant documents from which on the posterior says something
TAIL_SHARES = {0.02: 0.004, 0.05: 0.026, 0.1: 0.227, 0.15: 0.423, 0.2: 0.295, 0.3: 0.025}
CONFIDENCES = (0.5, 0.8, 0.9, 0.95, 0.99)

_EXPONENTS = np.linspace(0.5, 6.0, 12)
_SCALES = (0.01, 0.03, 0.1, 0.3)
_WIDTHS = np.geomspace(0.01, 1.0, 14)
_STEEPNESSES = (0.5, 1.0, 1.5, 2.0)
_RISES = (1, 2, 4, 8, 16)
_CONSTANT_SHARES = (0.25, 0.5, 0.75)
# Of power laws, stretched exponentials, orders of which a share is random, a constant rate and
# rising rates.
_FAMILY_WEIGHTS = (0.2, 0.66, 0.1, 0.02, 0.02)
_TAIL_SCALE = 0.25  # of the fall of the tail over the pool, of the highest evidence
_NEGLIGIBLE_WEIGHT = 1e-9
_NEGLIGIBLE_MASS = 1e-7  # mass of the numbers left that are not looked at
# Probability of a rate that does not fall from which on the order is called weak; 0.04 beforehand.
_WEAK_ORDER_PROBABILITY = 0.25
_INTERVAL_MASS = 0.95


@dataclass(frozen=True)
class StoppingEstimate:
    """What can be said about a review at some moment.

    Parameters
    ----------
    n_found : relevant documents found, those of the start included
    n_unseen : documents not read
    expected, low, high : number of relevant documents among them, and its 95% interval
    recall : the recall aimed at
    probability : that it is reached
    confidence : the probability at which to stop
    more_reading : for some probabilities, how many further documents without a relevant one it
        takes to reach it
    weak_order : probability that relevant documents do not become rarer, as in a random order
    caveat : why the numbers say little; empty if nothing speaks against them
    """

    n_found: int
    n_unseen: int
    expected: float
    low: int
    high: int
    recall: float
    probability: float
    confidence: float
    more_reading: Mapping[float, int]
    weak_order: float
    caveat: str = ""

    @property
    def stop(self) -> bool:
        """Whether enough was found, and the recall is reached with the confidence."""
        return self.n_unseen == 0 or (
            self.n_found >= LEAST_FOUND and self.probability >= self.confidence
        )

    def __str__(self) -> str:
        """Say what is known in a sentence, or why nothing is.

        Examples
        --------
        >>> estimate = RankDecay(500).estimate([True] * 15 + [False] * 235)
        >>> print(estimate)  # doctest: +NORMALIZE_WHITESPACE
        0 to 2 relevant left (expected 0.2), 95% recall with probability 0.79; 95% sure after 139
        more without a find
        """
        if not self.n_unseen:
            return "nothing is left to read"
        if self.caveat:
            return f"cannot tell yet what is left: {self.caveat}"
        number = f"{self.low:,} to {self.high:,}" if self.low < self.high else f"{self.low:,}"
        chance = "above 0.99" if self.probability > 0.995 else f"{self.probability:.2f}"
        said = f"{number} relevant left (expected {_rounded(self.expected)}), "
        said += f"{self.recall:.0%} recall with probability {chance}"
        for sure, n in sorted(self.more_reading.items()):
            if n and sure >= self.confidence:
                return f"{said}; {sure:.0%} sure after {n:,} more without a find"
        return said


@dataclass(frozen=True, eq=False)
class _Mixture:
    """The number left: a mixture of negative binomials with weights and shares of the rate read."""

    k: int
    weights: FloatArray
    read: FloatArray

    def cdf(self, most: int) -> float:
        """Compute the probability that at most so many are left."""
        return float(self.weights @ betainc(self.k, most + 1.0, self.read))

    def pmf(self, largest: int) -> FloatArray:
        """Compute the probabilities of 0, 1, ... left, up to the largest number.

        Larger numbers count as the largest.
        """
        n = 64
        while n < largest and self.cdf(n) < 1.0 - _NEGLIGIBLE_MASS:
            n *= 2
        m = np.arange(min(n, largest))
        ways = gammaln(self.k + m) - gammaln(self.k) - gammaln(m + 1.0)
        with np.errstate(divide="ignore"):
            logs = (
                self.k * np.log(self.read)[:, np.newaxis]
                + m * np.log1p(-self.read)[:, np.newaxis]
            )
        logs[self.read >= 1.0] = np.where(m == 0, 0.0, -np.inf)
        below = self.weights @ np.exp(ways + logs)
        pmf: FloatArray = np.append(below, max(0.0, 1.0 - below.sum()))
        return pmf


class RankDecay:
    """Model of the relevant documents still unseen in a ranked pool, by when others were found.

    Relevant documents are found by a Poisson process over the ranks t = 1 ... N of the reading. Its
    rate falls, and that of a share e of the relevant documents, which the ranking hardly sees,
    falls slowly:

        rate(t) = a s(t),   s(t) = (1 - e) r(t) / (r(1) + ... + r(N)) + e q(t) / (q(1) + ... + q(N))

    The shape r is a power law (1 + u / c)^-b or a stretched exponential exp(-(u / c)^d) of u = (t -
    1) / N, with b, c and d on a grid, q = exp(-4 u) is the tail; with small probability a large
    share of r is constant (a useless ranking) or it rises (a harmful one). With S(n) = s(1) + ... +
    s(n) and k relevant documents at ranks t_i among n read, the prior 1/a gives closed forms:

        p(r, e | ranks)        ~ p(r) p(e) prod_i s(t_i) / S(n)^k
        left | r, e, ranks     ~ negative binomial of k and S(n)

    so that the posterior is a mixture of negative binomials. If h relevant documents were found
    among m others, which were read at random before, k becomes k + h and S(n) becomes (S(n) + m /
    N) / (1 + m / N). p(e) is the posterior of one share for all reviews, given the ranks in ten
    (docs/explanation/screening.md). Statement: a probability, right on average over reviews like
    these. It assumes that the rate goes on as one of the shapes, and costs no reading but that it
    asks for.

    Parameters
    ----------
    n_documents : to read in all, those the review started from left out
    tail_shares : the values of e and their probabilities; by default those learned
    sample : of documents drawn at random before, outside of the others: how many, and how many of
        them are relevant

    Examples
    --------
    >>> early = RankDecay(1000).remaining([True] * 20 + [False] * 480, found_before=1)
    >>> early.probability_of_recall(0.95) > 0.9
    True
    >>> steady = RankDecay(1000).remaining(([True] + [False] * 14) * 20, found_before=1)
    >>> steady.probability_of_recall(0.95) < 0.05
    True
    """

    def __init__(
        self,
        n_documents: int,
        *,
        tail_shares: Mapping[float, float] = TAIL_SHARES,
        sample: tuple[int, int] = (0, 0),
    ) -> None:
        if n_documents < 1:
            raise ValueError(f"n_documents must be at least 1, got {n_documents}")
        if not 0 <= sample[1] <= sample[0]:
            raise ValueError(f"{sample[1]} relevant documents in a sample of {sample[0]}")
        if not tail_shares or not all(
            0 < share < 1 and weight >= 0 for share, weight in tail_shares.items()
        ):
            raise ValueError(
                "tail_shares must map shares between 0 and 1 to their probabilities"
            )
        self.n_documents = n_documents
        self._sampled = sample[0] / n_documents
        self._n_sampled = sample[1]
        self._tails = np.array(list(tail_shares))[:, np.newaxis]
        families = _shapes(n_documents)
        weights = [
            np.full(len(f), w / len(f)) for f, w in zip(families, _FAMILY_WEIGHTS, strict=True)
        ]
        self._falls = np.concatenate(
            [np.full(len(f), number < 3) for number, f in enumerate(families)]
        )
        with np.errstate(divide="ignore"):
            tail_weights = np.log(
                np.array(list(tail_shares.values())) / sum(tail_shares.values())
            )
        self._log_prior = tail_weights[:, np.newaxis] + np.log(np.concatenate(weights))
        sums = np.cumsum(np.vstack(families), axis=1)
        self._sums = sums / sums[:, -1:]
        tail = np.append(
            0.0, np.cumsum(np.exp(-np.arange(n_documents) / (n_documents * _TAIL_SCALE)))
        )
        self._tail_sums = tail / tail[-1]

    def remaining(
        self,
        judgements: Sequence[bool] | BoolArray,
        *,
        found_before: int = 0,
        draws: int = 2000,
    ) -> RemainingRelevant:
        """Compute quantiles of the number of relevant documents among those not read.

        The judgements are in the order of reading; without a relevant one nothing is known.
        `found_before` counts the relevant documents that the review started from.
        """
        positions, n_read = self._positions(judgements)
        unseen = self.n_documents - n_read
        k = self._n_found(positions)
        if not k or not unseen:
            return RemainingRelevant(np.full(draws, unseen), found_before + k)
        heights = np.cumsum(self._mixture(positions, n_read).pmf(unseen))
        quantiles = np.searchsorted(heights, (np.arange(draws) + 0.5) / draws * heights[-1])
        return RemainingRelevant(quantiles, found_before + k)

    def probability_of_recall(
        self, judgements: Sequence[bool] | BoolArray, recall: float, *, found_before: int = 0
    ) -> float:
        """Compute the probability that this share of all relevant documents is found.

        It is 0 before the first is found.
        """
        positions, n_read = self._positions(judgements)
        return self._probability(
            positions, n_read, allowed_missing(found_before + self._n_found(positions), recall)
        )

    def estimate(
        self,
        judgements: Sequence[bool] | BoolArray,
        *,
        recall: float = 0.95,
        confidence: float = 0.95,
        found_before: int = 0,
    ) -> StoppingEstimate:
        """Estimate what is left, whether to stop, and what it costs to be surer.

        Examples
        --------
        >>> estimate = RankDecay(500).estimate([True] * 15 + [False] * 135, recall=0.9)
        >>> estimate.stop, estimate.low, estimate.n_unseen
        (False, 0, 350)
        """
        check_share("confidence", confidence)
        positions, n_read = self._positions(judgements)
        remaining = self.remaining(judgements, found_before=found_before)
        allowed = allowed_missing(remaining.n_found, recall)
        low, high = remaining.interval(_INTERVAL_MASS)
        weak = self._weakness(positions, n_read)
        finds = min(
            self._n_found(positions) + 1, remaining.n_found
        )  # coverage was measured from one relevant document
        return StoppingEstimate(
            n_found=remaining.n_found,
            n_unseen=self.n_documents - n_read,
            expected=remaining.mean,
            low=low,
            high=high,
            recall=recall,
            probability=self._probability(positions, n_read, allowed),
            confidence=confidence,
            more_reading=self._more_reading(
                positions, n_read, allowed, sorted({*CONFIDENCES, confidence})
            ),
            weak_order=weak,
            caveat=_caveat(finds, weak, self.n_documents - n_read),
        )

    def log_evidence(self, positions: IntArray) -> FloatArray:
        """Compute the log likelihood of each tail share, given all relevant ranks of a review."""
        fits = self._log_fits(np.asarray(positions) - 1, self.n_documents)
        prior = self._log_prior - np.logaddexp.reduce(self._log_prior, axis=1, keepdims=True)
        evidence: FloatArray = np.logaddexp.reduce(fits + prior, axis=1)
        return evidence

    def _positions(self, judgements: Sequence[bool] | BoolArray) -> tuple[IntArray, int]:
        if len(judgements) > self.n_documents:
            raise ValueError(f"{len(judgements)} judgements of {self.n_documents} documents")
        return np.flatnonzero(np.asarray(judgements, dtype=bool)), len(judgements)

    def _n_found(self, positions: IntArray) -> int:
        return len(positions) + self._n_sampled

    def _shares_read(self, n_read: int) -> FloatArray:
        """Compute S(n), tails x shapes, with the sample."""
        ranked = self._sums[:, n_read - 1] if n_read else np.zeros(len(self._sums))
        read = (1.0 - self._tails) * ranked + self._tails * self._tail_sums[n_read]
        shares: FloatArray = np.minimum((read + self._sampled) / (1.0 + self._sampled), 1.0)
        return shares

    def _log_rates(self, positions: IntArray) -> FloatArray:
        """Compute log prod s(t_i), tails x shapes."""
        before = np.where(positions > 0, self._sums[:, positions - 1], 0.0)
        rates = self._sums[:, positions] - before
        tails = self._tails[:, :, np.newaxis]
        logs: FloatArray = np.log(
            (1.0 - tails) * rates + tails * np.diff(self._tail_sums)[positions]
        ).sum(axis=2)
        return logs

    def _log_fits(self, positions: IntArray, n_read: int) -> FloatArray:
        """Compute log prod s(t_i) / S(n)^k, tails x shapes."""
        fitted: FloatArray = self._log_rates(positions) - self._n_found(positions) * np.log(
            self._shares_read(n_read)
        )
        return fitted

    def _posterior(self, positions: IntArray, n_read: int) -> FloatArray:
        return _normalised(self._log_prior + self._log_fits(positions, n_read))

    def _mixture(self, positions: IntArray, n_read: int) -> _Mixture:
        return _mixed(
            self._n_found(positions),
            self._posterior(positions, n_read),
            self._shares_read(n_read),
        )

    def _probability(self, positions: IntArray, n_read: int, allowed: int) -> float:
        if n_read == self.n_documents or allowed >= self.n_documents - n_read:
            return 1.0
        if self._n_found(positions):
            return self._mixture(positions, n_read).cdf(allowed)
        return 0.0

    def _more_reading(
        self, positions: IntArray, n_read: int, allowed: int, wanted: Sequence[float]
    ) -> dict[float, int]:
        """Count further irrelevant documents needed for each probability, the lowest first."""
        k = self._n_found(positions)
        most = max(n_read, self.n_documents - allowed)
        if not k:
            return dict.fromkeys(wanted, most - n_read)
        rates = self._log_prior + self._log_rates(positions)

        @cache
        def probability(n: int) -> float:
            read = self._shares_read(n)
            return _mixed(k, _normalised(rates - k * np.log(read)), read).cdf(allowed)

        more = {}
        low = n_read
        for sure in wanted:
            low = (
                bisect_left(range(most), sure, lo=low, key=probability) if low < most else most
            )
            more[sure] = low - n_read
        return more

    def _weakness(self, positions: IntArray, n_read: int) -> float:
        if not n_read:
            return float(np.exp(self._log_prior)[:, ~self._falls].sum())
        return float(self._posterior(positions, n_read)[:, ~self._falls].sum())


def _normalised(logs: FloatArray) -> FloatArray:
    weights = np.exp(logs - logs.max())
    normalised: FloatArray = weights / weights.sum()
    return normalised


def _mixed(k: int, weights: FloatArray, read: FloatArray) -> _Mixture:
    kept = weights > _NEGLIGIBLE_WEIGHT
    return _Mixture(k, weights[kept] / weights[kept].sum(), read[kept])


def learn_tail_shares(reviews: Sequence[tuple[Sequence[IntArray], int]]) -> dict[float, float]:
    """Compute the posterior of one tail share for all reviews, uniform over `TAIL_SHARES` before.

    Parameters
    ----------
    reviews : for each the places (from 1) of its relevant documents in one or several orders, and
        how many documents it has; several orders of a review count as one review
    """
    shares = dict.fromkeys(TAIL_SHARES, 1.0)
    logs = np.zeros(len(shares))
    for orders, n_documents in reviews:
        decay = RankDecay(n_documents, tail_shares=shares)
        logs += np.mean([decay.log_evidence(positions) for positions in orders], axis=0)
    weights = np.exp(logs - logs.max())
    return dict(zip(shares, (weights / weights.sum()).tolist(), strict=True))


def _shapes(n_documents: int) -> tuple[FloatArray, ...]:
    """Compute the rates at all ranks, shapes x ranks, of each family."""
    u = np.arange(n_documents) / n_documents
    powers = [np.exp(-b * np.log1p(u / c)) for c in _SCALES for b in _EXPONENTS]
    exponentials = [np.exp(-((u / c) ** d)) for c in _WIDTHS for d in _STEEPNESSES]
    steady = [np.exp(-u / c) for c in _WIDTHS]
    partly = [
        (1.0 - share) * r / r.sum() + share / n_documents
        for r in steady
        for share in _CONSTANT_SHARES
    ]
    rising = [(u + 1.0 / n_documents) ** p for p in _RISES]
    return (
        np.array(powers),
        np.array(exponentials),
        np.array(partly),
        np.ones((1, n_documents)),
        np.array(rising),
    )


def _rounded(number: float) -> str:
    if number < 9.95:
        return f"{number:.1f}"
    return f"{number:,.0f}"


def _caveat(n_found: int, weak: float, n_unseen: int) -> str:
    if not n_unseen:
        return ""
    if n_found < LEAST_FOUND:
        return f"too early, {n_found} of {LEAST_FOUND} relevant records found"
    if weak > _WEAK_ORDER_PROBABILITY:
        return "relevant records do not become rarer; the order may be no better than random"
    return ""
