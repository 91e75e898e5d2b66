"""Estimate the number of relevant documents left from how they become rarer while reading."""

from __future__ import annotations

import math
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
from bayesift.screening.stopping.sampling import safe_reading

LEAST_FOUND = 10  # relevant documents from which on the posterior says something
TAIL_SHARES = (0.01, 0.03, 0.1, 0.2, 0.4, 0.7)
# Of each width, the probabilities of these shares, learned on made pools by `learn_tails`.
_LEARNED_TAILS = {
    0.1: (0.203, 0.029, 0.004, 0.019, 0.033, 0.048),
    0.25: (0.055, 0.022, 0.062, 0.064, 0.059, 0.065),
    0.5: (0.012, 0.103, 0.087, 0.051, 0.016, 0.0),
    math.inf: (0.003, 0.031, 0.025, 0.006, 0.001, 0.0),
}
Tail = tuple[float, float]  # a share of the relevant documents, and the width of their fall
TAILS: Mapping[Tail, float] = {
    (share, width): weight
    for width, weights in _LEARNED_TAILS.items()
    for share, weight in zip(TAIL_SHARES, weights, strict=True)
}
CONFIDENCES = (0.5, 0.8, 0.9, 0.95, 0.99)

_EXPONENTS = np.linspace(0.5, 6.0, 12)
_SCALES = (0.01, 0.03, 0.1, 0.3)
_WIDTHS = np.geomspace(0.01, 1.0, 14)
_STEEPNESSES = (0.5, 1.0, 1.5, 2.0)
_RISES = (1, 2, 4, 8, 16)
# Of power laws, stretched exponentials, a constant rate and rising rates.
_FAMILY_WEIGHTS = (0.25, 0.7, 0.025, 0.025)
_N_FALLING = 2  # families whose rate falls
_LEARNING_STEPS = 200
_LEARNING_GRID = 4000  # ranks, of larger pools several are taken for one
_NEGLIGIBLE_WEIGHT = 1e-9
_NEGLIGIBLE_MASS = 1e-7  # mass of the numbers left that are not looked at
# Probability of a rate that does not fall from which on the order is called weak; 0.05 beforehand.
_WEAK_ORDER_PROBABILITY = 0.25
# So much holds the truth in 95% of the looks even in the worst tenth of the made pools.
_INTERVAL_MASS = 0.975
_WIDE_SHARE = 0.5  # of the unread documents, from which on an interval is not shown
_WIDE_NUMBER = 10


@dataclass(frozen=True)
class StoppingEstimate:
    """What can be said about a review at some moment.

    Parameters
    ----------
    n_found : relevant documents found, those of the start included
    n_unseen : documents not read
    median, low, high : number of relevant documents among them, and its 95% interval
    recall : the recall aimed at
    probability : that it is reached
    confidence : the probability at which to stop
    more_reading : for some probabilities, how many further documents without a relevant one it
        takes to reach it
    safe_reading : the same for the rule of Callaghan & Müller-Hansen, which assumes no more than
        that the order is not worse than a random one
    weak_order : probability that relevant documents do not become rarer, as in a random order
    caveat : why the numbers say little; empty if nothing speaks against them
    """

    n_found: int
    n_unseen: int
    median: int
    low: int
    high: int
    recall: float
    probability: float
    confidence: float
    more_reading: Mapping[float, int]
    safe_reading: int
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
        0 relevant left (0 to 2), 95% recall with probability 0.91; 95% sure after 83 more without
        a find, on the safe side after 226
        """
        if not self.n_unseen:
            return "nothing is left to read"
        if self.caveat:
            return f"cannot tell yet what is left: {self.caveat}"
        between = f" ({self.low:,} to {self.high:,})" if self.low < self.high else ""
        chance = "above 0.99" if self.probability > 0.995 else f"{self.probability:.2f}"
        said = f"{self.median:,} relevant left{between}, "
        said += f"{self.recall:.0%} recall with probability {chance}"
        for sure, n in sorted(self.more_reading.items()):
            if n and sure >= self.confidence:
                said += f"; {sure:.0%} sure after {n:,} more without a find"
                break
        if self.safe_reading:
            said += f", on the safe side after {self.safe_reading:,}"
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
    falls slowly or not at all:

        rate(t) = a s(t),   s(t) = (1 - e) r(t) / (r(1) + ... + r(N)) + e q(t) / (q(1) + ... + q(N))

    The shape r is a power law (1 + u / c)^-b or a stretched exponential exp(-(u / c)^d) of u = (t -
    1) / N, with b, c and d on a grid, q = exp(-u / w) is the tail of width w, flat where w is
    infinite; with small probability r is constant (a useless ranking) or it rises (a harmful one).
    With S(n) = s(1) + ... + s(n) and k relevant documents at ranks t_i among n read, the prior 1/a
    gives closed forms:

        p(r, e, w | ranks)     ~ p(r) p(e, w) prod_i s(t_i) / S(n)^k
        left | r, e, w, ranks  ~ negative binomial of k and S(n)

    so that the posterior is a mixture of negative binomials. If h relevant documents were found
    among m others, which were read at random before, k becomes k + h and S(n) becomes (S(n) + m /
    N) / (1 + m / N). p(e, w) says how often pools have such a tail; it was learned on 320 made ones
    (docs/explanation/screening.md). Statement: a probability, right on average over pools like
    these. It assumes that the rate goes on as one of the shapes, and costs no reading but that it
    asks for.

    Parameters
    ----------
    n_documents : to read in all, those the review started from left out
    tails : the values of e and w and their probabilities; by default those learned
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
        tails: Mapping[Tail, float] = TAILS,
        sample: tuple[int, int] = (0, 0),
    ) -> None:
        if n_documents < 1:
            raise ValueError(f"n_documents must be at least 1, got {n_documents}")
        if not 0 <= sample[1] <= sample[0]:
            raise ValueError(f"{sample[1]} relevant documents in a sample of {sample[0]}")
        if not tails or not all(
            0 < share < 1 and width > 0 and weight >= 0
            for (share, width), weight in tails.items()
        ):
            raise ValueError(
                "tails must map shares between 0 and 1 and positive widths to probabilities"
            )
        self.n_documents = n_documents
        self._sampled = sample[0] / n_documents
        self._n_sampled = sample[1]
        kept = [tail for tail, weight in tails.items() if weight]
        self._tails = np.array([share for share, _ in kept])[:, np.newaxis]
        families = _shapes(n_documents)
        weights = [
            np.full(len(f), w / len(f)) for f, w in zip(families, _FAMILY_WEIGHTS, strict=True)
        ]
        self._falls = np.concatenate(
            [np.full(len(f), number < _N_FALLING) for number, f in enumerate(families)]
        )
        tail_weights = np.array([tails[tail] for tail in kept]) / sum(tails.values())
        self._log_prior = np.log(tail_weights)[:, np.newaxis] + np.log(np.concatenate(weights))
        sums = np.cumsum(np.vstack(families), axis=1)
        self._sums = sums / sums[:, -1:]
        u = np.arange(n_documents) / n_documents
        widths = sorted({width for _, width in kept})
        falls = [np.append(0.0, np.cumsum(np.exp(-u / width))) for width in widths]
        self._tail_sums = np.array([fall / fall[-1] for fall in falls])
        self._width_of_tail = np.array([widths.index(width) for _, width in kept])

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
            median=int(np.median(remaining.draws)),
            low=low,
            high=high,
            recall=recall,
            probability=self._probability(positions, n_read, allowed),
            confidence=confidence,
            more_reading=self._more_reading(
                positions, n_read, allowed, sorted({*CONFIDENCES, confidence})
            ),
            safe_reading=safe_reading(
                np.asarray(judgements, dtype=bool),
                self.n_documents,
                missing=allowed + 1,
                confidence=confidence,
            ),
            weak_order=weak,
            caveat=_caveat(finds, weak, self.n_documents - n_read, high - low),
        )

    def log_evidence(self, positions: IntArray) -> FloatArray:
        """Compute the log likelihood of each tail, given all relevant ranks of a review."""
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
        of_tails = self._tail_sums[self._width_of_tail, n_read][:, np.newaxis]
        read = (1.0 - self._tails) * ranked + self._tails * of_tails
        shares: FloatArray = np.minimum((read + self._sampled) / (1.0 + self._sampled), 1.0)
        return shares

    def _log_rates(self, positions: IntArray) -> FloatArray:
        """Compute log prod s(t_i), tails x shapes."""
        before = np.where(positions > 0, self._sums[:, positions - 1], 0.0)
        rates = self._sums[:, positions] - before
        of_widths = self._tail_sums[:, positions + 1] - self._tail_sums[:, positions]
        logs = np.empty((len(self._tails), len(rates)))
        for row, (share, width) in enumerate(
            zip(self._tails, self._width_of_tail, strict=True)
        ):
            logs[row] = np.log((1.0 - share) * rates + share * of_widths[width]).sum(axis=1)
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


def learn_tails(
    pools: Sequence[tuple[Sequence[int] | IntArray, int]], tails: Mapping[Tail, float] = TAILS
) -> dict[Tail, float]:
    """Learn how often pools have each tail: the weights of highest evidence, by EM.

    Parameters
    ----------
    pools : for each the places (from 1) of its relevant documents, and how many documents it has
    tails : to choose among; their probabilities are not used

    Examples
    --------
    >>> early = list(range(1, 40))
    >>> late = [*early, 300, 500, 700, 900]
    >>> tails = {(0.01, 0.1): 0.5, (0.1, math.inf): 0.5}
    >>> [round(weight, 2) for weight in learn_tails([(early, 1000), (late, 1000)], tails).values()]
    [0.49, 0.51]
    """
    even = dict.fromkeys(tails, 1.0)
    evidence = []
    for places, n_documents in pools:
        per_rank = max(1.0, n_documents / _LEARNING_GRID)
        ranks = ((np.asarray(places) - 1) / per_rank).astype(np.int64) + 1
        decay = RankDecay(int(n_documents / per_rank), tails=even)
        evidence.append(decay.log_evidence(ranks))
    logs = np.array(evidence)
    weights = np.full(len(even), 1.0 / len(even))
    for _ in range(_LEARNING_STEPS):
        shares = np.exp(logs - logs.max(axis=1, keepdims=True)) * weights
        shares /= shares.sum(axis=1, keepdims=True)
        # As if one further pool had every tail alike, so that none is excluded.
        weights = (shares.sum(axis=0) + 1.0 / len(even)) / (len(logs) + 1.0)
    return dict(zip(even, weights.tolist(), strict=True))


def _shapes(n_documents: int) -> tuple[FloatArray, ...]:
    """Compute the rates at all ranks, shapes x ranks, of each family."""
    u = np.arange(n_documents) / n_documents
    powers = [np.exp(-b * np.log1p(u / c)) for c in _SCALES for b in _EXPONENTS]
    exponentials = [np.exp(-((u / c) ** d)) for c in _WIDTHS for d in _STEEPNESSES]
    rising = [(u + 1.0 / n_documents) ** p for p in _RISES]
    return (
        np.array(powers),
        np.array(exponentials),
        np.ones((1, n_documents)),
        np.array(rising),
    )


def _caveat(n_found: int, weak: float, n_unseen: int, width: int) -> str:
    if not n_unseen:
        return ""
    if n_found < LEAST_FOUND:
        return f"too early, {n_found} of {LEAST_FOUND} relevant records found"
    if weak > _WEAK_ORDER_PROBABILITY:
        return "relevant records do not become rarer; the order may be no better than random"
    if width > max(_WIDE_SHARE * n_unseen, _WIDE_NUMBER):
        return "too early, most of what is unread may be relevant"
    return ""
