"""Estimate how many relevant documents are left, from when the others were found."""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

import numpy as np
from scipy.special import bdtr as binom_cdf
from scipy.special import expit

from bayesift.arrays import BoolArray, FloatArray, IntArray
from bayesift.screening.stopping.remaining import (
    RemainingRelevant,
    allowed_missing,
    check_share,
)
from bayesift.screening.stopping.sampling import safe_reading

LEAST_FOUND = 5  # relevant documents, the start included, from which on an estimate is shown
CONFIDENCES = (0.5, 0.8, 0.9, 0.95, 0.99)
# Shares of the reading, the last ones read, in which finds are counted.
_WINDOWS = (0.1, 0.2, 0.5, 1.0)
_PROMISING = (0.2, 0.5)  # of these shares, whose rates are taken to go on
_RUNS = 100  # of documents read last that are compared with a random sample
_LEAST_LOG_P = -12.0
_FIRST_FIND = 0.3  # added to finds before logarithms
_INTERVAL = 0.95
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
        >>> estimate = FindsForecast(500).estimate([True] * 15 + [False] * 235)
        >>> print(estimate)  # doctest: +NORMALIZE_WHITESPACE
        0 relevant left (0 to 2), 95% recall with probability 0.89; 95% sure after 108 more without
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
class Moment:
    """A moment of a review: how many documents there are and were read, and where those found lie.

    Parameters
    ----------
    n_documents : to read in all
    n_read : of them
    finds : the places (from 0) of the relevant ones among those read
    """

    n_documents: int
    n_read: int
    finds: IntArray

    @property
    def n_unread(self) -> int:
        """How many documents are not read."""
        return self.n_documents - self.n_read

    @cached_property
    def features(self) -> dict[str, float]:
        """What is known of the moment, whatever number is asked about."""
        n = self.n_read
        found = len(self.finds) + 1.0
        since = n - 1.0 - self.finds[-1]
        known = {
            "log of documents": math.log(self.n_documents),
            "share read": n / self.n_documents,
            "log of relevant found": math.log(found),
            "log of reading since the last find": math.log1p(since),
            "that as a share of the reading": since / n,
        }
        for share, rate in self._rates.items():
            known[f"log rate found in the last {share:.0%}"] = math.log(rate)
        return known

    def features_of(self, numbers: IntArray) -> dict[str, FloatArray]:
        """Return what speaks for it that at most so many are left, and grows with the number."""
        most = numbers + 0.5
        rates = self._rates
        asked = {
            "log of the number": np.log(most),
            "surprise of the run since the last find": self._since_surprise(numbers),
            "surprise of the run of least probability": self._surprise(numbers),
        }
        for share in _PROMISING:
            expected = rates[share] * self.n_unread + 0.2
            asked[f"log of the number over what the last {share:.0%} promise"] = np.log(
                most / expected
            )
        return asked

    @cached_property
    def _rates(self) -> dict[float, float]:
        rates = {}
        for share in _WINDOWS:
            width = max(1.0, share * self.n_read)
            count = np.count_nonzero(self.finds >= self.n_read - width)
            rates[share] = float((count + _FIRST_FIND) / (width + 1.0))
        return rates

    def _since_surprise(self, numbers: IntArray) -> FloatArray:
        """Return -log p of no find since the last, if one more than the number were left."""
        since = self.n_read - 1.0 - self.finds[-1]
        missed = math.log1p(-since / (self.n_unread + since)) if self.n_unread else -np.inf
        surprise: FloatArray = -np.maximum((numbers + 1.0) * missed, _LEAST_LOG_P)
        return surprise

    def _surprise(self, numbers: IntArray) -> FloatArray:
        """Return the largest -log p over runs read last, taken for random samples.

        The p-value is that of so few relevant ones in the run if one more than the number were
        left.
        """
        begins = np.arange(0, self.n_read, max(10, self.n_read // _RUNS))
        hits = len(self.finds) - np.searchsorted(self.finds, begins)[:, np.newaxis]
        drawn = (self.n_read - begins) / (self.n_documents - begins)
        p = binom_cdf(hits, hits + numbers + 1, drawn[:, np.newaxis])
        surprise: FloatArray = -np.log(np.maximum(p.min(axis=0), math.exp(_LEAST_LOG_P)))
        return surprise


@cache
def learned() -> Mapping[str, float]:
    """Return the weight of every feature, and of "intercept", learned on made pools.

    The table is written by `python -m benchmarks.finds learn`.
    """
    table = files("bayesift.screening.stopping").joinpath("finds.json").read_text("utf-8")
    weights: dict[str, float] = json.loads(table)["weights"]
    return weights


class FindsForecast:
    """A forecast of the relevant documents still unread in a ranked pool, by when others came.

    The probability that at most m are left is logistic in features of the moment and of m
    (`Moment`): how much was read, how often relevant documents came in the last part of the
    reading and how long none did, and how improbable that would be if more than m were left:

        P(left <= m | reading) = psi(b + w' features(moment) + v' features(moment, m)),   v >= 0

    so that it grows with m, and one model gives the interval of what is left and the probability
    of any recall. b, w and v were learned on hundreds of made pools, read in the order of the
    ranking, in part shuffled (docs/explanation/screening.md). Statement: a probability, right on
    average over pools like these. It costs no reading but that it asks for.

    Parameters
    ----------
    n_documents : to read in all, those the review started from left out
    weights : by name of feature; by default those learned

    Examples
    --------
    >>> forecast = FindsForecast(1000)
    >>> forecast.probability_of_recall([True] * 20 + [False] * 580, 0.95, found_before=1) > 0.9
    True
    >>> steady = ([True] + [False] * 14) * 20
    >>> forecast.probability_of_recall(steady, 0.95, found_before=1) < 0.2
    True
    """

    def __init__(self, n_documents: int, *, weights: Mapping[str, float] | None = None) -> None:
        if n_documents < 1:
            raise ValueError(f"n_documents must be at least 1, got {n_documents}")
        self.n_documents = n_documents
        self._weights = learned() if weights is None else weights

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
        moment = self._moment(judgements)
        shares = (np.arange(draws) + 0.5) / draws
        chances = self._chances(moment, np.arange(moment.n_unread + 1))
        numbers = np.searchsorted(chances, shares)
        return RemainingRelevant(numbers, found_before + len(moment.finds))

    def probability_of_recall(
        self, judgements: Sequence[bool] | BoolArray, recall: float, *, found_before: int = 0
    ) -> float:
        """Compute the probability that this share of all relevant documents is found.

        It is 0 before the first is found.
        """
        moment = self._moment(judgements)
        return self._chance(moment, allowed_missing(found_before + len(moment.finds), recall))

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
        >>> estimate = FindsForecast(500).estimate([True] * 15 + [False] * 135, recall=0.9)
        >>> estimate.stop, estimate.low, estimate.n_unseen
        (False, 0, 350)
        """
        check_share("confidence", confidence)
        moment = self._moment(judgements)
        n_found = found_before + len(moment.finds)
        allowed = allowed_missing(n_found, recall)
        low, median, high = (
            self._quantile(moment, share)
            for share in ((1.0 - _INTERVAL) / 2.0, 0.5, (1.0 + _INTERVAL) / 2.0)
        )
        # The weights were learned on reviews that began with one relevant document.
        finds = min(len(moment.finds) + 1, n_found)
        return StoppingEstimate(
            n_found=n_found,
            n_unseen=moment.n_unread,
            median=median,
            low=low,
            high=high,
            recall=recall,
            probability=self._chance(moment, allowed),
            confidence=confidence,
            more_reading=self._more_reading(moment, allowed, confidence),
            safe_reading=safe_reading(
                np.asarray(judgements, dtype=bool),
                self.n_documents,
                missing=allowed + 1,
                confidence=confidence,
            ),
            caveat=_caveat(finds, moment.n_unread, high - low),
        )

    def _moment(self, judgements: Sequence[bool] | BoolArray) -> Moment:
        if len(judgements) > self.n_documents:
            raise ValueError(f"{len(judgements)} judgements of {self.n_documents} documents")
        finds = np.flatnonzero(np.asarray(judgements, dtype=bool))
        return Moment(self.n_documents, len(judgements), finds)

    def _chances(self, moment: Moment, numbers: IntArray) -> FloatArray:
        """Compute the probabilities that at most so many are left."""
        sure = numbers >= moment.n_unread
        if not len(moment.finds) or sure.all():
            return sure.astype(np.float64)
        scores = np.full(len(numbers), self._weights["intercept"])
        for name, known in moment.features.items():
            scores += self._weights[name] * known
        for name, asked in moment.features_of(numbers).items():
            scores += self._weights[name] * asked
        return np.where(sure, 1.0, expit(scores))

    def _chance(self, moment: Moment, number: int) -> float:
        return float(self._chances(moment, np.array([number]))[0])

    def _quantile(self, moment: Moment, share: float) -> int:
        return bisect_left(
            range(moment.n_unread), share, key=lambda number: self._chance(moment, number)
        )

    def _more_reading(
        self, moment: Moment, allowed: int, confidence: float
    ) -> dict[float, int]:
        """Count further irrelevant documents needed for each probability, the lowest first."""
        most = max(moment.n_read, self.n_documents - allowed)

        @cache
        def probability(n: int) -> float:
            return self._chance(Moment(self.n_documents, n, moment.finds), allowed)

        more = {}
        low = moment.n_read
        for sure in sorted({*CONFIDENCES, confidence}):
            if low < most:
                low = bisect_left(range(most), sure, lo=low, key=probability)
            more[sure] = low - moment.n_read
        return more


def _caveat(n_found: int, n_unread: int, width: int) -> str:
    if not n_unread:
        return ""
    if n_found < LEAST_FOUND:
        return f"too early, {n_found} of {LEAST_FOUND} relevant records found"
    if width > max(_WIDE_SHARE * n_unread, _WIDE_NUMBER):
        return "too early, most of what is unread may be relevant"
    return ""
