"""When to ask about a document that is not thought relevant, and what to learn again.

Chai, Ng & Chieu's strategies (2002, section 4.2), written as they write them: "plain", "+rel", "+ig", "+rel+ig" and
"+rnd".
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from bayesift.errors import DataError
from bayesift.models.online import FlipNoise
from bayesift.models.online.likelihoods import GAINS, Gain

Array = np.ndarray[Any, Any]
Query = Literal["gain", "random"]
_PARTS: dict[str, dict[str, Any]] = {"rel": {"retrain": True}, "ig": {"query": "gain"}, "rnd": {"query": "random"}}
_FURTHEST = 10.0  # mean over standard deviation from which no label tells anything
_GRID = 2001


@dataclass(frozen=True, slots=True)
class Strategy:
    """What a profile does besides retrieving what it thinks relevant.

    Parameters
    ----------
    retrain : learn a past relevant document again with every irrelevant one (+rel)
    query : None; "gain" retrieves what would teach enough (+ig); "random" draws documents by lot (+rnd)
    target : how many documents the schedule of queries aims at
    gain : the information gain of "gain": "paper" is the formula the schedule was made for, "exact" the
        Kullback-Leibler distance, which asks more often under it; "gaussian" that of the normal posteriors
    steepness, highest, lowest : of the schedule theta(n), see `theta`
    stream_length : how many documents "random" expects
    half_life : None takes past relevant documents in turn; a number draws them by lot, one that is so many relevant
        documents older half as often, for topics that drift
    seed : of everything that is drawn by lot

    Examples
    --------
    >>> Strategy.of("+rel+ig").retrain, Strategy.of("+rel+ig").query, Strategy.of("plain").query
    (True, 'gain', None)
    >>> str(Strategy.of("+rnd"))
    '+rnd'
    """

    retrain: bool = False
    query: Query | None = None
    target: int = 50
    gain: Gain = "paper"
    steepness: float = 10.0
    highest: float = 1.0
    lowest: float = 0.001
    stream_length: int = 293_856
    half_life: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.query not in (None, "gain", "random"):
            raise ValueError(f"query must be None, 'gain' or 'random', got {self.query!r}")
        if self.gain not in GAINS:
            raise ValueError(f"no information gain {self.gain!r}; there are: {', '.join(GAINS)}")
        if not (self.target >= 1 and self.stream_length >= 1 and self.steepness > 0):
            raise ValueError("target, stream_length and steepness must be above 0")
        if not 0 < self.lowest <= self.highest < math.inf:
            raise ValueError(f"theta must rise from above 0, got {self.lowest!r} to {self.highest!r}")
        if self.half_life is not None and not 0 < self.half_life < math.inf:
            raise ValueError(f"half_life must be above 0, got {self.half_life!r}")

    @classmethod
    def of(cls, name: str, **options: Any) -> Strategy:
        """The strategy that is written so, such as "+rel+ig"."""
        parts: dict[str, Any] = {}
        for part in [] if name in ("", "plain") else name.removeprefix("plain").removeprefix("+").split("+"):
            if part not in _PARTS or _PARTS[part].keys() & parts:
                raise ValueError(f"no strategy {name!r}; there are: plain, +rel, +ig, +rel+ig, +rnd, +rel+rnd")
            parts |= _PARTS[part]
        return cls(**{**parts, **options})

    def __str__(self) -> str:
        asked = {None: "", "gain": "+ig", "random": "+rnd"}[self.query]
        return ("+rel" if self.retrain else "") + asked or "plain"

    def theta(self, n_retrieved: int) -> float:
        """The expected information gain, in bits, from which a document is asked about.

            theta(n) = (highest - lowest) / (1 + exp(-(n - target) / steepness)) + lowest

        Examples
        --------
        >>> [round(Strategy(query="gain").theta(n), 4) for n in (0, 50, 100)]
        [0.0077, 0.5005, 0.9933]
        """
        exponent = min((self.target - n_retrieved) / self.steepness, 700.0)
        return (self.highest - self.lowest) / (1 + math.exp(exponent)) + self.lowest

    def rate(self, n_retrieved: int) -> float:
        """The probability with which a document is drawn by lot.

        Examples
        --------
        >>> Strategy(query="random", stream_length=100).rate(30)
        0.2
        """
        return max(self.target - n_retrieved, 0) / self.stream_length if self.query == "random" else 0.0

    def describe(self) -> dict[str, Any]:
        """The strategy as JSON can hold it."""
        return asdict(self)

    @classmethod
    def described(cls, description: dict[str, Any]) -> Strategy:
        """The inverse of `describe`; refuses what is no strategy."""
        try:
            return cls(**description)
        except (TypeError, ValueError) as error:
            raise DataError(f"not a strategy: {error}") from error


def lot(seed: int, *names: object) -> float:
    """A number from 0 to 1 that only depends on the seed and the names: the same in every run, in any order.

    Examples
    --------
    >>> lot(0, "grain", "17") == lot(0, "grain", "17"), lot(0, "grain", "17") == lot(1, "grain", "17")
    (True, False)
    """
    key = "\x1f".join(map(str, (seed, *names))).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big") / 2**64


def query_reach(kappa: float, gain: Gain, theta: float) -> float:
    """No document with |mean| above this many standard deviations has an expected gain of theta; -1 if none has.

    With flip noise the gain is a function of mean / standard deviation that falls from 0 on while it is above 0.

    Examples
    --------
    >>> round(query_reach(0.1, "paper", 0.0077), 2), query_reach(0.1, "paper", 0.5)
    (1.53, -1.0)
    """
    gains = _gains_on_grid(kappa, gain)
    enough = np.flatnonzero(gains >= theta)
    if not len(enough):
        return -1.0
    last = int(enough[-1])
    return math.inf if last == _GRID - 1 else (last + 1) * _FURTHEST / (_GRID - 1)


@cache
def _gains_on_grid(kappa: float, gain: Gain) -> Array:
    means = np.linspace(0, _FURTHEST, _GRID)
    return FlipNoise(kappa).expected_information_gain(means, 1.0, kind=gain)
