"""Compare rules that say when to stop reading a ranked pool.

A rule is given whether each document is relevant, in the order of reading, and says where it stops.
It looks only at what is read by then; `seed` draws the random samples of the rules that need one.
Each docstring has the statement that a rule makes, what it assumes, and what it costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol

import numpy as np
from scipy.optimize import minimize
from scipy.stats import binom, norm, poisson

from bayesift.arrays import BoolArray, FloatArray, IntArray
from bayesift.screening.stopping.finds import LEAST_FOUND, FindsForecast
from bayesift.screening.stopping.remaining import RemainingRelevant, allowed_missing
from bayesift.screening.stopping.sampling import SampleCheck, run_p_value

_DOCUMENTS_PER_LOOK = 10  # documents between two looks of a rule


@dataclass(frozen=True)
class StopPoint:
    """Where a rule stops: documents read without the start, recall reached with the start."""

    n_read: int
    recall: float


class StoppingRule(Protocol):
    """Anything that says where to stop."""

    def stop(self, hits: BoolArray, *, found_before: int = 1, seed: int = 0) -> StopPoint:
        """Find where the rule ends a review of these documents, in the order of reading."""


@dataclass(frozen=True)
class FindsRule:
    """Stop when the recall is reached with the wanted probability, by `FindsForecast`.

    Statement: with the confidence 0.95 the recall is reached in 95% of the pools that are like the
    made ones it was learned on; none before five relevant documents, the start included. Assumes
    that what is left shows in when the others came. Costs no reading of its own.

    Examples
    --------
    >>> hits = np.array([True] * 40 + [False] * 960)
    >>> FindsRule().stop(hits).recall
    1.0
    """

    recall: float = 0.95
    confidence: float = 0.95
    every: int = _DOCUMENTS_PER_LOOK
    weights: Mapping[str, float] | None = None

    def stop(self, hits: BoolArray, *, found_before: int = 1, seed: int = 0) -> StopPoint:
        """Find where the rule ends a review."""
        forecast = FindsForecast(max(1, len(hits)), weights=self.weights)

        def sure(n: int, found: int) -> bool:
            if found + found_before < LEAST_FOUND:
                return False
            chance = forecast.probability_of_recall(
                hits[:n], self.recall, found_before=found_before
            )
            return chance >= self.confidence

        return _first(hits, found_before, self.every, sure)


@dataclass(frozen=True)
class SampleRule:
    """Read in ranked order until the recall has the chance `switch`, then at random to a proof.

    Statement: recall >= r with this confidence, whatever the ranking is worth and however often one
    looks (`SampleCheck`). Assumes that the sample is random and judged rightly. Costs most of the
    unseen documents where few are relevant: to exclude a single one takes 95% of them.
    """

    recall: float = 0.95
    confidence: float = 0.95
    switch: float = 0.5
    every: int = _DOCUMENTS_PER_LOOK

    def stop(self, hits: BoolArray, *, found_before: int = 1, seed: int = 0) -> StopPoint:
        """Find where the rule ends a review."""
        forecast = FindsForecast(max(1, len(hits)))
        for n, found in _looks(hits, self.every):
            if (
                forecast.probability_of_recall(hits[:n], self.recall, found_before=found_before)
                >= self.switch
            ):
                expected = forecast.remaining(hits[:n], found_before=found_before)
                check = _sampled(hits[n:], expected, self.recall, self.confidence, seed)
                return _point(hits, found_before, n + check.n_drawn, found + check.n_hits)
        return _point(hits, found_before, len(hits))


@dataclass(frozen=True)
class CallaghanMuellerHansen:
    """Stop when a run of documents read last, taken for a random sample, shows the recall.

    Callaghan & Müller-Hansen (2020), with ranked reading instead of their final random sample: the
    smallest hypergeometric p-value over all beginnings of the run. Statement: recall >= r with this
    confidence at one look, for one run. Assumes that the ranking is at least as good as chance.
    The many looks and runs are not accounted for; `corrected` divides the level among looks and
    runs (alpha 6 / (pi^2 j^2) for the j-th look, equally over its runs). Costs much reading,
    because relevant documents come sooner in ranked order than at random.
    """

    recall: float = 0.95
    confidence: float = 0.95
    corrected: bool = False
    every: int = _DOCUMENTS_PER_LOOK

    def stop(self, hits: BoolArray, *, found_before: int = 1, seed: int = 0) -> StopPoint:
        """Find where the rule ends a review."""
        counts = np.concatenate([[0], np.cumsum(hits)])

        def rejected(n: int, found: int) -> bool:
            look = n // self.every
            level = 1.0 - self.confidence
            if self.corrected:
                level *= 6.0 / (math.pi * look) ** 2 / look
            missing = allowed_missing(found + found_before, self.recall) + 1
            p = run_p_value(
                counts[: n + 1],
                n_read=n,
                n_documents=len(hits),
                missing=missing,
                every=self.every,
            )
            return p <= level

        return _first(hits, found_before, self.every, rejected)


@dataclass(frozen=True)
class PointProcess:
    """Stop when an inhomogeneous Poisson process expects the recall to be reached.

    Stevenson & Bin-Hezam (2023), rates a t^-b ("power", IP-P) or a / (1 + b t) ("hyperbolic",
    IP-H), fitted here by maximum likelihood instead of least squares. Statement: recall >= r
    unless more are left than the Poisson quantile at this confidence, for the rate that fits best;
    its own uncertainty is left out. Assumes that rate. Costs nothing.
    """

    rate: Literal["power", "hyperbolic"] = "power"
    recall: float = 0.95
    confidence: float = 0.95
    every: int = _DOCUMENTS_PER_LOOK

    def stop(self, hits: BoolArray, *, found_before: int = 1, seed: int = 0) -> StopPoint:
        """Find where the rule ends a review."""
        t = np.arange(1.0, len(hits) + 1.0)
        start = [0.0]

        def reached(n: int, found: int) -> bool:
            if not found:
                return False
            ranks = np.flatnonzero(hits[:n])

            def misfit(parameter: FloatArray) -> float:
                fitted = self._log_rate(parameter[0], t)
                return float(found * np.log(np.exp(fitted[:n]).sum()) - fitted[ranks].sum())

            start[0] = float(
                minimize(
                    misfit, start, method="Nelder-Mead", options={"xatol": 1e-2, "fatol": 1e-3}
                ).x[0]
            )
            rates = np.exp(self._log_rate(start[0], t))
            left = poisson.ppf(self.confidence, found * rates[n:].sum() / rates[:n].sum())
            return bool(left <= allowed_missing(found + found_before, self.recall))

        return _first(hits, found_before, self.every, reached)

    def _log_rate(self, parameter: float, t: FloatArray) -> FloatArray:
        rates: FloatArray
        if self.rate == "power":
            rates = -math.exp(min(parameter, 3.0)) * np.log(t)
        else:
            rates = -np.log1p(math.exp(min(parameter, 30.0)) * t)
        return rates


@dataclass(frozen=True)
class QuantileBinomial:
    """Stop when enough of a random sample of relevant documents is found by the ranking (QBCB).

    Lewis, Yang & Frieder (2021): documents are read at random until `n_positive` relevant ones are
    known; the ranked reading stops at the j-th of these, the smallest j with P(Binomial(n_positive,
    r) < j) >= confidence. Statement: recall >= r with this confidence. Assumes a random sample.
    Costs the sample, which is the whole pool unless relevant documents are many: 95% recall with
    95% confidence takes 59 of them or more.
    """

    recall: float = 0.95
    confidence: float = 0.95
    n_positive: int = 59

    def stop(self, hits: BoolArray, *, found_before: int = 1, seed: int = 0) -> StopPoint:
        """Find where the rule ends a review."""
        drawn = np.random.default_rng(seed).permutation(len(hits))
        known = np.flatnonzero(hits[drawn])
        wanted = int(binom.ppf(self.confidence, self.n_positive, self.recall)) + 1
        while binom.cdf(wanted - 2, self.n_positive, self.recall) >= self.confidence:
            wanted -= 1
        if len(known) < self.n_positive or wanted > self.n_positive:
            return _point(hits, found_before, len(hits))
        sample = drawn[: known[self.n_positive - 1] + 1]
        last = np.sort(sample[hits[sample]])[wanted - 1]
        read = np.zeros(len(hits), dtype=bool)
        read[sample] = read[: last + 1] = True
        return _point(hits, found_before, int(read.sum()), int(hits[read].sum()))


@dataclass(frozen=True)
class Safe:
    """Stop when several signs come together (SAFE).

    Boetje & van de Schoot (2024): a random sample of 1% estimates the number of relevant documents;
    then ranked reading until a tenth of the pool and twice the estimated number are read, and 50 in
    a row were irrelevant. Their later phases (another model, key papers) need people. Statement:
    none, a heuristic. Assumes that a long run without finds means that little is left. Costs
    little.
    """

    in_a_row: int = 50

    def stop(self, hits: BoolArray, *, found_before: int = 1, seed: int = 0) -> StopPoint:
        """Find where the rule ends a review."""
        n = len(hits)
        sample = np.random.default_rng(seed).permutation(n)[: max(n // 100, 1)]
        sought = 2.0 * hits[sample].mean() * n
        ranks = np.arange(1, n + 1)
        stops = (_since_relevant(hits) >= self.in_a_row) & (ranks >= n / 10) & (ranks >= sought)
        read = np.zeros(n, dtype=bool)
        read[sample] = True
        read[: int(np.argmax(stops)) + 1 if stops.any() else n] = True
        return _point(hits, found_before, int(read.sum()), int(hits[read].sum()))


@dataclass(frozen=True)
class InARow:
    """Stop after so many irrelevant documents in a row.

    Statement: none. Assumes that gaps between finds are short. Costs n documents after the last
    find.
    """

    n: int = 50

    def stop(self, hits: BoolArray, *, found_before: int = 1, seed: int = 0) -> StopPoint:
        """Find where the rule ends a review."""
        enough = np.flatnonzero(_since_relevant(hits) >= self.n)
        return _point(hits, found_before, int(enough[0]) + 1 if len(enough) else len(hits))


@dataclass(frozen=True)
class Knee:
    """Stop behind the knee of the recall curve.

    Cormack & Grossman (2016): where the slope up to some rank, over the slope after it, is at
    least 156 - min(relevant, 150). Statement: high recall with high probability, as measured by its
    authors on collections with many relevant documents. Assumes that the curve has a knee. Costs
    about as much again as was read up to it.
    """

    every: int = _DOCUMENTS_PER_LOOK

    def stop(self, hits: BoolArray, *, found_before: int = 1, seed: int = 0) -> StopPoint:
        """Find where the rule ends a review."""
        counts = np.cumsum(hits)

        def bent(n: int, found: int) -> bool:
            i = np.arange(1, n)
            slopes = (counts[i - 1] / i) / ((1.0 + found - counts[i - 1]) / (n - i))
            return bool(slopes.max(initial=0.0) >= 156 - min(found, 150))

        return _first(hits, found_before, self.every, bent)


@dataclass(frozen=True, eq=False)
class Chao:
    """Stop when several rankers have found the same documents, so that few can have escaped all.

    Bron et al. (2024) after Chao (1987): rankers read the pool on their own, in turn, and a
    document is judged once. When f1 of the relevant documents were found by one ranker only and f2
    by two, f1 (f1 - 1) / (2 (f2 + 1)) are left; the rule stops when the upper limit of this
    (log-normal) is few enough, from ten finds on. Statement: recall >= r with this confidence, if
    rankers find documents independently. Rankers of one pool do not, so that too little is
    expected. Costs the documents that any of the rankers reads.

    Parameters
    ----------
    orders : of each ranker, the documents as places (from 0) in `hits`

    Examples
    --------
    >>> hits = np.array([True] * 30 + [False] * 70)
    >>> Chao([np.arange(100), np.roll(np.arange(100), 20)]).stop(hits, found_before=0)
    StopPoint(n_read=70, recall=1.0)
    """

    orders: Sequence[IntArray]
    recall: float = 0.95
    confidence: float = 0.95
    every: int = _DOCUMENTS_PER_LOOK

    def stop(self, hits: BoolArray, *, found_before: int = 1, seed: int = 0) -> StopPoint:
        """Find where the rule ends a review."""
        n = len(hits)
        if len(self.orders) < 2 or any(
            not np.array_equal(np.sort(order), np.arange(n)) for order in self.orders
        ):
            raise ValueError(f"two rankers or more must each order all {n} documents")
        times = np.argsort(np.array(self.orders), axis=1)
        for turn in range(self.every, n, self.every):
            rankers = np.sum(times < turn, axis=0)
            n_read = int(np.count_nonzero(rankers))
            found = int(hits[rankers > 0].sum())
            by_one, by_two = (int(hits[rankers == number].sum()) for number in (1, 2))
            allowed = allowed_missing(found + found_before, self.recall)
            enough = found + found_before >= LEAST_FOUND and found > by_one
            if enough and chao_limit(by_one, by_two, self.confidence) < allowed + 1:
                return _point(hits, found_before, n_read, found)
        return _point(hits, found_before, n)


def chao_limit(by_one: int, by_two: int, confidence: float) -> float:
    """Bound how many escaped when so many were found by one and two: Chao (1987), log-normal.

    Examples
    --------
    >>> round(chao_limit(4, 10, 0.95), 2), chao_limit(0, 10, 0.95)
    (3.96, 0.0)
    """
    left = by_one * (by_one - 1) / (2.0 * (by_two + 1))
    variance = left + by_one * (2 * by_one - 1) ** 2 / (4.0 * (by_two + 1) ** 2)
    variance += by_one**2 * by_two * (by_one - 1) ** 2 / (4.0 * (by_two + 1) ** 4)
    z = float(norm.ppf(confidence))
    if not left:
        return z * math.sqrt(variance)
    return left * math.exp(z * math.sqrt(math.log1p(variance / left**2)))


STOPPING_RULES: Mapping[str, StoppingRule] = MappingProxyType(
    {
        "finds": FindsRule(),
        "sample check": SampleRule(),
        "Callaghan & Müller-Hansen": CallaghanMuellerHansen(),
        "the same, corrected": CallaghanMuellerHansen(corrected=True),
        "IP-P": PointProcess("power"),
        "IP-H": PointProcess("hyperbolic"),
        "QBCB": QuantileBinomial(),
        "SAFE": Safe(),
        "50 in a row": InARow(),
        "knee": Knee(),
    }
)


def _since_relevant(hits: BoolArray) -> IntArray:
    """Count irrelevant documents read in a row, at every rank."""
    ranks = np.arange(1, len(hits) + 1)
    since: IntArray = ranks - np.maximum.accumulate(np.where(hits, ranks, 0))
    return since


def _looks(hits: BoolArray, every: int) -> Iterator[tuple[int, int]]:
    """Count documents read and relevant ones, at every look before the last document."""
    counts = np.cumsum(hits)
    for n in range(every, len(hits), every):
        yield n, int(counts[n - 1])


def _first(
    hits: BoolArray, found_before: int, every: int, stops: Callable[[int, int], bool]
) -> StopPoint:
    """Find the first look at which a rule stops, else the last document."""
    n = next((n for n, found in _looks(hits, every) if stops(n, found)), len(hits))
    return _point(hits, found_before, n)


def _point(
    hits: BoolArray, found_before: int, n_read: int, found: int | None = None
) -> StopPoint:
    reached = int(hits[:n_read].sum()) if found is None else found
    total = found_before + int(hits.sum())
    return StopPoint(n_read, (found_before + reached) / total if total else 1.0)


def _sampled(
    unseen: BoolArray, expected: RemainingRelevant, recall: float, confidence: float, seed: int
) -> SampleCheck:
    """Finish a check when the unseen documents are read in random order."""
    check = SampleCheck(
        n_unseen=len(unseen), n_found=expected.n_found, expected=expected, confidence=confidence
    )
    for relevant in np.random.default_rng(seed).permutation(unseen):
        if check.reaches(recall):
            break
        check.draw(relevant=bool(relevant))
    return check
