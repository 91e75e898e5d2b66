"""Decide what a profile retrieves: the goal sets the threshold, the strategy the queries.

The strategies are those of Chai, Ng & Chieu (2002, section 4.2), in their notation: "plain",
"+rel", "+ig", "+rel+ig" and "+rnd". "+roi" is their suggestion for further work: information gain
in a region of interest (MacKay 1992).
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np

from bayesift.arrays import FloatArray
from bayesift.models.online import FlipNoise
from bayesift.models.online.likelihoods import GAINS, Gain
from bayesift.state import storable
from bayesift.thresholds import PrecisionTarget, RecallTarget, Utility

Query = Literal["gain", "region", "random"]
_QUERIES: dict[str, Query] = {"ig": "gain", "roi": "region", "rnd": "random"}
_PARTS: dict[str, dict[str, Any]] = {
    "rel": {"retrain": True},
    **{k: {"query": v} for k, v in _QUERIES.items()},
}
_MAX_RATIO = 10.0  # mean over standard deviation above which no label is informative
_GRID_SIZE = 2001
# Of theta for +roi: a label tells less about other documents than about its own; chosen on RCV1.
_REGION_SCALE = 0.03
_GRID_LOCK = threading.Lock()


@storable("strategy")
@dataclass(frozen=True, slots=True)
class Strategy:
    """What a profile does besides retrieving documents that are probably relevant.

    Parameters
    ----------
    retrain : learn a past relevant document again with every irrelevant one (+rel)
    query : None; "gain" also retrieves documents whose label is expected to be informative (+ig);
        "region" those whose label is expected to tell about the decisions on documents to come, for
        which the last relevant ones stand (+roi); "random" documents drawn at random (+rnd)
    target : number of documents that the query schedule aims at
    gain : formula of the information gain: "paper" is the one that the schedule was made for,
        "exact" the Kullback-Leibler distance, which queries more often, "gaussian" that of the
        normal posteriors; +roi is always exact
    steepness, highest, lowest : of the schedule theta(n), see `theta`
    stream_length : expected length of the stream, for "random"
    half_life : None uses past relevant documents in turn; a number draws them at random, one that
        is so many relevant documents older half as often, for topics that drift
    seed : of all random draws

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
        if self.query not in (None, *_QUERIES.values()):
            raise ValueError(
                f"query must be None, 'gain', 'region' or 'random', got {self.query!r}"
            )
        if self.gain not in GAINS:
            raise ValueError(
                f"no information gain {self.gain!r}; there are: {', '.join(GAINS)}"
            )
        if not (self.target >= 1 and self.stream_length >= 1 and self.steepness > 0):
            raise ValueError("target, stream_length and steepness must be positive")
        if not 0 < self.lowest <= self.highest < math.inf:
            raise ValueError(
                f"theta must rise from above 0, got {self.lowest!r} to {self.highest!r}"
            )
        if self.half_life is not None and not 0 < self.half_life < math.inf:
            raise ValueError(f"half_life must be positive, got {self.half_life!r}")

    @classmethod
    def of(cls, name: str, **options: Any) -> Strategy:
        """Make the strategy of a name such as "+rel+ig"."""
        parts: dict[str, Any] = {}
        for part in (
            []
            if name in ("", "plain")
            else name.removeprefix("plain").removeprefix("+").split("+")
        ):
            if part not in _PARTS or _PARTS[part].keys() & parts:
                raise ValueError(
                    f"no strategy {name!r}; there are: plain, +rel, +ig, +roi, +rnd, and +rel "
                    "with each"
                )
            parts |= _PARTS[part]
        return cls(**{**parts, **options})

    def __str__(self) -> str:
        query = "".join(f"+{name}" for name, query in _QUERIES.items() if query == self.query)
        return ("+rel" if self.retrain else "") + query or "plain"

    @property
    def gain_used(self) -> Gain:
        """The formula of the information gain.

        The gain about a region is never above the exact one.
        """
        if self.query == "region":
            return "exact"
        return self.gain

    def theta(self, n_retrieved: int) -> float:
        """Return the expected information gain, in bits, above which a document is queried.

            theta(n) = (highest - lowest) / (1 + exp(-(n - target) / steepness)) + lowest

        For +roi it is 0.03 times as large.

        Examples
        --------
        >>> [round(Strategy(query="gain").theta(n), 4) for n in (0, 50, 100)]
        [0.0077, 0.5005, 0.9933]
        """
        exponent = min((self.target - n_retrieved) / self.steepness, 700.0)
        theta = (self.highest - self.lowest) / (1 + math.exp(exponent)) + self.lowest
        if self.query == "region":
            return _REGION_SCALE * theta
        return theta

    def rate(self, n_retrieved: int) -> float:
        """Return the probability with which a document is drawn at random.

        Examples
        --------
        >>> Strategy(query="random", stream_length=100).rate(30)
        0.2
        """
        if self.query == "random":
            return max(self.target - n_retrieved, 0) / self.stream_length
        return 0.0


def hash_uniform(seed: int, *names: object) -> float:
    """Draw a number from 0 to 1 that depends on the seed and the names only."""
    key = "\x1f".join(map(str, (seed, *names))).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big") / 2**64


def query_reach(kappa: float, gain: Gain, theta: float) -> float:
    """Find the largest |mean| / standard deviation at which the expected gain reaches theta.

    It is -1 if the gain never does.

    With flip noise the gain is a function of mean / standard deviation that decreases from 0 on
    while it is positive.
    """
    with _GRID_LOCK:
        gains = _gains_on_grid(kappa, gain)
    enough = np.flatnonzero(gains >= theta)
    if not len(enough):
        return -1.0
    last = int(enough[-1])
    if last == _GRID_SIZE - 1:
        return math.inf
    return (last + 1) * _MAX_RATIO / (_GRID_SIZE - 1)


@cache
def _gains_on_grid(kappa: float, gain: Gain) -> FloatArray:
    means = np.linspace(0, _MAX_RATIO, _GRID_SIZE)
    return FlipNoise(kappa).expected_information_gain(means, 1.0, kind=gain)


class _Goal:
    """A goal that leaves the strategy as it is."""

    __slots__ = ()

    def adapt(self, strategy: Strategy) -> Strategy:
        """Return the strategy for this goal."""
        return strategy


@storable("target-goal")
@dataclass(frozen=True, slots=True)
class TargetCount(_Goal):
    """Retrieve about this number of documents, as relevant as possible: TREC-9's T9P.

    The threshold is 1/2 and the query schedule aims at the number, as in Chai, Ng & Chieu.

    Examples
    --------
    >>> TargetCount(20).threshold([], [])
    0.5
    """

    count: int = 50

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"a target must be at least 1, got {self.count!r}")

    def threshold(self, y: Any, probabilities: Any) -> float:
        """Return one half."""
        return 0.5

    def adapt(self, strategy: Strategy) -> Strategy:
        """Return the strategy with queries that aim at the number."""
        return replace(strategy, target=self.count)


@storable("utility-goal")
@dataclass(frozen=True, slots=True)
class LinearUtility(_Goal):
    """Maximise the sum of gains [[rejected, alarm], [missed, found]].

    The default is TREC-9's 2 R+ - N+.

    Examples
    --------
    >>> round(LinearUtility().threshold([], []), 4)
    0.3333
    """

    gains: Sequence[Sequence[float]] = ((0.0, -1.0), (0.0, 2.0))

    def __post_init__(self) -> None:
        self.threshold([], [])

    def threshold(self, y: Any, probabilities: Any) -> float:
        """Return the probability at which a document breaks even."""
        return float(Utility(gains=self.gains).fit([[0]], [[0.5]]).thresholds_[0])


@dataclass(frozen=True, slots=True)
class _Floor(_Goal):
    floor: float

    def __post_init__(self) -> None:
        if not 0 < self.floor <= 1:
            raise ValueError(f"a floor must lie above 0 and be at most 1, got {self.floor!r}")


@storable("precision-goal")
@dataclass(frozen=True, slots=True)
class PrecisionFloor(_Floor):
    """Keep the precision at or above a floor, and retrieve as much as that allows.

    The threshold is chosen on the labelled documents that the profile started with, each scored
    before it was learned; without any, it is the floor itself, which is right if the probabilities
    are.

    Examples
    --------
    >>> floor = PrecisionFloor(0.5).threshold([1, 0, 1, 0], [0.875, 0.75, 0.5, 0.25])
    >>> floor, PrecisionFloor(0.8).threshold([], [])
    (0.375, 0.8)
    """

    floor: float = 0.8

    def threshold(self, y: Any, probabilities: Any) -> float:
        """Return the lowest threshold that keeps the floor."""
        if not np.any(y):
            return self.floor
        return float(PrecisionTarget(precision=self.floor).fit(y, probabilities).thresholds_[0])


@storable("recall-goal")
@dataclass(frozen=True, slots=True)
class RecallFloor(_Floor):
    """Keep the recall at or above a floor, and retrieve as little else as that allows.

    The threshold is chosen as that of `PrecisionFloor`; without labelled documents it is one half.

    Examples
    --------
    >>> RecallFloor(1.0).threshold([1, 0, 1, 0], [0.875, 0.75, 0.5, 0.25])
    0.375
    """

    floor: float = 0.9

    def threshold(self, y: Any, probabilities: Any) -> float:
        """Return the highest threshold that keeps the floor."""
        if not np.any(y):
            return 0.5
        return float(RecallTarget(recall=self.floor).fit(y, probabilities).thresholds_[0])


Goal = TargetCount | LinearUtility | PrecisionFloor | RecallFloor
